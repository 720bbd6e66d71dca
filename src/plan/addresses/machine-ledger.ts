import type { AddressFact } from "../../model/address.ts";
import { pastMs } from "../../model/time.ts";
import { isWritable, type MachineOf, type ManagedIP, type PoolView, statusOf, storedMachines } from "../pool-view.ts";
import { UNANSWERED_WATCH_MS } from "./acquire.ts";

/** Whether a machine can take one more address, once some have left; else why not. */
export type Availability =
  | { readonly kind: "free"; readonly leaving: readonly Leaver[] }
  | { readonly kind: "carries"; readonly ip: string; readonly isNamed: boolean }
  | { readonly kind: "still-published"; readonly ip: string; readonly name: string }
  | { readonly kind: "promised"; readonly to: string };

/** An address that stays on a machine only until the machine is needed. */
export interface Leaver {
  readonly ip: string;
  readonly owner: PoolView;
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
  readonly #evictable: ReadonlyMap<string, PoolView>;
  readonly #promised = new Map<string, readonly string[]>();
  readonly #leaving = new Set<string>();

  constructor(facts: LedgerFacts) {
    this.#facts = facts;
    this.#evictable = evictableAddresses(facts.views);
    for (const [ip, fact] of facts.addresses) if (fact.kind === "known") this.#enter(fact.address.holderID, ip);
    for (const view of facts.views) {
      this.#enterPendingAcquisitions(view);
      this.#enterStored(view);
    }
  }

  /** Returns a copy in which an object uses its addresses as this view of it has them. What was promised so far stays promised. */
  with(view: PoolView): MachineLedger {
    const views = this.#facts.views.map((known) => (known.key === view.key ? view : known));
    const copy = new MachineLedger({ ...this.#facts, views });
    for (const [machine, keys] of this.#promised) copy.#promised.set(machine, keys);
    for (const ip of this.#leaving) copy.#leaving.add(ip);
    return copy;
  }

  /** Whether a machine can take one more address now. */
  availability(machine: string): Availability {
    const { addressesPerMachine, stillPublished, isNamed } = this.#facts;
    const promised = this.#promised.get(machine) ?? [];
    const to = promised.at(-1);
    if (to !== undefined && promised.length >= addressesPerMachine) return { kind: "promised", to };
    const carried = this.#carried.get(machine) ?? [];
    const excess = carried.length + promised.length + 1 - addressesPerMachine;
    if (excess <= 0) return { kind: "free", leaving: [] };
    const leaving = carried.flatMap((ip) => {
      const owner = this.#evictable.get(ip);
      return owner === undefined ? [] : [{ ip, owner }];
    });
    const staying = carried.find((ip) => !this.#evictable.has(ip));
    if (leaving.length < excess)
      return staying === undefined
        ? { kind: "promised", to: to ?? "" }
        : { kind: "carries", ip: staying, isNamed: isNamed(staying) };
    const free = leaving.filter(({ ip }) => !stillPublished.has(ip));
    const published = leaving.find(({ ip }) => stillPublished.has(ip))?.ip;
    if (free.length < excess && published !== undefined)
      return { kind: "still-published", ip: published, name: stillPublished.get(published) ?? "" };
    return { kind: "free", leaving: free.slice(0, excess) };
  }

  /** How many addresses a machine has, or is promised. */
  loadOf(machine: string): number {
    return (this.#carried.get(machine)?.length ?? 0) + (this.#promised.get(machine)?.length ?? 0);
  }

  /** Enters that a machine will get an address of this object, and which ones leave it for that now. */
  promise(machine: string, key: string, leaving: readonly Leaver[] = []): void {
    for (const { ip } of leaving) this.leave(ip);
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

  /** Enters what only status has: where an unreadable address may be, and where a moving one goes. */
  #enterStored(view: PoolView): void {
    const { machineOf } = this.#facts;
    for (const { ip, standing } of view.managed) {
      if (standing.kind === "gap")
        for (const machine of storedMachines(view.pool, ip, machineOf)) this.#enter(machine, ip);
      if (standing.kind !== "busy") continue;
      const { state, providerID = "" } = statusOf(view.pool, ip) ?? {};
      const target = machineOf(providerID);
      if (state === "in-progress" && target !== undefined) this.promise(target, view.key);
    }
  }

  #enter(machine: string | undefined, ip: string): void {
    if (machine === undefined) return;
    const ips = this.#carried.get(machine) ?? [];
    if (!ips.includes(ip)) this.#carried.set(machine, [...ips, ip]);
  }
}

/** Addresses that may be taken off a machine when it is needed: disabled, or no longer managed, readable, not being worked on, and their object may be written. */
function evictableAddresses(views: readonly PoolView[]): ReadonlyMap<string, PoolView> {
  return new Map(
    views
      .filter(isWritable)
      .flatMap((view) => [...disabledOf(view), ...freedOf(view)].map((ip) => [ip, view] as const)),
  );
}

function disabledOf(view: PoolView): readonly string[] {
  const isOurs = ({ standing }: ManagedIP): boolean =>
    standing.kind === "placed" || (standing.kind === "free" && standing.rank !== "foreign");
  return view.managed.filter((address) => isOurs(address) && !view.inUse.has(address.ip)).map(({ ip }) => ip);
}

function freedOf(view: PoolView): readonly string[] {
  return view.released.flatMap(({ ip, fact }) => (fact.kind === "known" && !fact.address.isLocked ? [ip] : []));
}
