import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { Plan } from "../../src/model/plan.ts";
import { eventOf } from "../../src/report/events.ts";
import { exitCodeOfPlan, exitCodeOfRun } from "../../src/report/exit-code.ts";
import { impactOf } from "../../src/report/impact.ts";
import { narrowPlan } from "../../src/report/narrow-plan.ts";
import { actionLine, whyAction } from "../../src/report/text/actions.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { renderRun, watchLines } from "../../src/report/text/run.ts";
import { activeText, summaryText } from "../../src/report/text/summary.ts";
import { aRoutedPlan, aRoutedWorld } from "./routed-plans.ts";
import { aFirewall, afterRoutedFailure, aRoutedIP, onWorker } from "./routed-world.ts";
import { applied, aRun } from "./runs.ts";
import { planOf } from "./world.ts";

const layout = { palette: PLAIN, all: false, wide: false } as const;
const EDGE = { provider: "digitalocean", id: "id-edge", name: "edge" } as const;

function ofKind(plan: Plan, kind: Action["kind"]): Action {
  const action = plan.actions.find((one) => one.kind === kind);
  if (action === undefined) throw new Error(`the plan has no ${kind}`);
  return action;
}

describe("routed IPs in a summary", () => {
  test("count ports and machines, not calls", () => {
    const plan = planOf(afterRoutedFailure());
    const actions = plan.actions.map((action) => {
      if (action.kind === "open-ports") return { ...action, ports: [...action.ports, ...action.ports] };
      return action.kind === "add-to-firewall"
        ? { ...action, machines: [...action.machines, ...action.machines] }
        : action;
    });
    expect(summaryText({ ...plan, actions })).toContain("2 ports to open, 2 nodes to add to a firewall, 1 to move");
    expect(summaryText(plan)).toContain("1 port to open, 1 node to add to a firewall, 1 to move");
  });

  test("stand between pools and record sets, and alone where there is nothing else", () => {
    const plan = planOf(afterRoutedFailure());
    expect(activeText(plan)).toBe("1 of 4 routed IPs active");
    const [steady] = plan.pools.filter(({ object }) => object.name === "steady");
    if (steady === undefined) throw new Error("there is no steady one");
    const pool = { ...steady, object: { ...steady.object, kind: "pool" as const } };
    expect(activeText({ ...plan, pools: [steady] })).toBe("1 routed IP active");
    expect(activeText({ ...plan, pools: [steady, pool] })).toBe("1 pool, 1 of 1 address active, 1 routed IP active");
  });

  test("are no reason to say that there are no pools", () => {
    expect(renderPlan(planOf(afterRoutedFailure()), layout)).not.toContain("No pools");
  });
});

describe("the heading of a routed IP", () => {
  test.for([
    ["active", "203.0.113.1 active on worker-1"],
    ["in-progress", "203.0.113.1 on its way to worker-1"],
    ["error", "203.0.113.1 in error"],
    ["no-match", "203.0.113.1 on worker-1, which does not match"],
    ["unassigned", "203.0.113.1 without a node"],
    ["disabled", "no address yet"],
  ] as const)("tells of an address that is %s", ([state, text]) => {
    const plan = aRoutedPlan(aRoutedIP("web", { spec: { address: "203.0.113.1" } }));
    const pools = plan.pools.map((pool) => ({
      ...pool,
      status: { ...pool.status, ips: { "203.0.113.1": { state, nodeName: "worker-1" } } },
    }));
    expect(renderPlan({ ...plan, pools }, layout)).toContain(`routedip/ingress/web: ${text}, 1 of 1 node matches\n`);
  });
});

describe("what stays on a firewall", () => {
  test("is told with --all, in its number", () => {
    const firewalls = [{ ...EDGE, ports: ["tcp/30080"], machineIDs: ["1"] }];
    const routedIP = aRoutedIP("web", {
      spec: { address: "203.0.113.1" },
      status: onWorker("203.0.113.1", 1, { firewalls }),
    });
    const plan = aRoutedPlan(routedIP, { firewall: aFirewall("edge", ["tcp/30080"], ["1"]) });
    expect(renderPlan(plan, { ...layout, all: true })).toContain("  = tcp/30080 and 1 node stay on firewall edge\n");
    expect(renderPlan(plan, layout)).not.toContain("stay on firewall");
  });
});

