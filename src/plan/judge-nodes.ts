import type { NodeFacts } from "../model/node.ts";
import type { Observation, PodSummary } from "../model/observation.ts";
import type { NodeVerdict } from "../model/plan.ts";
import { type ObjectMeta, ownerKey, type Pool } from "../model/resource.ts";
import { judge, judgedUntilMs, type MatchVerdict, undecidedText } from "./match.ts";
import { standingOf } from "./standing.ts";
import { podsKeyOf, type Validation, validatePool } from "./validate.ts";

/** Which nodes an object's `spec.match` wants, and why not the others. */
export interface Verdicts {
  /** Nodes that match, in the order of the observation. */
  readonly matches: readonly NodeFacts[];
  readonly notMatching: readonly NodeVerdict[];
  /** Unreadable nodes, which are among those that do not match, with the text why. */
  readonly undecided: readonly { readonly node: NodeFacts; readonly why: string }[];
  readonly of: (node: NodeFacts) => MatchVerdict;
  /** When the first node may be judged otherwise by time alone, milliseconds; `Infinity` = never. */
  readonly untilMs: number;
}

/** Judges every node for one object; none matches an object that is blocked or being deleted. Pure. */
export function judgeNodes(
  { meta }: { readonly meta: ObjectMeta },
  validation: Validation,
  observation: Observation,
): Verdicts {
  if (validation.kind === "blocked" || meta.isDeleting) {
    const reason = validation.kind === "blocked" ? validation.reason : "InvalidSpec";
    const verdict: MatchVerdict = { kind: "excluded", reason, detail: "" };
    return { matches: [], notMatching: [], undecided: [], of: () => verdict, untilMs: Number.POSITIVE_INFINITY };
  }
  const { matcher } = validation;
  const matches: NodeFacts[] = [];
  const notMatching: NodeVerdict[] = [];
  const undecided: { readonly node: NodeFacts; readonly why: string }[] = [];
  const nowMs = observation.nodesReadAtMs;
  let untilMs = Number.POSITIVE_INFINITY;
  for (const node of observation.nodes) {
    const verdict = judge(node, matcher, nowMs);
    if (verdict.kind !== "excluded") untilMs = Math.min(untilMs, judgedUntilMs(node, matcher, nowMs));
    if (verdict.kind === "unreadable") undecided.push({ node, why: undecidedText(node, verdict.detail) });
    if (verdict.kind === "match") matches.push(node);
    else notMatching.push({ nodeName: node.name, reason: verdict.reason, detail: verdict.detail });
  }
  return { matches, notMatching, undecided, of: (node) => judge(node, matcher, nowMs), untilMs };
}

/**
 * True when an address stays on a machine as things are now: the machine's node matches, is in grace, or cannot be read. Pure.
 * @param pods - the pods of the pool's selector on that node; undefined when none is there, or none is asked for
 */
export function keepsAddress(
  pool: Pool,
  ip: string,
  {
    node,
    machine,
    pods,
  }: { readonly node: NodeFacts; readonly machine: string; readonly pods: PodSummary | undefined },
  nowMs: number,
): boolean {
  const byNode = new Map(pods === undefined ? [] : [[node.name, pods] as const]);
  const validation = validatePool(pool, new Map([[podsKeyOf(pool) ?? "", { kind: "read", byNode }]]));
  if (validation.kind === "blocked" || pool.meta.isDeleting) return false;
  const { matcher } = validation;
  const own = ownerKey({ kind: pool.kind, ...pool.meta });
  const address = { ip, region: "", holderID: machine, isLocked: false };
  const standing = standingOf(
    ip,
    { kind: "known", address },
    {
      pool,
      key: own,
      nowMs,
      nodeByMachine: new Map([[machine, node]]),
      machineless: [],
      verdictOf: (one) => judge(one, matcher, nowMs),
      ownerOf: () => own,
    },
  );
  return standing.kind === "placed" || standing.kind === "gap";
}
