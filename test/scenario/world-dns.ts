import { setNamed, setText } from "../../src/model/record-types.ts";
import {
  type DNSAccount,
  type DNSName,
  type DNSRecord,
  replaceRecords,
  type ZoneOptions,
} from "../fake/dns-account.ts";
import { short } from "./scenario-names.ts";

/** What a resolver sees under a name after one change of its A or AAAA records. */
export interface DNSView {
  readonly provider: DNSName;
  /** As `setText` has it. */
  readonly fqdn: string;
  /** Sorted by text, unique. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly by: "flipop" | "hand";
  /** The number of the cluster that flipop ran in, where the world tells: 0, or 1 for the one beside it. */
  readonly cluster: number;
}

/** Fits records: by name, and where given by type and content. */
export interface RecordFilter {
  readonly fqdn: string;
  readonly type?: string;
  readonly content?: string;
}

/** Zones and records at both providers as people see and change them, and what resolvers were shown. */
export class WorldDNS {
  readonly #accounts: ReadonlyMap<DNSName, DNSAccount>;
  readonly #sets = new Map<string, readonly string[]>();
  readonly #others = new Map<string, readonly string[]>();
  /** Every change of a set of address records, one after another. */
  readonly views: DNSView[] = [];
  /** Records of other types that flipop changed. */
  readonly meddled: string[] = [];
  /** Called after each change by flipop. */
  onView: ((view: DNSView) => void) | undefined;

  constructor(accounts: readonly DNSAccount[]) {
    this.#accounts = new Map(accounts.map((account) => [account.name, account]));
  }

  /** Adds a zone and returns its id. */
  zone(provider: DNSName, name = "example.com", options: ZoneOptions = {}): string {
    return this.#account(provider).addZone(name, options);
  }

  /** Takes a zone away. */
  removeZone(provider: DNSName, name = "example.com"): void {
    this.#account(provider).removeZone(name);
    this.note(provider, "hand");
  }

  /** Adds a record by hand; by default an A record of TTL 60. */
  add(
    provider: DNSName,
    fqdn: string,
    content: string,
    more: Partial<DNSRecord> & { readonly zone?: string } = {},
  ): void {
    const { zone = "example.com", ...record } = more;
    this.#account(provider).addRecord(zone, { type: "A", ttlSeconds: 60, ...record, fqdn, content });
    this.note(provider, "hand");
  }

  /** Adds A records of many names of one zone by hand, all with the same TTL. */
  addAll(provider: DNSName, names: readonly string[], content: string, zone = "example.com"): void {
    const account = this.#account(provider);
    for (const fqdn of names) account.addRecord(zone, { type: "A", ttlSeconds: 60, fqdn, content });
    this.note(provider, "hand");
  }

  /** Takes records away by hand. */
  remove(provider: DNSName, filter: RecordFilter, zone = "example.com"): void {
    this.#account(provider).removeRecords(zone, (record) => fits(filter, record));
    this.note(provider, "hand");
  }

