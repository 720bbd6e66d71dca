import { describe, expect, test } from "vitest";
import { KubeError, type Refusal } from "../../src/model/errors.ts";
import type { Observation, ProviderFacts } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import { FINALIZER, type RetryStatus } from "../../src/model/resource.ts";
import { NOT_BEGUN } from "../../src/model/restraint.ts";
import type { PassResult } from "../../src/model/run.ts";
import { exitCodeOfPlan, exitCodeOfRun, troubleText } from "../../src/report/exit-code.ts";
import { aRecordSetAssessment, NODES } from "./dns-plans.ts";
import { applied, aRun, failed, steady } from "./runs.ts";
import { aNode, anObservation, aPool, beyondLimit, planOf } from "./world.ts";

const waiting = (names: readonly string[] = ["web"]): Observation =>
  anObservation(
    names.map((name, at) => aPool(name, [`203.0.113.${at + 1}`])),
    names.map((_, at) => aNode(at + 1)),
    Object.fromEntries(names.map((_, at) => [`203.0.113.${at + 1}`, undefined])),
  );

/** A pool whose address could not be assigned in an earlier run. */
const retried = (why: Pick<RetryStatus, "reason">): Observation => {
  const retry = { attempts: 2, nextAttemptTime: "2026-08-01T12:01:00Z", error: "no", ...why };
  const retries = ["ip/203.0.113.1", "node/worker-1"].map((subject) => ({ subject, ...retry }));
  const pool = aPool("web", ["203.0.113.1"], { status: { retries } });
  return anObservation([pool], [aNode(1)], { "203.0.113.1": undefined });
};

function unusable(observation: Observation, kind: Refusal["kind"]): Observation {
  const facts: ProviderFacts = {
    name: "digitalocean",
    unusable: { kind, message: "not now" },
    addresses: new Map(),
    isComplete: false,
    readAtMs: observation.observedAtMs,
  };
  return { ...observation, providers: new Map([["digitalocean", facts]]) };
}

const invalid = (): Observation => anObservation([aPool("web", ["203.0.113.1"], { spec: { provider: "X" } })], [], {});
const suspended = (): Observation =>
  anObservation([aPool("web", ["203.0.113.1"], { spec: { suspend: true } })], [], { "203.0.113.1": undefined });
const invalidBesideServed = (): Observation => {
  const { pools, nodes } = steady();
  return anObservation([...pools, aPool("odd", ["203.0.113.9"], { spec: { provider: "X" } })], nodes, {
    "203.0.113.10": "1",
  });
};

/** A pool of each number of nodes, whose addresses the account does not have: it is of another account. */
const lost = (served: number, gone: number): Observation => {
  const names = Array.from({ length: served + gone }, (_, at) => `p${at}`);
  const world = anObservation(
    names.map((name, at) => aPool(name, [`203.0.113.${at + 1}`])),
    [],
    {},
  );
  const [facts] = world.providers.values();
  if (facts === undefined) throw new Error("no provider");
  const addresses = new Map(
    names.map((_, at) => {
      const ip = `203.0.113.${at + 1}`;
      const address = { ip, region: "ams3", isLocked: false };
      return [ip, at < served ? ({ kind: "known", address } as const) : ({ kind: "gone" } as const)] as const;
    }),
  );
  return { ...world, providers: new Map([[facts.name, { ...facts, addresses }]]) };
};
const foreign = (): Observation => anObservation([aPool("web", ["203.0.113.1"])], [aNode(1)], { "203.0.113.1": "777" });
const claimedTwice = (): Observation =>
  anObservation([aPool("a", ["203.0.113.1"]), aPool("b", ["203.0.113.1"])], [], { "203.0.113.1": undefined });
const withInvalid = (world: Observation): Observation => ({
  ...world,
  pools: [...world.pools, aPool("odd", ["203.0.113.9"], { spec: { provider: "X" } })],
});

const quiet = (world: Observation): PassResult => aRun(world, world, applied, { outcomes: [] });
const all = (failure: Parameters<typeof failed>[1], names?: readonly string[]): PassResult =>
  aRun(waiting(names), waiting(names), (action) => failed(action, failure));

/** Two surplus addresses that the pool acquired, on nodes; the run may remove none. */
const overLimit = (removals = 0): Observation => {
  const ips = ["203.0.113.1", "203.0.113.2"];
  const acquired = ips.map((ip) => ({ ip, acquiredAt: "2026-08-01T10:00:00Z" }));
  const web = aPool("web", [], { spec: { desiredIPs: 1, reclaimPolicy: "Delete" }, status: { acquired } });
  const meta = { ...web.meta, finalizers: [FINALIZER] };
  const world = anObservation([{ ...web, meta }], [aNode(1), aNode(2)], { "203.0.113.1": "1", "203.0.113.2": "2" });
  return { ...world, restraint: { limits: { removals }, begun: NOT_BEGUN } };
};
/** The same, while a person is asked. */
const unconfirmed = (): Observation => ({
  ...overLimit(),
  restraint: { limits: {}, confirmed: new Set(), begun: NOT_BEGUN },
});
const annotated = (world: Observation): Observation => ({
  ...world,
  nodes: world.nodes.map((node, at) => ({
    ...node,
    addressAnnotation: `203.0.113.${at + 1}`,
    poolAnnotation: "ingress/web",
  })),
});

