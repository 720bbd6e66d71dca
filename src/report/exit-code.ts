import { type Action, type ObjectRef, refKey } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Hold, Plan, PoolAssessment, RecordSetAssessment } from "../model/plan.ts";
import { REASONS, type Reason } from "../model/reason.ts";
import type { PassResult } from "../model/run.ts";
import { outagesBeyond, type Simulation } from "../model/simulation.ts";
import { byObject } from "./by-object.ts";
import { categoryOf, type ErrorCategory } from "./text/errors.ts";
import { countText } from "./text/layout.ts";
import { isRefused, lastOutcomes } from "./text/run.ts";

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
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** The signals that end a run in order. */
export type EndSignal = "SIGHUP" | "SIGINT" | "SIGTERM";

/** The code of a run that one of these signals ended. */
export const SIGNAL_CODES: Readonly<Record<EndSignal, number>> = {
  SIGHUP: EXIT.hungUp,
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
};

/** True for the code of a run that a signal ended. Pure. */
export function isSignalled(exitCode: number): boolean {
  return Object.values(SIGNAL_CODES).includes(exitCode);
}

/** What each exit code means, and whether it helps to run once more. */
const MEANINGS: Readonly<Record<keyof typeof EXIT, readonly [meaning: string, retry: string]>> = {
  done: [
    "done, or nothing to do; holds that end by themselves, and changes still unconfirmed at the deadline, are no failure",
    "–",
  ],
  unexpected: ["unexpected error", "yes"],
  changesPending: ["changes pending: only `plan` and `simulate` with `--detailed-exitcode`", "–"],
  partly: [
    "partly: some object is in error, or something of it waits for a person or was left behind; the others were served (`--partial ok` makes it 0)",
    "yes",
  ],
  refused: ["refused: a guard, a declined prompt, or a saved plan that no longer holds", "no"],
  locked: ["another run holds the lock (`--on-locked fail`, the default; `skip` makes it 0)", "yes"],
  unhealthy: ["unhealthy: `status --check`, `validate`, `doctor` or `simulate --expect` found something", "–"],
  usage: ["wrong usage", "no"],
  temporary: ["temporary: nothing was applied, and every failure is of the passing kind", "yes"],
  notPermitted: [
    "not permitted (RBAC or another rule of the cluster; token missing, invalid or too narrow), and no selected object could be served",
    "no",
  ],
  invalidConfiguration: ["invalid configuration, and no selected object could be served", "no"],
  hungUp: ["SIGHUP, of a terminal that is gone, after a clean end", "–"],
  interrupted: ["SIGINT, after a clean end", "–"],
  terminated: ["SIGTERM, after a clean end", "–"],
};

/** Returns every exit code with its meaning in Markdown, and whether it helps to run once more: `yes`, `no`, or `–` where nothing failed; ascending. */
export function exitCodes(): readonly { readonly code: number; readonly meaning: string; readonly retry: string }[] {
  return (Object.keys(EXIT) as (keyof typeof EXIT)[]).map((name) => {
    const [meaning, retry] = MEANINGS[name];
    return { code: EXIT[name], meaning, retry };
  });
}

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
 * Returns the exit code of `plan`: 2 for pending changes only where asked for, and never when an object is in error. Of a world in which `reconcile` finds nothing to do it
 * is the exit code of that run. `unusableTokens` as in {@link PassResult}.
 */
export function exitCodeOfPlan(
  plan: Plan,
  options: { readonly detailed: boolean; readonly unusableTokens?: readonly string[] },
): number {
  const { unusableTokens } = options;
  const facts = factsOf(plan);
  const services = objectsOf(plan).map((object) => serviceOf(object, facts, { unusableTokens }));
  const trouble = exitCodeOfServices(services, false);
  if (trouble === EXIT.partly && isOnlyGuarded(services, plan)) return EXIT.refused;
  return trouble === EXIT.done && options.detailed && plan.actions.length > 0 ? EXIT.changesPending : trouble;
}

/**
 * Returns the exit code of `simulate`: 6 where less is promised than was expected, or where something could not be read and nobody can promise it; 2 for things that
 * would be done only where asked for.
 */
