import { refKey } from "../model/action.ts";
import type { ObjectMeta } from "../model/resource.ts";
import {
  isOfShard,
  overlaps,
  parseShard,
  SHARD_LABEL,
  type Shard,
  shardName,
  shardText,
  uncoveredParts,
} from "../model/shard.ts";
import { durationText } from "../model/time.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import { listText } from "../report/text/layout.ts";
import { type Facts, type ListedObject, listedObjects } from "./facts.ts";
import { isRunning, workloadsCommand } from "./runs.ts";
import { allOr, type Checks, check, failing, fine, notApplicable, suspicious, type Verdict } from "./verdict.ts";

// Whether the processes that share a cluster work for all of its objects, and no two of them for the same one.

/** The checks of shards. */
export const SHARD_CHECKS: Checks<"FLP136" | "FLP137"> = {
  FLP136: check(["objects", "lease", "shards", "labelled", "workloads", "server", "own"], (facts) => {
    const objects = listedObjects(facts.objects);
    if (facts.shards.length === 0 && !objects.some(isLabelled)) return notApplicable("no shard is used");
    const serving = processesOf(facts).filter(({ record }) => isServing(record, facts));
    const left = objects.filter(({ object: { meta } }) => !serving.some(({ shard }) => isOfShard(meta, shard)));
    const byMissing = Map.groupBy(left, ({ object: { meta } }) => missingFor(meta, facts, serving));
    const wrong = [...byMissing].map(([missing, objectsLeft]) => leftVerdict(missing, objectsLeft, facts));
    return allOr(wrong, fine(`every object has its process: ${serving.map(nameOf).join(", ")}`));
  }),
  FLP137: check(["lease", "shards", "workloads", "server", "own"], (facts) => {
    if (facts.shards.length === 0) return notApplicable("no shard has run");
    const running = [{ record: facts.lease.record }, ...facts.shards].filter(({ record }) => isRunning(record, facts));
    const wrong = running.flatMap((one: Process, at) =>
      running
        .slice(at + 1)
        .filter((other: Process) => overlaps(one.shard, other.shard))
        .map((other) =>
          suspicious(`${nameOf(one)} and ${nameOf(other)} both run, and work for the same objects`, {
            command: workloadsCommand(facts.own),
          }),
        ),
    );
    return allOr(wrong, fine("no two processes work for the same objects"));
  }),
};

/** A process that shares the cluster; without `shard` it runs without `--shard`. */
interface Process {
  readonly shard?: Shard;
  readonly record: LeaseRecord | undefined;
}

function labelOf({ labels }: ObjectMeta): string {
  return labels[SHARD_LABEL] ?? "";
}

function isLabelled({ object }: ListedObject): boolean {
  return labelOf(object.meta) !== "";
}

/** The process without `--shard`, those that have run, and those that objects ask for; each once. */
function processesOf({ lease, shards, labelled }: Pick<Facts, "lease" | "shards" | "labelled">): readonly Process[] {
  const all = [...shards, ...labelled].map((one) => [shardText(one.shard), one] as const);
  return [{ record: lease.record }, ...new Map(all).values()];
}

function nameOf({ shard }: Process): string {
  return shard === undefined ? "the process without --shard" : `--shard ${shardText(shard)}`;
}

/** Where nothing runs flipop by itself, somebody does it by hand or from elsewhere: then a process counts that has run at all. */
function isServing(record: LeaseRecord | undefined, facts: Pick<Facts, "server" | "workloads">): boolean {
  return facts.workloads.length === 0 ? (record?.renewTimeMs ?? 0) > 0 : isRunning(record, facts);
}

/** Stands for a label that names no shard; no shard is written so. */
const NO_NAME = "?";
/** Stands for the process without `--shard`. */
const NO_SHARD = "";

/** Returns which `--shard` nobody runs with that would work for an object, {@link NO_SHARD} or {@link NO_NAME}. Pure. */
function missingFor(meta: ObjectMeta, { shards }: Pick<Facts, "shards">, serving: readonly Process[]): string {
  const label = labelOf(meta);
  if (label !== "") return parseShard(label) === undefined ? NO_NAME : label;
  // One that has run is missed, rather than a part that nobody ever asked for.
  const asked = shards.map(({ shard }) => shard);
  const parts = uncoveredParts(serving.flatMap(({ shard }) => shard ?? []));
  const missing = [...asked, ...parts].find((shard) => isOfShard(meta, shard));
  return missing === undefined ? NO_SHARD : shardText(missing);
}

type Seen = Pick<Facts, "lease" | "shards" | "labelled" | "server" | "own">;

function leftVerdict(missing: string, left: readonly ListedObject[], facts: Seen): Verdict {
  const objects = listText(
    left.map(({ ref }) => refKey(ref)),
    MOST_NAMED,
  );
  const command = workloadsCommand(facts.own);
  if (missing === NO_NAME) {
    const labels = [...new Set(left.map(({ object }) => `"${labelOf(object.meta)}"`))];
    return failing(`no --shard can be ${listText(labels, MOST_NAMED)}, the label of ${objects}`, {
      hint: `Correct the label ${SHARD_LABEL}: at most 40 lower-case letters, digits and '-', and not as 2-of-3.`,
    });
  }
  const process = processesOf(facts).find(
    ({ shard }) => (shard === undefined ? NO_SHARD : shardText(shard)) === missing,
  );
  const name = missing === NO_SHARD ? "without --shard" : `with --shard ${missing}`;
  const why = leaseText(process, facts);
  const hasRun = (process?.record?.renewTimeMs ?? 0) > 0;
  return failing(`nobody runs ${name}, and so nobody works for ${objects}${why}`, {
    hint: hasRun ? "Look at the log of its last Job or of its watcher." : hintFor(missing),
    command,
  });
}

function hintFor(missing: string): string {
  if (missing === NO_SHARD) return "Run flipop without --shard, too, or numbered shards, or label these objects.";
  if (parseShard(missing)?.kind === "named")
    return "Print the manifests of all shards with this one among them, or change the label.";
  return "Print the manifests again, with shards that cover every part.";
}

/** Says what the Lease of a process that does not run tells; nothing of a part that nobody asked for. */
function leaseText(process: Process | undefined, { server: { nowMs }, own: { lease } }: Seen): string {
  if (process === undefined) return "";
  const { shard, record } = process;
  const key = `${lease.namespace}/${shard === undefined ? lease.name : shardName(lease.name, shard)}`;
  if (record === undefined) return `: there is no Lease ${key}`;
  if (record.renewTimeMs <= 0) return `: nobody has ever held the Lease ${key}`;
  return `: the Lease ${key} was renewed last ${durationText(Math.max(0, nowMs - record.renewTimeMs))} ago`;
}

/** So many names stand in one line at most. */
const MOST_NAMED = 3;
