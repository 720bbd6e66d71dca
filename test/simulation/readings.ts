import type { Endpoint } from "../../src/adapters/webhook/api.ts";
import { setNamed, setText } from "../../src/model/record-types.ts";
import type { SimCall } from "./faults.ts";
import { FirewallReadings } from "./firewall-readings.ts";
import { nameKey } from "./publishers.ts";

/** An address as one answer of the provider showed it. */
export interface Reading {
  readonly ip: string;
  readonly holderID?: string;
  readonly isLocked: boolean;
}

/** A record as an answer of a DNS provider shows it. */
interface ShownRecord {
  readonly fqdn: string;
  readonly content: string;
}

/** What a process was shown of a name in DNS. */
export interface NameReading {
  reads: number;
  last: "read" | "write" | "nothing";
  /** The sets it was seen to have, and made, newest first. */
  readonly sets: string[];
}

/** What a process was shown in the pass under way. */
export class Readings {
  /** The newest of each address; lists may lag behind, so one read by itself counts more, also in a pass before whose facts are reused. */
  readonly newest: Map<string, Reading | "failed"> = new Map();
  /** Addresses read by themselves. */
  readonly singly: Set<string> = new Set();
  /** Addresses that were asked for by themselves, in this pass or in one whose facts it reuses: one that is gone is believed to be gone. */
  readonly everSingly: Set<string> = new Set();
  /** As {@link newest}, what passes before this one were shown, and what this one has not been shown anew since it began to list the account. */
  readonly former: Map<string, Reading | "failed"> = new Map();
  /** What a list said of an address that had been read by itself before. */
  readonly listed: Map<string, Reading> = new Map();
  /** The newest of each address that decisions rest on: those of the account's list while the world is observed, then single ones. */
  readonly seen: Map<string, Reading> = new Map();
  /** When an address was read by itself while actions were carried out, milliseconds: those under way were decided on without it. */
  readonly learnedMs: Map<string, number> = new Map();
  /** When the account's list was last answered, milliseconds; undefined until then. A pass lists again for objects that have changed. */
  listedMs: number | undefined;
  /** Nodes read by themselves. */
  readonly nodes: Set<string> = new Set();
  readonly firewalls: FirewallReadings = new FirewallReadings();
  readonly #names = new Map<string, NameReading>();
  /** How often a provider has shown everything that it has. */
  readonly #everything = new Map<string, number>();
  /** The zones that were listed whole, as keys of names. */
  protected readonly zones: Set<string> = new Set();

  /** Whether an action of the pass under way has begun. */
  isActing = false;

  /** Forgets everything: a pass begins. */
  clear(): void {
    this.isActing = false;
    this.listedMs = undefined;
    for (const memory of [
      this.newest,
      this.former,
      this.singly,
      this.everSingly,
      this.listed,
      this.seen,
      this.nodes,
      this.learnedMs,
    ])
      memory.clear();
    this.#names.clear();
    this.zones.clear();
    this.#everything.clear();
    this.firewalls.clear();
  }

  /** A name in DNS, by its key. */
  name(key: string): NameReading {
    const known = this.#names.get(key) ?? this.unseenName(key);
    this.#names.set(key, known);
    return known;
  }

  /** A name that no answer showed: one of a zone that was listed has no records. */
  protected unseenName(key: string): NameReading {
    const fqdn = key.slice(key.indexOf(" ") + 1);
    const looks = this.#everything.get(key.slice(0, key.indexOf(" "))) ?? 0;
    if (looks > 0) return { reads: looks, last: "read", sets: Array.from({ length: looks }, () => "") };
    const isListed = [...this.zones].some((zone) => setNamed(key).fqdn === zone || isWithin(fqdn, zone));
    return isListed ? { reads: 1, last: "read", sets: [""] } : { reads: 0, last: "nothing", sets: [] };
  }

  /** Takes note that a call is about to be answered, or to fail. */
  asked(_call: SimCall): void {
    // Everything was forgotten when the pass began.
  }

  /** Enters what a call answered. */
  enter(call: SimCall, result: unknown, isObserving: boolean, nowMs: number): void {
    const { operation, subject } = call;
    if (operation === "get") this.singly.add(subject);
    if (operation === "get") this.everSingly.add(subject);
    if (operation === "records") this.#showNames(call, shownRecords(call, result));
    if (operation === "read-node") this.nodes.add(subject);
    this.firewalls.enter(call, result);
    for (const shown of shownBy(call, result)) this.#show(shown, operation, isObserving);
    if (operation === "get" && !isObserving) this.learnedMs.set(subject, nowMs);
  }

