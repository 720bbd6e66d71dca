import { expect, test } from "vitest";
import { type LiveFacts, liveKey, liveOf } from "../../src/report/live.ts";
import type { Overview } from "../../src/report/overview.ts";
import { anObservation, aPool } from "../plan/builders.ts";
import { aRecordSet } from "../plan/dns-builders.ts";

const FQDN = "nodes.example.com";

test.for(["dns", "dns-removal"])(
  "a record that stays since its change fails (%s) is told with that failure",
  (kind) => {
    const retry = {
      subject: `${kind}/${FQDN}`,
      attempts: 1,
      nextAttemptTime: "2026-08-01T12:05:00Z",
      error: "HTTP 403",
    };
    const publishedDNS = { provider: "digitalocean", zone: "example.com", name: FQDN, addresses: ["192.0.2.1"] };
    const recordSet = aRecordSet({ status: { publishedDNS, retries: [retry] } });
    const name = { type: "A", fqdn: FQDN, isPublished: true };
    const overview = { pools: [], routedIPs: [], recordSets: [{ recordSet, name }] } as unknown as Overview;
    const { namespace, name: own } = recordSet.meta;
    const answer = { error: "nobody was asked" };
    const read = { kind: "read", fqdn: FQDN, provider: "digitalocean", addresses: ["192.0.2.1", "192.0.2.2"], answer };
    const facts = {
      observation: anObservation({}),
      plan: { holds: [], actions: [] },
      names: new Map([[liveKey({ kind: "dns", namespace, name: own }, "A"), read]]),
    } as unknown as LiveFacts;
    expect(liveOf(overview, facts).differences).toMatchObject([{ kind: "record", isDue: false, why: "HTTP 403" }]);
  },
);

test("what cannot be read for one cause is told once, without the names of each", () => {
  const [A, B] = ["203.0.113.1", "203.0.113.2"] as const;
  const rows = [A, B].map((ip) => ({ ip, status: { state: "active", nodeName: "n1" } }));
  const row = { pool: aPool({ spec: { ips: [A, B] } }), addresses: rows };
  const overview = { pools: [row], routedIPs: [], recordSets: [] } as unknown as Overview;
  const gap = (ip: string): readonly [string, unknown] => [
    ip,
    { kind: "gap", error: `DigitalOcean failed to read ${ip}: the body is empty (503)` },
  ];
  const providers = new Map([["digitalocean", { addresses: new Map([gap(A), gap(B)]) }]]);
  const facts = {
    observation: { ...anObservation({}), providers },
    plan: { holds: [], actions: [], pools: [{ object: { kind: "pool", ...row.pool.meta }, provider: "digitalocean" }] },
    names: new Map(),
  } as unknown as LiveFacts;
  expect(liveOf(overview, facts).unread).toEqual([
    { subjects: [A, B], why: "DigitalOcean failed to read them: the body is empty (503)", isPartial: false },
  ]);
});
