import { type ObjectRef, refKey } from "../model/action.ts";
import { CANONICAL, unreachableWhy } from "../model/address.ts";
import { annotatedBy, marksOf } from "../model/annotated.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold, NodeVerdict, Obstacle } from "../model/plan.ts";
import {
  annotatedFamily,
  memoryOf,
  RECORD_TYPES,
  type RecordType,
  recordTypesOf,
  rememberedNames,
} from "../model/record-types.ts";
import { remembered } from "../model/remembered.ts";
import { FINALIZER, objectKey, type RecordSet } from "../model/resource.ts";
import { deletionSuspended, type Suspended, suspendedObstacle, suspensionOf } from "../model/suspension.ts";
import { pastMs } from "../model/time.ts";
import type { GrantJudgement } from "./grants.ts";
import { type EmptyTarget, emptyTargetObstacle, hold, obstacle, personNeeded } from "./holds.ts";
import { publishedNow } from "./names/former-names.ts";
import type { NameClaims } from "./names/name-claims.ts";
import {
  type NodeAddress,
  nodeAddresses,
  ownNodeAddresses,
  type Publisher,
  recordSetAddresses,
  recordSetPublisher,
} from "./names/publishers.ts";
import { emptyTarget } from "./nodes/empty-target.ts";
import { judgeNodes } from "./nodes/judge-nodes.ts";
import { ANY_NODE, stillServes } from "./nodes/match.ts";
import type { Verdicts } from "./pool-view.ts";
import type { ServedAddresses, VerifiedAddresses } from "./serving.ts";
import { ADDRESS_TYPES, type Validation, validateRecordSet } from "./validate.ts";
import { namesOf, sortedNames, withoutNodes } from "./verdicts.ts";

/** A node that was published, under whatever name, and does not match any more because it became unready. */
interface UnreadyPublished {
  readonly node: NodeFacts;
  readonly sinceMs: number;
  readonly graceUntilMs: number;
}

/** Everything the planner works out about the records of one type of a record set before they are planned. */
export interface RecordSetView {
  readonly recordSet: RecordSet;
  readonly ref: ObjectRef;
  readonly isSelected: boolean;
  readonly validation: Validation;
  /** What lets it stand still now; absent while nothing does. */
  readonly suspended?: Suspended;
  /** Names of nodes that match, sorted and once each; those in grace included. */
  readonly matching: readonly string[];
  readonly notMatching: readonly NodeVerdict[];
  /** When time alone may change which nodes match, or end a grace, milliseconds; `Infinity` = never. */
  readonly judgedUntilMs: number;
  /** Nodes that became unready, and are published or were when that was seen first; sorted by name. */
  readonly unready: readonly UnreadyPublished[];
  /** What the nodes have to publish that have to rest. */
  readonly restless: readonly string[];
  /** Unreadable nodes, with the text why; sorted by name. */
  readonly undecided: Verdicts["undecided"];
  /** Present while it asks for what nobody has, and records of it are there to be kept, under whatever name. */
  readonly emptyTarget?: EmptyTarget;
  /** Matches that show what is no address of the family or one that no client reaches, and that text; sorted by name. */
  readonly badAddresses: readonly { readonly nodeName: string; readonly text: string }[];
  readonly publisher: Publisher;
  readonly served: ServedAddresses;
}

/** The records of one type of a record set, with what can be told before addresses are assigned. */
export interface CheckedRecordSet {
  readonly recordSet: RecordSet;
  readonly isSelected: boolean;
  readonly validation: Validation;
  readonly publisher: Publisher;
}

