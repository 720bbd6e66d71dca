import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Connection } from "../../../../src/adapters/kube/call.ts";
import { createClusterReader } from "../../../../src/adapters/kube/cluster-reader.ts";
import type { ServicePlace } from "../../../../src/adapters/kube/service.ts";
import { createWarmCluster } from "../../../../src/adapters/kube/warm-cluster.ts";
import { keyOf } from "../../../../src/adapters/kube/watch/watched-store.ts";
import type { PodSelector } from "../../../../src/model/node.ts";
import type { ClusterReader, WarmCluster } from "../../../../src/ports/cluster.ts";
import { REAL_CLOCK } from "../real-clock.ts";

type Lists = Pick<
  ClusterReader,
  | "listPools"
  | "listRecordSets"
  | "listRoutedIPs"
  | "listRoutedIPIssuers"
  | "listNamespaceGrants"
  | "listServices"
  | "listEndpointSlices"
  | "listNodes"
  | "listPods"
>;

const TRIES = 1_000;

/**
 * A warm cluster whose lists wait for the watch, so that a test may read what it has just written past it: each answers once it agrees with what a plain reader lists.
 * @throws Error from the list when they do not come to agree within seconds
 */
export function agreeingCluster(connection: Connection): WarmCluster {
  const options = { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" };
  const cluster = createWarmCluster(connection, options);
  const reader = createClusterReader(connection, options);
  const lists: Lists = {
    listPools: cluster.listPools.bind(cluster),
    listRecordSets: cluster.listRecordSets.bind(cluster),
    listRoutedIPs: cluster.listRoutedIPs.bind(cluster),
    listRoutedIPIssuers: cluster.listRoutedIPIssuers.bind(cluster),
    listNamespaceGrants: cluster.listNamespaceGrants.bind(cluster),
    listServices: cluster.listServices.bind(cluster),
    listEndpointSlices: cluster.listEndpointSlices.bind(cluster),
    listNodes: cluster.listNodes.bind(cluster),
    listPods: cluster.listPods.bind(cluster),
  };
  const agreeing = async <T>(list: (from: Lists) => Promise<readonly T[]>): Promise<readonly T[]> => {
    for (let tries = 0; tries < TRIES; tries++) {
      const [warm, plain] = [await list(lists), await list(reader)];
      if (isDeepStrictEqual(warm, plain)) return warm;
      await delay(5);
    }
    throw new Error("the list in memory does not come to be what the server has");
  };
  const close = cluster.close.bind(cluster);
  return Object.assign(cluster, {
    listPools: () => agreeing((from) => from.listPools()),
    listRecordSets: () => agreeing((from) => from.listRecordSets()),
    listNodes: () => agreeing((from) => from.listNodes()),
    listRoutedIPs: () => agreeing((from) => from.listRoutedIPs()),
    listRoutedIPIssuers: () => agreeing((from) => from.listRoutedIPIssuers()),
    listServices: () => agreeing((from) => from.listServices()),
    // Pods and EndpointSlices come in no order.
    listEndpointSlices: (service: ServicePlace) =>
      agreeing(async (from) => (await from.listEndpointSlices(service)).toSorted(byKey)),
    listPods: (selector: PodSelector) => agreeing(async (from) => (await from.listPods(selector)).toSorted(byKey)),
    close: () => {
      close();
      reader.close();
    },
  });
}

function byKey(a: ServicePlace, b: ServicePlace): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
