import {
  type Action,
  type ActionKind,
  type AnnotateNode,
  type AssignIP,
  type ChangeMachines,
  refKey,
  type SetFinalizer,
} from "../model/action.ts";
import { portText } from "../model/firewall.ts";
import type { PoolAssessment } from "../model/plan.ts";
import { nodePhrase, reasonText } from "../model/reason.ts";
import { FINALIZER } from "../model/resource.ts";
import { addressText } from "./address-text.ts";
import { listText } from "./count-text.ts";
import { dnsChangeText, whenVisible } from "./dns-change.ts";
import { placeText } from "./place-text.ts";

/** The verb of each kind: to be done, done, and as in "2 to assign" in a summary, of the things that {@link amountOf} counts. */
export const VERBS: Readonly<
  Record<ActionKind, { readonly infinitive: string; readonly past: string; readonly count: string }>
> = {
  "add-finalizer": { infinitive: "add", past: "added", count: "finalizer to add" },
  "open-ports": { infinitive: "open", past: "opened", count: "port to open" },
  "add-to-firewall": { infinitive: "add", past: "added", count: "node to add to a firewall" },
  "acquire-ip": { infinitive: "acquire", past: "acquired", count: "to acquire" },
  "assign-ip": { infinitive: "assign", past: "assigned", count: "to assign" },
  "move-ip": { infinitive: "move", past: "moved", count: "to move" },
  "annotate-node": { infinitive: "annotate", past: "annotated", count: "to annotate" },
  "clear-annotation": { infinitive: "clear", past: "cleared", count: "annotation to clear" },
  "unassign-ip": { infinitive: "unassign", past: "unassigned", count: "to unassign" },
  "delete-ip": { infinitive: "delete", past: "deleted", count: "to delete" },
  "withdraw-dns": { infinitive: "withdraw from DNS", past: "withdrew from DNS", count: "DNS withdrawal" },
  "update-dns": { infinitive: "update DNS", past: "updated DNS", count: "DNS name to update" },
  "delete-dns": { infinitive: "delete from DNS", past: "deleted from DNS", count: "DNS name to delete" },
  "close-ports": { infinitive: "close", past: "closed", count: "port to close" },
  "remove-from-firewall": { infinitive: "remove", past: "removed", count: "node to remove from a firewall" },
  "remove-finalizer": { infinitive: "remove", past: "removed", count: "finalizer to remove" },
};

/** Returns how many things an action changes, as summaries count them: ports or machines of a firewall, else one. */
export function amountOf(action: Action): number {
  if ("ports" in action) return action.ports.length;
  return "machines" in action ? action.machines.length : 1;
}

/** Returns what an action does, without its verb: `203.0.113.1 from worker-1 to worker-2`. `newIP` is what an acquisition brought. */
export function actionObject(action: Action, newIP?: string): string {
  switch (action.kind) {
    case "assign-ip":
      return `${addressText(action.ip)} to ${placeText(action.after)}`;
    case "move-ip":
      return `${addressText(action.ip)}${action.before ? ` from ${placeText(action.before)}` : ""} to ${placeText(action.after)}`;
    case "unassign-ip":
      return `${addressText(action.ip)} from ${placeText(action.before)}`;
    case "acquire-ip":
      return `${newIP ?? "a new address"} ${"node" in action.after ? `for ${placeText(action.after.node)}` : `in region ${action.after.region}`}`;
    case "delete-ip":
      return `${addressText(action.ip)} (given back to ${action.provider} for good)`;
    case "annotate-node":
      return `node ${action.nodeName} with ${addressText(action.after.address ?? "its pool")}`;
    case "clear-annotation":
      return `the annotation ${action.before.address ?? ""} of node ${action.nodeName}`.replace("  ", " ");
    case "add-finalizer":
    case "remove-finalizer":
      return `the finalizer ${FINALIZER}`;
    case "withdraw-dns":
    case "update-dns":
    case "delete-dns":
      return `${action.fqdn} at ${action.dnsProvider}`;
    case "open-ports":
    case "close-ports":
      return `${action.ports.map(portText).join(", ")} on firewall ${action.firewall.name}`;
    case "add-to-firewall":
      return `${action.machines.map(placeText).join(", ")} to firewall ${action.firewall.name}`;
    case "remove-from-firewall":
      return `${action.machines.map(placeText).join(", ")} from firewall ${action.firewall.name}`;
  }
}

/** Returns `move 203.0.113.1 from worker-1 to worker-2`. */
export function actionText(action: Action): string {
  return `${VERBS[action.kind].infinitive} ${actionObject(action)}`;
}

