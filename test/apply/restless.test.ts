import { expect, test } from "vitest";
import { Restless } from "../../src/apply/restless.ts";
import type { NodeFacts, Rest } from "../../src/model/node.ts";
import type { PodReading } from "../../src/model/observation.ts";
import { aNode, aPool } from "../plan/builders.ts";

const NOW_MS = Date.parse("2026-08-01T12:00:00Z");
const SECOND = 1000;
const CORDON = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" };

/** Tells of pods on n1 by one selector, at a time of the process, and returns for how long they have to wait, milliseconds; 0 where they need not. */
function watched(): (state: "ready" | "unready" | "gone" | "unreadable", atMs: number, skewMs?: number) => number {
  const restless = new Restless();
  const STATES = {
    ready: [["n1", { ready: 1, notReady: 0 }]],
    unready: [["n1", { ready: 0, notReady: 1 }]],
    gone: [],
    unreadable: [["n1", { ready: 0, notReady: 0, unreadable: "pod shop/web-0" }]],
  } as const;
  return (state, atMs, skewMs = 0) => {
    const reading: PodReading = {
      kind: "read",
      byNode: new Map<string, { ready: number; notReady: number }>(STATES[state]),
    };
    const nowMs = NOW_MS + atMs + skewMs;
    const world = { observedAtMs: nowMs, nodes: [], pods: new Map([["|app=web", reading]]) };
    restless.note(world, atMs);
    const after = restless.settled(world, atMs).pods.get("|app=web");
    const until = after?.kind === "read" ? after.byNode.get("n1")?.restsUntilMs : undefined;
    return until === undefined ? 0 : until - nowMs;
  };
}

test("pods that come back wait longer each time, from the third time within a minute on", () => {
  const tell = watched();
  const waits = [0, 1, 2, 3, 4, 5].map((time) => {
    tell("ready", time * SECOND);
    tell(time % 2 === 0 ? "unready" : "gone", time * SECOND + 300);
    return tell("ready", time * SECOND + 600);
  });
  expect(waits).toEqual([0, 0, 1000, 2000, 2000, 2000]);
});

test("pods that have been ready for long enough count again, and those that were not begin anew", () => {
  const tell = watched();
  for (const atMs of [0, 200, 400]) {
    tell("ready", atMs);
    tell("unready", atMs + 100);
  }
  expect(tell("ready", SECOND)).toBe(1000);
  expect(tell("ready", 1.6 * SECOND)).toBe(400);
  expect(tell("ready", 2 * SECOND)).toBe(0);
  tell("unready", 4 * SECOND);
  expect(tell("ready", 5 * SECOND)).toBe(2000);
});

test("a minute after they stopped being ready last nothing is remembered", () => {
  const tell = watched();
  for (const atMs of [0, 200, 400, 600]) {
    tell("ready", atMs);
    tell("unready", atMs + 100);
  }
  tell("ready", 30 * SECOND);
  tell("ready", 61 * SECOND);
  tell("unready", 62 * SECOND);
  expect(tell("ready", 63 * SECOND)).toBe(0);
});

test("pods that cannot be read have not stopped being ready", () => {
  const tell = watched();
  for (let time = 0; time < 5; time += 1) {
    tell("ready", time * SECOND);
    tell("unreadable", time * SECOND + 500);
  }
  expect(tell("ready", 5 * SECOND)).toBe(0);
});

test("a clock of the server that leaps makes nobody wait longer", () => {
  const tell = watched();
  for (const atMs of [0, 200, 400]) {
    tell("ready", atMs);
    tell("unready", atMs + 100);
  }
  expect(tell("ready", SECOND)).toBe(1000);
  expect(tell("ready", 1.5 * SECOND, -3600 * SECOND)).toBe(500);
  expect(tell("ready", 1.5 * SECOND, 365 * 86_400 * SECOND)).toBe(500);
});

/** Tells of n1, beside a node that never changes, and returns the rest of n1. */
function watchedNode(): (node: Partial<NodeFacts> | "gone", atMs: number) => Rest | undefined {
  const restless = new Restless();
  const calm = aNode({ name: "n2" });
  return (node, atMs) => {
    const nodes = node === "gone" ? [calm] : [aNode({ name: "n1", ...node }), calm];
    const world = { observedAtMs: NOW_MS + atMs, nodes, pods: new Map<string, PodReading>() };
    restless.note(world, atMs);
    const settled = restless.settled(world, atMs).nodes;
    expect(settled.at(-1)).toBe(calm);
    return settled.find(({ name }) => name === "n1")?.rest;
  };
}

