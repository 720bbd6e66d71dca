import { isDeepStrictEqual } from "node:util";
import { type Failure, failureOf, isPossible, type SimCall } from "./faults.ts";
import type { Strike } from "./history.ts";

/** How long a frozen process stands still, milliseconds: longer than its Lease lasts, shorter than its run may. */
const FROZEN_MS = 17_000;

/** Finds the one call of a history that a strike is meant for. */
export class Blow {
  readonly #strike: Strike | undefined;
  readonly #answers = new Map<string, unknown[]>();
  #calls = 0;

  constructor(strike: Strike | undefined) {
    this.#strike = strike;
  }

  /** Counts a call, and returns the strike if it is meant for this one. */
  next(): Strike | undefined {
    this.#calls += 1;
    return this.#strike?.call === this.#calls ? this.#strike : undefined;
  }

  /** The answer of a reading call: the true one, or an older one if it is struck so. */
  async answer<T>(call: SimCall, struck: Strike | undefined, isStale: boolean, effect: () => Promise<T>): Promise<T> {
    const truth = await effect();
    const isKept = this.#strike?.how?.startsWith("stale") === true || call.side === "dns" || call.side === "firewall";
    if (!isKept || call.operation.endsWith("-lease")) return truth;
    const key = JSON.stringify([call.provider, call.operation, call.subject, call.isWholeZone === true, call.args]);
    const known = this.#answers.get(key) ?? [];
    if (known.length === 0 || !isDeepStrictEqual(known.at(-1), truth)) known.push(truth);
    this.#answers.set(key, known);
    if (struck?.how?.startsWith("stale") !== true && !isStale) return truth;
    return known[Math.max(0, known.length - 1 - (struck?.back ?? 1))] as T;
  }
}

/** When the process that makes the struck call dies. */
export function deathOf(struck: Strike | undefined): "before" | "after" | undefined {
  if (struck?.how === "dies-before") return "before";
  return struck?.how === "dies-after" ? "after" : undefined;
}

/** How long the process that makes the struck call stands still after it, milliseconds. */
export function frozenMsOf(struck: Strike | undefined): number {
  return struck?.how === "freezes" ? FROZEN_MS : 0;
}

/** How the struck call fails, where a call of its kind can fail so. */
export function failureBy(struck: Strike | undefined, call: SimCall, nowMs: number): Failure | undefined {
  const how = struck?.how;
  if (how === undefined || how === "dies-before" || how === "dies-after" || how === "freezes" || how === "stale")
    return undefined;
  if (how === "stale-pass") return undefined;
  return isPossible(how, call) ? failureOf(how, call, nowMs) : undefined;
}
