import { describe, expect, test } from "vitest";
import type { IPStatus, Pool, RecordSet } from "../../src/model/resource.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { type Overview, overviewOf } from "../../src/report/overview.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { aPoolAssessment, aReadyCondition, PUBLISHED } from "./dns-plans.ts";
import { schemaErrors } from "./schemas.ts";
import { aLease, aPool, aRecordSet, NOW_MS } from "./world.ts";

const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttlSeconds: 60 };
const web = (): Pool =>
  aPool("web", ["203.0.113.11"], {
    spec: { dnsRecordSet },
    status: { ...aPoolAssessment().status, conditions: [aReadyCondition("True")] },
  });

function overview(pools: readonly Pool[], recordSets: readonly RecordSet[]): Overview {
  const lease = aLease();
  return overviewOf(
    { cluster: "https://k", nowMs: NOW_MS, pools, recordSets, routedIPs: [], leaseKey: "flipop/flipop", lease },
    60_000,
  );
}

function text(pools: readonly Pool[], recordSets: readonly RecordSet[], wide = false): readonly string[] {
  const [head, blank, ...lines] = renderStatus(overview(pools, recordSets), { palette: PLAIN, wide }).split("\n");
  expect([head, blank]).toEqual([expect.stringMatching(/^Cluster \S+, read \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/), ""]);
  return lines;
}

describe("the status of a pool whose addresses could not be read", () => {
  const stored = (ip: string, changes: Partial<IPStatus>): readonly [string, IPStatus] => [
    ip,
    { state: "active", nodeName: "worker-1", providerID: "digitalocean://1", ...changes },
  ];
  const one = (...entries: readonly (readonly [string, IPStatus])[]): Pool =>
    aPool(
      "web",
      entries.map(([ip]) => ip),
      { status: { ips: Object.fromEntries(entries), conditions: [aReadyCondition("True")] } },
    );
  const unread = { reason: "Unreadable" } as const;
  test.for([
    ["none", one(stored("203.0.113.1", unread), stored("203.0.113.2", unread)), "0/2 (2 unread)", 0, 2],
    ["one of two", one(stored("203.0.113.1", {}), stored("203.0.113.2", unread)), "1/2 (1 unread)", 1, 1],
    [
      "none but a surplus one",
      one(stored("203.0.113.1", {}), stored("203.0.113.2", { ...unread, state: "disabled" })),
      "1/2 ",
      1,
      0,
    ],
  ] as const)("counts as active what is known to be: %s", ([, pool, shown, active, unreadCount]) => {
    expect(text([pool], [])[1]).toContain(` ${shown}`);
    expect(overviewDocument(overview([pool], []))).toMatchObject({ pools: [{ active, unread: unreadCount }] });
    expect(text([pool], []).filter((line) => line.includes(" active (unread) "))).toHaveLength(unreadCount);
  });
});

