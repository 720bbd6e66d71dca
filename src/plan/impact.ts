import {
  type Action,
  type AnnotateNode,
  type ImpactClass,
  isHarm,
  type ObjectRef,
  refKey,
  type Taken,
  type WriteDNS,
  worstImpact,
} from "../model/action.ts";
import { changesName } from "../model/action-kinds.ts";
import type { Address } from "../model/address.ts";
import { annotatedOn, clearedAddresses } from "../model/annotated.ts";
import { addressesWithout } from "../model/dns.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { NameService } from "../model/plan.ts";
import { type Remembering, rememberedNames } from "../model/record-types.ts";
import { ownAddresses, type PublishedName } from "../model/resource.ts";
import { isFromFormer } from "./addresses/hand-over.ts";
import { findRecords } from "./names/former-names.ts";
import { nameKey } from "./names/name-claims.ts";
import { contentOf } from "./names/name-plan.ts";
import type { NameTarget, ReadyTarget } from "./names/name-target.ts";
import type { ObjectNames } from "./names/plan-dns.ts";
import { machineNodes } from "./nodes/judge-nodes.ts";
import { ANY_NODE, judge, type Matcher, stillServes } from "./nodes/match.ts";
import { type ManagedIP, type PoolView, servesNow, storedDrain } from "./pool-view.ts";
import type { CheckedRecordSet } from "./record-set-view.ts";
import type { Validation } from "./validate.ts";

/*
 * Who is hurt by an action. What the action takes away decides, and who has it now, never the action's reason:
 *
 *   what is taken away                                  its holder                  class
 *   nothing, or a record that flipop did not write      –                           none
 *   an address                                          serves no more, or is gone  recovery
 *   an address that its object still asks for           serves, matches no more     relocation
 *   an address or a name that is asked for no longer    serves                      reduction
 *   an address that another object handed over or left  serves clients of that one  relocation
 *   an address that goes back to the provider           any                         reduction
 *   an address that is taken over                       no node of the cluster      takeover
 *
 * Of several addresses that leave a name the worst counts. {@link stillServes} says whether a holder serves.
 */

/** Says who is hurt by the actions of one plan. */
export interface ImpactJudge {
  /** Returns the action with its class. */
  readonly classed: <A extends Action>(action: A) => A;
  /** Returns who is hurt when an address leaves its node, or a name of the object. */
  readonly leaving: (object: ObjectRef, ip: string) => ImpactClass;
  /** True for an address that answers clients of the object now, or of which nobody can say that it does not. `isOwn` = the object is known to have published it. */
  readonly mayServe: (object: ObjectRef, ip: string, isOwn?: boolean) => boolean;
}

type World = Pick<Observation, "dns" | "nodes" | "nodesReadAtMs" | "providers" | "registry">;

/** Creates the judge of one plan. Pure. */
export function impactJudge(
  world: World,
  views: readonly PoolView[],
  recordSets: readonly CheckedRecordSet[],
): ImpactJudge {
  const facts: JudgedFacts = {
    nowMs: world.nodesReadAtMs,
    whereIs: whereabouts(world),
    ownerOf: owners(views),
    viewOf: new Map(views.map((view) => [refKey(view.object), view])),
    recordSetOf: new Map(recordSets.map((own) => [refKey(own.publisher.ref), judgedRecordSet(own)])),
    ...namesOnRecord(
      [
        ...views.map(({ object, pool: { status } }) => ({ object, status })),
        ...recordSets.map(({ publisher: { ref: object }, recordSet: { status } }) => ({ object, status })),
      ],
      world.dns,
    ),
  };
  return {
    leaving: (object, ip) => leaving(object, ip, facts),
    mayServe: (object, ip, isOwn) => mayServe(object, ip, facts, isOwn),
    classed: (action) => {
      const impact = classOf(action, facts);
      if (impact === "none") return action;
      const takes = takenBy(action, impact, facts);
      return takes.length === 0 ? { ...action, impact } : { ...action, impact, takes };
    },
  };
}

