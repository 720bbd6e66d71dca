import type { Plan } from "../model/plan.ts";
import { objectKey } from "../model/resource.ts";

/** How long the addresses of a record set must have stood still before its records follow, milliseconds. */
const QUIET_MS = 500;
/** The longest that records wait for that, milliseconds. */
const LONGEST_MS = 5500;

interface Wish {
  /** The addresses that were wanted last. */
  readonly addresses: string;
  /** Since when it is these, and since when the records differ at all; milliseconds of the plans' clock. */
  readonly sinceMs: number;
  readonly firstMs: number;
}

/**
 * Holds changes of a record set's name back while its nodes are just changing: at DigitalOcean every change costs a list of the name, and many nodes that leave or join one
 * after the other would cost as many. Addresses of pools wait for nothing: they follow their nodes, and their names stay the same.
 */
export class NameSettler {
  /** By {@link objectKey} of the record set. */
  #wishes: ReadonlyMap<string, Wish> = new Map();

  /**
   * The record sets whose names are to wait, by {@link objectKey}, and until when, milliseconds.
   *
   * @param unread - record sets of whose records the plan knows nothing yet, by {@link objectKey}: what they wished for before stands
   */
  waiting({ actions, observedAtMs: nowMs }: Plan, unread: ReadonlySet<string>): ReadonlyMap<string, number> {
    const wishes = new Map([...this.#wishes].filter(([key]) => unread.has(key)));
    const waiting = new Map<string, number>();
    for (const action of actions) {
      if (action.kind !== "update-dns" || action.object.kind !== "dns") continue;
      const key = objectKey(action.object);
      const wish = wishFor(this.#wishes.get(key), action.after.addresses.join(), nowMs);
      const untilMs = Math.min(wish.sinceMs + QUIET_MS, wish.firstMs + LONGEST_MS);
      if (untilMs <= nowMs) continue;
      wishes.set(key, wish);
      waiting.set(key, untilMs);
    }
    this.#wishes = wishes;
    return waiting;
  }
}

/** A clock that was set back begins the wait anew: nothing waits longer than it may. */
function wishFor(before: Wish | undefined, addresses: string, nowMs: number): Wish {
  if (before === undefined || before.firstMs > nowMs || before.sinceMs > nowMs)
    return { addresses, sinceMs: nowMs, firstMs: nowMs };
  return before.addresses === addresses ? before : { ...before, addresses, sinceMs: nowMs };
}
