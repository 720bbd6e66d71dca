import { KubeError, type KubeFailure, type ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import { DNS_ERRORS } from "../fake/dns-error.ts";
import type { DNSBatch } from "../fake/memory-dns-provider.ts";
import type { CallMatch, DNSProviderName, FaultKind, WorldEvent } from "./history.ts";

/** One call of one port, as invariants and faults speak of it. */
export interface SimCall {
  readonly side: "cloud" | "cluster" | "dns" | "firewall";
  /** Whose limit it counts against; absent for the cluster. */
  readonly provider?: DNSProviderName;
  readonly operation: string;
  /** Address, machine, node, `NAMESPACE/NAME`, zone, name in DNS, or `""`. */
  readonly subject: string;
  readonly isWrite: boolean;
  readonly args: readonly unknown[];
  /** True for `records` of all names of a zone; then the subject is the zone. */
  readonly isWholeZone?: true;
  /** What one request changes of a name, where it may be several things. */
  readonly batch?: DNSBatch;
}

/** How a call fails: the error, and whether it has its effect all the same. */
export interface Failure {
  readonly how: FaultKind;
  readonly error: Error;
  readonly hasEffect: boolean;
  /** How long the caller waits for it, milliseconds. */
  readonly waitMs: number;
}

type Fault = Extract<WorldEvent, { kind: "fault" }>;
type Crash = Extract<WorldEvent, { kind: "crash" }>;
type Freeze = Extract<WorldEvent, { kind: "freeze" }>;
type Stale = Extract<WorldEvent, { kind: "stale" }>;

/** What is going to fail: planned by events, used up by calls. */
export class Faults {
  readonly #faults: { readonly fault: Fault; times: number }[] = [];
  readonly #crashes: Planned<Crash>[] = [];
  readonly #freezes: Planned<Freeze>[] = [];
  readonly #stales: { readonly stale: Stale; times: number }[] = [];

  add(event: Fault | Crash | Freeze | Stale): void {
    if (event.kind === "stale") this.#stales.push({ stale: event, times: event.times });
    else if (event.kind === "fault") this.#faults.push({ fault: event, times: event.times });
    else if (event.kind === "crash") this.#crashes.push({ event, skip: event.skip });
    else this.#freezes.push({ event, skip: event.skip });
  }

  clear(): void {
    this.#faults.length = 0;
    this.#crashes.length = 0;
    this.#freezes.length = 0;
    this.#stales.length = 0;
  }

  /** The failure planned for this call, if any. */
  take(call: SimCall, nowMs: number): Failure | undefined {
    const index = this.#faults.findIndex(({ fault }) => matches(fault, call) && isPossible(fault.how, call));
    const entry = this.#faults[index];
    if (entry === undefined) return undefined;
    entry.times -= 1;
    if (entry.times <= 0) this.#faults.splice(index, 1);
    return failureOf(entry.fault.how, call, nowMs);
  }

  /** Whether this list shows only a part of what there is. */
  takePartial(call: SimCall): boolean {
    const index = call.operation === "list" ? this.#stales.findIndex(({ stale }) => stale.isPartial === true) : -1;
    const entry = this.#stales[index];
    if (entry === undefined) return false;
    entry.times -= 1;
    if (entry.times <= 0) this.#stales.splice(index, 1);
    return true;
  }

  /** Whether this reading is answered as it was before. */
  takeStale(call: SimCall): boolean {
    const index = call.isWrite
      ? -1
      : this.#stales.findIndex(({ stale }) => stale.isPartial !== true && matches(stale, call));
    const entry = this.#stales[index];
    if (entry === undefined) return false;
    entry.times -= 1;
    if (entry.times <= 0) this.#stales.splice(index, 1);
    return true;
  }

  /** Whether the process dies at this call, and if so on which side of its effect. */
  takeCrash(call: SimCall, slot: number): "before" | "after" | undefined {
    const crash = takeDue(this.#crashes, call, slot);
    if (crash === undefined) return undefined;
    return crash.isAfter ? "after" : "before";
  }

  /** How long the process stands still after this call, milliseconds. */
  takeFreezeMs(call: SimCall, slot: number): number {
    return takeDue(this.#freezes, call, slot)?.ms ?? 0;
  }
}

interface Planned<T> {
  readonly event: T;
  skip: number;
}

/** Takes out the event that is meant for this call, after as many calls as it leaves out. */
function takeDue<T extends Crash | Freeze>(planned: Planned<T>[], call: SimCall, slot: number): T | undefined {
  for (const [index, entry] of planned.entries()) {
    if (entry.event.slot !== slot || !matches(entry.event, call)) continue;
    entry.skip -= 1;
    if (entry.skip >= 0) continue;
    planned.splice(index, 1);
    return entry.event;
  }
  return undefined;
}

function matches(match: CallMatch, call: SimCall): boolean {
  if (match.side !== call.side || (match.provider !== undefined && match.provider !== call.provider)) return false;
  if (match.subject !== undefined && match.subject !== call.subject) return false;
  return match.operation === "*" || match.operation === call.operation || (match.operation === "write" && call.isWrite);
}

/** A 404 for an address that exists would be a lie no API tells; refusals are answers to writes. */
export function isPossible(how: FaultKind, call: SimCall): boolean {
  if (call.side === "cluster") return how !== "conflict" || call.isWrite;
  if (call.side === "dns" && ["404", "422-pending"].includes(how)) return false;
  if (call.side === "firewall") return isPossibleOfFirewalls(how, call);
  if (how === "404") return call.operation === "assign" || call.operation === "unassign";
  if (how === "401") return true;
  return call.isWrite || !["409", "422", "422-pending"].includes(how);
}

/** One answer may say that a firewall is not there although it is. */
function isPossibleOfFirewalls(how: FaultKind, { operation, isWrite }: SimCall): boolean {
  if (how === "404") return operation !== "firewalls" && operation !== "tagged";
  return how !== "422-pending" && (isWrite || !["409", "422"].includes(how));
}

const RETRY_AFTER_MS = 40_000;

/** A failure of this kind. */
export function failureOf(how: FaultKind, call: SimCall, nowMs: number): Failure {
  const hasEffect = how.endsWith("-after") && call.isWrite;
  const waitMs = how.startsWith("timeout") ? 4000 : 0;
  const error = call.side === "cluster" ? clusterError(how, call) : providerError(how, call, nowMs);
  return { how, error, hasEffect, waitMs };
}

const CLOUD: Readonly<Record<string, readonly [ProviderFailure, number]>> = {
  "500": ["unavailable", 500],
  timeout: ["timeout", 0],
  malformed: ["malformed", 200],
  "404": ["not-found", 404],
  "409": ["refused", 409],
  "422": ["refused", 422],
  "422-pending": ["busy", 422],
  "429": ["rate-limited", 429],
  "401": ["unauthorized", 401],
  forbidden: ["forbidden", 403],
};

function providerError(how: FaultKind, call: SimCall, nowMs: number): ProviderError {
  const [failure, status] = CLOUD[how.replace("-after", "")] ?? ["unavailable", 500];
  const { operation, subject, isWrite } = call;
  return DNS_ERRORS[call.provider ?? "digitalocean"](
    { operation, subject, doing: `${operation} ${subject}`.trim(), scope: "reserved_ip:read", isWrite },
    {
      failure,
      status,
      reason: `planned ${how}`,
      isAmbiguous: isWrite && ["unavailable", "timeout", "malformed"].includes(failure),
      ...(failure === "rate-limited" ? { notBeforeMs: nowMs + RETRY_AFTER_MS } : {}),
    },
  );
}

const CLUSTER: Readonly<Record<string, readonly [KubeFailure, number]>> = {
  "500": ["unavailable", 500],
  timeout: ["timeout", 0],
  malformed: ["malformed", 200],
  conflict: ["conflict", 409],
  forbidden: ["forbidden", 403],
  "400": ["invalid", 400],
};

function clusterError(how: FaultKind, { operation, subject }: SimCall): KubeError {
  const [failure, status] = CLUSTER[how.replace("-after", "")] ?? ["unavailable", 503];
  return new KubeError({ failure, operation, subject, status, message: `planned ${how} of ${operation} ${subject}` });
}
