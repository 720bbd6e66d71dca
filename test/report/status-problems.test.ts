import { describe, expect, test } from "vitest";
import { LAST_RESULT_ANNOTATION, NOT_BEFORE_PREFIX } from "../../src/model/lease-annotations.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Condition, IPStatus, Pool, PoolSpec, PoolStatus } from "../../src/model/resource.ts";
import type { Workload } from "../../src/model/workload.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { type Overview, overviewOf, type StoredFacts } from "../../src/report/overview.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { problemsOf } from "../../src/report/text/status-problems.ts";
import { schemaErrors } from "./schemas.ts";
import { aNode, aPool, NOW_MS } from "./world.ts";

const A = "203.0.113.10";
const B = "203.0.113.11";

function iso(secondsAgo: number): string {
  return new Date(NOW_MS - secondsAgo * 1000).toISOString().replace(".000Z", "Z");
}

function condition(type: string, status: Condition["status"], reason: string, message: string): Condition {
  return { type, status, observedGeneration: 1, lastTransitionTime: iso(720), reason, message };
}

function pool(status: Partial<PoolStatus>, spec: Partial<PoolSpec> = {}, name = "web"): Pool {
  return aPool(name, [A, B], { status, spec });
}

function overview(pools: readonly Pool[], more: Partial<StoredFacts> = {}): Overview {
  const facts = { cluster: "https://k", nowMs: NOW_MS, recordSets: [], routedIPs: [], leaseKey: "flipop/flipop" };
  return overviewOf({ ...facts, pools, ...more }, 60_000);
}

function text(seen: Overview, width?: number): string {
  return renderStatus(seen, { palette: PLAIN, wide: false, ...(width === undefined ? {} : { width }) });
}

/** What stands below the tables. */
function told(seen: Overview): readonly string[] {
  return problemsOf(seen).map(({ symbol, what, since, next }) =>
    [`${symbol} ${what}`, since, next].filter(Boolean).join("; "),
  );
}

const parked: IPStatus = {
  state: "no-match",
  nodeName: "worker-1",
  reason: "NoCandidate",
  notMatchingSince: iso(150),
  error: `worker-1 does not match (not ready) since ${iso(150)}, and no other node can take it`,
};
const active: IPStatus = { state: "active", nodeName: "worker-2" };
const isReady = condition("Ready", "True", "Ready", "All is well.");

const NOT_FOUND = "The provider does not know the address. Remove it from spec.ips.";
const BAD_NAME = 'n n: The object\'s DNS settings cannot be used: recordName "n n" is not a DNS name.';

describe("of an object on which a person has to do several things status tells", () => {
  const message = `${A} and ${B}: ${NOT_FOUND} Also InvalidDNS: ${BAD_NAME}`;
  const seen = overview([
    pool({
      conditions: [
        condition("Ready", "False", "IPNotFound", `No address is active. ${A} and ${B}: ${NOT_FOUND}`),
        condition("Stalled", "True", "IPNotFound", message),
      ],
      ips: { [A]: { state: "error", reason: "IPNotFound" }, [B]: { state: "error", reason: "IPNotFound" } },
    }),
  ]);

  test("each by itself, and once", () => {
    expect(told(seen)).toEqual([
      `! pool/ingress/web: ${A} and ${B}: ${NOT_FOUND} No address is active.; waiting for a person since 11:48:00 UTC (12m ago)`,
      `! pool/ingress/web: ${BAD_NAME}`,
    ]);
  });

  test("first that for which it is not ready", () => {
    const ready = condition("Ready", "False", "InvalidDNS", BAD_NAME);
    const other = overview([pool({ conditions: [ready, condition("Stalled", "True", "IPNotFound", message)] })]);
    expect(told(other)).toEqual([
      `! pool/ingress/web: ${BAD_NAME}; waiting for a person since 11:48:00 UTC (12m ago)`,
      `! pool/ingress/web: ${A} and ${B}: ${NOT_FOUND}`,
    ]);
    expect(text(other)).toContain(" InvalidDNS +1 ");
  });

  test("how many there are in its row, and which with -o wide", () => {
    expect(text(seen)).toContain(" IPNotFound +1 ");
    expect(renderStatus(seen, { palette: PLAIN, wide: true })).toContain(" IPNotFound, InvalidDNS ");
  });

  test("each with its reason in the document, which says so of all that --check finds", () => {
    const document = overviewDocument(seen);
    expect(schemaErrors(document, "Status")).toEqual([]);
    const problems = [
      { reason: "IPNotFound", message: `${A} and ${B}: ${NOT_FOUND}` },
      { reason: "InvalidDNS", message: BAD_NAME },
    ];
    expect(document).toMatchObject({ pools: [{ stalled: { reason: "IPNotFound", message, problems } }] });
    expect(seen.problems.filter((problem) => problem.startsWith("pool/"))).toEqual([
      `pool/ingress/web is not ready: IPNotFound: No address is active. ${A} and ${B}: ${NOT_FOUND}`,
      `pool/ingress/web waits for a person: InvalidDNS: ${BAD_NAME}`,
    ]);
  });
});

