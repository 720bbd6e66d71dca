import { NOT_BEFORE_PREFIX } from "../model/lease-annotations.ts";
import type { Observation } from "../model/observation.ts";
import { timestamp } from "../plan/time.ts";
import type { LockState } from "../ports/lock.ts";

/** Leaves on the Lease until when each provider asked for no calls, for every later run to obey; takes away what is over. Writes only a difference. */
export async function noteRateLimits(observation: Observation, lock: LockState): Promise<void> {
  if (!lock.isHeld()) return;
  const stored = lock.annotations();
  const wanted: ReadonlyMap<string, string> = new Map(
    [...observation.providers.values()].flatMap(({ name, unusable }) =>
      unusable?.reason === "RateLimited" && unusable.notBeforeMs !== undefined
        ? [[`${NOT_BEFORE_PREFIX}${name}`, timestamp(unusable.notBeforeMs)] as const]
        : [],
    ),
  );
  const over = Object.keys(stored).filter((key) => key.startsWith(NOT_BEFORE_PREFIX) && !wanted.has(key));
  const changes = Object.fromEntries([
    ...over.map((key) => [key, null] as const),
    ...[...wanted].filter(([key, time]) => stored[key] !== time),
  ]);
  if (Object.keys(changes).length > 0) await lock.annotate(changes);
}
