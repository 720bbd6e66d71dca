import type { ObjectMeta } from "../../model/resource.ts";
import type { LeaseRecord, Overlay } from "../../ports/cluster.ts";
import type { Clock } from "../../ports/system.ts";
import type { Answer, Call } from "./call.ts";
import type { PageSource } from "./lists.ts";
import type { Confirmation, Transport } from "./transport.ts";

/*
 * What the reader and the writer of a cluster are built from. Who only reads gets nothing that could write.
 */

/** What a reader is built from: it can send GETs, and nothing else. */
export interface ReadAccess extends PageSource {
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly close: () => void;
  /** Keeps what is read, for who writes later. */
  readonly seen?: SeenObjects;
  /** Absent = custom objects are seen as they are. */
  readonly overlay?: Overlay;
}

/** What a transport can do for who only reads. */
export function readAccess(transport: Transport): ReadAccess {
  return {
    connection: transport.connection,
    send: (call, receive) => transport.read(call, receive),
    nowMs: () => transport.nowMs(),
    close: () => transport.close(),
    clock: transport.clock,
  };
}

/** What a writer is built from, beside what a reader is. */
export interface WriteAccess extends ReadAccess {
  /** The answer of any call that succeeded, see `Transport.send`. */
  readonly write: (call: Call, confirm?: Confirmation) => Promise<Answer>;
  /** See `Transport.logIn`. */
  readonly logIn: () => Promise<void>;
  readonly seen: SeenObjects;
}

/** Everything that a transport can do, for who may write. */
export function writeAccess(transport: Transport): WriteAccess & Pick<Transport, "open"> {
  return {
    ...readAccess(transport),
    send: (call, receive) => transport.send(call, { receive }),
    write: (call, confirm) => transport.send(call, { confirm }),
    logIn: () => transport.logIn(),
    open: transport.open.bind(transport),
    seen: new SeenObjects(),
  };
}

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
