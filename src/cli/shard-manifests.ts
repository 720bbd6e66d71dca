import { InvalidArgumentError } from "commander";
import { overlaps, parseShard, SHARD_RULE, type Shard, shardName, shardText } from "../model/shard.ts";

/** What is there once for each shard; everything else all share. */
const OF_EACH: ReadonlySet<string> = new Set([
  "cronjob.yaml",
  "watch/deployment.yaml",
  "watch/poddisruptionbudget.yaml",
]);

/** A value of `--shard` after those that were given before. @throws InvalidArgumentError for a text that names none, and for one that overlaps another */
export function addShard(text: string, before: readonly Shard[] = []): readonly Shard[] {
  const shard = parseShard(text);
  if (shard === undefined) throw new InvalidArgumentError(SHARD_RULE);
  const other = before.find((one) => overlaps(one, shard));
  if (other !== undefined)
    throw new InvalidArgumentError(`It has objects of ${shardText(other)}, too. Name shards that share none.`);
  return [...before, shard];
}

/**
 * Returns a manifest as shards need it. What runs flipop is there once for each shard, with names of its own. The Role has the Leases of all shards. The alert on missing metrics
 * names all shards. Any other manifest, and without shards each, is as it was.
 */
export function withShards(file: string, text: string, shards: readonly Shard[]): readonly string[] {
  if (shards.length === 0) return [text];
  if (OF_EACH.has(file)) return shards.map((shard) => ofShard(text, shard));
  if (file === "monitoring/prometheusrule.yaml") return [withAbsentShards(text, shards)];
  const leases = ["flipop", ...leaseNames(shards)].join(", ");
  return [file === "rbac.yaml" ? text.replace(/(?<=^ +resourceNames: \[)flipop(?=\]$)/gm, leases) : text];
}

/** Prometheus does not know of a shard whose metrics it has never seen, unless the rule names it. */
function withAbsentShards(text: string, shards: readonly Shard[]): string {
  return text.replace(/^( +)absent\(flipop_build_info\)$/m, (_, blanks) =>
    shards
      .map((shard, at) => `${blanks}${at === 0 ? "" : "or "}absent(flipop_build_info{shard="${shardText(shard)}"})`)
      .join("\n"),
  );
}

/** A numbered shard looks at the Leases of the others of its count, too. */
function leaseNames(shards: readonly Shard[]): readonly string[] {
  const all = shards.flatMap((shard) =>
    shard.kind === "named" ? [shard] : Array.from({ length: shard.of }, (_, at): Shard => ({ ...shard, part: at + 1 })),
  );
  return [...new Set(all.map((shard) => shardName("flipop", shard)))];
}

function ofShard(text: string, shard: Shard): string {
  const name = shardName("flipop", shard);
  return (
    text
      .replace(/(?<=^ {2}name: )flipop$/m, name)
      .replace(/(?<=kubectl -n flipop patch cronjob )flipop(?= )/, name)
      // Selectors, too: two Deployments must not have the same pods.
      .replace(
        /^( +)app\.kubernetes\.io\/name: flipop\n/gm,
        (line, blanks) => `${line}${blanks}app.kubernetes.io/instance: ${name}\n`,
      )
      .replace(
        /^( +)- name: NODE_OPTIONS\n.*\n/m,
        (lines, blanks) =>
          `${lines}${blanks}- name: FLIPOP_SHARD\n${blanks}  value: ${JSON.stringify(shardText(shard))}\n`,
      )
  );
}
