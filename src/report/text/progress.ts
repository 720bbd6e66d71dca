import { type Action, isAssign, refKey } from "../../model/action.ts";
import { providerOf } from "../../model/action-kinds.ts";
import type { Wait } from "../../model/progress.ts";
import { plain } from "../../model/text.ts";
import { actionText, addressText, placeText } from "./actions.ts";
import { listText } from "./layout.ts";

/**
 * Returns what a command waits for, `ms` milliseconds after it was last heard of: `waiting 2 s for digitalocean (203.0.113.10 on its way to worker-5)`, or
 * `waiting 12 s: CoolOff of pool/ingress/web`. Where nothing is waited for the command itself is at work.
 */
export function waitText(waits: readonly Wait[], ms: number): string {
  const seconds = Math.round(ms / 1000);
  const what = awaitedText(waits);
  return plain(what === "" ? `at work for ${seconds} s` : `waiting ${seconds} s${what}${actionsText(waits)}`);
}

/** Returns what is waited for without its particulars: ` for digitalocean`, `: CoolOff of pool/ingress/web`; `""` where nothing is. */
export function awaitedText(waits: readonly Wait[]): string {
  const whom = [...new Set(waits.flatMap(whoIsAwaited))].toSorted();
  if (whom.length > 0) return ` for ${listText(whom)}`;
  const [rest] = waits.flatMap((wait) => (wait.kind === "hold" ? [wait.hold] : []));
  if (rest !== undefined) return `: ${rest.reason} of ${refKey(rest.object)}`;
  return waits.length > 0 ? ": what is left to do is tried again" : "";
}

function whoIsAwaited(wait: Wait): readonly string[] {
  switch (wait.kind) {
    case "provider":
      return [wait.name];
    case "cluster":
      return ["the cluster"];
    case "action":
      return [providerOf(wait.action) ?? "the cluster"];
    case "file":
      return [`the rest of ${wait.name}`];
    case "lease":
      return [`the Lease ${wait.lease}${wait.holder === "" ? "" : `, which ${wait.holder} holds`}`];
    case "hold":
      return [];
  }
}

/** How many of the actions that have begun are named. */
const MOST_NAMED = 2;

function actionsText(waits: readonly Wait[]): string {
  const begun = waits.flatMap((wait) => (wait.kind === "action" ? [begunText(wait.action)] : []));
  return begun.length === 0 ? "" : ` (${listText(begun, MOST_NAMED)})`;
}

function begunText(action: Action): string {
  return isAssign(action) ? `${addressText(action.ip)} on its way to ${placeText(action.after)}` : actionText(action);
}
