import { type Action, type ChangeMachines, type ChangePorts, refKey } from "../../model/action.ts";
import { changesAddress } from "../../model/action-kinds.ts";
import {
  type FirewallMemory,
  includesPorts,
  type PendingFirewall,
  parsePortText,
  portText,
  progressAt,
  type ServedPorts,
} from "../../model/firewall.ts";
import type { Observation } from "../../model/observation.ts";
import type { Hold } from "../../model/plan.ts";
import { compareText, ipFamilyOf } from "../../model/resource.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer.ts";
import { isWritable, type ManagedIP, type PoolView } from "../pool-view.ts";
import { type Extension, extendFirewall, type Wait } from "./extend-firewall.ts";
import { entriesOf, entryKey, type FirewallWork, firewallMemory, stillThere, storedMemory } from "./firewall-memory.ts";
import {
  type BlockedFirewall,
  destinationOf,
  type FirewallNeeds,
  isBehind,
  isLetIn,
  leftBehind,
  machinesOf,
  mayLetGo,
  presentNeeds,
  type ReadyTarget,
  type Sending,
  unfinishedAt,
} from "./firewall-target.ts";
import {
  firewallCleaning,
  type MovesAway,
  type Reduction,
  removeUnneeded,
  type StandsFor,
  type Unguarded,
  waitingForHeirs,
} from "./shrink-firewall.ts";

/** What is done about the firewalls of one object. */
export interface ObjectFirewalls {
  readonly actions: readonly (ChangePorts | ChangeMachines)[];
  readonly holds: readonly Hold[];
  /** What its status should remember. */
  readonly memory: readonly FirewallMemory[];
  /** Since when a change of its firewall is pending where its address is or could go; what its status should show. */
  readonly pending: readonly PendingFirewall[];
  readonly cleaning: Cleaning;
}

/** What is done at firewalls. */
interface FirewallPlan {
  /** By {@link refKey}. */
  readonly byObject: ReadonlyMap<string, ObjectFirewalls>;
  /** What the firewall means for each action that sends an address to a machine, by its id. */
  readonly sending: ReadonlyMap<string, SendingCondition>;
  readonly lettingIn: LettingIn;
}

/** The actions after which a firewall lets clients in at a machine, or why it never will. */
export type SendingCondition =
  | ({ readonly kind: "after" } & Wait)
  | { readonly kind: "refused"; readonly subject: string; readonly why: Omit<BlockedFirewall, "kind"> };

/** What DNS shows while firewalls are planned. */
interface PublishedNow {
  /** Addresses that cannot be taken out of DNS in this pass, with the name. */
  readonly stillPublished: ReadonlyMap<string, string>;
  /** Addresses that DNS shows now, or showed last. */
  readonly shown: ReadonlySet<string>;
}

/** The ids of the actions of a plan after which the firewall of an object lets clients in to a machine: none where it does already; undefined where it will not. */
export type LettingIn = (view: PoolView, machineID: string) => readonly string[] | undefined;

/**
 * Plans the firewalls of all objects: first what is added, object after object, so that what several need is brought once; then what nobody needs any more. An
 * address goes to a machine only after the machine is behind its firewall with all ports open, and is not sent where that cannot be.
 */
