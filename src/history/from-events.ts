import type { ActionKind } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import { type Change, eventAction, type PastEvent, STALL_ACTION } from "../model/change.ts";
import { GROUP } from "../model/resource.ts";
import { plain } from "../model/text.ts";
import { splitNote, subjectIn } from "./texts.ts";

/** Returns what Events tell, one fact for each, in their order. Pure. */
export function changesOfEvents(events: readonly PastEvent[]): readonly Change[] {
  return events.map(changeOf);
}

const BY_ACTION: ReadonlyMap<string, ActionKind> = new Map(
  (Object.keys(ACTIONS) as readonly ActionKind[]).map((kind) => [eventAction(kind), kind]),
);

function changeOf(event: PastEvent): Change {
  const { object, firstMs, lastMs, count, reason, instance } = event;
  const note = plain(event.note);
  const isOwn = event.controller === `${GROUP}/flipop`;
  const kind = isOwn ? BY_ACTION.get(event.action) : undefined;
  const isWarning = event.type === "Warning";
  const by = isOwn ? instance : event.controller;
  const common = {
    object,
    timeMs: lastMs,
    firstMs,
    count,
    reason: plain(reason),
    sources: ["event"],
    ...(by === "" ? {} : { by: plain(by) }),
  } as const;
  if (isOwn && event.action === STALL_ACTION)
    return { ...common, kind: "stall", subject: "", outcome: "waiting", what: "waits for a person", why: note };
  if (kind === undefined)
    return { ...common, kind: "other", subject: "", outcome: isWarning ? "failed" : "seen", what: note, why: "" };
  const told = splitNote(note);
  const done = told.what.startsWith("asked to ") ? "unconfirmed" : "applied";
  return { ...common, kind, subject: subjectIn(told.what, kind), outcome: isWarning ? "failed" : done, ...told };
}
