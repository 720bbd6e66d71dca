import { CANONICAL, canonicalAddress, type PendingAcquisition } from "./address.ts";
import { sourceNamed, sourceText } from "./address-source.ts";
import type { ObjectMeta, Pool, PoolStatus } from "./resource.ts";
import { timestamp } from "./time.ts";

/** The second copy of a pool's acquisitions, in the annotation {@link ACQUIRED_ANNOTATION} of the pool itself. It outlives the loss of the status. */
export interface AcquisitionNote {
  /** The addresses acquired, in the order of status. */
  readonly ips: readonly string[];
  /** One {@link placeOf} per pending acquisition, in the order of status. */
  readonly pending: readonly string[];
  /** The provider of all of them, such as `hetzner`; absent where that is not on record. */
  readonly provider?: string;
}

/** The note of a pool without acquisitions. It means the same as no annotation. */
export const EMPTY_NOTE: AcquisitionNote = { ips: [], pending: [] };

/** Returns the note that belongs to a status. Pure. */
export function acquisitionNote(status: Acquisitions): AcquisitionNote {
  const ips = status.acquired.map(({ ip }) => ip).filter((ip) => canonicalAddress(ip) === ip);
  const pending = status.pendingAcquisitions.map(placeOf);
  const provider = ips.length + pending.length === 0 ? undefined : recordedProvider(status);
  return { ips: [...new Set(ips)], pending, ...(provider === undefined ? {} : { provider }) };
}

/** Returns the provider of an object's acquisitions, such as `hetzner`. Undefined where there are none, and where an earlier version wrote them: it left the provider out. Pure. */
export function recordedProvider({ acquired, pendingAcquisitions }: Acquisitions): string | undefined {
  return [...acquired, ...pendingAcquisitions].find(({ provider }) => provider !== undefined)?.provider;
}

/** Returns a status whose acquisitions all have a provider on record: this one where they have none. The same status where nothing is missing. Pure. */
export function withProvider<S extends Acquisitions>(status: S, provider: string | undefined): S {
  const lacks = (one: { readonly provider?: string }): boolean => one.provider === undefined;
  const { acquired, pendingAcquisitions } = status;
  if (provider === undefined || ![...acquired, ...pendingAcquisitions].some(lacks)) return status;
  return {
    ...status,
    acquired: acquired.map((one) => (lacks(one) ? { ...one, provider } : one)),
    pendingAcquisitions: pendingAcquisitions.map((one) => (lacks(one) ? { ...one, provider } : one)),
  };
}

/** Returns the acquisitions as a definition keeps them that does not know their provider. Pure. */
export function withoutProvider({ acquired, pendingAcquisitions }: Acquisitions): Acquisitions {
  const bare = <T extends { readonly provider?: string }>({ provider: _provider, ...one }: T): Omit<T, "provider"> =>
    one;
  return { acquired: acquired.map(bare), pendingAcquisitions: pendingAcquisitions.map(bare) };
}

/** Returns what an object says of itself now, with what only flipop writes there, its note among it, as it was known: a list may be older. Pure. */
export function withOwnMeta(now: ObjectMeta, { resourceVersion, finalizers, note }: ObjectMeta): ObjectMeta {
  const { note: _listed, ...meta } = now;
  return { ...meta, resourceVersion, finalizers, ...(note === undefined ? {} : { note }) };
}

/**
 * Adds to a pool's status what only its annotation still shows, because the status was lost. Pure.
 *
 *   the annotation has …              the status gets
 *   an address it lacks               the address as adopted: used, and never deleted
 *   a pending acquisition it lacks    the acquisition as restored, started now; the account's addresses before it are not known
 *   a provider it lacks               that provider for each acquisition without one
 *
 * A restored acquisition ends once somebody removes it from the annotation.
 * Exception: if status has an address that the annotation lacks, the annotation is the older copy, and its pending acquisitions have ended.
 *
 * The pool then is where its acquisitions are, as {@link atRecordedProvider} says.
 */
export function restoreMemory(pool: Pool, nowMs: number): Pool {
  const known = withRestored(pool, nowMs);
  const status = withProvider(known.status, recordedProvider(known.status) ?? pool.meta.note?.provider);
  return atRecordedProvider(status === known.status ? known : { ...known, status });
}

/**
 * Returns a pool at the provider of its acquisitions, where its spec, or the issuer of a RoutedIP, names another one by now. Only that provider can take the addresses back. Pure.
 *
 *   an object that is being deleted    is cleaned up there: its spec names that provider, and the family of those addresses
 *   what status keeps of an issuer     has that provider, as long as there are acquisitions
 *
 * An object that is not being deleted keeps its spec, and is invalid by it.
 */