/** How many addresses of a kind a single line shows. */
const MOST_IN_LINE = 8;

/** Returns {@link actionText} with, for DNS, what becomes of each address: for lines that stand alone. */
export function actionLine(action: Action): string {
  return `${actionText(action)}${changeInBrackets(action)}`;
}

/** Returns ` (+203.0.113.2 -203.0.113.1)` for a change of DNS, else nothing. */
export function changeInBrackets(action: Action): string {
  return "fqdn" in action ? ` (${dnsChangeText(action, MOST_IN_LINE)})` : "";
}

/** Returns the sentence that says why, with the names that matter. The pool tells why a holder no longer matches. */
export function whyAction(action: Action, pool: PoolAssessment | undefined): string {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
      return whyAssign(action, pool);
    case "annotate-node":
    case "clear-annotation":
      return whyAnnotate(action, pool);
    case "acquire-ip":
      if (action.object.kind === "routedip") return reasonText(action.reason, action.object.kind);
      return `${refKey(action.object)} has fewer addresses than its desiredIPs${pool ? ` (${pool.desired})` : ""}.`;
    case "add-finalizer":
      return whyFinalizer(action);
    case "withdraw-dns":
    case "update-dns":
    case "delete-dns":
      return `${reasonText(action.reason, action.object.kind)} ${whenVisible(action)}`;
    case "add-to-firewall":
    case "remove-from-firewall":
      return whyMachines(action);
    default:
      return reasonText(action.reason, action.object.kind);
  }
}

function whyAssign(action: AssignIP, pool: PoolAssessment | undefined): string {
  const target = action.after.nodeName;
  const holder = action.before === undefined ? "" : placeText(action.before);
  switch (action.reason) {
    case "NodeMatched":
      return `${target} matches and waits for an address; this one is free.`;
    case "HolderLost":
      return `${holder} no longer matches${lostBecause(action, pool)}, and ${target} waits for an address.`;
    case "HolderGone":
      return `${holder} is no longer a node of this cluster, and ${target} waits for an address.`;
    case "TakeOver":
      return `It is on ${holder}, which never was a node of this cluster; spec.foreignHolder: TakeOver allows taking it.`;
    default:
      return reasonText(action.reason, action.object.kind);
  }
}

function whyFinalizer({ object, reason }: SetFinalizer): string {
  switch (object.kind) {
    case "dns":
      return "spec.reclaimPolicy is Delete: the records that flipop wrote go before the object does.";
    case "routedip":
      return "routedIPReclaimPolicy of its issuer is Delete: what flipop made for the object goes before it does.";
    case "pool":
      return reasonText(reason, object.kind);
  }
}

function whyMachines({ machines, reason, object }: ChangeMachines): string {
  const names = listText(machines.map(placeText), 3);
  switch (reason) {
    case "NodeOutsideFirewall":
      return `${names} ${machines.length === 1 ? "is" : "are"} to serve the address, and not behind the firewall yet.`;
    case "NodeUnneeded":
      return `No object needs ${names} behind the firewall any more, and flipop put ${machines.length === 1 ? "it" : "them"} there.`;
    default:
      return reasonText(reason, object.kind);
  }
}

function lostBecause(action: AssignIP, pool: PoolAssessment | undefined): string {
  const verdict = pool?.notMatching.find(({ nodeName }) => nodeName === action.before?.nodeName);
  return verdict === undefined ? "" : ` (${nodePhrase(verdict)})`;
}

function whyAnnotate(action: AnnotateNode, pool: PoolAssessment | undefined): string {
  const { nodeName, before, after, reason, object } = action;
  const verdict = pool?.notMatching.find((candidate) => candidate.nodeName === nodeName);
  if (reason === "Verified") {
    return after.address === undefined
      ? `${nodeName} does not serve ${before.address ?? "the address"}.`
      : "The annotation tells which address is confirmed on the node.";
  }
  if (action.holder !== undefined)
    return `${before.address ?? "The address"} is on ${placeText(action.holder)}, no longer on ${nodeName}.`;
  if ((reason === "HolderLost" || reason === "AboveDesired") && verdict !== undefined)
    return `${nodeName} no longer matches (${nodePhrase(verdict)}).`;
  if (reason === "AnnotationDrift") {
    return `The annotation says ${before.address ?? "nothing"}; ${addressText(after.address ?? "no address")} is verified there.`;
  }
  return reasonText(reason, object.kind);
}
