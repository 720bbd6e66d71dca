import type { Place } from "../../model/action.ts";
import { type DrainMemory, entryProblem, isSent } from "../../model/address.ts";
import { FAULT_REASONS, faultOf } from "../../model/fault-reason.ts";
import { nodePhrase } from "../../model/node-phrase.ts";
import type { Hold } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import { type IPFault, type IPStatus, ipFamilyOf, ownerText } from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import { isPast, parseTime, pastMs, timestamp } from "../../model/time.ts";
import type { BadEntry, Free, FreeRank, PoolView } from "../pool-view.ts";
import { isAsked, type Standing, statusOf, storedDrain } from "../pool-view.ts";

/** True for an address that a name is to show, and does not yet; the node that has it, where it is known. */
export type IsAwaited = (ip: string, nodeName: string | undefined) => boolean;

/**
 * The status of every managed address and every bad entry, by address; keys sorted. `holds` say why a free address is not assigned, `isAwaited` is true for an address that a
 * name is to show on its node, and does not yet. Pure.
 */
export function ipStatuses(
  view: PoolView,
  holds: readonly Hold[],
  isAwaited: IsAwaited,
): Readonly<Record<string, IPStatus>> {
  const bad = view.badEntries
    .filter(({ fault }) => fault === "invalid")
    .map((entry) => [entry.entry, badEntry(entry, view)] as const);
  const heldBack = new Map(holds.filter(keepsFree).map((hold) => [hold.subject, hold]));
  const managed = view.managed.map(({ ip, standing }) => {
    const entry = ipStatus(view, ip, standing, heldBack.get(ip));
    const isMissing = (): boolean => isAwaited(ip, entry.nodeName);
    return [ip, { ...comesBack(view, ip, standing, isMissing), ...entry }] as const;
  });
  return Object.fromEntries(
    [...bad, ...managed]
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([ip, entry]) => [ip, plainError(entry)]),
  );
}

function badEntry({ entry }: BadEntry, { pool }: PoolView): IPStatus {
  return { ...faulty("invalid"), error: entryProblem(entry, ipFamilyOf(pool.spec), "spec.ipFamily") ?? "" };
}

/** True for what keeps a free address from being sent to a node. */
function keepsFree({ kind, isOfEntry }: Hold): boolean {
  return (kind === "assign-ip" || kind === "move-ip") && isOfEntry !== true;
}

function plainError(entry: IPStatus): IPStatus {
  return entry.error === undefined ? entry : { ...entry, error: plain(entry.error) };
}

function ipStatus(view: PoolView, ip: string, standing: Standing, heldBack: Hold | undefined): IPStatus {
  const stored = statusOf(view.pool, ip);
  switch (standing.kind) {
    case "conflict":
      return { ...faulty("conflict"), error: `owned by ${ownerText(standing.owner)}, ${standing.right}` };
    case "ungranted":
      return { ...faulty(faultOf(standing.why.reason) ?? "ungranted"), error: standing.why.detail };
    case "blocked":
      return {
        ...faulty("blocked"),
        error: `provider "${view.pool.spec.provider}" lets nothing through to the address`,
      };
    case "gone":
      return {
        ...faulty("gone"),
        error: `provider "${view.pool.spec.provider}" does not know the address`,
      };
    case "gap":
      return unread(stored, standing.error);
    case "foreign":
      return {
        ...faulty("foreign"),
        error: `attached to ${standing.holder.machineID}, which never was a node of this cluster; ${view.held.takeOver?.detail ?? "spec.foreignHolder: TakeOver would move it"}`,
      };
    case "busy":
      return busy(view, standing.isForeign ? undefined : standing.holder, stored);
    case "placed":
    case "free":
      return isAsked(view, ip) ? settled(view, ip, standing, heldBack) : disabled(view, ip, standing);
  }
}

function faulty(fault: IPFault): IPStatus {
  return { state: "error", reason: FAULT_REASONS[fault], fault };
}

/** What was seen last, and why it could not be seen now. */
function unread(stored: IPStatus | undefined, error: string): IPStatus {
  return { state: "error", ...stored, reason: FAULT_REASONS.unread, fault: "unread", error };
}

