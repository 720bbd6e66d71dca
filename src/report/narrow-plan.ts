import type { Action } from "../model/action.ts";
import type { Plan } from "../model/plan.ts";

/** Returns the plan with only the actions, holds, gaps and pools that concern one of the nodes or addresses; budget and id stay. */
export function narrowPlan(plan: Plan, nodes: readonly string[], ips: readonly string[]): Plan {
  if (nodes.length === 0 && ips.length === 0) return plan;
  const wanted = new Set<string | undefined>([...nodes, ...ips]);
  const actions = plan.actions.filter((action) => concerns(action).some((name) => wanted.has(name)));
  const place = new Map(plan.pools.flatMap(({ status }) => Object.entries(status.ips)));
  const holds = plan.holds.filter(
    ({ subject }) => wanted.has(subject) || wanted.has(place.get(subject)?.nodeName ?? ""),
  );
  const gaps = plan.gaps.filter(({ subject }) => subject === "" || wanted.has(subject));
  const named = new Set([...actions, ...holds].map(({ object }) => `${object.namespace}/${object.name}`));
  const pools = plan.pools.filter(
    ({ object, matching, notMatching, status }) =>
      named.has(`${object.namespace}/${object.name}`) ||
      [...matching, ...Object.keys(status.ips)].some((name) => wanted.has(name)) ||
      notMatching.some(({ nodeName }) => nodes.includes(nodeName)),
  );
  return { ...plan, actions, holds, gaps, pools };
}

function concerns(action: Action): readonly (string | undefined)[] {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
    case "unassign-ip":
    case "delete-ip":
      return [action.ip, action.before?.nodeName, action.after?.nodeName];
    case "acquire-ip":
      return "node" in action.after ? [action.after.node.nodeName] : [];
    case "annotate-node":
    case "clear-annotation":
      return [action.nodeName, action.before.address, action.after.address];
    default:
      return [];
  }
}