export function planFirewalls(
  views: readonly PoolView[],
  actions: readonly Action[],
  { firewalls, observedAtMs: nowMs }: Observation,
  { stillPublished, shown }: PublishedNow,
): FirewallPlan {
  const isUsed = views.some((view) => view.firewall.kind !== "none" || view.pool.status.firewalls !== undefined);
  if (!isUsed) return { byObject: new Map(), sending: new Map(), lettingIn: () => [] };
  const planned = new Planned();
  const left = leftBehind(views);
  const sendingOf = Map.groupBy(actions.filter(isSending), ({ object }) => refKey(object));
  const works = views.map((view): FirewallWork => {
    const sending = sendingOf.get(refKey(view.object)) ?? [];
    const needs = presentNeeds(view, sending, shown, left);
    const extension = isWritable(view) ? extendFirewall(view, needs, planned) : heldOnly(view, needs);
    return { view, sending, needs, extension };
  });
  const kept = keptBy(works);
  const allSending = works.flatMap(({ sending }) => sending);
  const awaited = awaitedMachines(works);
  const taken = new Set<string>();
  const isAwaited = byOthers(works, awaitedEntries);
  const standsFor = standIns(works, planned);
  const movesAway = departures(works, planned);
  const unguarded = unguardedAddresses(works, shown);
  const shared = {
    isRecorded: byOthers(works, (work) => recordedEntries(work, firewalls)),
    isInherited: byOthers(
      works.filter(({ view }) => !view.pool.meta.isDeleting),
      ({ view }) => storedMemory(view).flatMap(entriesOf),
    ),
  };
  const byObject = works.map((work) => {
    const { view, extension } = work;
    const adding = extension.actions.map(({ id }) => id);
    const reductions = mayLetGo(view)
      ? storedMemory(view).map((memory) => {
          const facts = firewalls.get(memory.provider);
          const reduction = removeUnneeded(view, memory, {
            facts,
            kept,
            isCarriedOver: areLetIn(work, (machine) => extension.before.get(machine)?.letsIn === true),
            unfinished: firstUnfinished(work),
            isAwaited: (entry) => isAwaited(work, entry),
            standsFor,
            movesAway,
            sending: allSending,
            adding,
            stillPublished,
            taken,
            unguarded,
            nowMs,
          });
          for (const entry of reduction.removed) taken.add(entry);
          return reduction;
        })
      : [];
    const { actions, ...others } = result(work, reductions, shared, firewalls);
    const waiting = actions.map((action) => ({ ...action, awaited: awaited(work, action) }));
    return [refKey(view.object), { ...others, actions: waiting }] as const;
  });
  return {
    byObject: new Map(byObject),
    sending: new Map(works.flatMap(sendingConditions)),
    lettingIn: lettingInBy(works),
  };
}

function sendingConditions({
  view,
  sending,
  extension,
}: FirewallWork): readonly (readonly [string, SendingCondition])[] {
  return sending.map((action) => {
    const machine = destinationOf(action) ?? "";
    const refusal = extension.refused.get(machine);
    const { requires = [], follows = [] } = extension.before.get(machine) ?? {};
    if (refusal === undefined) return [action.id, { kind: "after", requires, follows }];
    const { reason, detail, needsPerson } = refusal;
    const subject = action.kind === "acquire-ip" ? view.key : action.ip;
    return [action.id, { kind: "refused", subject, why: { reason, detail, needsPerson } }];
  });
}

function lettingInBy(works: readonly FirewallWork[]): LettingIn {
  const extensions = new Map(works.map(({ view, extension }) => [view, extension]));
  return (view, machine) => {
    if (isLetIn(view.firewall, machine)) return [];
    const { before, refused } = extensions.get(view) ?? {};
    const { letsIn = false, requires = [], follows = [] } = before?.get(machine) ?? {};
    return refused?.has(machine) === true || !letsIn ? undefined : [...requires, ...follows];
  };
}

/** An object that is not written shows what its firewall waits for, and plans nothing. What the whole object waits for is told of that. */
function heldOnly(view: PoolView, needs: FirewallNeeds): Extension {
  const isTold = view.suspended !== undefined || view.blocked !== undefined;
  const holds = isTold ? [] : extendFirewall(view, needs, new Planned()).holds;
  return { actions: [], holds, before: new Map(), refused: new Map() };
}

/**
 * Returns which machines the provider must have carried a change of a firewall out to before the change counts as done:
 *
 *   open ports      every machine that waits for these ports, for whatever object
 *   add machines    those machines
 *   close ports     the machines that have an address of the object
 *   remove machines none: nothing waits for them
 *
 * A machine where an earlier change is pending is left out: that one may never end, and others would wait for it.
 */
