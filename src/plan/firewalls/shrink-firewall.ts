import { actionID, type ChangeMachines, type ChangePorts } from "../../model/action.ts";
import {
  type Firewall,
  type FirewallFact,
  type FirewallFacts,
  type FirewallMemory,
  parsePortText,
  type ServedPorts,
  shownPorts,
} from "../../model/firewall.ts";
import type { Hold } from "../../model/plan.ts";
import { FINALIZER } from "../../model/resource.ts";
import { firewallRemovalSubject } from "../../model/retry-subject.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer.ts";
import { type PoolView, rememberedIPs } from "../pool-view.ts";
import type { Wait } from "./extend-firewall.ts";
import { entriesOf, entryKey, factByID } from "./firewall-memory.ts";
import { type BlockedFirewall, isBehind, isLastFirewall, otherMachines, type Sending } from "./firewall-target.ts";

/** What is taken from a firewall for one object. */
export interface Reduction {
  readonly actions: readonly (ChangePorts | ChangeMachines)[];
  readonly holds: readonly Hold[];
  /** Ports and machines that it takes away, as `entryKey`. */
  readonly removed: readonly string[];
}

const NOTHING: Reduction = { actions: [], holds: [], removed: [] };

/** What a reduction depends on, beside the object. */
interface ReductionContext {
  readonly facts: FirewallFacts | undefined;
  /** What any object needs, or cannot let go; by firewall id. */
  readonly kept: ReadonlyMap<string, { readonly ports: ReadonlySet<string>; readonly machines: ReadonlySet<string> }>;
  /** True when wherever an address of the object may be its present firewall lets everything in, or is brought to by this plan. */
  readonly isCarriedOver: boolean;
  /** What the provider has not carried out of the present firewall there. */
  readonly unfinished: BlockedFirewall | undefined;
  /** True for a port or a machine, as `entryKey`, that may serve another object which is not behind its present firewall yet. */
  readonly isAwaited: (entry: string) => boolean;
  readonly standsFor: StandsFor;
  readonly movesAway: MovesAway;
  /** Every action of the plan that sends an address somewhere. */
  readonly sending: readonly Sending[];
  /** Ids of what is added for the object, at its present firewall. */
  readonly adding: readonly string[];
  /** Addresses that cannot be taken out of DNS in this pass, with the name. */
  readonly stillPublished: ReadonlyMap<string, string>;
  /** Ports and machines, as `entryKey`, that objects before this one take away. */
  readonly taken: ReadonlySet<string>;
  /** By address: what stays where it is, and whose owner opens no ports for it. */
  readonly unguarded: ReadonlyMap<string, Unguarded>;
  readonly nowMs: number;
}

/** An address in use whose owner keeps no firewall in step: what is on record there for another object, or was before, may be all that lets its clients in. */
export interface Unguarded {
  readonly ip: string;
  /** Where it is, or may be. */
  readonly machineIDs: readonly string[];
  /** True for one that a name shows. */
  readonly isShown: boolean;
}

/** What a rule on record at a firewall lets in that objects need there: their ports, and what opens those; `unopened` while that has to wait. */
export type StandsFor = (
  firewallID: string,
  portText: string,
) => { readonly served: readonly ServedPorts[]; readonly openings: readonly string[] } | "unopened";

/** The moves that take addresses of objects which have a port, as `entryKey`, on record from nodes; `staying` where one that is to leave its node is not moved by this plan. */
export type MovesAway = (entry: string) => readonly string[] | "staying";

/**
 * Removes from one firewall what flipop added for the object and no object needs any more: first ports, then machines. Where an address of the object stays on a machine
 * without a firewall of its own, it is first the machine, then the ports: as long as the machine is behind the firewall, the ports serve the address.
 * 1. Present firewall: removes after this plan's additions there have ended, even if they failed.
 * 2. Former firewall: removes only if the present one lets clients in at every machine where an address may be, after this plan's additions succeeded.
 * 3. A machine leaves after all moves away from it have succeeded. A port is closed after those of the addresses that it was opened for.
 * 4. A rule that is wider than ports some object needs goes after those ports were opened by themselves; if that fails, it stays.
 * 5. Nothing is removed while a name shows such an address and its clients would be shut out: its machine stays behind the firewall, or is behind others that may not let them in.
 * Pure.
 */