describe("what status tells below its tables", () => {
  test.for<readonly [string, Partial<PoolStatus>, Partial<PoolSpec>, readonly string[]]>([
    ["nothing where all is well", { conditions: [isReady], ips: { [A]: active } }, {}, []],
    [
      "that an address was asked for and no answer came, and nothing of one that may be under way",
      {
        conditions: [isReady],
        ips: { [A]: active },
        pendingAcquisitions: [90, 1].map((ago) => ({ startedAt: iso(ago), region: "nyc3", knownIPs: [] })),
      },
      {},
      [
        ". pool/ingress/web: 1 new address: An earlier acquisition got no answer; the account is watched before another is made.; since 11:58:30 UTC (1m30s ago)",
      ],
    ],
    [
      "why an address waits for a node, and since when",
      { conditions: [isReady], ips: { [A]: parked, [B]: active } },
      {},
      [
        `. pool/ingress/web: ${A}: NoCandidate: worker-1 does not match (not ready) since 11:57:30 UTC (2m30s ago), and no other node can take it`,
      ],
    ],
    [
      "addresses that wait for the same thing together",
      {
        conditions: [condition("Ready", "False", "NoActiveIP", "No address is active.")],
        ips: { [A]: parked, [B]: { ...parked, nodeName: "worker-2", notMatchingSince: iso(60) } },
      },
      {},
      [
        "! pool/ingress/web: NoActiveIP: No address is active.; not ready since 11:48:00 UTC (12m ago)",
        `! pool/ingress/web: ${A} and ${B}: NoCandidate: No matching node can take the address.; not matching since 11:57:30 UTC (2m30s ago)`,
      ],
    ],
    [
      "since when a node does not match, not of an address whose node does",
      {
        conditions: [isReady],
        ips: {
          [A]: { ...active, reason: "NoCandidate" },
          [B]: { ...parked, error: "" },
        },
      },
      {},
      [
        `. pool/ingress/web: ${A}: NoCandidate: No matching node can take the address.`,
        `. pool/ingress/web: ${B}: NoCandidate: No matching node can take the address.; not matching since 11:57:30 UTC (2m30s ago)`,
      ],
    ],
    [
      "until when something cools off, and what follows",
      {
        conditions: [
          condition("Ready", "False", "WaitingForAssignment", `CoolOff until ${iso(-600)}: worker-5 gets ${A} then.`),
        ],
        ips: { [A]: { ...parked, reason: "CoolOff" }, [B]: active },
        lastAssignmentTime: iso(300),
      },
      { assignmentCoolOffSeconds: 900 },
      [
        `! pool/ingress/web: WaitingForAssignment: CoolOff until 12:10:00 UTC (in 10m): worker-5 gets ${A} then.; not ready since 11:48:00 UTC (12m ago)`,
      ],
    ],
    [
      "until when a node has grace",
      {
        conditions: [isReady],
        ips: {
          [A]: { state: "active", nodeName: "worker-1", reason: "Grace", notMatchingSince: iso(30) },
          [B]: active,
        },
      },
      { gracePeriodSeconds: 120 },
      [
        `. pool/ingress/web: ${A}: Grace until 12:01:30 UTC (in 1m30s): The node became unready a moment ago and still counts as a match.; not matching since 11:59:30 UTC (30s ago)`,
      ],
    ],
    [
      "what waits for a person, once",
      {
        conditions: [
          condition("Ready", "False", "IPNotFound", `${A}: the provider does not know the address`),
          condition("Stalled", "True", "IPNotFound", `${A}: the provider does not know the address`),
        ],
        ips: { [A]: { state: "error", reason: "IPNotFound", error: "the provider does not know the address" } },
      },
      {},
      [
        `! pool/ingress/web: ${A}: the provider does not know the address; waiting for a person since 11:48:00 UTC (12m ago)`,
      ],
    ],
    [
      "what waits for a person, and why the object is not ready, together where one cause is both",
      {
        conditions: [
          condition("Ready", "False", "EmptyTarget", "NodeLabel a=b selects no node. What serves stays."),
          condition("Stalled", "True", "EmptyTarget", "NodeLabel a=b selects no node. Correct that selector."),
        ],
        ips: { [A]: { ...active, reason: "EmptyTarget", notMatchingSince: iso(30) }, [B]: active },
      },
      {},
      [
        "! pool/ingress/web: NodeLabel a=b selects no node. Correct that selector. What serves stays.; waiting for a person since 11:48:00 UTC (12m ago)",
      ],
    ],
    [
      "both where they differ, although the reason is one",
      {
        conditions: [
          condition("Ready", "False", "IPNotFound", "No address is active."),
          condition("Stalled", "True", "IPNotFound", `${A}: the provider does not know it.`),
        ],
        ips: { [A]: { state: "error", reason: "IPNotFound", error: "the provider does not know it" } },
      },
      {},
      [
        `! pool/ingress/web: ${A}: the provider does not know it.; waiting for a person since 11:48:00 UTC (12m ago)`,
        "! pool/ingress/web: IPNotFound: No address is active.; not ready since 11:48:00 UTC (12m ago)",
      ],
    ],
    [
      "what fails, without what merely follows, and names each node once",
      {
        conditions: [
          condition("Ready", "False", "WaitingForAssignment", "The last attempt failed: worker-5: HTTP 403."),
        ],
        ips: { [A]: { ...parked, state: "error", reason: "Failed", error: "worker-5: HTTP 403" }, [B]: active },
        retries: [
          { subject: `ip/${A}`, attempts: 2, nextAttemptTime: iso(-58), error: "worker-5: HTTP 403" },
          { subject: "node/worker-5/9005", attempts: 1, nextAttemptTime: iso(-60), error: "worker-5: HTTP 403" },
        ],
      },
      {},
      [
        `! pool/ingress/web: ${A} and node worker-5: HTTP 403; not ready since 11:48:00 UTC (12m ago); 2 failed, next in 58s`,
      ],
    ],
    [
      "that somebody suspended it, and nothing of what it would do otherwise",
      { conditions: [condition("Ready", "False", "Suspended", "The object is suspended.")], ips: { [A]: parked } },
      { suspend: true },
      ["! pool/ingress/web: suspended".replace("!", ".")],
    ],
    [
      "nothing of an older error where the whole stands still",
      {
        conditions: [condition("Ready", "False", "ProviderUnavailable", "The token is not accepted (401).")],
        ips: { [A]: { ...parked, state: "error", reason: "Failed", error: "HTTP 500" } },
        retries: [{ subject: `ip/${A}`, attempts: 2, nextAttemptTime: iso(-58), error: "HTTP 500" }],
      },
      {},
      [
        "! pool/ingress/web: ProviderUnavailable: The token is not accepted (401).; not ready since 11:48:00 UTC (12m ago)",
      ],
    ],
  ])("says %s", ([, status, spec, expected]) => {
    expect(told(overview([pool(status, spec)]))).toEqual(expected);
  });

  test("says once that no run has looked at many objects", () => {
    const pools = ["a", "b", "c", "d", "e"].map((name) => pool({}, {}, name));
    expect(told(overview(pools))).toEqual([
      "! pool/ingress/a, pool/ingress/b, pool/ingress/c and 2 more: no run has looked at them yet; run flipop reconcile",
    ]);
    expect(problemsOf(overview(pools), { isApart: true })).toHaveLength(5);
  });

  test.for([
    ["75 temporary failure", "; run flipop reconcile"],
    ["77 not permitted", "; the last one ended with exit code 77 (not permitted): flipop plan says why"],
    [
      "78 invalid configuration",
      "; the last one ended with exit code 78 (invalid configuration): flipop plan says why",
    ],
    ["1 unexpected error", "; run flipop reconcile"],
    ["3 1 of 2 objects in error", "; run flipop reconcile"],
    ["0 done", "; run flipop reconcile"],
    ["130 interrupted", "; run flipop reconcile"],
  ] as const)("does not advise to run what has just failed: %s", ([result, advice]) => {
    const lease = { holder: "", renewTimeMs: NOW_MS, annotations: { [LAST_RESULT_ANNOTATION]: result } };
    expect(told(overview([pool({}, {}, "a"), pool({}, {}, "b")], { lease }))).toEqual([
      `! pool/ingress/a and pool/ingress/b: no run has looked at them yet${advice}`,
    ]);
  });

  test("does not say that no run has looked at an object whose status the last run could not write", () => {
    const result = (what: string): Partial<StoredFacts> => {
      const annotations = { [LAST_RESULT_ANNOTATION]: `0 done; the status of ${what} was not written` };
      return { lease: { holder: "", renewTimeMs: NOW_MS, annotations } };
    };
    const pools = ["a", "b", "c"].map((name) => pool({}, {}, name));
    expect(told(overview(pools, result("pool/ingress/a and pool/ingress/b")))).toEqual([
      "! pool/ingress/a and pool/ingress/b: the last run could not write their statuses",
      "! pool/ingress/c: no run has looked at it yet; run flipop reconcile",
    ]);
    expect(told(overview(pools, result("pool/ingress/a, pool/ingress/x and 2 more")))).toEqual([
      "! pool/ingress/a: the last run could not write its status",
      "! pool/ingress/b and pool/ingress/c: no run has written their statuses yet",
    ]);
  });

  test("says once why many objects stand still, and since when the first of them does", () => {
    const limited = condition("Ready", "False", "RateLimited", "DigitalOcean asked for no calls.");
    const pools = ["a", "b", "c", "d", "e"].map((name, index) =>
      pool({ conditions: [{ ...limited, lastTransitionTime: iso(120 - index) }] }, {}, name),
    );
    expect(told(overview(pools))).toEqual([
      "! pool/ingress/a, pool/ingress/b, pool/ingress/c and 2 more: RateLimited: DigitalOcean asked for no calls.; not ready since 11:58:00 UTC (2m ago)",
    ]);
    expect(problemsOf(overview(pools), { isApart: true })).toHaveLength(5);
  });

  test("names the addresses of several objects that one cause concerns, and when the first is tried again", () => {
    const pools = ["a", "b"].map((name, index) => {
      const ip = `203.0.113.${index + 1}`;
      const retry = { subject: `ip/${ip}`, attempts: 2 + index, nextAttemptTime: iso(-60 - index), error: "HTTP 403" };
      return pool({ conditions: [isReady], ips: { [ip]: active }, retries: [retry] }, {}, name);
    });
    expect(told(overview(pools))).toEqual([
      "! pool/ingress/a and pool/ingress/b: 203.0.113.1 and 203.0.113.2: HTTP 403; 2 failed, next in 1m",
    ]);
  });

  test("counts addresses on many nodes that have failed since the last run, with some of the nodes", () => {
    const ips = Object.fromEntries(
      [1, 2, 3, 4, 5].map((n) => [`203.0.113.${n}`, { ...active, nodeName: `worker-${n}` }]),
    );
    const nodes: readonly NodeFacts[] = [1, 2, 3, 4].map((n) =>
      aNode(n, { ready: { isReady: false, sinceMs: NOW_MS - 58_000 } }),
    );
    const annotations = { "flipop.digitalocean.com/last-run": iso(105) };
    const lease = { holder: "", renewTimeMs: NOW_MS, annotations };
    expect(told(overview([pool({ conditions: [isReady], ips })], { nodes, lease }))).toEqual([
      "! 5 addresses are active by status on nodes that cannot serve: worker-1 (not ready 58s), worker-2 (not ready 58s), worker-3 (not ready 58s) and 2 more.; The last run was 1m45s ago. flipop plan shows what the next one does.",
    ]);
  });
});

