import {
  type AnnotateNode,
  type AssignIP,
  actionID,
  type NodeAnnotations,
  type ObjectRef,
  refKey,
} from "../../model/action.ts";
import type { IPFamily } from "../../model/address-source.ts";
import {
  type Annotated,
  annotatedNodes,
  annotatedOn,
  annotationsFor,
  annotationsOf,
  isMarked,
  isWrittenIn,
  marksOf,
  withMarksOf,
} from "../../model/annotated.ts";
import { hostAddressesText, hostWords } from "../../model/host-address.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Observation } from "../../model/observation.ts";
import type { Hold } from "../../model/plan.ts";
import { ipFamilyOf, ownerKey, ownerRef } from "../../model/resource.ts";
import { hold, obstacle } from "../holds.ts";
import { isWritable, type PoolView } from "../pool-view.ts";
import type { Claims } from "./claims.ts";
import { type CauseOfClearing, causeOfClearing } from "./clearing-causes.ts";

/** What the annotations of the nodes depend on, beside the nodes. */
interface AnnotationFacts {
  readonly observation: Observation;
  readonly views: readonly PoolView[];
  readonly claims: Claims;
  /** Assignments of this plan; their nodes are annotated once they are verified. */
  readonly assignments: readonly AssignIP[];
  /** Addresses that cannot be taken out of DNS in this pass. */
  readonly stillPublished: ReadonlyMap<string, string>;
  /** Addresses that the name of a pool goes on showing, also one that it has taken over. */
  readonly inherited: ReadonlySet<string>;
  /** Whether the run may write for an object that no longer exists. */
  readonly isNamespaceSelected: (namespace: string) => boolean;
}

/** The same for one family: its nodes have the marks of that family alone. */
interface AnnotationContext extends AnnotationFacts {
  readonly family: IPFamily;
  readonly drains: HostDrains;
}

/** Addresses for hosts that have left their names, and serve where they are until no resolver has them any more, with their nodes as far as these are known. */
type HostDrains = ReadonlyMap<string, string | undefined>;

/** An address that a node's annotations are to show. */
interface Wish {
  readonly view: PoolView;
  readonly ip: string;
  readonly assignmentID?: string;
}

/**
 * Repairs the annotations: written on the verified holder of an address in use, removed from every other node that carries an address of ours. Left
 * alone: what concerns an address that cannot be read or is being worked on, objects that may not be written, and values nobody named. What a host keeps while it drains its
 * node shows until then: whoever forgets meanwhile whose it was reads it there.
 *
 * A node has one action of a family at most: what it lacks is written first. Of several addresses that it shows wrongly those of one object go at a time. The families
 * have nothing to do with each other.
 */
export function planAnnotations(facts: AnnotationFacts): AnnotationPlan {
  const { observation, views } = facts;
  const drains = drainsOnHosts(facts);
  const own = planFamily({ ...facts, drains, family: "IPv4" });
  const hasOther = views.some(isOf("IPv6")) || annotatedNodes(observation.nodes).some(({ ipv6 }) => ipv6 !== undefined);
  if (!hasOther) return own;
  const other = planFamily({ ...facts, drains, family: "IPv6" });
  return { actions: [...own.actions, ...other.actions], holds: [...own.holds, ...other.holds] };
}

interface AnnotationPlan {
  readonly actions: readonly AnnotateNode[];
  readonly holds: readonly Hold[];
}

function isOf(family: IPFamily): (view: PoolView) => boolean {
  return ({ pool }) => ipFamilyOf(pool.spec) === family;
}

function planFamily(all: AnnotationContext): AnnotationPlan {
  const { observation, family } = all;
  const marked = annotatedNodes(observation.nodes).filter((node) => isMarked(marksOf(node, family)));
  const wishes = wishesByNode(
    marked.map((node) => withMarksOf(node, family)),
    all,
  );
  // Of thousands of nodes few say anything or are to: the others need no look.
  const isConcerned = new Set([...marked.map(({ name }) => name), ...wishes.keys()]);
  const nodes = observation.nodes.filter(({ name }) => isConcerned.has(name)).map((node) => withMarksOf(node, family));
  const context = { ...all, observation: { ...observation, nodes } };
  const byKey = new Map(context.views.map((view) => [view.key, view]));
  const written = new Map(
    nodes.flatMap((node) => {
      const action = writing(node, wishes.get(node.name) ?? [], byKey, context);
      return action === undefined ? [] : [[node.name, action] as const];
    }),
  );
  const planned = nodes.flatMap(
    (node) =>
      written.get(node.name) ??
      clearing(node, wishes.get(node.name) ?? [], byKey, { ...context, written }) ??
      clearingHost(node, byKey, context) ??
      [],
  );
  const actions: AnnotateNode[] = [];
  const holds = nodes.flatMap((node) => justDeletedOn(node, byKey, context));
  for (const action of planned) {
    const why = byKey.get(ownerKey(action.object))?.retries.annotationObstacle(action.nodeName);
    if (why === undefined) actions.push(action);
    else holds.push(hold(action.kind, action.object, action.nodeName, why));
  }
  return { actions, holds };
}