export function exitCodeOfSimulation(
  simulation: Simulation,
  { detailed, mostOutageMs }: { readonly detailed: boolean; readonly mostOutageMs?: number | undefined },
): number {
  const isMissed =
    mostOutageMs !== undefined && (simulation.gaps.length > 0 || outagesBeyond(simulation, mostOutageMs).length > 0);
  if (isMissed) return EXIT.unhealthy;
  return detailed && simulation.steps.some(({ actions }) => actions.length > 0) ? EXIT.changesPending : EXIT.done;
}

/** Returns the exit code of `reconcile`; with `partialOk` objects in error beside served ones are left to conditions and metrics. */
export function exitCodeOfRun(result: PassResult, options: { readonly partialOk: boolean }): number {
  if (result.saved !== undefined) return exitCodeOfSaved(result, options);
  const { remaining } = result;
  const services = servicesOf(result);
  const hasApplied = result.outcomes.some(({ outcome }) => outcome === "applied" || outcome === "unconfirmed");
  const code = exitCodeOfServices(services, hasApplied);
  if (code !== EXIT.done && code !== EXIT.partly) return code;
  if (isDeclined(remaining)) return EXIT.refused;
  if (code === EXIT.done || options.partialOk) return EXIT.done;
  return isOnlyGuarded(services, remaining) && !hasApplied ? EXIT.refused : code;
}

/** Returns how many of the objects are not as they should be: `1 of 2 objects in error`, `1 of 5 objects in error, 2 wait for a person`; of what a guard holds only where that is all; `""` where all are served. */
export function troubleText(result: PassResult): string {
  const services = servicesOf(result);
  const waiting = services.filter((service) => service === "unattended").length;
  const isFine = (service: Service): boolean =>
    service === "served" || service === "idle" || service === "guarded" || service === "unattended";
  const failed = services.filter((service) => !isFine(service)).length;
  const all = `of ${countText(services.length, "object")}`;
  const waits = waiting === 1 ? "waits for a person" : "wait for a person";
  const guarded = services.filter((service) => service === "guarded").length;
  if (failed + waiting === 0) return guarded === 0 ? "" : `guarded changes left on ${guarded} ${all}`;
  if (failed === 0) return `${waiting} ${all} ${waits}`;
  return `${failed} ${all} in error${waiting === 0 ? "" : `, ${waiting} ${waits}`}`;
}

/** How each object came out of a run. One that was to go and is gone is as it should be. */
function servicesOf(result: PassResult): readonly Service[] {
  const { plan, remaining, unusableTokens } = result;
  const left = objectsOf(remaining);
  const isLeft = new Set(left.map(({ object }) => refKey(object)));
  const facts = factsOf(remaining);
  const troublesOf = troublesIn(result);
  return [
    ...left.map((object) => serviceOf(object, facts, { troubles: troublesOf(object), unusableTokens })),
    ...objectsOf(plan).flatMap(({ object }) => (isLeft.has(refKey(object)) ? [] : (["served"] as const))),
  ];
}

/** The code of a run that carried out a saved plan: how its actions ended says all, whatever else objects lack. */
function exitCodeOfSaved(
  { outcomes, reportFailures }: PassResult,
  { partialOk }: { readonly partialOk: boolean },
): number {
  const last = lastOutcomes(outcomes).map((one) => one.last);
  if (last.some(isRefused)) return EXIT.refused;
  const troubles = [
    ...last.flatMap((outcome) => troubleOf(outcome)),
    ...last.flatMap((outcome) => (isLeft(outcome) ? (["temporary"] as const) : [])),
    ...reportFailures.flatMap(({ what, error }) => (what === "status" ? [asTrouble(error)] : [])),
  ];
  if (troubles.length === 0 || (partialOk && last.some(({ outcome }) => outcome === "applied"))) return EXIT.done;
  const isPassing = troubles.every((trouble) => trouble === "temporary");
  return isPassing && last.every(({ outcome }) => outcome !== "applied") ? EXIT.temporary : EXIT.partly;
}

/** True for what was skipped for a reason of its own: what merely waits for another action is told by that one. */
function isLeft(outcome: Outcome): boolean {
  return outcome.outcome === "skipped" && outcome.reason !== "PrerequisiteFailed";
}

/** True where a question was declined, or nobody could be asked. */
function isDeclined({ toConfirm = [] }: Plan): boolean {
  return toConfirm.length > 0;
}

