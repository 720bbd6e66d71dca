import { expect, test } from "vitest";
import { KubeError, type KubeFailure } from "../../src/model/errors.ts";
import { REASONS } from "../../src/model/reason.ts";
import type { PassResult } from "../../src/model/run.ts";
import { applied, aRun, failed } from "../report/runs.ts";
import { afterFailure, reconciled } from "../report/world.ts";
import { invoke } from "./invoke.ts";

type Line = Readonly<Record<string, unknown>>;

const unwritten = (failure: KubeFailure): PassResult["reportFailures"] => [
  {
    object: { kind: "pool", namespace: "ingress", name: "web" },
    what: "status",
    error: new KubeError({ failure, operation: "patch", subject: "", status: 0, message: "no" }),
  },
];

/** The lines that a run leaves in a pod's log. */
async function linesOf(value: PassResult): Promise<readonly Line[]> {
  const scene = { observation: afterFailure(), answer: async () => ({ kind: "done" as const, value }) };
  const { stdout, stderr } = await invoke(["reconcile", "--log-format", "json", "-v"], scene);
  expect(stdout).toBe("");
  const lines = stderr.trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

test.for([
  ["everything was done", aRun(afterFailure(), reconciled(), applied)],
  ["everything failed", aRun(afterFailure(), afterFailure(), (action) => failed(action))],
  [
    "a status could not be written",
    { ...aRun(afterFailure(), reconciled(), applied), reportFailures: unwritten("timeout") },
  ],
] as const)("when %s each line names run and plan, and each line about an object a known reason", async ([, value]) => {
  const lines = await linesOf(value);
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) {
    expect(line).toMatchObject({
      time: expect.any(String),
      level: expect.any(String),
      msg: expect.stringMatching(/\S/),
    });
    expect([line["runID"], line["planID"]]).toEqual(["0f1e2d3c", value.plan.planID]);
  }
  const about = lines.filter((line) => line["object"] !== undefined);
  expect(about.length).toBeGreaterThan(0);
  for (const line of about) expect(Object.keys(REASONS)).toContain(line["reason"]);
});

test("a line about what is held says why, also where the reason needs no particulars", async () => {
  const value = aRun(afterFailure(), reconciled(), applied);
  const { object } = value.plan.pools[0] ?? expect.fail("the world has a pool");
  const subject = "203.0.113.11";
  const hold = { kind: "assign-ip", object, subject, reason: "NoCandidate", detail: "", needsPerson: false } as const;
  const held = { ...value, remaining: { ...value.remaining, holds: [hold] } };
  const line = (await linesOf(held)).find(({ outcome }) => outcome === "held");
  expect(line).toMatchObject({ subject: "203.0.113.11", msg: "203.0.113.11: No matching node can take the address." });
});

test("statuses that could not be written for one cause are one line", async () => {
  const names = ["a", "b", "c", "d", "e"].map((name) => `web-${name}`);
  const reportFailures = names.flatMap((name) =>
    unwritten("forbidden").map((failure) => ({ ...failure, object: { ...failure.object, name } })),
  );
  const told = (await linesOf({ ...aRun(afterFailure(), reconciled(), applied), reportFailures })).filter(
    ({ level }) => level === "warn",
  );
  expect(told.map(({ object, msg, more }) => [object, msg, more])).toEqual([
    ["pool/ingress/web-a", "Could not write the status of pool/ingress/web-a, and of 4 more: no", 4],
  ]);
});

test.for([
  ["forbidden", "PermissionMissing"],
  ["timeout", "Failed"],
] as const)("a status that could not be written because of '%s' has the reason %s", async ([failure, reason]) => {
  const value = { ...aRun(afterFailure(), reconciled(), applied), reportFailures: unwritten(failure) };
  const line = (await linesOf(value)).find(({ level }) => level === "warn");
  expect(line).toMatchObject({ object: "pool/ingress/web", reason });
});
