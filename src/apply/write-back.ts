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

/**
 * Writes one Event per change made or refused; none once the lock is lost. Best effort: the first refusal is returned, and no more are tried. Exception: if only the
 * permission to count an Event that is there is missing, the others are still written.
 */
export async function writeEvents(
  outcomes: readonly Outcome[],
  journals: Journals,
  cluster: ClusterWriter,
  mayWrite: () => boolean,
): Promise<readonly ReportFailure[]> {
  const uncounted: ReportFailure[] = [];
  for (const outcome of outcomes) {
    if (!mayWrite()) break;
    const { object } = outcome.action;
    try {
      const error = await writeEvent(outcome, journals, cluster);
      if (error !== undefined) uncounted.push({ object, what: "event", error });
    } catch (error) {
      if (error instanceof KubeError) return [{ object, what: "event", error }];
      throw error;
    }
  }
  return uncounted.slice(0, 1);
}

async function writeEvent(
  outcome: Outcome,
  journals: Journals,
  cluster: ClusterWriter,
): Promise<KubeError | undefined> {
  const { object } = outcome.action;
  const facts = eventOf(outcome);
  const journal = journals[object.kind];
  const stored = journal.object(objectKey(object));
  if (facts === undefined || stored === undefined) return undefined;
  return await cluster.createEvent({ regarding: { kind: journal.kind, meta: stored.meta }, ...facts });
}
