import type { RetryStatus } from "./resource.ts";

/*
 * What is retried: a failed attempt is stored in `status.retries` of its object, under a subject.
 *
 *   subject               stored after a failed …
 *   ip/203.0.113.1        assignment or move of the address
 *   ip-removal/203.…      unassignment or deletion of the address: it can go to a node while it cannot be given up
 *   node/worker-1         assignment or move to the node; an acquisition or firewall change that may have failed because of its machine
 *   acquire               acquisition
 *   annotate              write of a node's annotations that was forbidden: the permission is missing for every node
 *   annotate/worker-1     any other write of the annotations of the node
 *   firewall/ID           opening of ports, or addition of machines
 *   firewall-removal/ID   closing of ports, or removal of machines: an address can go to another machine while its former one cannot be taken away
 *   dns/FQDN              write of the name
 *   dns-removal/FQDN      write of the name that only takes addresses out: it goes on while an addition is refused
 *   dns-ttl/FQDN          write of the name that only changes its TTL: what it shows goes on changing
 *   finalizer             write of the finalizer
 */

/** The retry subject of an address. */
export function ipSubject(ip: string): string {
  return `ip/${ip}`;
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

/** The retry subject of what is added to a firewall. */
export function firewallSubject(id: string): string {
  return `firewall/${id}`;
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
export function removalSubject(fqdn: string): string {
  return `dns-removal/${fqdn}`;
}

/** The retry subject of the TTL of a name. */
export function ttlSubject(fqdn: string): string {
  return `dns-ttl/${fqdn}`;
}

/** The retry subject of an object's finalizer. */
export const FINALIZER_SUBJECT = "finalizer";

/** Returns what a retry is about, for people: `203.0.113.10`, `firewall 9aa1…`, `annotations`. Pure. */
export function retrySubjectText(subject: string): string {
  const [kind = "", ...rest] = subject.split("/");
  const name = rest.join("/");
  const texts: ReadonlyMap<string, string> = new Map([
    ["node", `node ${name}`],
    ["ip-removal", `removal of ${name}`],
    ["firewall", `firewall ${name}`],
    ["firewall-removal", `what leaves firewall ${name}`],
    ["acquire", "a new address"],
    ["annotate", name === "" ? "annotations" : `annotations of ${name}`],
    ["finalizer", "the finalizer"],
    ["dns-removal", `what leaves ${name}`],
    ["dns-ttl", `the TTL of ${name}`],
  ]);
  return texts.get(kind) ?? name;
}

/** Returns the address that a retry is about, whether it is to come or to go; undefined where it is about something else. Pure. */
export function retriedAddress({ subject }: RetryStatus): string | undefined {
  return /^ip(?:-removal)?\/(.*)$/s.exec(subject)?.[1];
}

/** Returns the DNS name that a retry is about, whatever is changed of it; undefined where it is about something else. Pure. */
export function retriedName({ subject }: RetryStatus): string | undefined {
  return /^dns(?:-removal|-ttl)?\/(.*)$/s.exec(subject)?.[1];
}
