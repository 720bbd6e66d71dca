import { expect, test } from "vitest";
import { afterFailure, aLease, beyondLimit } from "../report/world.ts";
import { invoke } from "./invoke.ts";

const env = { NO_COLOR: "1" };
const scene = { observation: beyondLimit(), lease: aLease(), env };

test.for([0, 1, 39])("a terminal that reports %d columns counts as one of 80", async (terminal) => {
  for (const command of ["plan", "status"]) {
    const { stdout, stderr, exitCode } = await invoke([command], { ...scene, terminal: 80 });
    expect(await invoke([command], { ...scene, terminal })).toMatchObject({ stdout, stderr, exitCode });
  }
});

test("a terminal of 40 columns is taken at its word", async () => {
  const narrow = await invoke(["plan"], { observation: afterFailure(), env, terminal: 40 });
  const usual = await invoke(["plan"], { observation: afterFailure(), env, terminal: 80 });
  expect(narrow.stdout.split("\n").length).toBeGreaterThan(usual.stdout.split("\n").length);
});
