import { createDigitalOceanDNS } from "../../src/adapters/digitalocean/create-digitalocean-dns.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { type RecordType, recordFQDN } from "../../src/sandbox/digitalocean/domain-state.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { MemoryDNSProvider, type MemoryDNSView } from "../fake/memory-dns-provider.ts";
import { openAPIValidator } from "../openapi/validator.ts";
import { dnsProviderContract, type SeenRecord } from "./dns-provider-contract.ts";

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

const validator = openAPIValidator();

dnsProviderContract("the DigitalOcean adapter on the sandbox", async () => {
  const faults = new FaultList();
  const offSpec: string[] = [];
  const history: (readonly SeenRecord[])[] = [];
  let writes = 0;
  const sandbox = digitaloceanSandbox({
    state: { settings: { rate_limit: { per_hour: 100_000, per_minute: 100_000 } } },
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    // No fault fits every method but GET.
    faults: { take: (call) => (call.method === "GET" ? undefined : faults.take(call)) },
    onCall: ({ method, path, query, body }) => {
      offSpec.push(...validator.checkRequest(method, query === "" ? path : `${path}?${query}`, body));
      if (method === "GET") return;
      writes += 1;
      history.push(sandbox.cloud().state.domains.flatMap((domain) => seen(domain.name)));
    },
  });
  const seen = (zone: string): readonly SeenRecord[] =>
    sandbox
      .cloud()
      .state.domains.filter((domain) => domain.name === zone)
      .flatMap((domain) =>
        domain.records.map((record) => ({
          fqdn: recordFQDN(domain, record),
          type: record.type,
          content: record.data,
          ttl: record.ttl,
        })),
      );
  const server = await sandbox.serve();
  return {
    provider: createDigitalOceanDNS({
      token: "token",
      baseURL: server.url,
      userAgent: "flipop-test",
      clock: SYSTEM_CLOCK,
    }),
    seed: {
      zone: (name) => sandbox.setDomain({ name }),
      record: (zone, fqdn, type, data, ttl) =>
        sandbox.addRecord(zone, { type: type as RecordType, name: relative(zone, fqdn), data, ttl }),
      removal: (zone, fqdn, type, data) => {
        const name = relative(zone, fqdn);
        sandbox.removeRecords(zone, (item) => item.name === name && item.type === type && item.data === data);
      },
    },
    failWrite: ({ skip, hasEffect }) => {
      faults.clear();
      faults.add({
        server: "digitalocean",
        skip,
        status: 502,
        effect: hasEffect,
        body: { id: "bad", message: "Bad." },
      });
    },
    writes: () => writes,
    records: seen,
    resolverViews: (fqdn) =>
      history.map((records) => {
        const set = records.filter((record) => record.fqdn === fqdn && record.type === "A");
        return [...new Set(set.map((record) => record.content))].sort();
      }),
    dispose: async () => {
      await server.close();
      if (offSpec.length > 0) throw new Error(`Not as the API description says:\n${offSpec.join("\n")}`);
    },
  };
});

/** As it is written, capitals and all. */
function relative(zone: string, fqdn: string): string {
  return fqdn.length === zone.length ? "@" : fqdn.slice(0, -zone.length - 1);
}
