import { isDeepStrictEqual } from "node:util";
import { type AcquireIP, type Action, type ObjectRef, refKey, subjectOf } from "../model/action.ts";
import { changesAddress, changesAnnotation, changesFirewall, changesName } from "../model/action-kinds.ts";
import type { Observation } from "../model/observation.ts";
import type { ChangedFact, FactValue } from "../model/outcome.ts";
import { announcedActions, type Hold, type Plan } from "../model/plan.ts";
import { compareText } from "../model/resource.ts";
import type { RunLimits } from "../model/restraint.ts";
import type { Selection } from "../model/run.ts";
import { type SavedAction, type SavedPlan, savedActions } from "../model/saved-plan.ts";
import { actionLine, actionText } from "../report/text/actions.ts";
import { whyHold } from "../report/text/holds.ts";
import { addressesPath, changesOf, type Now, type Question, questionsOf } from "./facts.ts";
import { acquiredBy, holderOf, isDone, machineText, UNKNOWN } from "./readings.ts";

/*
 * A saved plan is carried out as it was read, or refused by name. Three questions are asked of each action, on a new look at the world:
 *
 *   done     the world shows what the action was to bring, and it is no longer planned
 *   changed  a fact that it depends on differs, an action that it needs is refused, or flipop would do something else now
 *   same     none of these: it is carried out
 */

/** Returns a plan as it is saved. Pure. */
export function savePlan(
  { world, plan }: Pick<Now, "world" | "plan">,
  about: { readonly clusterUID: string; readonly selection: Selection; readonly limits: RunLimits },
): SavedPlan {
  const all = announcedActions(plan);
  const needs = needsOf(plan);
  const saved = all.map((action, at): SavedAction => {
    const now: Now = { world, plan, planned: action };
    const needed = needs[at] ?? [];
    const changed = new Set(needed.flatMap((place) => changesOf(all[place] ?? action)));
    const asked = questionsOf(action).filter((question) => !pathsOf(question).some((path) => changed.has(path)));
    const preconditions = asked.flatMap(({ path, read, must }) => {
      const equals = read(now);
      return equals === UNKNOWN ? [] : [{ path, equals, message: must(equals, now) }];
    });
    return { action, text: actionLine(action), preconditions, needs: needed };
  });
  const count = plan.actions.length;
  return {
    ...about,
    planID: plan.planID,
    savedAtMs: plan.observedAtMs,
    actions: saved.slice(0, count),
    followUps: saved.slice(count),
  };
}

/** For each action of a plan the places of those before it that it requires, or that change a fact it depends on. */
function needsOf({ actions, followUps }: Plan): readonly (readonly number[])[] {
  const all = [...actions, ...followUps];
  const before = actions.map((action) => ahead(action, actions));
  const changing = new Map<string, number[]>();
  const placesOf = new Map<string, number[]>();
  all.forEach((action, at) => {
    enter(placesOf, action.id, at);
    for (const path of changesOf(action)) enter(changing, path, at);
  });
  return all.map((action, at) => {
    const isAhead = (place: number): boolean => (at < actions.length ? before[at]?.has(place) === true : place < at);
    const required = action.requires.flatMap((id) => placesOf.get(id) ?? []);
    const changed = questionsOf(action).flatMap((question) =>
      pathsOf(question).flatMap((path) => changing.get(path) ?? []),
    );
    return [...new Set([...required, ...changed].filter(isAhead))].toSorted((a, b) => a - b);
  });
}

function enter(places: Map<string, number[]>, key: string, at: number): void {
  places.set(key, [...(places.get(key) ?? []), at]);
}

/** The places of what must have ended before an action of the first round. */
function ahead({ requires, follows }: Action, actions: readonly Action[]): ReadonlySet<number> {
  const places = new Map(actions.map(({ id }, at) => [id, at]));
  const found = new Set<number>();
  const open = [...requires, ...follows];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const place = places.get(id);
    const action = place === undefined ? undefined : actions[place];
    if (place === undefined || action === undefined || found.has(place)) continue;
    found.add(place);
    open.push(...action.requires, ...action.follows);
  }
  return found;
}

function pathsOf({ path, of }: Question): readonly string[] {
  return of === undefined ? [path] : [path, of];
}

/** An action of a saved plan, judged on the world as it is now. */
export type Judged = { readonly saved: SavedAction } & (
  | { readonly kind: "same" | "done" }
  | { readonly kind: "changed"; readonly fact: ChangedFact }
);

