import { type NodeFacts, podSelectorKey } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { NodeVerdict } from "../model/plan.ts";
import type { MatchSpec, ObjectMeta, Pool } from "../model/resource.ts";
import { endpointsKey } from "../model/service.ts";
import { judge, type Matcher, type MatchVerdict } from "./match.ts";
import type { Validation } from "./validate.ts";

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

function matcherOf(
  { nodeLabel, podLabel, podNamespace, tolerations }: MatchSpec,
  endpoints: Pool["endpoints"],
  { nodeSelector }: Extract<Validation, { kind: "valid" }>,
  observation: Observation,
): Matcher {
  const needsPods = podNamespace !== "" || podLabel !== "" || endpoints !== undefined;
  const key =
    endpoints === undefined ? podSelectorKey({ namespace: podNamespace, label: podLabel }) : endpointsKey(endpoints);
  return {
    nodeSelector,
    nodeLabel,
    tolerations,
    podsByNode: needsPods ? (observation.pods.get(key) ?? new Map()) : undefined,
  };
}
