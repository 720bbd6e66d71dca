import {
  type Action,
  type AnnotateNode,
  type AssignIP,
  type ChangeMachines,
  type NodeAnnotations,
  type Place,
  refKey,
  type SetFinalizer,
  type WriteDNS,
} from "../../model/action.ts";
import { ACTIONS, changesMachines, changesName, changesPorts } from "../../model/action-kinds.ts";
import { clearedAddresses, hostChange, shownAddresses } from "../../model/annotated.ts";
import { AUTOMATIC_TTL, addressesWithout, meantSeconds } from "../../model/dns.ts";
import { portText } from "../../model/firewall.ts";
import { reasonText } from "../../model/hold.ts";
import { nodePhrase } from "../../model/node-phrase.ts";
import type { PoolAssessment } from "../../model/plan.ts";
import { FINALIZER } from "../../model/resource.ts";
import { listText } from "./layout.ts";

/** Returns how many things an action changes, as summaries count them: ports or machines of a firewall, else one. */
export function amountOf(action: Action): number {
  if (changesPorts(action)) return action.ports.length;
  return changesMachines(action) ? action.machines.length : 1;
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
      return `node ${action.nodeName} with ${annotationText(action.after, "its pool")}`;
    case "clear-annotation":
      return clearedText(action);
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
  return `${ACTIONS[action.kind].infinitive} ${actionObject(action)}`;
}

/** How many addresses of a kind a single line shows. */
const MOST_IN_LINE = 8;

/** Returns {@link actionText} with, for DNS, what becomes of each address: for lines that stand alone. */
export function actionLine(action: Action): string {
  return `${actionText(action)}${changeInBrackets(action)}`;
}

/** Returns ` (+203.0.113.2 -203.0.113.1)` for a change of DNS, else nothing. */
export function changeInBrackets(action: Action): string {
  return changesName(action) ? ` (${dnsChangeText(action, MOST_IN_LINE)})` : "";
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
      return [reasonText(action.reason, action.object.kind), foreignText(action), whenVisible(action)]
        .filter((sentence) => sentence !== "")
        .join(" ");
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
  const { nodeName, before, reason, object } = action;
  const host = whyHost(action);
  if (host !== undefined) return host;
  const verdict = pool?.notMatching.find((candidate) => candidate.nodeName === nodeName);
  if (reason === "Verified") return whyVerified(action);
  if (action.holder !== undefined)
    return `${before.address ?? "The address"} is on ${placeText(action.holder)}, no longer on ${nodeName}.`;
  if (reason === "HolderLost" || (reason === "AboveDesired" && verdict !== undefined))
    return `${nodeName} no longer matches${verdict === undefined ? "" : ` (${nodePhrase(verdict)})`}.`;
  if (reason === "AnnotationDrift") return whyDrift(action);
  return reasonText(reason, object.kind);
}

function whyDrift({ before, after }: AnnotateNode): string {
  if (before.address === after.address && before.pool !== after.pool)
    return `The annotation names ${before.pool ?? "no object"}; the address is ${after.pool === undefined ? "nobody's" : `of ${after.pool}`}.`;
  return `The annotation says ${annotationText(before, "nothing")}; ${annotationText(after, "no address")} ${areOrIs(after)} verified there.`;
}

function whyVerified({ nodeName, before, after }: AnnotateNode): string {
  if (after.address === undefined) return `${nodeName} does not serve ${before.address ?? "the address"}.`;
  const what = areOrIs(after) === "are" ? "addresses are" : "address is";
  return `The annotation tells which ${what} confirmed on the node.`;
}

/** What a changed annotation means for the host, where that is all that changes. */
function whyHost({ nodeName, before, after }: AnnotateNode): string | undefined {
  const { added, removed } = hostChange({ before, after });
  const isAll = before.address === after.address && before.pool === after.pool;
  if (!isAll || added.length + removed.length === 0) return undefined;
  const parts = [
    ...(added.length === 0 ? [] : [`puts ${added.join(", ")} on ${nodeName}`]),
    ...(removed.length === 0 ? [] : [`takes ${removed.join(", ")} from ${nodeName}`]),
  ];
  return `flipop host then ${parts.join(", and ")}.`;
}

function clearedText(action: AnnotateNode): string {
  const cleared = clearedAddresses(action);
  const shown = cleared.length > 0 ? cleared : hostChange(action).removed;
  return `the annotation ${shown.join(", ")} of node ${action.nodeName}`.replace("  ", " ");
}

function annotationText(annotations: NodeAnnotations, none: string): string {
  const shown = addressTexts(shownAddresses(annotations));
  return shown.length === 0 ? none : shown.join(", ");
}

function areOrIs(annotations: NodeAnnotations): "are" | "is" {
  return shownAddresses(annotations).length > 1 ? "are" : "is";
}

/** What a change of the A records of a name means, address by address. Each list in the order of the records. */
interface DNSChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
  /** `TTL 30 -> 60 s`; absent when it stays, or when the provider decides it. */
  readonly ttl?: string;
}

