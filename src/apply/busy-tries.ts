import { nextTryMs, TRIES, waitMs } from "../model/waits.ts";

/** So long after its last refusal an address is taken to be busy for another reason, milliseconds. */
const FORGOTTEN_MS = 60_000;

interface Row {
  readonly refusals: number;
  /** When the last refusal came, monotonic milliseconds. */
  readonly atMs: number;
  /** The machines that it was refused for. */
  readonly machines: ReadonlySet<string>;
}

/**
 * How often, and when, a busy provider has refused changes of each address: one row of waits that goes on over machines and passes. A provider may not show whether it is busy with
 * the address or with a machine, so each other machine is tried once without a wait.
 */
export class BusyTries {
  /** By address, with its provider. */
  readonly #rows = new Map<string, Row>();

  /** Milliseconds until a change may be sent, at least 0. */
  dueInMs(address: string, machine: string, nowMs: number): number {
    const row = this.#row(address, nowMs);
    if (row === undefined || !row.machines.has(machine)) return 0;
    return Math.max(0, row.atMs + waitMs(TRIES.busyChange, row.refusals - 1) - nowMs);
  }

  /** Enters a refusal. Returns how many there were in a row, and how long to wait before the next try, milliseconds; undefined when the row is over. */
  refused(address: string, machine: string, nowMs: number): { readonly count: number; readonly nextMs?: number } {
    const before = this.#row(address, nowMs);
    const count = (before?.refusals ?? 0) + 1;
    this.#rows.set(address, {
      refusals: count,
      atMs: nowMs,
      machines: new Set([...(before?.machines ?? []), machine]),
    });
    const nextMs = nextTryMs(TRIES.busyChange, count - 1);
    return nextMs === undefined ? { count } : { count, nextMs };
  }

  /** Enters that an address is busy no more. */
  ended(address: string): void {
    this.#rows.delete(address);
  }

  #row(address: string, nowMs: number): Row | undefined {
    for (const [key, { atMs }] of this.#rows) if (nowMs - atMs > FORGOTTEN_MS) this.#rows.delete(key);
    return this.#rows.get(address);
  }
}
