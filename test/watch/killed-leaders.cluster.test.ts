import { afterAll, beforeAll, expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import type { Stop } from "./gate.ts";
import { type GatedProcess, KilledLeaders, type Truth } from "./killed-leaders.ts";
import { lateWrites } from "./late-writes.ts";

const WAIT = { interval: 50 };
const NODES = ["k1", "k2", "k3"];
/** Where the process is killed: at a request of its own that has not left it, or whose answer has not come. */
interface Phase extends Stop {
  readonly title: string;
  readonly to: "cluster" | "cloud";
  /** False = played with `WATCH=all` only. */
  readonly isAlways: boolean;
}

const ACTIONS = /^\/v2\/reserved_ips\/[\d.]+\/actions$/;
const RECORDS = /^\/v2\/domains\/example\.com\/records/;
const NODE = /^\/api\/v1\/nodes\/k\d$/;
const STATUS = /\/floatingippools\/killed\/status$/;

const PHASES: readonly Phase[] = [
  phase("before the assignment is asked for", "cloud", "POST", ACTIONS, "before"),
  phase("between the assignment and its answer", "cloud", "POST", ACTIONS, "after", true),
  // The first read is the look before the move.
  { ...phase("before the address is read back", "cloud", "GET", /^\/v2\/reserved_ips\/[\d.]+$/, "before"), skip: 1 },
  phase("before the first annotation", "cluster", "PATCH", NODE, "before"),
  phase("between the first annotation and its answer", "cluster", "PATCH", NODE, "after"),
  { ...phase("before the second annotation", "cluster", "PATCH", NODE, "before"), skip: 1 },
  phase("before the records are changed", "cloud", "DELETE", RECORDS, "before"),
  phase("between the change of the records and its answer", "cloud", "DELETE", RECORDS, "after"),
  phase("before the status is written", "cluster", "PATCH", STATUS, "before", true),
  phase("between the status and its answer", "cluster", "PATCH", STATUS, "after"),
];

const isAll = process.env["WATCH"] === "all";

describeCluster("a leader killed in the middle of a failover, with a standby watching", (facts) => {
  let world: KilledLeaders;
  let leader: GatedProcess;

  beforeAll(async () => {
    world = await KilledLeaders.open(facts);
    leader = await world.start();
  });

  afterAll(() => world?.close());

  test.for(PHASES.filter(({ isAlways }) => isAll || isAlways))(
    "is killed $title: the address ends on a node that serves, moved once",
    async (stop) => {
      await expect.poll(leader.watcher.isLeading, WAIT).toBe(true);
      const before = await atRest(world, NODES);
      const standby = await world.start();
      await expect.poll(standby.watcher.stderr, WAIT).toContain("waiting for the Lease");
      const [lost = "", healthy] = before.holders;
      const assigns = world.assigns();

      const reached = leader[stop.to].stopAt(stop);
      await world.setReady(lost, false);
      try {
        await reached;
        leader.watcher.child.kill("SIGKILL");
        await leader.watcher.end;
        leader = standby;

        const serving = NODES.filter((node) => node !== lost);
        const after = await atRest(world, serving);
        expect(after.holders).toEqual([serving.find((node) => node !== healthy), healthy]);
        expect(world.assigns(), "moved once").toBe(assigns + 1);
        expect(await lateWrites(standby.cloud, standby.cluster), "nothing is left to do").toEqual([]);
      } finally {
        await world.setReady(lost, true);
      }
    },
  );
});

/** The truth, once the addresses are on different nodes of these, and annotations, records and status say the same. */
async function atRest(world: KilledLeaders, serving: readonly string[]): Promise<Truth> {
  let truth = await world.truth();
  await expect
    .poll(async () => {
      truth = await world.truth();
      const { holders, annotations, status, published } = truth;
      return { annotations, status, published, isServed: holders.every((node) => serving.includes(node ?? "")) };
    }, WAIT)
    .toEqual({
      annotations: expect.toSatisfy((found) => isSame(found, KilledLeaders.annotated(truth.holders))),
      status: expect.toSatisfy((found) =>
        isSame(
          found,
          truth.holders.map((node) => `active ${node}`),
        ),
      ),
      published: serving,
      isServed: true,
    });
  return truth;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value : Object.entries(value as object).toSorted();
}

function phase(
  title: string,
  to: Phase["to"],
  method: string,
  path: RegExp,
  moment: Stop["moment"],
  isAlways = false,
): Phase {
  return { title, to, method, path, moment, isAlways };
}
