import { compareIPv4 } from "../model/address.ts";
import { LAST_RESULT_ANNOTATION, LAST_RUN_ANNOTATION, LAST_SUCCESS_ANNOTATION } from "../model/lease-annotations.ts";
import { type Condition, type IPStatus, objectKey, type Pool, type RetryStatus } from "../model/resource.ts";
import { oneLine } from "./one-line.ts";
import { durationText, rfc3339 } from "./time-text.ts";

/** What `status` reads: the pools as stored, and the Lease where there is one. */
export interface StoredFacts {
  readonly cluster: string;
  /** By the API server's clock. */
  readonly nowMs: number;
  /** Selected pools, sorted by namespace and name. */
  readonly pools: readonly Pool[];
  /** `NAMESPACE/NAME` of the Lease. */
  readonly leaseKey: string;
  readonly lease?: {
    readonly holder: string;
    readonly renewTimeMs: number;
    readonly annotations: Readonly<Record<string, string>>;
  };
  /** Why the Lease could not be read, where the reader may not: everything else is shown all the same. */
  readonly leaseError?: string;
}

/** One address of a pool, as its status tells. */
export interface AddressRow {
  readonly ip: string;
  readonly status: IPStatus;
  readonly retry?: RetryStatus;
}

/** One pool, as its status tells; `ready` is Unknown while status speaks of an older spec. */
export interface PoolRow {
  readonly pool: Pool;
  readonly ready: Condition["status"];
  /** The Ready condition's reason and message; the reason is `""` when there is none for this spec. */
  readonly reason: string;
  readonly message: string;
  readonly active: number;
  readonly desired: number;
  /** Sorted by address. */
  readonly addresses: readonly AddressRow[];
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
  /** Why nothing is known. */
  readonly error: string;
}

/** Everything `status` shows, and what `status --check` finds wrong: one sentence each, pools first. */
export interface Overview {
  readonly cluster: string;
  readonly nowMs: number;
  readonly pools: readonly PoolRow[];
  readonly reconciler: ReconcilerRow;
  readonly problems: readonly string[];
}

/** Returns the overview of what is stored. A last success older than `maxAgeMs`, or none, is a problem. */
export function overviewOf(facts: StoredFacts, maxAgeMs: number): Overview {
  const pools = facts.pools.map(poolRow);
  const reconciler = reconcilerRow(facts);
  const unready = pools
    .filter(({ ready }) => ready !== "True")
    .map((row) => `pool/${objectKey(row.pool.meta)} is not ready: ${whyReady(row)}`);
  const { cluster, nowMs } = facts;
  return { cluster, nowMs, pools, reconciler, problems: [...unready, ...ageProblem(reconciler, nowMs, maxAgeMs)] };
}

/** Returns `NoActiveIP: no address is active`, or the message alone where there is no reason. */
export function whyReady({ reason, message }: PoolRow): string {
  return [reason, oneLine(message)].filter((part) => part !== "").join(": ");
}

function poolRow(pool: Pool): PoolRow {
  const { status, spec, meta } = pool;
  const addresses = Object.entries(status.ips)
    .sort(([a], [b]) => compareIPv4(a, b))
    .map(([ip, entry]): AddressRow => {
      const retry = status.retries.find(({ subject }) => subject === `ip/${ip}`);
      return retry === undefined ? { ip, status: entry } : { ip, status: entry, retry };
    });
  const condition = status.conditions.find(({ type }) => type === "Ready");
  const isCurrent = condition !== undefined && condition.observedGeneration >= meta.generation;
  return {
    pool,
    ready: isCurrent ? condition.status : "Unknown",
    reason: isCurrent ? condition.reason : "",
    message: isCurrent ? condition.message : missing(condition),
    active: addresses.filter((address) => address.status.state === "active").length,
    desired: spec.desiredIPs > 0 ? spec.desiredIPs : new Set(spec.ips).size,
    addresses,
  };
}

function missing(condition: Condition | undefined): string {
  return condition === undefined
    ? "no run has looked at it yet; run flipop reconcile"
    : "the spec was changed after the last run";
}

function reconcilerRow({ lease, leaseKey, leaseError }: StoredFacts): ReconcilerRow {
  return {
    lease: leaseKey,
    heldBy: lease?.holder ?? "",
    renewed: lease === undefined || lease.holder === "" ? "" : rfc3339(lease.renewTimeMs),
    lastRun: lease?.annotations[LAST_RUN_ANNOTATION] ?? "",
    lastSuccess: lease?.annotations[LAST_SUCCESS_ANNOTATION] ?? "",
    lastResult: lease?.annotations[LAST_RESULT_ANNOTATION] ?? "",
    error: oneLine(leaseError ?? ""),
  };
}

function ageProblem({ lastSuccess, error }: ReconcilerRow, nowMs: number, maxAgeMs: number): string[] {
  if (error !== "") return [`the last run is unknown: ${error}`];
  const at = Date.parse(lastSuccess);
  if (Number.isNaN(at)) return ["no successful run is on record"];
  if (nowMs - at <= maxAgeMs) return [];
  return [`the last successful run was ${durationText(nowMs - at)} ago, more than ${durationText(maxAgeMs)}`];
}
