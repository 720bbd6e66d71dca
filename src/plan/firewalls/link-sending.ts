import type { Action } from "../../model/action.ts";
import type { Hold } from "../../model/plan.ts";
import type { Decision } from "../addresses/decide-pools.ts";
import { dropActions } from "../drop-actions.ts";
import type { Extension } from "./extend-firewall.ts";
import type { FirewallWork } from "./firewall-memory.ts";
import { destinationOf, type Sending } from "./firewall-target.ts";

/** Every sending action behind what its machine needs; those to machines that cannot be put behind the firewall are held. Pure. */
export function linkSending(decisions: readonly Decision[], works: readonly FirewallWork[]): readonly Decision[] {
  const before = new Map(
    works.flatMap(({ sending, extension }) =>
      sending.map((action) => [action.id, neededBy(action, extension)] as const),
    ),
  );
  const link = <A extends Action>(action: A): A => {
    const ids = before.get(action.id) ?? [];
    return ids.length === 0 ? action : { ...action, requires: [...action.requires, ...ids] };
  };
  const linkedDecisions = decisions.map((decision) => {
    const { actions, assignments } = decision;
    const own = assignments === undefined ? undefined : { ...assignments, actions: assignments.actions.map(link) };
    return { ...decision, actions: actions.map(link), assignments: own };
  });
  return dropActions(linkedDecisions, new Map(works.flatMap(refusals)));
}

function neededBy(action: Sending, { before }: Extension): readonly string[] {
  return before.get(destinationOf(action) ?? "") ?? [];
}

function refusals({
  view,
  sending,
  extension,
}: FirewallWork): readonly (readonly [string, Omit<Hold, "kind" | "object">])[] {
  return sending.flatMap((action) => {
    const refusal = extension.refused.get(destinationOf(action) ?? "");
    if (refusal === undefined) return [];
    const { reason, detail, needsPerson, waitsFor } = refusal;
    const wait = waitsFor === undefined ? {} : { waitsFor };
    return [
      [action.id, { subject: "ip" in action ? action.ip : view.key, reason, detail, needsPerson, ...wait }] as const,
    ];
  });
}
