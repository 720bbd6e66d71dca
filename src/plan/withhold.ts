import { type Action, type ObjectRef, refKey, type Taken, type WriteDNS, worstImpact } from "../model/action.ts";
import { changesAddress, changesName } from "../model/action-kinds.ts";
import { approveAdvice, hashOfTaken, notApproved } from "../model/approval.ts";
import { addressesWithout } from "../model/dns.ts";
import type { Observation } from "../model/observation.ts";
import type { Obstacle, ToApprove } from "../model/plan.ts";
import { bySeniority, compareText, type ObjectMeta } from "../model/resource.ts";
import type { Restraint } from "../model/restraint.ts";
import type { Verdict } from "./guards.ts";
import { hold, obstacle, personNeeded } from "./holds.ts";

/*
 * What a run does not take from anybody, although the plan would: more than its limits allow, and what nobody has confirmed.
 *
 *   1 Count by thing: an address that leaves names, annotation and machine is one thing, and so is a name that goes.
 *   2 What an earlier run has begun first: an address that drains has left its names for this. Then the senior object; of one object names before addresses, since
 *     addresses wait for their names.
 *   3 What the run has begun goes on. What a recovery requires is never withheld.
 *   4 An address that has drained, and that only the limits withhold, stays out of its names until it is its turn: else it would drain once more.
 *
 * plan.ts plans again with what is withheld: nodes that it was promised are free for others then.
 */

/** By {@link Taken.what}, why it stays. */
export type Withheld = ReadonlyMap<string, Obstacle>;

/** Nothing withheld. */
export const NOTHING_WITHHELD: Withheld = new Map();

/** What decides about the things that a plan takes from somebody. */
export interface Deciders {
  readonly restraint: Restraint | undefined;
  /** The place of an object among all, the senior one first. */
  readonly rankOf: (object: ObjectRef) => number;
  /** Addresses that drain, or have drained, by status. */
  readonly draining: ReadonlySet<string>;
  /** What is known of an object that needs approval; undefined for one that needs none. */
  readonly approvalOf: (object: ObjectRef) => ObjectMeta | undefined;
  readonly nowMs: number;
}

/** Returns who decides what is withheld; undefined where a run is not restrained, and no object asks for approval. Pure. */
export function decidersOf(world: Observation): Deciders | undefined {
  const { pools, recordSets, restraint, observedAtMs: nowMs } = world;
  const all = [
    ...pools.map(({ kind, meta, spec }) => ({ ref: { kind, ...meta }, meta, spec })),
    ...recordSets.map(({ meta, spec }) => ({ ref: { kind: "dns" as const, ...meta }, meta, spec })),
  ].toSorted(bySeniority);
  if (restraint === undefined && all.every(({ spec }) => spec.approval !== "Voluntary")) return undefined;
  const ranks = new Map(all.map(({ ref }, rank) => [refKey(ref), rank]));
  const metas = new Map(
    all.flatMap(({ ref, meta, spec }) => (spec.approval === "Voluntary" ? [[refKey(ref), meta] as const] : [])),
  );
  return {
    restraint,
    nowMs,
    draining: new Set(
      pools.flatMap(({ status }) =>
        Object.entries(status.ips).flatMap(([ip, { drainingUntil }]) => (drainingUntil === undefined ? [] : [ip])),
      ),
    ),
    rankOf: (object) => ranks.get(refKey(object)) ?? ranks.size,
    approvalOf: (object) => metas.get(refKey(object)),
  };
}

/** What is withheld of a plan, and what of that a person is asked about. */
export interface Excess {
  readonly withheld: Withheld;
  readonly toConfirm: readonly Action[];
  readonly toApprove: readonly ToApprove[];
}

/** Returns what of a plan is to be withheld. Pure. */
export function excess(actions: readonly Action[], deciders: Deciders): Excess {
  const exempt = neededByRecovery(actions);
  const toApprove = unapproved(actions, exempt, deciders);
  const awaited = new Map(toApprove.flatMap(({ why, whats }) => whats.map((what) => [what, why] as const)));
  const limited = beyondLimits(actions, new Set([...exempt, ...awaited.keys()]), deciders);
  const withheld = new Map([...awaited, ...limited]);
  const toConfirm = deciders.restraint === undefined ? [] : unconfirmed(actions, deciders.restraint, limited);
  return { withheld, toConfirm, toApprove: toApprove.map(({ why: _why, whats: _whats, ...rest }) => rest) };
}

/** With what other processes do not do before a person has approved it: nodes that it was promised are free for others then. */
export function withOthers(own: Excess, others: readonly Action[], deciders: Deciders): Excess {
  if (others.length === 0) return own;
  const { withheld } = excess(others, { ...deciders, restraint: undefined });
  return { ...own, withheld: new Map([...withheld, ...own.withheld]) };
}

/** Joins what waits for approval by its object. Pure. */
export function joinedByObject(all: readonly ToApprove[]): readonly ToApprove[] {
  return [...Map.groupBy(all, ({ object }) => refKey(object)).values()].flatMap((parts) => {
    const [first] = parts;
    if (first === undefined) return [];
    const hashes = [...new Set(parts.flatMap((part) => part.plan))].toSorted(compareText);
    return [{ object: first.object, plan: hashes, actions: parts.flatMap(({ actions }) => actions) }];
  });
}