const READY = { ready: { isReady: true } };
const UNREADY = { ready: { isReady: false } };

test("a node whose condition Ready comes and goes rests as long as one whose pods do", () => {
  const tell = watchedNode();
  const rests = [0, 1, 2, 3].map((time) => {
    tell(READY, time * SECOND);
    tell(UNREADY, time * SECOND + 300);
    return tell(READY, time * SECOND + 600);
  });
  const resting = (untilMs: number): Rest => ({ isUnready: true, taints: [], untilMs: NOW_MS + untilMs });
  expect(rests).toEqual([undefined, undefined, resting(3600), resting(5600)]);
  expect(tell(READY, 5.5 * SECOND)).toEqual(resting(5600));
  expect(tell(READY, 5.6 * SECOND)).toBeUndefined();
});

test("a node that is not ready once more has nothing that ends by time, and is told to be restless all the same", () => {
  const tell = watchedNode();
  for (const atMs of [0, 200, 400]) {
    tell(READY, atMs);
    tell(UNREADY, atMs + 100);
  }
  expect(tell(UNREADY, SECOND)).toEqual({ isUnready: true, taints: [] });
});

test("a taint that comes and goes stays for a while, and the condition Ready has no part in it", () => {
  const tell = watchedNode();
  for (const atMs of [0, 200, 400]) {
    tell({ taints: [] }, atMs);
    tell({ taints: [CORDON] }, atMs + 100);
  }
  expect(tell({ taints: [] }, 600)).toEqual({ isUnready: false, taints: [CORDON], untilMs: NOW_MS + 1600 });
  expect(tell({ taints: [] }, 1600)).toBeUndefined();
});

test("a node that cannot be read says nothing of what took it out of service", () => {
  const tell = watchedNode();
  for (let time = 0; time < 5; time += 1) {
    tell(READY, time * SECOND);
    tell({ ...UNREADY, unreadable: "spec.taints" }, time * SECOND + 500);
  }
  expect(tell(READY, 5 * SECOND)).toBeUndefined();
});

test("a node that is deleted and made again counts as one that is gone for a while", () => {
  const tell = watchedNode();
  for (const atMs of [0, 200, 400]) {
    tell(READY, atMs);
    tell("gone", atMs + 100);
  }
  expect(tell(UNREADY, 600)).toEqual({ isUnready: false, isGone: true, taints: [], untilMs: NOW_MS + 1600 });
  expect(tell(READY, 1600)).toBeUndefined();
});

test("a node that is another machine time and again counts as one that is gone, until it has been one for a while", () => {
  const tell = watchedNode();
  for (const atMs of [0, 200, 400, 600]) {
    tell({ providerID: "digitalocean://101" }, atMs);
    tell({ providerID: "digitalocean://102" }, atMs + 100);
  }
  expect(tell({ providerID: "digitalocean://102" }, 1600)).toEqual({
    isUnready: false,
    isGone: true,
    taints: [],
    untilMs: NOW_MS + 1700,
  });
  expect(tell({ providerID: "digitalocean://102" }, 1700)).toBeUndefined();
});

test("labels that come and go count for a while as they were: each value that a label had, and that there was none", () => {
  const tell = watchedNode();
  for (const atMs of [0, 200, 400]) {
    tell({ labels: { role: "edge", zone: "a" } }, atMs);
    tell({ labels: { zone: "a" } }, atMs + 100);
  }
  expect(tell({ labels: { role: "edge", zone: "b" } }, 600)).toEqual({
    isUnready: false,
    taints: [],
    labels: [{ name: "role" }],
    untilMs: NOW_MS + 1600,
  });
  expect(tell({ labels: { zone: "b" } }, 700)).toEqual({
    isUnready: false,
    taints: [],
    labels: [{ name: "role", value: "edge" }],
    untilMs: NOW_MS + 1700,
  });
  expect(tell({ labels: { zone: "b" } }, 1700)).toBeUndefined();
});

