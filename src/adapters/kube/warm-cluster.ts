import type { AcquisitionNote } from "../../model/lease-notes.ts";
import type { NodeFacts, PodFacts, PodSelector } from "../../model/node.ts";
import type { ObjectMeta, Pool, PoolStatus, RecordSet, RecordSetStatus, RoutedIPStatus } from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../model/service.ts";
import type { ClusterChange, Staleness, WarmCluster } from "../../ports/cluster.ts";
import type { Connection } from "./call.ts";
import type { ServicePlace } from "./cluster-reader.ts";
import { KubeClusterWriter, type NodeAnnotations, SeenObjects, type WriteAccess } from "./cluster-writer.ts";
import { decodeNode } from "./decode-builtin.ts";
import { Transport, type TransportOptions } from "./transport.ts";
import type { StreamSource } from "./watch/kube-watch-source.ts";
import type { Reflector } from "./watch/reflector.ts";
import { WarmLists } from "./watch/warm-lists.ts";
import { keyOf } from "./watch/watched-store.ts";

/**
 * A cluster whose lists are read once and then watched, until `close`, which ends all watches and lets connections go: nothing of it keeps the process alive then. No
 * call is made before its first method is called. It takes the verb `watch` beside `list`.
 */
export function createWarmCluster(
  connection: Connection,
  options: TransportOptions & {
    /** Who reports Events: the pod's or the host's name. */
    readonly reportingInstance: string;
    /** From 0 to 1, anew at each call; default: chance. */
    readonly random?: () => number;
  },
): WarmCluster {
  const transport = new Transport(connection, options);
  const seen = new SeenObjects();
  const access = {
    connection,
    clock: options.clock,
    random: options.random ?? Math.random,
    send: transport.send.bind(transport),
    write: transport.send.bind(transport),
    open: transport.open.bind(transport),
    nowMs: () => transport.nowMs(),
    close: () => transport.close(),
    seen,
    onObject: seen.add.bind(seen),
    onLease: seen.addLease.bind(seen),
  };
  return new KubeWarmCluster(access, options.reportingInstance);
}

/** A {@link WarmCluster} over HTTP. */
export class KubeWarmCluster extends KubeClusterWriter implements WarmCluster {
  readonly #lists: WarmLists;

  constructor(access: WriteAccess & StreamSource, reportingInstance: string) {
    super(access, reportingInstance);
    this.#lists = new WarmLists(access);
  }

  override async listPools(): Promise<readonly Pool[]> {
    return await this.#lists.pools();
  }

  override async listRecordSets(): Promise<readonly RecordSet[]> {
    return await this.#lists.recordSets();
  }

  override async listRoutedIPs(): Promise<readonly RoutedIP[]> {
    return await this.#lists.routedIPs();
  }

  override async listRoutedIPIssuers(): Promise<readonly RoutedIPIssuer[]> {
    return await this.#lists.issuers();
  }

  override async listServices(): Promise<readonly ServiceFacts[]> {
    return await this.#lists.services();
  }

  override async listEndpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    return await this.#lists.endpointSlices(service);
  }

  override async listNodes(): Promise<readonly NodeFacts[]> {
    return await this.#lists.nodes();
  }

  override async listPods(selector: PodSelector): Promise<readonly PodFacts[]> {
    return await this.#lists.pods(selector);
  }

  onChange(listener: (change: ClusterChange) => void): void {
    this.#lists.onChange(listener);
  }

  staleness(): Staleness | undefined {
    return this.#lists.staleness();
  }

  override close(): void {
    this.#lists.close();
    super.close();
  }

  override async patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
    return await own(this.#lists.followedPools, meta, () => super.patchPoolStatus(meta, status));
  }

  override async setPoolFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<Pool> {
    return await own(this.#lists.followedPools, meta, () => super.setPoolFinalizer(meta, isPresent));
  }

  override async notePoolAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<Pool> {
    return await own(this.#lists.followedPools, meta, () => super.notePoolAcquisitions(meta, note));
  }

  override async patchRecordSetStatus(meta: ObjectMeta, status: RecordSetStatus): Promise<RecordSet> {
    return await own(this.#lists.followedRecordSets, meta, () => super.patchRecordSetStatus(meta, status));
  }

  override async setRecordSetFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RecordSet> {
    return await own(this.#lists.followedRecordSets, meta, () => super.setRecordSetFinalizer(meta, isPresent));
  }

  override async patchRoutedIPStatus(meta: ObjectMeta, status: RoutedIPStatus): Promise<RoutedIP> {
    return await own(this.#lists.followedRoutedIPs, meta, () => super.patchRoutedIPStatus(meta, status));
  }

  override async setRoutedIPFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RoutedIP> {
    return await own(this.#lists.followedRoutedIPs, meta, () => super.setRoutedIPFinalizer(meta, isPresent));
  }

  override async noteRoutedIPAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<RoutedIP> {
    return await own(this.#lists.followedRoutedIPs, meta, () => super.noteRoutedIPAcquisitions(meta, note));
  }

  override async annotateNode(name: string, annotations: NodeAnnotations): Promise<void> {
    const nodes = this.#lists.followedNodes;
    if (nodes === undefined) return await super.annotateNode(name, annotations);
    const key = keyOf({ name });
    await nodes.write(
      key,
      () => this.patchNode(name, annotations),
      (read) => {
        const facts = decodeNode(read());
        return facts && { key, version: facts.resourceVersion, facts };
      },
    );
  }
}

/** Runs a write of an object that answers the object as stored. */
async function own<T extends { readonly meta: ObjectMeta }>(
  followed: Reflector<T> | undefined,
  meta: ObjectMeta,
  write: () => Promise<T>,
): Promise<T> {
  if (followed === undefined) return await write();
  const key = keyOf(meta);
  return await followed.write(key, write, (stored) => {
    // Without finalizers an object that is being deleted is gone, although the answer still shows it.
    const isGone = stored.meta.isDeleting && stored.meta.finalizers.length === 0;
    return { key, version: stored.meta.resourceVersion, facts: isGone ? undefined : stored };
  });
}
