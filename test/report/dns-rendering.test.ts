import { describe, expect, test } from "vitest";
import type { Gap, Plan } from "../../src/model/plan.ts";
import type { PassResult } from "../../src/model/run.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { runDocument } from "../../src/report/json/run.ts";
import { narrowPlan } from "../../src/report/narrow-plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { renderRun, runSummary } from "../../src/report/text/run.ts";
import { summaryText } from "../../src/report/text/summary.ts";
import {
  aDNSHold,
  aDNSPlan,
  aDNSWrite,
  aPoolAssessment,
  aReadyCondition,
  aRecordSetAssessment,
  NODES,
  PUBLISHED,
  WEB,
} from "./dns-plans.ts";
import { applied, failed, NO_TIME } from "./runs.ts";
import { schemaErrors } from "./schemas.ts";

const layout = { palette: PLAIN, all: false, wide: false } as const;

const busy = (): Plan =>
  aDNSPlan({
    actions: [
      aDNSWrite(),
      aDNSWrite({
        object: NODES,
        fqdn: "nodes.example.com",
        dnsProvider: "digitalocean",
        before: { addresses: [] },
        after: { addresses: ["192.0.2.1"], ttlSeconds: 60 },
      }),
    ],
    holds: [aDNSHold({ kind: "delete-dns", reason: "RecordsRetained", subject: "old.example.com" })],
  });

function aResult(plan: Plan, changes: Partial<PassResult> = {}): PassResult {
  return {
    plan,
    outcomes: plan.actions.map(applied),
    remaining: aDNSPlan(),
    reportFailures: [],
    wasInterrupted: false,
    timing: NO_TIME,
    ...changes,
  };
}

/** A document as a reader of the JSON gets it. */
function read(document: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(document));
}

