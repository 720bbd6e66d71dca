import { type Action, refKey, type WriteDNS } from "../model/action.ts";
import { ACTIONS, changesFirewall, changesName } from "../model/action-kinds.ts";
import { shownAddresses } from "../model/annotated.ts";
import { announcedActions, type Hold, type Plan } from "../model/plan.ts";
import { isRouted } from "./overview.ts";
import { dnsChange } from "./text/actions.ts";

/** What a plan is narrowed to. */
export interface PlanFocus {
  readonly nodes: readonly string[];
  readonly ips: readonly string[];
  /** Addresses that the nodes have: what becomes of them in DNS concerns the nodes. */
  readonly nodeAddresses: readonly string[];
}

/** Returns the plan with only the actions, holds, gaps and objects that concern one of the nodes or addresses; the budget is still that of the whole plan, and the id stays. Focus on nothing = the plan itself. */
export function narrowPlan(plan: Plan, { nodes, ips, nodeAddresses }: PlanFocus): Plan {
  if (nodes.length === 0 && ips.length === 0) return plan;
  const wanted = new Set<string | undefined>([...nodes, ...ips]);
  const published = new Set<string | undefined>([...ips, ...nodeAddresses, ...boughtFor(nodes, plan)]);
  const routed = routedConcerns(plan);
  const isMeant = (action: Action): boolean =>
    changesName(action)
      ? changed(action).some((address) => published.has(address))
      : concerns(action, routed).some((name) => wanted.has(name));
  const actions = plan.actions.filter(isMeant);
  const followUps = plan.followUps.filter(isMeant);
  const suspended =
    plan.suspendedActions === undefined ? {} : { suspendedActions: plan.suspendedActions.filter(isMeant) };
  const place = new Map(plan.pools.flatMap(({ status }) => Object.entries(status.ips)));
  const holds = plan.holds.filter(
    ({ subject, object, kind }) =>
      wanted.has(subject) ||
      wanted.has(place.get(subject)?.nodeName ?? "") ||
      (isAboutFirewall(kind) && [...(routed.get(refKey(object)) ?? [])].some((name) => wanted.has(name))),
  );
  const gaps = plan.gaps.filter(({ subject }) => subject === "" || wanted.has(subject));
  const named = new Set([...actions, ...followUps, ...holds].map(({ object }) => refKey(object)));
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
  return { ...plan, actions, followUps, ...suspended, holds, gaps, pools, recordSets };
}

/** What stands for the addresses that the nodes will get and nobody knows yet. */
function boughtFor(nodes: readonly string[], plan: Plan): readonly string[] {
  return announcedActions(plan).flatMap((action) => {
    if (action.kind === "acquire-ip")
      return "node" in action.after && nodes.includes(action.after.node.nodeName) ? (action.newAddress ?? []) : [];
    return action.kind === "annotate-node" && nodes.includes(action.nodeName) ? shownAddresses(action.after) : [];
  });
}

function changed(action: WriteDNS): readonly string[] {
  const { added, removed } = dnsChange(action);
  return [...added, ...removed];
}

/** By routed IP: its addresses, and the nodes that have, lose or get them. What is done at firewalls is done for these. */
function routedConcerns({ pools, actions }: Plan): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  return new Map(
    pools.filter(isRouted).map(({ object, status }) => {
      const key = refKey(object);
      const sent = actions.filter((action) => refKey(action.object) === key && !changesFirewall(action));
      const places = Object.entries(status.ips).flatMap(([ip, { nodeName }]) => [ip, nodeName]);
      return [key, new Set([...places, ...sent.flatMap((action) => concerns(action, new Map()))])] as const;
    }),
  );
}

function isAboutFirewall(kind: Hold["kind"]): boolean {
  if (kind === "reconcile") return false;
  const { affects } = ACTIONS[kind];
  return affects === "ports" || affects === "machines";
}

function concerns(
  action: Action,
  routed: ReadonlyMap<string, ReadonlySet<string | undefined>>,
): readonly (string | undefined)[] {
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
      return [action.nodeName, ...[action.before, action.after].flatMap(shownAddresses)];
    case "open-ports":
    case "close-ports":
      return [...(routed.get(refKey(action.object)) ?? [])];
    case "add-to-firewall":
    case "remove-from-firewall":
      return [...(routed.get(refKey(action.object)) ?? []), ...action.machines.map(({ nodeName }) => nodeName)];
    default:
      return [];
  }
}
