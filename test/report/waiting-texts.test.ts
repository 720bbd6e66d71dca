import { describe, expect, test } from "vitest";
import { ProviderError } from "../../src/model/errors.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import { explain } from "../../src/rehearse/explain.ts";
import { overviewOf } from "../../src/report/overview.ts";
import { renderExplanation } from "../../src/report/text/explanation.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { whyOutcome } from "../../src/report/text/run.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { afterFailure, aNode, anObservation, aPool, NOW_MS, planOf } from "./world.ts";

const layout = { palette: PLAIN, all: false, wide: false } as const;
const before = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString();
const active = (number: number) => ({
  state: "active" as const,
  nodeName: `worker-${number}`,
  providerID: `digitalocean://${number}`,
});

/** A pool of two addresses, one of them parked on a node that is not ready while the cool-off runs. */
function inCoolOff(): Observation {
  const pool = aPool("web", ["203.0.113.10", "203.0.113.11"], {
    spec: { assignmentCoolOffSeconds: 3000 },
    status: {
      ips: { "203.0.113.10": active(1), "203.0.113.11": active(2) },
      lastAssignmentTime: before(480),
    },
  });
  const nodes = [aNode(1, { ready: { isReady: false, sinceMs: NOW_MS - 60_000 } }), aNode(2), aNode(5)];
  return anObservation([pool], nodes, { "203.0.113.10": "1", "203.0.113.11": "2" });
}

/** What status shows once a run has stored what it planned. */
function statusText(world: Observation): string {
  const [assessment] = planOf(world).pools;
  const [pool] = world.pools;
  if (assessment === undefined || pool === undefined) throw new Error("a world without a pool");
  const stored: Pool = { ...pool, status: { ...pool.status, ...assessment.status } };
  const facts = {
    cluster: world.cluster,
    nowMs: NOW_MS,
    pools: [stored],
    routedIPs: [],
    recordSets: [],
    leaseKey: "flipop/flipop",
  };
  return renderStatus(overviewOf(facts, 300_000), { palette: PLAIN, wide: false });
}

describe("a cool-off", () => {
  test("is told in a plan with its length, and which node gets the address when", () => {
    expect(renderPlan(planOf(inCoolOff()), layout)).toContain(
      "  . 203.0.113.10: not assigned\n" +
        "      The pool's last assignment was at 11:52:00 UTC (8m ago), its cool-off is 50m: worker-5 gets it at 12:42:00 UTC (in 42m).\n",
    );
  });

  test("is told once where it is explained", () => {
    const explanation = explain(inCoolOff(), {
      subject: { kind: "object" },
      isMeant: () => true,
      horizonMs: 900_000,
    });
    const text = renderExplanation(explanation, { palette: PLAIN, wide: false });
    expect(text).toContain(
      "  ! cool-off          203.0.113.10: The pool's last assignment was at 11:52:00 UTC (8m ago), its cool-off is 50m: worker-5 gets it at 12:42:00 UTC (in 42m).\n",
    );
  });

  test("is told in status with its end, by the pool and by the address", () => {
    const text = statusText(inCoolOff());
    expect(text).toContain(
      "WaitingForAssignment: CoolOff until 12:42:00 UTC (in 42m): worker-5 gets 203.0.113.10 then.\n",
    );
    expect(text).toMatch(/^203\.0\.113\.10 +ingress\/web +no-match +worker-1 +CoolOff until 12:42:00 UTC \(in 42m\)$/m);
  });
});

describe("a grace period", () => {
  const pool = aPool("web", ["203.0.113.10"], {
    spec: { gracePeriodSeconds: 600 },
    status: { ips: { "203.0.113.10": active(1) } },
  });
  const unready = aNode(1, {
    ready: { isReady: false, sinceMs: NOW_MS - 108_000 },
    addressAnnotation: "203.0.113.10",
    poolAnnotation: "ingress/web",
  });

  test("is told in the heading of a plan: which node still counts as a match, and until when", () => {
    const world = anObservation([pool], [unready, aNode(2), aNode(3, { labels: {} })], { "203.0.113.10": "1" });
    expect(renderPlan(planOf(world), layout)).toContain(
      "pool/ingress/web: 1 of 1 address active, 2 of 3 nodes match, 1 of them in grace (worker-1 until 12:08:12 UTC)\n",
    );
    expect(statusText(world)).toMatch(
      /^203\.0\.113\.10 +ingress\/web +active +worker-1 +Grace until 12:08:12 UTC \(in 8m12s\)$/m,
    );
  });

  test("is told of three nodes by name where there are more", () => {
    const numbers = [1, 2, 3, 4];
    const ip = (number: number): string => `203.0.113.1${number}`;
    const many = aPool("web", numbers.map(ip), {
      spec: { gracePeriodSeconds: 600 },
      status: { ips: Object.fromEntries(numbers.map((number) => [ip(number), active(number)])) },
    });
    const nodes = numbers.map((number) => aNode(number, { ready: { isReady: false, sinceMs: NOW_MS - 108_000 } }));
    const holders = Object.fromEntries(numbers.map((number) => [ip(number), String(number)]));
    expect(renderPlan(planOf(anObservation([many], nodes, holders)), layout)).toContain(
      "4 of 4 nodes match, 4 of them in grace (worker-1 until 12:08:12 UTC, worker-2 until 12:08:12 UTC, worker-3 until 12:08:12 UTC and 1 more)\n",
    );
  });
});

