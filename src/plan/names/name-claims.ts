import { type ObjectRef, refKey } from "../../model/action.ts";
import { setNamed } from "../../model/record-types.ts";
import { bySeniority, type PublishedName, rightText } from "../../model/resource.ts";
import { isPassing, type TargetName } from "./name-target.ts";
import type { Publisher } from "./publishers.ts";

/** Who owns which name, over all objects of the cluster. */
export interface NameClaims {
  /** Returns the object that the records of a name belong to; undefined if no object asks for the name. */
  ownerOf(key: string): ObjectRef | undefined;
  /** Says by which rule the owner of a name has it, and not another object that asks for it: `which published it first`. */
  rightOf(key: string, other: Publisher): string;
  /** True if the owner's status shows that it published under the name: it remembers the name from then on. */
  hasPublished(key: string): boolean;
  /** True while an object with an unread zone id may turn out to claim this name. Example: `recordName: www` may mean `www.example.com`. */
  mayBeClaimed(key: string): boolean;
}

/** One name at one provider, as a key of claims. */
export function nameKey({ provider, fqdn }: Pick<TargetName, "provider" | "fqdn">): string {
  return `${provider} ${fqdn}`;
}

/** The claim key of a name that status remembers. */
export function publishedKey({ provider, name }: PublishedName): string {
  return nameKey({ provider, fqdn: name });
}

/**
 * Decides which object owns each name. Among the objects that ask for a name, the owner is:
 * 1. the senior one of those whose status shows that they published it (`publishedDNS`);
 * 2. if there is none, the senior one.
 * Suspended and invalid objects take part. An object whose name cannot be resolved now claims the name it published last. Pure.
 */
export function settleNames(publishers: readonly Publisher[]): NameClaims {
  const owners = new Map<string, { readonly owner: Publisher; readonly hasPublished: boolean }>();
  for (const publisher of publishers.toSorted(bySeniority)) {
    const key = claimedKey(publisher);
    if (key === undefined) continue;
    const { publishedDNS } = publisher.memory;
    const hasPublished = publishedDNS !== undefined && publishedKey(publishedDNS) === key;
    const senior = owners.get(key);
    if (senior === undefined || (hasPublished && !senior.hasPublished))
      owners.set(key, { owner: publisher, hasPublished });
  }
  const unresolved = publishers.flatMap(unresolvedName);
  return {
    ownerOf: (key) => owners.get(key)?.owner.ref,
    rightOf: (key, other) => {
      const right = owners.get(key);
      return right === undefined ? "" : rightText(right.owner, other, "which published it first");
    },
    hasPublished: (key) => owners.get(key)?.hasPublished === true,
    mayBeClaimed: (key) => unresolved.some((mayBe) => mayBe(key)),
  };
}

function claimedKey({ memory, target }: Publisher): string | undefined {
  if (target.kind === "none") return undefined;
  if (target.name !== undefined) return nameKey(target.name);
  return memory.publishedDNS && publishedKey(memory.publishedDNS);
}

/** Returns which keys an object may claim whose zone could not be read. Nobody waits for a zone that the token may not see. */
function unresolvedName({ wish, target, mayPublish }: Publisher): readonly ((key: string) => boolean)[] {
  if (!mayPublish || wish.kind !== "named" || !isPassing(target) || target.name !== undefined) return [];
  const { provider, recordType: type } = wish;
  const recordName = wish.recordName.toLowerCase();
  const full = nameKey({ provider, fqdn: recordName });
  const isOfProvider = (name: string): boolean => name.startsWith(nameKey({ provider, fqdn: "" }));
  const mayBe =
    recordName === "@" ? isOfProvider : (name: string): boolean => name === full || name.startsWith(`${full}.`);
  return [
    (key) => {
      const asked = setNamed(key);
      return asked.type === type && mayBe(asked.fqdn);
    },
  ];
}

/** True when the two refer to the same object. */
export function isSameObject(a: ObjectRef | undefined, b: ObjectRef): boolean {
  return a !== undefined && refKey(a) === refKey(b);
}
