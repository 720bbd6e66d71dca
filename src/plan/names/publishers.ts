import { type ObjectRef, refKey } from "../../model/action.ts";
import { unreachableWhy } from "../../model/address.ts";
import { type Annotated, annotatedBy, marksOf } from "../../model/annotated.ts";
import { canonicalZone } from "../../model/dns.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Observation } from "../../model/observation.ts";
import type { Obstacle } from "../../model/plan.ts";
import {
  annotatedFamily,
  memoryOf,
  RECORD_TYPES,
  type RecordType,
  recordTypeOf,
  setNamed,
  setText,
} from "../../model/record-types.ts";
import { remembered } from "../../model/remembered.ts";
import {
  DEFAULT_FOREIGN_RECORDS,
  type DNSMemory,
  type ForeignRecordsPolicy,
  ipFamilyOf,
  managedIPs,
  type ObjectMeta,
  type Pool,
  type ReclaimPolicy,
  type RecordSet,
} from "../../model/resource.ts";
import { suspensionOf } from "../../model/suspension.ts";
import type { HeldWishes } from "../grants.ts";
import type { NothingSelected } from "../holds.ts";
import { isWritable, type PoolView } from "../pool-view.ts";
import { Retries } from "../retries.ts";
import type { ServedAddresses, VerifiedAddresses } from "../serving.ts";
import type { Validation } from "../validate.ts";
import { type DNSWish, type NameTarget, nameTarget, poolWish, recordSetWish } from "./name-target.ts";

const NOT_OWN: ReadonlySet<PoolView["managed"][number]["standing"]["kind"]> = new Set(["foreign", "ungranted"]);

/** A pool as DNS sees it. Pure. */
export function poolPublisher(view: PoolView, observation: Pick<Observation, "dns" | "registry">): Publisher {
  const { meta, spec, status } = view.pool;
  const wish = poolWish(view.pool, observation.registry);
  const own = new Set(view.managed.flatMap(({ ip, standing }) => (NOT_OWN.has(standing.kind) ? [] : [ip])));
  return {
    ref: view.object,
    recordType: poolType(view),
    meta,
    wish,
    memory: status,
    retries: view.retries,
    reclaimPolicy: spec.reclaimPolicy,
    whenEmpty: "Keep",
    isWritable: isWritable(view),
    ...mayPublish(view.validation, view.suspended !== undefined),
    foreignRecords: policyOf(wish),
    isAdoptWritten: spec.dnsRecordSet?.foreignRecords === "Adopt",
    managed: view.managed.map(({ ip }) => ip),
    isReserved: false,
    recognizes: (ip) => own.has(ip),
    givenBack:
      meta.isDeleting && spec.reclaimPolicy === "Delete"
        ? view.managed.flatMap(({ ip, acquired }) => (acquired?.isAdopted === false ? [ip] : []))
        : [],
    ...grantedTarget(wish, status, view.held.name, observation),
  };
}

/**
 * The name that may be published under. Where the one that the object asks for is not granted, that is the one it published last: nothing that serves is taken away,
 * and it follows the addresses as before.
 */
function grantedTarget(
  wish: DNSWish,
  { publishedDNS: last }: DNSMemory,
  why: Obstacle | undefined,
  { dns, registry }: Pick<Observation, "dns" | "registry">,
): Pick<Publisher, "target" | "withheld"> {
  const target = nameTarget(wish, dns);
  if (why === undefined || wish.kind !== "named" || target.kind === "none") return { target };
  const withheld = { fqdn: target.name?.fqdn ?? wish.recordName, why };
  if (last === undefined)
    return { target: { kind: "blocked", cause: "ungranted", detail: why.detail, needsPerson: true }, withheld };
  const zone = canonicalZone(last.zone);
  const isZoneID = registry.isZoneID(last.provider, zone);
  const before = { ...wish, provider: last.provider, zone, isZoneID, recordName: `${setNamed(last.name).fqdn}.` };
  return { target: nameTarget(before, dns), withheld };
}