/** Checks one record set and finds its name, once for each type of records that it has. Pure. */
export function checkRecordSet(
  recordSet: RecordSet,
  isSelected: boolean,
  observation: Observation,
  grants: GrantJudgement,
): readonly CheckedRecordSet[] {
  const validation = validateRecordSet(recordSet, observation);
  const { namespace, name } = recordSet.meta;
  const held = grants.heldOf({ kind: "dns", namespace, name });
  const selectsNothing = emptyTarget(recordSet, validation, observation.nodes);
  let matching: ReadonlySet<string> | undefined;
  const showsNode = (nodeName: string): boolean => {
    matching ??= new Set(judgeNodes(recordSet, validation, observation).matches.map((node) => node.name));
    return matching.has(nodeName);
  };
  return recordTypesOf(recordSet).map((type) => {
    const publisher = recordSetPublisher(recordSet, type, { validation, isSelected, held }, observation);
    const more = selectsNothing === undefined ? { showsNode } : { showsNode, selectsNothing };
    return { recordSet, isSelected, validation, publisher: { ...publisher, ...more } };
  });
}

/** Builds the view of the records of one type; the nodes of the observation are sorted by name. Pure. */
export function viewRecordSet(
  { recordSet, isSelected, validation, publisher }: CheckedRecordSet,
  observation: Observation,
  verified: VerifiedAddresses,
  claims: NameClaims,
): RecordSetView {
  const { spec } = recordSet;
  const { ref, recordType } = publisher;
  const verdicts = judgeNodes(recordSet, validation, observation);
  const offered = (node: NodeFacts): readonly NodeAddress[] =>
    nodeAddresses(node, spec.addressType, recordType, verified);
  const published = publishedAddresses(publisher, recordSet, { offered, verified, claims, dns: observation.dns });
  const unready = unreadyPublished(recordSet, verdicts, observation, published.isShown);
  // What such a node shows somewhere stays there: also addresses that the object asks for no more.
  const mayStay = (node: NodeFacts): readonly NodeAddress[] => [...offered(node), ...published.ownOf(node)];
  // If the addresses of an unreadable node cannot be read either, it may have all published ones.
  const mayHave = (node: NodeFacts): readonly NodeAddress[] => {
    const own = mayStay(node);
    return own.length > 0 ? own : published.all().map((address) => ({ address, isUndecided: true, after: [] }));
  };
  const { selectsNothing: empty } = publisher;
  const isServed = (node: NodeFacts): boolean =>
    published.isShown(node) && stillServes(node, ANY_NODE, observation.nodesReadAtMs);
  const isServing = empty !== undefined && observation.nodes.some(isServed);
  const isKept = empty !== undefined && spec.whenEmpty === "Keep" && (isServing || published.hasAny());
  const inGrace = unready.filter(({ graceUntilMs }) => graceUntilMs > observation.nodesReadAtMs);
  const namesInGrace = inGrace.map(({ node }) => node.name);
  const suspended = suspensionOf(recordSet, observation.lease.suspension, observation.observedAtMs);
  return {
    recordSet,
    ref,
    isSelected,
    validation,
    ...(suspended === undefined ? {} : { suspended }),
    matching:
      inGrace.length === 0
        ? namesOf(verdicts.matches)
        : sortedNames([...verdicts.matches.map(({ name }) => name), ...namesInGrace]),
    notMatching: withoutNodes(verdicts.notMatching, namesInGrace),
    judgedUntilMs: Math.min(verdicts.untilMs, ...inGrace.map(({ graceUntilMs }) => graceUntilMs)),
    unready,
    restless: verdicts.restless.flatMap(offered).map(({ address }) => address),
    undecided: verdicts.undecided,
    ...(isKept ? { emptyTarget: { ...empty, isServing } } : {}),
    badAddresses: badAddresses(verdicts.matches, spec.addressType, recordType),
    publisher,
    served:
      annotatedFamily(spec.addressType) !== undefined || inGrace.length + verdicts.undecided.length > 0
        ? {
            ...recordSetAddresses(verdicts.matches.map(offered), [
              ...inGrace.map(({ node }) => mayStay(node)),
              ...verdicts.undecided.map(({ node }) => mayHave(node)),
            ]),
            failed: verified.failed,
          }
        : ownNodeAddresses(verdicts.matches, spec.addressType, recordType),
  };
}

/** What a record set publishes, under whatever name. */
interface PublishedAddresses {
  /** Returns what the records of its present name show, and its own addresses under all names that its status remembers. */
  readonly all: () => readonly string[];
  readonly hasAny: () => boolean;
  readonly isShown: (node: NodeFacts) => boolean;
  /** Returns what those names show of a node in records of this type, whichever addresses the object asks for now. */
  readonly ownOf: (node: NodeFacts) => readonly NodeAddress[];
}

