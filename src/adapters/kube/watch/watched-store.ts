import { isDeepStrictEqual } from "node:util";
import type { ClusterChange } from "../../../ports/cluster.ts";
import { asRecord, asText, isCutOff, isOdd } from "../json.ts";
import { metadataField } from "../metadata.ts";
import { decodeItem, type Fields } from "../protobuf.ts";

/** How the objects of a store are compared. */
export interface StoreRules<T> {
  /** The facts without what changes although a plan sees no difference. */
  readonly visible: (facts: T) => unknown;
  /** The same without what flipop itself writes. */
  readonly foreign: (facts: T) => unknown;
}

type Entry<T> = ObservedVersion<T> & { readonly facts: T };

/**
 * The objects of one list, in memory. Whatever arrives twice, late or in the wrong order changes nothing that is newer:
 *
 * 1. The highest resourceVersion of each object stays.
 * 2. The version at which an object ended is remembered until a whole list or a bookmark is newer.
 * 3. An object that is older than such a list or bookmark is no news.
 * 4. A whole list that is older than it is refused: it would bring back what has ended since.
 * 5. An object that is here as it was before a whole list counts as the list shows it, even if that is older: then its history was set back.
 */
export class WatchedStore<T> {
  readonly #rules: StoreRules<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #ends = new Map<string, string>();
  /** Up to here everything is known, about objects that are not here, too. */
  #completeTo = "";
  /** The keys in order, and the facts at the same places. */
  #order: string[] = [];
  #values: T[] = [];
  /** True once the array of facts is in somebody's hands, who relies on it. */
  #isLent = false;

  constructor(rules: StoreRules<T>) {
    this.#rules = rules;
  }

  /** Every object's facts, sorted by key. The array is the same until something changes, and never changes itself. */
  values(): readonly T[] {
    this.#isLent = true;
    return this.#values;
  }

  /** An object as it is here; undefined when it is not. */
  get(key: string): ObservedVersion<T> | undefined {
    return this.#entries.get(key);
  }

