import { expect, test } from "vitest";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import type { PassResult, RunEnd } from "../../src/model/run.ts";
import { aQuietRun, steady } from "../report/runs.ts";
import { NOW_MS } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const RESULT = "flipop.digitalocean.com/last-result";
const SUCCESS = "flipop.digitalocean.com/last-success";

/** A run that a signal ends while it works, and what it leaves on the Lease. */
async function interrupted(reason: string | undefined): Promise<{
  readonly noted: Readonly<Record<string, string>>;
  readonly transcript: Awaited<ReturnType<typeof invoke>>;
}> {
  const stopping = new AbortController();
  let noted: Readonly<Record<string, string>> = {};
  const answer: Scene["answer"] = async ({ annotate }) => {
    stopping.abort(reason);
    const result: PassResult = { ...aQuietRun(), wasInterrupted: true };
    const end: RunEnd = { result, endedAtMs: NOW_MS, durationMs: 1, meters: [], notes: {} };
    noted = annotate(end);
    return { kind: "done", value: result };
  };
  const scene = { observation: steady(), signal: stopping.signal, answer };
  return { transcript: await invoke(["reconcile", "-o", "json"], scene), noted };
}

test.for([
  ["SIGINT", 130, "130 interrupted"],
  ["SIGTERM", 143, "143 terminated"],
] as const)("a run that %s ends is noted, printed and left with the same exit code", async ([reason, code, text]) => {
  const { noted, transcript } = await interrupted(reason);
  expect(noted[RESULT]).toBe(text);
  expect(noted[SUCCESS]).toBeUndefined();
  expect(transcript.exitCode).toBe(code);
  expect(JSON.parse(transcript.stdout)).toMatchObject({ exitCode: code, wasInterrupted: true });
});

test.for([
  ["a list that is forbidden", kubeError("forbidden"), 77, "77 not permitted: list nodes"],
  ["a Lease that a rule of the cluster refuses", kubeError("denied"), 77, "77 not permitted: list nodes"],
  ["an API server that is away", kubeError("unavailable"), 75, "75 temporary failure: list nodes"],
  [
    "a setting that is wrong",
    new ConfigError("invalid", "The token file /t is empty; nothing is read. Correct the path."),
    78,
    "78 invalid configuration: The token file /t is empty, nothing is read",
  ],
  ["a long tale", new ConfigError("permission", "no ".repeat(60)), 77, `77 not permitted: ${"no ".repeat(39)}no…`],
  ["a fault of flipop", new Error("oops"), 1, "1 unexpected error"],
] as const)("a run that ends for %s is noted with its exit code", async ([, error, code, text]) => {
  let noted: Readonly<Record<string, string>> = {};
  const answer: Scene["answer"] = async ({ annotateFailure }) => {
    noted = annotateFailure(error, NOW_MS, {});
    throw error;
  };
  const { exitCode } = await invoke(["reconcile"], { observation: steady(), answer });
  expect(exitCode).toBe(code);
  expect(noted).toEqual({ "flipop.digitalocean.com/last-run": "2026-08-01T12:00:00Z", [RESULT]: text });
});

function kubeError(failure: "forbidden" | "denied" | "unavailable"): KubeError {
  return new KubeError({ failure, operation: "list nodes", subject: "", status: 0, message: "no" });
}

test.for([
  ["an hour ahead", "2026-08-01T13:00:00Z", "2026-08-01T12:00:00Z"],
  ["a year ahead", "2027-08-01T12:00:00Z", "2026-08-01T12:00:00Z"],
  ["now", "2026-08-01T12:00:00Z", undefined],
  ["an hour ago", "2026-08-01T11:00:00Z", undefined],
  ["no time", "soon", undefined],
] as const)(
  "a run that fails leaves a last success that is %s as now, where it has not come",
  async ([, stored, expected]) => {
    const notes = { [SUCCESS]: stored };
    let thrown: Readonly<Record<string, string>> = {};
    let noted: Readonly<Record<string, string>> = {};
    const answer: Scene["answer"] = async ({ annotate, annotateFailure }) => {
      thrown = annotateFailure(kubeError("unavailable"), NOW_MS, notes);
      const result: PassResult = { ...aQuietRun(), wasInterrupted: true };
      noted = annotate({ result, endedAtMs: NOW_MS, durationMs: 1, meters: [], notes });
      return { kind: "done", value: result };
    };
    const stopping = new AbortController();
    stopping.abort("SIGTERM");
    await invoke(["reconcile"], { observation: steady(), answer, signal: stopping.signal });
    expect([thrown[SUCCESS], noted[SUCCESS]]).toEqual([expected, expected]);
  },
);

async function notedOf(result: PassResult): Promise<readonly unknown[]> {
  let noted: Readonly<Record<string, string>> = {};
  const answer: Scene["answer"] = async ({ annotate }) => {
    noted = annotate({ result, endedAtMs: NOW_MS, durationMs: 1, meters: [], notes: {} });
    return { kind: "done", value: result };
  };
  const { exitCode } = await invoke(["reconcile"], { observation: steady(), answer });
  return [exitCode, noted[RESULT], noted[SUCCESS]];
}

test("a run that nothing interrupts is noted as done", async () => {
  expect(await notedOf(aQuietRun())).toEqual([0, "0 done", "2026-08-01T12:00:00Z"]);
});

test("where a status could not be written, the note names its object: the status itself cannot say so", async () => {
  const failure = (name: string, what: "status" | "event"): PassResult["reportFailures"][number] => {
    return { object: { kind: "pool", namespace: "shop", name }, what, error: new Error("refused") };
  };
  const reportFailures = [failure("web", "status"), failure("api", "event"), failure("web", "status")];
  const [, noted] = await notedOf({ ...aQuietRun(), reportFailures });
  expect(noted).toBe("0 done; the status of pool/shop/web was not written");
});