function awaitedMachines(
  works: readonly FirewallWork[],
): (work: FirewallWork, action: ChangePorts | ChangeMachines) => readonly string[] {
  const waiting = new Map<string, Set<string>>();
  for (const { extension } of works)
    for (const [machine, { requires, follows }] of extension.before)
      for (const id of [...requires, ...follows]) waiting.set(id, (waiting.get(id) ?? new Set()).add(machine));
  const candidates = ({ needs }: FirewallWork, { kind, id, after }: ChangePorts | ChangeMachines): Iterable<string> => {
    if (kind === "open-ports") return waiting.get(id) ?? [];
    if (kind === "close-ports") return needs.wanted;
    return kind === "add-to-firewall" ? after : [];
  };
  return (work, action) => {
    const { firewall: target } = work.view;
    if (target.kind !== "ready" || target.fact.firewall.id !== action.firewall.id) return [];
    const { fact } = target;
    const isAwaited = (machine: string): boolean =>
      (action.kind === "add-to-firewall" || isBehind(fact, machine)) &&
      progressAt(fact.firewall, machine) !== "pending";
    return [...candidates(work, action)].filter(isAwaited).toSorted(compareText);
  };
}

function isSending(action: Action): action is Sending {
  return action.kind === "assign-ip" || action.kind === "move-ip" || action.kind === "acquire-ip";
}

/** True when wherever an address of the object may be its present firewall lets everything in, or `isBrought` says so, and no change is pending there. */
function areLetIn(work: FirewallWork, isBrought: (machine: string) => boolean): boolean {
  const { view, needs } = work;
  const isOpen = [...needs.machines].every((machine) => isBrought(machine) || isLetIn(view.firewall, machine));
  return isOpen && firstUnfinished(work) === undefined;
}

/** What the provider has not carried out of the present firewall where an address of the object may be. */
function firstUnfinished({ view, needs }: FirewallWork): BlockedFirewall | undefined {
  const machines = [...needs.machines].toSorted(compareText);
  return machines.flatMap((machine) => unfinishedAt(view.firewall, view.placeOf(machine)) ?? [])[0];
}

/** What is on record for an object that is not behind its present firewall yet, and what it wants there: a former one may serve it. */
function awaitedEntries(work: FirewallWork): readonly string[] {
  if (areLetIn(work, () => false)) return [];
  const { view, needs } = work;
  return storedMemory(view).flatMap((memory) => [
    ...entriesOf(memory),
    ...entriesOf({ ...memory, ports: [...needs.ports], machineIDs: [...needs.machines] }),
  ]);
}

/**
 * Finds rules that let clients in to an address although it is to have its own: a wider one that another object, or the same one before its spec was edited, asked
 * for. While nobody can say where an address is, its ports are opened later. Exception: where there is no room for more rules nothing is planned, and the wider one makes room.
 */
function standIns(works: readonly FirewallWork[], planned: Planned): StandsFor {
  const needed = works.flatMap(({ view: { firewall, pool }, needs }): readonly NeededPorts[] => {
    if (firewall.kind !== "ready" || needs.machines.size === 0) return [];
    const { id } = firewall.fact.firewall;
    const family = ipFamilyOf(pool.spec);
    const missing = new Set(firewall.missing.map(portText));
    return (pool.firewall?.ports ?? []).flatMap((ports) => {
      const served = { ports, family };
      if (!missing.has(portText(ports))) return [{ id, served }];
      const opening = planned.at(id).ports.get(portText(ports));
      if (opening !== undefined) return [{ id, served, opening }];
      const isForLater = needs.wanted.size === 0 || firewall.portsWait?.waitsFor === "retry";
      return isForLater ? [{ id, served, opening: "unopened" }] : [];
    });
  });
  return (firewallID, text) => {
    const outer = parsePortText(text);
    const inside = needed.filter(({ id, served }) => id === firewallID && outer && includesPorts(outer, served.ports));
    const openings = inside.flatMap(({ opening }) => opening ?? []);
    return openings.includes("unopened") ? "unopened" : { served: inside.map(({ served }) => served), openings };
  };
}