const ROWS: readonly (readonly [string, PassResult, number])[] = [
  ["nothing but a limited removal is left", quiet(annotated(overLimit())), 4],
  ["a limited removal is left, and something was done", aRun(overLimit(), annotated(overLimit()), applied), 3],
  ["a limited removal is left beside an invalid object", quiet(withInvalid(annotated(overLimit()))), 3],
  ["nobody has confirmed a removal", quiet(annotated(unconfirmed())), 4],
  ["nobody has confirmed a removal, and something was done", aRun(unconfirmed(), annotated(unconfirmed()), applied), 4],
  ["nothing is to do", quiet(steady()), 0],
  ["there are no pools", quiet(anObservation([], [], {})), 0],
  ["the only pool is suspended", quiet(suspended()), 0],
  ["everything worked", aRun(waiting(), steady(), applied), 0],
  [
    "everything is accepted and unconfirmed",
    aRun(waiting(), waiting(), (action) => ({ action, outcome: "unconfirmed", ms: 1 })),
    0,
  ],
  ["one object is invalid and another served", quiet(invalidBesideServed()), 3],
  ["the account does not have the only object's address", quiet(lost(0, 1)), 3],
  ["the account does not have the addresses of 33 objects of 40", quiet(lost(7, 33)), 3],
  ["the account does not have any object's address", quiet(lost(0, 40)), 3],
  ["an address is on a machine outside the cluster", quiet(foreign()), 3],
  ["two objects name one address", quiet(claimedTwice()), 3],
  ["the limit of the account is reached", quiet(beyondLimit()), 3],
  ["one object is invalid and another waits for a person", quiet(withInvalid(foreign())), 3],
  ["the only object is invalid", quiet(invalid()), 78],
  ["the provider has no token", quiet(unusable(waiting(), "no-access")), 77],
  [
    "the provider's token cannot be one",
    { ...quiet(unusable(waiting(), "no-access")), unusableTokens: ["digitalocean"] },
    78,
  ],
  [
    "the token of a provider that the object does not name cannot be one",
    { ...quiet(unusable(waiting(), "no-access")), unusableTokens: ["cloudflare"] },
    77,
  ],
  ["the provider is rate-limited", quiet(unusable(waiting(), "rate-limited")), 75],
  ["the provider cannot be read", quiet(unusable(waiting(), "unanswered")), 75],
  ["every action failed for the moment", all("unavailable"), 75],
  ["every action was refused", all("refused"), 3],
  ["every action was forbidden", all("forbidden"), 77],
  ["an action of an earlier run was forbidden, and is not due", quiet(retried({ reason: "PermissionMissing" })), 3],
  ["an action of an earlier run failed otherwise, and is not due", quiet(retried({})), 0],
  [
    "one object failed for the moment and another was served",
    aRun(waiting(["a", "b"]), waiting(["a", "b"]), (action) =>
      action.object.name === "a" ? failed(action, "unavailable") : applied(action),
    ),
    3,
  ],
  [
    "the time was over before anything was done",
    aRun(waiting(), waiting(), (action) => ({ action, outcome: "skipped", reason: "Deadline", detail: "", ms: 0 })),
    75,
  ],
  [
    "an action was skipped because the world changed",
    aRun(waiting(), steady(), (action) => ({ action, outcome: "skipped", reason: "Stale", detail: "", ms: 0 })),
    0,
  ],
  ["the status of the only object could not be written", { ...quiet(steady()), reportFailures: [statusFailure()] }, 3],
  ["the status of a published record set could not be written", unwrittenRecordSet(["192.0.2.1"]), 3],
  ["the same of a record set whose name does not answer", unwrittenRecordSet([]), 77],
  ["an Event could not be written", { ...quiet(steady()), reportFailures: [{ ...statusFailure(), what: "event" }] }, 0],
  [
    "our own code threw",
    aRun(waiting(), waiting(), (action) => ({ action, outcome: "failed", ms: 1, error: new TypeError("x") })),
    1,
  ],
];

function statusFailure(): PassResult["reportFailures"][number] {
  const error = new KubeError({ failure: "forbidden", operation: "patch", subject: "", status: 403, message: "no" });
  return { object: { kind: "pool", namespace: "ingress", name: "web" }, what: "status", error };
}

/** A run in which nothing is left to do but the status of a record set, whose name has these addresses that serve. */
function unwrittenRecordSet(serving: readonly string[]): PassResult {
  const quietRun = quiet(steady());
  const name = { object: NODES, provider: "digitalocean", fqdn: "nodes.example.com", shown: ["192.0.2.1"], serving };
  const plan: Plan = {
    ...quietRun.remaining,
    pools: [],
    recordSets: [aRecordSetAssessment()],
    names: [name],
    actions: [],
    holds: [],
  };
  return { ...quietRun, plan, remaining: plan, reportFailures: [{ ...statusFailure(), object: NODES }] };
}

