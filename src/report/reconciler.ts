import type { GrantMode } from "../model/grants.ts";
import {
  LAST_RESULT_ANNOTATION,
  LAST_RUN_ANNOTATION,
  LAST_SUCCESS_ANNOTATION,
  PUT_OFF_PREFIX,
} from "../model/lease-annotations.ts";
import { leaseFacts, leaseSuspension, notedGrants, parsePutOff } from "../model/lease-notes.ts";
import { holdsNow, type Suspension } from "../model/suspension.ts";
import { durationText } from "../model/time.ts";
import type { ScheduledWorkload } from "../model/workload.ts";
import { rfc3339 } from "./text/times.ts";

/** What tells of the reconciler. */
export interface RunFacts {
  /** By the API server's clock. */
  readonly nowMs: number;
  /** `NAMESPACE/NAME` of the Lease. */
  readonly leaseKey: string;
  readonly lease?: {
    readonly holder: string;
    readonly renewTimeMs: number;
    readonly annotations: Readonly<Record<string, string>>;
  };
  /** Why the Lease could not be read, where the reader may not: everything else is shown all the same. */
  readonly leaseError?: string;
  /** What runs flipop by itself in the namespace of the Lease; absent where nobody says. */
  readonly workloads?: readonly ScheduledWorkload[];
  /** Whether what is not granted is shown; absent = as the Lease notes how grants counted, and where it cannot be read whatever is stored. */
  readonly grants?: GrantMode | "off";
}

/** The reconciler as its Lease tells; `""` = nobody, never, unknown. */
export interface ReconcilerRow {
  readonly lease: string;
  readonly heldBy: string;
  /** RFC 3339; when the holder last renewed the Lease. */
  readonly renewed: string;
  readonly lastRun: string;
  readonly lastSuccess: string;
  readonly lastResult: string;
  /** Until when providers asked for no calls, RFC 3339, sorted by name; without those whose time is over. */
  readonly notBefore: readonly { readonly provider: string; readonly until: string }[];
  /** Looks at names that the last run put off, by provider. */
  readonly putOff: readonly { readonly provider: string; readonly names: number; readonly until: string }[];
  /** What lets all objects stand still now; absent while nothing does. */
  readonly suspension?: Suspension;
  /** What runs flipop by itself, sorted by kind and name; absent where nobody says. */
  readonly workloads?: readonly ScheduledWorkload[];
  /** How grants counted in the last run; absent = nobody knows. */
  readonly grants?: GrantMode | "off";
  /** True where grants were asked for by name. */
  readonly asksForGrants: boolean;
  /** Why nothing is known. */
  readonly error: string;
  /** What is wrong with the last run: it is unknown, too long ago, or none is on record; `""` = nothing. */
  readonly problem: string;
}

/** Returns what the Lease, and what runs flipop, tell of the reconciler. Pure. */
export function reconcilerRow(
  { lease, leaseKey, leaseError, nowMs, workloads, grants = "off" }: RunFacts,
  maxAgeMs: number,
): ReconcilerRow {
  const annotations = lease?.annotations ?? {};
  const lastSuccess = annotations[LAST_SUCCESS_ANNOTATION] ?? "";
  const suspension = leaseSuspension(annotations);
  return {
    lease: leaseKey,
    heldBy: lease?.holder ?? "",
    renewed: lease === undefined || lease.holder === "" ? "" : rfc3339(lease.renewTimeMs),
    lastRun: annotations[LAST_RUN_ANNOTATION] ?? "",
    lastSuccess,
    lastResult: annotations[LAST_RESULT_ANNOTATION] ?? "",
    notBefore: [...leaseFacts(annotations, nowMs).providerNotBeforeMs]
      .map(([provider, untilMs]) => ({ provider, until: rfc3339(untilMs) }))
      .toSorted((a, b) => (a.provider < b.provider ? -1 : 1)),
    putOff: Object.entries(annotations).flatMap(putOffRow),
    ...(holdsNow(suspension, nowMs) ? { suspension } : {}),
    ...runsField(workloads),
    ...(leaseError === undefined ? { grants: notedGrants(annotations) ?? "off" } : {}),
    asksForGrants: grants !== "off",
    error: leaseError ?? "",
    problem:
      leaseError === undefined ? ageProblem(lastSuccess, nowMs, maxAgeMs) : `the last run is unknown: ${leaseError}`,
  };
}

function runsField(workloads: readonly ScheduledWorkload[] | undefined): Pick<ReconcilerRow, "workloads"> {
  return workloads === undefined ? {} : { workloads: workloads.toSorted(byKindAndName) };
}

function byKindAndName(a: ScheduledWorkload, b: ScheduledWorkload): number {
  return `${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1;
}

function putOffRow([key, text]: readonly [string, string]): ReconcilerRow["putOff"] {
  const putOff = key.startsWith(PUT_OFF_PREFIX) ? parsePutOff(text) : undefined;
  if (putOff === undefined) return [];
  return [{ provider: key.slice(PUT_OFF_PREFIX.length), names: putOff.names, until: rfc3339(putOff.untilMs) }];
}

function ageProblem(lastSuccess: string, nowMs: number, maxAgeMs: number): string {
  const at = Date.parse(lastSuccess);
  if (Number.isNaN(at)) return "no successful run is on record";
  const ahead = `is noted for a time that comes in ${durationText(at - nowMs)}: a clock was wrong`;
  if (at - nowMs > maxAgeMs) return `the last successful run ${ahead}`;
  if (nowMs - at <= maxAgeMs) return "";
  return `the last successful run was ${durationText(nowMs - at)} ago, more than ${durationText(maxAgeMs)}`;
}
