import { type ActionKind, refKey } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import { groupedByCause, type HeldTogether, whyHeld } from "../model/hold.ts";
import type { Hold, Plan } from "../model/plan.ts";
import { REASONS } from "../model/reason.ts";

/** One cause for which several objects wait. */
export interface SharedCause {
  /** The provider that it is about, where one is. */
  readonly provider: string;
  /** All holds that it explains, in the order of the plan; two at least. */
  readonly holds: readonly Hold[];
  readonly first: Hold;
  /** Why they wait, without what differs between them. */
  readonly why: string;
}

/**
 * Returns the causes for which several objects wait, in the order of the first hold of each: a provider that cannot be asked, a permission that is missing. What concerns one
 * object alone, or may have another cause for each, is not among them. Pure.
 */
export function sharedCauses(plan: Pick<Plan, "holds" | "pools" | "recordSets">): readonly SharedCause[] {
  const subjects = new Set(plan.holds.map(({ subject }) => subject));
  const providers = providersOf(plan);
  const candidates = plan.holds.filter(({ reason }) => isOfProvider(reason));
  const groups = Map.groupBy(candidates, (hold) =>
    JSON.stringify([hold.reason, hold.notBeforeMs, providers(hold), withoutSubjects(whyHeld(hold), subjects)]),
  );
  return [...groups.values()].flatMap((holds) => {
    const [first] = holds;
    const objects = new Set(holds.map(({ object }) => refKey(object)));
    if (first === undefined || objects.size < 2) return [];
    return [{ provider: providers(first), holds, first, why: withoutSubjects(whyHeld(first), subjects) }];
  });
}

/** Returns the holds of one object, grouped by their causes, whatever of it an error names. See {@link groupedByCause}. Pure. */
export function heldTogether(holds: readonly Hold[]): readonly HeldTogether[] {
  const subjects = new Set(holds.map(({ subject }) => subject));
  return groupedByCause(holds, (hold) => withoutSubjects(whyHeld(hold), subjects));
}

/** True for a reason that lies with a provider or a permission, so with no single object. */
function isOfProvider(reason: Hold["reason"]): boolean {
  const { service } = REASONS[reason];
  return service === "permission" || service === "temporary";
}

/** Returns an error without what it names of these: a provider is asked for one thing after the other, and the error of one is told of all. */
export function withoutSubjects(text: string, subjects: ReadonlySet<string>): string {
  // The API server names what it speaks of in quotes behind its kind: nodes "worker-1" is forbidden.
  const unquoted = text.replace(/(?<=\b[a-z]+s) "([^"]+)"/g, (quoted, name) => (subjects.has(name) ? "" : quoted));
  // An IPv6 address is one word.
  const known = unquoted.replace(/[\da-f]*:[\da-f:]*:[\da-f:]*/gi, (word) => (subjects.has(word) ? "them" : word));
  const bare = known.replace(/"([^"]+)"/g, (quoted, name) =>
    subjects.has(name) && !isPlainWord(name) ? "them" : quoted,
  );
  return bare.replace(/[\w*](?:[\w.*-]*[\w*])?/g, (word) => (subjects.has(word) && !isPlainWord(word) ? "them" : word));
}

/** A name that is made of letters alone may be a word of the sentence. */
function isPlainWord(word: string): boolean {
  return /^[a-z]+$/i.test(word);
}

function providersOf({ pools, recordSets }: Pick<Plan, "pools" | "recordSets">): (hold: Hold) => string {
  const ofPools = new Map(pools.map(({ object, provider, dns }) => [refKey(object), { provider, dns: dns?.provider }]));
  const ofNames = new Map(recordSets.map(({ object, written }) => [refKey(object), written.provider]));
  return ({ object, kind }) => {
    const key = refKey(object);
    const pool = ofPools.get(key);
    return (isAboutName(kind) ? pool?.dns : pool?.provider) ?? ofNames.get(key) ?? "";
  };
}

function isAboutName(kind: ActionKind | "reconcile"): boolean {
  return kind !== "reconcile" && ACTIONS[kind].affects === "name";
}
