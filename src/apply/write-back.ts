import { KubeError } from "../model/errors.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import { objectKey } from "../model/resource.ts";
import type { ReportFailure } from "../model/run.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import { eventOf } from "../report/events.ts";
import type { Journal } from "./journal.ts";

/** Writes every status that differs from what is stored. A failure is returned, never thrown: it stops no other object. */
export async function writeStatuses(plan: Plan, journal: Journal): Promise<readonly ReportFailure[]> {
  const failures = await Promise.all(
    plan.pools.map(async ({ object, status }): Promise<readonly ReportFailure[]> => {
      try {
        await journal.record(objectKey(object), () => status);
        return [];
      } catch (error) {
        if (error instanceof KubeError && error.failure === "not-found") return [];
        if (error instanceof Error) return [{ object, what: "status", error }];
        throw error;
      }
    }),
  );
  return failures.flat();
}

/** Writes one Event per change made or refused. Best effort: the first refusal is returned, and no more are tried; none once the lock is lost. */
export async function writeEvents(
  outcomes: readonly Outcome[],
  journal: Journal,
  cluster: ClusterWriter,
  mayWrite: () => boolean,
): Promise<readonly ReportFailure[]> {
  for (const outcome of outcomes) {
    if (!mayWrite()) return [];
    const facts = eventOf(outcome);
    const pool = journal.pool(objectKey(outcome.action.object));
    if (facts === undefined || pool === undefined) continue;
    try {
      await cluster.createEvent({ regarding: { kind: "FloatingIPPool", meta: pool.meta }, ...facts });
    } catch (error) {
      if (error instanceof KubeError) return [{ object: outcome.action.object, what: "event", error }];
      throw error;
    }
  }
  return [];
}
