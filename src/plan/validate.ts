import { CANONICAL, canonicalAddress } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { parseLabelSelector, podSelectorProblem } from "../model/label-selector.ts";
import { ADDRESS_ANNOTATION, IPV6_ADDRESS_ANNOTATION } from "../model/node-annotations.ts";
import type { Observation, PodReading } from "../model/observation.ts";
import type { Obstacle } from "../model/plan.ts";
import { podsKeyOf } from "../model/pods.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { annotatedFamily, RECORD_TYPES } from "../model/record-types.ts";
import {
  ipFamilyOf,
  type MatchSpec,
  type ObjectMeta,
  type Pool,
  type RecordSet,
  shownText,
  type Toleration,
} from "../model/resource.ts";
import { NO_NODE } from "../model/service.ts";
import { personNeeded } from "./holds.ts";
import { type DNSWish, statedWish, type WishPart } from "./names/name-target.ts";
import type { Matcher } from "./nodes/match.ts";

/**
 * A valid spec, with all that is needed to judge nodes; or why nothing about the object may change in this pass.
 * Without a matcher nobody can judge a node, so an object whose pods are unknown cannot be taken for one without pods.
 */
export type Validation =
  | { readonly kind: "valid"; readonly matcher: Matcher }
  /** `isRefused`: the spec is valid, and the API server refuses a list that it asks for. */
  | { readonly kind: "blocked"; readonly why: Obstacle; readonly isRefused?: true };

type Pods = Observation["pods"];
/** What a spec is checked against. */
export type SpecFacts = Pick<Observation, "pods" | "registry">;

/** One thing that is wrong with a spec. */
export interface Violation {
  readonly rule: SpecRule;
  /** Where: `spec.match.podLabel`; what is missing altogether is told of the object that lacks it. */
  readonly path: string;
  readonly text: string;
  /** Where inside the text at the path, from 0. */
  readonly offset?: number;
}

/** The rules that a spec can break. */
export type SpecRule =
  | "decoding"
  | "provider"
  | "amount"
  | "selector"
  | "toleration"
  | "addressType"
  | "ipFamilies"
  | "ipFamily"
  | WishPart;

/** Checks a pool's spec; the first failure wins. The texts are the Go operator's, so that alerts on them keep working. */
export function validatePool(pool: Pool, { pods, registry }: SpecFacts): Validation {
  const [violation] = poolViolations(pool, registry);
  return violation === undefined ? withMatcher(pool, pods) : invalid(violation.text);
}

/** Returns all that is wrong with a pool's spec whatever the cluster holds, the most important first; of its DNS name see `poolWish`. Pure. */
export function poolViolations(pool: Pool, registry: ProviderRegistry): readonly Violation[] {
  const { spec, decodeError } = pool;
  const hasAddresses = spec.ips.length > 0 || spec.desiredIPs > 0;
  return [
    ...decodingViolations(decodeError),
    ...formerProviderViolations(pool),
    ...addressProviderViolations(spec.provider, registry),
    ...formerFamilyViolations(pool),
    ...(hasAddresses ? [] : [{ rule: "amount", path: "spec", text: "ips or desiredIPs must be provided" } as const]),
    ...selectorViolations(spec.match),
  ];
}

/**
 * What was bought must not be forgotten: its object keeps its provider. Another provider does not know the address, so it would pass for one that is gone. The same goes for
 * an acquisition without an answer, which the other provider's list would show as never made.
 */
function formerProviderViolations({ spec, status, issuerName }: Pool): readonly Violation[] {
  const { provider } = sourceNamed(spec.provider);
  const isOther = (one: { readonly provider?: string }): boolean =>
    one.provider !== undefined && one.provider !== provider;
  const bought = status.acquired.find(isOther);
  const asked = bought ?? status.pendingAcquisitions.find(isOther);
  if (asked?.provider === undefined) return [];
  const former = shownText(asked.provider);
  const why =
    bought === undefined
      ? `${former} has not answered an acquisition yet`
      : `${shownText(bought.ip)} was acquired at ${former}`;
  const named = `"${shownText(provider)}"`;
  const text =
    issuerName === undefined
      ? `provider cannot be ${named}: ${why}; set it back to ${former}, or make a new pool`
      : `issuer "${shownText(issuerName)}" cannot have provider ${named}: ${why}; ` +
        `use an issuer of ${former}, or make a new RoutedIP`;
  return [{ rule: "provider", path: issuerName === undefined ? "spec.provider" : "spec.issuer", text }];
}

