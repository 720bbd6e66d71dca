import type { Condition, ObjectMeta } from "../model/resource.ts";
import { oneLine } from "./one-line.ts";

/** The Ready condition of an object, as far as it speaks of the present spec; Unknown while it speaks of an older one. */
export interface Readiness {
  readonly ready: Condition["status"];
  /** `""` when there is none for this spec. */
  readonly reason: string;
  readonly message: string;
}

/** Returns how ready an object is by its stored status. */
export function readinessOf({
  meta,
  status,
}: {
  readonly meta: ObjectMeta;
  readonly status: { readonly conditions: readonly Condition[] };
}): Readiness {
  const condition = status.conditions.find(({ type }) => type === "Ready");
  if (condition === undefined) {
    return { ready: "Unknown", reason: "", message: "no run has looked at it yet; run flipop reconcile" };
  }
  return condition.observedGeneration >= meta.generation
    ? { ready: condition.status, reason: condition.reason, message: condition.message }
    : { ready: "Unknown", reason: "", message: "the spec was changed after the last run" };
}

/** Returns `NoActiveIP: no address is active`, or the message alone where there is no reason. */
export function whyReady({ reason, message }: Readiness): string {
  return [reason, oneLine(message)].filter((part) => part !== "").join(": ");
}
