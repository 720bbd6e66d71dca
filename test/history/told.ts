import { encodeEvent, eventsRequest } from "../../src/adapters/kube/events.ts";
import { LogReader } from "../../src/history/from-logs.ts";
import { type History, type HistoryQuery, historyOf, type PastFacts } from "../../src/history/history.ts";
import { refKey } from "../../src/model/action.ts";
import type { Change, PastEvent } from "../../src/model/change.ts";
import type { ObjectMeta } from "../../src/model/resource.ts";
import type { PassResult } from "../../src/model/run.ts";
import { eventsOf } from "../../src/report/events.ts";
import { invoke } from "../cli/invoke.ts";
import { afterFailure, aPool, NOW_MS } from "../report/world.ts";

const CRD_KINDS = { pool: "FloatingIPPool", dns: "NodeDNSRecordSet", routedip: "RoutedIP" } as const;

/** The Events of a run, through the API and back; those of changes were written when these ended. */
export function eventsTold(result: PassResult): readonly PastEvent[] {
  const { plan, outcomes, remaining } = result;
  const seen = { pools: [], recordSets: [] } as never;
  return eventsOf({ seen, planned: plan, outcomes, remaining, stored: () => [] }).map(({ object, ...facts }, at) => {
    const meta: ObjectMeta = { ...aPool(object.name, []).meta, namespace: object.namespace };
    const stamp = {
      eventTimeMs: outcomes[at]?.endedAtMs ?? NOW_MS,
      reportingInstance: "flipop-1",
      suffix: String(at),
    };
    const encoded = encodeEvent({ regarding: { kind: CRD_KINDS[object.kind], meta }, ...facts }, stamp);
    const event = eventsRequest(undefined).project(JSON.parse(JSON.stringify(encoded)));
    if (event === undefined) throw new Error("an Event of flipop was not read");
    return event;
  });
}

/** The lines that a run leaves in a pod's log. */
export async function linesTold(value: PassResult): Promise<readonly string[]> {
  const scene = { observation: afterFailure(), answer: async () => ({ kind: "done" as const, value }) };
  const { stderr } = await invoke(["reconcile", "--log-format", "json", "-v"], scene);
  return stderr.trim().split("\n");
}

/** What logs say. */
export function logOf(lines: readonly string[], most?: number): ReturnType<LogReader["end"]> {
  const reader = new LogReader(() => true, most);
  for (const line of lines) reader.add(line);
  return reader.end();
}

/** The history of some facts, read a minute later. */
export function historyFrom(facts: Partial<PastFacts>, query: Partial<HistoryQuery> = {}): History {
  return historyOf({ nowMs: NOW_MS + 60_000, objects: [], ...facts }, { isMeant: () => true, ...query });
}

/** What a change says, without who tells it and when. */
export function storyOf(changes: readonly Change[]): readonly string[] {
  return changes.map(({ object, kind, subject, outcome, what, why, count }) => {
    const place = object === undefined ? "-" : refKey(object);
    return `${place} ${kind} ${subject || "-"} ${outcome}${count === 1 ? "" : ` x${count}`}: ${what}: ${why}`;
  });
}