  /** Puts other content or another TTL into records, by hand. */
  edit(
    provider: DNSName,
    filter: RecordFilter,
    change: Partial<Pick<DNSRecord, "content" | "ttlSeconds">>,
    zone = "example.com",
  ): void {
    replaceRecords(this.#account(provider), zone, (record) => fits(filter, record), change);
    this.note(provider, "hand");
  }

  /** Makes a name proxied. */
  makeAutomatic(provider: DNSName, fqdn: string, zone = "example.com"): void {
    this.#account(provider).setAutomatic(zone, fqdn, true);
  }

  /** Every record of a provider in short names, sorted: `www.example.com A ip1 60`. */
  show(provider: DNSName): readonly string[] {
    return this.#account(provider).records().map(lineOf).toSorted();
  }

  /** The addresses a resolver gets for a name, or for `www.example.com AAAA`, as they are. */
  addresses(provider: DNSName, fqdn: string): readonly string[] {
    return setOf(this.#account(provider).records(), fqdn);
  }

  /** The addresses a resolver gets for a name, in short names. */
  set(provider: DNSName, fqdn: string): readonly string[] {
    return this.addresses(provider, fqdn).map(short).toSorted();
  }

  /** What resolvers get for every name that has address records. */
  sets(): readonly { readonly provider: DNSName; readonly fqdn: string; readonly addresses: readonly string[] }[] {
    return [...this.#accounts].flatMap(([provider, account]) =>
      [...setsOf(account.records())].map(([fqdn, addresses]) => ({ provider, fqdn, addresses })),
    );
  }

  /** The TTLs of the records of a name, or of `www.example.com AAAA`, without repetition. */
  ttls(provider: DNSName, fqdn: string): readonly number[] {
    const own = this.#account(provider)
      .records()
      .filter((record) => fits(setNamed(fqdn), record));
    return [...new Set(own.map(({ ttlSeconds }) => ttlSeconds))];
  }

  /** What resolvers were shown of a name after each change by flipop, in short names: `ip1`, `ip1 ip2`, `` when empty. */
  history(provider: DNSName, fqdn: string): readonly string[] {
    const own = this.views.filter((view) => view.provider === provider && view.fqdn === fqdn && view.by === "flipop");
    return own.map(({ after }) => after.map(short).toSorted().join(" "));
  }

  /** Forgets what resolvers were shown. */
  clearHistory(): void {
    this.views.length = 0;
  }

  /** Compares the account with what was last seen of it, and puts down what changed. */
  note(provider: DNSName, by: DNSView["by"], cluster = 0): void {
    const records = this.#account(provider).records();
    const others = records.filter((record) => !isAddress(record)).map((record) => lineOf(record).replace(/ \d+$/, ""));
    const known = this.#others.get(provider) ?? [];
    if (by === "flipop" && known.join() !== others.join()) this.meddled.push(`${known.join()} → ${others.join()}`);
    this.#others.set(provider, others);
    const sets = setsOf(records);
    const before = [...this.#sets.keys()].filter((key) => key.startsWith(`${provider} `));
    for (const fqdn of new Set([...sets.keys(), ...before.map((key) => key.slice(provider.length + 1))]))
      this.#noteSet({ provider, fqdn, by, cluster, after: sets.get(fqdn) ?? [] });
  }

  #noteSet(seen: Omit<DNSView, "before">): void {
    const key = `${seen.provider} ${seen.fqdn}`;
    const before = this.#sets.get(key) ?? [];
    if (before.join() === seen.after.join()) return;
    this.#sets.set(key, seen.after);
    const view = { ...seen, before };
    this.views.push(view);
    if (view.by === "flipop") this.onView?.(view);
  }

  #account(provider: DNSName): DNSAccount {
    const account = this.#accounts.get(provider);
    if (account === undefined) throw new Error(`the world has no ${provider}`);
    return account;
  }
}

function fits({ fqdn, type = "A", content }: RecordFilter, record: DNSRecord): boolean {
  return record.fqdn === fqdn && record.type === type && (content === undefined || record.content === content);
}

function setOf(records: readonly DNSRecord[], text: string): readonly string[] {
  const name = setNamed(text);
  return contentsOf(records.filter((record) => fits(name, record)));
}

/** The addresses of each set that has any, by its text. One walk over all records, because there may be thousands. */
function setsOf(records: readonly DNSRecord[]): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(records.filter(isAddress), ({ fqdn, type }) => setText({ fqdn, type }));
  return new Map([...groups].map(([text, own]) => [text, contentsOf(own)]));
}

/** Sorted, without repetition. */
function contentsOf(records: readonly DNSRecord[]): readonly string[] {
  return [...new Set(records.map(({ content }) => content))].toSorted();
}

function isAddress(record: DNSRecord): record is DNSRecord & { readonly type: "A" | "AAAA" } {
  return record.type === "A" || record.type === "AAAA";
}

function lineOf({ fqdn, type, content, ttlSeconds }: DNSRecord): string {
  return `${fqdn} ${type} ${short(content)} ${ttlSeconds}`;
}
