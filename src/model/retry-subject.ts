import type { RetryStatus } from "./resource.ts";

/*
 * What is retried: a failed attempt is stored in `status.retries` of its object, under a subject.
 *
 *   subject           stored after a failed …
 *   ip/203.0.113.1    assignment, move, unassignment or deletion of the address
 *   node/worker-1     assignment or move to the node; an acquisition or firewall change that may have failed because of its machine
 *   acquire           acquisition
 *   annotate          write of a node's annotations that was forbidden: the permission is missing for every node
 *   annotate/worker-1 any other write of the annotations of the node
 *   firewall/ID       change of the firewall
 *   dns/FQDN          write of the name
 *   dns-removal/FQDN  write of the name that only takes addresses out: it goes on while an addition is refused
 *   finalizer         write of the finalizer
 */

/** The retry subject of an address. */
export function ipSubject(ip: string): string {
  return `ip/${ip}`;
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

/** The retry subject of a firewall. */
export function firewallSubject(id: string): string {
  return `firewall/${id}`;
}

/** The retry subject of a name. */
export function dnsSubject(fqdn: string): string {
  return `dns/${fqdn}`;
}

/** The retry subject of what is only taken out of a name. */
export function removalSubject(fqdn: string): string {
  return `dns-removal/${fqdn}`;
}

/** The retry subject of an object's finalizer. */
export const FINALIZER_SUBJECT = "finalizer";

/** Returns what a retry is about, for people: `203.0.113.10`, `firewall 9aa1…`, `annotations`. Pure. */
export function retrySubjectText(subject: string): string {
  const [kind = "", ...rest] = subject.split("/");
  const name = rest.join("/");
  const texts: ReadonlyMap<string, string> = new Map([
    ["node", `node ${name}`],
    ["firewall", `firewall ${name}`],
    ["acquire", "a new address"],
    ["annotate", name === "" ? "annotations" : `annotations of ${name}`],
    ["finalizer", "the finalizer"],
    ["dns-removal", `what leaves ${name}`],
  ]);
  return texts.get(kind) ?? name;
}

/** Returns the DNS name that a retry is about, a removal from it included; undefined where it is about something else. Pure. */
export function retriedName({ subject }: RetryStatus): string | undefined {
  return /^dns(?:-removal)?\/(.*)$/s.exec(subject)?.[1];
}