/**
 * What each node's annotations are to show: all addresses of the objects whose spec says how many a node may have. Of the others, which a person can put beside each other
 * all the same, what is shown stays, else the first that is there is shown, else the first that comes.
 */
function wishesByNode(
  marked: readonly NodeFacts[],
  { views, assignments, family }: AnnotationContext,
): ReadonlyMap<string, readonly Wish[]> {
  const wishes = new Map<string, readonly Wish[]>();
  const shown = new Map(marked.map((node) => [node.name, new Set(annotatedOn(node).map(({ ip }) => ip))]));
  const own = views.filter(isOf(family));
  const byKey = new Map(own.map((view) => [view.key, view]));
  for (const [nodeName, placed] of Map.groupBy(own.filter(isWritable).flatMap(placedOf), (one) => one.nodeName)) {
    const all = placed.map(({ wish }) => wish);
    const others = all.filter(({ view }) => view.isForSeveral !== true);
    const staying = others.filter(({ ip }) => shown.get(nodeName)?.has(ip) === true);
    wishes.set(nodeName, [
      ...all.filter(({ view }) => view.isForSeveral === true),
      ...(staying.length > 0 ? staying : others.slice(0, 1)),
    ]);
  }
  for (const { id, ip, after, object } of assignments) {
    const view = byKey.get(ownerKey(object));
    const known = wishes.get(after.nodeName) ?? [];
    if (view !== undefined && (known.length === 0 || view.isForSeveral === true))
      wishes.set(after.nodeName, [...known, { view, ip, assignmentID: id }]);
  }
  return wishes;
}

/** The addresses in use of an object that are on their nodes. */
function placedOf(view: PoolView): readonly { readonly nodeName: string; readonly wish: Wish }[] {
  if (view.pool.meta.isDeleting) return [];
  return view.managed.flatMap(({ ip, standing }) =>
    standing.kind === "placed" && view.inUse.has(ip) ? [{ nodeName: standing.on.nodeName, wish: { view, ip } }] : [],
  );
}

/**
 * Writes what a node lacks: what is there, else what comes to it, of one object. Of several addresses, or where there may be several, one that it shows wrongly is not dropped by
 * the way: {@link clearing} does that in its order. Exception: one that makes room for what comes.
 */
function writing(
  node: NodeFacts,
  wishes: readonly Wish[],
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): AnnotateNode | undefined {
  const shown = annotatedOn(node);
  const before = annotationsOf(node);
  const rest = shown.filter(({ ip }) => wishes.every((wish) => wish.ip !== ip));
  const isShown = ({ view, ip }: Wish): boolean =>
    isWrittenIn(before, ip) && shown.some((one) => one.ip === ip && one.owner === view.key);
  const lacking = wishes.filter((wish) => !isShown(wish));
  const [first = wishes.find((wish) => isHostOff(wish, node)) ?? wishes[0]] = lacking.toSorted(
    (a, b) => Number(a.assignmentID !== undefined) - Number(b.assignmentID !== undefined),
  );
  if (first === undefined) return undefined;
  const added = lacking.filter(
    ({ view, assignmentID }) =>
      (assignmentID === undefined) === (first.assignmentID === undefined) &&
      (assignmentID === undefined || view === first.view),
  );
  const requires = added.flatMap(({ assignmentID }) => assignmentID ?? []);
  const kept = rest.flatMap((entry) => keptBeside(node, entry, { shown, awaited: new Set(requires), byKey, context }));
  const wished = wishes.filter((wish) => !lacking.includes(wish) || added.includes(wish));
  const after = [...wished.map(({ view, ip }) => ({ ip, owner: view.key })), ...kept];
  const host = hostAnnotation(node, after, byKey, context);
  const isHostRight = host === undefined || isSameHost(host, node.hostAnnotation);
  if (added.length === 0 && kept.length === rest.length && isHostRight) return undefined;
  return {
    kind: "annotate-node",
    id: annotationID("annotate-node", first.view.object, node.name, context.family),
    object: first.view.object,
    reason: shown.length === 0 || requires.length > 0 ? "Verified" : "AnnotationDrift",
    requires,
    follows: [],
    nodeName: node.name,
    ...familyField(context),
    before,
    after: { ...annotationsFor(after), ...(host === undefined ? {} : { host }) },
  };
}

