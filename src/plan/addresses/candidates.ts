import type { Place } from "../../model/action.ts";
import { withDetail } from "../../model/hold.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { NodeVerdict, Obstacle } from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import { compareText, ownerText } from "../../model/resource.ts";
import { nodeSubject } from "../../model/retry-subject.ts";
import { obstacle } from "../holds.ts";
import { countedIPs, type PoolView } from "../pool-view.ts";
import type { Availability, Leaver, MachineLedger } from "./machine-ledger.ts";

/** A match that can take an address now. */
export interface Candidate {
  readonly node: NodeFacts;
  readonly place: Required<Place>;
  /** The region or zone of the node; `""` if it does not say. */
  readonly region: string;
  /** Addresses that must leave the machine first. */
  readonly leaving: readonly Leaver[];
  /** How many addresses of the pool the machine has, or is promised. */
  readonly share: number;
}

/**
 * The matches that can take an address, in the order they are served: those with the fewest addresses of the pool, then machines with room before those an address must leave
 * first, then those with the fewest addresses of anybody, else by name; nodes whose last attempt failed behind all others, the longest due first. Matches that cannot take any
 * are returned with the reason; of these `coming` has those whose machine is just being cleared, and `lastResort` those whose machine a parked address would leave. `closed` says
 * why there is none: what the first one waits for that only the next attempt at the firewall keeps from taking one, that addresses which no object names have them all, or that the firewall keeps them all away.
 * `taken` says the second of these: then one more address could go nowhere. Pure.
 */
export function findCandidates(
  view: PoolView,
  ledger: MachineLedger,
): {
  readonly candidates: readonly Candidate[];
  readonly coming: readonly Candidate[];
  readonly lastResort: readonly Candidate[];
  readonly skipped: readonly NodeVerdict[];
  readonly closed: Obstacle | undefined;
  readonly taken: Obstacle | undefined;
} {
  const served = fullNodes(view);
  const machines = new Set<string>();
  const candidates: Candidate[] = [];
  const coming: Candidate[] = [];
  const lastResort: Candidate[] = [];
  const skipped: NodeVerdict[] = [];
  const obstacles: Obstacle[] = [];
  const strange: NodeVerdict[] = [];
  const suspended: OfSuspended[] = [];
  for (const node of view.matches.filter(({ name }) => !served.has(name))) {
    const machine = view.machineOf(node.providerID);
    if (machine === undefined || machines.has(machine)) {
      skipped.push({ nodeName: node.name, reason: "UnusableProviderID", detail: node.providerID });
      continue;
    }
    machines.add(machine);
    const place = { machineID: machine, nodeName: node.name };
    const candidate = { node, place, region: view.regionOf(node), share: ledger.shareOf(machine, view) };
    const closed = view.firewallObstacle(place);
    if (closed !== undefined) {
      obstacles.push(closed);
      skipped.push({ nodeName: node.name, reason: closed.reason, detail: closed.detail, isOfFirewall: true });
      continue;
    }
    const availability = ledger.availability(machine, view);
    if (availability.kind === "free") {
      candidates.push({ ...candidate, leaving: availability.leaving });
      continue;
    }
    if (ledger.isBeingCleared(machine, view)) coming.push({ ...candidate, leaving: [] });
    lastResort.push(...withLeavers(candidate, ledger.lastResort(machine, view)));
    const verdicts = skippedNode(candidate, availability, view);
    strange.push(...ofNobody(availability, verdicts));
    suspended.push(...ofSuspended(node, availability));
    skipped.push(...verdicts);
  }
  const all = candidates.length + coming.length + skipped.length;
  const firstOfAll = <T>(some: readonly T[]): T | undefined =>
    some.length === all && isNowhere(view) ? some[0] : undefined;
  const taken = takenBy(firstOfAll(strange));
  const inTheWay = taken ?? keptBySuspended(firstOfAll(suspended));
  const closed = nobodyTakesIt(view, { candidates, skipped, obstacles, inTheWay });
  const ordered = (some: readonly Candidate[]): readonly Candidate[] => inTurn(some, view, ledger);
  return { candidates: ordered(candidates), coming, lastResort: ordered(lastResort), skipped, closed, taken };
}

function withLeavers(candidate: Omit<Candidate, "leaving">, room: Availability | undefined): readonly Candidate[] {
  return room?.kind === "free" ? [{ ...candidate, leaving: room.leaving }] : [];
}

