import type { AddressFact } from "../../model/address.ts";
import { pastMs } from "../../model/time.ts";
import {
  comingMachine,
  drainEndMs,
  type Free,
  isServedBy,
  isWritable,
  type MachineOf,
  type ManagedIP,
  type PoolView,
  statusOf,
  storedMachines,
} from "../pool-view.ts";
import { UNANSWERED_WATCH_MS } from "./acquire.ts";
import { canGoTo } from "./assign.ts";

/** Whether a machine can take one more address, once some have left; else why not. */
export type Availability =
  | { readonly kind: "free"; readonly leaving: readonly Leaver[] }
  | {
      readonly kind: "carries";
      readonly ip: string;
      readonly isNamed: boolean;
      /** An address of no use there that would make room, if its object, by its key, were not suspended. */
      readonly suspended?: { readonly ip: string; readonly owner: string };
    }
  | { readonly kind: "still-published"; readonly ip: string; readonly name: string }
  | { readonly kind: "promised"; readonly to: string };

/** An address that stays on a machine only until the machine is needed. */
export interface Leaver {
  readonly ip: string;
  readonly owner: PoolView;
}

/** Addresses that may be taken off their machines, with their objects. */
type Evictable = ReadonlyMap<string, PoolView>;

/** An object that asks for a machine. */
type Limited = Pick<PoolView, "key" | "maxPerNode">;

/** How many addresses a machine may have at most for the sake of an object, by its key, or of an address that the object has or remembers there. */
interface Limits {
  of(key: string): number;
  at(ip: string): number;
}

/** What a ledger is filled from. */
export interface LedgerFacts {
  /** What was read of the provider's addresses. */
  readonly addresses: ReadonlyMap<string, AddressFact>;
  readonly addressesPerMachine: number;
  readonly machineOf: MachineOf;
  readonly views: readonly PoolView[];
  /** True for an address that some object manages or remembers. */
  readonly isNamed: (ip: string) => boolean;
  /** Addresses that DNS shows and that cannot be taken out of it in this pass, with the name. */
  readonly stillPublished: ReadonlyMap<string, string>;
  readonly nowMs: number;
}

/**
 * The ledger of one provider's machines: what each of them carries, and what this plan promises to it. No machine gets more addresses than the provider allows, and
 * no address goes to two machines. It is filled once from everything read, and from what status has of addresses that could not be read. Then
 * {@link assignPool} and {@link acquireForPool} enter each decision as they take it.
 */
export class MachineLedger {
  readonly #facts: LedgerFacts;
  readonly #carried = new Map<string, string[]>();
  readonly #evictable: Evictable;
  readonly #parked: Evictable;
  readonly #stranded: Evictable;
  readonly #busy: ReadonlySet<string>;
  #comingNodes: readonly string[] | undefined;
  readonly #promised = new Map<string, readonly string[]>();
  readonly #leaving = new Set<string>();
  readonly #sentAway = new Set<string>();
  readonly #limits: Limits;

  constructor(facts: LedgerFacts) {
    this.#facts = facts;
    this.#evictable = evictableAddresses(facts.views);
    this.#parked = parkedAddresses(facts.views);
    this.#stranded = strandedAddresses(facts.views);
    this.#busy = busyAddresses(facts.views);
    this.#limits = limitsOf(facts.views);
    for (const [ip, fact] of facts.addresses) if (fact.kind === "known") this.#enter(fact.address.holderID, ip);
    for (const view of facts.views) {
      this.#enterPendingAcquisitions(view);
      this.#enterStored(view);
      this.#enterComing(view);
    }
  }

