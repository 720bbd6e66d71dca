import { describe, expect, test } from "vitest";
import type { ObjectRef } from "../../src/model/action.ts";
import type { Refusal } from "../../src/model/errors.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Gap, Hold } from "../../src/model/plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { budgetTexts, renderPlan } from "../../src/report/text/plan.ts";
import { renderRun } from "../../src/report/text/run.ts";
import { aRecordSetAssessment } from "./dns-plans.ts";
import { aQuietRun } from "./runs.ts";
import { aNode, anObservation, aPool, NOW_MS, planOf } from "./world.ts";

const layout = { palette: PLAIN, all: false, wide: false } as const;

/** So many pools with one address each, each on a node of its own and annotated; the first `lost` of the nodes are not ready. */
function manyPools(count: number, lost = 0): Observation {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const ip = (number: number): string => `203.0.${100 + Math.floor(number / 200)}.${number % 200}`;
  const pools = numbers.map((number) =>
    aPool(`web-${number}`, [ip(number)], {
      spec: { match: { nodeLabel: `pool=${number}`, podNamespace: "", podLabel: "", tolerations: [] } },
      status: {
        ips: {
          [ip(number)]: { state: "active", nodeName: `worker-${number}`, providerID: `digitalocean://${number}` },
        },
      },
    }),
  );
  const nodes = numbers.map((number) =>
    aNode(number, {
      labels: { pool: String(number) },
      addressAnnotation: ip(number),
      poolAnnotation: `ingress/web-${number}`,
      ...(number <= lost ? { ready: { isReady: false, sinceMs: NOW_MS - 60_000 } } : {}),
    }),
  );
  const spare = numbers.slice(0, lost).map((number) => aNode(1000 + number, { labels: { pool: String(number) } }));
  return anObservation(
    pools,
    [...nodes, ...spare],
    Object.fromEntries(numbers.map((number) => [ip(number), String(number)])),
  );
}

function refused(world: Observation, unusable: Refusal): Observation {
  const [[name, facts] = []] = world.providers;
  if (name === undefined || facts === undefined) throw new Error("a world without a provider");
  const { addressCount: _, ...unread } = facts;
  return { ...world, providers: new Map([[name, { ...unread, unusable, addresses: new Map() }]]) };
}

const limit: Refusal = {
  kind: "rate-limited",
  message: "digitalocean asked for no calls until 2026-08-01T12:00:58.895Z",
  notBeforeMs: NOW_MS + 58_895,
};