describe("a plan narrowed to a node or an address", () => {
  const plan = planOf(afterRoutedFailure());
  const kinds = (focus: { nodes?: readonly string[]; ips?: readonly string[] }): readonly string[] =>
    narrowPlan(plan, { nodes: [], ips: [], nodeAddresses: [], ...focus }).actions.map(({ kind }) => kind);

  test("has the firewall of the address that comes to the node, and of the one that leaves it", () => {
    expect(kinds({ nodes: ["worker-2"] })).toEqual(
      expect.arrayContaining(["open-ports", "add-to-firewall", "move-ip"]),
    );
    expect(kinds({ nodes: ["worker-1"] })).toEqual(expect.arrayContaining(["remove-from-firewall", "close-ports"]));
  });

  test("has no firewall of an address that does not concern it", () => {
    expect(kinds({ nodes: ["worker-3"] })).toEqual([]);
    expect(kinds({ ips: ["203.0.113.41"] })).toEqual([]);
  });

  test("has what its firewall waits for", () => {
    const { holds } = narrowPlan(plan, { nodes: [], ips: ["203.0.113.43"], nodeAddresses: [] });
    expect(holds.map(({ subject }) => subject)).toEqual(["203.0.113.43", "firewall gone"]);
  });
});

describe("the impact", () => {
  test("is none where a firewall loses what nobody needs any more", () => {
    const plan = planOf(afterRoutedFailure());
    expect(plan.actions.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["close-ports", "remove-from-firewall"]),
    );
    expect(impactOf(plan)).toEqual([]);
  });
});

describe("an Event about a firewall", () => {
  const plan = planOf(afterRoutedFailure());
  test.for([
    ["open-ports", "Opened tcp/30587 on firewall edge: The firewall does not let in what the address is to serve."],
    [
      "add-to-firewall",
      "Added worker-2 to firewall edge: worker-2 is to serve the address, and not behind the firewall yet.",
    ],
    ["close-ports", "Closed tcp/30025 on firewall edge: No object needs these ports any more, and flipop opened them."],
    [
      "remove-from-firewall",
      "Removed worker-1 from firewall edge: No object needs worker-1 behind the firewall any more, and flipop put it there.",
    ],
  ] as const)("says of %s what was done", ([kind, note]) => {
    expect(eventOf(applied(ofKind(plan, kind)), undefined)?.note).toBe(note);
  });
});

describe("a firewall that refuses", () => {
  const plan = planOf(afterRoutedFailure());
  const refusal = (action: Action, failure: ProviderError["failure"]): Outcome => {
    const message = `Could not change firewall edge: ${failure}.`;
    const error = new ProviderError({
      provider: "digitalocean",
      failure,
      operation: "x",
      subject: "edge",
      status: 403,
      message,
    });
    return { action, outcome: "failed", ms: 1, error };
  };
  const retrying = (subject: string): Plan => {
    const open = ofKind(plan, "open-ports");
    const hold = {
      kind: "open-ports",
      object: open.object,
      reason: "Backoff",
      detail: "x",
      needsPerson: false,
    } as const;
    return { ...plan, actions: [], holds: [{ ...hold, subject }] };
  };

  test.for([
    ["name", "firewall edge"],
    ["id", "firewall id-edge"],
  ] as const)(
    "is told once, not by its outcome and again by what waits, also where its issuer gives the %s",
    ([, subject]) => {
      const run = aRun(afterRoutedFailure(), afterRoutedFailure(), (action) => refusal(action, "unavailable"), {
        remaining: retrying(subject),
      });
      const text = renderRun(run, { ...layout, verbosity: 0 });
      expect(text).toContain("could not open tcp/30587 on firewall edge");
      expect(text).not.toContain("nothing is added");
      const other = renderRun({ ...run, remaining: retrying("firewall other") }, { ...layout, verbosity: 0 });
      expect(other).toContain("firewall other: nothing is added");
    },
  );

  test.for([
    ["open-ports", "forbidden", 77],
    ["close-ports", "forbidden", 3],
    ["close-ports", "unavailable", 3],
  ] as const)("to %s with %s makes the exit code %i when nothing else is served", ([kind, failure, code]) => {
    const only = plan.pools.filter(({ object }) => object.name === "mail");
    const remaining = { ...plan, actions: [], holds: [], pools: only };
    const outcomes = [refusal(ofKind(plan, kind), failure)];
    const planned = { ...plan, pools: only };
    const run = aRun(afterRoutedFailure(), afterRoutedFailure(), applied, { plan: planned, remaining, outcomes });
    expect(exitCodeOfRun(run, { partialOk: false })).toBe(code);
  });
});