/** An address that a node shows and is not to show, where it stays for now. */
function keptBeside(
  node: NodeFacts,
  entry: Annotated,
  how: {
    readonly shown: readonly Annotated[];
    readonly awaited: ReadonlySet<string>;
    readonly byKey: ReadonlyMap<string, PoolView>;
    readonly context: AnnotationContext;
  },
): readonly Required<Annotated>[] {
  const { shown, awaited, byKey, context } = how;
  const owner = ownerOf(entry, context);
  if (owner === undefined) return [];
  if (isDrainingOn(node, entry.ip, context)) return [{ ip: entry.ip, owner }];
  const view = byKey.get(owner);
  if (shown.length === 1 && view?.isForSeveral !== true) return [];
  const leaving = view === undefined ? "" : actionID("unassign-ip", view.object, entry.ip);
  const first = new Set(context.assignments.flatMap(({ id, requires }) => (awaited.has(id) ? requires : [])));
  return first.has(leaving) ? [] : [{ ip: entry.ip, owner }];
}

/** Clears what a node shows wrongly, of the first object that may clear something there; what is to be on another node before goes last. */
function clearing(
  node: NodeFacts,
  wishes: readonly Wish[],
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext & { readonly written: ReadonlyMap<string, AnnotateNode> },
): AnnotateNode | undefined {
  const shown = annotatedOn(node);
  // A node may name an object and no address.
  const entries: readonly Partial<Annotated>[] =
    shown.length === 0 && node.poolAnnotation !== undefined ? [{ owner: node.poolAnnotation }] : shown;
  const goes = entries
    .filter(({ ip }) => wishes.every((wish) => wish.ip !== ip))
    .flatMap((entry) => goingFrom(node, entry, byKey, context))
    .toSorted((a, b) => a.movers.length - b.movers.length);
  const [first] = goes;
  if (first === undefined) return undefined;
  const going = goes.filter((one) => isClearedWith(first, one));
  const { object, cause, isGivenUp } = first;
  const movers = going.flatMap((one) => one.movers);
  return {
    kind: "clear-annotation",
    id: annotationID("clear-annotation", object, node.name, context.family),
    object,
    reason: cause.reason,
    requires: movers.map(({ id }) => id),
    follows: movers.map((mover) => arrivalOf(mover, context)),
    nodeName: node.name,
    ...familyField(context),
    before: annotationsOf(node),
    after: annotationsLeft(
      node,
      shown.filter((entry) => going.every((one) => one.entry !== entry)),
      byKey,
      context,
    ),
    ...(cause.holder === undefined ? {} : { holder: cause.holder }),
    ...(isGivenUp ? { isGivenUp } : {}),
  };
}

/** What a node is to show no more, and that may be cleared. */
interface Going {
  readonly entry: Partial<Annotated>;
  readonly object: ObjectRef;
  readonly cause: CauseOfClearing;
  /** True where an object that stays gives the address up. */
  readonly isGivenUp: boolean;
  /** What brings the address to another node. */
  readonly movers: readonly AssignIP[];
}

/** None where an entry is to stay for now, or is not ours. */
function goingFrom(
  node: NodeFacts,
  entry: Partial<Annotated>,
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): readonly Going[] {
  const object = objectOf(entry, byKey, context);
  if (object === undefined || isProtected(node, entry, byKey, context)) return [];
  if (isDrainingOn(node, entry.ip, context) || context.observation.settling?.has(refKey(object)) === true) return [];
  const view = byKey.get(ownerKey(object));
  const cause = causeOfClearing(node, entry.ip ?? "", view);
  // What its object gives up leaves DNS first; an address that no longer serves is another matter.
  if (cause.isGivenUp && context.stillPublished.has(entry.ip ?? "")) return [];
  if (view === undefined && mayBeInherited(entry.ip, context)) return [];
  const isAlive = view?.pool.meta.isDeleting === false;
  const movers = context.assignments.filter(({ ip }) => ip === entry.ip);
  return [{ entry, object, cause, isGivenUp: cause.isGivenUp && isAlive, movers }];
}

