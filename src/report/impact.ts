import { type Action, type ObjectRef, refKey, subjectOf, type WriteDNS } from "../model/action.ts";
import { announcedActions, type Plan, type PoolAssessment } from "../model/plan.ts";
import { actionText } from "./action-message.ts";
import { listText } from "./count-text.ts";
import { dnsChange } from "./dns-change.ts";

/** One healthy thing that a plan would hurt. */
export interface Impact {
  readonly object: ObjectRef;
  readonly subject: string;
  readonly message: string;
}

const MOST_ADDRESSES = 3;

/**
 * Returns what a plan takes away from something healthy, in plan order: an address from a node that still matches, or from a
 * machine outside the cluster that may be using it; from a name its last address, or one that serves. Normally empty.
 */
export function impactOf(plan: Plan): readonly Impact[] {
  const pools = new Map(plan.pools.map((pool) => [refKey(pool.object), pool]));
  const serving = new Set(plan.pools.flatMap(servingAddresses));
  return announcedActions(plan).flatMap((action) => {
    const matching = new Set(pools.get(refKey(action.object))?.matching);
    const message = "fqdn" in action ? hurtName(action, serving) : hurt(action, matching);
    return message === undefined ? [] : [{ object: action.object, subject: subjectOf(action), message }];
  });
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
