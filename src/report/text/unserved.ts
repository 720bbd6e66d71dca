import { SHARD_LABEL } from "../../model/shard.ts";
import { listText } from "./layout.ts";

// Objects that nobody works for, since their label gives them to a process that never ran.

/** An object, as a target, and the shard that its label names. */
export interface UnservedObject {
  readonly object: string;
  readonly shard: string;
}

/** How many objects of one shard are named. */
const MOST_OBJECTS = 3;

/** Returns that nobody works for objects, one sentence per shard. Pure. */
export function unservedTexts(unserved: readonly UnservedObject[]): readonly string[] {
  return [...Map.groupBy(unserved, ({ shard }) => shard)].map(([shard, of]) => {
    const names = listText(
      of.map(({ object }) => object),
      MOST_OBJECTS,
    );
    const whom = of.length === 1 ? "this object" : "these objects";
    return `${names}: nobody works for ${whom}: the label ${SHARD_LABEL} names "${shard}", and no process has run with --shard ${shard}`;
  });
}

/** What a person can do about it. */
export const UNSERVED_HELP = "Correct the label, or run flipop reconcile with that --shard.";