describe("the exit code of a run", () => {
  test.for(ROWS)("when %s", ([, result, code]) => {
    expect(exitCodeOfRun(result, { partialOk: false })).toBe(code);
  });

  test("is 0 with --partial ok where it would be 3, and unchanged where it would be 75", () => {
    expect(exitCodeOfRun(quiet(invalidBesideServed()), { partialOk: true })).toBe(0);
    expect(exitCodeOfRun(all("unavailable"), { partialOk: true })).toBe(75);
  });

  test("is 0 when an address was found whose purchase got no answer, and 75 while it is not", () => {
    const lacking = anObservation([aPool("web", [], { spec: { desiredIPs: 1 } })], [aNode(1)], {});
    const [purchase] = planOf(lacking).actions;
    if (purchase?.kind !== "acquire-ip") throw new Error("no purchase planned");
    const failure = { outcomes: [failed(purchase, "unavailable", 500)] };
    expect(exitCodeOfRun(aRun(lacking, steady(), applied, failure), { partialOk: false })).toBe(0);
    expect(exitCodeOfRun(aRun(lacking, lacking, applied, failure), { partialOk: false })).toBe(75);
  });

  test("is 3 where a permission is missing for one object, and others were to go and are gone", () => {
    const result = all("forbidden");
    expect(exitCodeOfRun(result, { partialOk: false })).toBe(77);
    const [first, ...others] = result.plan.pools;
    if (first === undefined) throw new Error("no pool planned");
    const gone = { ...first, object: { ...first.object, name: "gone" } };
    const planned = { ...result, plan: { ...result.plan, pools: [first, gone, ...others] } };
    expect(exitCodeOfRun(planned, { partialOk: false })).toBe(3);
    expect(exitCodeOfRun(planned, { partialOk: true })).toBe(0);
  });

  test("is 0 when an address that failed on one node was assigned to the next", () => {
    const [first] = planOf(waiting()).actions;
    if (first?.kind !== "assign-ip") throw new Error("no assignment planned");
    const other = { ...first, after: { machineID: "9", nodeName: "worker-9" } };
    const result = aRun(waiting(), steady(), applied, { outcomes: [failed(first), applied(other)] });
    expect(exitCodeOfRun(result, { partialOk: false })).toBe(0);
  });
});

describe("the exit code of a plan", () => {
  test.for([
    ["changes are pending and it was asked for", waiting(), true, 2],
    ["changes are pending and it was not asked for", waiting(), false, 0],
    ["nothing is to do", steady(), true, 0],
    ["the only object is invalid", invalid(), true, 78],
    ["the account does not have the addresses of 33 objects of 40", lost(7, 33), true, 3],
    ["an address is on a machine outside the cluster", foreign(), true, 3],
    ["two objects name one address", claimedTwice(), true, 3],
    ["the limit of the account is reached", beyondLimit(), true, 3],
    ["one object is invalid beside a served one", invalidBesideServed(), true, 3],
    ["the provider has no token", unusable(waiting(), "no-access"), true, 77],
  ] as const)("when %s", ([, world, detailed, code]) => {
    expect(exitCodeOfPlan(planOf(world), { detailed })).toBe(code);
  });

  test("when the provider's token cannot be one", () => {
    const plan = planOf(unusable(waiting(), "no-access"));
    expect(exitCodeOfPlan(plan, { detailed: true, unusableTokens: ["digitalocean"] })).toBe(78);
  });
});

/** A run on a world in which nothing is done. */
function idleRun(world: Observation): PassResult {
  return aRun(world, world, (action) => ({ action, outcome: "skipped", reason: "Deadline", detail: "", ms: 0 }));
}

test.for([
  ["", steady()],
  ["1 of 1 object in error", invalid()],
  ["1 of 2 objects in error", invalidBesideServed()],
  ["1 of 1 object waits for a person", foreign()],
  ["2 of 3 objects wait for a person", lost(1, 2)],
] as const)("it is told how many objects are not as they should be: '%s'", ([text, world]) => {
  expect(troubleText(idleRun(world))).toBe(text);
});

test("an object of which a guard holds the rest is not told as one in error", () => {
  const { remaining, ...rest } = idleRun(steady());
  const [{ object } = { object: undefined }] = remaining.pools;
  if (object === undefined) throw new Error("a world without a pool");
  const why = { reason: "AwaitsApproval", detail: "nobody has approved it", needsPerson: true } as const;
  const holds = [{ kind: "clear-annotation", object, subject: "worker-9", ...why }] as const;
  expect(troubleText({ ...rest, remaining: { ...remaining, holds } })).toBe("guarded changes left on 1 of 1 object");
});

test("objects in error and those that wait for a person are told apart", () => {
  const world = lost(1, 2);
  const odd = aPool("zz", ["203.0.113.99"], { spec: { provider: "X" } });
  const both = { ...world, pools: [...world.pools, odd] };
  expect(troubleText(idleRun(both))).toBe("1 of 4 objects in error, 2 wait for a person");
});