interface Unapproved extends ToApprove {
  readonly why: Obstacle;
  readonly whats: readonly string[];
}

/** Returns the objects that take something from somebody, need an approval for it, and have none for all of it. */
function unapproved(
  actions: readonly Action[],
  exempt: ReadonlySet<string>,
  { approvalOf, nowMs }: Deciders,
): readonly Unapproved[] {
  const needsIt = ({ what, impact }: Taken): boolean => impact !== "relocation" && !exempt.has(what);
  const taking = actions.filter(({ takes = [] }) => takes.some(needsIt));
  return [...Map.groupBy(taking, ({ object }) => refKey(object)).values()].flatMap((own): readonly Unapproved[] => {
    const [{ object } = { object: undefined }] = own;
    const meta = object && approvalOf(object);
    if (object === undefined || meta === undefined) return [];
    const taken = own.flatMap(({ takes = [] }) => takes.filter(needsIt));
    const plan = [...new Set(taken.map((one) => hashOfTaken(meta, one)))].toSorted(compareText);
    const detail = notApproved(meta.approval, plan, nowMs);
    if (detail === undefined) return [];
    const why = { ...personNeeded("AwaitsApproval", detail), advice: approveAdvice(object) };
    return [{ object, plan, actions: own, why, whats: taken.map(({ what }) => what) }];
  });
}

function beyondLimits(
  actions: readonly Action[],
  exempt: ReadonlySet<string>,
  { restraint, rankOf, draining }: Deciders,
): Withheld {
  if (restraint === undefined) return NOTHING_WITHHELD;
  const { taken } = restraint.begun;
  const left = leftOf(restraint);
  const things = thingsOf(actions, rankOf)
    .filter(({ what }) => !taken.has(what) && !exempt.has(what))
    .toSorted((a, b) => Number(draining.has(b.what)) - Number(draining.has(a.what)));
  return new Map(
    things.flatMap((thing) => {
      const why = objectionTo(thing, restraint, left);
      if (why !== undefined) return [[thing.what, why] as const];
      left.moves -= 1;
      if (thing.isReduction) left.removals -= 1;
      return [];
    }),
  );
}

/** What the limits of the run still allow. Lowered with each thing that is let through. */
interface Left {
  moves: number;
  removals: number;
}

function leftOf({ limits, begun }: Restraint): Left {
  const impacts = [...begun.taken.values()];
  const removed = impacts.filter((impact) => impact === "reduction");
  return {
    moves: (limits.voluntaryMoves ?? Number.POSITIVE_INFINITY) - impacts.length,
    removals: (limits.removals ?? Number.POSITIVE_INFINITY) - removed.length,
  };
}

function objectionTo(thing: Thing, { limits, confirmed }: Restraint, left: Left): Obstacle | undefined {
  if (thing.mustBeConfirmed && confirmed?.has(thing.what) === false) return personNeeded("NotConfirmed");
  if (thing.isReduction && left.removals <= 0) return obstacle("Limited", `--max-removals ${limits.removals}`);
  return left.moves > 0 ? undefined : obstacle("Limited", `--max-voluntary-moves ${limits.voluntaryMoves}`);
}

/** Returns the actions of a plan that a person would have to confirm: what they take is withheld for that, and cannot be undone. Pure. */
function unconfirmed(actions: readonly Action[], { confirmed }: Restraint, withheld: Withheld): readonly Action[] {
  if (confirmed === undefined) return [];
  return actions.filter(
    (action) =>
      isDecisive(action) && (action.takes ?? []).some(({ what }) => withheld.has(what) && !confirmed.has(what)),
  );
}

/** True for what makes a change one that cannot be undone. */
function isDecisive({ kind, impact }: Action): boolean {
  return impact === "takeover" || (impact === "reduction" && (kind === "delete-ip" || kind === "delete-dns"));
}

/** What recoveries require to be taken first, by {@link Taken.what}. Pure. */
function neededByRecovery(actions: readonly Action[]): ReadonlySet<string> {
  const byID = new Map(actions.map((action) => [action.id, action]));
  // A name loses what serves no more, whatever else its write waits for.
  const open = actions.filter((action) => action.impact === "recovery" && !changesName(action));
  const needed = new Set<Action>();
  for (let action = open.pop(); action !== undefined; action = open.pop()) {
    for (const id of action.requires) {
      const first = byID.get(id);
      if (first === undefined || needed.has(first)) continue;
      needed.add(first);
      open.push(first);
    }
  }
  return new Set([...needed].flatMap(({ takes = [] }) => takes.map(({ what }) => what)));
}

/** One thing that a plan takes from somebody. */
interface Thing {
  readonly what: string;
  readonly isReduction: boolean;
  /** True for what cannot be undone: an address given back for good, a name whose records go, and a takeover. */
  readonly mustBeConfirmed: boolean;
}

