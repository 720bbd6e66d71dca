import type { ExternalOwner } from "../../model/external-dns.ts";
import type { Obstacle } from "../../model/plan.ts";
import { namesOf } from "../../model/record-types.ts";
import { type ForeignRecordsPolicy, ownAddresses, shownText } from "../../model/resource.ts";
import { obstacle, personNeeded } from "../holds.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import type { ReadyTarget } from "./name-target.ts";
import type { Publisher } from "./publishers.ts";

/*
 * Whether a name may be taken. It is taken when an object gets it for the first time, and when records go that flipop did not write. Only then somebody looks whose it
 * is, so a name at rest costs no call; and a change among the object's own records waits for nobody.
 *
 *   the marks of the zone …       a name that is not on record   a name on record
 *   show no owner                 is taken                       foreign records are replaced
 *   show an owner                 is not written                 foreign records stay, the own ones beside them follow the nodes
 *   cannot be read                is not written                 foreign records stay, the own ones follow the nodes
 *   are being looked at           waits                          waits; after a while only what adds nothing but delay: own addresses that serve no more leave
 *
 * With `foreignRecords: Adopt` written out nobody looks.
 */

/** Why a name is not taken now. */
export interface OwnerObstacle {
  readonly why: Obstacle;
  /** How the object's own records are planned meanwhile; absent = they are not: the name is not on record. */
  readonly policy?: ForeignRecordsPolicy;
  /** True where it is not known whose the name is, and may be in a later pass. */
  readonly isUnknown: boolean;
  /** True where somebody has to look whose the name is. */
  readonly isWanted: boolean;
}

/** Returns what keeps an object from taking a name; undefined where nothing does, or it takes nothing. Pure. */
export function ownerObstacle(
  publisher: Publisher,
  target: ReadyTarget,
  foreign: readonly string[],
): OwnerObstacle | undefined {
  const isOnRecord = hasOnRecord(publisher, target);
  const replaces = publisher.foreignRecords === "Adopt" && foreign.length > 0;
  if (publisher.isAdoptWritten || (isOnRecord && !replaces)) return undefined;
  const { owner } = target;
  const held = (why: Obstacle, policy: ForeignRecordsPolicy, isWanted = false): OwnerObstacle => ({
    why,
    ...(isOnRecord ? { policy } : {}),
    isUnknown: owner?.kind !== "known",
    isWanted,
  });
  if (owner === undefined) return held(obstacle("Unreadable", "nobody has looked yet whose it is"), "Share", true);
  if (owner.kind === "gap") {
    const { error, isRefused, putOffUntilMs: notBeforeMs } = owner;
    const reason = notBeforeMs === undefined ? "Unreadable" : "RateLimited";
    const detail = `whose it is could not be read: ${error}`;
    return held(obstacle(reason, detail, { needsPerson: isRefused, notBeforeMs }), "Share");
  }
  return owner.owner === undefined ? undefined : held(personNeeded("OwnedByOther", ownerText(owner.owner)), "Hold");
}

/** True where nothing may be changed at a name, because it belongs to somebody else or nobody knows yet. Pure. */
export function isLeftAlone(publisher: Publisher, target: ReadyTarget): boolean {
  const { memory, isAdoptWritten, foreignRecords } = publisher;
  const { owner, records, isOwnerLate } = target;
  const isFree = owner?.kind === "known" && owner.owner === undefined;
  if (isAdoptWritten || isFree) return false;
  if (!hasOnRecord(publisher, target)) return true;
  if (owner !== undefined || isOwnerLate === true || foreignRecords !== "Adopt") return false;
  const own = namesOf(memory).flatMap(ownAddresses);
  return records.addresses.some((ip) => !own.includes(ip) && !publisher.recognizes(ip));
}

/** True where an object has a name on record as its present or a former one. */
function hasOnRecord({ memory }: Publisher, { name }: ReadyTarget): boolean {
  return namesOf(memory).some((known) => publishedKey(known) === nameKey(name));
}

function ownerText({ id, mark, isEncrypted }: ExternalOwner): string {
  const whom = id === undefined ? "external-dns" : `external-dns with the owner id "${shownText(id)}"`;
  const says = isEncrypted === true ? "which is encrypted" : "which says so";
  return `it belongs to ${whom}: there is the TXT record ${shownText(mark)}, ${says}`;
}
