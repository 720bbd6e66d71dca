import { refKey } from "../../model/action.ts";
import type { Obstacle } from "../../model/plan.ts";
import { DEFAULT_MAX_UNAVAILABLE } from "../../model/resource.ts";
import { type Drain, decided, drainOf, isShownIn, lastServingIn, type ServingNames } from "../drain.ts";
import { obstacle } from "../holds.ts";
import { isServedBy, isShownByName, type ManagedIP, type PoolView, servesNow, storedDrain } from "../pool-view.ts";
import { drainEnd, handOver, isFromFormer, othersFirst, stillPublished } from "./hand-over.ts";
import type { Leaver, MachineLedger } from "./machine-ledger.ts";
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
  readonly #ledger: MachineLedger;
  /** In use and on their way, by the facts or by this plan. */
  #onTheWay: number;
  /** How many serve, those included that this plan lets go. */
  readonly #serving: number;
  readonly #going = new Set<string>();
  readonly #staying = new Set<string>();

  constructor(view: PoolView, facts: ServingNames, ledger: MachineLedger) {
    const inUse = view.managed.filter(({ ip }) => view.inUse.has(ip));
    this.#view = view;
    this.#facts = facts;
    this.#ledger = ledger;
    this.#onTheWay = inUse.filter(({ standing }) => standing.kind === "busy").length;
    this.#serving = inUse.filter(servesNow).length;
  }

  /** Says what an address may do for which a node waits. @param later - why it is not sent now: the pool cools off, or the limits of the run withhold it */
  turn(ip: string, later: Obstacle | undefined): Turn {
    const drain = this.#drain(ip);
    const hasLeft = this.hasLeft(ip);
    if (later !== undefined && !hasLeft) return { kind: "stay", why: later };
    const busy = this.#budgetObstacle();
    if (busy !== undefined) return { kind: "stay", why: busy };
    if (drain.kind === "unwritable")
      return { kind: drain.untilMs === undefined ? "stay" : "leave", why: stillPublished(drain) };
    if (drain.kind !== "over") return { kind: "leave", why: othersFirst(drain) ?? draining(drain.untilMs) };
    return later === undefined ? { kind: "go" } : { kind: "leave", why: later };
  }

  /** True for an address that has left its names to be moved. */
  hasLeft(ip: string): boolean {
    return storedDrain(this.#view.pool, ip) !== undefined && this.#drain(ip).kind !== "shown";
  }

  /** True for an address that some name shows now. */
  isShown(ip: string): boolean {
    return isShownIn(this.#facts.names, ip);
  }

  /** True for the last address of a name, where the object or a record set has that name: its clients wait. */
  isAwaited(ip: string): boolean {
    const own = refKey(this.#view.object);
    const names = this.#facts.names.filter(({ owner }) => owner.kind === "dns" || refKey(owner) === own);
    return lastServingIn(ip, { ...this.#facts, names }, this.#going) !== undefined;
  }

  /** Why an address that is not used does not take the place of another one yet: resolvers hand it out, or a name shows it that cannot be written just now. Undefined = it can. */
  staysFor(ip: string): Obstacle | undefined {
    const { why, untilMs } = this.#stay(ip, this.#view, this.#going);
    const detail = `resolvers may still hand out ${ip}, which is to take its place`;
    return untilMs === undefined ? why : obstacle("Draining", detail, { waitsFor: "turn", notBeforeMs: untilMs });
  }

  /**
   * Why an address does not leave its machine to another one yet. Undefined = it can. Enters in the ledger that it leaves, unless it is the last one that serves while
   * something of its object is on its way: then it is not its turn. What waits for the machine itself is not on its way.
   */
  makeRoom({ ip, owner }: Leaver, forIP: string): Obstacle | undefined {
    if (isFromFormer(owner, ip)) return this.#leavesFormer(ip, owner);
    const going = new Set([...this.#going, ...this.#ledger.leaving]);
    going.delete(ip);
    const { why, untilMs } = this.#stay(ip, owner, going);
    const mayBeLast = why === undefined && untilMs === undefined && isServedBy(owner, ip);
    const last = mayBeLast ? this.#awaitingName(ip, owner, going, forIP) : undefined;
    if (last !== undefined) return obstacle("LastServing", last, { waitsFor: "turn" });
    this.#ledger.leave(ip);
    const detail = `resolvers may still hand out ${ip}, which makes room for it`;
    const waits = { waitsFor: "turn", notBeforeMs: untilMs, held: "waits for its machine" } as const;
    return untilMs === undefined ? why : obstacle("Draining", detail, waits);
  }

  /** Why an address does not move yet that another object handed or left to this one. Undefined = it can, or none did. Enters in the ledger that it leaves. */
  staysForFormer(ip: string): Obstacle | undefined {
    return this.#leavesFormer(ip, this.#view);
  }

  #leavesFormer(ip: string, owner: PoolView): Obstacle | undefined {
    const { why, isLeaving } = handOver(owner, ip, this.#facts, this.#ledger);
    if (isLeaving) this.#ledger.leave(ip);
    return why;
  }

  /** How long an address stays where it is: until a time, or for the sake of a name that cannot be written. Neither = it can leave. */
  #stay(
    ip: string,
    owner: PoolView,
    going: ReadonlySet<string>,
  ): { readonly why?: Obstacle; readonly untilMs?: number } {
    const drain: Drain = isServedBy(owner, ip) ? drainOf(owner, ip, this.#facts, going) : { kind: "over" };
    if (drain.kind === "unwritable") return { why: stillPublished(drain) };
    const others = othersFirst(drain);
    if (others !== undefined) return { why: others };
    return drain.kind === "over" || drain.untilMs <= this.#view.nowMs ? {} : { untilMs: drain.untilMs };
  }

  /** Returns the first name that has nothing but this address, and may soon have another one: of any object while something of the address's own is on its way, else of a record set. */
  #awaitingName(ip: string, owner: PoolView, going: ReadonlySet<string>, forIP: string): string | undefined {
    const last = lastServingIn(ip, this.#facts, going);
    if (last === undefined || this.#isOnTheWay(owner, going, forIP)) return last;
    const names = this.#facts.names.filter(
      ({ showsNode }) => showsNode !== undefined && this.#ledger.comingNodes.some(showsNode),
    );
    return lastServingIn(ip, { ...this.#facts, names }, going);
  }

  /** True while an address of the object other than this one is on its way, or leaves its machine to another one, or a machine of the object is just being cleared. */
  #isOnTheWay(owner: PoolView, going: ReadonlySet<string>, but: string): boolean {
    const isSent = owner.key === this.#view.key && this.#onTheWay > 0;
    const own = [...owner.managed, ...owner.released, ...owner.handedOver];
    return (
      isSent ||
      owner.managed.some(({ standing }) => standing.kind === "busy") ||
      own.some(({ ip }) => ip !== but && going.has(ip)) ||
      this.#ledger.hasMachineComing(owner)
    );
  }

  /** Enters that no node can take an address now. One that has left its names stays out of them while it is to be tried again, or a node that could take it is just being cleared. */
  waits(ip: string, { waitsFor }: Obstacle, isNodeComing: boolean): void {
    if ((waitsFor === "retry" || isNodeComing) && this.hasLeft(ip)) this.goes(ip);
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
    const detail = `at most ${count} of ${of} serving ${of === 1 ? "address" : "addresses"} ${are} on their way at once (maxUnavailable ${text})`;
    return obstacle("DisruptionBudget", detail.replace("is on their way", "is on its way"), { waitsFor: "turn" });
  }

  /** `spec.maxUnavailable` of the addresses that serve or are on their way. A percentage is rounded down, as that of a Deployment, and at least 1. */
  #allowed(): { readonly count: number; readonly of: number; readonly text: string } {
    const max = this.#view.pool.spec.maxUnavailable ?? DEFAULT_MAX_UNAVAILABLE;
    const of = this.#serving + this.#onTheWay;
    if ("count" in max) return { count: Math.max(1, max.count), of, text: String(max.count) };
    return { count: Math.max(1, Math.floor((of * max.percent) / 100)), of, text: `${max.percent}%` };
  }

  #drain(ip: string, facts = this.#facts): Drain {
    return drainOf(this.#view, ip, facts, this.#leaving);
  }

  /** What leaves the names of the object in any case, and what this plan lets go. */
  get #leaving(): ReadonlySet<string> {
    const { released, handedOver } = this.#view;
    return new Set([...this.#going, ...[...released, ...handedOver].map(({ ip }) => ip)]);
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
  #drains(view: PoolView): NonNullable<PoolView["drains"]> {
    return new Map(
      view.managed.flatMap((address) => {
        const isLeaving = !view.inUse.has(address.ip) || this.#going.has(address.ip);
        const facts = this.#going.has(address.ip) ? this.#facts : decided(this.#facts);
        const drain = isLeaving && servesNow(address) ? this.#drain(address.ip, facts) : undefined;
        const end = drain === undefined ? undefined : drainEnd(view, address.ip, drain);
        return end === undefined ? [] : [[address.ip, end] as const];
      }),
    );
  }
}

/**
 * Settles what a pool released or handed over, once all pools have decided. Where an address of the pool serves, the released ones leave the names and drain. Where none does, only
 * those leave the names that have to make room for another address. The others stay there until something serves instead. What no name shows enters none. Pure.
 *
 * @param leaving - addresses that leave their machines to others
 */
export function settleReleased(view: PoolView, facts: ServingNames, leaving: ReadonlySet<string>): PoolView {
  const left = [...view.released, ...view.handedOver];
  const serving = left.filter(({ isServing }) => isServing).map(({ ip }) => ip);
  // What cannot be read now drains on as it did.
  const unread = left.filter(({ fact }) => fact.kind === "gap").map(({ ip }) => ip);
  const isReplaced = view.managed.some((address) => view.inUse.has(address.ip) && servesNow(address));
  const drains = [...serving, ...unread].flatMap((ip) => {
    const drain = drainOf(view, ip, facts, leaving);
    const end = drainEnd(view, ip, drain);
    if (end === undefined) return [];
    return drain.kind === "shown" && !isReplaced && !leaving.has(ip) ? [] : [[ip, end] as const];
  });
  const { publishedDNS } = view.pool.status;
  const isShown = (ip: string): boolean => publishedDNS?.addresses.includes(ip) === true || isShownIn(facts.names, ip);
  const staying = isReplaced ? [] : serving.filter((ip) => !leaving.has(ip) && isShown(ip));
  const isShared = staying.length < serving.length && staying.length > 0;
  return {
    ...view,
    handedOver: view.handedOver.filter(
      ({ ip }) => isShownByName(view.pool, ip) || drainOf(view, ip, facts, leaving).kind !== "over",
    ),
    drains: new Map([...(view.drains ?? []), ...drains]),
    ...(isShared ? { staying: new Set(staying) } : {}),
  };
}

/** Returns why an address that names show no more is not taken from its machine yet. */
export function draining(notBeforeMs: number): Obstacle {
  return obstacle("Draining", "", { waitsFor: "turn", notBeforeMs });
}
