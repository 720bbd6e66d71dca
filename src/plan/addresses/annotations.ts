import {
  type AnnotateNode,
  type AssignIP,
  actionID,
  type NodeAnnotations,
  type ObjectRef,
  type Place,
} from "../../model/action.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Observation } from "../../model/observation.ts";
import type { Hold } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import { ownerKey, ownerRef } from "../../model/resource.ts";
import { hold } from "../holds.ts";
import { isWritable, type PoolView } from "../pool-view.ts";
import type { Claims } from "./claims.ts";

/** What the annotations of the nodes depend on, beside the nodes. */
interface AnnotationContext {
  readonly observation: Observation;
  readonly views: readonly PoolView[];
  readonly claims: Claims;
  /** Assignments of this plan; their nodes are annotated once they are verified. */
  readonly assignments: readonly AssignIP[];
  /** Addresses that cannot be taken out of DNS in this pass. */
  readonly stillPublished: ReadonlyMap<string, string>;
  /** Whether the run may write for an object that no longer exists. */
  readonly isNamespaceSelected: (namespace: string) => boolean;
}

interface Wish {
  readonly view: PoolView;
  readonly ip: string;
  readonly assignmentID?: string;
}

/**
 * Repairs the annotations: written on the verified holder of an address in use, removed from every other node that carries an address of ours. Left
 * alone: what concerns an address that cannot be read or is being worked on, objects that may not be written, and values nobody named.
 */
export function planAnnotations(context: AnnotationContext): {
  readonly actions: readonly AnnotateNode[];
  readonly holds: readonly Hold[];
} {
  const wishes = wishesByNode(context);
  const byKey = new Map(context.views.map((view) => [view.key, view]));
  const actions: AnnotateNode[] = [];
  const holds: Hold[] = [];
  for (const node of context.observation.nodes) {
    const wish = wishes.get(node.name);
    if (wish === undefined && node.addressAnnotation === undefined && node.poolAnnotation === undefined) continue;
    const action = wish === undefined ? clearing(node, byKey, context) : writing(node, wish);
    if (action === undefined) continue;
    // Annotation writes of an object wait after a failure, all together: it is a matter of permission, not of one node.
    const why = byKey.get(ownerKey(action.object))?.retries.obstacle("annotate");
    if (why === undefined) actions.push(action);
    else holds.push(hold(action.kind, action.object, action.nodeName, why));
  }
  return { actions, holds };
}

/**
 * What each node's annotation is to show. A machine may have addresses of several objects, and the annotation has room for one: that which it shows stays, else the first
 * that is there, else the first that comes.
 */
