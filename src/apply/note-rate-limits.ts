import { KubeError } from "../model/errors.ts";
import { NOT_BEFORE_PREFIX, PUT_OFF_PREFIX } from "../model/lease-annotations.ts";
import { putOffAt, putOffText } from "../model/lease-notes.ts";
import type { Observation } from "../model/observation.ts";
import { timestamp } from "../model/time.ts";
import type { ApplyContext } from "./context.ts";

/**
 * Leaves two notes on the Lease for later runs: until when each provider asked for no calls, and which looks at names were put off. Takes away what is over, and writes only
 * a difference. A Lease that is lost meanwhile ends the pass as it would have a moment before: what was done stays told.
 *
 * @throws KubeError when the API refuses the notes while the Lease is held.
 */
export async function noteRateLimits(
  observation: Observation,
  { lock, limits, cluster, clock }: Pick<ApplyContext, "lock" | "limits" | "cluster" | "clock">,
): Promise<void> {
  if (!lock.isHeld()) return;
  const sinceMonotonicMs = cluster.now() - clock.monotonicMs();
  const stored = lock.annotations();
  const { providers, dns, firewalls } = observation;
  const observed = [...providers.values(), ...dns.values(), ...firewalls.values()].flatMap(({ name, unusable }) =>
    unusable?.kind === "rate-limited" && unusable.notBeforeMs !== undefined
      ? [[name, unusable.notBeforeMs] as const]
      : [],
  );
  const met = [...limits].map(([name, ms]) => [name, ms + sinceMonotonicMs] as const);
  const known = new Set(observed.map(([name]) => name));
  // A provider that no object names now was not asked; what it said still holds for the next object that does.
  // By what the lock knows: the Lease may have been unreadable while the world was observed.
  const standing = Object.entries(stored)
    .filter(([key]) => key.startsWith(NOT_BEFORE_PREFIX))
    .map(([key, text]) => [key.slice(NOT_BEFORE_PREFIX.length), Date.parse(text)] as const)
    .filter(([name, ms]) => !known.has(name) && ms > cluster.now());
  const wanted: ReadonlyMap<string, string> = new Map(
    // Addresses, DNS and firewalls of one provider share its limit: the later time stands.
    [...standing, ...met, ...observed]
      .toSorted(([, a], [, b]) => a - b)
      .map(([name, ms]) => [`${NOT_BEFORE_PREFIX}${name}`, timestamp(ms)] as const),
  );
  const over = Object.keys(stored).filter((key) => key.startsWith(NOT_BEFORE_PREFIX) && !wanted.has(key));
  const changes = Object.fromEntries([
    ...over.map((key) => [key, null] as const),
    ...[...wanted].filter(([key, time]) => stored[key] !== time),
    ...looks(observation, stored),
  ]);
  if (Object.keys(changes).length === 0) return;
  try {
    await lock.annotate(changes);
  } catch (error) {
    if (!(error instanceof KubeError) || lock.isHeld()) throw error;
  }
}

/** The changes of the notes about looks that were put off. Of a provider that could not be asked the note stays. */
function looks(
  { dns }: Observation,
  stored: Readonly<Record<string, string>>,
): readonly (readonly [string, string | null])[] {
  return [...dns.values()].flatMap((facts) => {
    const key = `${PUT_OFF_PREFIX}${facts.name}`;
    const putOff = putOffAt(facts);
    const text = putOff === undefined ? undefined : putOffText(putOff);
    return facts.unusable !== undefined || stored[key] === text ? [] : [[key, text ?? null] as const];
  });
}
