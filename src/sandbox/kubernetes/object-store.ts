import { formatTime } from "../../model/time.ts";

/** One stored change, in the order of resource versions. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** `group/plural`, see {@link storeKey}. */
  readonly resource: string;
  readonly key: string;
  /** As it is after the change; a deleted object carries the resource version of its deletion. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
  readonly resourceVersion: number;
  readonly atMs: number;
}

/** The name of a resource in the store, whatever its version. */
export function storeKey(type: {
  readonly group: string;
  readonly plural: string;
  readonly view?: { readonly storedAs: string };
}): string {
  return type.view?.storedAs ?? `${type.group}/${type.plural}`;
}

/** History is compacted after this time, as kube-apiserver asks etcd to by default (verified 2026-08). */
const HISTORY_MS = 300_000;

/** All objects under one counter of resource versions, with the recent history for watches and consistent pages. */
export class ObjectStore {
  private readonly resources = new Map<string, Map<string, KubeObject>>();
  private readonly touched = new Map<string, number>();
  private readonly listeners = new Set<(change: Change) => void>();
  private readonly now: () => number;
  private history: Change[] = [];
  private current = 0;
  private compacted = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  /** The newest resource version. */
  get resourceVersion(): number {
    return this.current;
  }

  /** Continues counting after `resourceVersion`. */
  skipTo(resourceVersion: number): void {
    this.current = Math.max(this.current, resourceVersion);
  }

  /** One object; undefined when there is none. */
  get(resource: string, key: string): KubeObject | undefined {
    return this.resources.get(resource)?.get(key);
  }

  /** Every object of a resource, sorted by key. */
  all(resource: string): readonly KubeObject[] {
    return sorted(this.resources.get(resource)?.values() ?? []);
  }

  /** How often the objects of a resource were changed or put back: the same number, the same objects. */
  timesTouched(resource: string): number {
    return this.touched.get(resource) ?? 0;
  }

  /** Names of the resources that have, or had, objects. */
  resourceNames(): readonly string[] {
    return [...this.resources.keys()];
  }

  /** Every object of a resource as it was at a resource version; undefined when that history is no longer kept. */
  allAt(resource: string, resourceVersion: number): readonly KubeObject[] | undefined {
    this.forgetOldHistory();
    if (resourceVersion < this.compacted) return undefined;
    const objects = new Map(this.resources.get(resource));
    for (const change of this.history.toReversed()) {
      if (change.resourceVersion <= resourceVersion) break;
      if (change.resource !== resource) continue;
      if (change.previous === undefined) objects.delete(change.key);
      else objects.set(change.key, change.previous);
    }
    return sorted(objects.values());
  }

  /** Stores an object under the next resource version and returns it with that. */
  put(resource: string, object: KubeObject): KubeObject {
    const key = keyOf(object.metadata);
    const previous = this.get(resource, key);
    const stored = this.stamp(object);
    this.of(resource).set(key, stored);
    this.record({ type: previous === undefined ? "ADDED" : "MODIFIED", resource, key, object: stored, previous });
    return stored;
  }

  /** Puts back an object with the resource version it carries, as after a restart: no history reaches before it. */
  restore(resource: string, object: KubeObject): void {
    this.of(resource).set(keyOf(object.metadata), object);
    this.skipTo(Number(object.metadata.resourceVersion));
    this.compact();
  }

  /** Removes an object and returns it with the resource version of its removal; undefined when there was none. */
  remove(resource: string, key: string): KubeObject | undefined {
    const previous = this.get(resource, key);
    if (previous === undefined) return undefined;
    const removed = this.stamp(previous);
    this.of(resource).delete(key);
    this.record({ type: "DELETED", resource, key, object: removed, previous });
    return removed;
  }

  /** The changes after a resource version, oldest first; undefined when they are no longer all kept. */
  changesAfter(resourceVersion: number): readonly Change[] | undefined {
    this.forgetOldHistory();
    if (resourceVersion < this.compacted) return undefined;
    return this.history.filter((change) => change.resourceVersion > resourceVersion);
  }