  /** Takes note of an object. True when a plan can see the difference. */
  see(observed: ObservedVersion<T>): boolean {
    return isNews(observed.version, this.#completeTo) && this.#accept(observed);
  }

  /** Takes note of an object's end. True when it was here. */
  remove(key: string, version: string): boolean {
    return isNews(version, this.#completeTo) && this.#end(key, version);
  }

  /**
   * Takes over a whole list as it was at a version; newer objects here stay. Returns the keys of the objects in which a plan can see a difference.
   * Refuses a list that {@link isBehind}: returns undefined and changes nothing.
   */
  replace(items: readonly ObservedVersion<T>[], version: string): readonly string[] | undefined {
    if (this.isBehind(version)) return undefined;
    const changed = this.#entries.size === 0 ? this.#fill(items) : this.#merge(items, version);
    this.completeTo(version);
    return changed;
  }

  /** True if a list of this version is known to be older than the last whole list or bookmark. */
  isBehind(version: string): boolean {
    return isAfter(this.#completeTo, version);
  }

  /** Notes that everything up to this version is known. Older objects are no news, and older lists are refused, from now on. Text that is no number changes nothing. */
  completeTo(version: string): void {
    this.#completeTo = laterVersion(this.#completeTo, version);
    if (this.#completeTo !== version) return;
    for (const [key, end] of this.#ends) if (!isAfter(end, version)) this.#ends.delete(key);
  }

  /** Forgets all versions, so that whatever comes next counts as newer: for a cluster whose history was set back. */
  forgetVersions(): void {
    this.#completeTo = "";
    this.#ends.clear();
    for (const [key, entry] of this.#entries) this.#entries.set(key, { ...entry, version: "" });
  }

  /** True when two states of an object differ at most in what flipop itself writes. */
  isOwnDifference(before: ObservedVersion<T> | undefined, after: ObservedVersion<T> | undefined): boolean {
    if (before?.facts === undefined || after?.facts === undefined) return false;
    const { foreign } = this.#rules;
    return isDeepStrictEqual(foreign(before.facts), foreign(after.facts));
  }

  #accept(observed: ObservedVersion<T>): boolean {
    const { key, version } = observed;
    const before = this.#entries.get(key);
    if (!isNews(version, before?.version ?? this.#ends.get(key))) return false;
    if (!counts(observed)) return this.#end(key, version);
    this.#ends.delete(key);
    this.#entries.set(key, observed);
    this.#put(key, observed.facts, before === undefined);
    return before === undefined || !this.#isSame(before, observed);
  }

  #end(key: string, version: string): boolean {
    const before = this.#entries.get(key);
    if (before !== undefined && isAfter(before.version, version)) return false;
    if (isNews(version, this.#ends.get(key))) this.#ends.set(key, version);
    if (before === undefined) return false;
    this.#entries.delete(key);
    const place = this.#place(key);
    this.#order.splice(place, 1);
    this.#ownValues().splice(place, 1);
    return true;
  }

  #merge(items: readonly ObservedVersion<T>[], version: string): readonly string[] {
    for (const { key } of items) this.#doubt(key, version);
    const changed = items.filter((item) => this.#accept(item)).map(({ key }) => key);
    const listed = new Set(items.map(({ key }) => key));
    for (const key of this.#entries.keys()) {
      if (!listed.has(key) && this.#end(key, version)) changed.push(key);
    }
    return changed;
  }

  /** An empty store takes a list without searching a place for each object. */
  #fill(items: readonly ObservedVersion<T>[]): readonly string[] {
    for (const item of items)
      if (counts(item) && isNews(item.version, this.#entries.get(item.key)?.version ?? this.#ends.get(item.key)))
        this.#entries.set(item.key, item);
    this.#order = [...this.#entries.keys()].sort();
    this.#values = this.#order.flatMap((key) => this.#entries.get(key)?.facts ?? []);
    this.#isLent = false;
    return this.#order.slice();
  }

  /** Forgets the version of an object, or that it has ended, where a whole list of this version is at least as new: then the object counts as the list shows it. */
  #doubt(key: string, version: string): void {
    const isCovered = (seen: string | undefined): boolean =>
      seen !== undefined && (compareVersions(seen, version) ?? 1) <= 0;
    const entry = this.#entries.get(key);
    if (entry !== undefined && isCovered(entry.version)) this.#entries.set(key, { ...entry, version: "" });
    if (isCovered(this.#ends.get(key))) this.#ends.delete(key);
  }

  #isSame(before: Entry<T>, after: Entry<T>): boolean {
    if (before.mark !== undefined && before.mark === after.mark) return true;
    const { visible } = this.#rules;
    return before.facts === after.facts || isDeepStrictEqual(visible(before.facts), visible(after.facts));
  }

  #put(key: string, facts: T, isNew: boolean): void {
    const place = this.#place(key);
    const values = this.#ownValues();
    if (isNew) {
      this.#order.splice(place, 0, key);
      values.splice(place, 0, facts);
    } else values[place] = facts;
  }

  #ownValues(): T[] {
    if (this.#isLent) this.#values = this.#values.slice();
    this.#isLent = false;
    return this.#values;
  }

  /** Index of the key in the order, or where it belongs. */
  #place(key: string): number {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#order[middle] ?? "") < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function counts<T>(observed: ObservedVersion<T>): observed is Entry<T> {
  return observed.facts !== undefined;
}

/** True unless `version` is known to be as old as `than`, or older: where versions say nothing, what comes later is newer. */
function isNews(version: string, than: string | undefined): boolean {
  return than === undefined || (compareVersions(version, than) ?? 1) > 0;
}

/** True when `version` is known to be newer than `than`. */
function isAfter(version: string, than: string): boolean {
  return (compareVersions(version, than) ?? 0) > 0;
}

/** The fields that name an object and its version. */
const IDENTITY_FIELDS: Fields = {
  1: metadataField("namespace"),
};

const DECIMAL = /^[1-9]\d*$/;

/**
 * Which of two resourceVersions of one kind is newer: negative, zero or positive as of numbers; undefined when one of them is no number, so that nobody can tell.
 * They may have any length, which is why they are compared as text. Pure.
 * @see https://github.com/kubernetes/enhancements/issues/5504 (comparable resource versions), verified 2026-08
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns the version to go on from: `next` if it is known to be newer, else `present`. Text that is no number replaces only text; `""` replaces nothing. Pure.
 */
export function laterVersion(present: string, next: string): string {
  const order = compareVersions(next, present);
  if (order !== undefined) return order > 0 ? next : present;
  return next === "" || DECIMAL.test(present) ? present : next;
}

/** Names one version of one object. */
export interface Identity {
  /** See {@link keyOf}. */
  readonly key: string;
  readonly version: string;
}

/** One object as a list or an event shows it. */
export interface ObservedVersion<T> extends Identity {
  /** Undefined for an object that is there and does not count, such as a pod without a node. */
  readonly facts: T | undefined;
  /** The same on two observed versions of an object whose facts differ at most in their version; absent where nobody has made one. */
  readonly mark?: string;
}

/** Names an object within a list. Keys sort as namespaces do, then as names do. */
export function keyOf(meta: { readonly namespace?: string; readonly name: string }): string {
  return `${meta.namespace ?? ""}\0${meta.name}`;
}

/** The key for people. */
export function subjectOf(key: string): ClusterChange["subject"] {
  return key.startsWith("\0") ? key.slice(1) : key.replace("\0", "/");
}

/**
 * Key and resourceVersion of any object, in JSON or decoded from protobuf. Undefined if the name or the namespace cannot be read.
 * Metadata that ends too early may have lost its namespace, unless the resourceVersion is there: it comes after the namespace.
 */
export function identityOf(object: unknown): Identity | undefined {
  const metadata = asRecord(asRecord(object)?.["metadata"]);
  const name = asText(metadata?.["name"]);
  const namespace = asText(metadata?.["namespace"]) ?? "";
  const version = asText(metadata?.["resourceVersion"]) ?? "";
  const isMissing = namespace === "" && version === "" && isCutOff(metadata);
  const isUnsure = isMissing || isOdd(metadata?.["namespace"], asText);
  return name === undefined || isUnsure ? undefined : { key: keyOf({ namespace, name }), version };
}

/** Key and resourceVersion of an object in protobuf, without reading the rest. Undefined as for {@link identityOf}. */
export function packedIdentity(message: Buffer): Identity | undefined {
  return identityOf(decodeItem(message, IDENTITY_FIELDS));
}