/** What was bought must not be forgotten: its object keeps its family. */
function formerFamilyViolations({ spec, status }: Pool): readonly Violation[] {
  const family = ipFamilyOf(spec);
  const bought = status.acquired.find(({ ip }) => canonicalAddress(ip) === ip && CANONICAL[family](ip) === undefined);
  if (bought === undefined) return [];
  const text = `ipFamily cannot be ${family}: ${bought.ip} was acquired for it; make a new one for that family`;
  return [{ rule: "ipFamily", path: "spec.ipFamily", text }];
}

/** Returns why a source of addresses cannot serve an object that wants addresses of it. Pure. */
export function addressProviderViolations(provider: string, registry: ProviderRegistry): readonly Violation[] {
  const violation = (text: string): readonly Violation[] => [{ rule: "provider", path: "spec.provider", text }];
  const { provider: name, family } = sourceNamed(provider);
  const traits = registry.get(name);
  if (traits === undefined) return violation(`unknown provider "${name}"`);
  if (registry.get(provider)?.addresses !== undefined) return [];
  if (family === "IPv4" || traits.addresses === undefined)
    return violation(`provider "${name}" does not provide floating IPs`);
  const text = `provider "${name}" does not provide floating IPs of ipFamily ${family}`;
  return [{ rule: "ipFamily", path: "spec.ipFamily", text }];
}

/** What a record set may publish of a node: its own addresses of a type, or what its annotation shows. */
export const ADDRESS_TYPES: readonly string[] = [
  "ExternalIP",
  "InternalIP",
  ADDRESS_ANNOTATION,
  IPV6_ADDRESS_ANNOTATION,
];

/** Checks a record set's spec; the first failure wins. The texts are the Go operator's. */
export function validateRecordSet(recordSet: RecordSet, { pods, registry }: SpecFacts): Validation {
  const [violation] = recordSetViolations(recordSet, registry);
  return violation === undefined ? withMatcher(recordSet, pods) : invalid(violation.text);
}

/** Returns all that is wrong with a record set's spec whatever the cluster holds, the most important first. Pure. */
export function recordSetViolations(recordSet: RecordSet, registry: ProviderRegistry): readonly Violation[] {
  const { addressType, match } = recordSet.spec;
  const hasType = ADDRESS_TYPES.includes(addressType);
  const text = `invalid addressType "${addressType}": it must be ${ADDRESS_TYPES.join(", ")}`;
  return [
    ...decodingViolations(recordSet.decodeError),
    ...wishViolations(statedWish(recordSet, registry)),
    ...(hasType ? [] : [{ rule: "addressType", path: "spec.addressType", text } as const]),
    ...familyViolations(recordSet.spec),
    ...selectorViolations(match),
  ];
}

/** A node's annotation shows addresses of one family only. */
function familyViolations({ ipFamilies, addressType }: RecordSet["spec"]): readonly Violation[] {
  const wrong = (text: string): readonly Violation[] => [{ rule: "ipFamilies", path: "spec.ipFamilies", text }];
  if (ipFamilies === undefined) return [];
  const known = Object.values(RECORD_TYPES).map(({ family }) => family as string);
  const other = ipFamilies.find((family) => !known.includes(family));
  if (other !== undefined) return wrong(`ipFamilies "${shownText(other)}" must be ${known.join(" or ")}`);
  if (new Set(ipFamilies).size < ipFamilies.length) return wrong("ipFamilies names a family twice");
  const shown = annotatedFamily(addressType);
  const asked = shown === undefined ? undefined : ipFamilies.find((family) => family !== shown);
  if (asked === undefined) return [];
  return wrong(`ipFamilies ${asked} needs addressType ExternalIP or InternalIP: ${addressType} is an ${shown} address`);
}