export function removeUnneeded(view: PoolView, memory: FirewallMemory, context: ReductionContext): Reduction {
  const fact = factByID(context.facts, memory.id);
  if (fact === undefined || fact.kind === "gap")
    return { ...NOTHING, holds: [unreadable(view, memory, fact?.error ?? context.facts?.unusable?.message ?? "")] };
  if (fact.kind !== "known") return NOTHING;
  const { firewall } = fact;
  const kept = context.kept.get(memory.id);
  const shown = shownPorts(firewall);
  const isFree = (what: string): boolean => {
    const entry = entryKey(memory.id, what);
    return !context.taken.has(entry) && !context.isAwaited(entry);
  };
  const standIn = (text: string): ReturnType<StandsFor> => context.standsFor(memory.id, text);
  const movesOf = (text: string): ReturnType<MovesAway> => context.movesAway(entryKey(memory.id, text));
  const isReplaced = (text: string): boolean => standIn(text) !== "unopened" && movesOf(text) !== "staying";
  const ports = memory.ports.filter(
    (text) => kept?.ports.has(text) !== true && shown.has(text) && isFree(text) && isReplaced(text),
  );
  const unneeded = memory.machineIDs.filter(
    (id) => kept?.machines.has(id) !== true && firewall.machineIDs.includes(id) && isFree(id),
  );
  if (ports.length === 0 && unneeded.length === 0) return NOTHING;
  const machines = unneeded.filter((id) => !isLastFirewall(firewall, id));
  const unguarded = unguardedBehind(view, fact, context.unguarded);
  const hold =
    obstacle(view, memory, firewall, context) ?? portsInUse(view, memory, firewall, { unguarded, ports, machines });
  if (hold !== undefined) return { ...NOTHING, holds: [hold] };
  const last = unneeded.filter((id) => isLastFirewall(firewall, id)).map((id) => lastFirewall(view, memory, id));
  const needed = ports.map(standIn).filter((one) => one !== "unopened");
  const isMachineFirst = unguarded.some(({ machineIDs }) => machineIDs.some((id) => machines.includes(id)));
  const actions = removals(view, memory, context, {
    fact,
    ports,
    machines,
    isMachineFirst,
    after: [
      ...needed.flatMap((one) => one.openings),
      ...ports.map(movesOf).flatMap((ids) => (ids === "staying" ? [] : ids)),
    ],
    replaced: needed.flatMap((one) => one.served),
  });
  return { actions, holds: last, removed: [...ports, ...machines].map((what) => entryKey(memory.id, what)) };
}

/** What is taken away, and what for. */
interface Removal {
  readonly fact: Extract<FirewallFact, { kind: "known" }>;
  readonly ports: readonly string[];
  readonly machines: readonly string[];
  /** True where an address that the ports serve stays on one of the machines. */
  readonly isMachineFirst: boolean;
  /** What has to succeed before the ports are closed. */
  readonly after: readonly string[];
  /** Narrower ports that are open in their place. */
  readonly replaced: readonly ServedPorts[];
}

function removals(
  view: PoolView,
  memory: FirewallMemory,
  context: ReductionContext,
  { fact, ports, machines, isMachineFirst, after, replaced }: Removal,
): Reduction["actions"] {
  const wait = isPresentFirewall(view, memory)
    ? { requires: [], follows: context.adding }
    : { requires: context.adding, follows: [] };
  const idOf = (kind: (ChangePorts | ChangeMachines)["kind"]): string => commonOf(view, memory, kind).id;
  const isBoth = ports.length > 0 && machines.length > 0;
  const first = isBoth && isMachineFirst ? [idOf("remove-from-firewall")] : [];
  const ahead = isBoth && !isMachineFirst ? [idOf("close-ports")] : [];
  const requires = [...new Set([...wait.requires, ...after, ...first])];
  const closing = {
    ...closePorts(view, memory, ports, { ...wait, requires }, fact),
    ...(replaced.length === 0 ? {} : { replaced }),
  };
  const leaving = removeMachines(view, memory, machines, { ...wait, follows: [...wait.follows, ...ahead] }, context);
  return [...(ports.length === 0 ? [] : [closing]), ...(machines.length === 0 ? [] : [leaving])];
}