function wishesByNode({ views, assignments, observation }: AnnotationContext): ReadonlyMap<string, Wish> {
  const wishes = new Map<string, Wish>();
  const shown = new Map(observation.nodes.map(({ name, addressAnnotation }) => [name, addressAnnotation]));
  const byKey = new Map(views.map((view) => [view.key, view]));
  for (const { nodeName, wish } of views.filter(isWritable).flatMap(placedOf))
    if (!wishes.has(nodeName) || shown.get(nodeName) === wish.ip) wishes.set(nodeName, wish);
  for (const { id, ip, after, object } of assignments) {
    const view = byKey.get(ownerKey(object));
    if (view !== undefined && !wishes.has(after.nodeName)) wishes.set(after.nodeName, { view, ip, assignmentID: id });
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

function writing(node: NodeFacts, { view, ip, assignmentID }: Wish): AnnotateNode | undefined {
  if (node.addressAnnotation === ip && node.poolAnnotation === view.key) return undefined;
  return {
    kind: "annotate-node",
    id: actionID("annotate-node", view.object, node.name),
    object: view.object,
    reason: assignmentID === undefined && node.addressAnnotation !== undefined ? "AnnotationDrift" : "Verified",
    requires: assignmentID === undefined ? [] : [assignmentID],
    follows: [],
    nodeName: node.name,
    before: annotationsOf(node),
    after: { address: ip, pool: view.key },
  };
}

function annotationsOf(node: NodeFacts): NodeAnnotations {
  return { address: node.addressAnnotation, pool: node.poolAnnotation };
}

function clearing(
  node: NodeFacts,
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): AnnotateNode | undefined {
  const object = ownerOfAnnotation(node, byKey, context);
  if (object === undefined || isProtected(node, byKey, context)) return undefined;
  const view = byKey.get(ownerKey(object));
  const { reason, isGivenUp, holder } = causeOfClearing(node, view);
  const isAlive = view?.pool.meta.isDeleting === false;
  // What its object gives up leaves DNS first; an address that no longer serves is another matter.
  if (isGivenUp && context.stillPublished.has(node.addressAnnotation ?? "")) return undefined;
  const mover = context.assignments.find(({ ip }) => ip === node.addressAnnotation);
  return {
    kind: "clear-annotation",
    id: actionID("clear-annotation", object, node.name),
    object,
    reason,
    requires: mover === undefined ? [] : [mover.id],
    follows: mover === undefined ? [] : [actionID("annotate-node", mover.object, mover.after.nodeName)],
    nodeName: node.name,
    before: annotationsOf(node),
    after: { address: undefined, pool: undefined },
    ...(holder === undefined ? {} : { holder }),
    ...(isGivenUp && isAlive ? { isGivenUp } : {}),
  };
}

/** Why a node no longer carries what its annotation says, and whether its object gives the address up. */
interface CauseOfClearing {
  readonly reason: Reason;
  readonly isGivenUp: boolean;
  /** Where the address is, on a machine that never was a node. */
  readonly holder?: Place;
}

/** As far as its object knows. */
function causeOfClearing(node: NodeFacts, view: PoolView | undefined): CauseOfClearing {
  if (view === undefined || view.pool.meta.isDeleting) return { reason: "PoolDeleted", isGivenUp: true };
  const ip = node.addressAnnotation ?? "";
  const standing = view.managed.find((address) => address.ip === ip)?.standing;
  if (standing === undefined) return { reason: "NotManaged", isGivenUp: true };
  switch (standing.kind) {
    case "blocked":
      return { reason: "IPBlocked", isGivenUp: false };
    case "gone":
      return { reason: "IPNotFound", isGivenUp: false };
    case "foreign":
      return { reason: "ForeignHolder", isGivenUp: false, holder: standing.holder };
    case "conflict":
      return { reason: "Conflict", isGivenUp: true };
    case "ungranted":
      return { reason: standing.why.reason, isGivenUp: true };
    case "placed":
    case "free":
    case "busy":
    case "gap":
      if (!view.inUse.has(ip)) return { reason: "AboveDesired", isGivenUp: true };
      return standing.kind === "free" && standing.from?.nodeName === node.name
        ? { reason: "HolderLost", isGivenUp: false }
        : { reason: "AnnotationDrift", isGivenUp: false };
  }
}

/** The object that may clear a node's annotation: the one it names, else the one that manages the value; undefined = not ours, or not in this run's scope. */
function ownerOfAnnotation(
  node: NodeFacts,
  byKey: ReadonlyMap<string, PoolView>,
  context: AnnotationContext,
): ObjectRef | undefined {
  const { addressAnnotation, poolAnnotation } = node;
  const key =
    poolAnnotation ?? (addressAnnotation === undefined ? undefined : ownerByValue(addressAnnotation, context));
  if (key === undefined) return undefined;
  const view = byKey.get(key);
  if (view !== undefined) return isWritable(view) ? view.object : undefined;
  const ref = ownerRef(key);
  return ref !== undefined && context.isNamespaceSelected(ref.namespace) ? ref : undefined;
}

function ownerByValue(ip: string, { claims, views }: AnnotationContext): string | undefined {
  const remembers = views.find(
    (view) => Object.hasOwn(view.pool.status.ips, ip) || view.released.some((released) => released.ip === ip),
  );
  return claims.ownerOf(ip) ?? remembers?.key;
}

/** An annotation stays while what it says may still be true: its address cannot be read, or is being worked on. */
function isProtected(node: NodeFacts, byKey: ReadonlyMap<string, PoolView>, context: AnnotationContext): boolean {
  const ip = node.addressAnnotation;
  if (ip === undefined) return false;
  const managing = byKey.get(context.claims.ownerOf(ip) ?? "");
  if (managing !== undefined && !isWritable(managing)) return true;
  const standing = managing?.managed.find((address) => address.ip === ip)?.standing;
  if (standing?.kind === "busy") return standing.holder?.nodeName === node.name;
  if (standing !== undefined) return standing.kind === "gap";
  const facts = [...context.observation.providers.values()].map((provider) => provider.addresses.get(ip));
  return facts.some((fact) => fact?.kind === "gap");
}