/** True where nothing is to be done, and nothing is left but what a guard holds. */
function isOnlyGuarded(services: readonly Service[], { actions }: Plan): boolean {
  return actions.length === 0 && services.every(isLeftOnPurpose);
}

/** True for an object that nothing is left of but what a guard holds. */
function isLeftOnPurpose(service: Service): boolean {
  return service === "served" || service === "idle" || service === "guarded";
}

function objectsOf({ pools, recordSets }: Plan): readonly (PoolAssessment | RecordSetAssessment)[] {
  return [...pools, ...recordSets];
}

/** Returns the code for how the selected objects stand: whatever waits for a person makes 3, on one object or another alike. Precedence: 78, 77, 3, 75, 1. */
function exitCodeOfServices(services: readonly Service[], hasApplied: boolean): number {
  const troubles = services.filter((service) => service !== "served" && service !== "idle");
  if (troubles.length === 0) return EXIT.done;
  if (services.some((service) => service === "served" || service === "unattended" || service === "guarded"))
    return EXIT.partly;
  if (troubles.includes("config")) return EXIT.invalidConfiguration;
  if (troubles.includes("permission")) return EXIT.notPermitted;
  if (hasApplied) return EXIT.partly;
  if (troubles.every((trouble) => trouble === "temporary")) return EXIT.temporary;
  return troubles.includes("bug") ? EXIT.unexpected : EXIT.partly;
}

/**
 * How one object came out of a run. `served`: as desired, or on its way with nothing but holds. `idle`: suspended, so neither
 * served nor in trouble. `unattended`: served as far as it goes, and the rest waits for a person. `guarded`: the same, and a guard holds the rest. Everything else is why it is in error; the worst of several.
 */
type Service = "served" | "idle" | "unattended" | "guarded" | Trouble;

/** Why an object is in error, worst first: the categories of errors, as far as an object can have them. */
type Trouble = Exclude<ErrorCategory, "usage">;

const WORST_FIRST: readonly Trouble[] = ["bug", "config", "permission", "refused", "temporary"];

/** Facts about an object that the plan does not have. */
interface ServiceFacts {
  /** What went wrong for it in the run. */
  readonly troubles?: readonly Trouble[];
  /** As {@link PassResult.unusableTokens}. */
  readonly unusableTokens?: readonly string[] | undefined;
}

/** What a plan has for each object, by its key. */
interface PlanFacts {
  readonly holdsOf: (key: string) => readonly Hold[];
  readonly actionsOf: (key: string) => readonly Action[];
  readonly namesOf: (key: string) => Plan["names"];
}

function factsOf({ holds, actions, names }: Plan): PlanFacts {
  return { holdsOf: byObject(holds), actionsOf: byObject(actions), namesOf: byObject(names) };
}

/** Returns how one pool, routed IP or record set stands by its plan and by the troubles of the run. */
function serviceOf(
  object: PoolAssessment | RecordSetAssessment,
  facts: PlanFacts,
  { troubles = [], unusableTokens = [] }: ServiceFacts = {},
): Service {
  const key = refKey(object.object);
  const holds = facts.holdsOf(key);
  const isServing =
    "desired" in object
      ? Object.values(object.status.ips).some(({ state }) => state === "active")
      : isPublished(key, facts);
  const held = holds.flatMap((hold) => meaningOf(hold, unusableTokens.includes(providerOf(object, hold) ?? "")));
  const isUnreadable = "desired" in object && hasNothingReadable(object, holds);
  const states = [
    ...held,
    ...(isServing ? troubles.map(besideOthers) : troubles),
    ...(isUnreadable ? (["temporary"] as const) : []),
  ];
  const worst = WORST_FIRST.find((trouble) => states.includes(trouble));
  if (worst !== undefined) return worst;
  // Whatever it is about: it stays as it is until a person acts.
  if (holds.some(({ needsPerson, reason }) => needsPerson && !isGuard(reason))) return "unattended";
  if (holds.some(({ reason }) => isGuard(reason))) return "guarded";
  if (held.includes("idle")) return "idle";
  return object.status.error === undefined ? "served" : "refused";
}

/** True where the name of a record set answers, and nothing of it is left to do. */
function isPublished(key: string, { holdsOf, actionsOf, namesOf }: PlanFacts): boolean {
  const isOpen = [...actionsOf(key), ...holdsOf(key)].some(({ kind }) => isName(kind));
  return !isOpen && namesOf(key).some(({ serving }) => serving.length > 0);
}

