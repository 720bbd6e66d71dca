import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { parseGrants } from "../../src/model/grants.ts";
import type { Observation, ProviderFacts } from "../../src/model/observation.ts";
import type { Gap, Hold, Plan } from "../../src/model/plan.ts";
import { ownerKey, type Pool } from "../../src/model/resource.ts";
import { impactOf } from "../../src/report/impact.ts";
import { narrowPlan } from "../../src/report/narrow-plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { renderRun, runSummary } from "../../src/report/text/run.ts";
import { activeText, summaryText } from "../../src/report/text/summary.ts";
import { afterRoutedFailure } from "./routed-world.ts";
import { applied, aQuietRun, aRun, failed, steady } from "./runs.ts";
import {
  afterFailure,
  aNode,
  anObservation,
  aPool,
  beyondLimit,
  NOW_MS,
  planOf,
  reconciled,
  unreadable,
} from "./world.ts";

const layout = { palette: PLAIN, all: false, wide: false } as const;
const object = { kind: "pool", namespace: "ingress", name: "web" } as const;

function withAction(action: Partial<Action> & Pick<Action, "kind">): Plan {
  const plan = planOf(steady());
  const full = {
    id: "x",
    object,
    requires: [],
    follows: [],
    provider: "digitalocean",
    reason: "DropletNeeded",
    ...action,
  };
  return { ...plan, actions: [full as Action] };
}

describe("the impact of a plan", () => {
  const from = { machineID: "1", nodeName: "worker-1" };
  const to = { machineID: "2", nodeName: "worker-2" };
  test("names a node that still serves and loses its address", () => {
    const plan = withAction({
      kind: "unassign-ip",
      ip: "203.0.113.10",
      before: from,
      after: undefined,
      impact: "reduction",
    });
    expect(impactOf(plan).map(({ message }) => message)).toEqual(["203.0.113.10 leaves worker-1, which still serves."]);
    expect(renderPlan(plan, layout)).toContain(
      "\nImpact: reduction. 203.0.113.10 leaves worker-1, which still serves.\n",
    );
  });

  test("names a machine outside the cluster from which an address is taken", () => {
    const plan = withAction({
      kind: "move-ip",
      reason: "TakeOver",
      ip: "203.0.113.10",
      before: { machineID: "777" },
      after: to,
      mustNotCarry: [],
      impact: "takeover",
    });
    expect(impactOf(plan).map(({ message }) => message)).toEqual([
      "203.0.113.10 leaves machine 777, no node of this cluster: whatever uses it there loses it.",
    ]);
  });

  test("is none of an address that leaves what serves no more", () => {
    const action = { kind: "unassign-ip", ip: "203.0.113.10", before: from, after: undefined } as const;
    expect(impactOf(withAction(action))).toEqual([]);
    expect(impactOf(withAction({ ...action, impact: "recovery" }))).toEqual([]);
  });
});

