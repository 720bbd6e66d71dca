import { type AssignIP, actionID, type Place, type UnassignIP } from "../../model/action.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Hold, NodeVerdict } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import { ownerText } from "../../model/resource.ts";
import { pastMs } from "../../model/time.ts";
import { firewallObstacle } from "../firewalls/firewall-target.ts";
import { dueMs, failedTogether, lastError, leavingDueMs, turnOf } from "../retries.ts";
import { type Availability, isWritable, type Leaver, type MachineLedger } from "./machine-ledger.ts";
import type { PoolView } from "./pool-view.ts";
import { type Free, type FreeRank, statusOf } from "./position.ts";

/** Who gets what in one pool, and who is left over. */
export interface Assignments {
  readonly actions: readonly (AssignIP | UnassignIP)[];
  readonly holds: readonly Hold[];
  /** Candidates before anything was assigned, sorted by name: the nodes that wait. */
  readonly waiting: readonly string[];
  readonly skipped: readonly NodeVerdict[];
  /** Candidates that got nothing, in the order they would be served. */
  readonly leftOver: readonly Candidate[];
  /** When the cool-off that began with the last, or with this pass's assignment, ends; undefined when none runs. */
  readonly coolOffUntilMs: number | undefined;
}

/** Assigns a pool's free addresses to its candidates and enters every decision in the ledger. Deterministic. */
export function assignPool(view: PoolView, ledger: MachineLedger, nowMs: number): Assignments {
  const { candidates, skipped } = findCandidates(view, ledger, nowMs);
  const open = [...candidates];
  const actions: (AssignIP | UnassignIP)[] = [];
  const holds: Hold[] = [];
  const mustNotCarry = unknownGaps(view);
  let coolOffUntilMs = coolOffEnd(view, nowMs);
  for (const { ip, standing } of freeInOrder(view, nowMs)) {
    const choice = choose(view, ip, open, nowMs);
    if (choice.kind === "none") {
      holds.push(hold(view, ip, choice));
      continue;
    }
    const [candidate] = open.splice(choice.index, 1);
    if (candidate === undefined) continue;
    // What will not be written is promised to nobody: other objects wait for that node, too.
    if (isWritable(view)) ledger.promise(candidate.place.machineID, view.key);
    if (coolOffUntilMs !== undefined) {
      const detail = `for node ${candidate.node.name}`;
      holds.push(hold(view, ip, { reason: "CoolOff", waitsFor: "cool-off", detail, notBeforeMs: coolOffUntilMs }));
      continue;
    }
    actions.push(...assignment(view, ip, standing, candidate, mustNotCarry));
    if (view.pool.spec.assignmentCoolOffSeconds > 0)
      coolOffUntilMs = nowMs + view.pool.spec.assignmentCoolOffSeconds * 1000;
  }
  return {
    actions,
    holds,
    waiting: candidates.map(({ node }) => node.name).toSorted(),
    skipped,
    leftOver: open,
    coolOffUntilMs,
  };
}

const RANKS: readonly FreeRank[] = ["unassigned", "node-gone", "not-matching", "foreign"];

/** Free addresses in use: those that did not fail first, then those longest due; then unassigned, on gone nodes, on nodes that do not match; each in managed order. */
function freeInOrder(view: PoolView, nowMs: number): readonly { readonly ip: string; readonly standing: Free }[] {
  return view.managed
    .flatMap(({ ip, standing }) => (standing.kind === "free" && view.inUse.has(ip) ? [{ ip, standing }] : []))
    .toSorted(
      (a, b) =>
        turnOf(view, `ip/${a.ip}`, nowMs) - turnOf(view, `ip/${b.ip}`, nowMs) ||
        RANKS.indexOf(a.standing.rank) - RANKS.indexOf(b.standing.rank),
    );
}

type Choice = { readonly kind: "some"; readonly index: number } | ({ readonly kind: "none" } & Wait);

/** Why a free address is sent nowhere. */
type Wait = Pick<Hold, "reason" | "detail" | "notBeforeMs"> & Required<Pick<Hold, "waitsFor">>;

function choose(view: PoolView, ip: string, open: readonly Candidate[], nowMs: number): Choice {
  const inRegion = (candidate: Candidate): boolean => isSamePlace(addressRegion(view, ip), candidate);
  const due = (candidate: Candidate): number => pairDueMs(view, ip, candidate, nowMs);
  const isDue = (candidate: Candidate): boolean => inRegion(candidate) && due(candidate) <= nowMs;
  const index = open.findIndex((candidate) => isDue(candidate) && !failedTogether(view, ip, candidate.node.name));
  const anyIndex = index >= 0 ? index : open.findIndex(isDue);
  if (anyIndex >= 0) return { kind: "some", index: anyIndex };
  const near = open.filter(inRegion);
  if (near.length > 0) {
    const notBeforeMs = Math.min(...near.map(due));
    const detail = lastError(
      view,
      ip,
      near.map(({ node }) => node.name),
    );
    return { kind: "none", reason: "Backoff", waitsFor: "retry", detail, notBeforeMs };
  }
  if (open.length === 0) return { kind: "none", reason: "NoCandidate", waitsFor: "node", detail: "" };
  const detail = `the address is in ${addressRegion(view, ip)}`;
  return { kind: "none", reason: "RegionMismatch", waitsFor: "region", detail };
}