/**
 * True for an address of an object that is gone, where another object's name goes on showing it, or may: a DNS provider is still to answer. Example: a pool that cannot
 * serve yet has taken over the name.
 */
function mayBeInherited(ip = "", { observation: { dns }, inherited }: AnnotationContext): boolean {
  return inherited.has(ip) || [...dns.values()].some(({ unusable }) => unusable?.isAwaited === true);
}

/** What a node shows of objects that have just been deleted: it stays a moment. */
function justDeletedOn(
  node: NodeFacts,
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): readonly Hold[] {
  const { settling } = context.observation;
  if (settling === undefined) return [];
  return annotatedOn(node).flatMap((entry) => {
    const object = objectOf(entry, byKey, context);
    const notBeforeMs = object === undefined ? undefined : settling.get(refKey(object));
    if (object === undefined || notBeforeMs === undefined) return [];
    return [hold("clear-annotation", object, node.name, obstacle("JustDeleted", "", { notBeforeMs }))];
  });
}

/** True for what one write clears together: of one object, and for which it waits alike. */
function isClearedWith(first: Going, { object, isGivenUp, movers }: Going): boolean {
  return (
    ownerKey(object) === ownerKey(first.object) &&
    isGivenUp === first.isGivenUp &&
    movers.length === first.movers.length
  );
}

/** The action that annotates the node that an address goes to. */
function arrivalOf(
  { object, after: { nodeName } }: AssignIP,
  { written, family }: Pick<AnnotationContext, "family"> & { readonly written: ReadonlyMap<string, AnnotateNode> },
): string {
  return written.get(nodeName)?.id ?? annotationID("annotate-node", object, nodeName, family);
}

/** The two families of one node are two subjects. */
function annotationID(kind: AnnotateNode["kind"], object: ObjectRef, nodeName: string, family: IPFamily): string {
  return actionID(kind, object, family === "IPv4" ? nodeName : `${nodeName} ${family}`);
}

function familyField({ family }: AnnotationContext): Pick<AnnotateNode, "ipFamily"> {
  return family === "IPv4" ? {} : { ipFamily: family };
}

/** The annotations without what goes. What nobody named stays only beside others. */
function annotationsLeft(
  node: NodeFacts,
  left: readonly Annotated[],
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): NodeAnnotations {
  const shown = left.flatMap(({ ip, owner }) => {
    const known = owner ?? ownerOf({ ip }, context);
    return known === undefined ? [] : [{ ip, owner: known }];
  });
  const host = hostAnnotation(node, shown, byKey, context);
  return { ...annotationsFor(shown), ...(host === undefined ? {} : { host }) };
}

/**
 * What a node is to say for its host once it shows these addresses: those of them whose objects have `hostAddress: Managed`, at a provider that needs it. Of an object that may not
 * be written, or is gone, an address stays or is absent as it was; so does what nobody named. While resolvers may hand out an address that has left its name, its host keeps it. Undefined where the node says nothing for its host and need not.
 */
function hostAnnotation(
  node: NodeFacts,
  shown: readonly Required<Annotated>[],
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): string | undefined {
  const before = hostWords(node.hostAnnotation);
  const wished = shown.flatMap(({ ip, owner }) => {
    const view = byKey.get(owner);
    const isWished = view === undefined || !isWritable(view) ? before.includes(ip) : view.hosts === "Managed";
    return isWished ? [ip] : [];
  });
  const left = new Set([...annotatedOn(node), ...shown].map(({ ip }) => ip));
  const isLeftAlone = (ip: string): boolean =>
    !left.has(ip) && (ownerByValue(ip, context) === undefined || isProtected(node, { ip }, byKey, context));
  const others = before.filter((ip) => isDrainingOn(node, ip, context) || isLeftAlone(ip));
  return hostAddressesText([...wished, ...others]) ?? (node.hostAnnotation === undefined ? undefined : "");
}

function drainsOnHosts({ views, observation: { observedAtMs: nowMs } }: AnnotationFacts): HostDrains {
  const managed = views.filter(({ hosts }) => hosts === "Managed");
  return new Map(
    managed.flatMap(({ drains, provider, placeOf }) =>
      [...(drains ?? [])].flatMap(([ip, { untilMs }]): (readonly [string, string | undefined])[] => {
        if (untilMs <= nowMs) return [];
        const fact = provider?.addresses.get(ip);
        if (fact?.kind !== "known") return [[ip, undefined]];
        const { holderID } = fact.address;
        const nodeName = holderID === undefined ? undefined : placeOf(holderID).nodeName;
        return nodeName === undefined ? [] : [[ip, nodeName]];
      }),
    ),
  );
}

