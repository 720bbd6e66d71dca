import type { Change } from "../../model/change.ts";
import { plain } from "../../model/text.ts";
import { timestamp } from "../../model/time.ts";
import type { ToldHistory } from "../text/history.ts";
import { rfc3339 } from "../text/times.ts";
import { API_VERSION, type JSONObject } from "./document.ts";
import { objectField } from "./plan.ts";

/** Returns the document `History`; its JSON Schema is `schema/history.json`. */
export function historyDocument(history: ToldHistory): JSONObject {
  const { cluster, nowMs, sinceMs, changes, older, eventsFromMs, logs, gaps } = history;
  return {
    apiVersion: API_VERSION,
    kind: "History",
    observedAt: rfc3339(nowMs),
    cluster,
    since: rfc3339(sinceMs),
    changes: changes.map(pastField),
    older,
    reach: {
      events: timeField(eventsFromMs),
      logs: logs === undefined ? null : { from: timeField(logs.fromMs), to: timeField(logs.toMs) },
    },
    gaps: gaps.map(plain),
  };
}

function timeField(ms: number | undefined): string | null {
  return ms === undefined ? null : timestamp(ms);
}

/** Returns one fact of the past as documents carry it. */
export function pastField(change: Change): JSONObject {
  const { timeMs, firstMs, count, object, kind, subject, outcome, reason, what, why, sources, by, tookMs } = change;
  return {
    time: timestamp(timeMs),
    firstTime: timestamp(firstMs),
    count,
    object: object === undefined ? null : objectField(object),
    kind,
    subject: plain(subject),
    outcome,
    reason: plain(reason),
    message: plain(why === "" ? what : `${what}: ${why}`),
    sources: [...sources],
    by: by === undefined ? undefined : plain(by),
    ms: tookMs === undefined ? undefined : Math.round(tookMs),
  };
}
