import type { Condition, ObjectMeta } from "../model/resource.ts";

/** The Ready condition of an object, as far as it speaks of the present spec; Unknown while it speaks of an older one. */
export interface Readiness {
  readonly ready: Condition["status"];
  /** `""` when there is none for this spec. */
  readonly reason: string;
  readonly message: string;
  /** What a person must act on, also of an object that is ready; absent while nothing is, or while the condition speaks of an older spec. */
  readonly stalled?: Problem;
}

/** A condition that says what is wrong. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

interface Conditioned {
  readonly meta: ObjectMeta;
  readonly status: { readonly conditions: readonly Condition[] };
}

/** Returns how ready an object is by its stored status, and what of it waits for a person. */
export function readinessOf(object: Conditioned): Readiness {
  const stalled = conditionOf(object, "Stalled");
  const problem =
    stalled?.status === "True" && isOfThisSpec(stalled, object)
      ? { stalled: { reason: stalled.reason, message: stalled.message } }
      : {};
  const condition = conditionOf(object, "Ready");
  if (condition === undefined)
    return { ready: "Unknown", reason: "", message: "no run has looked at it yet; run flipop reconcile", ...problem };
  return isOfThisSpec(condition, object)
    ? { ready: condition.status, reason: condition.reason, message: condition.message, ...problem }
    : { ready: "Unknown", reason: "", message: "the spec was changed after the last run", ...problem };
}

function conditionOf({ status }: Conditioned, wanted: string): Condition | undefined {
  return status.conditions.find(({ type }) => type === wanted);
}

function isOfThisSpec({ observedGeneration }: Condition, { meta }: Conditioned): boolean {
  return observedGeneration >= meta.generation;
}

/** Returns what is wrong with an object, one sentence each: that it is not ready, and what of it waits for a person where that is something else. */
export function problemsOf(name: string, row: Readiness): readonly string[] {
  const { ready, stalled, message } = row;
  return [
    ...(ready === "True" ? [] : [`${name} is not ready: ${whyReady(row)}`]),
    ...(stalled === undefined || (ready !== "True" && stalled.message === message)
      ? []
      : [`${name} waits for a person: ${stalled.reason}: ${stalled.message}`]),
  ];
}

/** Returns `NoActiveIP: no address is active`, or the message alone where there is no reason. */
export function whyReady({ reason, message }: Readiness): string {
  return [reason, message].filter((part) => part !== "").join(": ");
}
