import { type LabelSelector, selects } from "../../model/label-selector.ts";
import type { NodeFacts, Rest, Taint } from "../../model/node.ts";
import type { PodSummary } from "../../model/observation.ts";
import type { Reason } from "../../model/reason.ts";
import type { Toleration } from "../../model/resource.ts";
import type { MatchVerdict } from "../pool-view.ts";

/** A parsed `spec.match`, ready to be asked about many nodes. */
export interface Matcher {
  readonly nodeSelector: LabelSelector;
  /** For messages. */
  readonly nodeLabel: string;
  readonly tolerations: readonly Toleration[];
  /** Undefined when no pod is needed; else the pods by node. */
  readonly podsByNode: ReadonlyMap<string, PodSummary> | undefined;
  /** True where nodes have grace: then what is ready counts at once, however often it was not. What excluded them counts on all the same. */
  readonly hasGrace?: boolean;
  /** An unreadable list of endpoints, which may say of any node that it serves. */
  readonly unplaced?: string;
  /** The same on matchers that differ at most in their pods; absent where nobody has made one. */
  readonly key?: string;
}

/** What is asked where no spec is known: nothing but a node that is up now. */
export const ANY_NODE = { tolerations: [], podsByNode: undefined, hasGrace: true } as const;

/** Something that `spec.match` asks for and a node does not have. */
export interface Violation {
  readonly reason: Reason;
  readonly detail: string;
  /** True where only readiness is missing; else the node is excluded. */
  readonly isReadiness: boolean;
  /** Since when, as far as the cluster shows it, milliseconds. */
  readonly sinceMs?: number | undefined;
  /** What cannot be read; it may show that there is no violation. */
  readonly doubt?: string | undefined;
}

const MATCH: MatchVerdict = { kind: "match" };

/** Asks every check. The reported violation is the first that excludes, else the first of readiness. An unreadable node is excluded only by its deletion. Pure. */
export function judge(node: NodeFacts, matcher: Matcher, nowMs: number): MatchVerdict {
  if (node.unreadable !== undefined && !node.isDeleting) return unreadable(node.unreadable);
  let first: Violation | undefined;
  let sinceMs = Number.POSITIVE_INFINITY;
  for (const check of CHECKS) {
    const violation = check(node, matcher, nowMs);
    if (violation === undefined) continue;
    if (!violation.isReadiness) return { kind: "excluded", reason: violation.reason, detail: violation.detail };
    first ??= violation;
    sinceMs = Math.min(sinceMs, violation.sinceMs ?? Number.POSITIVE_INFINITY);
  }
  if (first === undefined) return MATCH;
  const { reason, detail, doubt } = first;
  if (taintsOf(node, matcher).some((taint) => taint.key === OUT_OF_SERVICE))
    return { kind: "excluded", reason, detail };
  if (doubt !== undefined) return unreadable(doubt);
  if (sinceMs === Number.POSITIVE_INFINITY) return { kind: "unready", reason, detail };
  return { kind: "unready", reason, detail, sinceMs: Math.min(nowMs, sinceMs) };
}

/** Returns everything that keeps a node from matching, in the order in which {@link judge} asks. Of a node that cannot be read nobody can tell. Pure. */
export function judgeAll(node: NodeFacts, matcher: Matcher, nowMs: number): readonly Violation[] {
  return CHECKS.flatMap((check) => check(node, matcher, nowMs) ?? []);
}

/**
 * Returns when a node may be judged otherwise by time alone, milliseconds: the first `tolerationSeconds` that run out, or it or its pods have rested.
 * `Infinity` = never. What excludes a node ends by time only where it rests. Pure.
 */
export function judgedUntilMs(node: NodeFacts, matcher: Matcher, nowMs: number): number {
  const { podsByNode, tolerations } = matcher;
  const { ready = 0, restsUntilMs = Number.POSITIVE_INFINITY } = podsByNode?.get(node.name) ?? {};
  const podsUntilMs = matcher.hasGrace === true || ready === 0 ? Number.POSITIVE_INFINITY : restsUntilMs;
  const restMs = Math.min(podsUntilMs, restOf(node, matcher)?.untilMs ?? Number.POSITIVE_INFINITY);
  const taints = taintsOf(node, matcher);
  if (taints.length === 0) return restMs;
  return Math.min(
    restMs,
    ...taints.map((taint) => toleratedUntilMs(taint, tolerations, nowMs) ?? Number.POSITIVE_INFINITY),
  );
}

/** True for a node that an object asks for by its labels, and that has to rest, or whose pods have to. Pure. */
export function isRestless(node: NodeFacts, matcher: Matcher): boolean {
  const { podsByNode, hasGrace } = matcher;
  const podsRest = hasGrace !== true && podsByNode?.get(node.name)?.restsUntilMs !== undefined;
  return (podsRest || restOf(node, matcher) !== undefined) && !isOutside(node, matcher);
}