test("an address of a node that comes and goes is not there for a while, and the others are", () => {
  const restless = new Restless();
  const [own, other] = ["198.51.100.1", "198.51.100.2"].map((address) => ({ type: "ExternalIP", address }));
  const shown = (addresses: NodeFacts["addresses"], atMs: number): readonly string[] => {
    const world = { observedAtMs: NOW_MS + atMs, nodes: [aNode({ name: "n1", addresses })], pods: new Map() };
    restless.note(world, atMs);
    return restless.settled(world, atMs).nodes.flatMap((node) => node.addresses.map(({ address }) => address));
  };
  if (own === undefined || other === undefined) throw new Error("no addresses");
  for (const atMs of [0, 200, 400]) {
    expect(shown([own, other], atMs)).toHaveLength(2);
    expect(shown([other], atMs + 100)).toEqual([other.address]);
  }
  expect(shown([own, other], 600)).toEqual([other.address]);
  expect(shown([own, other], 1600)).toEqual([own.address, other.address]);
});

/** Tells of one pool, by a number of addresses that it asks for, and returns the number and the generation that count. */
function watchedPool(): (
  pool: Wish,
  atMs: number,
) => readonly [desiredIPs: number, generation: number, nextMs?: number] {
  const restless = new Restless();
  let generation = 0;
  return ({ desiredIPs, suspend = false, isDeleting = false, uid = "u1" }, atMs) => {
    generation += 1;
    const plain = aPool({ spec: { desiredIPs, suspend } });
    const pool = { ...plain, meta: { ...plain.meta, generation, isDeleting, uid, resourceVersion: `${generation}` } };
    const { objects, nextMs } = restless.objects({ pools: [pool], recordSets: [] }, atMs);
    const [counted] = objects.pools;
    expect(counted?.meta.resourceVersion).toBe(`${generation}`);
    const { desiredIPs: wanted = 0 } = counted?.spec ?? {};
    const counts = [wanted, counted?.meta.generation ?? 0] as const;
    return nextMs === undefined ? counts : [...counts, nextMs];
  };
}

interface Wish {
  readonly desiredIPs: number;
  readonly suspend?: boolean;
  readonly isDeleting?: boolean;
  readonly uid?: string;
}

/** Changes it back and forth until each change has to wait. */
function fought(tell: ReturnType<typeof watchedPool>): void {
  for (const atMs of [0, 200, 400, 600]) {
    tell({ desiredIPs: 1 }, atMs);
    tell({ desiredIPs: 2 }, atMs + 100);
  }
}

test("a spec that is changed back and forth counts as it was, from the third time within a minute on, until it has rested", () => {
  const tell = watchedPool();
  const counted = [0, 200, 400, 600].map((atMs) => [
    tell({ desiredIPs: 1 }, atMs).slice(0, 2),
    tell({ desiredIPs: 2 }, atMs + 100).slice(0, 2),
  ]);
  expect(counted).toEqual([
    [
      [1, 1],
      [2, 2],
    ],
    [
      [1, 3],
      [2, 4],
    ],
    [
      [1, 5],
      [2, 6],
    ],
    // The other one has come for the third time by now.
    [
      [2, 6],
      [2, 6],
    ],
  ]);
  expect(tell({ desiredIPs: 1 }, 800)).toEqual([2, 6, 2000]);
  expect(tell({ desiredIPs: 1 }, 2700)).toEqual([2, 6, 100]);
  expect(tell({ desiredIPs: 1 }, 2800)).toEqual([1, 11]);
});

test("what an object asks for the first time waits only for what it asked for a moment ago", () => {
  const tell = watchedPool();
  fought(tell);
  expect(tell({ desiredIPs: 3 }, 2800)).toEqual([2, 6, 2000]);
  expect(tell({ desiredIPs: 3 }, 4800)).toEqual([3, 10]);
});

test("an object that is to stand still, to go, or that is another one waits for nothing", () => {
  const tell = watchedPool();
  fought(tell);
  expect(tell({ desiredIPs: 1, suspend: true }, 800).slice(0, 2)).toEqual([1, 9]);
  // That it goes on again waits.
  expect(tell({ desiredIPs: 2 }, 900).slice(0, 2)).toEqual([1, 9]);
  expect(tell({ desiredIPs: 2, isDeleting: true }, 1000).slice(0, 2)).toEqual([2, 11]);
  expect(tell({ desiredIPs: 1, uid: "u2" }, 1100).slice(0, 2)).toEqual([1, 12]);
});
