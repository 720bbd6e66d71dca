import { relativeName } from "../../src/model/dns.ts";
import type { RecordType as CloudflareType } from "../../src/sandbox/cloudflare/account-state.ts";
import { type CloudflareSandbox, cloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { type DomainState, type RecordType, recordFQDN } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { type DigitalOceanSandbox, digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { type HetznerSandbox, hetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { RRsetState, ZoneState } from "../../src/sandbox/hetzner/project-state.ts";
import type { SandboxReply, SandboxRequest } from "../../src/sandbox/http-server.ts";
import { type WebhookSandbox, webhookSandbox } from "../../src/sandbox/webhook/webhook-sandbox.ts";
import type { RecordSet } from "../../src/sandbox/webhook/webhook-state.ts";

/** The DNS providers of the sandbox. */
export const DNS_NAMES = ["digitalocean", "cloudflare", "hetzner", "webhook"] as const;

/** One of {@link DNS_NAMES}. */
export type DNSName = (typeof DNS_NAMES)[number];

/** One record of a zone, as people see it. */
export interface DNSRecord {
  /** In full, lower case, without trailing dot. */
  readonly fqdn: string;
  readonly type: string;
  readonly content: string;
  /** 1 = automatic, at Cloudflare. */
  readonly ttlSeconds: number;
  /** True for a proxied record of Cloudflare's, whose TTL Cloudflare decides. */
  readonly isAutomatic?: true;
}

/** How a zone is made. */
export interface ZoneOptions {
  /** At Cloudflare; default: from the name. */
  readonly id?: string;
  /** True: the token may not read the zone's name, so that it is found by id only. */
  readonly isNameHidden?: boolean;
}

/** The zones of an emulated account, changed behind flipop's back. What a provider would refuse can be made here. */
export interface DNSAccount {
  readonly name: DNSName;
  /** Answers a request to the provider's API. */
  handle(request: SandboxRequest): SandboxReply;
  /** Adds a zone and returns its id. */
  addZone(name: string, options?: ZoneOptions): string;
  removeZone(name: string): void;
  /** The name of the zone with this name or id; undefined when there is none. */
  zoneName(zone: string): string | undefined;
  /** @throws Error without the zone */
  addRecord(zone: string, record: DNSRecord): void;
  /** @throws Error without the zone */
  removeRecords(zone: string, fits: (record: DNSRecord) => boolean): void;
  /** Lets the provider decide the TTL of a name, as that of a proxied one, or no longer. */
  setAutomatic(zone: string, fqdn: string, isAutomatic: boolean): void;
  /** Every record of every zone, with its zone, in the order they were made. */
  records(): readonly (DNSRecord & { readonly zone: string })[];
}

/** An account of its own, in memory, whose limits never matter. */
export function memoryDNSAccount(name: DNSName, now: () => number = () => Date.UTC(2026, 0, 2, 3, 4, 5)): DNSAccount {
  if (name === "cloudflare") return cloudflareDNSAccount(boundlessCloudflare({ now }));
  if (name === "hetzner") return hetznerDNSAccount(boundlessHetzner({ now }));
  if (name === "webhook") return webhookDNSAccount(webhookSandbox({ now, state: EMPTY_WEBHOOK }));
  const rate_limit = { per_hour: 1_000_000, per_minute: 1_000_000 };
  return digitalOceanDNSAccount(digitaloceanSandbox({ now, state: { settings: { rate_limit } } }));
}

/** An emulated Cloudflare without zones, whose limits never matter. */
export function boundlessCloudflare(
  options: Omit<Parameters<typeof cloudflareSandbox>[0], "state" | "file">,
): CloudflareSandbox {
  const settings = { requests_per_5_minutes: 1_000_000, records_per_zone: 1_000_000 };
  return cloudflareSandbox({ ...options, state: { settings } });
}

/** Puts another record in the place of each that fits, by hand; one with the same content is made anew. */
export function replaceRecords(
  account: DNSAccount,
  zone: string,
  fits: (record: DNSRecord) => boolean,
  change: Partial<Pick<DNSRecord, "content" | "ttlSeconds">>,
): void {
  const found = account.records().filter((record) => record.zone === zone && fits(record));
  account.removeRecords(zone, fits);
  for (const { zone: _, ...record } of found) account.addRecord(zone, { ...record, ...change });
}

/** The domains of an emulated DigitalOcean. */
export function digitalOceanDNSAccount(sandbox: DigitalOceanSandbox): DNSAccount {
  const known = (zone: string): DomainState => {
    const domain = sandbox.cloud().state.domains.find(({ name }) => name === zone);
    if (domain === undefined) throw new Error(`the account has no zone ${zone}`);
    return domain;
  };
  const shown = (domain: DomainState, record: DomainState["records"][number]): DNSRecord => {
    return {
      fqdn: recordFQDN(domain, record),
      type: record.type,
      content: record.data,
      ttlSeconds: record.ttl,
    };
  };
  return {
    name: "digitalocean",
    handle: (request) => sandbox.handle(request),
    addZone: (name) => {
      sandbox.setDomain({ name });
      return name;
    },
    removeZone: (name) => {
      const { state } = sandbox.cloud();
      state.domains = state.domains.filter((domain) => domain.name !== name);
      sandbox.save();
    },
    zoneName: (zone) => sandbox.cloud().state.domains.find(({ name }) => name === zone.toLowerCase())?.name,
    addRecord: (zone, { fqdn, type, content, ttlSeconds }) => {
      const domain = known(zone);
      const { next } = sandbox.cloud().state;
      const name = fqdn.length === zone.length ? "@" : fqdn.slice(0, -zone.length - 1);
      domain.records.push({ id: next.record_id, type: type as RecordType, name, data: content, ttl: ttlSeconds });
      next.record_id += 1;
      sandbox.save();
    },
    removeRecords: (zone, fits) => {
      const domain = known(zone);
      domain.records = domain.records.filter((record) => !fits(shown(domain, record)));
      sandbox.save();
    },
    setAutomatic: () => {
      throw new Error("DigitalOcean has no proxied names");
    },
    records: () =>
      sandbox
        .cloud()
        .state.domains.flatMap((domain) =>
          domain.records.map((record) => ({ zone: domain.name, ...shown(domain, record) })),
        ),
  };
}

type CloudflareZone = ReturnType<CloudflareSandbox["account"]>["state"]["zones"][number];

const MADE_AT = "2026-01-01T00:00:00.000000Z";
/** What a token that may not read the names of zones is. */
const TOKEN = "token";

/** The zones of an emulated Cloudflare. */
export function cloudflareDNSAccount(sandbox: CloudflareSandbox): DNSAccount {
  const known = (zone: string): CloudflareZone => {
    const found = sandbox.account().state.zones.find(({ name }) => name === zone);
    if (found === undefined) throw new Error(`the account has no zone ${zone}`);
    return found;
  };
  return {
    name: "cloudflare",
    handle: (request) => sandbox.handle(request),
    addZone: (name, { id, isNameHidden } = {}) => {
      const zone = sandbox.addZone({ name, ...(id === undefined ? {} : { id }) });
      const { state } = sandbox.account();
      if (isNameHidden) state.tokens[TOKEN] = { [zone.id]: ["dns:edit"] };
      sandbox.save();
      return zone.id;
    },
    removeZone: (name) => sandbox.removeZone(name),
    zoneName: (zone) => {
      const text = zone.toLowerCase();
      return sandbox.account().state.zones.find(({ name, id }) => name === text || id === text)?.name;
    },
    addRecord: (zone, { fqdn, type, content, ttlSeconds, isAutomatic }) => {
      const held = known(zone);
      const { next } = sandbox.account().state;
      const name = fqdn.toLowerCase();
      const proxied = isAutomatic ?? held.dns_records.some((record) => record.name === name && record.proxied);
      const record = { name, type: type as CloudflareType, content, ttl: proxied ? 1 : ttlSeconds, proxied };
      const id = next.record.toString(16).padStart(32, "0");
      next.record += 1;
      held.dns_records.push({ id, ...record, comment: "", tags: [], created_on: MADE_AT, modified_on: MADE_AT });
      sandbox.save();
    },
    removeRecords: (zone, fits) => {
      const held = known(zone);
      held.dns_records = held.dns_records.filter((record) => !fits(shownAtCloudflare(record)));
      sandbox.save();
    },
    setAutomatic: (zone, fqdn, isAutomatic) => {
      // Five minutes are Cloudflare's automatic TTL.
      const change = isAutomatic ? { proxied: true, ttl: 1 } : { proxied: false, ttl: 300 };
      for (const record of known(zone).dns_records)
        if (record.name === fqdn && record.type === "A" && record.proxied !== isAutomatic)
          Object.assign(record, change);
      sandbox.save();
    },
    records: () =>
      sandbox
        .account()
        .state.zones.flatMap(({ name, dns_records }) =>
          dns_records.map((record) => ({ zone: name, ...shownAtCloudflare(record) })),
        ),
  };
}

function shownAtCloudflare({ name, type, content, ttl, proxied }: CloudflareZone["dns_records"][number]): DNSRecord {
  return { fqdn: name, type, content, ttlSeconds: ttl, ...(proxied ? { isAutomatic: true } : {}) };
}

/** An emulated project of Hetzner Cloud whose limits never matter. */
export function boundlessHetzner(
  options: Omit<Parameters<typeof hetznerSandbox>[0], "state" | "file">,
  settings: object = {},
): HetznerSandbox {
  return hetznerSandbox({ ...options, state: { settings: { rate_limit: 1_000_000, ...settings } } });
}

/** The zones of an emulated project of Hetzner Cloud. All records of one name and type have one TTL: the one that was given last. */
export function hetznerDNSAccount(sandbox: HetznerSandbox): DNSAccount {
  const known = (zone: string): ZoneState => {
    const found = sandbox.project().state.zones.find(({ name }) => name === zone);
    if (found === undefined) throw new Error(`the project has no zone ${zone}`);
    return found;
  };
  const shown = (
    { name: zone, ttl: usual }: ZoneState,
    { name, type, ttl }: RRsetState,
    content: string,
  ): DNSRecord => ({
    fqdn: name === "@" ? zone : `${name}.${zone}`,
    type,
    content,
    ttlSeconds: ttl ?? usual,
  });
  return {
    name: "hetzner",
    handle: (request) => sandbox.handle(request),
    addZone: (name) => {
      sandbox.edit(({ zones }) => zones.push({ name } as ZoneState));
      return name;
    },
    removeZone: (name) =>
      sandbox.edit((state) => {
        state.zones = state.zones.filter((zone) => zone.name !== name);
      }),
    zoneName: (zone) => sandbox.project().state.zones.find(({ name }) => name === zone.toLowerCase())?.name,
    addRecord: (zone, { fqdn, type, content, ttlSeconds }) => {
      const { rrsets } = known(zone);
      const name = relativeName(zone, fqdn.toLowerCase()) ?? "";
      const set = rrsets.find((one) => one.name === name && one.type === type);
      if (set === undefined)
        rrsets.push({ name, type, ttl: ttlSeconds, labels: {}, protected: false, records: [{ value: content }] });
      else {
        set.ttl = ttlSeconds;
        if (set.records.every(({ value }) => value !== content)) set.records.push({ value: content });
      }
      sandbox.save();
    },
    removeRecords: (zone, fits) => {
      const held = known(zone);
      for (const set of held.rrsets) set.records = set.records.filter(({ value }) => !fits(shown(held, set, value)));
      held.rrsets = held.rrsets.filter(({ records }) => records.length > 0);
      sandbox.save();
    },
    setAutomatic: () => {
      throw new Error("Hetzner has no proxied names");
    },
    records: () =>
      sandbox
        .project()
        .state.zones.flatMap((zone) =>
          zone.rrsets.flatMap((set) =>
            set.records.map(({ value }) => ({ zone: zone.name, ...shown(zone, set, value) })),
          ),
        ),
  };
}

/** A webhook without any domain would look after all names. */
export const NO_DOMAIN = "none.invalid";
/** A webhook that looks after nothing yet, and takes the TTLs that Cloudflare takes. */
export const EMPTY_WEBHOOK: object = { domains: [NO_DOMAIN], settings: { least_ttl: 60, most_ttl: 86_400 } };

/** The domains and records of an emulated webhook. Several records of one name and type with different TTLs are several sets. */
export function webhookDNSAccount(sandbox: WebhookSandbox): DNSAccount {
  const zoneOf = (fqdn: string): string =>
    sandbox
      .webhook()
      .state.domains.filter((domain) => relativeName(domain, fqdn) !== undefined)
      .toSorted((a, b) => b.length - a.length)[0] ?? "";
  const known = (zone: string): RecordSet[] => {
    const { domains, records } = sandbox.webhook().state;
    if (!domains.includes(zone)) throw new Error(`the webhook has no zone ${zone}`);
    return records;
  };
  const shown = ({ dnsName, recordType, recordTTL }: RecordSet, content: string): DNSRecord => ({
    fqdn: dnsName.toLowerCase(),
    type: recordType,
    content,
    ttlSeconds: recordTTL ?? 0,
    ...(recordTTL === undefined ? { isAutomatic: true } : {}),
  });
  return {
    name: "webhook",
    handle: (request) => sandbox.handle(request),
    addZone: (name) => {
      sandbox.webhook().state.domains.push(name);
      sandbox.save();
      return name;
    },
    removeZone: (name) => {
      const { state } = sandbox.webhook();
      state.records = state.records.filter(({ dnsName }) => zoneOf(dnsName.toLowerCase()) !== name);
      state.domains = state.domains.filter((domain) => domain !== name);
      sandbox.save();
    },
    zoneName: (zone) => sandbox.webhook().state.domains.find((name) => name === zone.toLowerCase()),
    addRecord: (zone, { fqdn, type, content, ttlSeconds, isAutomatic }) => {
      const records = known(zone);
      const of = records.filter(
        ({ dnsName, recordType }) => dnsName.toLowerCase() === fqdn.toLowerCase() && recordType === type,
      );
      const hasNoTTL = isAutomatic ?? of.some(({ recordTTL }) => recordTTL === undefined);
      const ttl = hasNoTTL ? {} : { recordTTL: ttlSeconds };
      const set = of.find(({ recordTTL }) => recordTTL === ttl.recordTTL);
      if (set === undefined) records.push({ dnsName: fqdn, recordType: type, targets: [content], ...ttl });
      else set.targets.push(content);
      sandbox.save();
    },
    removeRecords: (zone, fits) => {
      known(zone);
      const { state } = sandbox.webhook();
      state.records = state.records
        .map((set) =>
          zoneOf(set.dnsName.toLowerCase()) === zone
            ? { ...set, targets: set.targets.filter((content) => !fits(shown(set, content))) }
            : set,
        )
        .filter(({ targets }) => targets.length > 0);
      sandbox.save();
    },
    setAutomatic: (zone, fqdn, isAutomatic) => {
      for (const set of known(zone)) {
        if (set.dnsName !== fqdn || set.recordType !== "A") continue;
        if (isAutomatic) delete set.recordTTL;
        else set.recordTTL ??= 300;
      }
      sandbox.save();
    },
    records: () =>
      sandbox
        .webhook()
        .state.records.flatMap((set) =>
          set.targets.map((content) => ({ zone: zoneOf(set.dnsName.toLowerCase()), ...shown(set, content) })),
        ),
  };
}
