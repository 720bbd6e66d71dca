import { type ObjectRef, refKey } from "../../model/action.ts";
import { bySeniority, type PublishedName } from "../../model/resource.ts";
import { isPassing, type TargetName } from "./name-target.ts";
import type { Publisher } from "./publishers.ts";

/** Who owns which name, over all objects of the cluster. */
export interface NameClaims {
  /** The object whose records a name has; undefined when no object asks for it. */
  ownerOf(key: string): ObjectRef | undefined;
  /** True when the owner by its status has published there: it remembers the name from then on. */
  isHeld(key: string): boolean;
  /** True while an object may ask for the name that cannot be told which one it asks for, since the zone of its id could not be read in this pass. */
  isUntold(key: string): boolean;
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
 * Settles who a name belongs to: the object that by status published it keeps it, among others the senior one has it; suspended and invalid objects claim, too. An
 * object whose name cannot be told in this pass claims the one it published last.
 */
export function settleNames(publishers: readonly Publisher[]): NameClaims {
  const owners = new Map<string, { readonly ref: ObjectRef; readonly isHolder: boolean }>();
  for (const publisher of publishers.toSorted(bySeniority)) {
    const key = claimedKey(publisher);
    if (key === undefined) continue;
    const { publishedDNS } = publisher.memory;
    const isHolder = publishedDNS !== undefined && publishedKey(publishedDNS) === key;
    const rival = owners.get(key);
    if (rival === undefined || (isHolder && !rival.isHolder)) owners.set(key, { ref: publisher.ref, isHolder });
  }
  const untold = publishers.flatMap(untoldName);
  return {
    ownerOf: (key) => owners.get(key)?.ref,
    isHeld: (key) => owners.get(key)?.isHolder === true,
    isUntold: (key) => untold.some((isIt) => isIt(key)),
  };
}

/** Which keys an object may claim that cannot be told which one it does. Nobody waits for a zone that the token may not see. */
function untoldName({ wish, target, mayPublish }: Publisher): readonly ((key: string) => boolean)[] {
  const isUntold = isPassing(target) && target.name === undefined;
  if (!mayPublish || wish.kind !== "named" || !isUntold) return [];
  const recordName = wish.recordName.toLowerCase();
  const full = nameKey({ provider: wish.provider, fqdn: recordName });
  const isOfProvider = (key: string): boolean => key.startsWith(nameKey({ provider: wish.provider, fqdn: "" }));
  return [recordName === "@" ? isOfProvider : (key) => key === full || key.startsWith(`${full}.`)];
}

function claimedKey({ memory, target }: Publisher): string | undefined {
  if (target.kind === "none") return undefined;
  if (target.kind === "ready" || target.name !== undefined) return target.name && nameKey(target.name);
  return memory.publishedDNS && publishedKey(memory.publishedDNS);
}

/** True when the two refer to the same object. */
export function isSameObject(a: ObjectRef | undefined, b: ObjectRef): boolean {
  return a !== undefined && refKey(a) === refKey(b);
}
