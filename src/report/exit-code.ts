import type { Plan, PoolAssessment, RecordSetAssessment } from "../model/plan.ts";
import type { PassResult } from "../model/run.ts";
import { categoryOf, type ErrorCategory } from "./error-category.ts";
import { type Service, serviceOf, troublesOf } from "./service.ts";

/** Every exit code and its one meaning; see the manual's table. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  changesPending: 2,
  partly: 3,
  refused: 4,
  locked: 5,
  unhealthy: 6,
  usage: 64,
  temporary: 75,
  notPermitted: 77,
  invalidConfiguration: 78,
  interrupted: 130,
  terminated: 143,
} as const;

const OF_CATEGORY: Readonly<Record<ErrorCategory, number>> = {
  usage: EXIT.usage,
  config: EXIT.invalidConfiguration,
  permission: EXIT.notPermitted,
  refused: EXIT.unexpected,
  temporary: EXIT.temporary,
  bug: EXIT.unexpected,
};

/** Returns the exit code of a command that ended with an error. */
export function exitCodeOfError(error: unknown): number {
  return OF_CATEGORY[categoryOf(error)];
}

/**
 * Returns the exit code of `plan`: 2 for pending changes only where asked for, and never when an object is in error. `unusableTokens` as in {@link PassResult}.
 */
export function exitCodeOfPlan(
  plan: Plan,
  options: { readonly detailed: boolean; readonly unusableTokens?: readonly string[] },
): number {
  const trouble = exitCodeOfServices(
    objectsOf(plan).map((object) => serviceOf(object, plan, { unusableTokens: options.unusableTokens })),
    false,
  );
  return trouble === EXIT.done && options.detailed && plan.actions.length > 0 ? EXIT.changesPending : trouble;
}

/** Returns the exit code of `reconcile`; with `partialOk` objects in error beside served ones are left to conditions and metrics. */
export function exitCodeOfRun(result: PassResult, options: { readonly partialOk: boolean }): number {
  const { remaining, unusableTokens } = result;
  const services = objectsOf(remaining).map((object) =>
    serviceOf(object, remaining, { troubles: troublesOf(result, object), unusableTokens }),
  );
  const code = exitCodeOfServices(
    services,
    result.outcomes.some(({ outcome }) => outcome === "applied"),
  );
  return code === EXIT.partly && options.partialOk ? EXIT.done : code;
}

function objectsOf({ pools, recordSets }: Plan): readonly (PoolAssessment | RecordSetAssessment)[] {
  return [...pools, ...recordSets];
}

/** Returns the code for how the selected objects stand: whatever waits for a person makes 3, on one object or another alike. Precedence: 78, 77, 3, 75, 1. */
function exitCodeOfServices(services: readonly Service[], hasApplied: boolean): number {
  const troubles = services.filter((service) => service !== "served" && service !== "idle");
  if (troubles.length === 0) return EXIT.done;
  if (services.includes("served") || services.includes("unattended")) return EXIT.partly;
  if (troubles.includes("config")) return EXIT.invalidConfiguration;
  if (troubles.includes("permission")) return EXIT.notPermitted;
  if (hasApplied) return EXIT.partly;
  if (troubles.every((trouble) => trouble === "temporary")) return EXIT.temporary;
  return troubles.includes("bug") ? EXIT.unexpected : EXIT.partly;
}
