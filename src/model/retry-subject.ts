import type { PublishedName, RetryStatus } from "./resource.ts";

/*
 * What is retried: a failed attempt is stored in `status.retries` of its object, under a subject.
 *
 *   subject               stored after a failed …
 *   ip/203.0.113.1        assignment or move of the address
 *   ip-relocation/203.…   move of the address off a node where it still serves: should that node die, it goes at once
 *   ip-removal/203.…      unassignment or deletion of the address: it can go to a node while it cannot be given up
 *   node/worker-1/9001    assignment or move to the node worker-1 while it has the machine 9001; also an acquisition or a change of a firewall, if that machine may be to blame
 *   acquire               acquisition
 *   annotate              write of a node's annotations that was forbidden: the permission is missing for every node
 *   annotate/worker-1     any other write of the annotations of the node
 *   firewall/ID           addition of machines
 *   firewall-ports/ID     opening of ports: machines are added while a port is refused that an object served without
 *   firewall-removal/ID   closing of ports, or removal of machines: an address can go to another machine while its former one cannot be taken away
 *   dns/PROVIDER/FQDN     write of the name; one name may be at two providers while it goes from one to the other
 *   dns-removal/PROV…     write of the name that only takes addresses out: it goes on while an addition is refused
 *   dns-ttl/PROVIDER/…    write of the name that only changes its TTL: what it shows goes on changing
 *   finalizer             write of the finalizer
 */

/** What is retried, as its subject begins. */
export type RetryKind =
  | "ip"
  | "ip-relocation"
  | "ip-removal"
  | "node"
  | "acquire"
  | typeof ANNOTATIONS_SUBJECT
  | "firewall"
  | "firewall-ports"
  | "firewall-removal"
  | "dns"
  | "dns-removal"
  | "dns-ttl"
  | typeof FINALIZER_SUBJECT;

/** Returns what a table says of the kind of a subject, and the name behind it; undefined for a kind that the table has not. Pure. */
export function ofRetryKind<T>(
  subject: string,
  table: Readonly<Record<RetryKind, T>>,
): { readonly kind: RetryKind; readonly entry: T; readonly name: string } | undefined {
  const [kind = "", ...rest] = subject.split("/");
  return isKindOf(kind, table) ? { kind, entry: table[kind], name: rest.join("/") } : undefined;
}

function isKindOf(kind: string, table: Readonly<Record<RetryKind, unknown>>): kind is RetryKind {
  return Object.hasOwn(table, kind);
}

/** The retry subject of an address. */
export function ipSubject(ip: string): string {
  return `ip/${ip}`;
}

/** An address that is to go to a node. */
export interface MovingAddress {
  readonly ip: string;
  /** True where it still serves on the machine that it leaves. */
  readonly isServing?: true;
}

/** The retry subjects that an address waits for on its way to a node; the one under which a failure is stored comes first. */
export function moveSubjects({ ip, isServing }: MovingAddress): readonly [string, ...string[]] {
  return isServing === true ? [ipRelocationSubject(ip), ipSubject(ip)] : [ipSubject(ip)];
}

/** The retry subject of an address that leaves a node where it still serves. */
export function ipRelocationSubject(ip: string): string {
  return `ip-relocation/${ip}`;
}

/** The retry subject of what takes an address from its node, or deletes it. */
export function ipRemovalSubject(ip: string): string {
  return `ip-removal/${ip}`;
}

/** A node, and the machine that it has. One that is made anew under its name with another machine is another node: nothing is known of it. */
export interface RetriedNode {
  readonly nodeName: string;
  readonly machineID: string;
}

/** The retry subject of a node. */
export function nodeSubject({ nodeName, machineID }: RetriedNode): string {
  return `node/${nodeName}/${machineID}`;
}

/** Returns the node that is meant behind the kind of a subject; with an empty machine as an older flipop stored it. Pure. */
export function nodeBehind(name: string): RetriedNode {
  const [nodeName = "", ...machine] = name.split("/");
  return { nodeName, machineID: machine.join("/") };
}

/** The retry subject of a node's annotations. */
export function annotationSubject(nodeName: string): string {
  return `${ANNOTATIONS_SUBJECT}/${nodeName}`;
}

