import { parseLabelSelector, podSelectorProblem } from "../model/label-selector.ts";
import type { Observation, PodReading } from "../model/observation.ts";
import type { Obstacle } from "../model/plan.ts";
import { podsKeyOf } from "../model/pods.ts";
import {
  ADDRESS_ANNOTATION,
  type MatchSpec,
  type ObjectMeta,
  type Pool,
  type RecordSet,
  shownText,
} from "../model/resource.ts";
import { NO_NODE } from "../model/service.ts";
import { personNeeded } from "./holds.ts";
import { recordSetWish } from "./names/name-target.ts";
import type { Matcher } from "./nodes/match.ts";

/**
 * A valid spec, with all that is needed to judge nodes; or why nothing about the object may change in this pass.
 * Without a matcher nobody can judge a node, so an object whose pods are unknown cannot be taken for one without pods.
 */
export type Validation =
  | { readonly kind: "valid"; readonly matcher: Matcher }
  | { readonly kind: "blocked"; readonly why: Obstacle };

type Pods = Observation["pods"];
/** What a spec is checked against. */
export type SpecFacts = Pick<Observation, "pods" | "registry">;

/** Checks a pool's spec; the first failure wins. The texts are the Go operator's, so that alerts on them keep working. */
export function validatePool(pool: Pool, { pods, registry }: SpecFacts): Validation {
  const { spec } = pool;
  const traits = registry.get(spec.provider);
  if (pool.decodeError !== undefined) return invalid(pool.decodeError);
  if (traits === undefined) return invalid(`unknown provider "${spec.provider}"`);
  if (traits.addresses === undefined) return invalid(`provider "${spec.provider}" does not provide floating IPs`);
  if (spec.ips.length === 0 && spec.desiredIPs <= 0) return invalid("ips or desiredIPs must be provided");
  return validateMatch(pool, pods);
}

const ADDRESS_TYPES: readonly string[] = ["ExternalIP", "InternalIP", ADDRESS_ANNOTATION];

/** Checks a record set's spec; the first failure wins. The texts are the Go operator's. */
export function validateRecordSet(recordSet: RecordSet, { pods, registry }: SpecFacts): Validation {
  const { spec, decodeError } = recordSet;
  if (decodeError !== undefined) return invalid(decodeError);
  const wish = recordSetWish(recordSet, registry);
  if (wish.kind === "invalid") return invalid(wish.error);
  if (!ADDRESS_TYPES.includes(spec.addressType))
    return invalid(`invalid addressType "${spec.addressType}": it must be ${ADDRESS_TYPES.join(", ")}`);
  return validateMatch(recordSet, pods);
}

function invalid(error: string): Validation {
  return { kind: "blocked", why: personNeeded("InvalidSpec", error) };
}

/** An object that wants nodes. */
interface Matching {
  readonly meta: ObjectMeta;
  readonly spec: { readonly match: MatchSpec };
  readonly endpoints?: Pool["endpoints"];
}

function validateMatch(object: Matching, pods: Pods): Validation {
  const { nodeLabel, podLabel, podNamespace, tolerations } = object.spec.match;
  const parsed = parseLabelSelector(nodeLabel);
  if ("error" in parsed) return invalid(`Error parsing node selector: ${parsed.error}`);
  const problem = podSelectorProblem({ namespace: podNamespace, label: podLabel });
  if (problem !== undefined) return invalid(`Error parsing pod selector: ${problem}`);
  const reading = readingOf(object, pods);
  if (reading?.kind === "refused") {
    return { kind: "blocked", why: personNeeded("SelectorRefused", reading.error) };
  }
  // An unreadable slice may speak of any node, and concerns one object. A pod is on one node: it must not hold up the others.
  const unplaced = object.endpoints === undefined ? undefined : reading?.byNode.get(NO_NODE)?.unreadable;
  const matcher: Matcher = {
    nodeSelector: parsed.selector,
    nodeLabel: shownText(nodeLabel),
    tolerations,
    podsByNode: reading?.byNode,
    ...(unplaced === undefined ? {} : { unplaced }),
  };
  return { kind: "valid", matcher };
}

/** The pods that the object asks for; undefined where it needs none, as when it is being deleted. */
function readingOf(object: Matching, pods: Pods): PodReading | undefined {
  const key = podsKeyOf(object);
  if (key === undefined || object.meta.isDeleting) return undefined;
  return pods.get(key) ?? { kind: "refused", error: "Error listing pods: they were not asked for." };
}
