import { type ActionKind, refKey } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import { REASONS, type Reason } from "../model/reason.ts";
import { objectKey } from "../model/resource.ts";
import { oneLine } from "./one-line.ts";
import { untilText } from "./time-text.ts";

/** What is not done, as in "not assigned yet". */
const HELD: Readonly<Record<ActionKind | "reconcile", string>> = {
  "add-finalizer": "finalizer not added",
  "acquire-ip": "no address acquired",
  "assign-ip": "not assigned",
  "move-ip": "not moved",
  "annotate-node": "not annotated",
  "clear-annotation": "annotation not cleared",
  "open-ports": "not changed",
  "close-ports": "not closed",
  "add-to-firewall": "not extended",
  "remove-from-firewall": "not reduced",
  "unassign-ip": "not unassigned",
  "delete-ip": "not deleted",
  "remove-finalizer": "finalizer not removed",
  reconcile: "nothing is changed",
  "withdraw-dns": "not withdrawn from DNS",
  "update-dns": "DNS not changed",
  "delete-dns": "old records not deleted",
};

/** What is said instead of "not assigned" where that would not be the point. */
const HELD_ADDRESS: Readonly<Partial<Record<Reason, string>>> = {
  Grace: "stays where it is",
  Unreadable: "left as it is",
  InProgress: "not there yet",
  NoCandidate: "waits for a node",
  ForeignHolder: "not taken",
  Conflict: "not used by this pool",
  IPNotFound: "cannot be used",
  InvalidIP: "cannot be used",
  DuplicateIP: "used once only",
};

/** The same for "DNS not changed". */
const HELD_NAME: Readonly<Partial<Record<Reason, string>>> = {
  Grace: "stays published",
  Unreadable: "left as it is",
  Conflict: "not written for this object",
  NothingToPublish: "left as it is",
  InvalidAddress: "not published",
};

/** And for "old records not deleted". */
const HELD_OLD_NAME: Readonly<Partial<Record<Reason, string>>> = {
  NewNameFirst: "old records not deleted yet",
  RecordsRetained: "old records stay",
};

const HELD_FOR: Readonly<Partial<Record<Hold["kind"], Readonly<Partial<Record<Reason, string>>>>>> = {
  "assign-ip": HELD_ADDRESS,
  "update-dns": HELD_NAME,
  "delete-dns": HELD_OLD_NAME,
};

/** What a person can do about it, where there is something. */
const ADVICE: Readonly<Partial<Record<Reason, string>>> = {
  QuotaExceeded: "Ask DigitalOcean for a higher limit, or lower desiredIPs.",
  InvalidSpec: "Correct the object's spec.",
  InvalidIP: "Correct or remove the entry in spec.ips.",
  DuplicateIP: "Remove one of the two entries from spec.ips.",
  Conflict: "Remove it from one of the two objects.",
  IPNotFound: "Remove it from spec.ips, or check that the token belongs to the right account.",
  NoRegion: "Set spec.region.",
  AmbiguousAcquisition: "List the right one in spec.ips, or remove the others from the account.",
  LostAcquisition:
    "List it in spec.ips if it is the pool's; if none is, remove the annotation flipop.digitalocean.com/acquired from the pool to acquire another.",
  Suspended: "To go on, set spec.suspend: false.",
  InvalidDNS: "Correct its dnsRecordSet.",
  ZoneNotFound: "Create the zone, correct dnsRecordSet.zone, or use a token that may see it.",
  InvalidAddress: "Correct or remove the annotation.",
  RecordsRetained: "Remove them by hand, or set spec.reclaimPolicy: Delete.",
  FirewallNotFound: "Create it, or correct routedIPFirewallName of the issuer.",
  FirewallAmbiguous: "Put the id of the right one into routedIPFirewallName of the issuer.",
  FirewallReserved: "Create a firewall of your own with the cluster's tag k8s:CLUSTER-ID, and name that.",
  UnusablePort: "Leave it out with spec.ports, or open it by other means.",
  CRDTooOld: "Apply the CRDs of this version.",
};

/** Returns `203.0.113.4 not assigned`, or what is not done to the object itself. */
export function holdText(hold: Hold): string {
  const isObject = hold.subject === refKey(hold.object) || hold.subject === objectKey(hold.object);
  const what = HELD_FOR[hold.kind]?.[hold.reason] ?? HELD[hold.kind];
  return isObject || hold.subject === "" ? what : `${oneLine(hold.subject)}: ${what}`;
}

/** Returns why something is not done, until when where that is known, and what a person can do where there is something. */
export function whyHold(hold: Hold, nowMs: number): string {
  const detail = oneLine(hold.detail);
  const why = reasonSentence(hold.reason, detail);
  const when = hold.notBeforeMs === undefined ? "" : ` Waits ${untilText(hold.notBeforeMs, nowMs)}.`;
  const advice = ADVICE[hold.reason];
  return why + when.replace("Waits due now", "Due now") + (advice === undefined ? "" : ` ${advice}`);
}

/** Reasons whose particulars are a whole sentence: what failed, and what to do. */
const TOLD_BY_DETAIL: ReadonlySet<Reason> = new Set(["ProviderUnavailable", "Unreadable", "RateLimited"]);

function reasonSentence(reason: Reason, detail: string): string {
  if (detail === "") return REASONS[reason];
  if (reason === "Conflict" && detail.startsWith("owned by ")) return sentence(`It is ${detail}`);
  if (TOLD_BY_DETAIL.has(reason)) return sentence(detail.charAt(0).toUpperCase() + detail.slice(1));
  return sentence(`${REASONS[reason].replace(/\.$/, "")}: ${detail}`);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
