import type { Change, PastEvent } from "../model/change.ts";
import { changesOfEvents } from "./from-events.ts";
import type { LogRead } from "./from-logs.ts";
import { changesOfLease, changesOfObjects, type KeptObject } from "./from-status.ts";
import { mergeChanges } from "./merge.ts";

/** Everything that is known of the past. */
export interface PastFacts {
  readonly nowMs: number;
  /** Absent where they could not be read. */
  readonly events?: readonly PastEvent[];
  readonly objects: readonly KeptObject[];
  /** Absent where there is none, or where it could not be read. */
  readonly lease?: { readonly annotations: Readonly<Record<string, string>> };
  /** Absent where no logs were given. */
  readonly log?: LogRead;
}

/** Which part of the past is asked for. */
export interface HistoryQuery {
  /** Milliseconds; absent = all that is known. */
  readonly sinceMs?: number;
  /** Only what failed or waits for a person. */
  readonly isFailedOnly?: boolean;
  readonly isMeant: (change: Change) => boolean;
}

/** What happened, and how far back that is known. */
export interface History {
  /** The newest first. */
  readonly changes: readonly Change[];
  /** How many changes before the time that was asked for are known. */
  readonly older: number;
  /** When the oldest Event was written that is still kept, whatever it is about, milliseconds; absent where there is none. */
  readonly eventsFromMs?: number;
}

/** Returns what is known of the past from all sources, each fact once. Pure. */
export function historyOf(
  { nowMs, events = [], objects, lease, log }: PastFacts,
  { sinceMs = Number.NEGATIVE_INFINITY, isFailedOnly = false, isMeant }: HistoryQuery,
): History {
  const kept = [...changesOfObjects(objects, nowMs), ...(lease === undefined ? [] : changesOfLease(lease))];
  const all = mergeChanges({ events: changesOfEvents(events), logs: log?.changes ?? [], kept });
  const meant = all.filter((change) => isMeant(change) && (!isFailedOnly || isTrouble(change)));
  const changes = meant.filter(({ timeMs }) => timeMs >= sinceMs);
  const eventsFromMs = events.reduce((ms, { firstMs }) => Math.min(ms, firstMs), Number.POSITIVE_INFINITY);
  return {
    changes,
    older: meant.length - changes.length,
    ...(Number.isFinite(eventsFromMs) ? { eventsFromMs } : {}),
  };
}

/** True for what failed, or waits for a person. */
function isTrouble({ outcome }: Change): boolean {
  return outcome === "failed" || outcome === "waiting";
}