/** The addresses of an object, or of one that has them from it, that nothing but what is on record for it may let in, and that are behind the firewall. */
function unguardedBehind(
  { pool }: PoolView,
  fact: Extract<FirewallFact, { kind: "known" }>,
  unguarded: ReadonlyMap<string, Unguarded>,
): readonly Unguarded[] {
  if (unguarded.size === 0) return [];
  return [...rememberedIPs(pool)].flatMap((ip) => {
    const { machineIDs = [], isShown = false } = unguarded.get(ip) ?? {};
    const behind = machineIDs.filter((id) => isBehind(fact, id));
    return behind.length === 0 ? [] : [{ ip, machineIDs: behind, isShown }];
  });
}

/** Says which address would be shut out; undefined if none is that a name shows. A machine that other firewalls cover is shut by its leaving, too. */
function portsInUse(
  view: PoolView,
  memory: FirewallMemory,
  { othersAt }: Firewall,
  { unguarded, ports, machines }: Pick<Removal, "ports" | "machines"> & { readonly unguarded: readonly Unguarded[] },
): Hold | undefined {
  const isShut = (id: string): boolean => (machines.includes(id) ? othersAt !== undefined : ports.length > 0);
  const [found] = unguarded.flatMap(({ ip, machineIDs, isShown }) => {
    const machine = isShown ? machineIDs.find(isShut) : undefined;
    return machine === undefined ? [] : [{ ip, machine }];
  });
  if (found === undefined) return undefined;
  const detail = `${found.ip} on ${placeText(view, found.machine)}`;
  const advice = "Take the node out of the firewall, or let a RoutedIP that uses this firewall have the address.";
  return { ...held(view, memory, "PortsInUse"), detail, needsPerson: true, advice };
}

function isPresentFirewall({ firewall }: PoolView, { id }: FirewallMemory): boolean {
  return firewall.kind === "ready" && firewall.fact.firewall.id === id;
}

function closePorts(
  view: PoolView,
  memory: FirewallMemory,
  ports: readonly string[],
  wait: Wait,
  fact: Extract<FirewallFact, { kind: "known" }>,
): ChangePorts {
  return {
    kind: "close-ports",
    ...commonOf(view, memory, "close-ports"),
    ...wait,
    reason: view.pool.meta.isDeleting ? "ObjectDeleted" : "PortsUnneeded",
    ports: ports.flatMap((text) => parsePortText(text) ?? []),
    before: ports,
    after: [],
    awaited: [],
    ...otherMachines(fact, view.placeOf),
  };
}

function removeMachines(
  view: PoolView,
  memory: FirewallMemory,
  machines: readonly string[],
  wait: Wait,
  { sending }: ReductionContext,
): ChangeMachines {
  const moves = sending.filter(({ before }) => before !== undefined && machines.includes(before.machineID));
  return {
    kind: "remove-from-firewall",
    ...commonOf(view, memory, "remove-from-firewall"),
    requires: [...wait.requires, ...moves.map(({ id }) => id)],
    follows: wait.follows,
    reason: view.pool.meta.isDeleting ? "ObjectDeleted" : "NodeUnneeded",
    machines: machines.map((machine) => view.placeOf(machine)),
    before: machines,
    after: [],
    awaited: [],
  };
}

function commonOf(
  { object }: PoolView,
  { provider, id, name }: FirewallMemory,
  kind: (ChangePorts | ChangeMachines)["kind"],
): Pick<ChangePorts, "id" | "object" | "provider" | "firewall"> {
  return { id: actionID(kind, object, `${name} ${id}`), object, provider, firewall: { id, name } };
}

