import { expect, test } from "vitest";
import { type PodFacts, podSelectorKey } from "../../src/model/node.ts";
import type { PodSummary } from "../../src/model/observation.ts";
import { summarizePods } from "../../src/model/pods.ts";
import { readPods } from "../../src/observe/read-cluster.ts";

const pod = (override: Partial<PodFacts>): PodFacts => ({
  namespace: "a",
  name: "p",
  nodeName: "n1",
  phase: "Running",
  ready: { isReady: true, sinceMs: 100 },
  ...override,
});
const unready = (sinceMs?: number): PodFacts =>
  pod({ ready: { isReady: false, ...(sinceMs === undefined ? {} : { sinceMs }) } });

test.for<[string, PodFacts[], PodSummary | undefined]>([
  ["no pods: no summary", [], undefined],
  ["a running ready pod serves", [pod({})], { ready: 1, notReady: 0 }],
  [
    "a terminating pod does not, since its deletion was asked for",
    [pod({ deletedAtMs: 200 })],
    { ready: 0, notReady: 1, unreadySinceMs: 200 },
  ],
  [
    "a terminating unready pod stopped at the earlier of the two",
    [pod({ deletedAtMs: 200, ready: { isReady: false, sinceMs: 150 } })],
    { ready: 0, notReady: 1, unreadySinceMs: 150 },
  ],
  ["a ready pod that is not running does not serve", [pod({ phase: "Pending" })], { ready: 0, notReady: 1 }],
  [
    "unready pods count from the last that stopped",
    [unready(100), unready(300), unready(200)],
    { ready: 0, notReady: 3, unreadySinceMs: 300 },
  ],
  ["a pod without evidence says nothing", [unready(), unready(300)], { ready: 0, notReady: 2, unreadySinceMs: 300 }],
  ["one ready pod is enough, whatever the order", [unready(300), pod({}), unready(400)], { ready: 1, notReady: 2 }],
  [
    "one that cannot be read is told by its name, the same one whatever the order, and counts for nothing",
    [pod({ name: "c", isUnreadable: true }), pod({ name: "b", isUnreadable: true }), unready(300)],
    { ready: 0, notReady: 1, unreadySinceMs: 300, unreadable: "pod a/b" },
  ],
  [
    "one that cannot be read takes nothing from a ready one",
    [pod({ isUnreadable: true }), pod({})],
    { ready: 1, notReady: 0, unreadable: "pod a/p" },
  ],
])("%s", ([, pods, expected]) => {
  expect(summarizePods(pods).get("n1")).toEqual(expected);
});

test("a list that is the same is not summed up again, one that is new is", async () => {
  const selector = { namespace: "web", label: "" };
  const list: readonly PodFacts[] = [pod({})];
  const read = async (pods: readonly PodFacts[]): Promise<unknown> => {
    const reading = (await readPods({ listPods: async () => pods }, [selector])).get(podSelectorKey(selector));
    return reading?.kind === "read" ? reading.byNode : reading;
  };
  const first = await read(list);
  expect(await read(list)).toBe(first);
  const other = await read([...list, pod({ nodeName: "n2", ready: { isReady: false } })]);
  expect(other).toEqual(new Map([...(first as Map<string, unknown>), ["n2", { ready: 0, notReady: 1 }]]));
});
