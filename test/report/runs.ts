import type { Action } from "../../src/model/action.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { PassResult, RunTiming } from "../../src/model/run.ts";
import { aNode, anObservation, aPool, planOf, remainingOf } from "./world.ts";

/** The timing of a run that took no time. */
export const NO_TIME: RunTiming = { observeMs: 0, planMs: 0, applyMs: 0, reportMs: 0, failoverSeconds: [] };

/** A world in which nothing is to do. */
export function steady(): Observation {
  const web = aPool("web", ["203.0.113.10"], {
    status: { ips: { "203.0.113.10": { state: "active", nodeName: "worker-1", providerID: "digitalocean://1" } } },
  });
  const node = aNode(1, { addressAnnotation: "203.0.113.10", poolAnnotation: "ingress/web" });
  return anObservation([web], [node], { "203.0.113.10": "1" });
}

/** A run that found nothing to do. */
export function aQuietRun(): PassResult {
  const plan = planOf(steady());
  return { plan, outcomes: [], remaining: plan, reportFailures: [], wasInterrupted: false, timing: NO_TIME };
}

/** A run on a world, whose outcomes a function tells action by action; what remains is planned on the world given. */
export function aRun(
  before: Observation,
  after: Observation,
  outcomeOf: (action: Action) => Outcome,
  changes: Partial<PassResult> = {},
): PassResult {
  const plan = planOf(before);
  return {
    plan,
    outcomes: plan.actions.map(outcomeOf),
    remaining: remainingOf(after),
    reportFailures: [],
    wasInterrupted: false,
    timing: NO_TIME,
    ...changes,
  };
}

/** An action that worked. */
export function applied(action: Action): Outcome {
  return { action, outcome: "applied", ms: 1234 };
}

/** An action that DigitalOcean refused. */
export function failed(action: Action, failure: ProviderError["failure"] = "refused", status = 422): Outcome {
  const error = new ProviderError({
    provider: "digitalocean",
    failure,
    operation: "assign",
    subject: "203.0.113.10",
    status,
    message: "Could not assign 203.0.113.10 to droplet 3: DigitalOcean refused it. Look at the droplet.",
    requestID: "req-1",
  });
  return { action, outcome: "failed", ms: 250, error };
}
