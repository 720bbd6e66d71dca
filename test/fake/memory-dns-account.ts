import { createHash } from "node:crypto";
import { canonicalDNSName, type TTLRules, type Zone } from "../../src/model/dns.ts";
import { type MemoryRecord, MemoryZone } from "./memory-zone.ts";

/** What one DNS provider has that another has not. */
export interface MemoryDNSFlavour {
  readonly name: "digitalocean" | "cloudflare";
  readonly ttlRules: TTLRules;
  /** How many records one page of a zone's list has. */
  readonly pageSize: number;
  /** True: a write is one batch, all of it or nothing. False: one call per record, and one TTL per name. */
  readonly isBatched: boolean;
}

/** As DigitalOcean is. */
export const DIGITALOCEAN_DNS: MemoryDNSFlavour = {
  name: "digitalocean",
  ttlRules: { minimumSeconds: 30 },
  pageSize: 200,
  isBatched: false,
};

/** As Cloudflare is. */
export const CLOUDFLARE_DNS: MemoryDNSFlavour = {
  name: "cloudflare",
  ttlRules: { minimumSeconds: 60, automaticSeconds: 1 },
  pageSize: 5000,
  isBatched: true,
};

/** The A records of a name after one change: what a resolver sees from now on. */
export interface MemoryDNSView {
  readonly zone: string;
  readonly fqdn: string;
  /** Sorted by text, unique. */
  readonly addresses: readonly string[];
  readonly by: "provider" | "hand";
}

type Author = MemoryDNSView["by"];

/** The DNS zones of an account, which several processes may share, what people do to them, and what became of each name. */
export class MemoryDNSAccount {
  readonly flavour: MemoryDNSFlavour;
  /** The A set of a name after every change of it, in order: each record at DigitalOcean, each batch at Cloudflare, each edit by hand. */
  readonly views: MemoryDNSView[] = [];
  /** Called after each of them. May be exchanged at any time. */
  onChange: ((view: MemoryDNSView) => void) | undefined;
  private readonly zones: MemoryZone[] = [];

  constructor(flavour: MemoryDNSFlavour = DIGITALOCEAN_DNS) {
    this.flavour = flavour;
  }

  /** Adds a zone and returns its id, which is its name, or 32 hex digits at Cloudflare. `isNameHidden`: the token may not read the name, so it is found by id only. */
  addZone(name: string, more: { readonly id?: string; readonly isNameHidden?: boolean } = {}): string {
    const ownID = this.flavour.name === "cloudflare" ? createHash("md5").update(name).digest("hex") : name;
    const id = more.id ?? ownID;
    this.zones.push(new MemoryZone(name, more.isNameHidden === true ? { id } : { id, name }));
    return id;
  }

  /** Takes a zone away with its records. */
  removeZone(name: string): void {
    const at = this.zones.findIndex((item) => item.name === name);
    if (at >= 0) this.zones.splice(at, 1);
  }

  /** Adds a record by hand, of any type; duplicates are allowed. @throws Error without the zone */
  addRecord(zone: string, record: MemoryRecord): void {
    const own = { ...record, fqdn: canonicalDNSName(record.fqdn) ?? record.fqdn };
    const held = this.known(zone);
    if (own.type === "A") this.change(held, own.fqdn, () => held.add(own), "hand");
    else held.add(own);
  }

  /** Takes the records that fit away by hand. @throws Error without the zone */
  removeRecords(zone: string, fits: (record: MemoryRecord) => boolean): void {
    this.byHand(zone, (held) => held.remove(fits));
  }

  /** Puts another record in the place of each that fits, by hand and in one change; with the same content it is made anew. @throws Error without the zone */
  replaceRecords(
    zone: string,
    fits: (record: MemoryRecord) => boolean,
    change: Partial<Pick<MemoryRecord, "type" | "content" | "ttlSeconds">>,
  ): void {
    this.byHand(zone, (held) => {
      for (const record of held.records.filter(fits)) {
        held.remove(({ id }) => id === record.id);
        held.add({ ...record, ...change });
      }
    });
  }

  /** Lets the provider decide the TTL of a name, as a proxied one has it at Cloudflare. @throws Error without the zone */
  setTTLAutomatic(zone: string, fqdn: string, isAutomatic = true): void {
    this.known(zone).setTTLAutomatic(fqdn, isAutomatic);
  }

  /** True when the provider decides the TTL of a name. @throws Error without the zone */
  isTTLAutomatic(zone: string, fqdn: string): boolean {
    return this.known(zone).isTTLAutomatic(fqdn);
  }

  /** All records of a zone in the order they were made. @throws Error without the zone */
  records(zone: string): readonly MemoryRecord[] {
    return this.known(zone).records.map(({ id: _, ...record }) => record);
  }

  /** All records of all zones, zone after zone. */
  all(): readonly MemoryRecord[] {
    return this.zones.flatMap(({ records }) => records.map(({ id: _, ...record }) => record));
  }

  /** The addresses of a name after each change of its A records, in order. */
  history(fqdn: string, by?: Author): readonly (readonly string[])[] {
    const own = this.views.filter((view) => view.fqdn === fqdn && (by === undefined || view.by === by));
    return own.map((view) => view.addresses);
  }

  /** The zone of this name or id, as the token sees it. */
  findZone(text: string): Zone | undefined {
    const name = canonicalDNSName(text);
    return this.zones.find(({ zone }) => zone.name === name || zone.id === name)?.zone;
  }

  /** What a zone of the port holds. */
  held(zone: Zone): MemoryZone | undefined {
    return this.zones.find((item) => item.zone.id === zone.id);
  }

  /** Makes a change of one name and puts down what it led to. */
  change<T>(held: MemoryZone, fqdn: string, effect: () => T, by: Author = "provider"): T {
    const result = effect();
    const { addresses } = held.stateOf(fqdn, held.addressRecords(fqdn));
    const view: MemoryDNSView = { zone: held.name, fqdn, addresses, by };
    this.views.push(view);
    this.onChange?.(view);
    return result;
  }

  private byHand(zone: string, effect: (held: MemoryZone) => void): void {
    const held = this.known(zone);
    const before = new Map(setsOf(held));
    effect(held);
    const after = new Map(setsOf(held));
    for (const fqdn of new Set([...before.keys(), ...after.keys()])) {
      if (before.get(fqdn) !== after.get(fqdn)) this.change(held, fqdn, () => undefined, "hand");
    }
  }

  private known(name: string): MemoryZone {
    const zone = this.zones.find((item) => item.name === name);
    if (zone === undefined) throw new Error(`the memory account has no zone ${name}`);
    return zone;
  }
}

/** The A records of every name of a zone as one text. */
function setsOf(held: MemoryZone): readonly (readonly [fqdn: string, set: string])[] {
  return [...Map.groupBy(held.allAddressRecords(), ({ fqdn }) => fqdn)].map(([fqdn, records]) => [
    fqdn,
    JSON.stringify(records),
  ]);
}
