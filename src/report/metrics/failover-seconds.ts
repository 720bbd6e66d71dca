import { refKey } from "../../model/action.ts";
import { entryOf } from "../../model/address.ts";
import type { Plan } from "../../model/plan.ts";
import type { Outcome } from "../../model/run.ts";

/**
 * Returns how long each address that was moved off a node had not been served, seconds: from the first sight of its holder as not matching, as the plan that moved
 * it has it, until it was verified on another node. Moves whose beginning or end is not known are left out. Pure.
 */
export function failoverSeconds({ pools }: Plan, outcomes: readonly Outcome[]): readonly number[] {
  return outcomes.flatMap(({ action, outcome, endedAtMs }) => {
    if (outcome !== "applied" || endedAtMs === undefined) return [];
    if (action.kind !== "move-ip" && action.kind !== "assign-ip") return [];
    const pool = pools.find(({ object }) => refKey(object) === refKey(action.object));
    const sinceMs = Date.parse(entryOf(pool?.status.ips ?? {}, action.ip)?.notMatchingSince ?? "");
    return Number.isNaN(sinceMs) ? [] : [Math.max(0, endedAtMs - sinceMs) / 1000];
  });
}