/** True for a node that an object does not ask for by its labels, nor by those that it rests from: whatever becomes of its condition, taints and pods, it matches never. Pure. */
export function isOutside(node: NodeFacts, matcher: Matcher): boolean {
  return labelSets(node, matcher).every((labels) => !selects(matcher.nodeSelector, labels));
}

/**
 * True while clients can reach what runs on a node: it is ready and not being deleted, no taint of its condition excludes it, and where pods are asked for one of
 * them is ready there. Labels, a cordon and other taints say where an address may go, not whether it serves. What cannot be read counts as serving. Pure.
 */
export function stillServes(
  node: NodeFacts,
  matcher: Pick<Matcher, "tolerations" | "podsByNode" | "hasGrace" | "unplaced">,
  nowMs: number,
): boolean {
  if (node.isDeleting) return false;
  if (node.unreadable !== undefined) return true;
  if (nodeNotReady(node, matcher) !== undefined) return false;
  const isDown = ({ key }: Taint): boolean => CONDITION_TAINTS.has(key) || key === OUT_OF_SERVICE;
  if (taintsOf(node, matcher).some((taint) => isDown(taint) && !isTolerated(taint, matcher.tolerations, nowMs)))
    return false;
  const violation = noReadyPod(node, matcher);
  return violation === undefined || violation.doubt !== undefined;
}

/** True for a node whose labels an object asks for, and has rested from other ones. Pure. */
export function isSelected(node: NodeFacts, matcher: Matcher): boolean {
  return labelSets(node, matcher).every((labels) => selects(matcher.nodeSelector, labels));
}

type Check = (node: NodeFacts, matcher: Matcher, nowMs: number) => Violation | undefined;

const CHECKS: readonly Check[] = [
  nodeDeleting,
  noProviderID,
  nodeLabelMismatch,
  excludingTaint,
  nodeNotReady,
  nodeBack,
  readinessTaint,
  noReadyPod,
];

function nodeDeleting(node: NodeFacts): Violation | undefined {
  return node.isDeleting ? { reason: "NodeDeleting", detail: "", isReadiness: false } : undefined;
}

function noProviderID(node: NodeFacts): Violation | undefined {
  return node.providerID === "" ? { reason: "NoProviderID", detail: "", isReadiness: false } : undefined;
}

function nodeNotReady(node: NodeFacts, matcher: Graceful): Violation | undefined {
  const { isReady, sinceMs } = node.ready;
  const isResting = restOf(node, matcher)?.isUnready === true;
  if (isReady && !isResting) return undefined;
  const detail = isResting ? RESTLESS : "";
  return { reason: "NodeNotReady", detail, isReadiness: true, sinceMs: isReady ? undefined : sinceMs };
}

/** A node that was gone, or another machine, again and again. */
function nodeBack(node: NodeFacts, matcher: Matcher): Violation | undefined {
  if (restOf(node, matcher)?.isGone !== true) return undefined;
  return { reason: "NodeNotReady", detail: COMES_AND_GOES, isReadiness: true };
}

type Graceful = Pick<Matcher, "hasGrace">;

/** Of a node from which an object would only wait, it rests from nothing of that: it waits as long as its grace, and what is ready counts at once. */
function restOf({ rest }: NodeFacts, { hasGrace }: Graceful): Rest | undefined {
  if (rest === undefined || hasGrace !== true) return rest;
  const taints = rest.taints.filter((taint) => !isReadinessTaint(taint));
  const isNothing = rest.isGone !== true && rest.labels === undefined && taints.length === 0;
  return isNothing ? undefined : { ...rest, isUnready: false, taints };
}

/** The taints that count of a node: those that it has, and those that it rests from. */
function taintsOf(node: NodeFacts, matcher: Graceful): readonly Taint[] {
  const { taints = [] } = restOf(node, matcher) ?? {};
  return taints.length === 0 ? node.taints : [...node.taints, ...taints];
}

type Labels = NodeFacts["labels"];

/** The labels that count of a node: those that it has, and those same ones with each that it rests from. */
function labelSets(node: NodeFacts, matcher: Graceful): readonly Labels[] {
  const { labels = [] } = restOf(node, matcher) ?? {};
  return [node.labels, ...labels.map(({ name, value }) => withLabel(node.labels, name, value))];
}

function withLabel(labels: Labels, name: string, value: string | undefined): Labels {
  const others = Object.entries(labels).filter(([key]) => key !== name);
  return Object.fromEntries(value === undefined ? others : [...others, [name, value]]);
}

function nodeLabelMismatch(node: NodeFacts, matcher: Matcher): Violation | undefined {
  if (isSelected(node, matcher)) return undefined;
  return { reason: "NodeLabelMismatch", detail: matcher.nodeLabel, isReadiness: false };
}

