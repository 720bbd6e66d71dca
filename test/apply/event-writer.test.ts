import { expect, test } from "vitest";
import { EventWriter } from "../../src/apply/event-writer.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { ClusterEvent, ClusterWriter } from "../../src/ports/cluster.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { refusal, stores } from "./refused-finalizers.ts";

const SECOND = 1000;

/** A cluster in which Events take so long, and a writer of them. */
function scene(takesMs: number, error?: KubeError) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const cluster = {
    createEvent: async ({ regarding }: ClusterEvent) => {
      begun.push(regarding.meta.name);
      await clock.sleep(takesMs);
      if (error !== undefined) throw error;
      return undefined;
    },
  } as unknown as ClusterWriter;
  const writer = new EventWriter(cluster, clock);
  const write = (names: readonly string[], stop?: AbortSignal) =>
    writer.write({ events: names.map(refusal), stores, mayWrite: () => true }, stop);
  return { clock, begun, writer, write };
}

function timeout(): KubeError {
  return new KubeError({
    failure: "timeout",
    operation: "create events",
    subject: "a",
    status: 0,
    message: "Silence.",
  });
}

/** How long something takes by a clock, milliseconds. */
async function msOf(clock: FakeClock, work: Promise<unknown>): Promise<number> {
  const startMs = clock.monotonicMs();
  let endMs = Number.POSITIVE_INFINITY;
  void work.then(() => {
    endMs = clock.monotonicMs();
  });
  await clock.advance(60 * SECOND);
  return endMs - startMs;
}

test("a pass waits a quarter of a second for its Events, and not at all once it has to hurry", async () => {
  const slow = scene(25 * SECOND);
  expect(await msOf(slow.clock, slow.write(["a"]))).toBe(250);
  const hurried = scene(25 * SECOND);
  expect(await msOf(hurried.clock, hurried.write(["a"], AbortSignal.abort()))).toBe(0);
  const quick = scene(20);
  expect(await msOf(quick.clock, quick.write(["a", "b"]))).toBe(40);
});

test("Events of one pass are written behind those of another, one at a time", async () => {
  const { clock, begun, writer, write } = scene(10 * SECOND);
  void write(["a", "b"]);
  void write(["c"]);
  await clock.advance(SECOND);
  expect(begun).toEqual(["a"]);
  expect(await msOf(clock, writer.ended())).toBe(29 * SECOND);
  expect(begun).toEqual(["a", "b", "c"]);
});

test("after silence nothing that waits is tried, what comes later is, and the next pass tells what failed", async () => {
  const { clock, begun, writer, write } = scene(25 * SECOND, timeout());
  void write(["a", "b"]);
  void write(["c"]);
  await clock.advance(60 * SECOND);
  expect(begun).toEqual(["a"]);
  const told = write(["d"]);
  await clock.advance(SECOND);
  expect((await told).map(({ object, error }) => [object.name, error.message])).toEqual([["a", "Silence."]]);
  expect(begun).toEqual(["a", "d"]);
  const rest = writer.ended();
  await clock.advance(60 * SECOND);
  expect((await rest).map(({ object }) => object.name)).toEqual(["d"]);
});
