import type { Mutation } from "./mutations.ts";

/** Bugs that show only where several shards work: the histories of `sharded-history.ts` find them, of single runs or of processes that watch. */
export const SHARD_BUGS: readonly Mutation[] = [
  {
    name: "A shard works for the objects of the others, too.",
    file: "src/plan/shards.ts",
    find: "[refKey(ref), isOfShard(meta, shard)]",
    replace: "[refKey(ref), isOfShard(meta, shard) || shard !== undefined]",
  },
  {
    name: "Whose an object is is remembered from the first look.",
    file: "src/plan/shards.ts",
    find: "[refKey(ref), isOfShard(meta, shard)]",
    replace:
      "[refKey(ref), ((seen: Map<string, boolean>, key: string) => seen.get(key) ?? seen.set(key, isOfShard(meta, shard)).get(key) === true)(((globalThis as any).firstLooks ??= new Map()), [meta.uid, selection.shard].join())]",
  },
  {
    name: "Two processes of the same objects both go on.",
    file: "src/watch/shard-lock.ts",
    find: "if (overlap !== undefined) return {",
    replace: 'if (overlap !== undefined && name === "") return {',
  },
  {
    name: "What a provider told one shard the others do not know.",
    file: "src/model/lease-notes.ts",
    find: " || key.startsWith(NOT_BEFORE_PREFIX);",
    replace: ";",
  },
];