const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

/** Taints that Kubernetes itself puts on a node because of its condition (well-known taints, verified 2026-08). */
export const CONDITION_TAINTS: ReadonlySet<string> = new Set(
  ["not-ready", "unreachable", "memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable"].map(
    (name) => `node.kubernetes.io/${name}`,
  ),
);

function isReadinessTaint(taint: Taint): boolean {
  return CONDITION_TAINTS.has(taint.key) || (taint.effect === "PreferNoSchedule" && taint.key !== OUT_OF_SERVICE);
}

function excludingTaint(node: NodeFacts, matcher: Matcher, nowMs: number): Violation | undefined {
  return untolerated(taintsOf(node, matcher), matcher, nowMs, false);
}

function readinessTaint(node: NodeFacts, matcher: Matcher, nowMs: number): Violation | undefined {
  return untolerated(taintsOf(node, matcher), matcher, nowMs, true);
}

function untolerated(
  taints: readonly Taint[],
  matcher: Matcher,
  nowMs: number,
  isReadiness: boolean,
): Violation | undefined {
  if (taints.length === 0) return undefined;
  const found = taints.filter(
    (taint) => isReadinessTaint(taint) === isReadiness && !isTolerated(taint, matcher.tolerations, nowMs),
  );
  const [first] = found;
  if (first === undefined) return undefined;
  const detail = `${first.key}${first.value === "" ? "" : `=${first.value}`}:${first.effect}`;
  const times = found.flatMap((taint) => taint.timeAddedMs ?? []);
  return {
    reason: "TaintNotTolerated",
    detail,
    isReadiness,
    sinceMs: times.length === 0 ? undefined : Math.min(...times),
  };
}

function unreadable(what: string): MatchVerdict {
  return { kind: "unreadable", reason: "Unreadable", detail: `${what} cannot be read` };
}

/** Why a node or its pods count as not ready, also while they are ready. */
const RESTLESS = "ready and not ready again and again";
const COMES_AND_GOES = "it comes and goes again and again";

function noReadyPod(
  node: NodeFacts,
  { podsByNode, hasGrace, unplaced }: Pick<Matcher, "podsByNode" | "hasGrace" | "unplaced">,
): Violation | undefined {
  if (podsByNode === undefined) return undefined;
  const pods = podsByNode.get(node.name);
  const doubt = pods?.unreadable ?? unplaced;
  if (pods === undefined) return { reason: "NoMatchingPod", detail: "", isReadiness: true, doubt };
  const rests = pods.restsUntilMs !== undefined && hasGrace !== true;
  if (pods.ready > 0 && !rests) return undefined;
  return {
    reason: "PodNotReady",
    detail: rests ? RESTLESS : "",
    isReadiness: true,
    sinceMs: pods.unreadySinceMs,
    doubt,
  };
}

/** Whether a taint is tolerated now, as {@link toleratedUntilMs} says. Pure. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[], nowMs: number): boolean {
  return toleratedUntilMs(taint, tolerations, nowMs) !== undefined;
}

/**
 * Returns until when a taint is tolerated, milliseconds; `Infinity` = without end, undefined = it is not tolerated now. Kubernetes' rule, for any effect: an empty
 * effect tolerates every effect, an empty key with `Exists` every key, `Equal` is the default operator. `tolerationSeconds` counts from the taint's `timeAdded`; a
 * taint without one is tolerated without end. Pure.
 */
function toleratedUntilMs(taint: Taint, tolerations: readonly Toleration[], nowMs: number): number | undefined {
  const ends = tolerations.flatMap((toleration) =>
    covers(toleration, taint) && !isOver(toleration, taint, nowMs) ? [endMs(toleration, taint)] : [],
  );
  return ends.length === 0 ? undefined : Math.max(...ends);
}

function isOver({ tolerationSeconds }: Toleration, { timeAddedMs }: Taint, nowMs: number): boolean {
  if (tolerationSeconds === undefined || timeAddedMs === undefined) return false;
  return Math.min(timeAddedMs, nowMs) + Math.max(0, tolerationSeconds) * 1000 <= nowMs;
}

function endMs({ tolerationSeconds }: Toleration, { timeAddedMs }: Taint): number {
  if (tolerationSeconds === undefined || timeAddedMs === undefined) return Number.POSITIVE_INFINITY;
  return timeAddedMs + Math.max(0, tolerationSeconds) * 1000;
}

function covers(toleration: Toleration, taint: Taint): boolean {
  const effect = toleration.effect ?? "";
  const key = toleration.key ?? "";
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (toleration.operator ?? "") {
    case "Exists":
      return true;
    case "":
    case "Equal":
      return key !== "" && (toleration.value ?? "") === taint.value;
    default:
      return false;
  }
}
