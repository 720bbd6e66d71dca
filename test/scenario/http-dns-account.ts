import type { RecordType as CloudflareType } from "../../src/sandbox/cloudflare/account-state.ts";
import type { CloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { type RecordType, recordFQDN } from "../../src/sandbox/digitalocean/cloud-state.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { DNSAccount } from "./dns-account.ts";

/** The domains of an emulated DigitalOcean. */
export function digitalOceanDNSAccount(sandbox: DigitalOceanSandbox): DNSAccount {
  return {
    name: "digitalocean",
    addZone: (name) => {
      sandbox.setDomain({ name });
      return name;
    },
    removeZone: (name) => {
      const { state } = sandbox.cloud();
      state.domains = state.domains.filter((domain) => domain.name !== name);
      sandbox.save();
    },
    addRecord: (zone, { fqdn, type, content, ttlSeconds }) =>
      sandbox.addRecord(zone, {
        type: type as RecordType,
        name: fqdn === zone ? "@" : fqdn.slice(0, -zone.length - 1),
        data: content,
        ttl: ttlSeconds,
      }),
    removeRecords: (zone, fits) =>
      sandbox.removeRecords(zone, (record) =>
        fits({
          fqdn: recordFQDN({ name: zone }, record),
          type: record.type,
          content: record.data,
          ttlSeconds: record.ttl,
        }),
      ),
    makeAutomatic: () => {
      throw new Error("DigitalOcean has no proxied names");
    },
    records: () =>
      sandbox.cloud().state.domains.flatMap((domain) =>
        domain.records.map((record) => ({
          zone: domain.name,
          fqdn: recordFQDN(domain, record),
          type: record.type,
          content: record.data,
          ttlSeconds: record.ttl,
        })),
      ),
  };
}

/** The zones of an emulated Cloudflare; `token` is the one flipop has. */
export function cloudflareDNSAccount(sandbox: CloudflareSandbox, token: string): DNSAccount {
  const proxied = new Set<string>();
  return {
    name: "cloudflare",
    addZone: (name, { id, isNameHidden } = {}) => {
      const zone = sandbox.addZone({ name, ...(id === undefined ? {} : { id }) });
      const { state } = sandbox.account();
      if (isNameHidden) state.tokens[token] = { [zone.id]: ["dns:edit"] };
      return zone.id;
    },
    removeZone: (name) => sandbox.removeZone(name),
    addRecord: (zone, { fqdn, type, content, ttlSeconds }) => {
      const isProxied = proxied.has(fqdn);
      const record = { name: fqdn, type: type as CloudflareType, content, proxied: isProxied };
      sandbox.addRecord(zone, { ...record, ttl: isProxied ? 1 : ttlSeconds });
    },
    removeRecords: (zone, fits) => {
      const names = sandbox.account().state.zones.find(({ name }) => name === zone)?.dns_records ?? [];
      for (const fqdn of new Set(names.map(({ name }) => name)))
        sandbox.removeRecords(zone, fqdn, ({ type, content, ttl }) => fits({ fqdn, type, content, ttlSeconds: ttl }));
    },
    makeAutomatic: (zone, fqdn) => {
      proxied.add(fqdn);
      const { state } = sandbox.account();
      for (const record of state.zones.find(({ name }) => name === zone)?.dns_records ?? [])
        if (record.name === fqdn) Object.assign(record, { proxied: true, ttl: 1 });
      sandbox.save();
    },
    records: () =>
      sandbox.account().state.zones.flatMap((zone) =>
        zone.dns_records.map(({ name, type, content, ttl }) => ({
          zone: zone.name,
          fqdn: name,
          type,
          content,
          ttlSeconds: ttl,
        })),
      ),
  };
}