function busy(view: PoolView, holder: Place | undefined, stored: IPStatus | undefined): IPStatus {
  const place = stored?.providerID === undefined ? placeFields(view, holder) : storedPlace(stored);
  const previous = stored?.previousProviderID === undefined ? {} : { previousProviderID: stored.previousProviderID };
  const inherited = stored?.inherited === true ? { inherited: true } : {};
  const error = isSent(stored) ? {} : { error: WORKED_ON };
  return { state: "in-progress", ...place, ...previous, ...inherited, ...error, reason: "InProgress" };
}

/** What is said of an address that the object has sent nowhere. */
const WORKED_ON = "the provider is working on it";

/** Where status has an address, as far as it says. */
export function storedPlace({
  nodeName,
  providerID,
}: Pick<IPStatus, "nodeName" | "providerID">): Pick<IPStatus, "nodeName" | "providerID"> {
  return { ...(nodeName === undefined ? {} : { nodeName }), ...(providerID === undefined ? {} : { providerID }) };
}

function disabled(view: PoolView, ip: string, standing: Extract<Standing, { kind: "placed" | "free" }>): IPStatus {
  const place = standing.kind === "placed" ? standing.on : ownPlace(standing);
  const rest = { ...drainField(view, ip), ...inheritedField(view, ip, standing) };
  return { state: "disabled", ...placeFields(view, place), reason: "AboveDesired", ...rest };
}

function serving(view: PoolView, ip: string, { on, unready }: Extract<Standing, { kind: "placed" }>): IPStatus {
  const place = placeFields(view, on);
  if (unready === undefined) return { state: "active", ...place };
  return { state: "active", ...place, reason: "Grace", notMatchingSince: keepTime(view, ip, unready.sinceMs) };
}

/** What stays on a node that does not match serves there, with the reason why it has not gone. */
function staying(view: PoolView, ip: string, on: Place, { sinceMs, rank }: Free, heldBack: Hold | undefined): IPStatus {
  const reason = view.emptyTarget === undefined ? (heldBack?.reason ?? MOVING[rank]) : "EmptyTarget";
  const since = sinceMs === undefined ? {} : { notMatchingSince: keepTime(view, ip, sinceMs) };
  return { state: "active", ...placeFields(view, on), reason, ...since, ...drainField(view, ip) };
}

/** What an object that is being deleted still has: whether its node matches is not asked any more. */
function leaving(view: PoolView, ip: string, standing: Extract<Standing, { kind: "free" }>): IPStatus {
  const state = standing.rank === "unassigned" ? "unassigned" : "no-match";
  return { state, reason: "Deleting", ...placeFields(view, ownPlace(standing)), ...drainField(view, ip) };
}

/** Why an address goes that nothing holds back. */
const MOVING: Readonly<Record<FreeRank, Reason>> = {
  unassigned: "NodeMatched",
  "node-gone": "HolderGone",
  "not-matching": "HolderLost",
  excess: "AboveMaxPerNode",
  foreign: "HolderGone",
};

function settled(
  view: PoolView,
  ip: string,
  standing: Extract<Standing, { kind: "placed" | "free" }>,
  heldBack: Hold | undefined,
): IPStatus {
  if (standing.kind === "placed" && standing.staying !== undefined)
    return staying(view, ip, standing.on, standing.staying, heldBack);
  if (standing.kind === "placed") return serving(view, ip, standing);
  const retry = view.retries.ofAddress(ip);
  const failure = retry === undefined ? undefined : { state: "error" as const, reason: "Failed", error: retry.error };
  if (view.pool.meta.isDeleting) return { ...leaving(view, ip, standing), ...failure };
  if (standing.rank === "unassigned")
    return {
      ...(failure ?? { state: "unassigned", reason: heldBack?.reason ?? MOVING.unassigned }),
      ...leftField(view, ip),
    };
  const place = placeFields(view, ownPlace(standing));
  const since = standing.sinceMs === undefined ? {} : { notMatchingSince: keepTime(view, ip, standing.sinceMs) };
  const parked = heldBack?.waitsFor === "node" ? { error: parkedText(view, standing, since.notMatchingSince) } : {};
  return {
    state: "no-match",
    reason: heldBack?.reason ?? MOVING[standing.rank],
    ...place,
    ...since,
    ...drainField(view, ip),
    ...inheritedField(view, ip, standing),
    ...parked,
    ...failure,
  };
}

