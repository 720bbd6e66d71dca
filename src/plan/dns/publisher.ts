import type { ObjectRef } from "../../model/action.ts";
import type { DNSMemory, ObjectMeta, ReclaimPolicy, RetryStatus } from "../../model/resource.ts";
import type { DNSWish } from "./dns-wish.ts";
import type { NameTarget } from "./name-target.ts";

/** An object that publishes addresses under a name, or once did: a pool or a record set, as DNS sees it. */
export interface Publisher {
  readonly ref: ObjectRef;
  readonly meta: ObjectMeta;
  readonly wish: DNSWish;
  readonly memory: DNSMemory;
  readonly retries: readonly RetryStatus[];
  readonly reclaimPolicy: ReclaimPolicy;
  readonly whenEmpty: "Keep" | "Delete";
  /** False when this run may not write for it, or nothing may be changed for it: not selected, suspended, invalid. */
  readonly isWritable: boolean;
  /** False when no run publishes anything for it, as it is now: suspended, invalid. */
  readonly mayPublish: boolean;
  /** Addresses it manages, also those that another object has as yet; empty for a record set. */
  readonly managed: readonly string[];
  /** Those of them that are given back to the provider with it. */
  readonly givenBack: readonly string[];
  /** When its records may follow addresses that are just changing, milliseconds; absent = now. */
  readonly settlesAtMs?: number;
  /** Where its records are, as far as was read; another object may own them. */
  readonly target: NameTarget;
}

/** The addresses an object has to publish. */
export interface ServedAddresses {
  /** Address → ids of the actions of this plan that must have succeeded first; none when it serves already. */
  readonly serving: ReadonlyMap<string, readonly string[]>;
  /** Neither added nor removed: could not be read, or on its way. */
  readonly undecided: ReadonlySet<string>;
}

/** The retry subject of a name. */
export function dnsSubject(fqdn: string): string {
  return `dns/${fqdn}`;
}
