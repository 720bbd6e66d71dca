import type { NodeFacts, PodFacts } from "../../model/node.ts";
import type { Observation, PodSummary } from "../../model/observation.ts";
import type { NodeVerdict } from "../../model/plan.ts";
import { compareText, type ObjectMeta } from "../../model/resource.ts";
import { type EndpointSliceFacts, NO_NODE } from "../../model/service.ts";
import { undecidedText } from "../holds.ts";
import type { MatchVerdict, Verdicts } from "../pool-view.ts";
import type { Validation } from "../validate.ts";
import { judge, judgedUntilMs } from "./match.ts";

/** Judges every node for one object; none matches an object that is blocked or being deleted. Pure. */
export function judgeNodes(
  { meta }: { readonly meta: ObjectMeta },
  validation: Validation,
  { nodes, nodesReadAtMs: nowMs }: Pick<Observation, "nodes" | "nodesReadAtMs">,
): Verdicts {
  if (validation.kind === "blocked" || meta.isDeleting) {
    const reason = validation.kind === "blocked" ? validation.why.reason : "InvalidSpec";
    const verdict: MatchVerdict = { kind: "excluded", reason, detail: "" };
    return { matches: [], notMatching: [], undecided: [], of: () => verdict, untilMs: Number.POSITIVE_INFINITY };
  }
  const { matcher } = validation;
  const matches: NodeFacts[] = [];
  const notMatching: NodeVerdict[] = [];
  const undecided: { readonly node: NodeFacts; readonly why: string }[] = [];
  let untilMs = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const verdict = judge(node, matcher, nowMs);
    if (verdict.kind !== "excluded") untilMs = Math.min(untilMs, judgedUntilMs(node, matcher, nowMs));
    if (verdict.kind === "unreadable") undecided.push({ node, why: undecidedText(node, verdict.detail) });
    if (verdict.kind === "match") matches.push(node);
    else notMatching.push({ nodeName: node.name, reason: verdict.reason, detail: verdict.detail });
  }
  return { matches, notMatching, undecided, of: (node) => judge(node, matcher, nowMs), untilMs };
}

/** The nodes of machines. A machine that came back under another name has two for a while, until the old one is removed. */
export interface MachineNodes {
  /** Machine id → its node, the first by name. */
  readonly byMachine: ReadonlyMap<string, NodeFacts>;
  /** Machines with more than one node, with all of them, by name. */
  readonly shared: ReadonlyMap<string, readonly NodeFacts[]>;
  /** Nodes whose providerID cannot be read: each may be any machine. Sorted by name. */
  readonly machineless: readonly NodeFacts[];
}

/** Groups nodes by their machine. Pure; the order of the nodes changes nothing. */
export function machineNodes(
  { nodes, registry }: Pick<Observation, "nodes" | "registry">,
  provider: string,
): MachineNodes {
  const byMachine = new Map<string, NodeFacts>();
  const shared = new Map<string, readonly NodeFacts[]>();
  const machineless: NodeFacts[] = [];
  for (const node of nodes.toSorted((a, b) => compareText(a.name, b.name))) {
    if (node.unreadable !== undefined && node.providerID === "" && !node.isDeleting) machineless.push(node);
    const machine = registry.machineID(provider, node.providerID);
    if (machine === undefined) continue;
    const first = byMachine.get(machine);
    if (first === undefined) byMachine.set(machine, node);
    else shared.set(machine, [...(shared.get(machine) ?? [first]), node]);
  }
  return { byMachine, shared, machineless };
}

/** Machine id → its node as one pool sees it: one that matches, else one that may, else one that is merely unready, else the first by name. Pure. */
export function nodeByMachine(
  { byMachine, shared }: MachineNodes,
  verdictOf: (node: NodeFacts) => MatchVerdict,
): ReadonlyMap<string, NodeFacts> {
  if (shared.size === 0) return byMachine;
  const best = (nodes: readonly NodeFacts[]): readonly NodeFacts[] =>
    (["match", "unreadable", "unready", "excluded"] as const).flatMap((kind) =>
      nodes.filter((node) => verdictOf(node).kind === kind),
    );
  const chosen = [...shared].flatMap(([machine, nodes]) =>
    best(nodes)
      .slice(0, 1)
      .map((node) => [machine, node] as const),
  );
  return new Map([...byMachine, ...chosen]);
}

/** Sums pods up by node: how many can serve, and if none, when the last of them stopped, as far as they show it. Names one unreadable pod per node. Pure. */
export function summarizePods(pods: readonly PodFacts[]): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, Sum>();
  // There can be fifty thousand, and each pass sums them up: nothing is made for a pod.
  for (const pod of pods) {
    const known = byNode.get(pod.nodeName);
    const sum = known ?? { ready: 0, notReady: 0 };
    if (known === undefined) byNode.set(pod.nodeName, sum);
    add(sum, pod);
  }
  return byNode;
}

type Sum = { -readonly [K in keyof PodSummary]: PodSummary[K] };

function add(sum: Sum, pod: PodFacts): void {
  if (pod.isUnreadable) {
    const name = `pod ${pod.namespace}/${pod.name}`;
    // The first by name, so that the order of the pods does not matter.
    if (sum.unreadable === undefined || name < sum.unreadable) sum.unreadable = name;
    return;
  }
  if (canServe(pod)) {
    sum.ready += 1;
    if (sum.unreadySinceMs !== undefined) delete sum.unreadySinceMs;
    return;
  }
  sum.notReady += 1;
  if (sum.ready > 0) return;
  const sinceMs = later(sum.unreadySinceMs, stoppedAtMs(pod));
  if (sinceMs !== undefined) sum.unreadySinceMs = sinceMs;
}

function canServe({ phase, ready, deletedAtMs }: PodFacts): boolean {
  return phase === "Running" && ready.isReady && deletedAtMs === undefined;
}

function stoppedAtMs({ ready, deletedAtMs }: PodFacts): number | undefined {
  const times = [deletedAtMs, ready.isReady ? undefined : ready.sinceMs].flatMap((ms) => ms ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.max(a, b);
}

/** The endpoints of all slices of a Service, by node, as if they were pods. Pure. */
export function summarizeEndpoints(slices: readonly EndpointSliceFacts[]): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  for (const { endpointsByNode } of slices)
    for (const [node, { ready, notReady, unreadable }] of endpointsByNode) {
      const known = byNode.get(node);
      // The first by name, so that the order of the slices does not matter.
      const [odd] = [unreadable, known?.unreadable].filter((name) => name !== undefined).toSorted();
      byNode.set(node, {
        ready: ready + (known?.ready ?? 0),
        notReady: notReady + (known?.notReady ?? 0),
        ...(odd === undefined ? {} : { unreadable: odd }),
      });
    }
  return byNode;
}

/** Sums up one node, for which these pods or endpoints were read: an unreadable one without a node may be on it. Undefined if there is none. Pure. */
export function summaryOn(byNode: ReadonlyMap<string, PodSummary>, nodeName: string): PodSummary | undefined {
  const own = byNode.get(nodeName);
  const unreadable = own?.unreadable ?? byNode.get(NO_NODE)?.unreadable;
  return unreadable === undefined ? own : { ready: 0, notReady: 0, ...own, unreadable };
}