describe("a rendered plan", () => {
  test("tells what a deleted object left behind", () => {
    const node = aNode(1, { addressAnnotation: "203.0.113.10", poolAnnotation: "ingress/old" });
    const text = renderPlan(planOf(anObservation([], [node], {})), layout);
    expect(text).toContain("No pools. Create a FloatingIPPool to begin.");
    expect(text).toContain(
      "pool/ingress/old: no longer exists, or is not selected\n  - clear the annotation 203.0.113.10 of node worker-1\n",
    );
  });

  test("tells a gap once, as a hold where there is one", () => {
    const world = afterFailure();
    const facts = world.providers.get("digitalocean");
    if (facts === undefined) throw new Error("no provider");
    const addresses = new Map([...facts.addresses, ["203.0.113.10", { kind: "gap", error: "HTTP 500" } as const]]);
    const plan = planOf({ ...world, providers: new Map([["digitalocean", { ...facts, addresses }]]) });
    expect(renderPlan(plan, layout).match(/HTTP 500/g)).toHaveLength(1);
    const alone = renderPlan({ ...plan, holds: [] }, layout);
    expect(alone).toContain(
      "Could not be read, so nothing about it is changed:\n  ! 203.0.113.10 at digitalocean\n      HTTP 500\n",
    );
  });

  test("tells until when a provider that could not be read asked for no calls, as people read it", () => {
    const until = new Date(NOW_MS + 58_000).toISOString();
    const gaps: readonly Gap[] = [
      { provider: "digitalocean", about: ["address"], subject: "", error: `No call before ${until}.` },
    ];
    expect(renderPlan({ ...planOf(steady()), gaps }, layout)).toMatch(/No call before \d\d:\d\d:58 UTC \(in 58s\)\./);
  });

  test("a plan and a run say what grants nothing, because it cannot be read", () => {
    const lost: Observation = {
      ...steady(),
      grants: { mode: "warn", namespaces: new Map(), refusal: "namespaces is forbidden." },
    };
    const bad = parseGrants("ingress", { "flipop.digitalocean.com/addresses": "203.0.113.300" });
    const wrong: Observation = { ...steady(), grants: { mode: "warn", namespaces: new Map([["ingress", bad]]) } };
    const heading = "Grants nothing, because it cannot be read:";
    for (const [world, told] of [
      [lost, "  ! namespaces\n      namespaces is forbidden.\n"],
      [wrong, "  ! namespace ingress\n      flipop.digitalocean.com/addresses '203.0.113.300': "],
    ] as const) {
      expect(renderPlan(planOf(world), layout)).toContain(`${heading}\n${told}`);
      expect(renderRun(aRun(world, world, applied), { ...layout, verbosity: 0 })).toContain(`${heading}\n${told}`);
    }
    expect(renderRun(aQuietRun(), { ...layout, verbosity: 0 })).not.toContain("Grants");
  });

  test("names the nodes for which no address is left", () => {
    const pool = aPool("web", ["203.0.113.1"]);
    const plan = planOf(anObservation([pool], [aNode(1), aNode(2)], { "203.0.113.1": undefined }));
    expect(renderPlan(plan, layout)).toContain("    Still without an address: worker-2.\n");
  });

  test("does not say of a node that keeps a surplus address that it is still without one", () => {
    const ips = ["203.0.113.1", "203.0.113.2"];
    const pool = aPool("web", ips, {
      spec: { desiredIPs: 1 },
      status: { ips: { "203.0.113.1": { state: "active", nodeName: "worker-1", providerID: "digitalocean://1" } } },
    });
    const holders = { "203.0.113.1": "1", "203.0.113.2": "2" };
    const text = renderPlan(planOf(anObservation([pool], [aNode(1), aNode(2), aNode(3)], holders)), layout);
    expect(text).toContain("    Still without an address: worker-3.\n");
  });

  test("does not say of a node that keeps a released address that it is still without one", () => {
    const released = [{ ip: "203.0.113.2", nodeName: "worker-2", providerID: "digitalocean://2" }];
    const pool = aPool("web", ["203.0.113.1"], {
      status: {
        ips: { "203.0.113.1": { state: "active", nodeName: "worker-1", providerID: "digitalocean://1" } },
        released,
      },
    });
    const holders = { "203.0.113.1": "1", "203.0.113.2": "2" };
    const text = renderPlan(planOf(anObservation([pool], [aNode(1), aNode(2), aNode(3)], holders)), layout);
    expect(text).toContain("    Still without an address: worker-3.\n");
  });

  test("says of a node that another object's plan has taken that it is promised to it", () => {
    const pools = [aPool("a", ["203.0.113.1"]), aPool("b", ["203.0.113.2"])];
    const world = anObservation(pools, [aNode(1)], { "203.0.113.1": undefined, "203.0.113.2": undefined });
    const text = renderPlan(planOf(world), layout);
    expect(text).toContain("Cannot take an address: 1 promised to another object (worker-1).\n");
    expect(text).not.toContain("already carrying");
  });

  test("says who to ask when an address is narrowed to", () => {
    const plan = narrowPlan(planOf(afterFailure()), { nodes: [], ips: ["203.0.113.20"], nodeAddresses: [] });
    expect(plan.actions).toEqual([]);
    expect(plan.pools.map((pool) => pool.object.name)).toEqual(["mail"]);
    expect(plan.holds.map(({ reason }) => reason)).toEqual(["ForeignHolder"]);
  });
});

