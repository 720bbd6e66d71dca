import { SHARDS_ANNOTATION } from "./lease-annotations.ts";
import { isNamespaceName, type ObjectMeta } from "./resource.ts";

/*
 * Which process works for which object, where several share one cluster and its accounts. Every object is one process's own:
 *
 *   the object                    is worked for by the process with
 *   has the label, web            --shard web
 *   has no label                  --shard 2/3, if its namespace falls to part 2 of 3; or no --shard
 *
 * The process without --shard and the numbered ones share what has no label, so never both; that is refused in shard-lock.ts. Numbered ones of
 * different counts may stand beside each other as far as no namespace falls to two of them: 1/2 beside 2/4 and 4/4.
 */

/** The label that gives an object to the process with that `--shard`. One that is empty is none. */
export const SHARD_LABEL = "flipop.digitalocean.com/shard";

/** Returns the labels by which objects are given to shards, each once; those that no shard can have, too. Pure. */
export function shardLabels(objects: readonly { readonly meta: Pick<ObjectMeta, "labels"> }[]): readonly string[] {
  return [...new Set(objects.flatMap(({ meta }) => meta.labels[SHARD_LABEL] || []))];
}

/** A part of the objects of a cluster: those of the namespaces that fall to a part, counted from 1, or those with a label. */
export type Shard =
  | { readonly kind: "numbered"; readonly part: number; readonly of: number }
  | { readonly kind: "named"; readonly name: string };

/** The most parts. More of them than this only makes mistakes look like plans. */
const MOST_PARTS = 100;

/** What a value of `--shard` has to be, for messages. */
export const SHARD_RULE: string = `Write I/N, as 2/3 (N at most ${MOST_PARTS}), or the value of the label ${SHARD_LABEL}: at most 40 lower-case letters, digits and '-', with a letter or digit at both ends, and not as 2-of-3.`;

/** Returns the shard that a text names; undefined for any other text. Pure. */
export function parseShard(text: string): Shard | undefined {
  const [, part = "", of = ""] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
  if (part !== "") {
    const shard = { kind: "numbered", part: Number(part), of: Number(of) } as const;
    return shard.part <= shard.of && shard.of <= MOST_PARTS ? shard : undefined;
  }
  // The Lease of a numbered shard has such a name.
  const isName = text.length <= 40 && isNamespaceName(text) && !/^\d+-of-\d+$/.test(text);
  return isName ? { kind: "named", name: text } : undefined;
}

/** Returns the shards that have run, by the annotations of the Lease of the process without `--shard`; other texts are none. Pure. */
export function shardsOn(annotations: Readonly<Record<string, string>>): readonly Shard[] {
  return (annotations[SHARDS_ANNOTATION] ?? "").split(",").flatMap((text) => parseShard(text.trim()) ?? []);
}

/** Writes a shard as `--shard` has it: `2/3`, `web`. Pure. */
export function shardText(shard: Shard): string {
  return shard.kind === "named" ? shard.name : `${shard.part}/${shard.of}`;
}

/** The name of a shard's Lease, and of what else is one per shard: `flipop-2-of-3`, `flipop-web`. Pure. */
export function shardName(base: string, shard: Shard): string {
  return shard.kind === "named" ? `${base}-${shard.name}` : `${base}-${shard.part}-of-${shard.of}`;
}

/** True for an object that the process with this `--shard`, or with none, works for. Pure. */
export function isOfShard({ namespace, labels }: Pick<ObjectMeta, "namespace" | "labels">, shard?: Shard): boolean {
  const label = labels[SHARD_LABEL] ?? "";
  if (shard?.kind === "named") return label === shard.name;
  if (label !== "") return false;
  return shard === undefined || partOf(namespace, shard.of) === shard.part;
}

/** Returns which of so many parts a namespace falls to, from 1. It is the same in every version of flipop. Pure. */
export function partOf(namespace: string, parts: number): number {
  return (hash(namespace) % parts) + 1;
}

/** True where an object could be of both; undefined is the process without `--shard`. A shard overlaps itself. Pure. */
export function overlaps(a: Shard | undefined, b: Shard | undefined): boolean {
  if (a?.kind === "named" || b?.kind === "named") return a?.kind === b?.kind && shardsEqual(a, b);
  if (a === undefined || b === undefined) return true;
  // Some number leaves both remainders where they agree on what both counts share.
  return (a.part - b.part) % commonDivisor(a.of, b.of) === 0;
}

function shardsEqual(a: Shard | undefined, b: Shard | undefined): boolean {
  return a !== undefined && b !== undefined && shardText(a) === shardText(b);
}

/** Returns the parts, of the smallest count that all numbered shards divide, that none of them covers. Empty without numbered shards, and where that count is above 10,000. Pure. */
export function uncoveredParts(shards: readonly Shard[]): readonly Shard[] {
  const numbered = shards.flatMap((shard) => (shard.kind === "numbered" ? [shard] : []));
  if (numbered.length === 0) return [];
  const of = numbered.reduce((all, one) => (all * one.of) / commonDivisor(all, one.of), 1);
  if (of > MOST_COMBINED) return [];
  const isCovered = (part: number): boolean => numbered.some((one) => (part - one.part) % one.of === 0);
  return [...Array(of).keys()].flatMap((at) =>
    isCovered(at + 1) ? [] : [{ kind: "numbered" as const, part: at + 1, of }],
  );
}

/** So many parts are counted out at most. */
const MOST_COMBINED = 10_000;

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** FNV-1a over the characters, then mixed so that every remainder is about as frequent: FNV's lowest bits are poor. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
