import type { ObjectRef } from "../model/action.ts";
import type { Change, ChangeKind } from "../model/change.ts";
import { LAST_RESULT_ANNOTATION, LAST_RUN_ANNOTATION, LAST_SUCCESS_ANNOTATION } from "../model/lease-annotations.ts";
import { leaseSuspension } from "../model/lease-notes.ts";
import type { Condition, DNSMemory, ObjectMeta, PoolStatus, RecordSetStatus, RetryStatus } from "../model/resource.ts";
import { retriedNode, retrySubjectText } from "../model/retry-subject.ts";
import { type Suspension, whySuspended } from "../model/suspension.ts";
import { plainValue } from "../model/text.ts";
import { parseTime } from "../model/time.ts";
import { outcomeOfRun } from "./texts.ts";

/** An object with what its status keeps. */
export interface KeptObject {
  readonly ref: ObjectRef;
  readonly meta: Pick<ObjectMeta, "suspension">;
  readonly status: PoolStatus | RecordSetStatus;
}

/** A fact that status or the Lease keeps for longer than the cluster keeps Events. */
export interface KeptChange {
  readonly change: Change;
  /** An Event or log line of one of these kinds, at about that time, tells the same. */
  readonly toldBy: readonly ChangeKind[];
}

/** Returns what the statuses of objects know of the past, in no order. Pure. */
export function changesOfObjects(objects: readonly KeptObject[], nowMs: number): readonly KeptChange[] {
  return plainValue(objects).flatMap((object) => {
    const { ref, meta, status } = object;
    const kept = [
      ...status.conditions.flatMap(ofCondition),
      ...("ips" in status ? ofPool(status) : ofRecordSet(status)),
      ...ofNames(status),
      ...status.retries.flatMap((retry) => ofRetry(retry, nowMs)),
      ...(meta.suspension === undefined ? [] : ofSuspension(meta.suspension, "object")),
    ];
    return kept.map(({ change, toldBy }) => ({ change: { ...change, object: ref }, toldBy }));
  });
}

/** Returns what the Lease knows: the last run, the last one that went well, and who lets everything stand still. Pure. */
export function changesOfLease({
  annotations,
}: {
  readonly annotations: Readonly<Record<string, string>>;
}): readonly KeptChange[] {
  const of = (name: string): string => plainValue(annotations[name] ?? "");
  const [lastRun, lastSuccess] = [of(LAST_RUN_ANNOTATION), of(LAST_SUCCESS_ANNOTATION)];
  const [, code = "", word = ""] = /^(\d+) (.*)$/.exec(of(LAST_RESULT_ANNOTATION)) ?? [];
  const suspension = leaseSuspension(annotations);
  const run = (time: string, what: string, outcome: Change["outcome"]): readonly KeptChange[] =>
    fact(time, "run", { what, outcome, toldBy: ["run"] });
  const result = code === "" ? "" : ` with exit code ${code} (${word})`;
  const kept = [
    ...run(lastRun, `last run ended${result}`, code === "" ? "seen" : outcomeOfRun(Number(code))),
    ...(lastRun === lastSuccess ? [] : run(lastSuccess, "last run that went well", "applied")),
    ...(suspension === undefined ? [] : ofSuspension(plainValue(suspension), "lease")),
  ];
  return kept.map(({ change, toldBy }) => ({ change: { ...change, sources: ["lease"] }, toldBy }));
}

type Told = Partial<Omit<Change, "kind" | "timeMs">> & Pick<Change, "what"> & Partial<Pick<KeptChange, "toldBy">>;

/** A fact at a time; nothing where the time cannot be read. */
function fact(time: string | number | undefined, kind: ChangeKind, told: Told): readonly KeptChange[] {
  const timeMs = typeof time === "number" ? time : parseTime(time ?? "");
  if (timeMs === undefined) return [];
  const { toldBy = [], ...rest } = told;
  const plain = { count: 1, subject: "", outcome: "seen", reason: "", why: "", sources: ["status"] } as const;
  return [{ change: { firstMs: timeMs, ...plain, ...rest, timeMs, kind }, toldBy }];
}

function ofCondition({ type, status, lastTransitionTime, reason, message }: Condition): readonly KeptChange[] {
  // A condition keeps when it began, and not why it did: its message is that of now.
  const why = `Now: ${message}`;
  if (type === "Ready") {
    if (status === "True") return fact(lastTransitionTime, "ready", { what: "is ready", reason });
    return fact(lastTransitionTime, "ready", { what: "is not ready", reason, why, outcome: "failed" });
  }
  const isWaiting = (type === "Stalled" && status === "True") || (type === "Granted" && status === "False");
  if (!isWaiting) return [];
  return fact(lastTransitionTime, "stall", {
    what: type === "Granted" ? "asks for what it is not granted" : "waits for a person",
    outcome: "waiting",
    reason,
    why,
    toldBy: type === "Granted" ? [] : ["stall"],
  });
}