describe("a rendered run", () => {
  test("does not say that nothing is to do without saying what waits, in the words of the plan", () => {
    const plan = planOf(beyondLimit());
    const { holds } = plan;
    expect(holds).toHaveLength(1);
    expect(summaryText(plan)).toBe("Nothing to do now: 1 blocked.");
    const result = { ...aQuietRun(), plan, remaining: plan };
    expect(runSummary(result)).toBe("Nothing to do now: 1 blocked; 1 pool, 3 of 5 addresses active.");
    expect(runSummary({ ...result, wasInterrupted: true, hasLostLease: true })).toContain(
      " Stopped early: the Lease was lost.",
    );
    expect(runSummary({ ...result, wasInterrupted: true })).toBe(
      "Nothing to do now: 1 blocked; 1 pool, 3 of 5 addresses active. Stopped early.",
    );
  });

  test("says that it stopped early, and what was accepted and is not confirmed", () => {
    const result = aRun(afterFailure(), afterFailure(), (action) => ({ action, outcome: "unconfirmed", ms: 1 }), {
      wasInterrupted: true,
    });
    expect(renderRun(result, { ...layout, verbosity: 0 })).toContain(
      "  ? asked to move 203.0.113.10 from worker-1 to worker-3 (0.0 s)\n" +
        "      Accepted, and not seen to be true yet. The next run looks again.\n",
    );
    expect(runSummary(result)).toBe("3 unconfirmed, 2 blocked; 3 pools, 1 of 3 addresses active. Stopped early.");
  });

  test("counts as held only what it tells as held: a failure that waits for its next attempt is one thing", () => {
    const [move] = planOf(afterFailure()).actions;
    if (move?.kind !== "move-ip") throw new Error("no move planned");
    const backoff: Hold = {
      kind: "assign-ip",
      object: move.object,
      subject: move.ip,
      reason: "Backoff",
      detail: "refused",
      needsPerson: false,
    };
    const result = aRun(afterFailure(), afterFailure(), applied, { outcomes: [failed(move)] });
    const waiting = { ...result, remaining: { ...result.remaining, holds: [backoff] } };
    expect(renderRun(waiting, { ...layout, verbosity: 0 })).not.toContain("  . ");
    expect(runSummary(waiting)).toBe("1 failed; 3 pools, 1 of 3 addresses active.");
    const other = { ...backoff, subject: "203.0.113.11" };
    const two = { ...result, remaining: { ...result.remaining, holds: [backoff, other] } };
    expect(runSummary(two)).toBe("1 failed, 1 held; 3 pools, 1 of 3 addresses active.");
  });

  const buying = anObservation([aPool("web", [], { spec: { desiredIPs: 1 } })], [aNode(1)], {});
  test.for([
    ["an annotation", "annotate-node", afterFailure(), "pool"],
    ["a purchase", "acquire-ip", buying, "pool"],
    ["a purchase for a RoutedIP", "acquire-ip", buying, "routedip"],
  ] as const)("tells %s that did not succeed once, as the failure that it is", ([, kind, world, owner]) => {
    const planned = planOf(world).actions.find((action) => action.kind === kind);
    if (planned === undefined) throw new Error("not planned");
    const action = { ...planned, object: { ...planned.object, kind: owner } };
    const { object } = action;
    const subject = action.kind === "annotate-node" ? action.nodeName : ownerKey(object);
    const backoff = { kind, object, subject, reason: "Backoff", detail: "refused", needsPerson: false } as const;
    const result = aRun(world, world, applied, { outcomes: [failed(action)] });
    const waiting = { ...result, remaining: { ...result.remaining, holds: [backoff] } };
    expect(renderRun(waiting, { ...layout, verbosity: 0 })).not.toMatch(/not annotated|no address acquired/);
    expect(runSummary(waiting)).toMatch(/^1 failed; /);
  });

  test("shows an address that went on to another node after a refusal as both", () => {
    const [move] = planOf(afterFailure()).actions;
    if (move?.kind !== "move-ip") throw new Error("no move planned");
    const other = { ...move, after: { machineID: "9", nodeName: "worker-9" } };
    const result = aRun(afterFailure(), reconciled(), applied, { outcomes: [failed(move), applied(other)] });
    const text = renderRun(result, { ...layout, verbosity: 0 });
    expect(text).toContain("  ! could not move 203.0.113.10 from worker-1 to worker-3 (0.3 s)\n");
    expect(text).toContain("  > moved 203.0.113.10 from worker-1 to worker-9 (1.2 s)\n");
  });

  test("counts attempts of the same change and shows it once", () => {
    const [move] = planOf(afterFailure()).actions;
    if (move === undefined) throw new Error("nothing planned");
    const result = aRun(afterFailure(), reconciled(), applied, { outcomes: [failed(move), applied(move)] });
    const text = renderRun(result, { ...layout, verbosity: 0 });
    expect(text).toContain("(1.2 s, 2 attempts)");
    expect(text).not.toContain("could not move");
  });

  test("tells a skipped action with its particulars, and an unwritten status", () => {
    const result = aRun(
      afterFailure(),
      afterFailure(),
      (action) => ({ action, outcome: "skipped", reason: "Stale", detail: "it moved meanwhile", ms: 0 }),
      { reportFailures: [{ object, what: "status", error: new Error("conflict") }] },
    );
    const text = renderRun(result, { ...layout, verbosity: 0 });
    expect(text).toContain("  . did not move 203.0.113.10 from worker-1 to worker-3\n      it moved meanwhile\n");
    expect(text).toContain("  ! could not write its status\n      conflict\n");
  });
});

