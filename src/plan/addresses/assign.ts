import { type AssignIP, actionID, type Place, type UnassignIP } from "../../model/action.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Hold, NodeVerdict, Obstacle } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import { ipRemovalSubject, type MovingAddress, moveSubjects, nodeSubject } from "../../model/retry-subject.ts";
import { suspendedObstacle } from "../../model/suspension.ts";
import { durationText, pastMs, timestamp } from "../../model/time.ts";
import { hold, obstacle } from "../holds.ts";
import { type Free, type FreeRank, isWritable, type PoolView, statusOf } from "../pool-view.ts";
import { type Candidate, findCandidates, OpenNodes } from "./candidates.ts";
import { hasLeftFormer, isFromFormer } from "./hand-over.ts";
import type { Leaver, MachineLedger } from "./machine-ledger.ts";
import type { Pace } from "./pace.ts";

/** Who gets what in one pool, and who is left over. */
export interface Assignments {
  readonly actions: readonly (AssignIP | UnassignIP)[];
  /** Why the other free addresses are not assigned. */
  readonly holds: readonly Hold[];
  /** Candidates without an address of the pool before anything was assigned, sorted by name: the nodes that wait. */
  readonly waiting: readonly string[];
  readonly skipped: readonly NodeVerdict[];
  /** Candidates that can take one more address, in the order in which they would get those that the pool lacks; one that would get several is there as often. */
  readonly leftOver: readonly Candidate[];
  /** Set where addresses that no object names have all nodes of a pool without any: one more address could go nowhere. */
  readonly taken: Obstacle | undefined;
  /** When the cool-off that began with the last, or with this pass's assignment, ends; undefined when none runs. */
  readonly coolOffUntilMs: number | undefined;
}

/**
 * Chooses a node for each free address of a pool, and enters every choice in the ledger. What serves nowhere comes first. For what still serves where it is the pace
 * has the last word, and nothing is reserved before it goes: another object may need the node to serve.
 *
 * @param pace - absent where addresses that still serve are treated as the others
 */
export function assignPool(view: PoolView, ledger: MachineLedger, pace?: Pace): Assignments {
  const found = findCandidates(view, ledger);
  const { candidates, coming, skipped, closed, taken } = found;
  const open = new OpenNodes(view, ledger, found);
  const actions: (AssignIP | UnassignIP)[] = [];
  const holds: Hold[] = [];
  const mustNotCarry = unknownGaps(view);
  let coolOffUntilMs = coolOffEnd(view);
  for (const { ip, standing } of freeInOrder(view, open.all, pace)) {
    const withheld = keptBack(view, ip, standing, pace);
    const choiceAmong = (nodes: readonly Candidate[], none?: Obstacle): number | Obstacle =>
      withheld ?? choose(view, { ip, ...standing }, nodes, none);
    const choice = choiceAmong(open.of(ip), closed);
    if (typeof choice !== "number") {
      holds.push(hold("assign-ip", view.object, ip, choice));
      const isNodeComing = typeof choiceAmong(coming) === "number";
      if (standing.isServing) pace?.waits(ip, choice, isNodeComing);
      continue;
    }
    const candidate = open.all[choice];
    if (candidate === undefined) continue;
    const step = nextStep(view, { ip, standing }, candidate, { pace, coolOffUntilMs });
    holds.push(...step.holds);
    if (step.reserved !== undefined) ledger.promise(candidate.place.machineID, view.key, step.reserved);
    open.take(candidate, step.reserved !== undefined);
    if (step.sent === undefined) continue;
    actions.push(...assignment(view, step.sent, candidate, mustNotCarry));
    coolOffUntilMs = newCoolOff(view);
  }
  const waiting = candidates.flatMap(({ node, share }) => (share === 0 ? [node.name] : [])).toSorted();
  return { actions, holds, waiting, skipped, leftOver: open.turns(), taken, coolOffUntilMs };
}

/** Why an address is withheld, and gets no node. One that only the limits of the run withhold after it left its names gets one, and stays out of them until it is its turn. */
function keptBack(view: PoolView, ip: string, { isServing }: Free, pace: Pace | undefined): Obstacle | undefined {
  const why = view.withheld.get(ip);
  const waitsOutside = isServing === true && why?.needsPerson === false && pace?.hasLeft(ip) === true;
  return waitsOutside ? undefined : why;
}