/** When it failed is not kept: it is told at the time of the look. */
function ofRetry(retry: RetryStatus, nowMs: number): readonly KeptChange[] {
  const { subject, attempts, nextAttemptTime, error } = retry;
  return fact(nowMs, "retry", {
    subject: retriedNode(retry)?.nodeName ?? subject.replace(/^(ip|dns)\//, ""),
    outcome: "failed",
    count: Math.max(1, attempts),
    what: `still failing: ${retrySubjectText(subject)}, next attempt at ${nextAttemptTime}`,
    why: error,
  });
}

function ofPool({
  ips,
  acquired,
  pendingAcquisitions,
  lastAssignmentTime,
  assignments,
}: PoolStatus): readonly KeptChange[] {
  const many = assignments === undefined ? "" : `, the ${ordinal(assignments)} in all`;
  return [
    ...fact(lastAssignmentTime, "assign-ip", {
      outcome: "applied",
      what: `assigned an address${many}`,
      toldBy: ["assign-ip", "move-ip", "acquire-ip"],
    }),
    ...Object.entries(ips).flatMap(([ip, { nodeName = "its node", notMatchingSince }]) =>
      fact(notMatchingSince, "match", { subject: ip, what: `${nodeName} stopped matching`, why: `It has ${ip}.` }),
    ),
    ...acquired.flatMap(({ ip, acquiredAt, adopted }) =>
      fact(acquiredAt, "acquire-ip", {
        subject: ip,
        outcome: "applied",
        what: adopted === true ? `took ${ip} for the answer of a purchase` : `acquired ${ip}`,
        toldBy: ["acquire-ip"],
      }),
    ),
    ...pendingAcquisitions.flatMap(({ startedAt, nodeName, region = "" }) =>
      fact(startedAt, "acquire-ip", {
        outcome: "unconfirmed",
        what: `asked to acquire a new address ${nodeName === undefined ? `in region ${region}` : `for ${nodeName}`}`,
        why: "The answer is not known yet.",
        toldBy: ["acquire-ip"],
      }),
    ),
  ];
}

function ordinal(count: number): string {
  const ending = count % 100 >= 11 && count % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${count}${ending}`;
}

function ofRecordSet({ unreadyNodes }: RecordSetStatus): readonly KeptChange[] {
  return unreadyNodes.flatMap(({ nodeName, since }) =>
    fact(since, "match", { subject: nodeName, what: `${nodeName} stopped matching`, why: "Its name shows it." }),
  );
}

function ofNames(status: PoolStatus | RecordSetStatus): readonly KeptChange[] {
  const ipv6 = "ipv6" in status ? status.ipv6 : undefined;
  return ipv6 === undefined ? ofName(status) : [...ofName(status), ...ofName(ipv6)];
}

function ofName({ fight, publishedDNS }: DNSMemory): readonly KeptChange[] {
  const foreign = (publishedDNS?.foreign ?? []).flatMap(({ address, since }) => {
    const what = `${publishedDNS?.name} was seen to show ${address}`;
    return fact(since, "record", { subject: publishedDNS?.name ?? "", what, why: "No object has it on record." });
  });
  if (fight === undefined) return foreign;
  const { name, seen, addresses, since, times, count } = fight;
  const firstMs = parseTime(since);
  const found = seen.length === 0 ? "no address" : seen.join(", ");
  const repaired = fact(times.at(-1) ?? since, "record", {
    ...(firstMs === undefined ? {} : { firstMs }),
    subject: name,
    count,
    what: `put ${name} right`,
    why: `Somebody else had changed it: it showed ${found} instead of ${addresses.join(", ")}.`,
    toldBy: ["update-dns"],
  });
  return [...foreign, ...repaired];
}

function ofSuspension(suspension: Suspension, source: "object" | "lease"): readonly KeptChange[] {
  const until = suspension.untilMs === undefined ? "without an end" : "for a time";
  return fact(suspension.sinceMs, "suspend", {
    what: `suspended ${until}`,
    why: `It was suspended ${whySuspended({ ...suspension, source })}.`,
    ...(suspension.by === "" ? {} : { by: suspension.by }),
  });
}
