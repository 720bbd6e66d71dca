import type { NodeFacts } from "../../model/node.ts";
import type { Observation } from "../../model/observation.ts";
import type { NodeVerdict } from "../../model/plan.ts";
import { compareText, type ObjectMeta } from "../../model/resource.ts";
import { undecidedText } from "../holds.ts";
import type { MatchVerdict, Verdicts } from "../pool-view.ts";
import type { Validation } from "../validate.ts";
import { ANY_NODE, judge, judgedUntilMs, stillServes } from "./match.ts";

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

/**
 * Returns what says of a node whether it serves an object, whatever labels and taints say. Pure.
 *
 * @param arePodsNowhere - true where no pod that the object asks for exists: then a node that is up serves, as far as it ever did
 */
export function servingJudge(
  validation: Validation,
  nowMs: number,
  arePodsNowhere: boolean,
): (node: NodeFacts) => boolean {
  if (validation.kind === "blocked") return () => false;
  const { matcher } = validation;
  const asked = arePodsNowhere ? { ...matcher, podsByNode: undefined } : matcher;
  return (node) => stillServes(node, asked, nowMs);
}

/** Returns what says of a node whether it is up, whatever runs there. Pure. */
export function upJudge(nowMs: number): (node: NodeFacts) => boolean {
  return (node) => stillServes(node, ANY_NODE, nowMs);
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

/** Machine id → its node as one pool sees it: one that matches, else one that may, else one that is merely unready, the last to become so, else the first by name. Pure. */
export function nodeByMachine(
  { byMachine, shared }: MachineNodes,
  verdictOf: (node: NodeFacts) => MatchVerdict,
): ReadonlyMap<string, NodeFacts> {
  if (shared.size === 0) return byMachine;
  const best = (nodes: readonly NodeFacts[]): readonly NodeFacts[] =>
    (["match", "unreadable", "unready", "excluded"] as const).flatMap((kind) =>
      nodes.filter((node) => verdictOf(node).kind === kind).toSorted((a, b) => unreadySince(b) - unreadySince(a)),
    );
  const unreadySince = (node: NodeFacts): number => {
    const verdict = verdictOf(node);
    return verdict.kind === "unready" ? (verdict.sinceMs ?? Number.MAX_SAFE_INTEGER) : 0;
  };
  const chosen = [...shared].flatMap(([machine, nodes]) =>
    best(nodes)
      .slice(0, 1)
      .map((node) => [machine, node] as const),
  );
  return new Map([...byMachine, ...chosen]);
}