/** What becomes of a saved plan. */
export interface Judgement {
  /** One for each action of the saved plan, in its order. */
  readonly judged: readonly Judged[];
  /** What stands in the saved plan for an address that is to be acquired → the address, or what stands for it in the plan of now. */
  readonly newAddresses: ReadonlyMap<string, string>;
  /** What is planned now and not in the saved plan. */
  readonly others: readonly Action[];
}

/** Judges every action of a saved plan. `now` has the plan of the same selection, with what follows. Pure. */
export function judge(saved: SavedPlan, { world, plan }: Pick<Now, "world" | "plan">): Judgement {
  const all = savedActions(saved);
  const fresh = new Fresh(announcedActions(plan));
  const bought = boughtBy(all, { world, plan });
  const boughtSet = new Set(bought.values());
  const newAddresses = new Map<string, string>();
  const judged: Judged[] = [];
  const found = all.map(({ action }) => {
    const ip = action.kind === "acquire-ip" ? bought.get(action) : undefined;
    const planned = ip === undefined ? fresh.take(action, newAddresses) : undefined;
    const now = ip ?? (planned?.kind === "acquire-ip" ? planned.newAddress : undefined);
    if (action.kind === "acquire-ip" && action.newAddress !== undefined && now !== undefined)
      newAddresses.set(action.newAddress, now);
    return { planned, isShown: ip !== undefined || isDone(renamed(action, newAddresses), world) };
  });
  all.forEach((entry, at) => {
    const { planned, isShown = false } = found[at] ?? {};
    const isOver = planned === undefined && (isShown || isOvertaken(at, all, found));
    if (isOver) {
      judged.push({ saved: entry, kind: "done" });
      return;
    }
    const now: Now = { world, plan, planned, bought: boughtSet };
    const fact =
      refusedNeed(entry, judged) ??
      firstDifference(entry, now) ??
      (planned === undefined ? otherwise(entry, plan) : undefined);
    judged.push(fact === undefined ? { saved: entry, kind: "same" } : { saved: entry, kind: "changed", fact });
  });
  return { judged, newAddresses, others: fresh.rest() };
}

interface Found {
  readonly planned: Action | undefined;
  readonly isShown: boolean;
}

/** True where a later action that needs this one has done its part already: then this one has, too. An object without its finalizer was let go at the end of all that it needed. */
function isOvertaken(at: number, all: readonly SavedAction[], found: readonly Found[]): boolean {
  const own = changesOf(all[at]?.action as Action);
  return all.some(({ action, needs }, later) => {
    const { planned, isShown = false } = found[later] ?? {};
    const isSequel = action.kind === "remove-finalizer" || changesOf(action).some((path) => own.includes(path));
    return needs.includes(at) && isShown && planned === undefined && isSequel;
  });
}

function refusedNeed({ needs }: SavedAction, judged: readonly Judged[]): ChangedFact | undefined {
  const needed = needs.flatMap((at) => judged[at] ?? []).find(({ kind }) => kind === "changed");
  if (needed === undefined) return undefined;
  const { text, action } = needed.saved;
  return { path: `action/${action.id}`, was: text, is: "refused", message: `"${actionText(action)}" is refused.` };
}

function firstDifference({ action, preconditions }: SavedAction, now: Now): ChangedFact | undefined {
  const questions = new Map(questionsOf(action).map((question) => [question.path, question]));
  for (const { path, equals } of preconditions) {
    const question = questions.get(path);
    const is: FactValue = question?.read(now) ?? "";
    if (question !== undefined && isDeepStrictEqual(is, equals)) continue;
    return { path, was: equals, is, message: question?.changed(is, now) ?? "This flipop does not know the fact." };
  }
  return undefined;
}

/** Nothing that the action depends on has changed, and it is not planned: something else goes first now, or is held. */
function otherwise({ action, text }: SavedAction, plan: Plan): ChangedFact {
  const subject = subjectOf(action);
  const isMeant = (one: { readonly object: ObjectRef }): boolean => refKey(one.object) === refKey(action.object);
  const instead = announcedActions(plan).find((one) => isMeant(one) && subjectOf(one) === subject);
  // What waits for a person may be told of a part of the change: of an address, where the action is about its name.
  const isPart = (one: Hold): boolean => instead === undefined && one.kind === action.kind && one.needsPerson;
  const hold =
    plan.holds.find((one) => isMeant(one) && (one.subject === subject || one.kind === "reconcile")) ??
    plan.holds.find((one) => isMeant(one) && isPart(one));
  const is = instead === undefined ? "" : actionLine(instead);
  const message =
    hold !== undefined
      ? whyHold(hold, plan.observedAtMs)
      : is === ""
        ? "It is no longer needed."
        : `Now flipop would ${is}.`;
  return { path: "plan", was: text, is, message };
}

