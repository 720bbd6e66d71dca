import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { PodSelector } from "../../src/model/node.ts";
import type { Observation, PodReading } from "../../src/model/observation.ts";
import { readNearPods } from "../../src/observe/read-cluster.ts";
import { aPool } from "../plan/builders.ts";
import { aRecordSet } from "../plan/dns-builders.ts";

const match = (podNamespace: string, podLabel: string) => ({ nodeLabel: "", podNamespace, podLabel, tolerations: [] });
const selecting = (name: string, podNamespace: string, podLabel: string) =>
  aPool({ name, spec: { match: match(podNamespace, podLabel) } });
const NOTHING: PodReading = { kind: "read", byNode: new Map() };
const SOME: PodReading = { kind: "read", byNode: new Map([["n1", { ready: 1, notReady: 0 }]]) };

/** A cluster that tells what it was asked. */
function cluster(listPodLabels: (namespace: string) => Promise<readonly Readonly<Record<string, string>>[]>) {
  const asked: string[] = [];
  return {
    asked,
    listPodLabels: async (namespace: string) => {
      asked.push(`labels of ${namespace}`);
      return await listPodLabels(namespace);
    },
    listPods: async ({ namespace, label }: PodSelector) => {
      asked.push(`pods of ${namespace}|${label}`);
      const ready = { isReady: true };
      return [{ namespace, name: "web-1", nodeName: "n1", phase: "Running", ready }];
    },
  };
}

const web = async () => [{ app: "web" }];

async function read(
  pools: Observation["pools"],
  pods: Readonly<Record<string, PodReading>>,
  listPodLabels: (namespace: string) => Promise<readonly Readonly<Record<string, string>>[]> = web,
  recordSets: Observation["recordSets"] = [],
) {
  const world = cluster(listPodLabels);
  const near = await readNearPods(world, { pools, recordSets, pods: new Map(Object.entries(pods)) });
  return { near, asked: world.asked };
}

test("the pods that were meant by a selector that selects none are read, once for all objects", async () => {
  const pools = [selecting("a", "shop", "app=wbe"), selecting("b", "shop", "app=wbe")];
  const sets = [aRecordSet({ spec: { match: match("shop", "app=wbe") } })];
  const { near, asked } = await read(pools, { "shop|app=wbe": NOTHING }, web, sets);
  expect(asked).toEqual(["labels of shop", "pods of shop|app=web"]);
  expect([...near]).toEqual([["shop|app=web", SOME]]);
});

test.for([
  ["a selector that selects", "shop", "app=wbe", SOME],
  ["a selector that is refused", "shop", "app=wbe", { kind: "refused", error: "no" } as const],
  ["all pods of a namespace", "shop", "", NOTHING],
  ["a selector in all namespaces", "", "app=wbe", NOTHING],
] as const)("nothing is asked for %s", async ([, namespace, label, reading]) => {
  const { near, asked } = await read([selecting("a", namespace, label)], { [`${namespace}|${label}`]: reading });
  expect([asked, near.size]).toEqual([[], 0]);
});

test("pods that are known already are not read again", async () => {
  const pools = [selecting("a", "shop", "app=wbe"), selecting("b", "shop", "app=web")];
  const { near, asked } = await read(pools, { "shop|app=wbe": NOTHING, "shop|app=web": SOME });
  expect([asked, near.size]).toEqual([["labels of shop"], 0]);
});

test("where labels may not be read, nothing is known of them", async () => {
  const refuse = async (): Promise<never> => {
    const about = { operation: "list pods", subject: "", status: 403, message: "Cannot list pods: not permitted." };
    throw new KubeError({ failure: "forbidden", ...about });
  };
  const { near } = await read([selecting("a", "shop", "app=wbe")], { "shop|app=wbe": NOTHING }, refuse);
  expect(near.size).toBe(0);
});
