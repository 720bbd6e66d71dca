import type { AcquisitionNote } from "./acquisition-memory.ts";
import type { ObjectRef } from "./action.ts";
import { type AcquiredIP, CANONICAL, canonicalAddress, type PendingAcquisition, type ReleasedIP } from "./address.ts";
import { type IPFamily, sourceNamed } from "./address-source.ts";
import type { Approval, ApprovalPolicy } from "./approval.ts";
import type { FirewallMemory, FirewallWish, PendingFirewall } from "./firewall.ts";
import type { Suspension } from "./suspension.ts";

/** API group, version and names of flipop's custom resources, as on the wire. */
export const GROUP = "flipop.digitalocean.com";
/** The one served version of the group. */
export const VERSION = "v1alpha1";
/** Finalizer set on an object only while `reclaimPolicy: Delete` has work. */
export const FINALIZER = "flipop.digitalocean.com/cleanup";
/**
 * Pool annotation: what was acquired for it, a second time beside its status, so that nothing is bought twice when that is lost. The pool's uid, the addresses, and
 * `pending=PLACE` for each acquisition without an answer, with blanks between them; without the right uid it is a copy from another object and means nothing.
 */
export const ACQUIRED_ANNOTATION = "flipop.digitalocean.com/acquired";

/** The identity of a namespaced object and the facts that order objects among themselves. */
export interface ObjectMeta {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Milliseconds since the epoch; 0 when the API did not say. */
  readonly createdAtMs: number;
  /** True once the API server has accepted a delete and finalizers keep the object alive. */
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** What {@link ACQUIRED_ANNOTATION} says; absent where it says nothing, or that of another object. */
  readonly note?: AcquisitionNote;
  /** What its annotation says of standing still; absent where it has none. It may be over. */
  readonly suspension?: Suspension;
  /** What a person has let it take from somebody, by its annotation; absent where it has none. It may be over. */
  readonly approval?: Approval;
}

/** One Kubernetes toleration, with the defaults of the API left out. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** `spec.match`: which nodes an object wants. Empty strings mean "not restricted". */
export interface MatchSpec {
  readonly nodeLabel: string;
  readonly podNamespace: string;
  readonly podLabel: string;
  readonly tolerations: readonly Toleration[];
}

/** `spec.dnsRecordSet` of a pool or a record set. */
export interface DNSRecordSetSpec {
  /** `""` where a record set names its provider in `spec.provider`, or nowhere. */
  readonly provider: string;
  readonly zone: string;
  readonly recordName: string;
  readonly ttlSeconds: number;
  /** As written: what becomes of records that flipop did not write. Absent = {@link DEFAULT_FOREIGN_RECORDS}. */
  readonly foreignRecords?: string;
}

/**
 * What becomes of foreign records: those at the object's name that flipop did not write.
 *
 *   Adopt   they are replaced
 *   Hold    they stay, and a person is told; where no record of the object stands beside them, none is added
 *   Share   they stay: another cluster publishes its addresses under the same name
 */
export const FOREIGN_RECORDS = ["Adopt", "Hold", "Share"] as const;
/** One of {@link FOREIGN_RECORDS}. */
export type ForeignRecordsPolicy = (typeof FOREIGN_RECORDS)[number];
/** As the Go operator does it. */
export const DEFAULT_FOREIGN_RECORDS: ForeignRecordsPolicy = "Adopt";

/** What happens to what flipop made itself, once it is surplus or its object is deleted. */
export type ReclaimPolicy = "Retain" | "Delete";

/** What happens to an address found on a droplet that never was a node of this cluster. */
export type ForeignHolderPolicy = "Hold" | "TakeOver";

/** `spec.maxUnavailable`: a number of addresses, or a share of them. */
export type MaxUnavailable = { readonly count: number } | { readonly percent: number };

/** What `spec.maxUnavailable` means where it is absent. */
export const DEFAULT_MAX_UNAVAILABLE: MaxUnavailable = { percent: 25 };

/** Who puts an object's addresses on the systems of their nodes: nobody or something else, or `flipop host`. */
export const HOST_ADDRESS = ["External", "Managed"] as const;
/** One of {@link HOST_ADDRESS}. */
export type HostAddressPolicy = (typeof HOST_ADDRESS)[number];

/** What `spec.maxPerNode` means where it is absent. */
export const DEFAULT_MAX_PER_NODE = 1;