const LONG = `a-very-${"long-".repeat(20)}product`;

describe("on terminals of any width", () => {
  const worst = overview(
    [
      pool(
        { conditions: [isReady], ips: { [A]: parked, [B]: active } },
        { dnsRecordSet: { provider: "", zone: "example.com", recordName: "www", ttlSeconds: 60 } },
      ),
      pool({ conditions: [condition("Ready", "False", "NoActiveIP", "No address is active.")] }, {}, LONG),
    ],
    { nodes: [aNode(1, { ready: { isReady: false, sinceMs: NOW_MS - 150_000 } }), aNode(2)] },
  );

  test.for([60, 80, 120, 200])("of %i columns no line is too long but for a word, and no problem is cut", (width) => {
    const printed = text(worst, width);
    for (const line of printed.split("\n")) {
      const longestWord = Math.max(...line.split(" ").map((word) => word.length));
      expect(line.length).toBeLessThanOrEqual(Math.max(longestWord + 8, width));
    }
    expect(printed.replaceAll(/\s+/g, " ")).toContain(
      `${A}: NoCandidate: worker-1 does not match (not ready) since 11:57:30 UTC (2m30s ago), and no other node can take it`,
    );
    expect(printed).toContain(`pool/ingress/${LONG}`);
    expect(printed).toMatch(/^203\.0\.113\.10 +ingress\/web +no-match +worker-1 \(not ready/m);
  });

  test("what says least of what is wrong gives way first", () => {
    const headers = [200, 80, 70, 60, 40].map((width) =>
      text(
        overview([
          pool(
            { conditions: [isReady] },
            { dnsRecordSet: { provider: "", zone: "example.com", recordName: "www", ttlSeconds: 60 } },
          ),
        ]),
        width,
      )
        .split("\n")
        .find((line) => line.startsWith("POOL")),
    );
    expect(headers).toEqual([
      "POOL          READY   ACTIVE/DESIRED   WAITING NODES   DNS NAME                    AGE   REASON",
      "POOL          READY   ACTIVE/DESIRED   DNS NAME                    REASON",
      "POOL          READY   ACTIVE/DESIRED   REASON",
      "POOL          READY   ACTIVE/DESIRED   REASON",
      "POOL          READY   ACTIVE   REASON",
    ]);
  });

  test("with -o wide the reason stays while columns beside it give way", () => {
    const one = overview([pool({ conditions: [isReady], ips: { [A]: parked, [B]: active } })], { nodes: [aNode(2)] });
    for (const width of [64, 70, 80, 100]) {
      const lines = renderStatus(one, { palette: PLAIN, wide: true, width }).split("\n");
      const at = lines.findIndex((line) => line.startsWith("ADDRESS"));
      expect(lines[at]).toMatch(/ REASON$/);
      expect(lines[at + 1]).toMatch(/ NoCandidate$/);
      expect(lines[at + 2]).toMatch(/ -$/);
    }
  });

  test("facts of the reconciler are wrapped below themselves", () => {
    const workloads: readonly Workload[] = [];
    expect(text(overview([], { workloads }), 60)).toContain(
      "  runs by itself: no: namespace flipop has no CronJob or\n                  Deployment of flipop\n",
    );
  });
});

test("status says until when a provider asked for no calls, and nothing of a time that is over", () => {
  const annotations = { [`${NOT_BEFORE_PREFIX}digitalocean`]: iso(-90), [`${NOT_BEFORE_PREFIX}cloudflare`]: iso(1) };
  const lease = { holder: "", renewTimeMs: NOW_MS, annotations };
  const seen = overview([], { lease });
  expect(seen.reconciler.notBefore).toEqual([{ provider: "digitalocean", until: iso(-90) }]);
  expect(text(seen)).toContain("  no calls:       digitalocean asked for none until 12:01:30 UTC (in 1m30s)\n");
});

test.for<readonly [string, readonly Workload[] | undefined]>([
  ["", undefined],
  ["  runs by itself: no: namespace flipop has no CronJob or Deployment of flipop\n", []],
  [
    "  runs by itself: CronJob flipop, * * * * *, next at 12:01:00 UTC (in 1m)\n",
    [{ kind: "CronJob", name: "flipop", schedule: "* * * * *", isSuspended: false, image: "", timeZone: "Etc/UTC" }],
  ],
  [
    "  runs by itself: CronJob flipop, 0 4 * * *\n",
    [{ kind: "CronJob", name: "flipop", schedule: "0 4 * * *", isSuspended: false, image: "", timeZone: "Asia/Tokyo" }],
  ],
  [
    "  runs by itself: Deployment flipop, which watches\n",
    [{ kind: "Deployment", name: "flipop", schedule: "", isSuspended: false, image: "" }],
  ],
  [
    "  runs by itself: no: CronJob flipop is suspended\n",
    [{ kind: "CronJob", name: "flipop", schedule: "* * * * *", isSuspended: true, image: "" }],
  ],
])("status says what runs flipop and when next: %j", ([line, workloads]) => {
  const printed = text(overview([], workloads === undefined ? {} : { workloads }));
  expect(printed).toContain(line);
  expect(printed.includes("runs by itself")).toBe(line !== "");
});