/** When the address and the candidate may be tried together, once what must leave the machine may be tried, too. */
function pairDueMs(view: PoolView, ip: string, { node, leaving }: Candidate, nowMs: number): number {
  return Math.max(
    dueMs(view, ip, node.name, nowMs),
    ...leaving.map((leaver) => leavingDueMs(leaver.owner, leaver.ip, nowMs)),
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
function coolOffEnd(view: PoolView, nowMs: number): number | undefined {
  const lastMs = pastMs(view.pool.status.lastAssignmentTime, nowMs);
  if (lastMs === undefined) return undefined;
  const endMs = lastMs + view.pool.spec.assignmentCoolOffSeconds * 1000;
  return endMs > nowMs ? endMs : undefined;
}

function hold({ object }: PoolView, ip: string, { reason, detail, waitsFor, notBeforeMs }: Wait): Hold {
  const common = { kind: "assign-ip", object, subject: ip, reason, detail, waitsFor, needsPerson: false } as const;
  return notBeforeMs === undefined ? common : { ...common, notBeforeMs };
}

const MOVE_REASONS: Readonly<Record<FreeRank, Reason>> = {
  unassigned: "NodeMatched",
  "node-gone": "HolderGone",
  "not-matching": "HolderLost",
  foreign: "TakeOver",
};

function assignment(
  view: PoolView,
  ip: string,
  standing: Free,
  candidate: Candidate,
  mustNotCarry: readonly string[],
): readonly (AssignIP | UnassignIP)[] {
  const leaving = candidate.leaving.map((leaver) => unassignLeaver(leaver, candidate.place));
  const kind = standing.from === undefined ? "assign-ip" : "move-ip";
  const assign: AssignIP = {
    kind,
    id: actionID(kind, view.object, ip),
    object: view.object,
    reason: MOVE_REASONS[standing.rank],
    requires: leaving.map(({ id }) => id),
    follows: [],
    provider: view.pool.spec.provider,
    ip,
    before: standing.from,
    after: candidate.place,
    mustNotCarry,
    isHolderJudged: standing.rank === "not-matching" || standing.rank === "node-gone",
  };
  return [...leaving, assign];
}

function unassignLeaver({ ip, owner }: Leaver, place: Place): UnassignIP {
  const standing = owner.managed.find((managed) => managed.ip === ip)?.standing;
  const { from = place, rank } = standing?.kind === "free" ? standing : {};
  return {
    kind: "unassign-ip",
    id: actionID("unassign-ip", owner.object, ip),
    object: owner.object,
    reason: "DropletNeeded",
    requires: [],
    follows: [],
    provider: owner.pool.spec.provider,
    ip,
    // The node as the owner sees it: a machine may have two.
    before: from,
    after: undefined,
    isHolderJudged: rank === "not-matching",
  };
}

/** A match that can take an address now. */
export interface Candidate {
  readonly node: NodeFacts;
  readonly place: Required<Place>;
  /** The region or zone of the node; `""` if it does not say. */
  readonly region: string;
  /** Addresses that must leave the machine first. */
  readonly leaving: readonly Leaver[];
}

/**
 * The matches that wait for an address, in the order they are served: empty machines before those an address must leave first, else by name; nodes whose last
 * attempt failed behind all others, the longest due first. Matches that cannot take any are returned with the reason. Pure.
 */
function findCandidates(
  view: PoolView,
  ledger: MachineLedger,
  nowMs: number,
): { readonly candidates: readonly Candidate[]; readonly skipped: readonly NodeVerdict[] } {
  const served = servedNodes(view);
  const machines = new Set<string>();
  const candidates: Candidate[] = [];
  const skipped: NodeVerdict[] = [];
  for (const node of view.matches.filter(({ name }) => !served.has(name))) {
    const machine = view.machineOf(node.providerID);
    if (machine === undefined || machines.has(machine)) {
      skipped.push({ nodeName: node.name, reason: "UnusableProviderID", detail: node.providerID });
      continue;
    }
    machines.add(machine);
    const place = { machineID: machine, nodeName: node.name };
    const candidate = { node, place, region: view.regionOf(node) };
    const closed = firewallObstacle(view.firewall, place);
    if (closed !== undefined) {
      skipped.push({ nodeName: node.name, reason: closed.reason, detail: closed.detail });
      continue;
    }
    const availability = ledger.availability(machine);
    if (availability.kind === "empty") candidates.push({ ...candidate, leaving: [] });
    else if (availability.kind === "after-leaving") candidates.push({ ...candidate, leaving: availability.leaving });
    else skipped.push(...skippedNode(node.name, availability, view));
  }
  return { candidates: inTurn(candidates, view, nowMs), skipped };
}

function servedNodes(view: PoolView): ReadonlySet<string> {
  return new Set(
    view.managed.flatMap(({ ip, standing }) =>
      standing.kind === "placed" && view.inUse.has(ip) ? [standing.on.nodeName] : [],
    ),
  );
}

/** A node whose own pool's address is just unreadable or being worked on is not passed over: it is served. */
function skippedNode(
  nodeName: string,
  availability: Exclude<Availability, { kind: "empty" | "after-leaving" }>,
  view: PoolView,
): readonly NodeVerdict[] {
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

/** Of thousands of nodes few have failed: only those are looked up by name while the others are put in order. */
function inTurn(candidates: readonly Candidate[], view: PoolView, nowMs: number): readonly Candidate[] {
  const hasFailed = view.pool.status.retries.some(({ subject }) => subject.startsWith("node/"));
  const turn = ({ node }: Candidate): number => (hasFailed ? turnOf(view, `node/${node.name}`, nowMs) : 0);
  return candidates.toSorted(
    (a, b) => turn(a) - turn(b) || Number(a.leaving.length > 0) - Number(b.leaving.length > 0),
  );
}

/** True if the node is in this region, or if one of the two is not known. */
export function isSamePlace(region: string, candidate: Pick<Candidate, "region">): boolean {
  return region === "" || candidate.region === "" || candidate.region === region;
}