/** What the judgements are made from. */
interface JudgedFacts {
  readonly nowMs: number;
  readonly whereIs: (ip: string) => Whereabouts;
  /** Address → the pool that owns it, or remembers it after it was taken from the pool. */
  readonly ownerOf: ReadonlyMap<string, Owner>;
  /** By {@link refKey}, as are the record sets. */
  readonly viewOf: ReadonlyMap<string, PoolView>;
  readonly recordSetOf: ReadonlyMap<string, JudgedRecordSet>;
  /** The objects that have an address on record under a name: `PROVIDER NAME`. */
  readonly publishersOf: (name: string, ip: string) => readonly ObjectRef[];
  /** What each name shows that some object has on record, and that shows this address. */
  readonly shownWith: (ip: string) => readonly (readonly string[])[];
}

interface JudgedRecordSet extends CheckedRecordSet {
  /** Absent where its spec cannot be used. */
  readonly matcher?: Matcher;
}

function judgedRecordSet(own: CheckedRecordSet): JudgedRecordSet {
  return { ...own, ...matcherField(own.validation, own.publisher.selectsNothing !== undefined) };
}

/** What says whether a node serves an object. Where no pod exists that it asks for, a node that is up serves as far as it ever did: nothing is taken from it. */
function matcherField(validation: Validation, isEmpty: boolean): { readonly matcher?: Matcher } {
  if (validation.kind !== "valid") return {};
  const { matcher } = validation;
  return { matcher: isEmpty ? { ...matcher, podsByNode: undefined } : matcher };
}

/** Where an address is. */
interface Whereabouts {
  /** `nowhere`: on no machine. `outside`: on a machine that is no node now. `unread`: it could not be read. `unknown`: no provider of the cluster was asked for it. */
  readonly kind: "nodes" | "nowhere" | "outside" | "unread" | "unknown";
  /** The nodes of its machine; several where a machine came back under another name. */
  readonly nodes: readonly NodeFacts[];
}

interface Owner {
  readonly view: PoolView;
  /** Absent for an address that the pool only remembers. */
  readonly standing?: ManagedIP["standing"];
}

function owners(views: readonly PoolView[]): ReadonlyMap<string, Owner> {
  const remembered = views.flatMap((view) => view.released.map(({ ip }) => [ip, { view }] as const));
  const managed = views.flatMap((view) =>
    view.managed.flatMap(({ ip, standing }) =>
      standing.kind === "conflict" || standing.kind === "ungranted" ? [] : [[ip, { view, standing }] as const],
    ),
  );
  return new Map<string, Owner>([...remembered, ...managed]);
}

/** Reads what is on record of names, once, when an address first leaves one. */
function namesOnRecord(
  all: readonly { readonly object: ObjectRef; readonly status: Remembering }[],
  dns: Observation["dns"],
): Pick<JudgedFacts, "publishersOf" | "shownWith"> {
  type Named = { readonly object: ObjectRef; readonly name: PublishedName };
  type Index = {
    readonly byName: ReadonlyMap<string, readonly Named[]>;
    readonly shown: readonly (readonly string[])[];
  };
  let found: Index | undefined;
  const index = (): Index => {
    const named = all.flatMap(({ object, status }) => rememberedNames(status).map((name) => ({ object, name })));
    const byName = Map.groupBy(named, ({ name: { provider, name } }) => `${provider} ${name}`);
    return {
      byName,
      shown: [...byName.values()].map((own) =>
        shownUnder(
          own.map(({ name }) => name),
          dns,
        ),
      ),
    };
  };
  return {
    publishersOf: (name, ip) => {
      found ??= index();
      return (found.byName.get(name) ?? []).flatMap((one) => (ownAddresses(one.name).includes(ip) ? [one.object] : []));
    },
    shownWith: (ip) => {
      found ??= index();
      return found.shown.filter((addresses) => addresses.includes(ip));
    },
  };
}

/** Returns what a name shows; where its records cannot be read now, what is on record of it: a run that died may have changed it since. */
function shownUnder(names: readonly PublishedName[], dns: Observation["dns"]): readonly string[] {
  const [first] = names;
  const found = first === undefined ? undefined : findRecords(first, dns);
  return found?.kind === "records" ? found.records.addresses : names.flatMap(ownAddresses);
}