/** The verdicts of a node whose machine has an address that no object names; none of any other node. */
function ofNobody(availability: Availability, verdicts: readonly NodeVerdict[]): readonly NodeVerdict[] {
  return availability.kind === "carries" && !availability.isNamed ? verdicts : [];
}

/**
 * True for a pool of which no address is on a node. One that has nodes waits for more of them instead of a person: that somebody keeps one for something else may be how it shall
 * stay.
 */
function isNowhere({ managed }: PoolView): boolean {
  return managed.every(({ standing }) => standing.kind === "free");
}

/** Why a pool gets no node, where addresses of nobody have all its matches, this one the first. Only a person knows what these are for. */
function takenBy(first: NodeVerdict | undefined): Obstacle | undefined {
  if (first === undefined) return undefined;
  const detail = `each node that it could go to carries an address that no object names, such as ${first.detail} on ${first.nodeName}`;
  const advice = `Put ${first.detail} into the spec.ips of a pool, or detach it.`;
  return obstacle("NoCandidate", detail, { needsPerson: true, advice, waitsFor: "node" });
}

/** An address of no use on a node, which stays there since its object is suspended. */
interface OfSuspended {
  readonly nodeName: string;
  readonly ip: string;
  readonly owner: string;
}

function ofSuspended({ name: nodeName }: NodeFacts, availability: Availability): readonly OfSuspended[] {
  const { suspended } = availability.kind === "carries" ? availability : {};
  return suspended === undefined ? [] : [{ nodeName, ...suspended }];
}

/** As {@link takenBy}, where addresses of suspended objects are in the way, which have no use for the nodes. */
function keptBySuspended(first: OfSuspended | undefined): Obstacle | undefined {
  if (first === undefined) return undefined;
  const { ip, nodeName, owner } = first;
  const whose = ownerText(owner);
  const detail = `each node that it could go to carries an address of a suspended object, such as ${ip} of ${whose} on ${nodeName}`;
  return obstacle("NoCandidate", detail, {
    needsPerson: true,
    advice: `Resume ${whose}, or detach ${ip}.`,
    waitsFor: "node",
  });
}

/** Why there is no candidate, where more is known than that no match can take an address. */
function nobodyTakesIt(
  view: PoolView,
  {
    candidates,
    skipped,
    obstacles,
    inTheWay,
  }: {
    readonly candidates: readonly Candidate[];
    readonly skipped: readonly NodeVerdict[];
    readonly obstacles: readonly Obstacle[];
    readonly inTheWay: Obstacle | undefined;
  },
): Obstacle | undefined {
  const why = obstacles.find(({ waitsFor }) => waitsFor === "retry") ?? inTheWay;
  const isAllClosed = candidates.length === 0 && obstacles.length === skipped.length;
  return why ?? (isAllClosed ? keptAway(view, obstacles) : undefined);
}

/** Why a pool gets no node where its firewall keeps every match away; undefined where it keeps none. */
function keptAway({ pool }: PoolView, [first]: readonly Obstacle[]): Obstacle | undefined {
  if (first === undefined) return undefined;
  const why = withDetail(REASONS[first.reason].text, first.detail);
  const detail = `firewall ${pool.firewall?.firewall} keeps each of them away: ${why.charAt(0).toLowerCase()}${why.slice(1)}`;
  return obstacle("NoCandidate", detail, { waitsFor: "node" });
}

/** True if some match can take an address. Pure. */
export function hasCandidate(view: PoolView, ledger: MachineLedger): boolean {
  return findCandidates(view, ledger).candidates.length > 0;
}

/** The nodes that have as many addresses of the pool as a node may. */
function fullNodes({ managed, inUse, maxPerNode }: PoolView): ReadonlySet<string> {
  const names = managed.flatMap(({ ip, standing }) =>
    standing.kind === "placed" && inUse.has(ip) ? [standing.on.nodeName] : [],
  );
  const byName = Map.groupBy(names, (name) => name);
  return new Set([...byName].flatMap(([name, own]) => (own.length >= maxPerNode ? [name] : [])));
}

/**
 * Why a node that is free for no address was passed over; none where it is served. It is served where the pool gives a node several addresses and it has one. It is also served
 * where its address of the pool cannot be read now, or is on its way.
 */