describe("an address that the provider works on", () => {
  const busy = (status: Partial<Pool["status"]>): Observation => {
    const world = anObservation([aPool("web", ["203.0.113.11"], { status })], [aNode(1), aNode(2)], {
      "203.0.113.11": undefined,
    });
    const [[name, facts] = []] = world.providers;
    if (name === undefined || facts === undefined) throw new Error("a world without a provider");
    const address = { ip: "203.0.113.11", region: "ams3", isLocked: true };
    return {
      ...world,
      providers: new Map([[name, { ...facts, addresses: new Map([[address.ip, { kind: "known", address }]]) }]]),
    };
  };

  test("is told with where it goes", () => {
    const ips = { "203.0.113.11": { ...active(1), state: "in-progress" as const, reason: "InProgress" } };
    expect(renderPlan(planOf(busy({ ips })), layout)).toContain(
      "  . 203.0.113.11: not there yet\n" + "      The provider is still working on it: on its way to worker-1.\n",
    );
  });

  test("is told without what nobody knows", () => {
    expect(renderPlan(planOf(busy({ ips: { "203.0.113.11": active(1) } })), layout)).toContain(
      "  . 203.0.113.11: not there yet\n      The provider is still working on it.\n",
    );
  });
});

describe("a change that was accepted and not seen", () => {
  const error = (failure: ProviderError["failure"], notBeforeMs?: number): ProviderError =>
    new ProviderError({
      provider: "digitalocean",
      failure,
      operation: "get",
      subject: "203.0.113.10",
      status: 429,
      message: "DigitalOcean did not accept the token.",
      ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
    });

  test.for([
    [undefined, "Accepted, and not seen to be true yet. The next run looks again."],
    [
      error("rate-limited", NOW_MS + 58_000),
      "Accepted, and not seen to be true yet. DigitalOcean's rate limit is used up until 12:00:58 UTC. The next run looks again.",
    ],
    [
      error("unauthorized"),
      "Accepted, and not seen to be true yet. DigitalOcean did not accept the token. The next run looks again.",
    ],
  ] as const)("is told with why nobody looks any more: %s", ([endedBy, text]) => {
    const [action] = planOf(afterFailure()).actions;
    if (action === undefined) throw new Error("a plan without actions");
    const outcome = { action, outcome: "unconfirmed", ms: 1, endedAtMs: NOW_MS } as const;
    expect(whyOutcome(endedBy === undefined ? outcome : { ...outcome, endedBy }, undefined, 0)).toBe(text);
  });
});

describe("an error of an address", () => {
  const old = "Give the token the scope reserved_ip:update.";
  const failed = { state: "error" as const, reason: "Failed", error: old };
  const retries = [{ subject: "ip/203.0.113.10", attempts: 2, nextAttemptTime: before(-60), error: old }];
  const pool = aPool("web", ["203.0.113.10"], { status: { ips: { "203.0.113.10": failed }, retries } });
  const world = anObservation([pool], [aNode(1)], { "203.0.113.10": undefined });

  test("is told while it is the next obstacle", () => {
    expect(statusText(world)).toContain(old);
  });

  test("is not told beside a token that is rejected, which comes first", () => {
    const [[name, facts] = []] = world.providers;
    if (name === undefined || facts === undefined) throw new Error("a world without a provider");
    const unusable = { kind: "no-access" as const, message: "DigitalOcean did not accept the token. Check the token." };
    const rejected = { ...world, providers: new Map([[name, { ...facts, unusable, addresses: new Map() }]]) };
    for (const text of [statusText(rejected), renderPlan(planOf(rejected), { ...layout, all: true })]) {
      expect(text).toContain("DigitalOcean did not accept the token. Check the token.");
      expect(text).not.toContain(old);
    }
  });
});
