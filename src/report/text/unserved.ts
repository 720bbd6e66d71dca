import { SHARD_LABEL } from "../../model/shard.ts";
import type { NamedRow } from "../overview.ts";
import { listText } from "./layout.ts";

// Objects that nobody works for, since their label gives them to a process that never ran.

/** How many objects of one shard are named. */
const MOST_OBJECTS = 3;

/** Returns one sentence for each of these shards that has objects. Pure. */
export function unservedTexts(rows: readonly NamedRow[], unusedShards: ReadonlySet<string>): readonly string[] {
  const unserved = rows.filter(({ shard }) => unusedShards.has(shard));
  return [...Map.groupBy(unserved, ({ shard }) => shard)].map(([shard, of]) => {
    const names = listText(
      of.map(({ name }) => name),
      MOST_OBJECTS,
    );
    const whom = of.length === 1 ? "this object" : "these objects";
    return `${names}: nobody works for ${whom}: the label ${SHARD_LABEL} names "${shard}", and no process has run with --shard ${shard}`;
  });
}

/** What a person can do about it. */
export const UNSERVED_HELP = "Correct the label, or run flipop reconcile with that --shard.";