/** The records of one type of a record set, as DNS sees it. Pure. */
export function recordSetPublisher(
  recordSet: RecordSet,
  recordType: RecordType,
  judged: { readonly validation: Validation; readonly isSelected: boolean; readonly held: HeldWishes },
  observation: Observation,
): Publisher {
  const { validation, isSelected, held } = judged;
  const { registry, settling, observedAtMs, lease, nodes, pools } = observation;
  const { meta, spec, status } = recordSet;
  const memory = memoryOf(status, recordType);
  const ref: ObjectRef = { kind: "dns", namespace: meta.namespace, name: meta.name };
  const settlesAtMs = settling?.get(refKey(ref));
  const wish = recordSetWish(recordSet, registry, recordType);
  const may = mayPublish(validation, suspensionOf(recordSet, lease.suspension, observedAtMs) !== undefined);
  return {
    ref,
    recordType,
    meta,
    wish,
    memory,
    retries: new Retries(status.retries, observedAtMs),
    reclaimPolicy: spec.reclaimPolicy,
    whenEmpty: spec.whenEmpty,
    isWritable: isSelected && may.mayPublish,
    ...may,
    foreignRecords: policyOf(wish),
    isAdoptWritten: spec.dnsRecordSet.foreignRecords === "Adopt",
    managed: [],
    isReserved: annotatedFamily(spec.addressType) !== undefined,
    recognizes: (ip) => nodes.some((node) => nodeHas(node, spec.addressType, ip)) || isPooled(pools, ip),
    givenBack: [],
    ...(settlesAtMs === undefined ? {} : { settlesAtMs }),
    ...grantedTarget(wish, memory, held.name, observation),
  };
}

function mayPublish(validation: Validation, isSuspended: boolean): Pick<Publisher, "mayPublish" | "isHindered"> {
  const isHindered = validation.kind === "blocked" && validation.isRefused === true && !isSuspended;
  return {
    mayPublish: validation.kind === "valid" && !isSuspended,
    ...(isHindered ? { isHindered } : {}),
  };
}

/** Where no name is asked for, nothing is left to others but what status has marked. */
function policyOf(wish: DNSWish): ForeignRecordsPolicy {
  return wish.kind === "named" ? wish.foreignRecords : DEFAULT_FOREIGN_RECORDS;
}

/** True for an address that a record set publishes for this node while it matches. */
function nodeHas(node: NodeFacts, addressType: string, ip: string): boolean {
  const family = annotatedFamily(addressType);
  if (family !== undefined) return annotatedBy(marksOf(node, family)).some((shown) => shown.ip === ip);
  return node.addresses.some(({ type, address }) => type === addressType && address === ip);
}

/** True for an address that some pool manages: whichever node it is on, it is this cluster's. */
function isPooled(pools: readonly Pool[], ip: string): boolean {
  return pools.some((pool) => managedIPs(pool).includes(ip));
}

/** An object that publishes addresses under a name, or once did: a pool or a record set, as DNS sees it. */
export interface Publisher {
  readonly ref: ObjectRef;
  /** Which of its records this is about: those of another type are another publisher of the same object. */
  readonly recordType: RecordType;
  readonly meta: ObjectMeta;
  readonly wish: DNSWish;
  readonly memory: DNSMemory & { readonly observedGeneration?: number };
  readonly retries: Retries;
  readonly reclaimPolicy: ReclaimPolicy;
  readonly whenEmpty: "Keep" | "Delete";
  /** False when this run may not write for it, or nothing may be changed for it: not selected, suspended, invalid. */
  readonly isWritable: boolean;
  /** False when no run publishes anything for it, as it is now: suspended, invalid, or without a list that the API server refuses. */
  readonly mayPublish: boolean;
  /** Set where it publishes as soon as the API server answers a list that it refuses now. */
  readonly isHindered?: true;
  readonly foreignRecords: ForeignRecordsPolicy;
  /** True where the spec has `foreignRecords: Adopt` written out: then the object takes the name whoever has it. */
  readonly isAdoptWritten: boolean;
  /** Addresses it manages, also those that another object has as yet; empty for a record set. */
  readonly managed: readonly string[];
  /** True where it publishes addresses of pools and nothing else. */
  readonly isReserved: boolean;
  /** True for a node whose address it publishes; absent where it does not publish addresses of nodes. */
  readonly showsNode?: (nodeName: string) => boolean;
  /** True for an address that is the object's whatever is on record: one that it manages and that no machine outside the cluster has, or one of a node of this cluster. */
  readonly recognizes: (ip: string) => boolean;
  /** Those of them that are given back to the provider with it. */
  readonly givenBack: readonly string[];
  /** When its records may follow addresses that are just changing, milliseconds; absent = now. */
  readonly settlesAtMs?: number;
  /** Set where a record set asks for what nobody has: its nodes may serve all the same. */
  readonly selectsNothing?: NothingSelected;
  /** Where its records are, as far as was read; another object may own them. */
  readonly target: NameTarget;
  /** Set where the object asks for a name that is not granted: the name, and why. */
  readonly withheld?: { readonly fqdn: string; readonly why: Obstacle };
}

