import { type Action, refKey } from "../model/action.ts";
import type { Plan } from "../model/plan.ts";
import { dnsChange } from "./dns-change.ts";

/** What a plan is narrowed to. */
export interface PlanFocus {
  readonly nodes: readonly string[];
  readonly ips: readonly string[];
  /** Addresses that the nodes have: what becomes of them in DNS concerns the nodes. */
  readonly nodeAddresses: readonly string[];
}

/** Returns the plan with only the actions, holds, gaps and objects that concern one of the nodes or addresses; budget and id stay. */
export function narrowPlan(plan: Plan, { nodes, ips, nodeAddresses }: PlanFocus): Plan {
  if (nodes.length === 0 && ips.length === 0) return plan;
  const wanted = new Set<string | undefined>([...nodes, ...ips]);
  const published = new Set<string | undefined>([...ips, ...nodeAddresses]);
  const actions = plan.actions.filter((action) =>
    "fqdn" in action
      ? changed(action).some((address) => published.has(address))
      : concerns(action).some((name) => wanted.has(name)),
  );
  const place = new Map(plan.pools.flatMap(({ status }) => Object.entries(status.ips)));
  const holds = plan.holds.filter(
    ({ subject }) => wanted.has(subject) || wanted.has(place.get(subject)?.nodeName ?? ""),
  );
  const gaps = plan.gaps.filter(({ subject }) => subject === "" || wanted.has(subject));
  const named = new Set([...actions, ...holds].map(({ object }) => refKey(object)));
  const pools = plan.pools.filter(
    ({ object, matching, notMatching, status }) =>
      named.has(refKey(object)) ||
      [...matching, ...Object.keys(status.ips)].some((name) => wanted.has(name)) ||
      notMatching.some(({ nodeName }) => nodes.includes(nodeName)),
  );
  const recordSets = plan.recordSets.filter(
    ({ object, matching, notMatching, published: addresses = [] }) =>
      named.has(refKey(object)) ||
      matching.some((name) => nodes.includes(name)) ||
      notMatching.some(({ nodeName }) => nodes.includes(nodeName)) ||
      addresses.some((address) => ips.includes(address)),
  );
  return { ...plan, actions, holds, gaps, pools, recordSets };
}

function changed(action: Extract<Action, { readonly fqdn: string }>): readonly string[] {
  const { added, removed } = dnsChange(action);
  return [...added, ...removed];
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