/** `spec` of a FloatingIPPool after defaulting; `""`, 0 and absent are the same for inherited fields. */
export interface PoolSpec {
  /** The source of its addresses, as `sourceText` names it: `digitalocean`, `digitalocean IPv6`. */
  readonly provider: string;
  readonly region: string;
  /** In order; entries are checked by the planner, one by one. As written, apart from IPv6 addresses of a source of those: they are canonical. */
  readonly ips: readonly string[];
  /** 0 = all of `ips`. */
  readonly desiredIPs: number;
  readonly assignmentCoolOffSeconds: number;
  readonly gracePeriodSeconds: number;
  /** How many serving addresses may be on their way at once because their nodes match no longer; absent = {@link DEFAULT_MAX_UNAVAILABLE}. */
  readonly maxUnavailable?: MaxUnavailable;
  /** How much longer than the TTL of its records an address stays once it has left DNS, seconds; absent = 0. */
  readonly drainSeconds?: number;
  /** How many addresses a node may have that has one of the pool; absent = {@link DEFAULT_MAX_PER_NODE}. */
  readonly maxPerNode?: number;
  /** Absent = `External`. */
  readonly hostAddress?: HostAddressPolicy;
  readonly match: MatchSpec;
  readonly dnsRecordSet?: DNSRecordSetSpec;
  readonly reclaimPolicy: ReclaimPolicy;
  readonly foreignHolder: ForeignHolderPolicy;
  readonly suspend: boolean;
  /** Absent = `None`. */
  readonly approval?: ApprovalPolicy;
}

/** Returns the one family of an object's addresses. Pure. */
export function ipFamilyOf({ provider }: Pick<PoolSpec, "provider">): IPFamily {
  return sourceNamed(provider).family;
}

/** A FloatingIPPool, or a RoutedIP as a pool of one address: identity, defaulted spec and the status another run left. */
export interface Pool {
  readonly kind: "pool" | "routedip";
  readonly meta: ObjectMeta;
  readonly spec: PoolSpec;
  /** Of a FloatingIPPool a {@link PoolStatus}. */
  readonly status: RoutedIPStatus;
  /** The Service without selector whose endpoints stand in for the pods of `match`. */
  readonly endpoints?: { readonly namespace: string; readonly name: string };
  /** Addresses that status lacks and an annotation of the object tells of, which whoever may edit the object can write. Absent = none. */
  readonly restored?: readonly string[];
  /** The cloud firewall to keep in step; absent = none. */
  readonly firewall?: FirewallWish;
  /**
   * What its issuer says now of cleaning up, at the provider of what was acquired as long as there is any; absent for a FloatingIPPool, and while there is no such issuer.
   */
  readonly issuer?: IssuerMemory;
  /** The name of its issuer; absent for a FloatingIPPool. */
  readonly issuerName?: string;
  /** Set when part of the object is not of the expected type (an older CRD let it in): the path and what is wrong. */
  readonly decodeError?: string;
}

/** `spec` of a NodeDNSRecordSet after defaulting. */
export interface RecordSetSpec {
  /** `""` = as `dnsRecordSet.provider` says. */
  readonly provider: string;
  readonly dnsRecordSet: DNSRecordSetSpec;
  /** As written; which node addresses are published. */
  readonly addressType: string;
  /** As written: the families of the addresses that are published. Absent = IPv4 alone. */
  readonly ipFamilies?: readonly string[];
  readonly gracePeriodSeconds: number;
  readonly match: MatchSpec;
  readonly whenEmpty: "Keep" | "Delete";
  readonly reclaimPolicy: ReclaimPolicy;
  readonly suspend: boolean;
  /** Absent = `None`. */
  readonly approval?: ApprovalPolicy;
}

/** A NodeDNSRecordSet: identity, defaulted spec and the status another run left. */
export interface RecordSet {
  readonly meta: ObjectMeta;
  readonly spec: RecordSetSpec;
  readonly status: RecordSetStatus;
  /** Set when part of the object is not of the expected type (an older CRD let it in): the path and what is wrong. */
  readonly decodeError?: string;
}

/** A name whose records flipop wrote. */
export interface PublishedName {
  readonly provider: string;
  /** As the object wrote it. */
  readonly zone: string;
  /** FQDN in lower case without trailing dot; with ` AAAA` behind it where its AAAA records are meant. */
  readonly name: string;
  /** The addresses its records had when last read or written, and those that are about to be written; sorted. */
  readonly addresses: readonly string[];
  /** Those of them that flipop did not write; sorted. Absent = none. */
  readonly foreign?: readonly RecordSince[];
  /** Addresses beside them that flipop wrote and did not remove, and that the last reading lacked; sorted. That reading may have been an old one. Absent = none. */
  readonly unseen?: readonly RecordSince[];
}