/**
 * Finds the addresses that ports on record still let clients in to, on nodes that the addresses are to leave: the Service may be another one now, and the former one still
 * has clients there. Exception: where there is no room for the ports that such an address needs next, the ones on record make room.
 */
function departures(works: readonly FirewallWork[], planned: Planned): MovesAway {
  const found = new Map<string, readonly string[] | "staying">();
  const enter = (entry: string, moves: readonly string[], isStaying: boolean): void => {
    const known = found.get(entry) ?? [];
    found.set(entry, isStaying || known === "staying" ? "staying" : [...known, ...moves]);
  };
  for (const { view, sending, needs } of works) {
    const { firewall: target } = view;
    if (target.kind !== "ready" || view.pool.meta.isDeleting || isWithoutRoom(target, needs, planned)) continue;
    const leaving = sending.filter((action) => changesAddress(action) && action.before !== undefined);
    const sent = new Set(leaving.flatMap((action) => (changesAddress(action) ? [action.ip] : [])));
    const isStaying = view.managed.some((address) => !sent.has(address.ip) && isToLeave(view, address));
    for (const { id, ports } of storedMemory(view))
      for (const port of ports)
        enter(
          entryKey(id, port),
          leaving.map((action) => action.id),
          isStaying && id === target.fact.firewall.id,
        );
  }
  return (entry) => found.get(entry) ?? [];
}

/** The addresses that stay in use, or in names, with objects that keep no firewall in step. */
function unguardedAddresses(
  works: readonly FirewallWork[],
  shown: ReadonlySet<string>,
): ReadonlyMap<string, Unguarded> {
  const owners = works.flatMap(({ view }) =>
    view.firewall.kind === "ready" || view.pool.meta.isDeleting ? [] : [view],
  );
  return new Map(
    owners.flatMap((view) =>
      view.managed.flatMap((address): readonly (readonly [string, Unguarded])[] => {
        const { ip } = address;
        const machineIDs = machinesOf(view, address);
        const isShown = shown.has(ip);
        const isUsed = machineIDs.length > 0 && (isShown || view.inUse.has(ip));
        return isUsed ? [[ip, { ip, machineIDs, isShown }]] : [];
      }),
    ),
  );
}

/** True for an address in use on a node that does not match. */
function isToLeave({ inUse }: PoolView, { ip, standing }: ManagedIP): boolean {
  const free = standing.kind === "placed" ? standing.staying : standing;
  return inUse.has(ip) && free?.kind === "free" && free.from !== undefined && free.rank === "not-matching";
}

/** True while ports that are closed wait, and no retry will open them: the firewall has no room for them, or they have none beside those that are planned for others. */
function isWithoutRoom(
  { fact, missing, portsWait }: ReadyTarget,
  { wanted }: FirewallNeeds,
  planned: Planned,
): boolean {
  if (portsWait !== undefined) return portsWait.waitsFor !== "retry";
  const { ports } = planned.at(fact.firewall.id);
  return wanted.size > 0 && missing.some((one) => !ports.has(portText(one)));
}

/** Ports that an object needs at a firewall; `opening` is what opens them, absent where they are open. */
interface NeededPorts {
  readonly id: string;
  readonly served: ServedPorts;
  readonly opening?: string;
}

/** What must stay at each firewall: what objects need, and everything on record for those that can let nothing go. */
function keptBy(
  works: readonly FirewallWork[],
): ReadonlyMap<string, { readonly ports: Set<string>; readonly machines: Set<string> }> {
  const kept = new Map<string, { readonly ports: Set<string>; readonly machines: Set<string> }>();
  const keep = (id: string, ports: Iterable<string>, machines: Iterable<string>): void => {
    const known = kept.get(id) ?? { ports: new Set(), machines: new Set() };
    for (const text of ports) known.ports.add(text);
    for (const machine of machines) known.machines.add(machine);
    kept.set(id, known);
  };
  for (const { view, needs } of works) {
    if (view.firewall.kind === "ready")
      keep(view.firewall.fact.firewall.id, needs.ports, [...needs.machines, ...needs.coming]);
    if (!mayLetGo(view)) for (const { id, ports, machineIDs } of storedMemory(view)) keep(id, ports, machineIDs);
  }
  return kept;
}