function skippedNode(
  { node: { name: nodeName }, share }: Pick<Candidate, "node" | "share">,
  availability: Exclude<Availability, { kind: "free" }>,
  view: PoolView,
): readonly NodeVerdict[] {
  if (view.maxPerNode > 1 && share > 0) return [];
  if (availability.kind === "promised") {
    return availability.to === view.key
      ? []
      : [{ nodeName, reason: "NodePromised", detail: ownerText(availability.to) }];
  }
  if (availability.kind === "still-published")
    return [{ nodeName, reason: "StillPublished", detail: `${availability.ip} in ${availability.name}` }];
  if (view.managed.some(({ ip }) => ip === availability.ip)) return [];
  return [{ nodeName, reason: availability.isNamed ? "NodeHasOtherIP" : "NodeHasForeignIP", detail: availability.ip }];
}

function inTurn(candidates: readonly Candidate[], { retries }: PoolView, ledger: MachineLedger): readonly Candidate[] {
  const turn = ({ place }: Candidate): number => retries.turn(nodeSubject(place));
  const load = ({ place, leaving }: Candidate): number => ledger.loadOf(place.machineID) - leaving.length;
  return candidates.toSorted(
    (a, b) =>
      turn(a) - turn(b) ||
      a.share - b.share ||
      Number(a.leaving.length > 0) - Number(b.leaving.length > 0) ||
      load(a) - load(b) ||
      compareText(a.node.name, b.node.name),
  );
}

/**
 * The nodes that can still take an address of the pool, in their order. One that takes an address stands there again where it can take another, behind those that have
 * fewer. Where there is none those of the last resort are: no address is bought for them.
 */
export class OpenNodes {
  readonly #view: PoolView;
  readonly #ledger: MachineLedger;
  /** By machine how many are to go there that the ledger has not. */
  readonly #beside: Map<string, number>;
  readonly #isLastResort: boolean;
  #all: readonly Candidate[];

  constructor(
    view: PoolView,
    ledger: MachineLedger,
    {
      candidates,
      lastResort = [],
    }: { readonly candidates: readonly Candidate[]; readonly lastResort?: readonly Candidate[] },
    beside: Map<string, number> = new Map(),
  ) {
    this.#view = view;
    this.#ledger = ledger;
    this.#isLastResort = candidates.length === 0;
    this.#all = this.#isLastResort ? lastResort : candidates;
    this.#beside = beside;
  }

  get all(): readonly Candidate[] {
    return this.#all;
  }

  /** Those for an address. One that this plan takes off its machine for another one goes nowhere yet, and only what is parked itself has a last resort. */
  of(ip: string): readonly Candidate[] {
    const isOut = this.#ledger.isSentAway(ip) || (this.#isLastResort && !this.#ledger.isParked(ip));
    return isOut ? [] : this.#all;
  }

  /** Enters that a node gets an address. `isPromised` = the ledger has it. */
  take(candidate: Candidate, isPromised: boolean): void {
    const { machineID } = candidate.place;
    const beside = (this.#beside.get(machineID) ?? 0) + (isPromised ? 0 : 1);
    this.#beside.set(machineID, beside);
    const rest = this.#all.filter((one) => one !== candidate);
    const { maxPerNode } = this.#view;
    const room = maxPerNode === 1 ? undefined : this.#ledger.availability(machineID, this.#view, beside);
    if (room?.kind !== "free") {
      this.#all = rest;
      return;
    }
    const share = this.#ledger.shareOf(machineID, this.#view) + beside;
    this.#all = inTurn([...rest, { ...candidate, share, leaving: room.leaving }], this.#view, this.#ledger);
  }

  /** Returns the nodes in the order in which they would get the addresses that the pool lacks, each as often as it would; then the others. */
  turns(): readonly Candidate[] {
    if (this.#isLastResort) return [];
    const missing = this.#view.desired - countedIPs(this.#view);
    if (this.#view.maxPerNode === 1 || missing <= 0) return this.#all;
    const open = new OpenNodes(this.#view, this.#ledger, { candidates: this.#all }, new Map(this.#beside));
    const served: Candidate[] = [];
    while (served.length < missing) {
      const [next] = open.all;
      if (next === undefined) break;
      served.push(next);
      open.take(next, false);
    }
    return [...served, ...open.all];
  }
}
