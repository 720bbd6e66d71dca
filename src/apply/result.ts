import type { Address } from "../model/address.ts";
import type { Reason } from "../model/reason.ts";
import type { Learned, Outcome } from "../model/run.ts";

type WithoutAction<T> = T extends unknown ? Omit<T, "action" | "ms" | "endedAtMs"> : never;

/** An outcome before the action and its duration are added. */
export type Result = WithoutAction<Outcome>;

/** Done and seen. */
export function applied(
  facts: { readonly address?: Address; readonly learned?: readonly Learned[]; readonly acceptedAtMs?: number } = {},
): Result {
  return { outcome: "applied", ...facts };
}

/** Not done, and no error. */
export function skipped(reason: Reason, detail = "", learned: readonly Learned[] = []): Result {
  return { outcome: "skipped", reason, detail, learned };
}

/** Tried and refused; what was learned on the way is kept. */
export function failed(
  error: Error,
  facts: { readonly learned?: readonly Learned[]; readonly acceptedAtMs?: number } = {},
): Result {
  return { outcome: "failed", error, ...facts };
}

/** A reading of an address as something learned: undefined = the provider does not know it. */
export function learn(ip: string, address: Address | undefined): Learned {
  return { ip, fact: address === undefined ? { kind: "gone" } : { kind: "known", address } };
}