/** An address that could be assigned at once. */
interface FreeAddress {
  readonly ip: string;
  readonly standing: Free;
}

const RANKS: readonly FreeRank[] = ["unassigned", "node-gone", "not-matching", "excess", "foreign"];

/** What comes of the turn of an address that still serves: what is sent in its place, or itself, or neither. */
interface Step {
  readonly sent?: FreeAddress & { readonly replaces?: string };
  readonly holds: readonly Hold[];
  /** Set where something of another object may take the node before: what waits for a machine to be left does not keep it from what serves no more. */
  readonly isWaitingItsTurn?: true;
}

/** Returns what comes of an address and the node that waits for it. `reserved` is absent where other objects may have the node; else it is what leaves its machine now. */
function nextStep(
  view: PoolView,
  address: FreeAddress,
  candidate: Candidate,
  how: { readonly pace: Pace | undefined; readonly coolOffUntilMs: number | undefined },
): Step & { readonly reserved?: readonly Leaver[] } {
  const { pace } = how;
  if (address.standing.isServing && pace !== undefined) {
    const step = paced(view, address.ip, candidate, { ...how, pace });
    return step.sent === undefined ? step : { ...step, reserved: candidate.leaving };
  }
  // What will not be written is promised to nobody: other objects wait for that node, too.
  const step = atOnce(view, address, candidate, how);
  if (step.sent !== undefined) return { ...step, reserved: candidate.leaving };
  return step.isWaitingItsTurn === true || !isWritable(view) ? step : { ...step, reserved: [] };
}

/** Sends an address that serves nowhere. */
function atOnce(
  view: PoolView,
  address: FreeAddress,
  candidate: Candidate,
  { pace, coolOffUntilMs }: { readonly pace: Pace | undefined; readonly coolOffUntilMs: number | undefined },
): Step {
  const suspended = view.suspended === undefined ? undefined : suspendedObstacle(view.suspended, view.object);
  const cooling = coolOffUntilMs === undefined ? undefined : coolOff(candidate, view, coolOffUntilMs);
  const held = (why: Obstacle): readonly Hold[] => [hold("assign-ip", view.object, address.ip, why)];
  const why = suspended ?? cooling;
  if (why !== undefined) return { holds: held(why) };
  const isPatient = isNew(view, address, pace) || isFromFormer(view, address.ip) || isOneInUse(candidate);
  const turn = pace?.staysForFormer(address.ip) ?? (isPatient ? leaversStay(candidate, address.ip, pace) : undefined);
  if (turn !== undefined) return { holds: held(turn), isWaitingItsTurn: true };
  pace?.recovers();
  return { sent: address, holds: [] };
}

/**
 * Takes the next step with an address that still serves, for which a node waits. If the pool has an address that is not in use, that one goes to the node, and the old one
 * leaves once it serves there.
 */
function paced(
  view: PoolView,
  ip: string,
  candidate: Candidate,
  { pace, coolOffUntilMs }: { readonly pace: Pace; readonly coolOffUntilMs: number | undefined },
): Step {
  const cooling = coolOffUntilMs === undefined ? undefined : coolOff(candidate, view, coolOffUntilMs);
  const later = view.withheld.get(ip) ?? cooling;
  const room = later === undefined ? leaversStay(candidate, ip, pace) : undefined;
  const turn = pace.turn(ip, later ?? room);
  const held = (why: Obstacle): readonly Hold[] => [hold("assign-ip", view.object, ip, why)];
  // Clients use the address until the machine is clear. A name may need it to let go of what leaves that machine.
  const stays = turn.kind === "stay" ? turn.why : room;
  if (stays !== undefined) {
    pace.stays(ip);
    return { holds: held(stays) };
  }
  const spare = pace.hasLeft(ip) ? undefined : spareFor(view, ip, candidate, pace);
  if (spare !== undefined) {
    pace.stays(ip);
    if ("reason" in spare) return { holds: held(spare) };
    pace.recovers();
    return {
      sent: { ...spare, replaces: ip },
      holds: held(obstacle("DisruptionBudget", `after ${spare.ip}`, { waitsFor: "turn" })),
    };
  }
  pace.goes(ip);
  if (turn.kind === "leave") return { holds: held(turn.why) };
  const standing = view.managed.find((address) => address.ip === ip)?.standing;
  return standing?.kind === "free" ? { sent: { ip, standing }, holds: [] } : { holds: [] };
}