/** An address under a name, and since when it is as it is. */
export interface RecordSince {
  readonly address: string;
  /** RFC 3339: when a foreign one was first seen there, and one of flipop's own was first missing. */
  readonly since: string;
}

/** Returns the addresses of a remembered name that flipop wrote and that its records had. Pure. */
export function shownAddresses({ addresses, foreign = [] }: PublishedName): readonly string[] {
  return foreign.length === 0 ? addresses : addresses.filter((ip) => !foreign.some(({ address }) => address === ip));
}

/** Returns the addresses of a remembered name that flipop wrote, also those that its records may still have. Pure. */
export function ownAddresses(name: PublishedName): readonly string[] {
  const { unseen = [] } = name;
  return [...shownAddresses(name), ...unseen.map(({ address }) => address)];
}

/** Since when a published node does not match. */
export interface UnreadyNode {
  readonly nodeName: string;
  /** RFC 3339. */
  readonly since: string;
}

/** A reserved address that left a name, or that stayed in it while its TTL was lowered. */
export interface LeftAddress {
  readonly address: string;
  /** RFC 3339. Until when resolvers may hand it out for the name. */
  readonly drainingUntil: string;
}

/** What both kinds remember of DNS. */
export interface DNSMemory {
  /** The name the object has now, once its records were written or seen to be right. */
  readonly publishedDNS?: PublishedName;
  /** Names it had before, whose records still stand. Sorted by provider and name. */
  readonly formerDNS: readonly PublishedName[];
  /** What its name showed, and no object remembered when it left: its own object was gone. Also what resolvers have by a TTL that was lowered since. Sorted by address; over or not. Absent = nothing. */
  readonly leftDNS?: readonly LeftAddress[];
  /** The last fight over the name, over or not, also while it may only become one. Absent = there was none. */
  readonly fight?: NameFight;
}

/** How often somebody else changed the records of a name, and flipop put them right. Times are RFC 3339. */
export interface NameFight {
  readonly provider: string;
  /** FQDN in lower case without trailing dot. */
  readonly name: string;
  /** What flipop put there; sorted. */
  readonly addresses: readonly string[];
  /** With which TTL. With another one a fight begins anew: the spec was edited. */
  readonly ttlSeconds: number;
  /** What stood there instead, the last time; sorted. */
  readonly seen: readonly string[];
  /** When flipop put them right first. */
  readonly since: string;
  /** When it did so last; three at most, the oldest first. */
  readonly times: readonly string[];
  /** How often it did so. */
  readonly count: number;
}

/** `status` of a NodeDNSRecordSet. Every field is optional on the wire; absent means empty. */
export interface RecordSetStatus extends DNSMemory {
  readonly observedGeneration?: number;
  readonly conditions: readonly Condition[];
  readonly summary?: RecordSetSummary;
  /** The Go operator's words. */
  readonly state?: "active" | "in-progress" | "error";
  readonly error?: string;
  /** The same memory of the AAAA records. Absent = the object never asked for any. */
  readonly ipv6?: DNSMemory;
  /** Unready nodes that are published, or were and are in their grace period; sorted by name. */
  readonly unreadyNodes: readonly UnreadyNode[];
  readonly retries: readonly RetryStatus[];
}

/** `status.summary` of a record set: what `kubectl get` prints because it cannot count. flipop never reads it to decide. */
export interface RecordSetSummary {
  /** How many of the addresses to publish have a record: `2/3`. */
  readonly addresses: string;
}

/** `status.summary` of a pool: what `kubectl get` prints because it can neither count nor print a map. flipop never reads it to decide. */
export interface PoolSummary {
  /** How many addresses are known to be active, of those the pool should hold: `2/3`. */
  readonly addresses: string;
  /** The nodes that have the active addresses: `worker-1 +2` stands for three. `""` = none. */
  readonly nodes: string;
}

/** Address states, the Go operator's words. */
export type IPState = "active" | "in-progress" | "error" | "no-match" | "unassigned" | "disabled";