/** Returns what is added, removed and kept, and what becomes of the TTL. */
export function dnsChange({ before, after, reason }: WriteDNS): DNSChange {
  const change = {
    added: addressesWithout(after.addresses, before.addresses),
    removed: addressesWithout(before.addresses, after.addresses),
    kept: before.addresses.filter((address) => after.addresses.includes(address)),
  };
  if (after.addresses.length === 0 || after.ttlSeconds === before.ttlSeconds) return change;
  if (before.addresses.length === 0) return { ...change, ttl: `TTL ${ttlText(after.ttlSeconds)}` };
  // Without a TTL of its own a set has several, or the provider decides: only the reason tells which.
  if (before.ttlSeconds === undefined && reason !== "TTLDiffers") return change;
  const from = before.ttlSeconds === undefined ? "several" : ttlText(before.ttlSeconds).replace(/ s$/, "");
  return { ...change, ttl: `TTL ${from} -> ${ttlText(after.ttlSeconds)}` };
}

/** Returns the change as one piece of text: `+203.0.113.2 -203.0.113.1 =203.0.113.3, TTL 30 -> 60 s`; of each kind at most `most` addresses. */
function dnsChangeText(action: WriteDNS, most: number): string {
  const { added, removed, kept, ttl } = dnsChange(action);
  const signed = (sign: string, addresses: readonly string[]): string[] => {
    const texts = addressTexts(addresses);
    const more = texts.length > most ? [`${sign}${texts.length - most} more`] : [];
    return [...texts.slice(0, most).map((text) => sign + text), ...more];
  };
  const addresses = [...signed("+", added), ...signed("-", removed), ...signed("=", kept)].join(" ");
  return [addresses, ttl ?? ""].filter((part) => part !== "").join(", ");
}

/** Returns the change as lines: `+ 203.0.113.2`, `- 203.0.113.1`, `= 203.0.113.3`, `TTL 30 -> 60 s`; of what is kept at most `most` addresses. */
export function dnsChangeLines(action: WriteDNS, most: number): readonly string[] {
  const { added, removed, kept, ttl } = dnsChange(action);
  const isTidied = added.length + removed.length === 0 && ttl === undefined;
  return [
    ...(isTidied ? ["one record is left of each address and TTL"] : []),
    ...(added.length > 0 ? [`+ ${addressTexts(added).join(", ")}`] : []),
    ...(removed.length > 0 ? [`- ${addressTexts(removed).join(", ")}`] : []),
    ...(kept.length > 0 ? [`= ${listText(addressTexts(kept), most)}`] : []),
    ...(ttl === undefined ? [] : [ttl]),
  ];
}

/** Returns what becomes of records that no object has on record, as sentences; `""` where there are none. An object that was deleted and made anew may have written them: that record went with its status. */
function foreignText({ unrecorded = [], others }: WriteDNS): string {
  const told = (addresses: readonly string[], fate: (them: string) => string): readonly string[] =>
    addresses.length === 0
      ? []
      : [
          `No object has ${listText(addresses, MOST_IN_LINE)} on record: flipop ${fate(addresses.length === 1 ? "it" : "them")}.`,
        ];
  return [
    ...told(unrecorded, (them) => `replaces ${them}`),
    ...told(others?.addresses ?? [], (them) => `leaves ${them} there`),
  ].join(" ");
}

/** Returns when clients see a change: resolvers may keep the old set for its TTL. Ends with a full stop. */
function whenVisible({ before: { addresses, ttlSeconds }, cachedSeconds }: WriteDNS): string {
  if (addresses.length === 0) return "Clients see it at once, unless a resolver remembers that there was none.";
  const seconds = cachedSeconds ?? (ttlSeconds === undefined ? undefined : meantSeconds(ttlSeconds));
  if (seconds === undefined) return "Resolvers see it once the longest TTL of the old records is over.";
  return `Resolvers see it within ${seconds} s.`;
}

function ttlText(seconds: number): string {
  return seconds === AUTOMATIC_TTL ? "automatic" : `${seconds} s`;
}

/** What stands in a plan for the address that an acquisition of the same plan brings: `newAddress` of the action. */
const UNKNOWN = /^\(new \d+\)$/;

/** Returns an address as people read it; `(known once acquired)` for one that is not known yet. */
export function addressText(address: string): string {
  return UNKNOWN.test(address) ? "(known once acquired)" : address;
}

/** Returns addresses as people read them, in their order; those that are not known yet as one item at the end. */
function addressTexts(addresses: readonly string[]): readonly string[] {
  const unknown = addresses.filter((address) => UNKNOWN.test(address));
  if (unknown.length < 2) return addresses.map(addressText);
  const known = addresses.filter((address) => !UNKNOWN.test(address));
  return [...known, `${unknown.length} addresses (known once acquired)`];
}

/** Returns how people know a machine: its node's name, else `machine 123`. */
export function placeText(place: Place): string {
  return place.nodeName ?? `machine ${place.machineID}`;
}