/** By what the providers say; of an address that no provider shows by the nodes, as their own address or in the annotation. */
function whereabouts(world: World): JudgedFacts["whereIs"] {
  const { nodes, providers } = world;
  const machines = new Map([...providers.keys()].map((name) => [name, machineNodes(world, name)]));
  let byAddress: ReadonlyMap<string, readonly NodeFacts[]> | undefined;
  const held = (name: string, { holderID, isLocked }: Address): Whereabouts => {
    if (holderID === undefined) return { kind: isLocked ? "unread" : "nowhere", nodes: [] };
    const own = machines.get(name);
    const found = own?.shared.get(holderID) ?? [own?.byMachine.get(holderID) ?? []].flat();
    return { kind: found.length === 0 ? "outside" : "nodes", nodes: found };
  };
  const unshown = (ip: string, kind: "unread" | "unknown"): Whereabouts => {
    byAddress ??= nodesByAddress(nodes);
    const found = byAddress.get(ip) ?? [];
    return { kind: found.length === 0 ? kind : "nodes", nodes: found };
  };
  const locate = (ip: string): Whereabouts => {
    const facts = [...providers].flatMap(([name, { addresses }]) => {
      const fact = addresses.get(ip);
      return fact === undefined ? [] : [{ name, fact }];
    });
    const [known] = facts.flatMap(({ name, fact }) => (fact.kind === "known" ? [held(name, fact.address)] : []));
    if (known !== undefined) return known;
    if (facts.length === 0) return unshown(ip, "unknown");
    return facts.some(({ fact }) => fact.kind === "gap") ? unshown(ip, "unread") : { kind: "nowhere", nodes: [] };
  };
  // Every name that shows an address asks for it.
  const located = new Map<string, Whereabouts>();
  return (ip) => {
    const found = located.get(ip) ?? locate(ip);
    located.set(ip, found);
    return found;
  };
}

/** By each address of their own, and each that their annotations show. */
function nodesByAddress(nodes: readonly NodeFacts[]): ReadonlyMap<string, readonly NodeFacts[]> {
  const found = new Map<string, NodeFacts[]>();
  for (const node of nodes) {
    const own = new Set([...annotatedOn(node).map(({ ip }) => ip), ...node.addresses.map(({ address }) => address)]);
    for (const ip of own) {
      const known = found.get(ip);
      if (known === undefined) found.set(ip, [node]);
      else known.push(node);
    }
  }
  return found;
}

function classOf(action: Action, facts: JudgedFacts): ImpactClass {
  const { object } = action;
  switch (action.kind) {
    case "delete-ip":
      return "reduction";
    case "move-ip":
    case "unassign-ip": {
      const standing = facts.ownerOf.get(action.ip)?.standing;
      const isTakenOver = standing?.kind === "free" && standing.rank === "foreign";
      if (isTakenOver) return "takeover";
      const own = leaving(object, action.ip, facts);
      return isHandedTo(object, action.ip, facts) ? worst([own, "relocation"]) : own;
    }
    case "clear-annotation":
      return worst(clearings(action, facts).map(({ impact }) => impact));
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns": {
      const { before, after, unrecorded = [] } = action;
      const removed = addressesWithout(addressesWithout(before.addresses, after.addresses), unrecorded);
      return worst(removed.map((ip) => leavingName(action, ip, facts)));
    }
    case "acquire-ip":
    case "assign-ip":
    case "annotate-node":
    case "add-finalizer":
    case "remove-finalizer":
    case "open-ports":
    case "close-ports":
    case "add-to-firewall":
    case "remove-from-firewall":
      return "none";
  }
}

/** The addresses that a node shows no more, and whom that hurts: nobody where an address is elsewhere. */
function clearings(
  action: AnnotateNode,
  facts: JudgedFacts,
): readonly { readonly what: string; readonly impact: ImpactClass }[] {
  const isHolder = (ip: string): boolean => facts.whereIs(ip).nodes.some(({ name }) => name === action.nodeName);
  return clearedAddresses(action).map((ip) => ({
    what: ip,
    impact: isHolder(ip) ? leaving(action.object, ip, facts) : "none",
  }));
}

/** True for an address that another object handed over, or left behind, where it still serves clients of that one. */
function isHandedTo(object: ObjectRef, ip: string, { viewOf }: JudgedFacts): boolean {
  const view = viewOf.get(refKey(object));
  return view !== undefined && isFromFormer(view, ip);
}

