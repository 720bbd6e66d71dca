import { type Action, type ObjectRef, refKey, subjectOf, type WriteDNS } from "../model/action.ts";
import { portText } from "../model/firewall.ts";
import { announcedActions, type Plan, type PoolAssessment } from "../model/plan.ts";
import { actionText } from "./action-message.ts";
import { listText } from "./count-text.ts";
import { dnsChange } from "./dns-change.ts";

/** One thing that a plan would hurt, or that is not flipop's and is touched all the same. */
export interface Impact {
  readonly object: ObjectRef;
  readonly subject: string;
  /** `healthy`: something that is well loses by it. `others`: it changes what flipop did not make, or what others use. */
  readonly touches: "healthy" | "others";
  readonly message: string;
}

const MOST_ADDRESSES = 3;

/**
 * Returns what a plan takes away from something healthy, in plan order: an address from a node that still matches, or from a
 * machine outside the cluster that may be using it; from a name its last address, or one that serves. Normally empty. Also what it changes for others: ports of a
 * firewall that guards machines outside the cluster, records that flipop did not write.
 */
export function impactOf(plan: Plan): readonly Impact[] {
  const pools = new Map(plan.pools.map((pool) => [refKey(pool.object), pool]));
  const serving = new Set(plan.pools.flatMap(servingAddresses));
  return announcedActions(plan).flatMap((action) => {
    const matching = new Set(pools.get(refKey(action.object))?.matching);
    const impact = (touches: Impact["touches"], message: string | undefined): readonly Impact[] =>
      message === undefined ? [] : [{ object: action.object, subject: subjectOf(action), touches, message }];
    return [
      ...impact("healthy", "fqdn" in action ? hurtName(action, serving) : hurt(action, matching)),
      ...impact("others", touched(action)),
    ];
  });
}

/** What changes for others, or of what others made. */
function touched(action: Action): string | undefined {
  if ("ports" in action && action.otherMachines !== undefined) {
    const { kind, ports, firewall, otherMachines: count } = action;
    const verb = kind === "open-ports" ? "opens" : "closes";
    const whom = count === 1 ? "1 machine that is no node" : `${count} machines that are no nodes`;
    return `firewall ${firewall.name} ${verb} ${ports.map(portText).join(", ")} for ${whom} of this cluster`;
  }
  if (!("fqdn" in action) || action.unrecorded === undefined) return undefined;
  const isOne = action.unrecorded.length === 1;
  const fate = action.after.addresses.length === 0 ? "removed" : "replaced";
  const list = listText(action.unrecorded, MOST_ADDRESSES);
  return `${action.fqdn} shows ${list}, which flipop did not write; ${isOne ? "it is" : "they are"} ${fate}`;
}

/** Addresses of a pool that are verified on a node that matches. */
function servingAddresses({ status, matching }: PoolAssessment): readonly string[] {
  return Object.entries(status.ips).flatMap(([ip, { state, nodeName }]) =>
    state === "active" && nodeName !== undefined && matching.includes(nodeName) ? [ip] : [],
  );
}

function hurtName(action: WriteDNS, serving: ReadonlySet<string>): string | undefined {
  const { removed } = dnsChange(action);
  if (removed.length > 0 && action.after.addresses.length === 0) {
    return `${actionText(action)}: the name would have no address left (${listText(removed, MOST_ADDRESSES)})`;
  }
  if (action.kind === "delete-dns") return undefined;
  const lost = removed.filter((address) => serving.has(address));
  if (lost.length === 0) return undefined;
  return `${actionText(action)}: ${listText(lost, MOST_ADDRESSES)} ${lost.length === 1 ? "serves" : "serve"} and would leave the name`;
}

function hurt(action: Action, matching: ReadonlySet<string>): string | undefined {
  if (action.kind !== "move-ip" && action.kind !== "unassign-ip") return undefined;
  const { before } = action;
  if (before === undefined) return undefined;
  if (before.nodeName !== undefined && matching.has(before.nodeName)) {
    return `${actionText(action)}: ${before.nodeName} still matches and would lose it`;
  }
  return action.reason === "TakeOver" ? `${actionText(action)}: whatever uses it there would lose it` : undefined;
}
