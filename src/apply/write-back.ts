import type { ObjectRef } from "../model/action.ts";
import { KubeError } from "../model/errors.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import { objectKey } from "../model/resource.ts";
import type { ReportFailure } from "../model/run.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import { eventOf } from "../report/events.ts";
import type { Attempts } from "./attempts.ts";
import { type Journals, ownerJournal } from "./context.ts";

/**
 * Writes every status that differs from what is stored, unless `attempts` says that it is not due again after a refusal. A failure is returned, never thrown: it stops
 * no other object.
 */
export async function writeStatuses(
  { pools, recordSets, observedAtMs }: Plan,
  journals: Journals,
  attempts?: Attempts,
): Promise<readonly ReportFailure[]> {
  const write = async (object: ObjectRef, record: () => Promise<unknown>): Promise<readonly ReportFailure[]> => {
    if (attempts?.mayWriteStatus(object, observedAtMs) === false) return [];
    const failures = await attempt(object, record());
    if (failures.length === 0) attempts?.wrote(object);
    return failures;
  };
  const failures = await Promise.all([
    ...pools.map(({ object, status }) =>
      write(object, () => ownerJournal(object, journals).record(objectKey(object), () => status)),
    ),
    ...recordSets.map(({ object, status }) =>
      write(object, () => journals.dns.record(objectKey(object), () => status)),
    ),
  ]);
  return failures.flat();
}

async function attempt(object: ReportFailure["object"], write: Promise<unknown>): Promise<readonly ReportFailure[]> {
  try {
    await write;
    return [];
  } catch (error) {
    if (error instanceof KubeError && error.failure === "not-found") return [];
    if (error instanceof Error) return [{ object, what: "status", error }];
    throw error;
  }
}

/** Writes one Event per change made or refused. Best effort: the first refusal is returned, and no more are tried; none once the lock is lost. */
export async function writeEvents(
  outcomes: readonly Outcome[],
  journals: Journals,
  cluster: ClusterWriter,
  mayWrite: () => boolean,
): Promise<readonly ReportFailure[]> {
  for (const outcome of outcomes) {
    if (!mayWrite()) return [];
    const { object } = outcome.action;
    const facts = eventOf(outcome);
    const journal = journals[object.kind];
    const stored = journal.object(objectKey(object));
    if (facts === undefined || stored === undefined) continue;
    try {
      await cluster.createEvent({ regarding: { kind: journal.kind, meta: stored.meta }, ...facts });
    } catch (error) {
      if (error instanceof KubeError) return [{ object, what: "event", error }];
      throw error;
    }
  }
  return [];
}
