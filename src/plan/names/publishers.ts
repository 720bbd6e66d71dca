import type { ObjectRef } from "../../model/action.ts";
import { canonicalIPv4 } from "../../model/address.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Observation } from "../../model/observation.ts";
import {
  ADDRESS_ANNOTATION,
  type DNSMemory,
  type ObjectMeta,
  objectKey,
  type ReclaimPolicy,
  type RecordSet,
} from "../../model/resource.ts";
import { suspensionOf } from "../../model/suspension.ts";
import { isWritable, type PoolView } from "../pool-view.ts";
import { Retries } from "../retries.ts";
import type { VerifiedAddresses } from "../serving.ts";
import type { Validation } from "../validate.ts";
import { type DNSWish, type NameTarget, nameTarget, poolWish, recordSetWish } from "./name-target.ts";

/** A pool as DNS sees it. Pure. */
export function poolPublisher(view: PoolView, { dns, registry }: Pick<Observation, "dns" | "registry">): Publisher {
  const { meta, spec, status } = view.pool;
  const wish = poolWish(view.pool, registry);
  return {
    ref: view.object,
    meta,
    wish,
    memory: status,
    retries: view.retries,
    reclaimPolicy: spec.reclaimPolicy,
    whenEmpty: "Keep",
    isWritable: isWritable(view),
    mayPublish: view.validation.kind === "valid" && view.suspended === undefined,
    managed: view.managed.map(({ ip }) => ip),
    givenBack:
      meta.isDeleting && spec.reclaimPolicy === "Delete"
        ? view.managed.flatMap(({ ip, acquired }) => (acquired?.isAdopted === false ? [ip] : []))
        : [],
    target: nameTarget(wish, dns),
  };
}

/** A record set as DNS sees it. Pure. */
export function recordSetPublisher(
  recordSet: RecordSet,
  validation: Validation,
  isSelected: boolean,
  {
    dns,
    registry,
    settling,
    observedAtMs,
    lease,
  }: Pick<Observation, "dns" | "registry" | "settling" | "observedAtMs" | "lease">,
): Publisher {
  const { meta, spec, status } = recordSet;
  const settlesAtMs = settling?.get(objectKey(meta));
  const ref: ObjectRef = { kind: "dns", namespace: meta.namespace, name: meta.name };
  const wish = recordSetWish(recordSet, registry);
  const mayPublish =
    validation.kind === "valid" && suspensionOf(recordSet, lease.suspension, observedAtMs) === undefined;
  return {
    ref,
    meta,
    wish,
    memory: status,
    retries: new Retries(status.retries, observedAtMs),
    reclaimPolicy: spec.reclaimPolicy,
    whenEmpty: spec.whenEmpty,
    isWritable: isSelected && mayPublish,
    mayPublish,
    managed: [],
    givenBack: [],
    ...(settlesAtMs === undefined ? {} : { settlesAtMs }),
    target: nameTarget(wish, dns),
  };
}

/** An object that publishes addresses under a name, or once did: a pool or a record set, as DNS sees it. */
export interface Publisher {
  readonly ref: ObjectRef;
  readonly meta: ObjectMeta;
  readonly wish: DNSWish;
  readonly memory: DNSMemory;
  readonly retries: Retries;
  readonly reclaimPolicy: ReclaimPolicy;
  readonly whenEmpty: "Keep" | "Delete";
  /** False when this run may not write for it, or nothing may be changed for it: not selected, suspended, invalid. */
  readonly isWritable: boolean;
  /** False when no run publishes anything for it, as it is now: suspended, invalid. */
  readonly mayPublish: boolean;
  /** Addresses it manages, also those that another object has as yet; empty for a record set. */
  readonly managed: readonly string[];
  /** Those of them that are given back to the provider with it. */
  readonly givenBack: readonly string[];
  /** When its records may follow addresses that are just changing, milliseconds; absent = now. */
  readonly settlesAtMs?: number;
  /** Where its records are, as far as was read; another object may own them. */
  readonly target: NameTarget;
}

/** The addresses an object has to publish. */
export interface ServedAddresses {
  /** Address → ids of the actions of this plan that must have succeeded first; none when it serves already. */
  readonly serving: ReadonlyMap<string, readonly string[]>;
  /** Neither added nor removed: could not be read, or on its way. */
  readonly undecided: ReadonlySet<string>;
}

/** True while an object's records wait for nodes that are just changing, whatever the records should be. Pure. */
export function isDebouncing({ settlesAtMs }: Publisher, nowMs: number): boolean {
  return settlesAtMs !== undefined && settlesAtMs > nowMs;
}

/** An address of one node, and whether it serves there. */
export interface NodeAddress {
  readonly address: string;
  readonly isUndecided: boolean;
  /** Ids of the actions that must have succeeded first. */
  readonly after: readonly string[];
}

/**
 * The IPv4 addresses a node offers for publication. Of the annotation, values that pools manage count as confirmed in this very pass, wherever the annotation
 * still stands; others are taken as written. Pure.
 */
export function nodeAddresses(
  node: NodeFacts,
  addressType: string,
  verified: VerifiedAddresses,
): readonly NodeAddress[] {
  if (addressType !== ADDRESS_ANNOTATION) {
    return node.addresses
      .filter(({ type, address }) => type === addressType && canonicalIPv4(address) !== undefined)
      .map(({ address }) => ({ address, isUndecided: false, after: [] }));
  }
  const confirmed = (verified.byNode.get(node.name) ?? []).map(({ ip, after }) => ({
    address: ip,
    isUndecided: false,
    after,
  }));
  // A node that was replaced under its name is not where the address was.
  const undecided = verified.undecided
    .filter(({ nodeName, providerID = node.providerID }) => nodeName === node.name && providerID === node.providerID)
    .map(({ ip }) => ({ address: ip, isUndecided: true, after: [] }));
  return [...asWritten(node, verified), ...undecided, ...confirmed];
}

/** A value beside which flipop wrote a pool's name is no stranger's: one that its pool does not know any more is about to be cleared. */
function asWritten(
  { addressAnnotation, poolAnnotation }: NodeFacts,
  { byIP, pools }: VerifiedAddresses,
): readonly NodeAddress[] {
  if (addressAnnotation === undefined || canonicalIPv4(addressAnnotation) === undefined) return [];
  const fact = byIP.get(addressAnnotation);
  if (fact === undefined && poolAnnotation !== undefined)
    return pools.has(poolAnnotation) ? [] : [{ address: addressAnnotation, isUndecided: true, after: [] }];
  const isUndecided = fact?.kind === "undecided";
  return fact === undefined || isUndecided ? [{ address: addressAnnotation, isUndecided, after: [] }] : [];
}

/** What a record set publishes: the addresses of its matches; those of nodes in grace stay as they are. Pure. */
export function recordSetAddresses(
  matches: readonly (readonly NodeAddress[])[],
  graced: readonly (readonly NodeAddress[])[],
): ServedAddresses {
  const serving = new Map<string, readonly string[]>();
  const undecided = new Set(graced.flat().map(({ address }) => address));
  for (const { address, isUndecided, after } of matches.flat()) {
    if (isUndecided) undecided.add(address);
    else if (!serving.has(address) || after.length === 0) serving.set(address, after);
  }
  return { serving, undecided };
}