/** What is known of nodes and names. */
interface PublishedFacts extends Pick<Observation, "dns"> {
  readonly offered: (node: NodeFacts) => readonly NodeAddress[];
  readonly verified: VerifiedAddresses;
  readonly claims: NameClaims;
}

/**
 * Returns what a record set publishes. Its spec may ask for another name now, or for other addresses: then the records of the present name do not show yet what the record
 * set publishes all the same.
 */
function publishedAddresses(
  publisher: Publisher,
  { status }: RecordSet,
  { offered, verified, claims, dns }: PublishedFacts,
): PublishedAddresses {
  const { target, recordType } = publisher;
  const shown = target.kind === "ready" ? target.records.addresses : [];
  let found: ReadonlySet<string> | undefined;
  const own = (): ReadonlySet<string> => {
    found ??= new Set(rememberedNames(status).flatMap((name) => publishedNow(publisher, name, claims, dns)));
    return found;
  };
  const ownOf = (node: NodeFacts, type: RecordType): readonly NodeAddress[] =>
    ADDRESS_TYPES.flatMap((addressType) => nodeAddresses(node, addressType, type, verified)).filter(({ address }) =>
      own().has(address),
    );
  return {
    all: () => [...shown, ...own()],
    hasAny: () => (memoryOf(status, recordType).publishedDNS?.addresses ?? []).length > 0 || own().size > 0,
    isShown: (node) =>
      offered(node).some(({ address }) => shown.includes(address)) ||
      (["A", "AAAA"] as const).some((type) => ownOf(node, type).length > 0),
    ownOf: (node) => ownOf(node, recordType),
  };
}

/** What matches show that no record can hold, or that no client reaches. Of its own addresses a node may have such beside others: they count where it has no other one. */
const badAddresses: (
  matches: readonly NodeFacts[],
  addressType: string,
  recordType: RecordType,
) => RecordSetView["badAddresses"] = remembered((matches, addressType, recordType) => {
  const family = annotatedFamily(addressType);
  const told = (nodeName: string, bad: readonly string[]): RecordSetView["badAddresses"] =>
    bad.length === 0 ? [] : [{ nodeName, text: badText(bad) }];
  return matches.flatMap((node) => {
    if (family !== undefined) {
      const shown = annotatedBy(marksOf(node, family)).map(({ ip }) => ip);
      return told(
        node.name,
        shown.filter((ip) => CANONICAL[family](ip) !== ip || unreachableWhy(ip) !== undefined),
      );
    }
    const own = node.addresses.flatMap(({ type, address }) =>
      type === addressType ? (RECORD_TYPES[recordType].canonical(address) ?? []) : [],
    );
    return own.every((ip) => unreachableWhy(ip) !== undefined) ? told(node.name, own) : [];
  });
});

/** `"abc,def"`, `"127.0.0.1": it is the host itself`. */
function badText(bad: readonly string[]): string {
  const unreachable = bad.filter((ip) => unreachableWhy(ip) !== undefined);
  const others = bad.filter((ip) => !unreachable.includes(ip));
  const told = unreachable.map((ip) => `"${ip}": ${unreachableWhy(ip) ?? ""}`);
  return [...(others.length === 0 ? [] : [`"${others.join(",")}"`]), ...told].join(", ");
}

/**
 * Grace counts from the earlier of the first time the node was seen so and what the cluster itself shows. It does not end before its time where the last name that showed
 * the node is gone: the object has another one now, which never did.
 */
