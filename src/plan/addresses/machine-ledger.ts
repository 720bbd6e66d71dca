import type { AddressFact } from "../../model/address.ts";
import { machineID } from "../../model/node.ts";
import { pastMs } from "../../model/time.ts";
import { UNANSWERED_WATCH_MS } from "./acquisition-intent.ts";
import type { ManagedIP } from "./claims.ts";
import type { PoolView } from "./pool-view.ts";
import { statusOf, storedMachines } from "./position.ts";

/** Why a machine cannot take an address, or which addresses must leave it first. */
export type Availability =
  | { readonly kind: "empty" }
  | { readonly kind: "after-leaving"; readonly leaving: readonly Leaver[] }
  | { readonly kind: "carries"; readonly ip: string; readonly isNamed: boolean }
  | { readonly kind: "still-published"; readonly ip: string; readonly name: string }
  | { readonly kind: "promised"; readonly to: string };

const EMPTY: Availability = { kind: "empty" };

/** An address that stays on a machine only until the machine is needed. */
export interface Leaver {
  readonly ip: string;
  readonly owner: PoolView;
}

/**
 * What every machine carries and what was promised to it while a plan is made: a machine holds at most one address, an address at most one machine.
 * Filled from everything read and from what status knows of addresses that could not be read; then each decision is entered as it is taken.
 */
export class MachineLedger {
  readonly #provider: string;
  readonly #addresses: ReadonlyMap<string, AddressFact>;
  readonly #views: readonly PoolView[];
  readonly #nowMs: number;
  readonly #carried = new Map<string, string[]>();
  readonly #leavers: ReadonlyMap<string, PoolView>;
  readonly #promised = new Map<string, string>();
  readonly #isNamed: (ip: string) => boolean;
  readonly #stillPublished: ReadonlyMap<string, string>;

  /** @param stillPublished - addresses that DNS shows and that cannot be taken out of it in this pass, with the name. */
  constructor(
    provider: string,
    addresses: ReadonlyMap<string, AddressFact>,
    views: readonly PoolView[],
    isNamed: (ip: string) => boolean,
    stillPublished: ReadonlyMap<string, string>,
    nowMs: number,
  ) {
    this.#provider = provider;
    this.#addresses = addresses;
    this.#views = views;
    this.#nowMs = nowMs;
    this.#isNamed = isNamed;
    this.#stillPublished = stillPublished;
    this.#leavers = leaversOf(views);
    for (const [ip, fact] of addresses) if (fact.kind === "known") this.#enter(fact.address.holderID, ip);
    for (const view of views) {
      this.#enterUnanswered(provider, view, nowMs);
      this.#enterRemembered(provider, view);
    }
  }

  /** A copy in which an object uses its addresses as this view of it has them. What was promised so far stays promised. */
  with(view: PoolView): MachineLedger {
    const views = this.#views.map((known) => (known.key === view.key ? view : known));
    const args = [this.#provider, this.#addresses, views, this.#isNamed, this.#stillPublished, this.#nowMs] as const;
    const copy = new MachineLedger(...args);
    for (const [machine, key] of this.#promised) copy.promise(machine, key);
    return copy;
  }

  /** Where a creation without an answer may yet put an address; that of a pool that cannot be worked on is looked for by nobody, and counts as long as others are. */
  #enterUnanswered(provider: string, view: PoolView, nowMs: number): void {
    for (const [at, { providerID = "", startedAt }] of view.pool.status.pendingAcquisitions.entries()) {
      const target = machineID(provider, providerID);
      const isRecent = (pastMs(startedAt, nowMs) ?? nowMs) + UNANSWERED_WATCH_MS > nowMs;
      const isOpen = view.intents[at]?.kind === "waiting" && (view.provider !== undefined || isRecent);
      if (target !== undefined && isOpen) this.#promised.set(target, view.key);
    }
  }

  /** What only status knows: where an unreadable address may be, and where one is on its way to. */
  #enterRemembered(provider: string, view: PoolView): void {
    for (const { ip, standing } of view.managed) {
      if (standing.kind === "gap")
        for (const machine of storedMachines(provider, view.pool, ip)) this.#enter(machine, ip);
      if (standing.kind !== "busy") continue;
      const { state, providerID = "" } = statusOf(view.pool, ip) ?? {};
      const target = machineID(provider, providerID);
      if (state === "in-progress" && target !== undefined) this.#promised.set(target, view.key);
    }
  }

  #enter(machine: string | undefined, ip: string): void {
    if (machine === undefined) return;
    const ips = this.#carried.get(machine) ?? [];
    if (!ips.includes(ip)) this.#carried.set(machine, [...ips, ip]);
  }

  /** Whether a machine can take one more address now. */
  availability(machine: string): Availability {
    const to = this.#promised.get(machine);
    if (to !== undefined) return { kind: "promised", to };
    const carried = this.#carried.get(machine);
    if (carried === undefined) return EMPTY;
    const leaving = carried.flatMap((ip) => {
      const owner = this.#leavers.get(ip);
      return owner === undefined ? [] : [{ ip, owner }];
    });
    const staying = carried.find((ip) => !this.#leavers.has(ip));
    const published = leaving.find(({ ip }) => this.#stillPublished.has(ip))?.ip;
    if (staying === undefined && published !== undefined)
      return { kind: "still-published", ip: published, name: this.#stillPublished.get(published) ?? "" };
    if (staying !== undefined) return { kind: "carries", ip: staying, isNamed: this.#isNamed(staying) };
    return leaving.length > 0 ? { kind: "after-leaving", leaving } : { kind: "empty" };
  }

  /** Enters that a machine will get an address of this object. */
  promise(machine: string, key: string): void {
    this.#promised.set(machine, key);
  }
}

/** Addresses that may be taken off a machine when it is needed: disabled, or no longer managed, readable, not being worked on, and their object may be written. */
function leaversOf(views: readonly PoolView[]): ReadonlyMap<string, PoolView> {
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

/** True when this pass may change things for the object. */
export function isWritable(view: PoolView): boolean {
  return view.isSelected && view.validation.kind === "valid" && !view.pool.spec.suspend && view.provider !== undefined;
}