describe("a rendered plan with DNS", () => {
  test("shows names that stay with --all only", () => {
    const plan = aDNSPlan();
    expect(renderPlan(plan, layout)).not.toContain("stays");
    const text = renderPlan(plan, { ...layout, all: true });
    expect(text).toContain("  = www.example.com at cloudflare stays 203.0.113.10 and 203.0.113.11\n");
    expect(text).toContain("  = nodes.example.com at digitalocean stays 192.0.2.1 and 192.0.2.2\n");
  });

  test("names a record set as it is written where its name is not known, with its error once", () => {
    const { fqdn: _, published: __, ...unknown } = aRecordSetAssessment();
    const written = { provider: "cloudflare", zone: "0123456789abcdef0123456789abcdef", recordName: "nodes" };
    const recordSet = { ...unknown, written, status: { ...PUBLISHED, error: "the zone is unknown" } };
    const hold = aDNSHold({
      reason: "ZoneNotFound",
      subject: "nodes",
      detail: "the zone is unknown",
      needsPerson: true,
    });
    const text = renderPlan(aDNSPlan({ recordSets: [recordSet], holds: [hold] }), layout);
    expect(text).toContain(
      "dns/ingress/nodes: nodes in zone 0123456789abcdef0123456789abcdef at cloudflare, records unknown, 2 of 3 nodes match\n",
    );
    expect(text.match(/the zone is unknown/g)).toHaveLength(1);
    expect(renderPlan(aDNSPlan({ recordSets: [recordSet] }), layout)).toContain("  ! the zone is unknown\n");
  });

  test("tells the error of a pool's name once", () => {
    const { status, ...pool } = aPoolAssessment();
    const pools = [{ ...pool, status: { ...status, error: "DNS of www.example.com: digitalocean shows none" } }];
    const hold = aDNSHold({
      object: WEB,
      subject: "www.example.com",
      reason: "ZoneNotFound",
      detail: "digitalocean shows none",
    });
    expect(renderPlan(aDNSPlan({ pools, holds: [hold] }), layout).match(/digitalocean shows none/g)).toHaveLength(1);
    expect(renderPlan(aDNSPlan({ pools }), layout)).toContain("  ! DNS of www.example.com: digitalocean shows none\n");
  });

  test("says that a record set is invalid", () => {
    const hold = aDNSHold({ kind: "reconcile", reason: "InvalidSpec", subject: "ingress/nodes", needsPerson: true });
    expect(renderPlan(aDNSPlan({ holds: [hold] }), layout)).toContain("dns/ingress/nodes: invalid\n");
  });

  test("says that the nodes of a record set are unknown where the API server does not list its pods, and what to do", () => {
    const detail = 'Error listing the pods of label selector "app=web": Cannot list pods: it is too long (431).';
    const hold = aDNSHold({
      kind: "reconcile",
      reason: "SelectorRefused",
      subject: "ingress/nodes",
      detail,
      needsPerson: true,
    });
    expect(renderPlan(aDNSPlan({ holds: [hold] }), layout)).toContain(`dns/ingress/nodes: its nodes are unknown\n`);
    expect(renderPlan(aDNSPlan({ holds: [hold] }), layout).replaceAll(/\s+/g, " ")).toContain(
      `! nothing is changed ${detail} Correct podNamespace or podLabel, or ask who runs the API server why it refuses them.`,
    );
  });

  test("tells a gap of a zone once, as a hold where there is one", () => {
    const gap: Gap = { provider: "cloudflare", about: ["name"], subject: "example.com", error: "HTTP 500" };
    const hold = aDNSHold({ reason: "Unreadable", detail: "HTTP 500" });
    expect(renderPlan(aDNSPlan({ gaps: [gap], holds: [hold] }), layout).match(/HTTP 500/g)).toHaveLength(1);
    expect(renderPlan(aDNSPlan({ gaps: [gap] }), layout)).toContain("  ! example.com at cloudflare\n      HTTP 500\n");
  });

  test("tells looks that were put off apart from what could not be read", () => {
    const error = "312 names were not looked at";
    const gap: Gap = {
      provider: "cloudflare",
      about: ["name"],
      subject: "",
      error,
      putOff: { names: 312, untilMs: 0 },
    };
    const plan = aDNSPlan({ gaps: [gap] });
    expect(renderPlan(plan, layout)).toContain(
      "Not looked at, so taken to be as status has it:\n  ! cloudflare\n      312 names were not looked at\n",
    );
    expect(renderPlan(plan, layout)).not.toContain("Could not be read");
    expect(summaryText(plan)).toBe("Nothing to do now: 312 put off.");
  });

  test("counts a name once that is changed again once a new address is known", () => {
    const { actions } = busy();
    const again = aDNSWrite({ id: "again", after: { addresses: ["203.0.113.9"], ttlSeconds: 60 } });
    expect(summaryText(aDNSPlan({ actions: [...actions, again] }))).toContain("2 DNS names to update");
  });

  test("tells what a deleted record set left behind", () => {
    const action = aDNSWrite({
      object: NODES,
      kind: "delete-dns",
      reason: "ObjectDeleted",
      after: { addresses: [], ttlSeconds: 30 },
    });
    expect(renderPlan(aDNSPlan({ recordSets: [], actions: [action] }), layout)).toContain(
      "dns/ingress/nodes: no longer exists, or is not selected\n  - delete from DNS www.example.com at cloudflare\n      - 203.0.113.10, 203.0.113.11\n",
    );
  });

  test("has no word on pools where there are record sets only", () => {
    expect(renderPlan(aDNSPlan({ pools: [] }), layout)).not.toContain("pool");
  });

  test("satisfies its schema as a document, with old and new in it", () => {
    const document = read(planDocument(busy()));
    expect(schemaErrors(document, "Plan")).toEqual([]);
    expect(document).toMatchObject({
      summary: { recordSets: 1 },
      actions: [
        {
          kind: "update-dns",
          subject: "www.example.com",
          dns: { provider: "cloudflare", zone: "example.com", name: "www.example.com" },
          before: { addresses: ["203.0.113.10", "203.0.113.11"], ttlSeconds: 30 },
          after: { addresses: ["203.0.113.11", "203.0.113.12"], ttlSeconds: 60 },
        },
        { before: { addresses: [], ttlSeconds: null } },
      ],
      recordSets: [{ name: "nodes.example.com", published: ["192.0.2.1", "192.0.2.2"], state: "active" }],
    });
  });

  test("narrowed to a node keeps what becomes of the node's addresses, and of no other", () => {
    const plan = busy();
    const of = (nodes: readonly string[], nodeAddresses: readonly string[]): readonly (readonly string[])[] => {
      const { actions, recordSets } = narrowPlan(plan, { nodes, ips: [], nodeAddresses });
      return [actions.map(({ object }) => object.name), recordSets.map(({ object }) => object.name)];
    };
    expect(of(["worker-1"], ["192.0.2.1"])).toEqual([["nodes"], ["nodes"]]);
    expect(of(["worker-2"], ["203.0.113.11"])).toEqual([[], ["nodes"]]);
    expect(of(["worker-9"], [])).toEqual([[], []]);
  });
});