  /** A list of a whole zone, or of everything a provider has, shows each name that has records, and that the other ones have none. */
  #showNames({ provider = "digitalocean", subject, isWholeZone }: SimCall, records: readonly ShownRecord[]): void {
    const isList = isWholeZone === true;
    const byName = isList ? Map.groupBy(records, ({ fqdn }) => fqdn) : new Map([[subject, records]]);
    for (const [fqdn, own] of byName) this.#showName(nameKey(provider, fqdn), own);
    const isShown = (fqdn: string): boolean =>
      subject === "" || (isList && (fqdn === subject || isWithin(fqdn, subject)));
    for (const key of this.knownNames()) {
      const fqdn = key.slice(provider.length + 1);
      if (!key.startsWith(`${provider} `) || byName.has(fqdn)) continue;
      if (isShown(setNamed(fqdn).fqdn)) this.#showName(key, []);
    }
    if (subject === "") this.#everything.set(provider, (this.#everything.get(provider) ?? 0) + 1);
    else if (isList) this.zones.add(nameKey(provider, subject));
  }

  /** The keys of the names that answers showed. */
  protected knownNames(): readonly string[] {
    return [...this.#names.keys()];
  }

  #showName(key: string, records: readonly ShownRecord[]): void {
    const name = this.name(key);
    const addresses = records.map(({ content }) => content);
    name.reads += 1;
    name.last = "read";
    name.sets.unshift([...new Set(addresses)].toSorted().join(" "));
  }

  #show(shown: Reading, operation: string, isObserving: boolean): void {
    if (operation === "get" || (operation === "list" && isObserving)) this.seen.set(shown.ip, shown);
    const isSecondHand = operation === "list" || operation === "machine";
    const isKnown =
      this.singly.has(shown.ip) || (this.everSingly.has(shown.ip) && this.newest.get(shown.ip) !== "failed");
    if (!isSecondHand || !isKnown) this.newest.set(shown.ip, shown);
    else if (operation === "list") this.listed.set(shown.ip, shown);
  }
}

/** The records of a page of a zone, or of one name, as either adapter has read them. */
function shownRecords({ subject }: SimCall, page: unknown): readonly ShownRecord[] {
  // A webhook shows sets, all that it has.
  if (Array.isArray(page))
    return (page as readonly Endpoint[])
      .filter(({ type }) => isAddressType(type))
      .flatMap(({ fqdn, type, targets }) => targets.map((content) => ({ fqdn: textOf(fqdn, type), content })));
  return (page as RecordPage).items.flatMap((item) => {
    // Hetzner shows sets, and in a list of a whole zone as much of each as could be read.
    const set = item.set ?? item;
    if (set.records !== undefined || item.type !== undefined)
      return isAddressType(item.type)
        ? (set.records ?? []).map(({ value }) => ({ fqdn: textOf(item.fqdn ?? subject, item.type), content: value }))
        : [];
    const own = item.value ?? item;
    const { fqdn = subject, record = own } = own;
    const content = record.address ?? record.ip;
    return content === undefined ? [] : [{ fqdn, content }];
  });
}

function isAddressType(type: string | undefined): boolean {
  return type === "A" || type === "AAAA";
}

/** The set of records of a name; the subject of a call says already which one it is about. */
function textOf(fqdn: string, type: string | undefined): string {
  return type === "AAAA" ? setText({ fqdn: setNamed(fqdn).fqdn, type }) : fqdn;
}

/** An address stands under `ip` at DigitalOcean and under `address` at Cloudflare, and in a list of a whole zone one level deeper. */
interface RecordPage {
  readonly items: readonly (RecordItem & { readonly value?: RecordItem })[];
}

interface RecordItem {
  readonly type?: string;
  readonly set?: { readonly records?: readonly { readonly value: string }[] };
  readonly records?: readonly { readonly value: string }[];
  readonly fqdn?: string;
  readonly ip?: string;
  readonly address?: string;
  readonly record?: { readonly ip?: string; readonly address?: string };
}

function isWithin(fqdn: string, zoneKey: string): boolean {
  return setNamed(fqdn).fqdn.endsWith(`.${zoneKey.slice(zoneKey.indexOf(" ") + 1)}`);
}

/** The addresses that an answer shows, and where. */
function shownBy(call: SimCall, result: unknown): readonly Reading[] {
  switch (call.operation) {
    case "machine":
      return ((result ?? []) as readonly string[]).map((ip) => ({ ip, holderID: call.subject, isLocked: false }));
    case "list":
      return (result as { readonly addresses: readonly Reading[] }).addresses;
    case "get":
    case "create":
      return result === undefined ? [] : [result as Reading];
    default:
      return [];
  }
}