  /** Returns a copy in which an object uses its addresses as this view of it has them. What was promised so far stays promised. */
  with(view: PoolView): MachineLedger {
    const views = this.#facts.views.map((known) => (known.key === view.key ? view : known));
    const copy = new MachineLedger({ ...this.#facts, views });
    for (const [machine, keys] of this.#promised) copy.#promised.set(machine, keys);
    for (const ip of this.#leaving) copy.#leaving.add(ip);
    for (const ip of this.#sentAway) copy.#sentAway.add(ip);
    return copy;
  }

  /**
   * Whether a machine can take one more address of an object now. No machine gets more than its provider allows, nor more than any object allows that has an address there.
   *
   * @param beside - how many of the object's addresses are to go there that are not promised
   */
  availability(machine: string, view: Limited, beside = 0): Availability {
    const carried = this.#carried.get(machine) ?? [];
    const room = this.#availability(machine, carried, view, { beside });
    if (room.kind !== "carries") return room;
    const stranded = carried.flatMap((ip) => {
      const owner = this.#stranded.get(ip);
      return owner === undefined || owner.key === view.key ? [] : [{ ip, owner }];
    });
    if (stranded.length === 0) return room;
    const without = (some: readonly Leaver[]): Availability =>
      this.#availability(machine, carried, view, { beside, also: some });
    const left = without(
      stranded.filter(({ ip, owner }) => owner.suspended === undefined && !this.#canLeaveByItself(ip, owner)),
    );
    const suspended = stranded.find(({ owner }) => owner.suspended !== undefined);
    if (left.kind !== "carries" || suspended === undefined || without(stranded).kind !== "free") return left;
    return { ...left, suspended: { ip: suspended.ip, owner: suspended.owner.key } };
  }

  /** True where an address can go to a machine of its object now, or the object gets another one to a machine first. */
  #canLeaveByItself(ip: string, owner: PoolView): boolean {
    const isOpen = (machine: string): boolean =>
      this.#availability(machine, this.#carried.get(machine) ?? [], owner, {}).kind === "free" ||
      this.#isWorkedOn(machine);
    return this.isPromisedTo(owner.key) || owner.matches.some((node) => canGoTo(owner, ip, node, isOpen));
  }

  /**
   * As {@link availability} for an address that has no other machine, where a parked one makes room, too: it serves its object nowhere, has no machine either, and gets one only once
   * the other one has left its own. So the one waits without a machine until the other one has gone. Example: pools of different nodes exchange all their addresses, and no
   * node is free. Undefined where there is no such parked one.
   */
  lastResort(machine: string, view: Limited): Availability | undefined {
    const carried = this.#carried.get(machine) ?? [];
    const parked = carried.flatMap((ip) => {
      const owner = this.#parked.get(ip);
      const isOther = owner !== undefined && owner.key !== view.key;
      const isInKnot = isOther && !this.#hasMachine(owner) && this.#waitsFor(owner, view.key, new Set());
      return isInKnot ? [{ ip, owner }] : [];
    });
    if (parked.length === 0) return undefined;
    return this.#availability(machine, carried, view, { also: parked });
  }

  /** True for an address in use that serves its object nowhere, on a node that does not match. */
  isParked(ip: string): boolean {
    return this.#parked.has(ip);
  }

  /** True for an address that this plan takes off its machine for another one. */
  isSentAway(ip: string): boolean {
    return this.#sentAway.has(ip);
  }

  /** True where a machine waits for an address of an object, can take one, or has one that the provider works on: mostly that one leaves. */
  #hasMachine(view: PoolView): boolean {
    const isOpen = (machine: string): boolean =>
      this.availability(machine, view).kind === "free" || this.#isWorkedOn(machine);
    return this.isPromisedTo(view.key) || machinesOf(view).some(isOpen);
  }

  #isWorkedOn(machine: string): boolean {
    return this.#carried.get(machine)?.some((ip) => this.#isLocked(ip)) === true;
  }

  /** True where an address is parked on a machine of an object that another one, by its key, is to take away, or one that waits for that itself. */
  #waitsFor(view: PoolView, key: string, seen: Set<string>): boolean {
    seen.add(view.key);
    const owners = machinesOf(view).flatMap((machine) =>
      (this.#carried.get(machine) ?? []).flatMap((ip) => this.#parked.get(ip) ?? []),
    );
    return owners.some((owner) => owner.key === key || (!seen.has(owner.key) && this.#waitsFor(owner, key, seen)));
  }

  /** The nodes that addresses in use are on their way to. */
  get comingNodes(): readonly string[] {
    this.#comingNodes ??= this.#facts.views.flatMap(nodesAhead);
    return this.#comingNodes;
  }

  /** True where a machine of an object is just being cleared, so that it can take one more address of it. */
  hasMachineComing(view: PoolView): boolean {
    return this.#busy.size > 0 && machinesOf(view).some((machine) => this.isBeingCleared(machine, view));
  }

  #isLocked(ip: string): boolean {
    const fact = this.#facts.addresses.get(ip);
    return fact?.kind === "known" && fact.address.isLocked;
  }

  /** True for a machine that is full, and can take one more address of an object once those have left it that the provider is just taking off. */
  isBeingCleared(machine: string, view: Limited): boolean {
    const carried = this.#carried.get(machine) ?? [];
    const staying = carried.filter((ip) => !this.#busy.has(ip));
    return staying.length < carried.length && this.#availability(machine, staying, view, {}).kind === "free";
  }

  #availability(
    machine: string,
    carried: readonly string[],
    view: Limited,
    { beside = 0, also = [] }: { readonly beside?: number; readonly also?: readonly Leaver[] },
  ): Availability {
    const evictable =
      also.length === 0
        ? this.#evictable
        : new Map([...this.#evictable, ...also.map(({ ip, owner }) => [ip, owner] as const)]);
    const { addressesPerMachine, stillPublished, isNamed } = this.#facts;
    const promised = this.#promised.get(machine) ?? [];
    const most = Math.min(addressesPerMachine, view.maxPerNode, ...promised.map((key) => this.#limits.of(key)));
    const isFull = (ips: readonly string[]): boolean =>
      ips.length + promised.length + beside >= Math.min(most, ...ips.map((ip) => this.#limits.at(ip)));
    const to = promised.at(-1) ?? view.key;
    if (isFull([])) return { kind: "promised", to };
    const settled = carried.filter((ip) => !evictable.has(ip));
    const [first] = settled;
    if (isFull(settled))
      return first === undefined ? { kind: "promised", to } : { kind: "carries", ip: first, isNamed: isNamed(first) };
    const leaving = this.#leavers(carried, isFull, evictable);
    if (leaving !== undefined) return { kind: "free", leaving };
    const published = carried.find((ip) => evictable.has(ip) && stillPublished.has(ip)) ?? "";
    return { kind: "still-published", ip: published, name: stillPublished.get(published) ?? "" };
  }

  /** What leaves a machine until it has room: of what can leave that first which lets the fewest stand beside it. Undefined where names keep too many. */
  #leavers(
    carried: readonly string[],
    isFull: (ips: readonly string[]) => boolean,
    evictable: Evictable,
  ): readonly Leaver[] | undefined {
    const able = carried
      .filter((ip) => !this.#facts.stillPublished.has(ip))
      .flatMap((ip) => {
        const owner = evictable.get(ip);
        return owner === undefined ? [] : [{ ip, owner }];
      })
      .toSorted((a, b) => a.owner.maxPerNode - b.owner.maxPerNode);
    for (let count = 0; count <= able.length; count += 1) {
      const leaving = able.slice(0, count);
      if (!isFull(carried.filter((ip) => leaving.every((leaver) => leaver.ip !== ip)))) return leaving;
    }
    return undefined;
  }

  /** How many addresses a machine has, or is promised. */
  loadOf(machine: string): number {
    return (this.#carried.get(machine)?.length ?? 0) + (this.#promised.get(machine)?.length ?? 0);
  }

  /** How many addresses in use an object has on a machine, or is promised to have there. */
  shareOf(machine: string, { key, inUse }: Pick<PoolView, "key" | "inUse">): number {
    const own = (this.#carried.get(machine) ?? []).filter((ip) => inUse.has(ip));
    return own.length + (this.#promised.get(machine) ?? []).filter((to) => to === key).length;
  }

  /** Enters that a machine will get an address of this object, and which ones leave it for that now. */
  promise(machine: string, key: string, leaving: readonly Leaver[] = []): void {
    for (const { ip } of leaving) {
      this.leave(ip);
      this.#sentAway.add(ip);
    }
    this.#promised.set(machine, [...(this.#promised.get(machine) ?? []), key]);
  }

  /** Enters that an address leaves its machine to another one, now or once it has drained. */
  leave(ip: string): void {
    this.#leaving.add(ip);
  }

  /** Returns the name that shows an address and cannot be changed in this pass; undefined where there is none. */
  nameOf(ip: string): string | undefined {
    return this.#facts.stillPublished.get(ip);
  }

  /** True while a machine is promised to an object. */
  isPromisedTo(key: string): boolean {
    return [...this.#promised.values()].some((keys) => keys.includes(key));
  }

  /** Addresses that leave their machines to others. */
  get leaving(): ReadonlySet<string> {
    return this.#leaving;
  }

  /**
   * Promises the machines of pending acquisitions: the address may yet appear there. A pool that cannot be worked on has nobody who watches for its
   * acquisition. There it counts as long as the watch would take.
   */
  #enterPendingAcquisitions(view: PoolView): void {
    const { machineOf, nowMs } = this.#facts;
    for (const [at, { providerID = "", startedAt }] of view.pool.status.pendingAcquisitions.entries()) {
      const target = machineOf(providerID);
      const isRecent = (pastMs(startedAt, nowMs) ?? nowMs) + UNANSWERED_WATCH_MS > nowMs;
      const isOpen = view.pending[at]?.kind === "waiting" && (view.provider !== undefined || isRecent);
      if (target !== undefined && isOpen) this.promise(target, view.key);
    }
  }

  /**
   * Enters what only status has: where an unreadable address may be, and where a moving one goes. An address that somebody else moves may come back to its old machine.
   * Until it has come to rest no other address goes there.
   */
  #enterStored(view: PoolView): void {
    const { machineOf } = this.#facts;
    for (const { ip, standing } of view.managed) {
      if (standing.kind === "gap")
        for (const machine of storedMachines(view.pool, ip, machineOf)) this.#enter(machine, ip);
      if (standing.kind !== "busy") continue;
      const target = machineOf(statusOf(view.pool, ip)?.providerID ?? "");
      if (target !== undefined && target !== standing.holder?.machineID) this.promise(target, view.key);
    }
  }

  /** Enters where addresses go that the object no longer manages. */
  #enterComing(view: PoolView): void {
    for (const { fact } of [...view.released, ...view.handedOver]) {
      const target = fact.kind === "known" ? comingMachine(view.pool, fact.address, this.#facts.machineOf) : undefined;
      if (target !== undefined) this.promise(target, view.key);
    }
  }

  #enter(machine: string | undefined, ip: string): void {
    if (machine === undefined) return;
    const ips = this.#carried.get(machine) ?? [];
    if (!ips.includes(ip)) this.#carried.set(machine, [...ips, ip]);
  }
}

/** Nobody's address counts, and limits nothing. */
function limitsOf(views: readonly PoolView[]): Limits {
  const byKey = new Map(views.map(({ key, maxPerNode }) => [key, maxPerNode]));
  const remembered = views.flatMap(({ released, maxPerNode }) => released.map(({ ip }) => [ip, maxPerNode] as const));
  const managed = views.flatMap(({ managed: own, maxPerNode }) =>
    own.flatMap(({ ip, standing }) =>
      standing.kind === "conflict" || standing.kind === "ungranted" ? [] : [[ip, maxPerNode] as const],
    ),
  );
  const byIP = new Map([...remembered, ...managed]);
  return {
    of: (key) => byKey.get(key) ?? Number.POSITIVE_INFINITY,
    at: (ip) => byIP.get(ip) ?? Number.POSITIVE_INFINITY,
  };
}

/**
 * Addresses that may be taken off a machine when it is needed, each with its object: disabled ones, and released ones that can be read and rest. The object may be written. Where
 * several objects have released an address, it is the one that needs it longest.
 */
function evictableAddresses(views: readonly PoolView[]): Evictable {
  const evictable = new Map<string, PoolView>();
  for (const view of views.filter(isWritable))
    for (const ip of [...disabledOf(view), ...freedOf(view)]) {
      const other = evictable.get(ip);
      if (other === undefined || neededUntilMs(view, ip) >= neededUntilMs(other, ip)) evictable.set(ip, view);
    }
  return evictable;
}

/** Until when an object needs an address where it is, milliseconds: while it drains, else while it serves. */
function neededUntilMs(view: PoolView, ip: string): number {
  return drainEndMs(view.pool, ip, view.nowMs) ?? (isServedBy(view, ip) ? view.nowMs : 0);
}

/** The machines of an object's matches. */
function machinesOf({ matches, machineOf }: PoolView): readonly string[] {
  return matches.flatMap(({ providerID }) => machineOf(providerID) ?? []);
}

/** Addresses in use on nodes that do not match, where they serve their objects nowhere. */
function parkedAddresses(views: readonly PoolView[]): Evictable {
  return freeInUse(views.filter(isWritable), ({ rank, isServing }) => rank === "not-matching" && isServing !== true);
}

/** Addresses in use that could be assigned at once, and stand as is asked for; none that are withheld. */
function freeInUse(views: readonly PoolView[], isMeant: (standing: Free) => boolean): Evictable {
  return new Map(
    views.flatMap((view) =>
      view.managed.flatMap(({ ip, standing }) => {
        const isOne = standing.kind === "free" && isMeant(standing) && view.inUse.has(ip) && !view.withheld.has(ip);
        return isOne ? [[ip, view] as const] : [];
      }),
    ),
  );
}

/**
 * Addresses that the provider is working on. Mostly they leave their machines just now: nobody uses them, their objects never want the node, or they are sent to another machine.
 */
function busyAddresses(views: readonly PoolView[]): ReadonlySet<string> {
  const ofNoUse = (view: PoolView): readonly string[] =>
    view.managed.flatMap(({ ip, standing }) =>
      standing.kind === "busy" && (standing.isStranded === true || !view.inUse.has(ip)) ? [ip] : [],
    );
  const freed = (view: PoolView): readonly string[] =>
    view.released.flatMap(({ ip, fact }) => (fact.kind === "known" && fact.address.isLocked ? [ip] : []));
  return new Set([
    ...views.filter(isWritable).flatMap((view) => [...ofNoUse(view), ...freed(view)]),
    ...views.flatMap(movingOf),
  ]);
}

/** The addresses of an object that it has sent from the machine where they still are to another one. */
function movingOf({ pool, managed, machineOf }: PoolView): readonly string[] {
  return managed.flatMap(({ ip, standing }) => {
    if (standing.kind !== "busy" || standing.holder === undefined) return [];
    const target = machineOf(statusOf(pool, ip)?.providerID ?? "");
    return target !== undefined && target !== standing.holder.machineID ? [ip] : [];
  });
}

/** The nodes that addresses of an object are on their way to, as far as these are in use and may serve there. */
function nodesAhead({ pool, managed, inUse }: PoolView): readonly string[] {
  return managed.flatMap(({ ip, standing }) =>
    standing.kind === "busy" && standing.isLost !== true && inUse.has(ip) ? (statusOf(pool, ip)?.nodeName ?? []) : [],
  );
}

/** Addresses in use on nodes that their objects never want. They make room there for what another object has a use for, unless their objects are suspended. */
function strandedAddresses(views: readonly PoolView[]): Evictable {
  const able = views.filter((view) => view.suspended !== undefined || isWritable(view));
  return freeInUse(able, ({ isStranded }) => isStranded === true);
}

function disabledOf(view: PoolView): readonly string[] {
  const isOurs = ({ standing }: ManagedIP): boolean =>
    standing.kind === "placed" || (standing.kind === "free" && standing.rank !== "foreign");
  return view.managed.filter((address) => isOurs(address) && !view.inUse.has(address.ip)).map(({ ip }) => ip);
}

function freedOf(view: PoolView): readonly string[] {
  return view.released.flatMap(({ ip, fact }) => (fact.kind === "known" && !fact.address.isLocked ? [ip] : []));
}