function thingsOf(actions: readonly Action[], rankOf: (object: ObjectRef) => number): readonly Thing[] {
  const taking = actions.flatMap((action) => (action.takes ?? []).map((taken) => ({ action, taken })));
  const things = [...Map.groupBy(taking, ({ taken }) => taken.what)].map(([what, parts]) => {
    const [senior = ""] = parts.map(({ action: { object } }) => orderOf(object, rankOf)).toSorted(compareText);
    const impacts = new Set(parts.map(({ taken }) => taken.impact));
    const isName = parts.some(({ taken }) => taken.isName === true);
    return {
      what,
      order: `${senior} ${isName ? 0 : 1} ${what}`,
      isReduction: impacts.has("reduction"),
      mustBeConfirmed: parts.some(({ action }) => isDecisive(action)),
    };
  });
  return things.toSorted((a, b) => compareText(a.order, b.order));
}

function orderOf(object: ObjectRef, rankOf: (object: ObjectRef) => number): string {
  return `${String(rankOf(object)).padStart(9, "0")} ${refKey(object)}`;
}

/**
 * What is withheld stays as it is, wherever it is: on its machine, in its names, annotated. A write of a name does the rest of what it was to do. Exception: what a
 * recovery requires goes. While something of an object is withheld its firewalls stay open.
 */
export function keepWithheld(
  actions: readonly Action[],
  {
    withheld,
    isTold,
  }: { readonly withheld: Withheld; readonly isTold: (object: ObjectRef, what: string, why: Obstacle) => boolean },
): Verdict {
  if (withheld.size === 0) return {};
  const released = neededByRecovery(actions);
  const heldOf = ({ takes = [] }: Action): readonly string[] =>
    takes.flatMap(({ what }) => (withheld.has(what) && !released.has(what) ? [what] : []));
  const held = actions.filter((action) => heldOf(action).length > 0);
  const keeping = Map.groupBy(held.filter(changesName).filter(isEditable), nameOf);
  const objects = new Set(held.map(({ object }) => refKey(object)));
  const closing = actions.filter(
    ({ kind, object }) => (kind === "close-ports" || kind === "remove-from-firewall") && objects.has(refKey(object)),
  );
  return {
    edits: actions
      .filter(changesName)
      .filter(isEditable)
      .flatMap((write) => {
        const kept = keeping.get(nameOf(write))?.flatMap(heldOf);
        return kept === undefined ? [] : [{ id: write.id, action: stillShowing(write, kept) }];
      }),
    withholds: [...held.filter((action) => !changesName(action) || !isEditable(action)), ...closing],
    holds: held
      .flatMap((action) =>
        heldOf(action).map((what) => ({ action, what, why: withheld.get(what) ?? obstacle("Limited") })),
      )
      .filter(({ action, what, why }) => !isTold(action.object, what, why))
      .toSorted((a, b) => Number(!changesAddress(a.action)) - Number(!changesAddress(b.action)))
      .filter(isFirst)
      .map(({ action, what, why }) => hold(action.kind, action.object, what, why)),
  };
}

interface Part {
  readonly action: Action;
  readonly what: string;
}

/** True for the first of those that are about the same thing of the same object. */
function isFirst({ action, what }: Part, at: number, all: readonly Part[]): boolean {
  return all.findIndex((one) => one.what === what && refKey(one.action.object) === refKey(action.object)) === at;
}

/** A name that goes goes whole. */
function isEditable({ kind }: WriteDNS): boolean {
  return kind !== "delete-dns";
}

function nameOf({ object, fqdn, dnsProvider }: WriteDNS): string {
  return `${refKey(object)} ${fqdn} ${dnsProvider}`;
}

/** The write with these addresses in the name before and after; undefined where nothing else is to be changed. */
function stillShowing(write: WriteDNS, kept: readonly string[]): WriteDNS | undefined {
  const withKept = (addresses: readonly string[]): readonly string[] =>
    [...new Set([...addresses, ...kept])].toSorted(compareText);
  const { before, after, takes = [], unrecorded = [], impact: _whole, ...rest } = write;
  const left = takes.filter(({ what }) => !kept.includes(what));
  const addresses = { before: withKept(before.addresses), after: withKept(after.addresses) };
  const isLosing = addressesWithout(addressesWithout(addresses.before, addresses.after), unrecorded).length > 0;
  // What leaves and is taken from nobody serves no more.
  const impact = worstImpact(left.map((one) => one.impact)) ?? (isLosing ? "recovery" : undefined);
  const edited: WriteDNS = {
    ...rest,
    before: { ...before, addresses: addresses.before },
    after: { ...after, addresses: addresses.after },
    ...(impact === undefined ? {} : { impact }),
    ...(left.length === 0 ? {} : { takes: left }),
    ...(unrecorded.length === 0 ? {} : { unrecorded }),
  };
  const isSame =
    edited.before.addresses.length === edited.after.addresses.length &&
    (before.ttlSeconds === undefined || before.ttlSeconds === after.ttlSeconds) &&
    edited.before.addresses.every((ip) => edited.after.addresses.includes(ip));
  return isSame ? undefined : edited;
}
