import type { Action } from "../../src/model/action.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Hold } from "../../src/model/plan.ts";
import type { Selection } from "../../src/model/run.ts";
import { plan } from "../../src/plan/plan.ts";
import { NOW } from "./builders.ts";

/** A plan as short lines: what is done and why, then what is held, why, and for how many seconds. */
export function planText(observation: Observation, selection: Selection = {}): string[] {
  const { actions, holds } = plan(observation, selection);
  return [...actions.map(actionLine), ...holds.map(holdLine)];
}

function actionLine(action: Action): string {
  const [kind, , subject] = action.id.split(" ");
  return `${kind} ${subject}${placeText(action)}: ${action.reason}`;
}

function placeText(action: Action): string {
  switch (action.kind) {
    case "assign-ip":
      return ` to ${action.after.nodeName}`;
    case "move-ip":
      return ` from ${action.before?.nodeName ?? action.before?.machineID} to ${action.after.nodeName}`;
    case "unassign-ip":
      return ` from ${action.before.nodeName ?? action.before.machineID}`;
    case "acquire-ip":
      return "node" in action.after ? ` for ${action.after.node.nodeName}` : ` in ${action.after.region}`;
    case "annotate-node":
      return ` with ${action.after.address}`;
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns":
      return ` ${setText(action.before)} -> ${setText(action.after)}`;
    default:
      return "";
  }
}

function setText({
  addresses,
  ttlSeconds,
}: {
  readonly addresses: readonly string[];
  readonly ttlSeconds?: number;
}): string {
  return `{${addresses.join(" ")}}${addresses.length === 0 || ttlSeconds === undefined ? "" : `/${ttlSeconds}`}`;
}

function holdLine({ kind, subject, reason, detail, notBeforeMs }: Hold): string {
  const until = notBeforeMs === undefined ? "" : ` for ${(notBeforeMs - NOW) / 1000}s`;
  return `hold ${kind} ${subject}: ${reason}${detail === "" ? "" : ` (${detail})`}${until}`;
}
