import type { Obstacle } from "../../model/plan.ts";
import { DEFAULT_MAX_UNAVAILABLE } from "../../model/resource.ts";
import { type Drain, drainOf, type ServingNames } from "../drain.ts";
import { obstacle } from "../holds.ts";
import { type ManagedIP, type PoolView, servesNow, statusOf } from "../pool-view.ts";
import { staying } from "./position.ts";

/** What an address that still serves may do now: go to its new node, leave its names and stay on its machine, or stay as it is. */
export type Turn =
  | { readonly kind: "go" }
  | { readonly kind: "leave"; readonly why: Obstacle }
  | { readonly kind: "stay"; readonly why: Obstacle };

/**
 * Paces what one pool does of its own accord. An address whose node serves and matches no longer moves in three steps:
 *
 *   1 it waits for its turn: only so many are on their way at once, and never the last one that serves     `DisruptionBudget`
 *   2 it leaves its names, if another address of them serves, and stays until no resolver has it any more  `Draining`
 *   3 it moves, and is published again
 *
 * Whatever serves no more is not asked about, and takes its node before. Filled while {@link assignPool} goes through the addresses.
 */
export class Pace {
  readonly #view: PoolView;
  readonly #facts: ServingNames;
  /** In use and on their way, by the facts or by this plan. */
  #onTheWay: number;
  /** How many serve, those included that this plan lets go. */
  readonly #serving: number;
  readonly #going = new Set<string>();
  readonly #staying = new Set<string>();

  constructor(view: PoolView, facts: ServingNames) {
    const inUse = view.managed.filter(({ ip }) => view.inUse.has(ip));
    this.#view = view;
    this.#facts = facts;
    this.#onTheWay = inUse.filter(({ standing }) => standing.kind === "busy").length;
    this.#serving = inUse.filter(servesNow).length;
  }

  /** Says what an address may do for which a node waits. */
  turn(ip: string, coolOff: Obstacle | undefined): Turn {
    const drain = this.#drain(ip);
    const hasLeft = this.hasLeft(ip);
    if (coolOff !== undefined && !hasLeft) return { kind: "stay", why: coolOff };
    const busy = this.#budgetObstacle();
    if (busy !== undefined) return { kind: "stay", why: busy };
    if (drain.kind === "unwritable") return { kind: "stay", why: obstacle("StillPublished", drain.name) };
    if (drain.kind !== "over") return { kind: "leave", why: draining(drain.untilMs) };
    return coolOff === undefined ? { kind: "go" } : { kind: "leave", why: coolOff };
  }

  /** True for an address that has left its names to be moved. */
  hasLeft(ip: string): boolean {
    return statusOf(this.#view.pool, ip)?.drainingUntil !== undefined && this.#drain(ip).kind !== "shown";
  }

  /** Why an address cannot leave its machine yet: resolvers hand it out, or a name shows it that cannot be written just now. Undefined = it can. */
  staysFor(ip: string, owner: PoolView = this.#view): Obstacle | undefined {
    if (!owner.managed.some((address) => address.ip === ip && servesNow(address))) return undefined;
    const drain = drainOf(owner, ip, this.#facts, this.#going);
    if (drain.kind === "unwritable") return obstacle("StillPublished", drain.name);
    return drain.kind === "over" || drain.untilMs <= this.#view.nowMs ? undefined : draining(drain.untilMs);
  }

  /** Enters that no node can take an address now. One that has left its names stays out of them while it is to be tried again. */
  waits(ip: string, { waitsFor }: Obstacle): void {
    if (waitsFor === "retry" && this.hasLeft(ip)) this.goes(ip);
    else this.stays(ip);
  }

  /** Enters that an address stays where it is, and in its names. */
  stays(ip: string): void {
    this.#staying.add(ip);
  }

  /** Enters that an address is out of its names, or on its way to another node. */
  goes(ip: string): void {
    this.#going.add(ip);
  }

  /** Enters that an address which serves nowhere is sent to a node. */
  recovers(): void {
    this.#onTheWay += 1;
  }

  /** Returns why no serving address may be taken from its node now, after what this plan lets go. */
  #budgetObstacle(): Obstacle | undefined {
    const { count, of, text } = this.#allowed();
    const onTheWay = this.#onTheWay + this.#going.size;
    const isOnlyOne = this.#serving === 1 && onTheWay === 0;
    if (onTheWay < count && (isOnlyOne || this.#serving - this.#going.size > 1)) return undefined;
    const are = count === 1 ? "is" : "are";
    const detail = `at most ${count} of ${of} serving addresses ${are} on their way at once (maxUnavailable ${text})`;
    return obstacle("DisruptionBudget", detail.replace("is on their way", "is on its way"), { waitsFor: "turn" });
  }

  /** `spec.maxUnavailable` of the addresses that serve or are on their way. A percentage is rounded down, as that of a Deployment, and at least 1. */
  #allowed(): { readonly count: number; readonly of: number; readonly text: string } {
    const max = this.#view.pool.spec.maxUnavailable ?? DEFAULT_MAX_UNAVAILABLE;
    const of = this.#serving + this.#onTheWay;
    if ("count" in max) return { count: Math.max(1, max.count), of, text: String(max.count) };
    return { count: Math.max(1, Math.floor((of * max.percent) / 100)), of, text: `${max.percent}%` };
  }

  #drain(ip: string): Drain {
    return drainOf(this.#view, ip, this.#facts, this.#going);
  }

  /** The pool with its addresses as they are after the decisions: what stays counts as placed. */
  settled(view: PoolView): PoolView {
    const managed = view.managed.map((address) => this.#settledAddress(address));
    return { ...view, managed, drains: this.#drains(view) };
  }

  #settledAddress(address: ManagedIP): ManagedIP {
    const { ip, standing } = address;
    return standing.kind === "free" && this.#staying.has(ip) ? staying(address, standing) : address;
  }

  /** Until when addresses stay although names show them no more: those that are to move, and those that are not used any more. */
  #drains(view: PoolView): ReadonlyMap<string, number> {
    return new Map(
      view.managed.flatMap((address) => {
        const isLeaving = !view.inUse.has(address.ip) || this.#going.has(address.ip);
        const drain = isLeaving && servesNow(address) ? this.#drain(address.ip) : undefined;
        const untilMs = drain?.kind === "unwritable" ? undefined : drain?.untilMs;
        return untilMs === undefined ? [] : [[address.ip, untilMs] as const];
      }),
    );
  }
}

/** Returns why an address that names show no more is not taken from its machine yet. */
export function draining(notBeforeMs: number): Obstacle {
  return obstacle("Draining", "", { waitsFor: "turn", notBeforeMs });
}
