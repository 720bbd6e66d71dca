import { type KubeObject, keyOf } from "./kube-object.ts";

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
export function storeKey(type: { readonly group: string; readonly plural: string }): string {
  return `${type.group}/${type.plural}`;
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