/**
 * Returns the address that is not in use and can go to the node of a moving one at once, or why the first one cannot yet that is still handed out; undefined if there
 * is none. Where a RoutedIP names the moving address, the one that flipop bought before is none: the named one would take its place again.
 */
function spareFor(
  view: PoolView,
  moving: string,
  candidate: Candidate,
  pace: Pace,
): FreeAddress | Obstacle | undefined {
  const isNamed = view.managed.some(({ ip, acquired }) => ip === moving && acquired === undefined);
  if (view.pool.kind === "routedip" && isNamed) return undefined;
  const spares = view.managed.flatMap(({ ip, standing }) =>
    standing.kind === "free" && standing.rank !== "foreign" && !view.inUse.has(ip) && !view.withheld.has(ip)
      ? [{ ip, standing }]
      : [],
  );
  const able = spares.filter(({ ip }) => typeof choose(view, { ip }, [candidate]) === "number");
  const waits = able.map(({ ip }) => pace.staysFor(ip));
  return (
    able.find((_spare, index) => waits[index] === undefined) ?? waits.flatMap((why) => why ?? []).toSorted(byEnd)[0]
  );
}

/** Orders by when waits end; those without a time come last. */
function byEnd(
  { notBeforeMs: a = Number.MAX_VALUE }: Obstacle,
  { notBeforeMs: b = Number.MAX_VALUE }: Obstacle,
): number {
  return a - b;
}

/**
 * True for an address that never served its object: nobody waits for it, wherever it is. One that was taken off its machine, or lost it, is not, and neither is the last one of
 * a name.
 */
function isNew({ pool }: PoolView, { ip, standing }: FreeAddress, pace: Pace | undefined): boolean {
  if (pool.status.publishedDNS?.addresses.includes(ip) === true || pace?.isAwaited(ip) === true) return false;
  if (standing.rank !== "unassigned") return standing.isNew === true;
  const { providerID, inherited } = statusOf(pool, ip) ?? {};
  return providerID === undefined || inherited === true;
}

/** True where an address that is in use has to leave the machine: it may still serve clients of the object that handed it over. */
function isOneInUse({ leaving }: Candidate): boolean {
  return leaving.some(({ ip, owner }) => owner.inUse.has(ip));
}

/** Why an address that can wait does not take a machine from others yet. Enters those that leave it once they have drained. */
function leaversStay({ leaving }: Candidate, ip: string, pace: Pace | undefined): Obstacle | undefined {
  if (pace === undefined) return undefined;
  // It waits for all of them: the last one says until when.
  const waits = leaving.flatMap((leaver) => pace.makeRoom(leaver, ip) ?? []);
  return waits.toSorted(byEnd).at(-1);
}

/**
 * Free addresses in use: those that serve nowhere first, then those that did not fail, then those longest due; then unassigned, on gone nodes, on nodes that do not match;
 * each in managed order. Where a machine must be left first, those that may have to wait for it come behind those that do not. Of those that still serve the ones that
 * have left their names come first. Of those that serve another object's clients the ones that no name shows do: one that is the last of its name may wait for them.
 */
function freeInOrder(view: PoolView, candidates: readonly Candidate[], pace: Pace | undefined): readonly FreeAddress[] {
  const free = view.managed.flatMap(({ ip, standing }) =>
    standing.kind === "free" && view.inUse.has(ip) ? [{ ip, standing }] : [],
  );
  const turn = ({ ip, standing }: FreeAddress): number => view.retries.addressTurn({ ip, ...standing });
  const isCrowded = candidates.some(({ leaving }) => leaving.length > 0);
  const place = ({ ip, standing }: FreeAddress): number => {
    const leaves = leavingPlace(view, ip, standing, pace);
    return leaves ?? (isCrowded && isNew(view, { ip, standing }, pace) ? 1 : 0);
  };
  return free.toSorted(
    (a, b) =>
      place(a) - place(b) || turn(a) - turn(b) || RANKS.indexOf(a.standing.rank) - RANKS.indexOf(b.standing.rank),
  );
}