/** What other objects have on record; `isInherited` leaves out those that are deleted. */
interface Shared {
  readonly isRecorded: ByOthers;
  readonly isInherited: ByOthers;
}

function result(
  work: FirewallWork,
  reductions: readonly Reduction[],
  { isRecorded, isInherited }: Shared,
  facts: Observation["firewalls"],
): ObjectFirewalls {
  const { view, extension, needs } = work;
  const actions = [...extension.actions, ...reductions.flatMap((reduction) => reduction.actions)];
  const holds = [...extension.holds, ...reductions.flatMap((reduction) => reduction.holds)];
  // Also a suspended object takes over what it needs: the one that added it may go.
  const isKnown = view.validation.kind === "valid" && view.provider !== undefined;
  const isShared = (entry: string): boolean => isRecorded(work, entry);
  const memory = isKnown ? firewallMemory(view, { needs, extension, facts, isShared }) : storedMemory(view);
  const hasHeir = (entry: string): boolean => isInherited(work, entry);
  const isAwaited = view.pool.spec.reclaimPolicy === "Delete" && extension.holds.length > 0;
  const cleaning = isWritable(view)
    ? { ...firewallCleaning(view, memory, reductions, hasHeir), isAwaited }
    : NOTHING_TO_CLEAN;
  const pending = pendingChanges(view, needs);
  return { actions, holds: [...holds, ...waitingForHeirs(view, cleaning, reductions)], memory, pending, cleaning };
}

/** The pending changes that matter to an object: at the machines that have its address or match it. While its firewall is not known, those on record. */
function pendingChanges(
  { firewall, matches, pool, machineOf }: PoolView,
  { wanted }: FirewallNeeds,
): readonly PendingFirewall[] {
  if (firewall.kind === "blocked") return pool.status.pendingFirewalls ?? [];
  if (firewall.kind === "none") return [];
  const matching = matches.flatMap(({ providerID }) => machineOf(providerID) ?? []);
  const machines = new Set([...wanted, ...matching]);
  return machines.size === 0
    ? []
    : firewall.pending.filter(({ machineID: machine }) => machine === undefined || machines.has(machine));
}

/** Ports and machines on record for an object that are still there, or are just being added. */
function recordedEntries({ view, extension }: FirewallWork, facts: Observation["firewalls"]): readonly string[] {
  const stored = storedMemory(view).flatMap((memory) => stillThere(memory, facts.get(memory.provider)) ?? []);
  const added = extension.actions.flatMap(({ firewall, after }) => after.map((what) => entryKey(firewall.id, what)));
  return [...stored.flatMap(entriesOf), ...added];
}

/** True when an object other than that of the work has the entry. */
type ByOthers = (work: FirewallWork, entry: string) => boolean;

/** Tells of each entry whether another object has it, from the entries of each object, gone through once. Pure. */
function byOthers(works: readonly FirewallWork[], entriesBy: (work: FirewallWork) => readonly string[]): ByOthers {
  const holders = new Map<string, Set<FirewallWork>>();
  for (const work of works)
    for (const entry of entriesBy(work)) {
      const known = holders.get(entry) ?? new Set();
      holders.set(entry, known.add(work));
    }
  return (work, entry) => {
    const known = holders.get(entry);
    return known !== undefined && (known.size > 1 || !known.has(work));
  };
}

/** What is planned for one firewall: ports, as `portText`, and machines → the action that brings them. */
export interface PlannedAt {
  readonly ports: Map<string, string>;
  readonly machines: Map<string, string>;
}

/** What objects have planned to add to firewalls so far; each enters its own. */
export class Planned {
  readonly #byID = new Map<string, PlannedAt>();

  /** What is planned for a firewall, to be entered into. */
  at(firewallID: string): PlannedAt {
    const known = this.#byID.get(firewallID) ?? { ports: new Map(), machines: new Map() };
    this.#byID.set(firewallID, known);
    return known;
  }
}