/** The machine that an address served on: while its object selects nothing it says that the object was served. */
function leftField(view: PoolView, ip: string): Pick<IPStatus, "previousProviderID"> {
  const { providerID, previousProviderID } = statusOf(view.pool, ip) ?? {};
  const left = view.emptyTarget === undefined ? undefined : (providerID ?? previousProviderID);
  return left === undefined ? {} : { previousProviderID: left };
}

/** The mark of an address that the object never used where it is, for as long as it stays there. It may serve clients of another object, or of one that is gone. */
function inheritedField(
  { inherited, formerOwners }: PoolView,
  ip: string,
  standing: Standing,
): Pick<IPStatus, "inherited"> {
  const isOthers = inherited?.has(ip) === true || formerOwners?.has(ip) === true;
  return standing.kind === "free" && (isOthers || standing.isNew === true) ? { inherited: true } : {};
}

/** Until when an address stays that has left its names, or is about to: the stored text where it means that time. */
export function drainField(view: PoolView, ip: string): DrainMemory {
  const end = view.drains?.get(ip);
  if (end === undefined) return {};
  const { untilMs, forSeconds } = end;
  const stored = storedDrain(view.pool, ip);
  return {
    drainingUntil: stored !== undefined && parseTime(stored) === untilMs ? stored : timestamp(untilMs),
    ...(forSeconds === undefined ? {} : { drainsForSeconds: forSeconds }),
  };
}

/**
 * What stays on record of an address that left names to move, until those of its node show it again: nothing else tells that it comes back, takes no other one's place, and until
 * when resolvers have it.
 */
function comesBack(
  view: PoolView,
  ip: string,
  standing: Standing,
  isMissing: () => boolean,
): Pick<IPStatus, "drainingUntil"> {
  const stored = statusOf(view.pool, ip)?.drainingUntil;
  const isOnItsWay = (standing.kind === "placed" || standing.kind === "busy") && isAsked(view, ip);
  return stored !== undefined && isOnItsWay && isMissing() ? { drainingUntil: stored } : {};
}

/** Why an address stays where nothing serves it: what became of its holder, and since when. */
function parkedText(view: PoolView, { rank, from }: Extract<Standing, { kind: "free" }>, since?: string): string {
  const node = from?.nodeName ?? `machine ${from?.machineID ?? "unknown"}`;
  const verdict = view.notMatching.find(({ nodeName }) => nodeName === from?.nodeName);
  const phrase = verdict === undefined ? "" : ` (${nodePhrase(verdict)})`;
  if (rank === "excess")
    return `${node} has more addresses of the pool than spec.maxPerNode, and no other node can take it`;
  const lost = rank === "not-matching" ? `does not match${phrase}` : "is no node of this cluster any more";
  return `${node} ${lost}${since === undefined ? "" : ` since ${since}`}, and no other node can take it`;
}

/** Where a free address is; a machine that never was a node stays unknown, or it would pass for a former one once `foreignHolder` is `Hold` again. */
function ownPlace({ rank, from }: Extract<Standing, { kind: "free" }>): Place | undefined {
  return rank === "foreign" ? undefined : from;
}

/** The stored time when it means the same instant, so that an unchanged world leaves the text unchanged. */
function keepTime(view: PoolView, ip: string, sinceMs: number): string {
  const stored = statusOf(view.pool, ip)?.notMatchingSince;
  return stored !== undefined && isPast(stored, view.nowMs) && pastMs(stored, view.nowMs) === sinceMs
    ? stored
    : timestamp(sinceMs);
}

function placeFields(view: PoolView, place: Place | undefined): Pick<IPStatus, "nodeName" | "providerID"> {
  if (place === undefined) return {};
  const providerID = view.providerIDOf(place.machineID);
  return place.nodeName === undefined ? { providerID } : { nodeName: place.nodeName, providerID };
}