/** What a voluntary action takes from somebody. Of several addresses that leave a name those that serve nobody are not among them. */
function takenBy(action: Action, impact: ImpactClass, facts: JudgedFacts): readonly Taken[] {
  if (!isHarm(impact)) return [];
  switch (action.kind) {
    case "move-ip":
    case "unassign-ip":
    case "delete-ip":
      return [{ what: action.ip, impact }];
    case "clear-annotation":
      return clearings(action, facts).flatMap(({ what, impact: own }) => (isHarm(own) ? [{ what, impact: own }] : []));
    case "delete-dns":
      return [{ what: action.fqdn, impact, isName: true }];
    case "update-dns":
    case "withdraw-dns":
      return addressesWithout(action.before.addresses, action.after.addresses).flatMap((ip) => {
        const own = leavingName(action, ip, facts);
        return isHarm(own) ? [{ what: ip, impact: own }] : [];
      });
    default:
      return [];
  }
}

function worst(classes: readonly ImpactClass[]): ImpactClass {
  return worstImpact(classes) ?? "none";
}

/** An object that loses an address, as far as the loss is concerned. */
interface Loser {
  /** Absent where its spec cannot be used, and for an object that is gone: a node alone decides then. */
  readonly matcher?: Matcher;
  /** False for an address that flipop neither manages for the object nor has on record for it. */
  readonly isOwn: boolean;
  /** Returns the class of an address that leaves nodes which serve; `isMatched` = one of them still matches. */
  readonly fromServing: (isMatched: boolean) => ImpactClass;
}

/**
 * Returns who is hurt when an address leaves its node, or a name of the object.
 * @param shown - what the name shows that the address leaves; absent = every name that is on record with it
 */
function leaving(object: ObjectRef, ip: string, facts: JudgedFacts, shown?: readonly string[]): ImpactClass {
  const { matcher, isOwn, fromServing } = loserOf(object, ip, facts, shown);
  if (!isOwn) return "none";
  const { nowMs } = facts;
  const serving = facts.whereIs(ip).nodes.filter((node) => stillServes(node, matcher ?? ANY_NODE, nowMs));
  if (serving.length === 0) return "recovery";
  return fromServing(matcher !== undefined && serving.some((node) => judge(node, matcher, nowMs).kind === "match"));
}

/** An address that leaves a name is taken from every object that has it on record there, whichever of them writes the name. */
function leavingName(action: WriteDNS, ip: string, facts: JudgedFacts): ImpactClass {
  const { object, fqdn, dnsProvider, before } = action;
  const others = facts.publishersOf(`${dnsProvider} ${fqdn}`, ip).filter((other) => refKey(other) !== refKey(object));
  return worst([object, ...others].map((one) => leaving(one, ip, facts, before.addresses)));
}

function mayServe(object: ObjectRef, ip: string, facts: JudgedFacts, wasOwn = false): boolean {
  const { matcher, isOwn } = loserOf(object, ip, facts);
  const { kind, nodes } = facts.whereIs(ip);
  switch (kind) {
    case "nodes":
      return nodes.some((node) => stillServes(node, matcher ?? ANY_NODE, facts.nowMs));
    case "nowhere":
      return false;
    case "outside": {
      const standing = facts.ownerOf.get(ip)?.standing;
      return standing?.kind !== "free" || standing.rank !== "node-gone";
    }
    case "unread":
      return true;
    case "unknown":
      return !isOwn && !wasOwn;
  }
}

function loserOf(object: ObjectRef, ip: string, facts: JudgedFacts, shown?: readonly string[]): Loser {
  const key = refKey(object);
  const view = facts.viewOf.get(key);
  if (view !== undefined) return asPool(view, ip, facts, shown);
  const recordSet = facts.recordSetOf.get(key);
  if (recordSet !== undefined) return asRecordSet(recordSet, ip, facts, shown);
  return { isOwn: true, fromServing: () => "reduction" };
}

/** An address that a spare has taken the place of leaves for its node's sake, too: the spec has it as before. */
function asPool(view: PoolView, ip: string, facts: JudgedFacts, shown?: readonly string[]): Loser {
  const { key, pool, validation, inUse, managed, emptyTarget: empty } = view;
  const owner = facts.ownerOf.get(ip);
  const isListed = managed.some((address) => address.ip === ip && address.acquired === undefined);
  const isOwned = owner?.view.key === key && owner.standing !== undefined;
  const isExcess = owner?.standing?.kind === "free" && owner.standing.rank === "excess";
  const isReplaced = (): boolean =>
    (shown === undefined ? facts.shownWith(ip) : [shown]).every((addresses) => areReplaced(view, addresses));
  const isAsked = isOwned && !pool.meta.isDeleting && (inUse.has(ip) || (isListed && isReplaced()));
  return {
    ...matcherField(validation, empty !== undefined),
    isOwn: owner?.view.key === key || isOnRecord(pool.status, ip),
    fromServing: (isMatched) => (isAsked && (!isMatched || isExcess) ? "relocation" : "reduction"),
  };
}