  /** Calls `listener` after every change, until the returned function is called. */
  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Forgets the whole history: older resource versions and continue tokens have expired from now on. */
  compact(): void {
    this.history = [];
    this.compacted = this.current;
  }

  private forgetOldHistory(): void {
    const oldest = this.now() - HISTORY_MS;
    const first = this.history.findIndex((change) => change.atMs >= oldest);
    const dropped = first === -1 ? this.history.length : first;
    if (dropped === 0) return;
    this.compacted = this.history[dropped - 1]?.resourceVersion ?? this.compacted;
    this.history = this.history.slice(dropped);
  }

  /** The objects of a resource, to be changed. */
  private of(resource: string): Map<string, KubeObject> {
    this.touched.set(resource, this.timesTouched(resource) + 1);
    const objects = this.resources.get(resource) ?? new Map<string, KubeObject>();
    this.resources.set(resource, objects);
    return objects;
  }

  private stamp(object: KubeObject): KubeObject {
    this.current += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.current) } };
  }

  private record(change: Omit<Change, "resourceVersion" | "atMs">): void {
    const recorded = { ...change, resourceVersion: this.current, atMs: this.now() };
    this.history.push(recorded);
    // A long-lived in-memory store must not grow without end either.
    if (this.history.length % 1024 === 0) this.forgetOldHistory();
    for (const listener of this.listeners) listener(recorded);
  }
}

function sorted(objects: Iterable<KubeObject>): readonly KubeObject[] {
  return [...objects].sort((a, b) => {
    const left = keyOf(a.metadata);
    const right = keyOf(b.metadata);
    return left < right ? -1 : left > right ? 1 : 0;
  });
}

/** `metadata` of a stored object; the server's own fields are always there. */
interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly [key: string]: unknown;
}

/** A stored Kubernetes object. Never changed in place: a write stores a new one. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [key: string]: unknown;
}

/** The key of an object within its resource: `NAMESPACE/NAME`, or `NAME` when it is cluster-scoped. Sorts as etcd does. */
export function keyOf(metadata: { readonly namespace?: unknown; readonly name?: unknown }): string {
  const name = String(metadata.name ?? "");
  return typeof metadata.namespace === "string" && metadata.namespace !== "" ? `${metadata.namespace}/${name}` : name;
}

/** A time as Kubernetes writes it in metadata: RFC 3339, whole seconds. */
export function timestamp(ms: number): string {
  return formatTime(ms).replace(/\.\d{3}Z$/, "Z");
}

/** A decoded JSON object that nobody changes in place. */
export type JSONObject = Readonly<Record<string, unknown>>;

/** True for a JSON object; false for null, arrays and scalars. */
export function isObject(value: unknown): value is JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of keys; undefined when any step is missing. */
export function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  let current = value;
  for (const key of keys) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** The object at a path of keys; `{}` when there is none. */
export function objectAt(value: unknown, ...keys: readonly string[]): JSONObject {
  const found = valueAt(value, ...keys);
  return isObject(found) ? found : {};
}

/** The text at a path of keys; `""` when there is none. */
export function textAt(value: unknown, ...keys: readonly string[]): string {
  const found = valueAt(value, ...keys);
  return typeof found === "string" ? found : "";
}

/** The array at a path of keys; `[]` when there is none. */
export function arrayAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...keys);
  return Array.isArray(found) ? found : [];
}

/** The value of a JSON text; undefined for what is none. */
export function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy without these keys; the order of the others stays. */
export function omit(object: JSONObject, ...keys: readonly string[]): JSONObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** A copy without the keys whose value is undefined. */
export function compact(object: JSONObject): JSONObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** JSON text with sorted keys: equal for equal values, whatever order their keys came in. Undefined members are left out. */
export function canonicalJSON(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJSON(item ?? null)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJSON(value[key])}`);
  return `{${members.join(",")}}`;
}
