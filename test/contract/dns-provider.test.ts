import { ProviderError } from "../../src/model/errors.ts";
import { MemoryDNSProvider, type MemoryDNSView } from "../fake/memory-dns-provider.ts";
import { dnsProviderContract } from "./dns-provider-contract.ts";

dnsProviderContract("the memory provider", () => {
  const views: MemoryDNSView[] = [];
  const provider = new MemoryDNSProvider({ onChange: (view) => views.push(view) });
  let failures = 0;
  return {
    provider,
    seed: {
      zone: (name) => provider.addZone(name),
      record: (zone, fqdn, type, content, ttlSeconds) => provider.addRecord(zone, { fqdn, type, content, ttlSeconds }),
      removal: (zone, fqdn, type, content) =>
        provider.removeRecords(zone, (item) => item.fqdn === fqdn && item.type === type && item.content === content),
    },
    failWrite: ({ skip, hasEffect }) => {
      provider.beforeCall = (operation, subject) => {
        if (operation !== "write") return undefined;
        provider.beforeCall = undefined;
        failures += 1;
        const facts = { provider: provider.name, operation, subject, status: 0, message: "no answer" };
        const error = new ProviderError({ ...facts, failure: "unavailable", isAmbiguous: true });
        return { throwAfter: error, changes: hasEffect ? skip + 1 : skip };
      };
    },
    writes: () => views.length + failures,
    records: (zone) =>
      provider.records(zone).map(({ fqdn, type, content, ttlSeconds }) => ({ fqdn, type, content, ttl: ttlSeconds })),
    resolverViews: (fqdn) => views.filter((view) => view.fqdn === fqdn).map((view) => view.addresses),
    dispose: () => undefined,
  };
});
