import { canonicalIPv4, type PendingAcquisition } from "../model/address.ts";
import { type AcquisitionNote, beyond, EMPTY_NOTE, placeOf } from "../model/lease-notes.ts";
import type { Pool } from "../model/resource.ts";
import { timestamp } from "../model/time.ts";

/**
 * The pool with what its annotation tells and its status has lost. Addresses come back as found again, never to be deleted: they leave the annotation only when the
 * account does not have them any more. Acquisitions without an answer come back as far as they are known: where, but not what the account had before. Those that
 * came back are dropped once somebody removed them from the annotation. Pure.
 */
export function restoreMemory(pool: Pool, nowMs: number): Pool {
  const note = pool.meta.note ?? EMPTY_NOTE;
  const { acquired, pendingAcquisitions: pending } = pool.status;
  const lost = beyond(
    note.ips,
    acquired.map(({ ip }) => ip),
  );
  const kept = pending.filter((intent) => intent.restored !== true || note.pending.includes(placeOf(intent)));
  const unanswered = isNewer(pool, note) ? [] : beyond(note.pending, kept.map(placeOf));
  if (lost.length === 0 && unanswered.length === 0 && kept.length === pending.length) return pool;
  const startedAt = timestamp(nowMs);
  return {
    ...pool,
    status: {
      ...pool.status,
      acquired: [...acquired, ...lost.map((ip) => ({ ip, acquiredAt: startedAt, adopted: true }))],
      pendingAcquisitions: [...kept, ...unanswered.map((place) => intentAt(place, startedAt))],
    },
  };
}

/** True when status has an address that the annotation does not tell of yet: an answer was recorded that is not noted. */
function isNewer({ status }: Pool, { ips }: AcquisitionNote): boolean {
  return status.acquired.some(({ ip }) => canonicalIPv4(ip) === ip && !ips.includes(ip));
}

function intentAt(place: string, startedAt: string): PendingAcquisition {
  const common = { startedAt, knownIPs: [], restored: true };
  if (place === "") return common;
  return place.includes("://") ? { ...common, providerID: place } : { ...common, region: place };
}
