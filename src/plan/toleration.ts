import type { Taint } from "../model/node.ts";
import type { Toleration } from "../model/resource.ts";

/** Whether a taint is tolerated now, as {@link toleratedUntilMs} says. Pure. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[], nowMs: number): boolean {
  return toleratedUntilMs(taint, tolerations, nowMs) !== undefined;
}

/**
 * Returns until when a taint is tolerated, milliseconds; `Infinity` = without end, undefined = it is not tolerated now. Kubernetes' rule, for any effect: an empty
 * effect tolerates every effect, an empty key with `Exists` every key, `Equal` is the default operator. `tolerationSeconds` counts from the taint's `timeAdded`; a
 * taint without one is tolerated without end. Pure.
 */
export function toleratedUntilMs(taint: Taint, tolerations: readonly Toleration[], nowMs: number): number | undefined {
  const ends = tolerations.flatMap((toleration) =>
    covers(toleration, taint) && !isOver(toleration, taint, nowMs) ? [endMs(toleration, taint)] : [],
  );
  return ends.length === 0 ? undefined : Math.max(...ends);
}

function isOver({ tolerationSeconds }: Toleration, { timeAddedMs }: Taint, nowMs: number): boolean {
  if (tolerationSeconds === undefined || timeAddedMs === undefined) return false;
  return Math.min(timeAddedMs, nowMs) + Math.max(0, tolerationSeconds) * 1000 <= nowMs;
}

function endMs({ tolerationSeconds }: Toleration, { timeAddedMs }: Taint): number {
  if (tolerationSeconds === undefined || timeAddedMs === undefined) return Number.POSITIVE_INFINITY;
  return timeAddedMs + Math.max(0, tolerationSeconds) * 1000;
}

function covers(toleration: Toleration, taint: Taint): boolean {
  const effect = toleration.effect ?? "";
  const key = toleration.key ?? "";
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (toleration.operator ?? "") {
    case "Exists":
      return true;
    case "":
    case "Equal":
      return key !== "" && (toleration.value ?? "") === taint.value;
    default:
      return false;
  }
}