describe("a plan", () => {
  test("shows only what changes or is held, and counts the objects that stay as they are", () => {
    const plan = planOf(manyPools(500, 2));
    expect(renderPlan(plan, layout)).toBe(`Plan for https://kubernetes.example:6443, read 2026-08-01 12:00:00 UTC

pool/ingress/web-1: 0 of 1 address active, 1 of 502 nodes matches
    Not matching: 500 nodeLabel mismatch (worker-10, worker-100, worker-1002 and 497 more), 1 not ready (worker-1).
  > move 203.0.100.1 from worker-1 to worker-1001
      worker-1 no longer matches (not ready), and worker-1001 waits for an address.
  ~ 2 annotations follow (-o wide shows them)

pool/ingress/web-2: 0 of 1 address active, 1 of 502 nodes matches
    Not matching: 500 nodeLabel mismatch (worker-1, worker-10, worker-100 and 497 more), 1 not ready (worker-2).
  > move 203.0.100.2 from worker-2 to worker-1002
      worker-2 no longer matches (not ready), and worker-1002 waits for an address.
  ~ 2 annotations follow (-o wide shows them)

498 objects as they are (--all shows them)

2 to move, 2 to annotate, 2 annotations to clear.
digitalocean: at least 5 calls needed; the account has 500 of 25 reserved IPs.
`);
  });

  test.for([{ all: true }, { isNamed: true }, { focus: new Set(["worker-3"]) }])(
    "shows every object where a person asks for it: %o",
    (asked) => {
      const text = renderPlan(planOf(manyPools(3)), { ...layout, ...asked });
      for (const name of ["web-1", "web-2", "web-3"])
        expect(text).toContain(`pool/ingress/${name}: 1 of 1 address active`);
      expect(text).not.toContain("as it is");
      expect(text).not.toContain("as they are");
    },
  );

  test("shows annotations that follow with -o wide and with --all, and those that follow nothing always", () => {
    const moved = planOf(manyPools(1, 1));
    for (const shown of [{ wide: true }, { all: true }]) {
      const text = renderPlan(moved, { ...layout, ...shown });
      expect(text).toContain("  ~ annotate node worker-1001 with 203.0.100.1");
      expect(text).toContain("  - clear the annotation 203.0.100.1 of node worker-1");
      expect(text).not.toContain("follow");
    }
    const world = manyPools(1);
    const bare = world.nodes.map(({ addressAnnotation: _, poolAnnotation: __, ...node }) => node);
    expect(renderPlan(planOf({ ...world, nodes: bare }), layout)).toContain(
      "  ~ annotate node worker-1 with 203.0.100.1\n      The annotation tells",
    );
  });

  test("says a limit of a provider once, however many objects wait for it", () => {
    expect(renderPlan(planOf(refused(manyPools(500), limit)), layout)).toBe(
      `Plan for https://kubernetes.example:6443, read 2026-08-01 12:00:00 UTC

  ! digitalocean: rate limit used up until 12:00:58 UTC; 500 pools wait

Nothing to do now: 500 held.
`,
    );
  });

  test("says with -o wide what the provider said and who waits, and with --all at each object", () => {
    const plan = planOf(refused(manyPools(2), limit));
    expect(renderPlan(plan, { ...layout, wide: true })).toContain(
      "  ! digitalocean: rate limit used up until 12:00:58 UTC; 2 pools wait\n" +
        "      DigitalOcean asked for no calls until 12:00:58 UTC (in 59s).\n" +
        "      pool/ingress/web-1 and pool/ingress/web-2\n",
    );
    const whole = renderPlan(plan, { ...layout, all: true });
    expect(whole.split("DigitalOcean asked for no calls until 12:00:58 UTC (in 59s).\n")).toHaveLength(3);
    expect(whole).not.toContain("pools wait");
  });

  test("says once that a token is not accepted, and what to do", () => {
    const message =
      "DigitalOcean did not accept the token when asked to list the reserved IPs: no (401). Check the token.";
    expect(renderPlan(planOf(refused(manyPools(4), { kind: "no-access", message })), layout)).toContain(
      `UTC\n\n  ! 4 pools: nothing is changed\n      ${message}\n\nNothing to do now: 4 blocked.\n`,
    );
  });

  test("says that nothing is changed of no object but those that stand still as a whole", () => {
    const why = { reason: "ProviderUnavailable", detail: "there is no token", needsPerson: true } as const;
    const found = planOf(manyPools(2));
    const dns = { provider: "digitalocean", fqdn: "www.example.com" };
    const plan = {
      ...found,
      pools: found.pools.map((pool) => ({ ...pool, dns })),
      recordSets: [aRecordSetAssessment()],
    };
    const object = (name: string): ObjectRef => ({ kind: "pool", namespace: "ingress", name });
    const holds: readonly Hold[] = [
      { kind: "reconcile", object: object("web-1"), subject: "ingress/web-1", ...why },
      { kind: "update-dns", object: object("web-2"), subject: "www.example.com", ...why },
      { kind: "update-dns", object: { ...object("nodes"), kind: "dns" }, subject: "nodes.example.com", ...why },
    ];
    expect(renderPlan({ ...plan, holds }, layout)).toContain(
      "  ! 1 pool and 1 record set: nothing is changed; 1 name of 1 pool: DNS not changed\n      There is no token.\n",
    );
  });

  test("says once that a provider cannot read addresses, whichever the error names", () => {
    const world = manyPools(3);
    const [[name, facts] = []] = world.providers;
    if (name === undefined || facts === undefined) throw new Error("a world without a provider");
    const gaps = [...facts.addresses.keys()].map((ip, at) => {
      // After several reads without an answer the rest is not asked for, and has the last error.
      const asked = at < 2 ? ip : "203.0.100.2";
      return [ip, { kind: "gap", error: `DigitalOcean failed to read ${asked}: the body is empty (503)` }] as const;
    });
    const providers = new Map([[name, { ...facts, addresses: new Map(gaps) }]]);
    expect(renderPlan(planOf({ ...world, providers }), layout)).toContain(
      "UTC\n\n  ! 3 addresses of 3 pools: left as they are\n" +
        "      DigitalOcean failed to read them: the body is empty (503).\n\nNothing to do now: 3 held.\n",
    );
  });

  test("says that objects stand still where a firewall and a whole object wait for one cause", () => {
    const plan = planOf(refused(manyPools(2), limit));
    const [first] = plan.holds;
    if (first === undefined) throw new Error("nothing is held");
    const firewall = { ...first, kind: "open-ports" as const, subject: "web" };
    const told = renderPlan({ ...plan, holds: [firewall, ...plan.holds.slice(1)] }, layout);
    expect(told).toContain("2 pools");
    expect(told).not.toContain("firewall");
  });

  test("counts objects alone where things of several kinds wait for one cause", () => {
    const plan = planOf(refused(manyPools(2), { kind: "no-access", message: "The token is wrong" }));
    const [first, second] = plan.holds;
    if (first === undefined || second === undefined) throw new Error("nothing is held");
    const holds = [
      { ...first, kind: "open-ports" as const, subject: "web" },
      { ...second, kind: "assign-ip" as const, subject: "203.0.113.1" },
    ];
    expect(renderPlan({ ...plan, holds }, layout)).toContain("  ! 2 pools: left as they are\n");
  });

  test("tells what concerns one object alone at the object", () => {
    expect(renderPlan(planOf(refused(manyPools(1), limit)), layout)).toContain(
      "  . nothing is changed\n      DigitalOcean asked for no calls until 12:00:58 UTC (in 59s).\n",
    );
  });

  test("says once why names could not be read, and names three of them", () => {
    const gap = (subject: string): Gap => ({
      provider: "cloudflare",
      about: ["name"],
      subject,
      error: `Cloudflare failed to read ${subject}`,
    });
    const plan = { ...planOf(manyPools(1)), gaps: ["a", "b", "c", "d"].map((name) => gap(`${name}.example.net`)) };
    expect(renderPlan(plan, layout)).toContain(
      "Could not be read, so nothing about it is changed:\n" +
        "  ! a.example.net, b.example.net, c.example.net and 1 more at cloudflare\n" +
        "      Cloudflare failed to read them\n",
    );
  });
});