/**
 * True if spares serve in the place of the addresses that the pool does not use any more: the name has as many spares to add as it loses addresses.
 *
 *   the name shows the spare already     no spare: there are more addresses than the spec asks for
 *   an address that drained and moves    no spare: it comes back
 */
function areReplaced({ pool, managed, inUse }: PoolView, shown: readonly string[]): boolean {
  const serving = managed.filter(servesNow);
  const isSpare = (ip: string): boolean => !shown.includes(ip) && storedDrain(pool, ip) === undefined;
  const added = serving.filter(({ ip }) => inUse.has(ip) && isSpare(ip));
  const removed = serving.filter(({ ip }) => !inUse.has(ip) && shown.includes(ip));
  return added.length >= removed.length;
}

/** A record set loses an address when its node matches no longer, when it asks for less, or when the pool that owns the address loses it. */
function asRecordSet(
  { recordSet, matcher }: JudgedRecordSet,
  ip: string,
  facts: JudgedFacts,
  shown?: readonly string[],
): Loser {
  const owner = facts.ownerOf.get(ip);
  const { isDeleting } = recordSet.meta;
  return {
    ...(matcher === undefined ? {} : { matcher }),
    isOwn: owner !== undefined || facts.whereIs(ip).nodes.length > 0 || isOnRecord(recordSet.status, ip),
    fromServing: (isMatched) => {
      if (isDeleting) return "reduction";
      if (!isMatched || (owner !== undefined && isFromFormer(owner.view, ip))) return "relocation";
      return owner === undefined ? "reduction" : leaving(owner.view.object, ip, facts, shown);
    },
  };
}

function isOnRecord(status: Remembering, ip: string): boolean {
  return rememberedNames(status).some((name) => ownAddresses(name).includes(ip));
}

/** Returns what each name offers its clients now: the names that objects have, and former ones that the plan still writes. Sorted as the objects are. Pure. */
export function nameServices(
  names: readonly ObjectNames[],
  actions: readonly Action[],
  { mayServe: answers }: Pick<ImpactJudge, "mayServe">,
): readonly NameService[] {
  const left = (ref: ObjectRef, { records, removed = [] }: ReadyTarget): Pick<NameService, "takenOut"> => {
    const out = [...new Set(removed)].filter((ip) => !records.addresses.includes(ip));
    return out.length === 0 ? {} : { takenOut: out.map((ip) => ({ ip, isServing: answers(ref, ip, true) })) };
  };
  const planned = new Set(
    names.flatMap(({ present: { target } }) => (target.kind === "ready" ? [nameKey(target.name)] : [])),
  );
  const targetOf = ({ publisher, present: own }: ObjectNames): NameTarget => {
    if (own.target.kind !== "none") return own.target;
    // A name for which nothing is planned goes on showing what it shows, unless another object has it.
    const { target } = publisher;
    return target.kind === "ready" && !planned.has(nameKey(target.name)) ? target : own.target;
  };
  const present = names.flatMap((own) => {
    const { ref } = own.publisher;
    const target = targetOf(own);
    if (target.kind !== "ready") return [];
    const { provider, fqdn } = target.name;
    return [{ object: ref, provider, fqdn, ...contentOf(target.records), ...left(ref, target) }];
  });
  const known = new Set(present.map(nameKey));
  const former = actions
    .filter(changesName)
    .flatMap(({ object, dnsProvider: provider, fqdn, before }) =>
      known.has(nameKey({ provider, fqdn })) ? [] : [{ object, provider, fqdn, isFormer: true as const, ...before }],
    );
  return [...present, ...former].map(({ addresses, ...name }) => ({
    ...name,
    shown: addresses,
    serving: addresses.filter((ip) => answers(name.object, ip)),
  }));
}
