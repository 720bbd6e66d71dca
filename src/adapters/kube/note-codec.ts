import { canonicalIPv4 } from "../../model/address.ts";
import { type AcquisitionNote, EMPTY_NOTE } from "../../model/lease-notes.ts";

const PENDING = "pending=";

/** The text of the annotation `flipop.digitalocean.com/acquired`, for the object with this uid; null where there is nothing to tell. */
export function encodeNote(uid: string, { ips, pending }: AcquisitionNote): string | null {
  if (ips.length === 0 && pending.length === 0) return null;
  return [uid, ...ips, ...pending.map((place) => `${PENDING}${place}`)].join(" ");
}

/** What the annotation of the object with this uid tells; nothing for that of another object. What is neither address nor place is passed over. Never throws. */
export function decodeNote(uid: string, text: string | undefined): AcquisitionNote {
  const [owner, ...words] = (text ?? "").split(/\s+/);
  if (uid === "" || owner !== uid) return EMPTY_NOTE;
  return {
    ips: [...new Set(words.filter((word) => canonicalIPv4(word) === word))],
    pending: words.filter((word) => word.startsWith(PENDING)).map((word) => word.slice(PENDING.length)),
  };
}