function isGuard(reason: Reason): boolean {
  return REASONS[reason].isGuard === true;
}

/** Returns the provider that a hold is about; undefined if the object's DNS name is not known. */
function providerOf(object: PoolAssessment | RecordSetAssessment, { kind }: Hold): string | undefined {
  if ("written" in object) return object.written.provider;
  return isName(kind) ? object.dns?.provider : object.provider;
}

function meaningOf({ kind, reason, object }: Hold, isTokenUnusable: boolean): readonly Service[] {
  const usual = REASONS[reason].service;
  const meaning = usual === "permission" && reason === "ProviderUnavailable" && isTokenUnusable ? "config" : usual;
  if (meaning === undefined || !(kind === "reconcile" || isName(kind) || ACTIONS[kind].affects === "ports")) return [];
  const isWhole = kind === "reconcile" || kind === "open-ports" || (kind === "update-dns" && object.kind === "dns");
  return [isWhole ? meaning : besideOthers(meaning)];
}

function isName(kind: Hold["kind"]): boolean {
  return kind !== "reconcile" && ACTIONS[kind].affects === "name";
}

/**
 * A pool with trouble in DNS, or in what is written of it, serves its addresses all the same; a record set its present name when an old one is in trouble; a routed IP
 * when something stays open.
 */
function besideOthers<S extends Service>(meaning: S): S | "refused" {
  return meaning === "config" || meaning === "permission" ? "refused" : meaning;
}

/** Every address of the pool is a gap: nothing of it could be served in this pass. */
function hasNothingReadable(pool: PoolAssessment, holds: readonly Hold[]): boolean {
  const ips = Object.keys(pool.status.ips);
  const unread = new Set(holds.filter(isUnread).map(({ subject }) => subject));
  return ips.length > 0 && ips.every((ip) => unread.has(ip));
}

function isUnread({ reason }: Hold): boolean {
  return REASONS[reason].service === "temporary";
}

/** Returns what says of one object what went wrong for it in a run: failed actions, what a lost lock or the deadline cut off, an unwritten status. */
function troublesIn({
  outcomes,
  remaining,
  reportFailures,
}: PassResult): (of: { readonly object: ObjectRef }) => readonly Trouble[] {
  // A failure does not count once the same was done in another way, such as on another node.
  const last = [...new Map(outcomes.map((outcome) => [outcome.action.id, outcome])).values()];
  const lacking = new Set(
    [...remaining.actions, ...remaining.holds].flatMap(({ kind, object }) =>
      kind === "acquire-ip" ? [refKey(object)] : [],
    ),
  );
  // Where an address whose purchase got no answer was found, the plan has no purchase for the object any more, and holds none.
  const isOpen = ({ action: { kind, object } }: Outcome): boolean =>
    kind !== "acquire-ip" || lacking.has(refKey(object));
  const outcomesOf = Map.groupBy(last.filter(isOpen), ({ action }) => refKey(action.object));
  const unwrittenOf = byObject(reportFailures.filter((failure) => failure.what === "status"));
  return ({ object }) => [
    ...(outcomesOf.get(refKey(object)) ?? []).flatMap(troubleOf),
    ...unwrittenOf(refKey(object)).map(({ error }) => asTrouble(error)),
  ];
}

function troubleOf(outcome: Outcome): readonly Trouble[] {
  if (outcome.outcome === "failed") {
    const trouble = asTrouble(outcome.error);
    const { kind, object } = outcome.action;
    // What is only left behind takes nothing from what the object serves.
    if (ACTIONS[kind].isAside === true) return [trouble === "bug" ? trouble : "refused"];
    return [isName(kind) && object.kind !== "dns" ? besideOthers(trouble) : trouble];
  }
  const isCutOff = outcome.outcome === "skipped" && (outcome.reason === "LockLost" || outcome.reason === "Deadline");
  return isCutOff ? ["temporary"] : [];
}

function asTrouble(error: Error): Trouble {
  const category = categoryOf(error);
  return category === "usage" ? "config" : category;
}

/** True for the exit code (`partialOk: false`) of a run that looked at everything. Objects in error beside served ones are no failure of the run itself. */
export function isSuccess(exitCode: number): boolean {
  return exitCode === EXIT.done || exitCode === EXIT.partly || exitCode === EXIT.refused;
}
