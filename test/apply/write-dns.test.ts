import { expect, test } from "vitest";
import { type ApplyContext, applyContext, type WriteAccess } from "../../src/apply/context.ts";
import { writeDNS } from "../../src/apply/write-dns.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import type { DNSProvider } from "../../src/ports/providers.ts";
import { memoryDNSAccount } from "../fake/dns-account.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { memoryDNSProvider } from "../fake/memory-dns-provider.ts";
import { anObservation } from "../plan/builders.ts";
import { aDNSWrite } from "../report/dns-plans.ts";
import { heldLock } from "../scenario/scenario-run.ts";

/** What a write works with: this provider, and a lock that is held. */
function contextOf(provider: DNSProvider, others: Partial<WriteAccess>): ApplyContext {
  const access: WriteAccess = {
    cluster: {} as ClusterWriter,
    providers: new Map(),
    dnsProviders: new Map([["digitalocean", { kind: "usable", provider }]]),
    firewallProviders: new Map(),
    clock: new FakeClock(),
    lock: heldLock(),
    ...others,
  };
  return applyContext(access, anObservation({}), { deadlineMs: 60_000, signal: new AbortController().signal });
}

test("a change that ends in the middle because the Lease is lost is skipped for that, and what stands is unknown", async () => {
  const account = memoryDNSAccount("digitalocean");
  const zone = { id: account.addZone("example.com"), name: "example.com" };
  const fqdn = "www.example.com";
  account.addRecord("example.com", { fqdn, type: "A", content: "203.0.113.1", ttlSeconds: 60 });
  const isHeld = (): boolean => !provider.recorded.some(({ operation }) => operation === "add-record");
  const provider = memoryDNSProvider({ account, mayWrite: isHeld });
  const context = contextOf(provider, { lock: { ...heldLock(), isHeld } });
  const before = { addresses: ["203.0.113.1"], ttlSeconds: 60 };
  const after = { addresses: ["203.0.113.2"], ttlSeconds: 60 };
  const action = aDNSWrite({ kind: "update-dns", dnsProvider: "digitalocean", zone, fqdn, before, after });
  expect(await writeDNS(action, context)).toMatchObject({
    outcome: "skipped",
    reason: "LockLost",
    records: { kind: "gap" },
  });
  const contents = account.records().map(({ content }) => content);
  expect(contents.toSorted()).toEqual(["203.0.113.1", "203.0.113.2"]);
});

test("a change that is put off is skipped until calls may be spent on it, by the API server's clock, and nothing is on record of it", async () => {
  const account = memoryDNSAccount("digitalocean");
  const zone = { id: account.addZone("example.com"), name: "example.com" };
  const clock = new FakeClock();
  const facts = {
    provider: "digitalocean",
    failure: "put-off",
    operation: "records",
    subject: "www",
    status: 0,
  } as const;
  const error = new ProviderError({ ...facts, message: "later", notBeforeMs: clock.wallMs() + 7000 });
  const memory = memoryDNSProvider({ account });
  const provider = { ...memory, writeRecords: async () => Promise.reject(error) };
  const context = contextOf(provider, { clock, cluster: { now: () => 1_000_000 } as ClusterWriter });
  const change = { before: { addresses: [] }, after: { addresses: ["203.0.113.2"], ttlSeconds: 60 } };
  const action = aDNSWrite({
    kind: "update-dns",
    dnsProvider: "digitalocean",
    zone,
    fqdn: "www.example.com",
    ...change,
  });
  expect(await writeDNS(action, context)).toMatchObject({
    outcome: "skipped",
    reason: "RateLimited",
    detail: "later",
    records: { kind: "gap", putOffUntilMs: 1_007_000 },
  });
  expect(memory.recorded).toEqual([]);
});