/** The machine of a deleted object is let go after DNS no longer shows its address, and no resolver has it; a refusal waits for its time. */
function obstacle(
  view: PoolView,
  memory: FirewallMemory,
  { isUnlabelled }: Firewall,
  { stillPublished, isCarriedOver, unfinished }: ReductionContext,
): Hold | undefined {
  if (isUnlabelled === true) return { ...held(view, memory, "FirewallNotOwned"), needsPerson: true };
  if (!isPresentFirewall(view, memory) && !isCarriedOver) {
    const { reason = "InProgress", detail = "" } = unfinished ?? {};
    return { ...held(view, memory, reason), detail };
  }
  const shown = view.pool.meta.isDeleting ? view.managed.find(({ ip }) => stillPublished.has(ip)) : undefined;
  if (shown !== undefined)
    return { ...held(view, memory, "StillPublished"), detail: stillPublished.get(shown.ip) ?? shown.ip };
  const drainUntilMs = Math.max(0, ...[...(view.drains?.values() ?? [])].map(({ untilMs }) => untilMs));
  if (view.pool.meta.isDeleting && drainUntilMs > view.nowMs)
    return { ...held(view, memory, "Draining"), notBeforeMs: drainUntilMs };
  const why = view.retries.obstacle(firewallRemovalSubject(memory.id));
  return why === undefined ? undefined : { ...held(view, memory, "Backoff"), ...why };
}

function lastFirewall(view: PoolView, memory: FirewallMemory, machine: string): Hold {
  return { ...held(view, memory, "LastFirewall"), detail: placeText(view, machine), needsPerson: true };
}

function placeText({ placeOf }: PoolView, machine: string): string {
  return placeOf(machine).nodeName ?? `machine ${machine}`;
}

function unreadable(view: PoolView, memory: FirewallMemory, error: string): Hold {
  return { ...held(view, memory, "Unreadable"), detail: error };
}

function held({ object }: PoolView, { name }: FirewallMemory, reason: Hold["reason"]): Hold {
  return { kind: "close-ports", object, subject: `firewall ${name}`, reason, detail: "", needsPerson: false };
}

/** A deleted object can go once everything on record for it is taken away in this pass, or is on record for another that needs it. Pure. */
export function firewallCleaning(
  view: PoolView,
  memory: readonly FirewallMemory[],
  reductions: readonly Reduction[],
  hasHeir: (entry: string) => boolean,
): Omit<Cleaning, "isAwaited"> {
  if (view.pool.spec.reclaimPolicy !== "Delete") return NOTHING_TO_CLEAN;
  const removing = reductions.flatMap(({ actions }) => actions);
  const leaving = new Set(
    removing.flatMap(({ firewall, before }) => before.map((what) => entryKey(firewall.id, what))),
  );
  const isLeft = (entry: string): boolean => !leaving.has(entry) && !hasHeir(entry);
  return {
    isNeeded: memory.length > 0,
    isStuck: memory.flatMap(entriesOf).some(isLeft) || reductions.some(({ holds }) => holds.length > 0),
    after: removing.map(({ id }) => id),
  };
}

/** Says what the deletion of an object waits for where nothing else does: another one is to put on record what it needs of it. Pure. */
export function waitingForHeirs(view: PoolView, cleaning: Cleaning, reductions: readonly Reduction[]): readonly Hold[] {
  const { meta } = view.pool;
  const isWaiting = meta.isDeleting && meta.finalizers.includes(FINALIZER) && cleaning.isStuck;
  if (!isWaiting || reductions.some(({ holds }) => holds.length > 0)) return [];
  const detail = "another RoutedIP needs what was added to a firewall for this one, and is to take it over";
  const common = { object: view.object, subject: view.key, needsPerson: false };
  return [{ ...common, kind: "remove-finalizer", reason: "FirewallPending", detail }];
}