/** Returns why no name can be made of a wish. Pure. */
export function wishViolations(wish: DNSWish): readonly Violation[] {
  return wish.kind === "invalid" ? [{ rule: wish.part, path: wish.path, text: wish.error }] : [];
}

/** Returns what is wrong with what selects nodes and pods. Pure. */
export function selectorViolations({
  nodeLabel,
  podLabel,
  podNamespace,
  tolerations,
}: MatchSpec): readonly Violation[] {
  const nodes = parseLabelSelector(nodeLabel);
  const pods = podSelectorProblem({ namespace: podNamespace, label: podLabel });
  const selector = (field: string, text: string, offset?: number): Violation => ({
    rule: "selector",
    path: `spec.match.${field}`,
    text,
    ...(offset === undefined ? {} : { offset }),
  });
  return [
    ...("error" in nodes ? [selector("nodeLabel", `Error parsing node selector: ${nodes.error}`, nodes.offset)] : []),
    ...(pods === undefined
      ? []
      : [
          selector(
            pods.part === "label" ? "podLabel" : "podNamespace",
            `Error parsing pod selector: ${pods.error}`,
            pods.offset,
          ),
        ]),
    ...tolerations.flatMap(tolerationViolations),
  ];
}

const OPERATORS: readonly string[] = ["Exists", "Equal"];
const EFFECTS: readonly string[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** What tolerates nothing is a typo, and Kubernetes takes it for one, too (rules for the tolerations of a pod, checked 2026-11 with kube-apiserver 1.35). */
function tolerationViolations({ key, operator, effect }: Toleration, at: number): readonly Violation[] {
  const violation = (field: string, text: string): Violation => ({
    rule: "toleration",
    path: `spec.match.tolerations[${at}].${field}`,
    text: `invalid tolerations[${at}].${field}: ${text}`,
  });
  const isOneOf = (field: string, value: string | undefined, known: readonly string[]): readonly Violation[] =>
    value === undefined || known.includes(value)
      ? []
      : [violation(field, `"${shownText(value)}" must be ${known.join(" or ")}`)];
  return [
    ...isOneOf("operator", operator, OPERATORS),
    ...isOneOf("effect", effect, EFFECTS),
    ...(key === undefined && operator !== "Exists" ? [violation("key", "without a key operator must be Exists")] : []),
  ];
}

function decodingViolations(decodeError: string | undefined): readonly Violation[] {
  return decodeError === undefined ? [] : [{ rule: "decoding", path: "spec", text: decodeError }];
}

function invalid(error: string): Validation {
  return { kind: "blocked", why: personNeeded("InvalidSpec", error) };
}

/** An object that wants nodes. */
interface Matching {
  readonly meta: ObjectMeta;
  readonly spec: { readonly match: MatchSpec; readonly gracePeriodSeconds: number };
  readonly endpoints?: Pool["endpoints"];
}

/** What is needed to judge nodes, for a spec without violations. */
function withMatcher(object: Matching, pods: Pods): Validation {
  const { nodeLabel, tolerations } = object.spec.match;
  const hasGrace = object.spec.gracePeriodSeconds > 0;
  const parsed = parseLabelSelector(nodeLabel);
  if ("error" in parsed) return invalid(`Error parsing node selector: ${parsed.error}`);
  const reading = readingOf(object, pods);
  if (reading?.kind === "refused") {
    const reason = reading.isForbidden === true ? "PodsForbidden" : "SelectorRefused";
    return { kind: "blocked", why: personNeeded(reason, reading.error), isRefused: true };
  }
  // An unreadable slice may speak of any node, and concerns one object. A pod is on one node: it must not hold up the others.
  const unplaced = object.endpoints === undefined ? undefined : reading?.byNode.get(NO_NODE)?.unreadable;
  const matcher: Matcher = {
    nodeSelector: parsed.selector,
    nodeLabel: shownText(nodeLabel),
    tolerations,
    podsByNode: reading?.byNode,
    hasGrace,
    key: JSON.stringify([nodeLabel, tolerations, hasGrace]),
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
