import { expect, test } from "vitest";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import { Interrupted } from "../../src/observe/interrupt.ts";
import { applied, aRun, steady } from "../report/runs.ts";
import { afterFailure } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const forbidden = new KubeError({
  failure: "forbidden",
  operation: "list nodes",
  subject: "",
  status: 403,
  message: "Cannot list nodes: no.",
});

/** A run that ends with an error, after it has moved something or before. */
async function stderrOf(argv: readonly string[], error: Error, hasMoved: boolean): Promise<string> {
  const run = aRun(afterFailure(), steady(), applied);
  const answer: Scene["answer"] = async ({ onEnd }) => {
    if (hasMoved) for (const outcome of run.outcomes) onEnd?.(outcome, run.plan);
    throw error;
  };
  const watch: Scene["watch"] = async ({ onPass }) => {
    if (hasMoved) onPass({ kind: "passed", cause: { kind: "start" }, pass: { result: run } });
    throw error;
  };
  const { stderr } = await invoke(argv, { observation: steady(), answer, watch });
  return stderr;
}

const END = / Nothing was changed\.\n$/;

for (const argv of [["reconcile"], ["reconcile", "--watch", "-q"]]) {
  test(`what ends ${argv.join(" ")} before it changed anything says so`, async () => {
    const empty = new ConfigError("permission", "The token file is empty");
    expect(await stderrOf(argv, forbidden, false)).toBe("flipop: Cannot list nodes: no. Nothing was changed.\n");
    expect(await stderrOf(argv, empty, false)).toBe("flipop: The token file is empty. Nothing was changed.\n");
    expect(await stderrOf([...argv, "-v"], forbidden, false)).toContain("operation: list nodes, HTTP status: 403");
  });

  test(`nothing is said of that where ${argv.join(" ")} may have changed something, or a bug ended it`, async () => {
    expect(await stderrOf(argv, forbidden, true)).not.toMatch(END);
    expect(await stderrOf(argv, new Error("oops"), false)).not.toMatch(END);
  });
}

test("a signal that ends a run before it changed anything is answered", async () => {
  expect(await stderrOf(["reconcile"], new Interrupted(), false)).toBe("flipop: Interrupted. Nothing was changed.\n");
  expect(await stderrOf(["reconcile"], new Interrupted(), true)).toBe("");
});