/** The key of a publisher, over all objects and types of records. Pure. */
export function publisherKey({ ref, recordType }: Pick<Publisher, "ref" | "recordType">): string {
  return setText({ fqdn: refKey(ref), type: recordType });
}

/** The key of the one publisher that a pool is. Pure. */
export function poolKey(view: Pick<PoolView, "object" | "pool">): string {
  return publisherKey({ ref: view.object, recordType: poolType(view) });
}

/** The type of a pool's records: its addresses are of one family. */
function poolType({ pool }: Pick<PoolView, "pool">): RecordType {
  return recordTypeOf(ipFamilyOf(pool.spec));
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
 * The addresses a node offers for records of a type. Of the annotation, values that pools manage count as confirmed in this very pass, wherever the annotation
 * still stands; others are taken as written. Pure.
 */
export function nodeAddresses(
  node: NodeFacts,
  addressType: string,
  recordType: RecordType,
  verified: VerifiedAddresses,
): readonly NodeAddress[] {
  const annotated = annotatedFamily(addressType);
  if (annotated === undefined) return typedAddresses(node, addressType, recordType);
  const { canonical, family } = RECORD_TYPES[recordType];
  if (annotated !== family) return [];
  const isOwn = ({ ip }: { readonly ip: string }): boolean => canonical(ip) === ip;
  const confirmed = (verified.byNode.get(node.name) ?? []).filter(isOwn).map(({ ip, after }) => ({
    address: ip,
    isUndecided: false,
    after,
  }));
  // A node that was replaced under its name is not where the address was.
  const undecided = verified.undecided
    .filter(isOwn)
    .filter(({ nodeName, providerID = node.providerID }) => nodeName === node.name && providerID === node.providerID)
    .map(({ ip }) => ({ address: ip, isUndecided: true, after: [] }));
  const written = annotatedBy(marksOf(node, annotated)).flatMap((shown) => asWritten(shown, canonical, verified));
  return [...written, ...undecided, ...confirmed];
}

/** Returns what a record set publishes where all depends on the nodes' own addresses: what {@link recordSetAddresses} makes of its matches. The same value for the same list. Pure. */
export const ownNodeAddresses: (
  matches: readonly NodeFacts[],
  addressType: string,
  recordType: RecordType,
) => ServedAddresses = remembered((matches, addressType, recordType) =>
  recordSetAddresses(
    matches.map((node) => typedAddresses(node, addressType, recordType)),
    [],
  ),
);

function typedAddresses(node: NodeFacts, addressType: string, recordType: RecordType): readonly NodeAddress[] {
  const { canonical } = RECORD_TYPES[recordType];
  return node.addresses.flatMap(({ type, address: written }) => {
    const address = type === addressType ? canonical(written) : undefined;
    const isReachable = address !== undefined && unreachableWhy(address) === undefined;
    return isReachable ? [{ address, isUndecided: false, after: [] }] : [];
  });
}

/** A value beside which flipop wrote a pool's name is no stranger's: one that its pool does not know any more is about to be cleared. */
function asWritten(
  { ip, owner }: Annotated,
  canonical: (typeof RECORD_TYPES)[RecordType]["canonical"],
  { byIP, pools }: VerifiedAddresses,
): readonly NodeAddress[] {
  // A person may have written it in another form.
  if (canonical(ip) !== ip || unreachableWhy(ip) !== undefined) return [];
  const fact = byIP.get(ip);
  if (fact === undefined && owner !== undefined)
    return pools.has(owner) ? [] : [{ address: ip, isUndecided: true, after: [] }];
  const isUndecided = fact?.kind === "undecided";
  return fact === undefined || isUndecided ? [{ address: ip, isUndecided, after: [] }] : [];
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
