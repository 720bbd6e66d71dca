import type { RetryStatus } from "./resource.ts";

/*
 * What is retried: a failed attempt is stored in `status.retries` of its object, under a subject.
 *
 *   subject               stored after a failed …
 *   ip/203.0.113.1        assignment or move of the address
 *   ip-relocation/203.…   move of the address off a node where it still serves: should that node die, it goes at once
 *   ip-removal/203.…      unassignment or deletion of the address: it can go to a node while it cannot be given up
 *   node/worker-1         assignment or move to the node; an acquisition or firewall change that may have failed because of its machine
 *   acquire               acquisition
 *   annotate              write of a node's annotations that was forbidden: the permission is missing for every node
 *   annotate/worker-1     any other write of the annotations of the node
 *   firewall/ID           addition of machines
 *   firewall-ports/ID     opening of ports: machines are added while a port is refused that an object served without
 *   firewall-removal/ID   closing of ports, or removal of machines: an address can go to another machine while its former one cannot be taken away
 *   dns/FQDN              write of the name
 *   dns-removal/FQDN      write of the name that only takes addresses out: it goes on while an addition is refused
 *   dns-ttl/FQDN          write of the name that only changes its TTL: what it shows goes on changing
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

/** The retry subject of a node. */
export function nodeSubject(nodeName: string): string {
  return `node/${nodeName}`;
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

/** The retry subject of a name. */
export function dnsSubject(fqdn: string): string {
  return `dns/${fqdn}`;
}

/** The retry subject of what is only taken out of a name. */
export function dnsRemovalSubject(fqdn: string): string {
  return `dns-removal/${fqdn}`;
}

/** The retry subject of the TTL of a name. */
export function dnsTTLSubject(fqdn: string): string {
  return `dns-ttl/${fqdn}`;
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
  node: (name) => `node ${name}`,
  acquire: () => "a new address",
  annotate: (name) => (name === "" ? "annotations" : `annotations of ${name}`),
  firewall: (name) => `firewall ${name}`,
  "firewall-ports": (name) => `ports of firewall ${name}`,
  "firewall-removal": (name) => `what leaves firewall ${name}`,
  dns: (name) => name,
  "dns-removal": (name) => `what leaves ${name}`,
  "dns-ttl": (name) => `the TTL of ${name}`,
  finalizer: () => "the finalizer",
};

/** Returns the address that a retry is about, whether it is to come or to go; undefined where it is about something else. Pure. */
export function retriedAddress({ subject }: RetryStatus): string | undefined {
  return /^ip(?:-relocation|-removal)?\/(.*)$/s.exec(subject)?.[1];
}

/** Returns the DNS name that a retry is about, whatever is changed of it; undefined where it is about something else. Pure. */
export function retriedName({ subject }: RetryStatus): string | undefined {
  return /^dns(?:-removal|-ttl)?\/(.*)$/s.exec(subject)?.[1];
}
