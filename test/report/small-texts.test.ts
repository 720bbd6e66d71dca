import { describe, expect, test } from "vitest";
import { nodePhrase, skippedSentence } from "../../src/model/node-phrase.ts";
import { withoutSubjects } from "../../src/report/causes.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { overviewOf } from "../../src/report/overview.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { activeText } from "../../src/report/text/summary.ts";
import { steady } from "./runs.ts";
import { schemaErrors } from "./schemas.ts";
import { aLease, aNode, anObservation, aPool, aRecordSet, NOW_MS, planOf } from "./world.ts";

const layout = { palette: PLAIN, all: false, wide: false } as const;

describe("a plan", () => {
  test("says how many addresses more are missing below those that it acquires, and why", () => {
    const pool = aPool("web", [], { spec: { desiredIPs: 2, region: "" } });
    const node = aNode(1, { labels: { role: "edge", "topology.kubernetes.io/region": "ams3" } });
    expect(renderPlan(planOf(anObservation([pool], [node], {})), layout)).toContain(
      "  + acquire a new address for worker-1\n" +
        "      pool/ingress/web has fewer addresses than its desiredIPs (2).\n" +
        "  ~ 1 annotation follows (-o wide shows it)\n" +
        "  ! 1 more address is missing\n" +
        "      No node waits for a new address, and spec.region is not set. Free a matching node, or set spec.region to acquire an address that waits for one.\n",
    );
  });

  test.for([
    ["digitalocean", 503, 250, 60_000, "; the limit is 250 a minute: about 3 minutes"],
    ["digitalocean", 250, 250, 60_000, ""],
    ["digitalocean", 251, 250, 60_000, "; the limit is 250 a minute: about 2 minutes"],
    ["cloudflare", 2500, 1200, 300_000, "; the limit is 1200 in 5 minutes: about 11 minutes"],
  ] as const)("says of %s how long %d calls take", ([provider, calls, allowed, ms, text]) => {
    const budget = [{ provider, calls, allowance: { calls: allowed, ms } }];
    expect(renderPlan({ ...planOf(steady()), budget }, layout)).toContain(
      `\n${provider}: at least ${calls} calls needed${text}.\n`,
    );
  });

  test("knows the limits of both providers", () => {
    const allowances = planOf(steady()).budget.map(({ provider, allowance }) => [provider, allowance]);
    expect(allowances).toEqual([["digitalocean", { calls: 250, ms: 60_000 }]]);
  });
});

test("a summary counts record sets in the plural of the whole", () => {
  const world = { ...anObservation([], [], {}), recordSets: [aRecordSet("nodes")] };
  expect(activeText(planOf(world))).toBe("0 of 1 record sets as desired");
});

describe("an error that several things share", () => {
  test.for<readonly [string, string]>([
    ['nodes "worker-1" is forbidden: User "x" cannot patch', 'nodes is forbidden: User "x" cannot patch'],
    ["DigitalOcean failed to read worker-1.", "DigitalOcean failed to read them."],
  ])("names none of them: %s", ([text, expected]) => {
    expect(withoutSubjects(text, new Set(["worker-1"]))).toBe(expected);
  });
});

test("a name in quotes leaves none behind", () => {
  const text = 'Hetzner does not allow this token to write the A records of "www.example.com".';
  expect(withoutSubjects(text, new Set(["www.example.com"]))).toBe(
    "Hetzner does not allow this token to write the A records of them.",
  );
});

test("a name that is a word of the sentence stays one", () => {
  const text = 'Provider "hetzner" cannot be used: set HCLOUD_TOKEN or HCLOUD_TOKEN_FILE.';
  expect(withoutSubjects(text, new Set(["set"]))).toBe(text);
});

describe("status", () => {
  const lease = aLease();
  const facts = { cluster: "https://k", nowMs: NOW_MS, routedIPs: [], leaseKey: "flipop/flipop", lease };

  test("calls a record set held that waits for a person, and leaves what status says in the document", () => {
    const condition = (type: string, status: "True" | "False", reason: string) => ({
      type,
      status,
      reason,
      message: "the account has no such zone",
      observedGeneration: 1,
      lastTransitionTime: "2026-08-01T11:59:00Z",
    });
    const set = aRecordSet("nodes", {
      status: {
        state: "in-progress",
        conditions: [condition("Ready", "False", "ZoneNotFound"), condition("Stalled", "True", "ZoneNotFound")],
      },
    });
    const overview = overviewOf({ ...facts, pools: [], recordSets: [set] }, 60_000);
    expect(renderStatus(overview, { palette: PLAIN, wide: false })).toMatch(/^ingress\/nodes .* digitalocean +held /m);
    expect(JSON.stringify(overviewDocument(overview))).toContain('"state":"in-progress"');
    const busy = { ...set, status: { ...set.status, conditions: [] } };
    const other = overviewOf({ ...facts, pools: [], recordSets: [busy] }, 60_000);
    expect(renderStatus(other, { palette: PLAIN, wide: false })).toMatch(/ digitalocean +in-progress /);
  });

  test("has the last result in its parts, and nodes that were skipped as a plan has them", () => {
    const carrying = { nodeName: "worker-4", reason: "NodeHasForeignIP", detail: "203.0.113.99" } as const;
    const refused = "worker-5: DigitalOcean does not allow this token to assign 203.0.113.10";
    const retry = {
      subject: "node/worker-5/9005",
      attempts: 1,
      nextAttemptTime: "2026-08-01T12:01:00Z",
      error: refused,
    };
    const pool = aPool("web", [], {
      status: {
        nodeErrors: [skippedSentence(carrying), refused, "worker-6: on fire", "Cannot patch nodes"],
        retries: [retry],
      },
    });
    const overview = overviewOf({ ...facts, pools: [pool], recordSets: [] }, 60_000);
    const document = JSON.parse(JSON.stringify(overviewDocument(overview)));
    expect(document.reconciler).toMatchObject({ lastExitCode: 3, lastOutcome: "some objects in error" });
    expect(document.pools[0]).toMatchObject({
      waiting: [],
      skipped: [
        { nodeName: "worker-4", reason: carrying.reason, message: nodePhrase(carrying) },
        { nodeName: "worker-5", reason: "Failed", message: refused.slice("worker-5: ".length) },
        { nodeName: "worker-6", reason: null, message: "on fire" },
      ],
    });
    expect(schemaErrors(document, "Status")).toEqual([]);
    const { lease: _, ...never } = facts;
    const fresh = JSON.parse(
      JSON.stringify(overviewDocument(overviewOf({ ...never, pools: [], recordSets: [] }, 60_000))),
    );
    expect(fresh.reconciler).toMatchObject({ lastExitCode: null, lastOutcome: null });
    expect(schemaErrors(fresh, "Status")).toEqual([]);
  });
});
