/** The DNS providers of the scenarios. */
export type DNSName = "digitalocean" | "cloudflare";

/** One record of a zone, as people see it. */
export interface DNSRecord {
  /** In full, lower case, without trailing dot. */
  readonly fqdn: string;
  readonly type: string;
  readonly content: string;
  /** 1 = automatic, at Cloudflare. */
  readonly ttlSeconds: number;
}

/** How a zone is made. */
export interface ZoneOptions {
  /** At Cloudflare; default: from the name. */
  readonly id?: string;
  /** True: the token may not read the zone's name, so that it is found by id only. */
  readonly isNameHidden?: boolean;
}

/** The zones of an account, changed behind flipop's back. */
export interface DNSAccount {
  readonly name: DNSName;
  /** Adds a zone and returns its id. */
  addZone(name: string, options?: ZoneOptions): string;
  removeZone(name: string): void;
  addRecord(zone: string, record: DNSRecord): void;
  removeRecords(zone: string, fits: (record: DNSRecord) => boolean): void;
  /** Lets the provider decide the TTL of a name, as that of a proxied one. */
  makeAutomatic(zone: string, fqdn: string): void;
  /** Every record of every zone, with its zone, in the order they were made. */
  records(): readonly (DNSRecord & { readonly zone: string })[];
}