/**
 * What is wrong with an address.
 *
 *   conflict   another object owns it
 *   ungranted  the object's namespace is not granted it
 *   unknown    nobody can tell whether it is granted: namespaces cannot be read
 *   invalid    the entry is no address
 *   gone       the provider does not know it
 *   foreign    a machine outside the cluster has it
 *   unread     it could not be read; the other fields are as seen last
 */
export type IPFault = "conflict" | "ungranted" | "unknown" | "invalid" | "blocked" | "gone" | "foreign" | "unread";

/** `status.ips[address]`: one managed address. The first four fields are the Go operator's. */
export interface IPStatus extends Pick<ReleasedIP, "drainingUntil" | "drainsForSeconds"> {
  readonly state: IPState;
  readonly nodeName?: string;
  readonly providerID?: string;
  /**
   * The machine of a node that the address is leaving, or has left.
   *
   *   while it is `in-progress`                             where it comes from: if the move fails, it is still known as ours
   *   while it is on no machine and nothing is selected     where it was last: it shows that the object was served
   */
  readonly previousProviderID?: string;
  readonly error?: string;
  /** Why the address is in this state, from the closed list of reasons; absent while `active`. For people: see {@link IPStatus.fault}. */
  readonly reason?: string;
  /** What is wrong with it. Not stored: whoever reads a status tells it by the reason. */
  readonly fault?: IPFault;
  /** RFC 3339. When the holder was first seen not matching; absent while it matches. Read by grace. */
  readonly notMatchingSince?: string;
  /** True for an address that this object never used where it is: another one left it there. */
  readonly inherited?: boolean;
}

/** `status.retries[]`: something whose last attempt failed, and when it may be tried again. Sorted by subject. */
export interface RetryStatus {
  /** What failed: its kind, and what it is about, such as `node/worker-1/9001`. All kinds stand at the top of `retry-subject.ts`. */
  readonly subject: string;
  /** Failed attempts since the last success; at least 1. */
  readonly attempts: number;
  /** RFC 3339. */
  readonly nextAttemptTime: string;
  readonly error: string;
  /** Why only a person can end it: the last attempt lacked a permission, a rule of the cluster or the provider of a name refused it, or the cluster's CRD is too old for it. Absent = it may end by itself. */
  readonly reason?: (typeof RETRY_REASONS)[number];
}

/** Why only a person can end a retry. */
export const RETRY_REASONS = [
  "PermissionMissing",
  "AdmissionRefused",
  "RecordsRefused",
  "QuotaExceeded",
  "CRDTooOld",
] as const;

/** A Kubernetes condition. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration: number;
  /** RFC 3339; moves only when `status` moves. */
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
  /** Of Ready: true where the pass that wrote it had looked at the object's addresses. Not stored: whoever reads a status tells it by the reason. */
  readonly hasAddresses?: true;
}

/** `status` of a FloatingIPPool. Every field is optional on the wire; absent means empty. */
export interface PoolStatus extends DNSMemory {
  readonly observedGeneration?: number;
  readonly conditions: readonly Condition[];
  readonly summary?: PoolSummary;
  readonly error?: string;
  readonly ips: Readonly<Record<string, IPStatus>>;
  readonly assignableNodes: readonly string[];
  readonly nodeErrors: readonly string[];
  readonly acquired: readonly AcquiredIP[];
  readonly pendingAcquisitions: readonly PendingAcquisition[];
  readonly released: readonly ReleasedIP[];
  readonly retries: readonly RetryStatus[];
  /** RFC 3339. When the pool's last assignment was accepted. */
  readonly lastAssignmentTime?: string;
  /** How many assignments the provider ever accepted for this pool. */
  readonly assignments?: number;
}

/**
 * `status.issuer` of a RoutedIP: what its issuer last said of how to clean up after it, for the time when the issuer is gone. As long as there are acquisitions the provider is theirs,
 * whatever the issuer says.
 */
export interface IssuerMemory {
  readonly provider: string;
  readonly reclaimPolicy: ReclaimPolicy;
}

/** `status` of a RoutedIP: that of a pool of one address, and what only a RoutedIP has. */
export interface RoutedIPStatus extends PoolStatus {
  /** The address it uses; absent while it has none. */
  readonly address?: string;
  /** The node that serves it; absent while none does. */
  readonly nodeName?: string;
  /** What was added to firewalls for it. Absent = nothing. */
  readonly firewalls?: readonly FirewallMemory[];
  /** Changes of its firewall that the provider has not carried out where the address is or could go. Absent = none. */
  readonly pendingFirewalls?: readonly PendingFirewall[];
  /** What its issuer last said. */
  readonly issuer?: IssuerMemory;
}

