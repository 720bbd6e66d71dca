import { isDeepStrictEqual } from "node:util";
import { restoreMemory, withOwnMeta } from "../model/acquisition-memory.ts";
import type { Observation } from "../model/observation.ts";
import { objectKey, type Pool, type RecordSet } from "../model/resource.ts";
import type { ClusterLists } from "./read-cluster.ts";

type Objects = Pick<Observation, "pools" | "recordSets">;

/**
 * Returns what a pass knows, with the objects as they are listed now: new ones, those that somebody has changed, and without those that are gone. What the pass itself writes
 * (status, finalizers, the note of acquisitions) stands as it knows it: a list may be older. Returns the same observation where no object differs. Pure.
 *
 * @param isFinished - true for an object that the pass is done with: a list may still show it
 */
export function withObjectsNow(
  known: Observation,
  { pools, recordSets, missingKinds }: Objects & Pick<ClusterLists, "missingKinds">,
  isFinished: (object: Pool | RecordSet) => boolean,
  nowMs: number,
): Observation {
  const now = {
    pools: listedNow(known.pools, pools, isFinished).map((pool) => restoreMemory(pool, nowMs)),
    recordSets: listedNow(known.recordSets, recordSets, isFinished),
  };
  const objects = {
    pools: unlessSame(known.pools, now.pools),
    recordSets: unlessSame(known.recordSets, now.recordSets),
  };
  const isSame = objects.pools === known.pools && objects.recordSets === known.recordSets;
  return isSame ? known : { ...known, ...objects, ...(missingKinds === undefined ? {} : { missingKinds }) };
}

function listedNow<O extends Pool | RecordSet>(
  known: readonly O[],
  listed: readonly O[],
  isFinished: (object: O) => boolean,
): readonly O[] {
  const before = new Map(known.map((object) => [keyOf(object), object]));
  return listed.flatMap((object) => {
    const own = before.get(keyOf(object));
    if (own === undefined) return isFinished(object) ? [] : [object];
    const restored = "restored" in own && own.restored !== undefined ? { restored: own.restored } : {};
    return [{ ...object, ...restored, status: own.status, meta: withOwnMeta(object.meta, own.meta) }];
  });
}

/** An object that was deleted and made anew is another one. */
function keyOf(object: Pool | RecordSet): string {
  return `${"kind" in object ? object.kind : "dns"} ${objectKey(object.meta)} ${object.meta.uid}`;
}

function unlessSame<O extends object>(known: readonly O[], now: readonly O[]): readonly O[] {
  return isDeepStrictEqual(known, now) ? known : now;
}