function unreadyPublished(
  { spec, status }: RecordSet,
  verdicts: Verdicts,
  { nodes, nodesReadAtMs: nowMs }: Observation,
  isPublished: (node: NodeFacts) => boolean,
): readonly UnreadyPublished[] {
  if (spec.gracePeriodSeconds <= 0) return [];
  const unready = new Set(verdicts.notMatching.map(({ nodeName }) => nodeName));
  return nodes.flatMap((node) => {
    const verdict = unready.has(node.name) ? verdicts.of(node) : undefined;
    if (verdict?.kind !== "unready") return [];
    const storedMs = pastMs(status.unreadyNodes.find(({ nodeName }) => nodeName === node.name)?.since, nowMs);
    const sinceMs = Math.min(storedMs ?? nowMs, verdict.sinceMs ?? nowMs);
    const graceUntilMs = sinceMs + spec.gracePeriodSeconds * 1000;
    const isKnown = storedMs !== undefined && graceUntilMs > nowMs;
    return isKnown || isPublished(node) ? [{ node, sinceMs, graceUntilMs }] : [];
  });
}

/** A record set with the views of its records: one for each type, A first. */
interface RecordSetViews extends RecordSetView {
  readonly views: readonly RecordSetView[];
}

/** Returns the views of each record set, with what they have in common. Pure. */
export function byRecordSet(views: readonly RecordSetView[]): readonly RecordSetViews[] {
  return [...Map.groupBy(views, ({ ref }) => refKey(ref)).values()].flatMap((own) => {
    const [first] = own;
    return first === undefined ? [] : [{ ...first, views: own }];
  });
}

/**
 * What is held for record sets for a reason of their own: invalid, suspended, nodes in grace or that cannot be read, annotations that are no addresses. What is held for
 * records of both types is told once. Pure.
 */
export function recordSetHolds(views: readonly RecordSetView[], nowMs: number): readonly Hold[] {
  return toldOnce(
    views.flatMap((view) => ownHolds(view, nowMs)),
    ({ reason }) => reason,
  );
}

/** What is held for names; once where it is held for records of both types under one name, as of a name that cannot be one. Pure. */
export function nameHolds(objects: readonly { readonly holds: readonly Hold[] }[]): readonly Hold[] {
  return toldOnce(
    objects.flatMap(({ holds }) => holds),
    ({ reason, detail }) => `${reason} ${detail}`,
  );
}

/** The last of those holds that are about the same thing for the same cause, in the order of the first. */
function toldOnce(holds: readonly Hold[], causeOf: (hold: Hold) => string): readonly Hold[] {
  const keyOf = (hold: Hold): string => [refKey(hold.object), hold.kind, hold.subject, causeOf(hold)].join(" ");
  return [...new Map(holds.map((one) => [keyOf(one), one])).values()];
}

function ownHolds(view: RecordSetView, nowMs: number): readonly Hold[] {
  const { recordSet, validation, suspended, unready, undecided, badAddresses } = view;
  const empty = view.emptyTarget;
  const { meta } = recordSet;
  const whole = (kind: Hold["kind"], why: Obstacle): Hold => hold(kind, view.ref, objectKey(meta), why);
  const onNode = (name: string, why: Obstacle): Hold => hold("update-dns", view.ref, name, why);
  const isWaitedFor = meta.isDeleting && meta.finalizers.includes(FINALIZER);
  const other = suspended === undefined ? undefined : deletionSuspended(suspended, view.ref);
  const stopping = validation.kind === "blocked" ? personNeeded(validation.why.reason) : other;
  const deletion =
    stopping !== undefined && isWaitedFor
      ? [whole("remove-finalizer", { ...stopping, detail: "the deletion waits for it" })]
      : [];
  if (validation.kind === "blocked") return [whole("reconcile", validation.why), ...deletion];
  return [
    ...(suspended === undefined ? [] : [whole("reconcile", suspendedObstacle(suspended, view.ref))]),
    ...deletion,
    ...(empty === undefined ? [] : [whole("reconcile", emptyTargetObstacle(empty))]),
    ...unready
      .filter(({ graceUntilMs }) => graceUntilMs > nowMs)
      .map(({ node, graceUntilMs }) => onNode(node.name, obstacle("Grace", "", { notBeforeMs: graceUntilMs }))),
    ...undecided.map(({ node, why }) => onNode(node.name, obstacle("Unreadable", why))),
    ...badAddresses.map(({ nodeName, text }) => onNode(nodeName, obstacle("InvalidAddress", text))),
  ];
}