export function atRecordedProvider(pool: Pool): Pool {
  const { spec, status, issuer, meta } = pool;
  const recorded = recordedProvider(status);
  if (recorded === undefined) return pool;
  const family = status.acquired.some(({ ip }) => CANONICAL.IPv6(ip) === ip) ? "IPv6" : "IPv4";
  const isKnown = status.acquired.some(({ ip }) => canonicalAddress(ip) === ip);
  const at = (named: string): string =>
    sourceText({ provider: recorded, family: isKnown ? family : sourceNamed(named).family });
  const isElsewhere = meta.isDeleting && at(spec.provider) !== spec.provider;
  const isOtherIssuer = issuer !== undefined && at(issuer.provider) !== issuer.provider;
  if (!isElsewhere && !isOtherIssuer) return pool;
  return {
    ...pool,
    ...(isElsewhere ? { spec: { ...spec, provider: at(spec.provider) } } : {}),
    ...(isOtherIssuer ? { issuer: { ...issuer, provider: at(issuer.provider) } } : {}),
  };
}

function withRestored(pool: Pool, nowMs: number): Pool {
  const note = pool.meta.note ?? EMPTY_NOTE;
  const { acquired, pendingAcquisitions: pending } = pool.status;
  const lost = beyond(
    note.ips,
    acquired.map(({ ip }) => ip),
  );
  const kept = pending.filter((one) => one.restored !== true || note.pending.includes(placeOf(one)));
  const isOlder = acquired.some(({ ip }) => canonicalAddress(ip) === ip && !note.ips.includes(ip));
  const unanswered = isOlder ? [] : beyond(note.pending, kept.map(placeOf));
  if (lost.length === 0 && unanswered.length === 0 && kept.length === pending.length) return pool;
  const startedAt = timestamp(nowMs);
  return {
    ...pool,
    ...(lost.length === 0 ? {} : { restored: lost }),
    status: {
      ...pool.status,
      acquired: [...acquired, ...lost.map((ip) => ({ ip, acquiredAt: startedAt, adopted: true }))],
      pendingAcquisitions: [...kept, ...unanswered.map((place) => restoredAt(place, startedAt))],
    },
  };
}

function restoredAt(place: string, startedAt: string): PendingAcquisition {
  const common = { startedAt, knownIPs: [], restored: true };
  if (place === "") return common;
  return place.includes("://") ? { ...common, providerID: place } : { ...common, region: place };
}

/** What an acquisition asked for. */
type AskedPlace = Pick<PendingAcquisition, "providerID" | "region">;

/** Returns where an address was asked for: the provider ID of a machine, which has `://` in it, or a region; `""` if the acquisition does not say. */
function placeOf({ providerID, region }: AskedPlace): string {
  return providerID ?? region ?? "";
}

/** Returns what is in the first list and not in the second one, each as often as it is there more often. Keeps the order. */
export function beyond(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return list.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** What the status of a pool has of its acquisitions. */
type Acquisitions = Pick<PoolStatus, "acquired" | "pendingAcquisitions">;

/**
 * Returns the stored acquisitions with what a plan changed of them: it was made on `seen`, and wants `wanted`. What an acquisition has stored since, such as the
 * address that it brought, stays. Pure.
 */
export function withPlanned(stored: Acquisitions, seen: Acquisitions, wanted: Acquisitions): Acquisitions {
  return {
    acquired: merged(stored.acquired, seen.acquired, wanted.acquired, ({ ip }) => ip),
    pendingAcquisitions: merged(
      stored.pendingAcquisitions,
      seen.pendingAcquisitions,
      wanted.pendingAcquisitions,
      (pending) => `${placeOf(pending)} ${pending.knownIPs.join(" ")}`,
    ),
  };
}

function merged<T>(
  stored: readonly T[],
  seen: readonly T[],
  wanted: readonly T[],
  keyOf: (entry: T) => string,
): readonly T[] {
  const [storedBy, seenBy, wantedBy] = [byKey(stored, keyOf), byKey(seen, keyOf), byKey(wanted, keyOf)];
  const kept = [...storedBy].flatMap(([key, entry]) => wantedBy.get(key) ?? (seenBy.has(key) ? [] : [entry]));
  const added = [...wantedBy].flatMap(([key, entry]) => (storedBy.has(key) || seenBy.has(key) ? [] : [entry]));
  return [...kept, ...added];
}

/** The entries by key; the second one with the same key by another key. */
function byKey<T>(entries: readonly T[], keyOf: (entry: T) => string): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const entry of entries) {
    const key = keyOf(entry);
    let ordinal = 1;
    while (found.has(`${key} ${ordinal}`)) ordinal += 1;
    found.set(`${key} ${ordinal}`, entry);
  }
  return found;
}
