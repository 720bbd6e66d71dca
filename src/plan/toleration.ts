import type { Taint } from "../model/node.ts";
import type { Toleration } from "../model/resource.ts";

/**
 * Whether a taint is tolerated now. Kubernetes' rule, for any effect: an empty effect tolerates every effect, an empty key with `Exists` every key, `Equal` is the
 * default operator. `tolerationSeconds` counts from the taint's `timeAdded`; a taint without one is tolerated without end.
 */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[], nowMs: number): boolean {
  return tolerations.some((toleration) => covers(toleration, taint) && !isOver(toleration, taint, nowMs));
}

function isOver({ tolerationSeconds }: Toleration, { timeAddedMs }: Taint, nowMs: number): boolean {
  if (tolerationSeconds === undefined || timeAddedMs === undefined) return false;
  return Math.min(timeAddedMs, nowMs) + Math.max(0, tolerationSeconds) * 1000 <= nowMs;
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