describe("annotations that wait for one thing", () => {
  const error = (node: string): string =>
    `Cannot patch nodes ${node}: nodes "${node}" is forbidden (403). Grant the verb "patch" on "nodes" (see cronjob/rbac.yaml).`;
  const later = new Date(NOW_MS + 20_000).toISOString();

  /** Pool web-1 of so many addresses whose annotations are missing, since the last attempt to write one failed. */
  function unannotated(count: number, why: string): Observation {
    const numbers = Array.from({ length: count }, (_, at) => at + 1);
    const ip = (number: number): string => `203.0.113.${number}`;
    const pool = aPool("web", numbers.map(ip), {
      status: {
        ips: Object.fromEntries(
          numbers.map((number) => [
            ip(number),
            { state: "active", nodeName: `worker-${number}`, providerID: `digitalocean://${number}` },
          ]),
        ),
        retries: [{ subject: "annotate", attempts: 2, nextAttemptTime: later, error: why }],
      },
    });
    return anObservation(
      [pool],
      numbers.map((number) => aNode(number)),
      Object.fromEntries(numbers.map((number) => [ip(number), String(number)])),
    );
  }

  test.for([
    [2, "flipop may not patch nodes: 2 annotations wait"],
    [1, "flipop may not patch nodes: 1 annotation waits"],
  ] as const)("are told once, whichever node the error names: %d", ([count, heading]) => {
    expect(renderPlan(planOf(unannotated(count, error("worker-9"))), layout)).toContain(
      `  . ${heading}\n` +
        '      The last attempt failed and the next one is not due: Cannot patch nodes: nodes "worker-9" is forbidden (403). Grant the verb "patch" on "nodes" (see cronjob/rbac.yaml). Waits until 12:00:20 UTC (in 20s).\n',
    );
  });

  test("name their nodes with -o wide, and stand alone with --all and for another error of one node", () => {
    const plan = planOf(unannotated(2, "The API server did not answer."));
    expect(renderPlan(plan, { ...layout, wide: true })).toContain("  . 2 annotations wait\n");
    expect(renderPlan(plan, { ...layout, wide: true })).toContain("      worker-1 and worker-2\n");
    expect(renderPlan(plan, { ...layout, all: true })).toContain("  . worker-1 and worker-2: not annotated\n");
    const one = planOf(unannotated(1, "The API server did not answer."));
    expect(renderPlan(one, layout)).toContain("  . worker-1: not annotated\n");
  });
});

test("a run says a limit of a provider once", () => {
  const remaining = planOf(refused(manyPools(40), limit));
  const run = { ...aQuietRun(), plan: remaining, remaining };
  expect(renderRun(run, { ...layout, verbosity: 0 })).toBe(
    "  ! digitalocean: rate limit used up until 12:00:58 UTC; 40 pools wait\n\n" +
      "Nothing to do now: 40 held; 40 pools, 40 addresses not readable now.\n",
  );
});

test.for([
  [
    { provider: "digitalocean", calls: 0, addressCount: 1 },
    "digitalocean: no calls needed; the account has 1 reserved IP.",
  ],
  [
    { provider: "digitalocean", calls: 1, addressCount: 0, addressLimit: 1 },
    "digitalocean: at least 1 call needed; the account has 0 of 1 reserved IP.",
  ],
  [
    { provider: "hetzner", calls: 2, addressCount: 1, isFloating: true },
    "hetzner: at least 2 calls needed; the account has 1 floating IP.",
  ],
  [
    { provider: "hetzner IPv6", calls: 0, addressCount: 3, isFloating: true },
    "hetzner IPv6: no calls needed; the account has 3 floating IPs.",
  ],
] as const)("what an account has is told in the provider's words, one as one: %s", ([budget, text]) => {
  expect(budgetTexts({ budget: [budget] })).toEqual([text]);
});
