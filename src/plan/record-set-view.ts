import type { ObjectRef } from "../model/action.ts";
import { canonicalIPv4 } from "../model/address.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { NodeVerdict } from "../model/plan.ts";
import { ADDRESS_ANNOTATION, type RecordSet, type UnreadyNode } from "../model/resource.ts";
import { isPast, pastMs, timestamp } from "../model/time.ts";
import type { NameTarget } from "./dns/name-target.ts";
import type { Publisher, ServedAddresses } from "./dns/publisher.ts";
import { recordSetPublisher } from "./dns/publishers.ts";
import { type NodeAddress, nodeAddresses, recordSetAddresses } from "./dns/record-set-addresses.ts";
import type { VerifiedAddresses } from "./dns/verified-addresses.ts";
import { judgeNodes, type Verdicts } from "./judge-nodes.ts";
import { type Validation, validateRecordSet } from "./validate.ts";

/** A published node that does not match any more because it became unready. */
export interface UnreadyPublished {
  readonly node: NodeFacts;
  readonly sinceMs: number;
  readonly graceUntilMs: number;
}

/** Everything the planner works out about one record set before its name is planned. */
export interface RecordSetView {
  readonly recordSet: RecordSet;
  readonly ref: ObjectRef;
  readonly isSelected: boolean;
  readonly validation: Validation;
  /** Names of nodes that match, sorted; those in grace included. */
  readonly matching: readonly string[];
  readonly notMatching: readonly NodeVerdict[];
  /** When time alone may change which nodes match, or end a grace, milliseconds; `Infinity` = never. */
  readonly judgedUntilMs: number;
  /** Nodes whose addresses stand in the records though they became unready; sorted by name. */
  readonly unready: readonly UnreadyPublished[];
  /** Unreadable nodes, with the text why; sorted by name. */
  readonly undecided: Verdicts["undecided"];
  /** Matches whose annotation is no canonical IPv4 address; sorted by name. */
  readonly badAnnotations: readonly NodeFacts[];
  readonly publisher: Publisher;
  readonly served: ServedAddresses;
}

/** A record set with what can be told before addresses are assigned. */
export interface CheckedRecordSet {
  readonly recordSet: RecordSet;
  readonly isSelected: boolean;
  readonly validation: Validation;
  readonly publisher: Publisher;
}

/** Checks one record set and finds its name. Pure. */
export function checkRecordSet(recordSet: RecordSet, isSelected: boolean, observation: Observation): CheckedRecordSet {
  const validation = validateRecordSet(recordSet, observation.pods);
  const publisher = recordSetPublisher(recordSet, validation, isSelected, observation);
  return { recordSet, isSelected, validation, publisher };
}

/** Builds the view of one record set; the nodes of the observation are sorted by name. Pure. */
export function viewRecordSet(
  { recordSet, isSelected, validation, publisher }: CheckedRecordSet,
  observation: Observation,
  verified: VerifiedAddresses,
): RecordSetView {
  const { spec } = recordSet;
  const { ref, target } = publisher;
  const verdicts = judgeNodes(recordSet, validation, observation);
  const offered = (node: NodeFacts): ReturnType<typeof nodeAddresses> =>
    nodeAddresses(node, spec.addressType, verified);
  const unready = unreadyPublished(recordSet, verdicts, observation, (node) => isPublished(target, offered(node)));
  const graced = unready.filter(({ graceUntilMs }) => graceUntilMs > observation.nodesReadAtMs);
  const gracedNames = new Set(graced.map(({ node }) => node.name));
  return {
    recordSet,
    ref,
    isSelected,
    validation,
    matching: [...verdicts.matches.map(({ name }) => name), ...gracedNames].toSorted(),
    notMatching: verdicts.notMatching.filter(({ nodeName }) => !gracedNames.has(nodeName)),
    judgedUntilMs: Math.min(verdicts.untilMs, ...graced.map(({ graceUntilMs }) => graceUntilMs)),
    unready,
    undecided: verdicts.undecided,
    badAnnotations: spec.addressType === ADDRESS_ANNOTATION ? verdicts.matches.filter(hasBadAnnotation) : [],
    publisher,
    served: recordSetAddresses(verdicts.matches.map(offered), [
      ...graced.map(({ node }) => offered(node)),
      ...verdicts.undecided.map(({ node }) => mayOffer(offered(node), target)),
    ]),
  };
}

/** Returns the addresses that an unreadable node may have in the records. If its addresses cannot be read either, these are all published ones. */
function mayOffer(offered: readonly NodeAddress[], target: NameTarget): readonly NodeAddress[] {
  if (offered.length > 0 || target.kind !== "ready") return offered;
  return target.records.addresses.map((address) => ({ address, isUndecided: true, after: [] }));
}

function hasBadAnnotation({ addressAnnotation }: NodeFacts): boolean {
  return addressAnnotation !== undefined && canonicalIPv4(addressAnnotation) === undefined;
}

function isPublished(target: NameTarget, addresses: readonly { readonly address: string }[]): boolean {
  return target.kind === "ready" && addresses.some(({ address }) => target.records.addresses.includes(address));
}

/** Grace counts from the earlier of the first time the node was seen so and what the cluster itself shows. */
function unreadyPublished(
  { spec, status }: RecordSet,
  verdicts: Verdicts,
  { nodes, nodesReadAtMs: nowMs }: Observation,
  isInRecords: (node: NodeFacts) => boolean,
): readonly UnreadyPublished[] {
  if (spec.gracePeriodSeconds <= 0) return [];
  const unready = new Set(verdicts.notMatching.map(({ nodeName }) => nodeName));
  return nodes.flatMap((node) => {
    const verdict = unready.has(node.name) ? verdicts.of(node) : undefined;
    if (verdict?.kind !== "unready" || !isInRecords(node)) return [];
    const storedMs = pastMs(status.unreadyNodes.find(({ nodeName }) => nodeName === node.name)?.since, nowMs);
    const sinceMs = Math.min(storedMs ?? nowMs, verdict.sinceMs ?? nowMs);
    return [{ node, sinceMs, graceUntilMs: sinceMs + spec.gracePeriodSeconds * 1000 }];
  });
}

/** The unready nodes as status keeps them; the stored text where it means the same instant. Pure. */
export function unreadyNodes(
  { recordSet, unready, publisher: { target } }: RecordSetView,
  nowMs: number,
): readonly UnreadyNode[] {
  const { unreadyNodes: stored } = recordSet.status;
  if (target.kind === "blocked") return stored;
  return unready.map(({ node, sinceMs }) => {
    const known = stored.find(({ nodeName }) => nodeName === node.name);
    const isSame = known !== undefined && isPast(known.since, nowMs) && pastMs(known.since, nowMs) === sinceMs;
    return isSame ? known : { nodeName: node.name, since: timestamp(sinceMs) };
  });
}