/** The retry subject of the annotations of all nodes. */
export const ANNOTATIONS_SUBJECT = "annotate";

/** The retry subject of machines that are added to a firewall. */
export function firewallSubject(id: string): string {
  return `firewall/${id}`;
}

/** The retry subject of ports that are opened at a firewall. */
export function firewallPortsSubject(id: string): string {
  return `firewall-ports/${id}`;
}

/** The retry subject of what is taken from a firewall. */
export function firewallRemovalSubject(id: string): string {
  return `firewall-removal/${id}`;
}

/** The records of a name at one provider. */
export interface RetriedRecords {
  readonly provider: string;
  /** As in status: with ` AAAA` behind it where its AAAA records are meant. */
  readonly fqdn: string;
}

/** The records of a name that a status remembers. */
export function publishedRecords({ provider, name }: Pick<PublishedName, "provider" | "name">): RetriedRecords {
  return { provider, fqdn: name };
}

/** The retry subject of the records of a name. */
export function dnsSubject({ provider, fqdn }: RetriedRecords): string {
  return `dns/${provider}/${fqdn}`;
}

/** The retry subject of what is only taken out of the records of a name. */
export function dnsRemovalSubject({ provider, fqdn }: RetriedRecords): string {
  return `dns-removal/${provider}/${fqdn}`;
}

/** The retry subject of the TTL of the records of a name. */
export function dnsTTLSubject({ provider, fqdn }: RetriedRecords): string {
  return `dns-ttl/${provider}/${fqdn}`;
}

/** Returns the records that are meant behind the kind of a subject; with an empty provider as an older flipop stored it. Pure. */
export function recordsBehind(name: string): RetriedRecords {
  const at = name.indexOf("/");
  return { provider: name.slice(0, Math.max(at, 0)), fqdn: name.slice(at + 1) };
}

/** The retry subject of an object's finalizer. */
export const FINALIZER_SUBJECT = "finalizer";

/** Returns what a retry is about, for people: `203.0.113.10`, `firewall 9aa1…`, `annotations`. Pure. */
export function retrySubjectText(subject: string): string {
  const found = ofRetryKind(subject, SUBJECT_TEXTS);
  return found === undefined ? subject : found.entry(found.name);
}

const SUBJECT_TEXTS: Readonly<Record<RetryKind, (name: string) => string>> = {
  ip: (name) => name,
  "ip-relocation": (name) => name,
  "ip-removal": (name) => `removal of ${name}`,
  node: (name) => `node ${nodeBehind(name).nodeName}`,
  acquire: () => "a new address",
  annotate: (name) => (name === "" ? "annotations" : `annotations of ${name}`),
  firewall: (name) => `firewall ${name}`,
  "firewall-ports": (name) => `ports of firewall ${name}`,
  "firewall-removal": (name) => `what leaves firewall ${name}`,
  dns: (name) => recordsBehind(name).fqdn,
  "dns-removal": (name) => `what leaves ${recordsBehind(name).fqdn}`,
  "dns-ttl": (name) => `the TTL of ${recordsBehind(name).fqdn}`,
  finalizer: () => "the finalizer",
};

/** Returns the address that a retry is about, whether it is to come or to go; undefined where it is about something else. Pure. */
export function retriedAddress({ subject }: RetryStatus): string | undefined {
  return /^ip(?:-relocation|-removal)?\/(.*)$/s.exec(subject)?.[1];
}

/** Returns the node that a retry is about, with its machine; undefined where it is about something else. Pure. */
export function retriedNode({ subject }: RetryStatus): RetriedNode | undefined {
  const name = /^node\/(.*)$/s.exec(subject)?.[1];
  return name === undefined ? undefined : nodeBehind(name);
}

/** Returns the records that a retry is about, whatever is changed of them; undefined where it is about something else. Pure. */
export function retriedRecords({ subject }: RetryStatus): RetriedRecords | undefined {
  const name = /^dns(?:-removal|-ttl)?\/(.*)$/s.exec(subject)?.[1];
  return name === undefined ? undefined : recordsBehind(name);
}
