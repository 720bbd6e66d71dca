import type { ActionKind } from "../../model/action.ts";
import type { Hold } from "../../model/plan.ts";
import { adviceFor, isAboutObject, missingText, type Reason, whyHeld } from "../../model/reason.ts";
import { addressText } from "./actions.ts";
import { untilText } from "./times.ts";

/** What is not done, as in "not assigned yet". */
const HELD: Readonly<Record<ActionKind | "reconcile", string>> = {
  "add-finalizer": "finalizer not added",
  "acquire-ip": "no address acquired",
  "assign-ip": "not assigned",
  "move-ip": "not moved",
  "annotate-node": "not annotated",
  "clear-annotation": "annotation not cleared",
  "open-ports": "nothing is added",
  "add-to-firewall": "nothing is added",
  "close-ports": "nothing is taken away",
  "remove-from-firewall": "nothing is taken away",
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

/** And for "nothing is added", where the subject is a firewall. */
const HELD_FIREWALL: Readonly<Partial<Record<Reason, string>>> = {
  FirewallNotFound: "cannot be used",
  FirewallAmbiguous: "cannot be used",
  FirewallReserved: "cannot be used",
  FirewallFull: "has no room",
  UnusablePort: "one port stays closed",
  InProgress: "not ready yet",
  FirewallStuck: "not in force everywhere",
  FirewallFailed: "not in force everywhere",
  Unreadable: "left as it is",
  ProviderUnavailable: "left as it is",
  RateLimited: "left as it is",
};

const HELD_FOR: Readonly<Partial<Record<Hold["kind"], Readonly<Partial<Record<Reason, string>>>>>> = {
  "assign-ip": HELD_ADDRESS,
  "update-dns": HELD_NAME,
  "open-ports": HELD_FIREWALL,
  "delete-dns": HELD_OLD_NAME,
};

/** Returns `203.0.113.4: not assigned`, or what is not done to the object itself. */
export function holdText(hold: Hold): string {
  const told = missingText(hold) ?? HELD_FOR[hold.kind]?.[hold.reason] ?? HELD[hold.kind];
  const what = hold.object.kind === "routedip" ? told.replace("this pool", "this routed IP") : told;
  return isAboutObject(hold) ? what : `${addressText(hold.subject)}: ${what}`;
}

/** Returns why something is not done, until when where that is known, and what a person can do where there is something. */
export function whyHold(hold: Hold, nowMs: number): string {
  const when = hold.notBeforeMs === undefined ? "" : ` Waits ${untilText(hold.notBeforeMs, nowMs)}.`;
  const advice = adviceFor(hold);
  return whyHeld(hold) + when.replace("Waits due now", "Due now") + (advice === undefined ? "" : ` ${advice}`);
}