describe("numbers of what nobody could look at", () => {
  const facts = (unusable: ProviderFacts["unusable"] & object): ReadonlyMap<string, ProviderFacts> => {
    const addresses = new Map();
    return new Map([["digitalocean", { name: "digitalocean", addresses, isComplete: false, readAtMs: 0, unusable }]]);
  };
  const offline = (world: Observation): Observation => ({
    ...world,
    providers: facts({ kind: "unanswered", message: "no answer" }),
  });

  test("are told as what was seen last, and nothing is said of nodes without an address", () => {
    const text = renderPlan(planOf(offline(beyondLimit())), layout);
    expect(text).toContain("pool/ingress/web: 5 addresses, not readable now (3 of them active when last seen), 5 of 5");
    expect(text).not.toContain("without an address");
    expect(renderPlan(planOf(offline(steady())), layout)).toContain(
      "pool/ingress/web: 1 address, not readable now (active when last seen), 1 of 1 node matches\n",
    );
    expect(renderPlan(planOf(unreadable()), layout)).not.toContain("without an address");
  });

  test("are no active addresses in a summary, and add up with those that are known", () => {
    expect(activeText(planOf(offline(steady())))).toBe("1 pool, 1 address not readable now");
    const { pools, nodes } = beyondLimit();
    const both = { ...unreadable(), pools: [...pools, ...steady().pools.map((pool) => renamed(pool, "other"))], nodes };
    expect(activeText(planOf(both))).toBe("2 pools, 0 of 3 addresses active, 3 not readable now");
  });

  test("of an invalid pool are how many stay as they are", () => {
    const { pools, ...world } = unreadable();
    const broken = pools.filter(({ meta }) => meta.name === "broken");
    expect(activeText(planOf({ ...world, pools: broken }))).toBe("1 pool, 1 address stays as it is");
    const twice = [...broken, ...broken.map((pool) => renamed(pool, "second"))];
    expect(activeText(planOf({ ...world, pools: twice }))).toBe("2 pools, 2 addresses stay as they are");
  });

  test("of a pool whose pods the API server does not list are how many stay as they are", () => {
    const match = { nodeLabel: "", podNamespace: "shop", podLabel: "", tolerations: [] };
    const pools = steady().pools.map((pool) => ({ ...pool, spec: { ...pool.spec, match } }));
    const pods = new Map([["shop|", { kind: "refused", error: "Cannot list pods: no (400)." } as const]]);
    const plan = planOf({ ...steady(), pools, pods });
    expect(activeText(plan)).toBe("1 pool, 1 address stays as it is");
    expect(renderPlan(plan, layout)).toContain("pool/ingress/web: its nodes are unknown\n");
  });

  test("of routed IPs are told as such", () => {
    const plan = planOf(offline(afterRoutedFailure()));
    expect(activeText(plan)).toMatch(/^(0 of \d routed IPs? active, )?\d (routed IPs )?not readable now/);
    expect(renderPlan(plan, { ...layout, all: true })).toMatch(
      /routedip\/\S+: 203\.0\.113\.\d+, not readable now \(active on worker-\d when last seen\)/,
    );
  });
});

function renamed(pool: Pool, name: string): Pool {
  return { ...pool, meta: { ...pool.meta, name, uid: name } };
}

test("an annotation whose address is on a foreign machine is cleared with that as the reason, whatever else its node is", () => {
  const world = afterFailure();
  const nodes = [
    aNode(1, { ready: { isReady: false }, addressAnnotation: "203.0.113.20", poolAnnotation: "ingress/mail" }),
  ];
  const text = renderPlan(planOf({ ...world, nodes }), layout);
  expect(text).toContain(
    "  - clear the annotation 203.0.113.20 of node worker-1\n      203.0.113.20 is on machine 777, no longer on worker-1.\n",
  );
});
