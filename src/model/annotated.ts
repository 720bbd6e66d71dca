import type { AnnotateNode, NodeAnnotations } from "./action.ts";
import { canonicalAddress } from "./address.ts";
import type { IPFamily } from "./address-source.ts";
import { addressesWithout } from "./dns.ts";
import { hostWords } from "./host-address.ts";
import type { NodeFacts, NodeMarks } from "./node.ts";
import { remembered } from "./remembered.ts";
import { compareText, ownerRef } from "./resource.ts";

/*
 * What flipop's annotations of a node say, each family of addresses in annotations of its own. Mostly a node has one address of a family:
 *
 *   ipv4-reserved-ip: 203.0.113.10                  pool: ingress/web
 *   ipv6-reserved-ip: 2001:db8::10                  ipv6-pool: ingress/web6
 *
 * Several stand beside each other, separated by commas and sorted by text. They belong to the one object named, or each to the object at its own place in the list:
 *
 *   ipv4-reserved-ip: 203.0.113.10,203.0.113.11     pool: ingress/web
 *   ipv4-reserved-ip: 203.0.113.10,203.0.113.11     pool: ingress/web,ingress/mail
 *
 * Those that `flipop host` is to put on an interface of the node stand in a third annotation, too; see `host-address.ts`.
 */

/** Returns what the annotations of a node say of one family. Pure. */
export function marksOf(node: NodeFacts, family: IPFamily): NodeMarks {
  return family === "IPv4" ? node : (node.ipv6 ?? {});
}

/** True if annotations say anything. Pure. */
export function isMarked({ addressAnnotation, poolAnnotation, hostAnnotation }: NodeMarks): boolean {
  return addressAnnotation !== undefined || poolAnnotation !== undefined || hostAnnotation !== undefined;
}

/** Returns the node as if it had annotations of this family alone: they stand where those of IPv4 do. Pure. */
export function withMarksOf(node: NodeFacts, family: IPFamily): NodeFacts {
  if (family === "IPv4" && node.ipv6 === undefined) return node;
  const { ipv6: _ipv6, ...own } = node;
  if (family === "IPv4") return own;
  const { addressAnnotation: _address, poolAnnotation: _pool, hostAnnotation: _host, ...bare } = own;
  return { ...bare, ...node.ipv6 };
}

/** Returns the node with these marks of a family, and no others of it. Pure. */
export function withMarks(node: NodeFacts, family: IPFamily, marks: NodeMarks): NodeFacts {
  if (family === "IPv4") {
    const { addressAnnotation: _address, poolAnnotation: _pool, hostAnnotation: _host, ...bare } = node;
    return { ...bare, ...marks };
  }
  const { ipv6: _ipv6, ...own } = node;
  return Object.keys(marks).length > 0 ? { ...own, ipv6: marks } : own;
}

/** Returns the annotations of a node, as {@link marksOf} tells them. Pure. */
export function annotationsOf({ addressAnnotation, poolAnnotation, hostAnnotation }: NodeMarks): NodeAnnotations {
  return {
    address: addressAnnotation,
    pool: poolAnnotation,
    ...(hostAnnotation === undefined ? {} : { host: hostAnnotation }),
  };
}

/** An address that a node's annotations show, and the object whose it is, as `ownerKey` names it; absent where they do not say. */
export interface Annotated {
  /** In the one form that flipop writes, where it is an address: a person may have written anything. */
  readonly ip: string;
  readonly owner?: string;
}

/** Returns the nodes whose annotations say anything, in their order: of thousands few do. Of one list that is found out once. Pure. */
export const annotatedNodes: (nodes: readonly NodeFacts[]) => readonly NodeFacts[] = remembered((nodes) =>
  nodes.filter((node) => isMarked(node) || node.ipv6 !== undefined),
);

/** Returns the addresses that a node's annotations show: of IPv4, then of IPv6, each in the order in which they stand there. Pure. */
export function annotatedOn(node: NodeFacts): readonly Annotated[] {
  const own = annotatedBy(node);
  return node.ipv6 === undefined ? own : [...own, ...annotatedBy(node.ipv6)];
}

/** Returns the addresses that the annotations of one family show, in the order in which they stand there. Pure. */
export function annotatedBy({ addressAnnotation, poolAnnotation }: NodeMarks): readonly Annotated[] {
  return annotated({ address: addressAnnotation, pool: poolAnnotation });
}

/** Returns the addresses that annotations show, in the order in which they stand there. Pure. */
export function annotated({ address, pool }: NodeAnnotations): readonly Annotated[] {
  if (address === undefined) return [];
  const ips = address.split(",").map((word) => canonicalAddress(word) ?? word);
  const owners = pool?.split(",") ?? [];
  return ips.map((ip, at) => {
    const owner = owners.length === ips.length ? owners[at] : owners.length === 1 ? owners[0] : undefined;
    // A text that can name no object names none.
    return owner === undefined || ownerRef(owner) === undefined ? { ip } : { ip, owner };
  });
}

/** Returns the texts of annotations that show these addresses: no texts where there are none. Pure. */
export function annotationsFor(shown: readonly Required<Annotated>[]): NodeAnnotations {
  const sorted = shown.toSorted((a, b) => compareText(a.ip, b.ip));
  const owners = sorted.map(({ owner }) => owner);
  const [first] = owners;
  if (first === undefined) return { address: undefined, pool: undefined };
  const isOfOne = owners.every((owner) => owner === first);
  return { address: sorted.map(({ ip }) => ip).join(","), pool: isOfOne ? first : owners.join(",") };
}

/** True if the annotations of a node show this address as one of this object, or do not say whose it is. Pure. */
export function isAnnotatedOn(node: NodeFacts, ip: string, key: string): boolean {
  return annotatedOn(node).some((shown) => shown.ip === ip && (shown.owner ?? key) === key);
}

/** True where annotations show an address in the one form that flipop writes. Pure. */
export function isWrittenIn({ address }: NodeAnnotations, ip: string): boolean {
  return address?.split(",").includes(ip) === true;
}

/** Returns the addresses that annotations show. Pure. */
export function shownAddresses(annotations: NodeAnnotations): readonly string[] {
  return annotated(annotations).map(({ ip }) => ip);
}

/** Returns the addresses that a node shows once its annotations were written, and did not show before, or not as the same object's. Pure. */
export function addedAddresses({ before, after }: Pick<AnnotateNode, "before" | "after">): readonly string[] {
  const known = annotated(before);
  return annotated(after).flatMap(({ ip, owner }) =>
    known.some((one) => one.ip === ip && one.owner === owner) ? [] : [ip],
  );
}

/** Returns what `flipop host` is to put on a host and to take from it once the annotations of its node were written. Pure. */
export function hostChange({ before, after }: Pick<AnnotateNode, "before" | "after">): {
  readonly added: readonly string[];
  readonly removed: readonly string[];
} {
  const [old, now] = [hostWords(before.host), hostWords(after.host ?? before.host)];
  return { added: addressesWithout(now, old), removed: addressesWithout(old, now) };
}

/** Returns the addresses that a node shows no more once its annotations were written. Pure. */
export function clearedAddresses({ before, after }: Pick<AnnotateNode, "before" | "after">): readonly string[] {
  return addressesWithout(shownAddresses(before), shownAddresses(after));
}
