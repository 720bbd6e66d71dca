import type { Reason } from "../model/reason.ts";
import type { PassResult } from "../model/run.ts";

/** Returns the entries that are told with one of these reasons, in their order. Pure. */
export function toldWith<T extends { readonly reason: Reason }>(
  entries: readonly T[],
  reasons: readonly Reason[],
): readonly T[] {
  return entries.filter(({ reason }) => reasons.includes(reason));
}

/** Returns what a run left with what it says above the question: a person at a terminal needs no advice to come to one. Pure. */
export function aboveQuestion(result: PassResult): PassResult {
  const holds = result.remaining.holds.map((hold) =>
    hold.reason === "NotConfirmed" ? { ...hold, advice: "The question below asks for it." } : hold,
  );
  return { ...result, remaining: { ...result.remaining, holds } };
}