/** The place of an address that still serves where it is, for this object or for others: the longer it stays, the later it comes. */
function leavingPlace(view: PoolView, ip: string, { isServing }: Free, pace: Pace | undefined): number | undefined {
  if (pace !== undefined && isServing === true) return pace.hasLeft(ip) ? 3 : 4;
  if (!isFromFormer(view, ip)) return undefined;
  return hasLeftFormer(view, ip) || pace?.isShown(ip) === false ? 1 : 2;
}

/**
 * Returns the index of the candidate that gets the address, or why none does:
 *
 *   1 a candidate where the address can go that is due, and did not fail together with the address; best in its own region
 *   2 a candidate there that is due; best in its own region
 *   else the address waits: for the first retry there (`Backoff`), for a node there (`RegionMismatch`), for any node (`none`)
 */
function choose(
  view: PoolView,
  address: MovingAddress,
  open: readonly Candidate[],
  none: Obstacle = obstacle("NoCandidate", "", { waitsFor: "node" }),
): number | Obstacle {
  const region = addressRegion(view, address.ip);
  const due = (candidate: Candidate): number => pairDueMs(view, address, candidate);
  const isWithin = (candidate: Candidate): boolean =>
    isSamePlace(view.areaOf(region), { region: view.areaOf(candidate.region) });
  const isDue = (candidate: Candidate): boolean => isWithin(candidate) && due(candidate) <= view.nowMs;
  const isFresh = ({ place }: Candidate): boolean => !view.retries.haveFailedTogether(address, place);
  const best = nearestOf(open, region, (candidate) => isDue(candidate) && isFresh(candidate));
  const index = best >= 0 ? best : nearestOf(open, region, isDue);
  if (index >= 0) return index;
  if (open.length === 0) return none;
  const near = open.filter(isWithin);
  if (near.length === 0) return obstacle("RegionMismatch", `the address is in ${region}`, { waitsFor: "region" });
  const nodes = near.map(({ place }) => nodeSubject(place));
  const notBeforeMs = Math.min(...near.map(due));
  return view.retries.wait([...moveSubjects(address), ...nodes], { waitsFor: "retry", notBeforeMs });
}

/** Of the fitting candidates with the fewest addresses of the pool returns the index of the first one in a region, else of the first one; -1 if none fits. */
function nearestOf(open: readonly Candidate[], region: string, fits: (candidate: Candidate) => boolean): number {
  let found = -1;
  let foundCost = Number.POSITIVE_INFINITY;
  for (const [index, candidate] of open.entries()) {
    const cost = 2 * candidate.share + (isSamePlace(region, candidate) ? 0 : 1);
    if (cost >= foundCost || !fits(candidate)) continue;
    found = index;
    foundCost = cost;
    if (cost === 0) break;
  }
  return found;
}

/**
 * When the address and the candidate may be tried together, once what must leave the machine may be tried, too. For a suspended object nothing is tried: the end of
 * a wait would change nothing, so its status says nothing of it.
 */
function pairDueMs(view: PoolView, address: MovingAddress, { place, leaving }: Candidate): number {
  if (view.suspended !== undefined) return view.nowMs;
  return Math.max(
    view.retries.pairDueMs(address, place),
    ...leaving.map((leaver) => leaver.owner.retries.dueMs(ipRemovalSubject(leaver.ip))),
  );
}

/** True where an address of an object can go to a node in this pass, as far as that is known before the object has its turn. */
export function canGoTo(view: PoolView, ip: string, node: NodeFacts, isOpen: (machineID: string) => boolean): boolean {
  const machineID = view.machineOf(node.providerID);
  if (machineID === undefined || coolOffEnd(view) !== undefined) return false;
  const place = { machineID, nodeName: node.name };
  const area = view.areaOf(addressRegion(view, ip));
  return (
    isSamePlace(area, { region: view.areaOf(view.regionOf(node)) }) &&
    view.retries.pairDueMs({ ip }, place) <= view.nowMs &&
    view.firewallObstacle(place) === undefined &&
    isOpen(machineID)
  );
}

/** Region of an address; `""` when unknown. */
function addressRegion(view: PoolView, ip: string): string {
  const fact = view.provider?.addresses.get(ip);
  return fact?.kind === "known" ? fact.address.region : "";
}

/** Unreadable addresses of the pool whose holder was never known: any machine could carry them. Sorted. */
function unknownGaps(view: PoolView): readonly string[] {
  return view.managed
    .filter(({ ip, standing }) => standing.kind === "gap" && statusOf(view.pool, ip)?.providerID === undefined)
    .map(({ ip }) => ip)
    .toSorted();
}

