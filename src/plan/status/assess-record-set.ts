import type { ObjectRef } from "../../model/action.ts";
import { canonicalIPv4 } from "../../model/address.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Observation } from "../../model/observation.ts";
import type { Hold, NodeVerdict, Obstacle, RecordSetAssessment } from "../../model/plan.ts";
import {
  ADDRESS_ANNOTATION,
  FINALIZER,
  objectKey,
  type RecordSet,
  type RecordSetStatus,
  type RetryStatus,
  type UnreadyNode,
} from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import { isPast, pastMs, timestamp } from "../../model/time.ts";
import { hold, obstacle, personNeeded } from "../holds.ts";
import type { NamePlan } from "../names/name-plan.ts";
import type { NameTarget } from "../names/name-target.ts";
import type { ObjectNames } from "../names/plan-dns.ts";
import {
  type NodeAddress,
  nodeAddresses,
  type Publisher,
  recordSetAddresses,
  recordSetPublisher,
  type ServedAddresses,
} from "../names/publishers.ts";
import { dnsError, dnsReadiness, isOpenName, isSettling, raisedText } from "../names/readiness.ts";
import type { VerifiedAddresses } from "../names/verified-addresses.ts";
import { judgeNodes, type Verdicts } from "../nodes/judge-nodes.ts";
import { FINALIZER_SUBJECT } from "../retries.ts";
import { type Validation, validateRecordSet } from "../validate.ts";
import { conditionsOf, type Readiness } from "./conditions.ts";
import type { OwnPlan } from "./pool-status.ts";

/** What was found out about a record set, its status included. Pure. */
export function assessRecordSet(
  view: RecordSetView,
  { names, actions, holds }: OwnPlan,
  nowMs: number,
): RecordSetAssessment {
  const { target, drift } = names.present;
  const { spec } = view.recordSet;
  const { zone, recordName } = spec.dnsRecordSet;
  const provider = view.publisher.wish.kind === "named" ? view.publisher.wish.provider : spec.provider;
  return {
    object: view.ref,
    written: { provider, zone, recordName },
    isSuspended: spec.suspend,
    ...(target.kind === "none" || target.name === undefined ? {} : { fqdn: target.name.fqdn }),
    ...(target.kind === "ready" ? { published: target.records.addresses } : {}),
    ...(drift === undefined ? {} : { drift }),
    matching: view.matching,
    notMatching: view.notMatching,
    status: recordSetStatus(view, { names, actions, holds }, nowMs),
  };
}

/** The status a record set should have: the stored one where it still holds, so that an unchanged world changes nothing. */
function recordSetStatus(view: RecordSetView, { names, actions, holds }: OwnPlan, nowMs: number): RecordSetStatus {
  const { meta, status } = view.recordSet;
  const blocked = view.validation.kind === "blocked" ? view.validation.why : undefined;
  const readiness = recordSetReadiness(names);
  const pendingActions = actions.length;
  const facts = { meta, conditions: status.conditions, ips: {}, holds, pendingActions, blocked, nowMs };
  const common = { observedGeneration: meta.generation, conditions: conditionsOf(facts, readiness) };
  if (blocked !== undefined) return { ...status, ...common, state: "error", error: plain(blocked.detail) };
  const error = dnsError(names);
  const isOpen =
    pendingActions > 0 ||
    isSettling(names.present) ||
    holds.some(({ kind }) => kind === "add-finalizer" || kind === "remove-finalizer");
  return {
    ...common,
    state: readiness.state,
    ...(error === undefined ? {} : { error: plain(error) }),
    // What is on record waits, too, for the little while that the records do.
    unreadyNodes: isSettling(names.present) ? status.unreadyNodes : unreadyNodes(view, nowMs),
    retries: status.retries.filter((retry) => isCurrent(retry, names) || (isAboutFinalizer(retry) && isOpen)),
    ...names.memory,
  };
}

/** A name that cannot be one is an invalid spec, too; it is only known once the zone was read. */
function stateOf({ target, isKept }: NamePlan): NonNullable<RecordSetStatus["state"]> {
  if (target.kind === "blocked" && target.cause === "invalid") return "error";
  return isKept ? "active" : "in-progress";
}

function isCurrent({ subject }: RetryStatus, names: ObjectNames): boolean {
  return subject.startsWith("dns/") && isOpenName(names, subject.slice("dns/".length));
}

function isAboutFinalizer({ subject }: RetryStatus): boolean {
  return subject === FINALIZER_SUBJECT;
}

/** What a record set's condition Ready says: its records are as desired, and at least one address is published. Pure. */
function recordSetReadiness(names: ObjectNames): Readiness & { readonly state: NonNullable<RecordSetStatus["state"]> } {
  const problem = dnsReadiness(names);
  if (problem !== undefined) return { ...problem, state: stateOf(names.present) };
  const { target } = names.present;
  const count = target.kind === "ready" ? target.records.addresses.length : 0;
  if (count === 0)
    return { isTrue: false, reason: "NothingToPublish", message: "No address is published.", state: "active" };
  const message = `${count === 1 ? "1 address is" : `${count} addresses are`} published.`;
  return { isTrue: true, reason: "Ready", message: `${message}${raisedText(names)}`, state: "active" };
}

/** A published node that does not match any more because it became unready. */
interface UnreadyPublished {
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
  const validation = validateRecordSet(recordSet, observation);
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
function unreadyNodes(
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

/** What is held for a record set for a reason of its own: invalid, suspended, nodes in grace or that cannot be read, annotations that are no addresses. Pure. */
export function recordSetHolds(view: RecordSetView, nowMs: number): readonly Hold[] {
  const { recordSet, validation, unready, undecided, badAnnotations } = view;
  const { meta, spec } = recordSet;
  const whole = (kind: Hold["kind"], why: Obstacle): Hold => hold(kind, view.ref, objectKey(meta), why);
  const onNode = (name: string, why: Obstacle): Hold => hold("update-dns", view.ref, name, why);
  const isWaitedFor = meta.isDeleting && meta.finalizers.includes(FINALIZER);
  const stopping = validation.kind === "blocked" ? validation.why.reason : spec.suspend ? "Suspended" : undefined;
  const deletion =
    stopping !== undefined && isWaitedFor
      ? [whole("remove-finalizer", personNeeded(stopping, "the deletion waits for it"))]
      : [];
  if (validation.kind === "blocked") return [whole("reconcile", validation.why), ...deletion];
  return [
    ...(spec.suspend ? [whole("reconcile", obstacle("Suspended"))] : []),
    ...deletion,
    ...unready
      .filter(({ graceUntilMs }) => graceUntilMs > nowMs)
      .map(({ node, graceUntilMs }) => onNode(node.name, obstacle("Grace", "", { notBeforeMs: graceUntilMs }))),
    ...undecided.map(({ node, why }) => onNode(node.name, obstacle("Unreadable", why))),
    ...badAnnotations.map(({ name, addressAnnotation = "" }) =>
      onNode(name, obstacle("InvalidAddress", `"${addressAnnotation}"`)),
    ),
  ];
}
