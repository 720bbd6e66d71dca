import type { ObjectMeta, Pool } from "../../model/resource.ts";
import type { LeaseRecord } from "../../ports/cluster.ts";

/** A pool as decoded, and the object it was decoded from. */
export interface SeenPool {
  readonly pool: Pool;
  readonly object: unknown;
}

/**
 * The objects as the server sent them, kept beside what was decoded of them, because a write must respect what flipop does
 * not decode. A pool's is found by the identity of its `meta` and goes when that goes; of a Lease the newest is kept. Never
 * stale in effect: every write that uses one carries the resourceVersion it was read at.
 */
export class SeenObjects {
  readonly #pools = new WeakMap<ObjectMeta, SeenPool>();
  readonly #leases = new Map<string, { readonly resourceVersion: string; readonly object: unknown }>();

  /** Remembers a pool. */
  addPool(pool: Pool, object: unknown): void {
    this.#pools.set(pool.meta, { pool, object });
  }

  /** The pool this very `meta` belongs to; undefined for a copy of it. */
  poolOf(meta: ObjectMeta): SeenPool | undefined {
    return this.#pools.get(meta);
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
