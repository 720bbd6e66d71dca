import { type NodeFacts, podSelectorKey } from "../model/node.ts";
import type { Observation, PodSummary } from "../model/observation.ts";
import { ownerKey } from "../model/owner-key.ts";
import type { NodeVerdict } from "../model/plan.ts";
import type { MatchSpec, ObjectMeta, Pool } from "../model/resource.ts";
import { endpointsKey } from "../model/service.ts";
import { judge, type Matcher, type MatchVerdict } from "./match.ts";
import { standingOf } from "./standing.ts";
import { type Validation, validatePool } from "./validate.ts";

/** Which nodes an object's `spec.match` wants, and why not the others. */
export interface Verdicts {
  /** Nodes that match, in the order of the observation. */
  readonly matches: readonly NodeFacts[];
  readonly notMatching: readonly NodeVerdict[];
  readonly of: (node: NodeFacts) => MatchVerdict;
}

/** An object that wants nodes. */
interface Matching {
  readonly meta: ObjectMeta;
  readonly spec: { readonly match: MatchSpec };
  readonly endpoints?: Pool["endpoints"];
}

/** Judges every node for one object; none matches an object that is invalid or being deleted. Pure. */
export function judgeNodes(
  { meta, spec, endpoints }: Matching,
  validation: Validation,
  observation: Observation,
): Verdicts {
  if (validation.kind === "invalid" || meta.isDeleting) {
    const verdict: MatchVerdict = { kind: "excluded", reason: "InvalidSpec", detail: "" };
    return { matches: [], notMatching: [], of: () => verdict };
  }
  const matcher = matcherOf(spec.match, endpoints, validation, observation);
  const matches: NodeFacts[] = [];
  const notMatching: NodeVerdict[] = [];
  for (const node of observation.nodes) {
    const verdict = judge(node, matcher, observation.nodesReadAtMs);
    if (verdict.kind === "match") matches.push(node);
    else notMatching.push({ nodeName: node.name, reason: verdict.reason, detail: verdict.detail });
  }
  return { matches, notMatching, of: (node) => judge(node, matcher, observation.nodesReadAtMs) };
}

/**
 * True when an address stays on a machine as things are now: the machine's node matches, or is in grace. Pure.
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
  const validation = validatePool(pool);
  if (validation.kind === "invalid" || pool.meta.isDeleting) return false;
  const key = podsKeyOf(pool);
  const onNode = new Map(pods === undefined ? [] : [[node.name, pods] as const]);
  const matcher = matcherOf(pool.spec.match, pool.endpoints, validation, { pods: new Map([[key, onNode]]) });
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
      verdictOf: (one) => judge(one, matcher, nowMs),
      ownerOf: () => own,
    },
  );
  return standing.kind === "placed";
}

/** Where the pods that a pool asks for stand in an observation; a key that nothing has, where it asks for none. */
export function podsKeyOf({ spec, endpoints }: Pick<Pool, "spec" | "endpoints">): string {
  const { podNamespace, podLabel } = spec.match;
  return endpoints === undefined
    ? podSelectorKey({ namespace: podNamespace, label: podLabel })
    : endpointsKey(endpoints);
}

function matcherOf(
  { nodeLabel, podLabel, podNamespace, tolerations }: MatchSpec,
  endpoints: Pool["endpoints"],
  { nodeSelector }: Extract<Validation, { kind: "valid" }>,
  { pods }: Pick<Observation, "pods">,
): Matcher {
  const needsPods = podNamespace !== "" || podLabel !== "" || endpoints !== undefined;
  const key =
    endpoints === undefined ? podSelectorKey({ namespace: podNamespace, label: podLabel }) : endpointsKey(endpoints);
  return {
    nodeSelector,
    nodeLabel,
    tolerations,
    podsByNode: needsPods ? (pods.get(key) ?? new Map()) : undefined,
  };
}
