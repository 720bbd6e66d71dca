import { expect, test } from "vitest";
import { type LiveFacts, liveKey, liveOf } from "../../src/report/live.ts";
import type { Overview } from "../../src/report/overview.ts";
import { anObservation } from "../plan/builders.ts";
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
