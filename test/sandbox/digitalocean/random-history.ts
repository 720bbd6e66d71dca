import { ProviderError } from "../../../src/model/errors.ts";

/** A whole number from 0 to below the given one. */
export type Random = (below: number) => number;

/** Numbers that look random and are the same for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** One of the items. */
export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)] as T;
}

/** What a call came to, in a form to compare: its value, or its ProviderError without the request id. */
export async function resultOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await promise };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { requestID, message, ...facts } = { ...error, message: error.message };
    return { error: { ...facts, message } };
  }
}
