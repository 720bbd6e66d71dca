import { expect, test } from "vitest";
import { applyContext } from "../../src/apply/context.ts";
import { writeDNS } from "../../src/apply/write-dns.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { DIGITALOCEAN_DNS, MemoryDNSAccount } from "../fake/memory-dns-account.ts";
import { MemoryDNSProvider } from "../fake/memory-dns-provider.ts";
import { anObservation } from "../plan/builders.ts";
import { aDNSWrite } from "../report/dns-plans.ts";

test("a change that ends in the middle because the Lease is lost is skipped for that, and knows what stands", async () => {
  const account = new MemoryDNSAccount(DIGITALOCEAN_DNS);
  const zone = { id: account.addZone("example.com"), name: "example.com" };
  const fqdn = "www.example.com";
  account.addRecord("example.com", { fqdn, type: "A", content: "203.0.113.1", ttlSeconds: 60 });
  const provider = new MemoryDNSProvider({ account });
  const isHeld = (): boolean => !provider.recorded.some(({ operation }) => operation === "add-record");
  const lock = { isHeld, lost: new AbortController().signal, annotations: () => ({}), annotate: async () => undefined };
  const access = {
    cluster: {} as ClusterWriter,
    providers: new Map(),
    dnsProviders: new Map([["digitalocean", { kind: "usable", provider } as const]]),
    firewallProviders: new Map(),
    clock: new FakeClock(),
    lock,
  };
  const context = applyContext(access, anObservation({}), { deadline: 60_000, signal: new AbortController().signal });
  const before = { addresses: ["203.0.113.1"], ttlSeconds: 60 };
  const after = { addresses: ["203.0.113.2"], ttlSeconds: 60 };
  const action = aDNSWrite({ kind: "update-dns", dnsProvider: "digitalocean", zone, fqdn, before, after });
  expect(await writeDNS(action, context)).toMatchObject({
    outcome: "skipped",
    reason: "LockLost",
    records: { kind: "known", records: { addresses: ["203.0.113.1", "203.0.113.2"] } },
  });
});
