import { openDigitalOcean } from "../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { type RecordType, recordFQDN } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { type DNSRecord, memoryDNSAccount } from "../fake/dns-account.ts";
import { memoryDNSProvider } from "../fake/memory-dns-provider.ts";
import { openAPIValidator } from "../openapi/validator.ts";
import { dnsProviderContract, type SeenRecord } from "./dns-provider-contract.ts";
import type { Permit } from "./dns-provider-world.ts";

for (const name of ["digitalocean", "cloudflare", "hetzner"] as const) {
  dnsProviderContract(`the ${name} adapter without a network`, () => {
    const account = memoryDNSAccount(name);
    const history: (readonly DNSRecord[])[] = [];
    const permit: Permit = { mayWrite: () => true };
    const provider = memoryDNSProvider({
      account,
      afterWrite: () => history.push(account.records()),
      mayWrite: () => permit.mayWrite(),
    });
    let meddle: (() => void) | undefined;
    let failure: { skip: number; readonly hasEffect: boolean } | undefined;
    const isWrite = (operation: string): boolean => !["zone", "records", "texts"].includes(operation);
    provider.beforeCall = (operation, subject) => {
      if (!isWrite(operation)) return undefined;
      meddle?.();
      meddle = undefined;
      if (failure === undefined) return undefined;
      failure.skip -= 1;
      if (failure.skip >= 0) return undefined;
      const facts = { provider: provider.name, operation, subject, status: 0, message: "no answer" };
      const error = new ProviderError({ ...facts, failure: "unavailable", isAmbiguous: true });
      const { hasEffect } = failure;
      failure = undefined;
      return hasEffect ? { throwAfter: error } : { throw: error };
    };
    return {
      provider,
      permit,
      ...(name === "hetzner" ? { isWhole: "name" } : {}),
      seed: {
        zone: (zone) => void account.addZone(zone),
        record: (zone, fqdn, type, content, ttlSeconds) => account.addRecord(zone, { fqdn, type, content, ttlSeconds }),
        removal: (zone, fqdn, type, content) =>
          account.removeRecords(zone, (item) => item.fqdn === fqdn && item.type === type && item.content === content),
      },
      failWrite: (fault) => {
        failure = { ...fault };
      },
      beforeNextWrite: (change) => {
        meddle = change;
      },
      writes: () => provider.recorded.filter(({ operation }) => isWrite(operation)).length,
      records: (zone) =>
        account
          .records()
          .filter((record) => record.zone === zone)
          .map(({ fqdn, type, content, ttlSeconds }) => ({ fqdn, type, content, ttl: ttlSeconds })),
      resolverViews: (fqdn) => history.map((records) => resolved(records, fqdn)),
      dispose: () => undefined,
    };
  });
}

const validator = openAPIValidator();

dnsProviderContract("the DigitalOcean adapter on the sandbox", async () => {
  const faults = new FaultList();
  const permit: Permit = { mayWrite: () => true };
  const offSpec: string[] = [];
  const history: (readonly SeenRecord[])[] = [];
  let writes = 0;
  let meddle: (() => void) | undefined;
  const sandbox = digitaloceanSandbox({
    state: { settings: { rate_limit: { per_hour: 100_000, per_minute: 100_000 } } },
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    // No fault fits every method but GET.
    faults: { take: (call) => (call.method === "GET" ? undefined : faults.take(call)) },
    onCall: ({ method, path, query, body }) => {
      offSpec.push(...validator.checkRequest(method, query === "" ? path : `${path}?${query}`, body));
      if (path.endsWith("/records")) {
        meddle?.();
        meddle = undefined;
      }
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
    provider: openDigitalOcean({
      token: "token",
      baseURL: server.url,
      userAgent: "flipop-test",
      clock: SYSTEM_CLOCK,
      mayWrite: () => permit.mayWrite(),
    }).dns,
    permit,
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
    beforeNextWrite: (change) => {
      meddle = change;
    },
    writes: () => writes,
    records: seen,
    resolverViews: (fqdn) => history.map((records) => resolved(records, fqdn)),
    dispose: async () => {
      await server.close();
      if (offSpec.length > 0) throw new Error(`Not as the API description says:\n${offSpec.join("\n")}`);
    },
  };
});

/** What a resolver gets for a name. */
function resolved(records: readonly Pick<SeenRecord, "fqdn" | "type" | "content">[], fqdn: string): readonly string[] {
  const set = records.filter((record) => record.fqdn === fqdn && record.type === "A");
  return [...new Set(set.map((record) => record.content))].sort();
}

/** As it is written, capitals and all. */
function relative(zone: string, fqdn: string): string {
  return fqdn.length === zone.length ? "@" : fqdn.slice(0, -zone.length - 1);
}