function isDrainingOn(node: NodeFacts, ip: string | undefined, { drains }: AnnotationContext): boolean {
  return ip !== undefined && drains.has(ip) && (drains.get(ip) ?? node.name) === node.name;
}

/** True for the same addresses, however a person has written them. */
function isSameHost(after: string, before: string | undefined): boolean {
  return after === (hostAddressesText(hostWords(before)) ?? "");
}

/** True for an address that is on its node and is to be on its host, or no more. */
function isHostOff({ view, ip, assignmentID }: Wish, node: NodeFacts): boolean {
  return assignmentID === undefined && hostWords(node.hostAnnotation).includes(ip) !== (view.hosts === "Managed");
}

/** Clears what a node says for its host and is not to, where that is all that is wrong with it. */
function clearingHost(
  node: NodeFacts,
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): AnnotateNode | undefined {
  const shown = annotatedOn(node).flatMap(({ ip, owner = ownerOf({ ip }, context) }) =>
    owner === undefined ? [] : [{ ip, owner }],
  );
  const host = hostAnnotation(node, shown, byKey, context);
  const gone = hostWords(node.hostAnnotation).find((ip) => !hostWords(host).includes(ip));
  const object = gone === undefined ? undefined : objectOf({ ip: gone }, byKey, context);
  if (host === undefined || object === undefined) return undefined;
  const before = annotationsOf(node);
  return {
    kind: "clear-annotation",
    id: annotationID("clear-annotation", object, node.name, context.family),
    object,
    reason: "AnnotationDrift",
    requires: [],
    follows: [],
    nodeName: node.name,
    ...familyField(context),
    before,
    after: { ...before, host },
  };
}

/** The object that may clear what a node shows: the one it names, else the one that manages the value; undefined = not ours, or not in this run's scope. */
function objectOf(
  entry: Partial<Annotated>,
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): ObjectRef | undefined {
  const key = ownerOf(entry, context);
  if (key === undefined) return undefined;
  const view = byKey.get(key);
  if (view !== undefined) return isWritable(view) ? view.object : undefined;
  const ref = ownerRef(key);
  return ref !== undefined && context.isNamespaceSelected(ref.namespace) ? ref : undefined;
}

/** The object that an annotation names for an address, else the one that manages the address, as `ownerKey` names it. */
function ownerOf({ ip, owner }: Partial<Annotated>, context: AnnotationContext): string | undefined {
  return owner ?? (ip === undefined ? undefined : ownerByValue(ip, context));
}

function ownerByValue(ip: string, { claims, views }: AnnotationContext): string | undefined {
  const remembers = views.find(
    ({ pool: { status } }) => Object.hasOwn(status.ips, ip) || status.released.some((released) => released.ip === ip),
  );
  return claims.ownerOf(ip) ?? remembers?.key;
}

/**
 * An annotation stays while what it says may still be true: its address cannot be read, or is being worked on. So does that of an object that may not be written. What another
 * object wrote before that one got the address goes once the address has left the node.
 */
function isProtected(
  node: NodeFacts,
  { ip, owner }: Partial<Annotated>,
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): boolean {
  if (ip === undefined) return false;
  const managing = byKey.get(context.claims.ownerOf(ip) ?? "");
  if (managing !== undefined && !isWritable(managing))
    return owner === undefined || owner === managing.key || !isElsewhere(ip, node, byKey.get(owner) ?? managing);
  const standing = managing?.managed.find((address) => address.ip === ip)?.standing;
  if (standing?.kind === "busy") return standing.holder?.nodeName === node.name;
  if (standing !== undefined) return standing.kind === "gap";
  const facts = [...context.observation.providers.values()].map((provider) => provider.addresses.get(ip));
  return facts.some((fact) => fact?.kind === "gap");
}

/** True for an address that is known not to be on the machine of a node. */
function isElsewhere(ip: string, { providerID }: NodeFacts, { provider, machineOf }: PoolView): boolean {
  const fact = provider?.addresses.get(ip);
  return fact?.kind === "known" && fact.address.holderID !== machineOf(providerID);
}
