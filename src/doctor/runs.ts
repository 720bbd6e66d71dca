import { refKey } from "../model/action.ts";
import { LAST_SUCCESS_ANNOTATION } from "../model/lease-annotations.ts";
import { leaseSuspension } from "../model/lease-notes.ts";
import { shardText } from "../model/shard.ts";
import { suspensionOf, whySuspended } from "../model/suspension.ts";
import { durationText } from "../model/time.ts";
import { scheduleMs, type Workload } from "../model/workload.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import { untilText } from "../report/text/times.ts";
import { type Facts, listedObjects, type Objects } from "./facts.ts";
import { allOr, type Checks, check, failing, fine, notApplicable, suspicious, type Verdict } from "./verdict.ts";

const MINUTE_MS = 60_000;
/** So many intervals may pass without a successful run. */
const MOST_INTERVALS = 3;

/** The checks of what runs flipop. */
export const RUN_CHECKS: Checks<"FLP131" | "FLP132" | "FLP133" | "FLP134" | "FLP135"> = {
  FLP131: check(["lease", "server", "own"], ({ lease: { record }, server: { nowMs }, own }) => {
    const key = `${own.lease.namespace}/${own.lease.name}`;
    const command = `kubectl -n ${own.lease.namespace} get lease ${own.lease.name} -o yaml`;
    if (record === undefined || record.holder === "") return fine(`the Lease ${key} is free`);
    const agoMs = Math.max(0, nowMs - record.renewTimeMs);
    if (isFresh(record, nowMs)) return fine(`${record.holder} holds the Lease`);
    return suspicious(
      `${record.holder} holds the Lease ${key} and has not renewed it for ${durationText(agoMs)}, longer than it lasts`,
      { consequence: "Its run ended without giving it back, or hangs. The next run takes the Lease over.", command },
    );
  }),
  FLP132: check(["lease", "shards", "server", "workloads", "own"], (facts) => {
    const { workloads, own, server } = facts;
    if (workloads.length === 0) return notApplicable("nothing runs flipop by itself");
    const intervalMs = intervalOf(workloads);
    const command = `kubectl -n ${own.lease.namespace} logs -l app.kubernetes.io/part-of=flipop --tail=50`;
    const judged = judgedRuns(facts).map(({ whose, record }) => {
      const atMs = Date.parse(record?.annotations[LAST_SUCCESS_ANNOTATION] ?? "");
      return { whose, agoMs: server.nowMs - atMs };
    });
    const wrong = judged.flatMap(({ whose, agoMs }): readonly Verdict[] => {
      if (Number.isNaN(agoMs)) return [failing(`no successful run${whose} is on record`, { command })];
      if (Math.abs(agoMs) <= MOST_INTERVALS * intervalMs) return [];
      const ahead = `is noted for a time that comes in ${durationText(-agoMs)}: a clock was wrong`;
      if (agoMs < 0) return [failing(`the last successful run${whose} ${ahead}`, { command })];
      const due = `it is due every ${durationText(intervalMs)}`;
      return [failing(`the last successful run${whose} was ${durationText(agoMs)} ago; ${due}`, { command })];
    });
    const oldestMs = Math.max(...judged.map(({ agoMs }) => agoMs));
    return allOr(wrong, fine(`last successful run ${durationText(Math.max(0, oldestMs))} ago`));
  }),
  FLP133: check(["workloads", "own"], ({ workloads, own }) => {
    const { namespace } = own.lease;
    const command = workloadsCommand(own);
    if (workloads.length === 0) {
      const consequence = "Nothing runs by itself: changes wait until somebody runs flipop reconcile.";
      return suspicious(`no CronJob or Deployment of flipop is in namespace ${namespace}`, {
        consequence,
        hint: "Install it.",
        command: "flipop manifests --image IMAGE | kubectl apply -f -",
      });
    }
    const running = workloads.filter(({ isSuspended }) => !isSuspended);
    if (running.length === 0) {
      const what = workloads.map(({ kind, name }) => `${kind} ${name}`).join(" and ");
      return suspicious(`${what} ${workloads.length > 1 ? "are" : "is"} suspended`, {
        consequence: "Nothing runs by itself: changes wait until somebody lets it go on.",
        hint: "Let it go on.",
        command,
      });
    }
    const others = running.filter(({ image }) => !isOfVersion(image, own.version));
    return allOr(
      others.map(({ kind, name, image }) =>
        suspicious(`${kind} ${name} runs ${image}, and this flipop is ${own.version}`, {
          consequence: "What is said here may not be what that version does.",
          hint: "Use the version that runs, or install this one.",
          command,
        }),
      ),
      fine(running.map((one) => `${one.kind} ${one.kind === "CronJob" ? one.schedule : "watches"}`).join(", ")),
    );
  }),
  FLP134: check(["namesakes", "own"], ({ namesakes, own: { lease } }) =>
    allOr(
      namesakes
        .filter(({ namespace }) => namespace !== lease.namespace)
        .map(({ namespace, name }) =>
          suspicious(`namespace ${namespace} has a Lease ${name}, too`, {
            command: `kubectl -n ${namespace} get lease ${name} -o yaml`,
          }),
        ),
      fine("no other Lease of this name"),
    ),
  ),
  FLP135: check(["objects", "lease", "server"], ({ objects, lease: { record }, server: { nowMs } }) =>
    suspendedOf(objects, record, nowMs),
  ),
};