/** `NAMESPACE/NAME`, the way an object is named in texts, annotations and claims. */
export function objectKey(meta: Pick<ObjectMeta, "namespace" | "name">): string {
  return `${meta.namespace}/${meta.name}`;
}

/** An object that can own addresses. */
type Owner = ObjectRef & { readonly kind: "pool" | "routedip" };

/** How the owner of an address is named in claims and in the annotations of nodes: `NAMESPACE/NAME` for a pool, `routedip/NAMESPACE/NAME` for a RoutedIP. */
export function ownerKey({ kind, namespace, name }: ObjectRef): string {
  return kind === "pool" ? `${namespace}/${name}` : `${kind}/${namespace}/${name}`;
}

/** The object that an owner key, as somebody may have written it into an annotation, names; undefined when it names none. */
export function ownerRef(key: string): Owner | undefined {
  const parts = key.split("/");
  const kind = parts.length === 3 && parts[0] === "routedip" ? "routedip" : "pool";
  const [namespace = "", name = "", ...rest] = kind === "routedip" ? parts.slice(1) : parts;
  return namespace === "" || name === "" || rest.length > 0 ? undefined : { kind, namespace, name };
}

/** An owner key for people: `pool shop/web`, `routed IP shop/vip`. */
export function ownerText(key: string): string {
  const ref = ownerRef(key);
  return ref?.kind === "routedip" ? `routed IP ${ref.namespace}/${ref.name}` : `pool ${key}`;
}

const LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const NAMESPACE = new RegExp(`^${LABEL}$`);
const SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** The rule of {@link isNamespaceName}, for messages. */
export const NAMESPACE_RULE = "at most 63 lower-case letters, digits and '-', with a letter or digit at both ends";

/** True if a namespace can have this name: an RFC 1123 label of at most 63 characters. */
export function isNamespaceName(text: string): boolean {
  return text.length <= 63 && NAMESPACE.test(text);
}

/** True for an RFC 1123 subdomain of at most 253 characters: the name of most objects, and the prefix of a label key. */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && SUBDOMAIN.test(text);
}

/** The longest text that {@link shownText} shows whole. */
const MOST_SHOWN = 100;

/**
 * Returns a text that somebody else wrote, for a message. Characters outside printable ASCII become `\u{a0}`, because a reader
 * cannot see a non-breaking space or tell a Cyrillic letter from a Latin one. More than 100 characters are cut, with `…`.
 */
export function shownText(text: string): string {
  const shown = text
    .slice(0, MOST_SHOWN)
    .replace(/[^\x20-\x7e]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
  return text.length > MOST_SHOWN ? `${shown}…` : shown;
}

/** Orders objects by seniority: creation time, then namespace/name. The senior one wins a claim among newcomers. */
export function bySeniority(a: { readonly meta: ObjectMeta }, b: { readonly meta: ObjectMeta }): number {
  return a.meta.createdAtMs - b.meta.createdAtMs || compareText(objectKey(a.meta), objectKey(b.meta));
}

/** Returns by which rule an owner has what another object asks for, too: `which is older`; `or` if it is not the senior one. Pure. */
export function rightText(
  owner: { readonly meta: ObjectMeta },
  other: { readonly meta: ObjectMeta },
  or: string,
): string {
  if (bySeniority(owner, other) > 0) return or;
  return owner.meta.createdAtMs === other.meta.createdAtMs ? "which comes first by name" : "which is older";
}

/** Orders text by code unit, the same everywhere, unlike a locale's order. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the addresses that an object manages, in order and once each: the canonical entries of its spec, then what it acquired. */
export function managedIPs(pool: Pool): readonly string[] {
  // What was acquired stays its own, whatever the spec says now.
  const acquired = pool.status.acquired.map(({ ip }) => ip).filter((ip) => canonicalAddress(ip) === ip);
  return [...new Set([...listedIPs(pool), ...acquired])];
}

/** Returns the canonical entries of a spec's addresses, in its order. Without a provider nobody knows the family: then those of both families. Pure. */
export function listedIPs({ spec }: Pick<Pool, "spec">): readonly string[] {
  const canonical = spec.provider === "" ? canonicalAddress : CANONICAL[ipFamilyOf(spec)];
  return spec.ips.flatMap((entry) => canonical(entry) ?? []);
}
