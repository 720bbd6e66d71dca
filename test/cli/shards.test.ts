import { describe, expect, test } from "vitest";
import type { Overlap } from "../../src/watch/shard-lock.ts";
import { steady } from "../report/runs.ts";
import { invoke, type Scene } from "./invoke.ts";

const BASE: Overlap = { lease: "flipop/flipop", holder: "pod-1" };
const PART: Overlap = { lease: "flipop/flipop-1-of-2", holder: "pod-2", shard: "1/2" };

const refused = (overlap: Overlap): Scene => {
  const answer = { kind: "locked", holder: overlap.holder, overlap } as const;
  return { observation: steady(), answer: async () => answer, watch: async () => answer };
};

describe("a run that overlaps another one", () => {
  test.for([
    [
      ["--shard", "1/3"],
      BASE,
      "pod-1 holds the Lease flipop/flipop: a run without --shard works for some of the objects of this one, which is with --shard 1/3.",
    ],
    [
      [],
      PART,
      "pod-2 holds the Lease flipop/flipop-1-of-2: a run with --shard 1/2 works for some of the objects of this one, which is without --shard.",
    ],
    // What is skipped would be skipped for ever.
    [["--on-locked", "skip"], PART, "pod-2 holds the Lease flipop/flipop-1-of-2"],
    [["--watch", "--shard", "1/3"], BASE, "pod-1 holds the Lease flipop/flipop"],
  ] as const)("with %j says who is in the way, and ends with 5", async ([flags, overlap, text]) => {
    const { stderr, exitCode } = await invoke(["reconcile", ...flags], refused(overlap));
    expect(stderr).toContain(text);
    expect(exitCode).toBe(5);
  });
});

test("a run asks for the objects of its shard, and says whose Lease it waits for", async () => {
  const asked: unknown[] = [];
  const scene: Scene = {
    observation: steady(),
    answer: async ({ selection }) => {
      asked.push(selection);
      return { kind: "locked", holder: "x" };
    },
  };
  const { stderr } = await invoke(["reconcile", "--shard", "2/3"], scene);
  expect(asked).toEqual([{ shard: "2/3" }]);
  expect(stderr).toContain("x holds the Lease flipop/flipop-2-of-3");
  await invoke(["reconcile"], { ...scene, env: { FLIPOP_SHARD: "web" } });
  expect(asked[1]).toEqual({ shard: "web" });
});

test.for(["reconcile", "plan", "status"])("%s takes no value of --shard that names none", async (command) => {
  const { stderr, exitCode } = await invoke([command, "--shard", "4/3"], { observation: steady() });
  expect(exitCode).toBe(64);
  expect(stderr).toContain("Write I/N, as 2/3");
});

test("plan and status show the objects of the shard", async () => {
  const world = steady();
  const { stdout } = await invoke(["status", "--shard", "web", "-o", "name"], { observation: world });
  expect(stdout.trim()).toBe("");
  const whole = await invoke(["status", "-o", "name"], { observation: world });
  expect(whole.stdout.trim()).not.toBe("");
});