/** True while a Lease counts as held. */
export function isFresh({ holder, renewTimeMs, durationSeconds }: LeaseRecord, nowMs: number): boolean {
  return holder !== "" && renewTimeMs + durationSeconds * 1000 >= nowMs;
}

function suspendedOf(objects: Objects, lease: LeaseRecord | undefined, nowMs: number): readonly Verdict[] {
  const ofAll = leaseSuspension(lease?.annotations ?? {});
  return allOr(
    listedObjects(objects).flatMap(({ ref, object }) => {
      const suspended = suspensionOf(object, ofAll, nowMs);
      if (suspended === undefined) return [];
      const { sinceMs, untilMs } = suspended;
      const since = sinceMs === undefined ? "" : `, for ${durationText(Math.max(0, nowMs - sinceMs))}`;
      const until = untilMs === undefined ? "without an end" : untilText(untilMs, nowMs);
      const key = refKey(ref);
      const command = suspended.source === "lease" ? "flipop resume --all" : `flipop resume ${key}`;
      const how = suspended.source === "spec" ? { hint: "Set spec.suspend to false." } : { command };
      return [suspicious(`${key} is suspended ${until}${since}: ${whySuspended(suspended)}`, how)];
    }),
    fine("no object is suspended"),
  );
}

/** The command that lists what runs flipop by itself. Pure. */
export function workloadsCommand({ lease }: Facts["own"]): string {
  return `kubectl -n ${lease.namespace} get cronjobs,deployments -l app.kubernetes.io/part-of=flipop`;
}

/** True for an image of a version, and for one whose tag does not say which it is. */
function isOfVersion(image: string, version: string): boolean {
  const tag = /:([^/:@]+)(?:@|$)/.exec(image)?.[1];
  return tag === undefined || !/^v?\d/.test(tag) || tag.replace(/^v/, "") === version;
}

/** Whose last run is judged: that of the process without `--shard`; where shards have run, that of each process that runs, else of the one that ran last. */
function judgedRuns(
  facts: Pick<Facts, "lease" | "shards" | "server" | "workloads">,
): readonly { readonly whose: string; readonly record: LeaseRecord | undefined }[] {
  const base = { whose: "", record: facts.lease.record };
  if (facts.shards.length === 0) return [base];
  const ofShards = facts.shards.map(({ shard, record }) => ({ whose: ` of --shard ${shardText(shard)}`, record }));
  const inTurn = [base, ...ofShards].toSorted((a, b) => (b.record?.renewTimeMs ?? 0) - (a.record?.renewTimeMs ?? 0));
  const running = inTurn.filter(({ record }) => isRunning(record, facts));
  return running.length > 0 ? running : inTurn.slice(0, 1);
}

/**
 * True where a process holds this Lease, or had it within three intervals. Where nothing runs flipop by itself nobody can tell when the next run is due: then only who holds
 * it runs. Pure.
 */
export function isRunning(
  record: LeaseRecord | undefined,
  { server: { nowMs }, workloads }: Pick<Facts, "server" | "workloads">,
): boolean {
  if (record === undefined) return false;
  if (isFresh(record, nowMs)) return true;
  return workloads.length > 0 && nowMs - record.renewTimeMs <= MOST_INTERVALS * intervalOf(workloads);
}

/** The time between two runs by themselves: the shortest of all workloads. */
function intervalOf(workloads: readonly Workload[]): number {
  return Math.min(...workloads.map(({ kind, schedule }) => (kind === "Deployment" ? MINUTE_MS : scheduleMs(schedule))));
}

/** How many runs an hour has by themselves. Pure. */
export function runsAnHour(workloads: readonly Workload[]): number {
  return workloads.length === 0 ? 0 : Math.ceil((60 * MINUTE_MS) / intervalOf(workloads));
}
