import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { PassResult } from "../../src/model/run.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderRun, watchLines } from "../../src/report/text/run.ts";
import { applied, aRun } from "./runs.ts";
import { aNode, anObservation, aPool } from "./world.ts";

const LIMITED_UNTIL = Date.UTC(2026, 7, 1, 12, 1);

/** So many pools, each with its own node, that wait for their addresses. */
function waiting(count: number): Observation {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return anObservation(
    numbers.map((n) =>
      aPool(`p${n}`, [`203.0.113.${n}`], {
        spec: { match: { nodeLabel: `own=${n}`, podNamespace: "", podLabel: "", tolerations: [] } },
      }),
    ),
    numbers.map((n) => aNode(n, { labels: { own: String(n) } })),
    Object.fromEntries(numbers.map((n) => [`203.0.113.${n}`, undefined])),
  );
}

/** One pool of so many addresses that wait for nodes. */
function waitingTogether(count: number): Observation {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const ips = numbers.map((n) => `203.0.113.${n}`);
  return anObservation(
    [aPool("web", ips)],
    numbers.map((n) => aNode(n)),
    Object.fromEntries(ips.map((ip) => [ip, undefined])),
  );
}

function refused(message: (action: Action & { readonly kind: "assign-ip" }) => string) {
  return (action: Action): Outcome => {
    if (action.kind !== "assign-ip")
      return { action, outcome: "skipped", reason: "PrerequisiteFailed", detail: '"assign" has not succeeded', ms: 0 };
    const error = new ProviderError({
      provider: "digitalocean",
      failure: "rate-limited",
      operation: "assign",
      subject: action.ip,
      status: 429,
      message: message(action as Action & { readonly kind: "assign-ip" }),
      notBeforeMs: LIMITED_UNTIL,
    });
    return { action, outcome: "failed", ms: 250, error };
  };
}

/** A rate limit: each text names its own address and machine, and a moment of its own. */
const limited = refused(
  ({ ip, after }) =>
    `DigitalOcean's rate limit does not allow to assign ${ip} to droplet ${after.machineID} now. No call before 2026-08-01T12:01:00.${after.machineID.padStart(3, "0")}Z.`,
);

function text(run: PassResult, wide = false): string {
  return renderRun(run, { palette: PLAIN, all: false, wide, verbosity: 0 });
}

function runOn(world: Observation, outcomeOf: (action: Action) => Outcome): PassResult {
  return aRun(world, world, outcomeOf);
}

describe("what many changes came to nothing for", () => {
  test("is told once over all objects, with a time as people read it", () => {
    expect(text(runOn(waiting(20), limited))).toBe(
      [
        "  ! could not assign 203.0.113.1 to worker-1, and 19 more",
        "      DigitalOcean's rate limit does not allow to assign 203.0.113.1 to droplet 1 now. No call before 12:01:00 UTC (in 1m1s).",
        "",
        "20 skipped, 20 failed; 20 pools, 0 of 20 addresses active.",
        "",
      ].join("\n"),
    );
  });

  test("is told once in an object that it concerns alone", () => {
    const printed = text(runOn(waitingTogether(6), limited));
    expect(printed).toMatch(
      /^pool\/ingress\/web\n {2}! could not assign 203\.0\.113\.1 to worker-1, and 5 more\n {6}\S/,
    );
    expect(printed.split("could not assign")).toHaveLength(2);
    expect(printed).not.toContain("annotate");
  });

  test("is told of each where there are few, or each has its own cause, and with -o wide", () => {
    expect(text(runOn(waitingTogether(3), limited)).split("could not assign")).toHaveLength(4);
    const own = refused(({ ip }) => `${ip} is odd in way ${ip.length * Number(ip.split(".").at(-1))}.`);
    expect(text(runOn(waiting(6), own)).split("could not assign")).toHaveLength(7);
    const wide = text(runOn(waiting(6), limited), true);
    expect(wide.split("could not assign")).toHaveLength(7);
    expect(wide.split("did not annotate")).toHaveLength(7);
  });

  test("is one line while a process watches", () => {
    const told = watchLines(runOn(waiting(20), limited), undefined).map(
      ({ symbol, text: line }) => `${symbol} ${line}`,
    );
    expect(told.filter((line) => line.includes("could not assign"))).toEqual([
      "! pool/ingress/p1: could not assign 203.0.113.1 to worker-1, and 19 more: DigitalOcean's rate limit does not allow to assign 203.0.113.1 to droplet 1 now. No call before 12:01:00 UTC (in 1m1s).",
    ]);
  });

  test("is one line while a process watches where all wait for it", () => {
    const world = waiting(20);
    const [facts] = world.providers.values();
    if (facts === undefined) throw new Error("no provider");
    const gap = { kind: "gap", error: "DigitalOcean did not answer within 10 s" } as const;
    const addresses = new Map([...facts.addresses.keys()].map((ip) => [ip, gap] as const));
    const silent = { ...world, providers: new Map([[facts.name, { ...facts, addresses }]]) };
    expect(watchLines(runOn(silent, applied), undefined).map(({ text: line }) => line)).toEqual([
      "20 addresses of 20 pools: left as they are: DigitalOcean did not answer within 10 s.",
    ]);
  });
});

test("annotations that followed are counted, and told one by one with -o wide", () => {
  const run = runOn(waitingTogether(6), applied);
  expect(text(run).split("annotated node")).toHaveLength(1);
  expect(text(run)).toContain("  ~ 6 annotations followed (-o wide shows them)\n");
  expect(text(run, true).split("annotated node")).toHaveLength(7);
});

test("statuses that could not be written for one cause are one entry", () => {
  const world = waiting(12);
  const run = runOn(world, applied);
  const reportFailures = run.plan.pools.map(({ object }) => ({
    object,
    what: "status" as const,
    error: new Error(`Did not write the status of ${object.namespace}/${object.name}: the Lease was lost.`),
  }));
  const lost = { ...run, reportFailures, wasInterrupted: true, hasLostLease: true as const };
  const printed = text(lost);
  expect(printed).toContain(
    "  ! could not write the status of pool/ingress/p1, and 11 more\n      Did not write the status of ingress/p1: the Lease was lost.\n",
  );
  expect(printed.split("could not write")).toHaveLength(2);
  expect(printed).toMatch(/12 not reported; .*\. Stopped early: the Lease was lost\.\n$/);
  expect(text(lost, true).split("could not write its status")).toHaveLength(13);
  expect(watchLines(lost, lost.remaining).flatMap(({ text: line }) => (line.includes("status") ? [line] : []))).toEqual(
    [
      "pool/ingress/p1: could not write its status, and that of 11 more: Did not write the status of ingress/p1: the Lease was lost.",
    ],
  );
});
