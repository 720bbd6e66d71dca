import type { ObjectMeta } from "../../model/resource.ts";
import type { LeaseRecord } from "../../ports/cluster.ts";

/**
 * The objects as the server sent them, kept beside what was decoded of them, because a write must respect what flipop does
 * not decode. That of a pool or record set is found by the identity of its `meta` and goes when that goes; of a Lease the
 * newest is kept. Never stale in effect: every write that uses one carries the resourceVersion it was read at.
 */
export class SeenObjects {
  readonly #objects = new WeakMap<ObjectMeta, unknown>();
  readonly #leases = new Map<string, { readonly resourceVersion: string; readonly object: unknown }>();

  /** Remembers a pool's or record set's object. */
  add(meta: ObjectMeta, object: unknown): void {
    this.#objects.set(meta, object);
  }

  /** The object this very `meta` was decoded from; undefined for a copy of it. */
  objectOf(meta: ObjectMeta): unknown {
    return this.#objects.get(meta);
  }

  /** Remembers a Lease in place of an older one. */
  addLease(lease: LeaseRecord, object: unknown): void {
    this.#leases.set(`${lease.namespace}/${lease.name}`, { resourceVersion: lease.resourceVersion, object });
  }

  /** The object of a Lease at its resourceVersion; undefined when another version was seen last. */
  leaseOf(lease: LeaseRecord): unknown {
    const seen = this.#leases.get(`${lease.namespace}/${lease.name}`);
    return seen?.resourceVersion === lease.resourceVersion ? seen.object : undefined;
  }
}