describe("a firewall that is held", () => {
  const held = (firewall: Parameters<typeof aRoutedWorld>[1]): Plan => planOf(aRoutedWorld(served, firewall));
  const served = aRoutedIP("web", { spec: { address: "203.0.113.1" }, status: onWorker("203.0.113.1", 1) });

  test.for([
    [
      "that does not exist",
      { other: { edge: { kind: "gone" } } },
      "! firewall edge: cannot be used\n      The account has no such firewall: edge. Create it, or correct routedIPFirewallName of the issuer.",
      78,
    ],
    [
      "whose name several have",
      { other: { edge: { kind: "ambiguous", ids: ["a", "b"] } } },
      "! firewall edge: cannot be used\n      Several firewalls are named edge: a, b. Put the id of the right one into routedIPFirewallName of the issuer.",
      78,
    ],
    [
      "of DigitalOcean Kubernetes",
      { name: "k8s-x", firewall: aFirewall("k8s-x", [], []) },
      "! firewall k8s-x: cannot be used\n      Firewalls whose name starts with k8s- belong to DigitalOcean Kubernetes, which overwrites changes: k8s-x. Create a firewall of your own with the cluster's tag k8s:CLUSTER-ID, and put its name into routedIPFirewallName of the issuer.",
      78,
    ],
    [
      "with ten machines",
      { firewall: aFirewall("edge", ["tcp/30080"], ["11", "12", "13", "14", "15", "16", "17", "18", "19", "20"]) },
      "! firewall edge: has no room\n      The firewall can take no more rules or machines: 10 of 10 machines; give it a tag that the nodes have.",
      3,
    ],
    [
      "with fifty rules",
      { firewall: { ...aFirewall("edge", [], ["1"]), ruleCount: 50 } },
      "! firewall edge: has no room\n      The firewall can take no more rules or machines: 50 of 50 rules; 1 more is needed: let Services share ports, or name another firewall.",
      3,
    ],
    [
      "that cannot be read",
      { other: { edge: { kind: "gap", error: "the provider did not answer" } } },
      ". firewall edge: left as it is\n      The provider did not answer.",
      75,
    ],
  ] as const)("%s is told with what to do", ([, world, text, code]) => {
    const plan = held(world);
    expect(renderPlan(plan, layout)).toContain(`  ${text}\n`);
    expect(exitCodeOfPlan(plan, { detailed: false })).toBe(code);
  });

  test("is a line of its own while a process watches, told once", () => {
    const world = aRoutedWorld(aRoutedIP("web", { spec: { address: "203.0.113.1" } }), {
      other: { edge: { kind: "gone" } },
    });
    const run = aRun(world, world, applied);
    const texts = watchLines(run, undefined).map(({ symbol, text }) => `${symbol} ${text}`);
    expect(texts).toContain(
      "! routedip/ingress/web: firewall edge: cannot be used: The account has no such firewall: edge. Create it, or correct routedIPFirewallName of the issuer.",
    );
    expect(watchLines(run, run.remaining)).toEqual([]);
  });
});

describe("an invalid routed IP", () => {
  test.for([
    [
      { issuer: "nobody" },
      'issuer "nobody" not found: namespace ingress has no such RoutedIPIssuer. Create it, or correct spec.issuer.',
    ],
    [{ issuer: "" }, "issuer must be provided. Correct the object's spec."],
    [{ serviceName: "none" }, 'Service "none" not found in namespace ingress. Create it, or correct spec.serviceName.'],
    [{ issuer: "ferengi" }, 'unknown provider "Ferengi". Correct provider of the issuer.'],
    [
      { ports: [{ protocol: "tcp", port: "0-9" }] },
      'port "tcp/0-9" is not a port or a range of ports. Correct the object\'s spec.',
    ],
  ] as const)("with %j says what to do about it", ([spec, text]) => {
    const plan = planOf(aRoutedWorld(aRoutedIP("web", { spec })));
    expect(renderPlan(plan, layout)).toContain(`The object's spec is invalid: ${text}\n`);
    expect(exitCodeOfPlan(plan, { detailed: false })).toBe(78);
  });
});

describe("the finalizer of a routed IP", () => {
  test("is explained by the issuer's policy, not by an address that nobody acquired", () => {
    const object = { kind: "routedip", namespace: "ingress", name: "web" } as const;
    const none = { requires: [], follows: [], before: undefined, after: undefined };
    const action = { kind: "add-finalizer", id: "x", object, reason: "ReclaimDelete", ...none } as const;
    expect(whyAction(action, undefined)).toBe(
      "routedIPReclaimPolicy of its issuer is Delete: what flipop made for the object goes before it does.",
    );
  });
});

describe("buying the address of a routed IP", () => {
  test("is explained by its own fields", () => {
    const plan = aRoutedPlan(aRoutedIP("web"));
    const acquire = ofKind(plan, "acquire-ip");
    expect(actionLine(acquire)).toBe("acquire a new address for worker-1");
    expect(renderPlan(plan, layout)).toContain("It has no address, and spec.address names none.\n");
  });
});
