// How the objects of the cluster are reached as people and other controllers reach them.
import type { Rest } from "./backend.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What every kind of object needs to be reached. */
export interface ObjectAccess {
  readonly rest: Rest;
  readonly clock: Pick<VirtualClock, "nowMs">;
  readonly prefix: string;
  /** The provider of addresses of this world. */
  readonly provider: string;
}

/** A pool or another object as far as scenarios look into one. */
export interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}
