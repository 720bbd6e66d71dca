import { type Action, type ActionKind, subjectOf } from "../model/action.ts";
import { ACTIONS, changesFirewall, changesName } from "../model/action-kinds.ts";
import type { Reason } from "../model/reason.ts";
import type { Outcome } from "../model/run.ts";
import { plain } from "../model/text.ts";
import { actionText, dnsChangeText } from "./text/actions.ts";
import { listText } from "./text/layout.ts";

/** An Event to write about an object: what came of one change. */
export interface EventFacts {
  readonly type: "Normal" | "Warning";
  readonly reason: Reason;
  readonly action: string;
  readonly note: string;
}

/** Of each kind of change: an Event's note has at most 1,024 characters. */
const MOST_ADDRESSES = 8;

/** The Event of one outcome: one per change made or refused; none for what was skipped or is still under way. Pure. */
export function eventOf(outcome: Outcome): EventFacts | undefined {
  const { action } = outcome;
  const { verb } = ACTIONS[action.kind];
  const what = changesFirewall(action) ? actionText(action) : `${verb} ${subjectText(outcome)}${placeText(action)}`;
  switch (outcome.outcome) {
    case "applied":
      return {
        type: "Normal",
        reason: action.reason,
        action: eventAction(action.kind),
        note: plain(`Done: ${what}.${foreignNote(action)}`),
      };
    case "failed":
      return {
        type: "Warning",
        reason: "Failed",
        action: eventAction(action.kind),
        note: plain(`Could not ${what}: ${outcome.error.message}`),
      };
    case "skipped":
    case "unconfirmed":
      return undefined;
  }
}

/** Returns `AssignIP` for `assign-ip`: Kubernetes wants action names of Events in UpperCamelCase. */
function eventAction(kind: ActionKind): string {
  const words = kind.split("-").map((word) => {
    return word === "ip" || word === "dns" ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
  });
  return words.join("");
}

function subjectText({ action, address }: Outcome): string {
  return action.kind === "acquire-ip" ? (address?.ip ?? "an address") : subjectOf(action);
}

/** What somebody else's records said that are gone now: nobody else remembers it. */
function foreignNote(action: Action): string {
  if (!changesName(action) || action.unrecorded === undefined) return "";
  return ` flipop had not written ${listText(action.unrecorded, MOST_ADDRESSES)}.`;
}

function placeText(action: Action): string {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
      return `${action.before === undefined ? "" : ` from ${action.before.nodeName ?? action.before.machineID}`} to ${action.after.nodeName}`;
    case "acquire-ip":
      return "node" in action.after ? ` for ${action.after.node.nodeName}` : ` in ${action.after.region}`;
    case "unassign-ip":
      return ` from ${action.before.nodeName ?? action.before.machineID}`;
    case "annotate-node":
      return ` with ${action.after.address ?? ""}`;
    case "withdraw-dns":
    case "update-dns":
    case "delete-dns":
      return ` at ${action.dnsProvider} (${dnsChangeText(action, MOST_ADDRESSES)})`;
    default:
      return "";
  }
}