/** When the pool's cool-off ends, if it runs now; never later than its length from now. */
function coolOffEnd({ pool, nowMs }: PoolView): number | undefined {
  const lastMs = pastMs(pool.status.lastAssignmentTime, nowMs);
  if (lastMs === undefined) return undefined;
  const endMs = lastMs + pool.spec.assignmentCoolOffSeconds * 1000;
  return endMs > nowMs ? endMs : undefined;
}

/** Returns when the cool-off ends that begins with an assignment now; undefined where the pool has none. */
export function newCoolOff({ pool, nowMs }: PoolView): number | undefined {
  const { assignmentCoolOffSeconds } = pool.spec;
  return assignmentCoolOffSeconds > 0 ? nowMs + assignmentCoolOffSeconds * 1000 : undefined;
}

/** Returns why a candidate gets no address while the pool's cool-off runs. */
export function coolOff({ node }: Candidate, { pool }: PoolView, notBeforeMs: number): Obstacle {
  const ms = pool.spec.assignmentCoolOffSeconds * 1000;
  const begun = `the pool's last assignment was at ${timestamp(notBeforeMs - ms)}, its cool-off is ${durationText(ms)}`;
  const detail = `${begun}: ${node.name} gets it at ${timestamp(notBeforeMs)}`;
  return obstacle("CoolOff", detail, { waitsFor: "cool-off", notBeforeMs, nextNode: node.name });
}

const MOVE_REASONS: Readonly<Record<FreeRank, Reason>> = {
  unassigned: "NodeMatched",
  "node-gone": "HolderGone",
  "not-matching": "HolderLost",
  excess: "AboveMaxPerNode",
  foreign: "TakeOver",
};

function assignment(
  view: PoolView,
  { ip, standing: { from, rank, isServing }, replaces }: NonNullable<Step["sent"]>,
  candidate: Candidate,
  mustNotCarry: readonly string[],
): readonly (AssignIP | UnassignIP)[] {
  const reason = MOVE_REASONS[rank];
  const isHolderJudged = rank === "not-matching" || rank === "node-gone";
  // Of a move that takes two calls this is the first. The next round finds the address unassigned, and assigns it.
  if (from !== undefined && !view.isMoveOneCall)
    return [unassignment(view, ip, { reason, before: from, isHolderJudged })];
  const leaving = candidate.leaving.map((leaver) => unassignLeaver(leaver, candidate.place));
  const kind = from === undefined ? "assign-ip" : "move-ip";
  const assign: AssignIP = {
    kind,
    id: actionID(kind, view.object, ip),
    object: view.object,
    reason,
    requires: leaving.map(({ id }) => id),
    follows: [],
    provider: view.pool.spec.provider,
    ip,
    before: from,
    after: candidate.place,
    mustNotCarry,
    isHolderJudged,
    ...(isServing === undefined ? {} : { isServing }),
    ...(replaces === undefined ? {} : { replaces }),
  };
  return [...leaving, assign];
}

/** Takes an address off a machine that another one needs. The node is the one that the owner sees: a machine may have two. */
function unassignLeaver({ ip, owner }: Leaver, place: Place): UnassignIP {
  const standing = owner.managed.find((managed) => managed.ip === ip)?.standing;
  const { from = place, rank } = standing?.kind === "free" ? standing : {};
  return unassignment(owner, ip, { reason: "DropletNeeded", before: from, isHolderJudged: rank === "not-matching" });
}

/** Returns the action that takes an address of a pool off its machine. */
export function unassignment(
  { object, pool }: PoolView,
  ip: string,
  how: Pick<UnassignIP, "reason" | "before" | "isHolderJudged" | "isGivenBack">,
): UnassignIP {
  return {
    kind: "unassign-ip",
    id: actionID("unassign-ip", object, ip),
    object,
    requires: [],
    follows: [],
    provider: pool.spec.provider,
    ip,
    after: undefined,
    ...how,
  };
}

/** True if the node is in this region, or if one of the two is not known. */
export function isSamePlace(region: string, candidate: Pick<Candidate, "region">): boolean {
  return region === "" || candidate.region === "" || candidate.region === region;
}
