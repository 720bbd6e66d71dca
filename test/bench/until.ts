import { setTimeout } from "node:timers/promises";

/** How often is looked, milliseconds: what is timed by it is late by half of that. */
const LOOK_MS = 2;
const LONGEST_MS = 120_000;

/**
 * Waits for a look to show something, and returns that.
 * @throws Error when two minutes pass without it.
 */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  const startedAtMs = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() - startedAtMs > LONGEST_MS) throw new Error(`waited for two minutes in vain for ${what}`);
    await setTimeout(LOOK_MS);
  }
}