describe("a rendered run with DNS", () => {
  test("does not tell of the back-off of what just failed", () => {
    const plan = busy();
    const remaining = aDNSPlan({ holds: [aDNSHold({ reason: "Backoff", detail: "refused" })] });
    const text = renderRun(aResult(plan, { outcomes: plan.actions.map((action) => failed(action)), remaining }), {
      ...layout,
      verbosity: 0,
    });
    expect(text).toContain("  ! could not update DNS nodes.example.com at digitalocean (0.3 s)\n");
    expect(text).not.toContain("The last attempt failed");
  });

  test("tells an error once that is both of this run and what is now known of the name", () => {
    const plan = busy();
    const outcomes = plan.actions.map((action) => failed(action));
    const [, last] = outcomes;
    const detail = last?.outcome === "failed" ? last.error.message : "none";
    const of = (what: string): string => {
      const remaining = aDNSPlan({ holds: [aDNSHold({ reason: "Unreadable", detail: what })] });
      return renderRun(aResult(plan, { outcomes, remaining }), { ...layout, verbosity: 0 });
    };
    expect(of(detail)).not.toContain("nodes.example.com: left as it is");
    expect(of("HTTP 500")).toContain("nodes.example.com: left as it is");
  });

  test("satisfies its schema as a document", () => {
    const document = read(runDocument(aResult(busy()), 0));
    expect(schemaErrors(document, "RunResult")).toEqual([]);
    expect(document).toMatchObject({
      outcomes: [
        {
          message:
            "updated DNS www.example.com at cloudflare (+203.0.113.12 -203.0.113.10 =203.0.113.11, TTL 30 -> 60 s): The records differ from the addresses that serve now. Resolvers see it within 30 s.",
        },
        {},
      ],
    });
  });
});

describe("a summary with DNS", () => {
  const notReady = aRecordSetAssessment({ status: { ...PUBLISHED, conditions: [aReadyCondition("False")] } });

  test.for([
    ["tells of record sets behind pools", aDNSPlan(), "1 pool, 1 of 1 address active, 1 record set as desired"],
    [
      "says how many are as desired",
      aDNSPlan({ recordSets: [aRecordSetAssessment(), notReady] }),
      "1 pool, 1 of 1 address active, 1 of 2 record sets as desired",
    ],
    ["leaves pools out where there are none", aDNSPlan({ pools: [] }), "1 record set as desired"],
    ["leaves record sets out where there are none", aDNSPlan({ recordSets: [] }), "1 pool, 1 of 1 address active"],
  ] as const)("%s", ([, plan, text]) => {
    expect(summaryText(plan)).toBe(`Nothing to do: ${text}.`);
    expect(runSummary(aResult(plan, { remaining: plan }))).toBe(`Nothing to do: ${text}.`);
  });

  test("counts names in the number that they have", () => {
    const actions = [
      aDNSWrite({ kind: "withdraw-dns" }),
      aDNSWrite(),
      aDNSWrite({ kind: "delete-dns", fqdn: "a.example.com" }),
      aDNSWrite({ kind: "delete-dns", fqdn: "b.example.com" }),
    ];
    const plan = aDNSPlan({ actions });
    expect(summaryText(plan)).toBe("1 DNS withdrawal, 1 DNS name to update, 2 DNS names to delete.");
    expect(runSummary(aResult(plan))).toMatch(/^1 DNS withdrawal, 1 DNS name updated, 2 DNS names deleted; /);
  });
});