/** Tells which of the planned actions no action of a saved plan has been found to be. */
class Fresh {
  readonly #left: Map<string, Action[]>;

  constructor(actions: readonly Action[]) {
    this.#left = Map.groupBy(actions, (action) => changeKey(action));
  }

  /** Returns the planned action that makes the same change, once; undefined where none does. */
  take(action: Action, newAddresses: ReadonlyMap<string, string>): Action | undefined {
    return this.#left.get(changeKey(action, newAddresses))?.shift();
  }

  rest(): readonly Action[] {
    return [...this.#left.values()].flat();
  }
}

/**
 * The address that each acquisition of a saved plan has brought by now: on its node's machine, or, where it was for no node, any that the object did not have. Of an acquisition whose run
 * died before the answer only the plan tells: it has found the address again.
 */
function boughtBy(
  all: readonly SavedAction[],
  { world, plan }: Pick<Now, "world" | "plan">,
): ReadonlyMap<Action, string> {
  const found = new Map<Action, string>();
  for (const { action, preconditions } of all) {
    if (action.kind !== "acquire-ip") continue;
    const had = preconditions.find(({ path }) => path === addressesPath(action.object))?.equals ?? [];
    const isFree = (ip: string): boolean => !had.includes(ip) && ![...found.values()].includes(ip);
    const again = plan.pools.find(({ object }) => refKey(object) === refKey(action.object))?.status.acquired ?? [];
    const acquired = [...acquiredBy(world, action.object), ...again.map((one) => one.ip)];
    const ip = acquired.find((one) => isFree(one) && isMeantFor(action, one, world));
    if (ip !== undefined) found.set(action, ip);
  }
  return found;
}

function isMeantFor({ after, provider }: AcquireIP, ip: string, world: Observation): boolean {
  return !("node" in after) || holderOf(world, ip, provider) === machineText(after.node.machineID);
}

/** Names the change that an action makes, whatever number or order it has in its plan: two actions with the same key do the same. */
export function changeKey(action: Action, newAddresses: ReadonlyMap<string, string> = new Map()): string {
  const named = renamed(action, newAddresses);
  const { kind, object, before, after } = named;
  // What TTL the records had is a fact of its own.
  const ttl = changesName(named) ? [named.after.ttlSeconds] : [];
  return JSON.stringify([kind, refKey(object), thingOf(named), sideKey(before), sideKey(after), ttl]);
}

/** What an action is about, beside its object. The number of an acquisition says nothing. */
function thingOf(action: Action): readonly string[] {
  if (action.kind === "acquire-ip") return [action.provider];
  if (changesName(action)) return [action.dnsProvider, action.zone.id, action.fqdn];
  if (changesFirewall(action)) return [action.provider, action.firewall.id];
  return changesAddress(action) ? [action.provider, action.ip] : [subjectOf(action)];
}

/** Machines, not their names, and addresses in a fixed order. */
function sideKey(side: Action["before"] | Action["after"]): readonly string[] {
  if (side === undefined) return [];
  if (isTexts(side)) return side.toSorted(compareText);
  if ("node" in side) return [side.node.machineID];
  if ("region" in side) return ["region", side.region];
  if ("machineID" in side) return [side.machineID];
  if ("addresses" in side) return side.addresses.toSorted(compareText);
  return [side.address ?? "", side.pool ?? ""];
}

function isTexts(side: NonNullable<Action["before"] | Action["after"]>): side is readonly string[] {
  return Array.isArray(side);
}

/** The action with what stands for addresses replaced. */
function renamed(action: Action, newAddresses: ReadonlyMap<string, string>): Action {
  if (newAddresses.size === 0) return action;
  const name = (ip: string): string => newAddresses.get(ip) ?? ip;
  if (changesName(action)) {
    const { before, after } = action;
    return {
      ...action,
      before: { ...before, addresses: before.addresses.map(name) },
      after: { ...after, addresses: after.addresses.map(name) },
    };
  }
  if (changesAnnotation(action)) {
    const { before, after } = action;
    const named = (address: string | undefined): string | undefined => address?.split(",").map(name).join(",");
    return {
      ...action,
      before: { ...before, address: named(before.address) },
      after: { ...after, address: named(after.address) },
    };
  }
  return changesAddress(action) ? { ...action, ip: name(action.ip) } : action;
}