describe("the status of record sets", () => {
  test("shows the name, the provider and what is published", () => {
    const never = aRecordSet("new", { spec: { provider: "" } });
    expect(text([], [never, aRecordSet("nodes", { status: PUBLISHED })]).slice(0, 3)).toEqual([
      "RECORD SET      READY     DNS NAME            PROVIDER       STATE    PUBLISHED                 AGE   REASON",
      "ingress/new     Unknown   new.example.com     digitalocean   -        -                         1d    -",
      "ingress/nodes   True      nodes.example.com   digitalocean   active   192.0.2.1 and 192.0.2.2   1d    Ready",
    ]);
  });

  test("tells the addresses of others from its own", () => {
    const name = { provider: "digitalocean", zone: "example.com", name: "nodes.example.com" };
    const [A, B] = ["192.0.2.1", "192.0.2.2"] as const;
    const foreign = [{ address: B, since: "2026-01-02T03:04:05Z" }];
    const shared = (addresses: readonly string[]): string => {
      const status = { ...PUBLISHED, publishedDNS: { ...name, addresses, foreign } };
      return text([], [aRecordSet("nodes", { status })])[1] ?? "";
    };
    expect(shared([A, B])).toContain(" 192.0.2.1 (and 1 foreign) ");
    expect(shared([B])).toContain(" none (and 1 foreign) ");
  });

  test("counts the addresses on a narrow terminal: one without its middle would look like another one", () => {
    const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"];
    const publishedDNS = { provider: "digitalocean", zone: "example.com", name: "nodes.example.com", addresses };
    const set = aRecordSet("nodes", { status: { ...PUBLISHED, publishedDNS } });
    const at = (width: number): readonly string[] =>
      renderStatus(overview([], [set]), { palette: PLAIN, wide: false, width })
        .split("\n")
        .filter((line) => /^RECORD SET|^ingress/.test(line));
    expect(at(80)).toEqual([
      "RECORD SET      READY   DNS NAME            STATE    PUBLISHED     REASON",
      "ingress/nodes   True    nodes.example.com   active   5 addresses   Ready",
    ]);
    expect(at(40)).toEqual(["RECORD SET      READY   STATE    REASON", "ingress/nodes   True    active   Ready"]);
  });

  test("names few addresses of many, and all with -o wide beside zone, former names and retries", () => {
    const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    const published = { provider: "digitalocean", zone: "example.com", name: "nodes.example.com", addresses };
    const status = {
      ...PUBLISHED,
      conditions: [aReadyCondition("False", "DNSPending", "HTTP 500")],
      publishedDNS: published,
      formerDNS: [{ ...published, name: "old.example.com" }],
      retries: [
        {
          subject: "dns/digitalocean/nodes.example.com",
          attempts: 2,
          nextAttemptTime: "2026-08-01T12:00:05Z",
          error: "HTTP 500",
        },
      ],
    };
    const recordSet = aRecordSet("nodes", { status, spec: { suspend: true } });
    expect(text([], [recordSet])[1]).toContain("192.0.2.1, 192.0.2.2, 192.0.2.3 and 1 more");
    const wide = text([], [recordSet], true);
    expect(wide[0]).toMatch(/ZONE +FORMER NAMES +RETRY +REASON$/);
    expect(wide[1]).toMatch(
      /192\.0\.2\.3 and 192\.0\.2\.4 +1d +example\.com +old\.example\.com at digitalocean +2 failed, next in 5s +suspended$/,
    );
  });

  test("tells with -o wide what a ready one says, such as a raised TTL", () => {
    const message = "2 addresses are published. TTL 5 was raised to 30, the least digitalocean accepts.";
    const status = { ...PUBLISHED, conditions: [aReadyCondition("True", "Ready", message)] };
    expect(text([], [aRecordSet("nodes", { status })], true)[1]).toMatch(
      / Ready: 2 addresses .* TTL 5 was raised to 30/,
    );
    expect(text([], [aRecordSet("nodes", { status })])[1]).toMatch(/ Ready$/);
  });

  test("shows what is known of a name that cannot be told from the spec", () => {
    const zone = "023e105f4ecef8ad9ca31a8372d0c353";
    const spec = { provider: "cloudflare", dnsRecordSet: { provider: "", zone, recordName: "nodes", ttlSeconds: 60 } };
    const publishedDNS = { provider: "cloudflare", zone, name: "nodes.example.net", addresses: ["192.0.2.1"] };
    expect(text([], [aRecordSet("nodes", { spec })])[1]).toContain(`nodes in zone ${zone}`);
    expect(text([], [aRecordSet("nodes", { spec, status: { ...PUBLISHED, publishedDNS } })])[1]).toContain(
      "nodes.example.net   cloudflare   active   192.0.2.1 ",
    );
  });

  test("does not show the addresses of a name that the spec no longer has", () => {
    const spec = { dnsRecordSet: { provider: "", zone: "example.com", recordName: "renamed", ttlSeconds: 60 } };
    const [, line] = text([], [aRecordSet("nodes", { spec, status: PUBLISHED })]);
    expect(line).toContain("renamed.example.com");
    const wide = text([], [aRecordSet("nodes", { spec, status: PUBLISHED })], true)[1];
    expect(wide).toContain("nodes.example.com at digitalocean");
    expect(line).not.toContain("192.0.2.1");
  });

  test("shows an invalid name as it is written, not the one that was published before", () => {
    const spec = { dnsRecordSet: { provider: "", zone: "example.com", recordName: "n n", ttlSeconds: 60 } };
    expect(text([], [aRecordSet("nodes", { spec, status: PUBLISHED })])[1]).toContain("n n in zone example.com");
  });

  test("is part of what --check finds wrong", () => {
    const { problems } = overview([], [aRecordSet("nodes")]);
    expect(problems).toEqual(["dns/ingress/nodes is not ready: no run has looked at it yet; run flipop reconcile"]);
    expect(overview([], [aRecordSet("nodes", { status: PUBLISHED })]).problems).toEqual([]);
  });

  test("says that there are no pools only where there is nothing at all", () => {
    expect(text([], [])[0]).toBe("No pools.");
    expect(text([], [aRecordSet("nodes")]).join("\n")).not.toContain("No pools");
  });
});

describe("the status of pools with DNS", () => {
  test("has a column for names only where a pool asks for one", () => {
    expect(text([aPool("web", [])], [])[0]).not.toContain("DNS");
    expect(text([aPool("mail", []), web()], []).slice(0, 3)).toEqual([
      "POOL           READY     ACTIVE/DESIRED   WAITING NODES   DNS NAME          AGE   REASON",
      "ingress/mail   Unknown   0/0              0               -                 1d    -",
      "ingress/web    True      1/1              0               www.example.com   1d    Ready",
    ]);
  });

  test("says that a name is not published yet", () => {
    expect(text([aPool("web", [], { spec: { dnsRecordSet } })], [])[1]).toContain("www.example.com (not yet)");
    const pool = aPool("web", [], { spec: { dnsRecordSet } });
    const going = { ...pool, meta: { ...pool.meta, isDeleting: true } };
    expect(text([going], [])[1]).not.toContain("www.example.com");
  });
});

test.for([
  ["", "", "no zone and no recordName"],
  ["", "www", "www, and no zone"],
  ["example.com", "", "no recordName in zone example.com"],
] as const)("the status of a dnsRecordSet with zone %j and recordName %j says %s", ([zone, recordName, shown]) => {
  const spec = { dnsRecordSet: { ...dnsRecordSet, zone, recordName } };
  const cells = (line = ""): readonly string[] => line.split(/ {2,}/);
  expect(cells(text([aPool("web", [], { spec })], [])[1])).toContain(shown);
  expect(cells(text([], [aRecordSet("nodes", { spec })])[1])).toContain(shown);
});

test("the status of both satisfies its schema", () => {
  const document = JSON.parse(
    JSON.stringify(
      overviewDocument(overview([web(), aPool("mail", [])], [aRecordSet("nodes", { status: PUBLISHED })])),
    ),
  );
  expect(schemaErrors(document, "Status")).toEqual([]);
  expect(document).toMatchObject({
    pools: [
      { dns: { name: "www.example.com", isPublished: true, addresses: ["203.0.113.10", "203.0.113.11"] } },
      { dns: null },
    ],
    recordSets: [{ object: { kind: "dns", namespace: "ingress", name: "nodes" }, state: "active", ready: "True" }],
  });
});
