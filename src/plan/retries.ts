import { type Action, type ChangeMachines, isAssign, targetPlace, type WriteDNS } from "../model/action.ts";
import { changesAnnotation, changesName } from "../model/action-kinds.ts";
import { addressesWithout, type RecordsFact } from "../model/dns.ts";
import { CRDTooOld, KubeError, ProviderError, type ProviderFailure, type Refusal } from "../model/errors.ts";
import { lacksPermission } from "../model/hold.ts";
import type { Failed, Outcome } from "../model/outcome.ts";
import type { Obstacle } from "../model/plan.ts";
import type { IPStatus, RetryStatus } from "../model/resource.ts";
import {
  ANNOTATIONS_SUBJECT,
  annotationSubject,
  dnsRemovalSubject,
  dnsSubject,
  dnsTTLSubject,
  FINALIZER_SUBJECT,
  firewallPortsSubject,
  firewallRemovalSubject,
  firewallSubject,
  ipRelocationSubject,
  ipRemovalSubject,
  ipSubject,
  type MovingAddress,
  moveSubjects,
  nodeSubject,
  type RetriedNode,
  type RetriedRecords,
  retriedAddress,
} from "../model/retry-subject.ts";
import { plain } from "../model/text.ts";
import { parseTime, timestamp } from "../model/time.ts";
import { WAITS, waitMs } from "../model/waits.ts";
import { obstacle } from "./holds.ts";

/*
 * What is retried, and when. A failed attempt is stored in `status.retries` of its object, under a subject: see `model/retry-subject.ts`. A success under a subject
 * forgets its failures. A rate limit and a refused token are no failures of a subject: the whole provider waits.
 */

/** The longest wait of any schedule: no stored time may hold anything longer. */
const LONGEST_RETRY_MS = Math.max(...WAITS.fastRetry.ms, ...WAITS.slowRetry.ms);

/** How long to wait after the given number of failed attempts (from 1), milliseconds. */
export function retryDelayMs(retryClass: "fast" | "slow", attempts: number): number {
  return waitMs(retryClass === "fast" ? WAITS.fastRetry : WAITS.slowRetry, attempts - 1);
}

/** When a stored retry is due, milliseconds; at most the longest wait after so many attempts from now, whatever the clock said when it was stored. */
export function retryDueMs({ nextAttemptTime, attempts }: RetryStatus, nowMs: number): number {
  const dueMs = parseTime(nextAttemptTime) ?? nowMs;
  if (dueMs > nowMs + LONGEST_RETRY_MS) return nowMs;
  const longestMs = Math.max(retryDelayMs("fast", attempts), retryDelayMs("slow", attempts));
  return Math.min(dueMs, nowMs + longestMs);
}

/** What flipop expects to go well soon is tried again within this time, milliseconds. A provider that has refused three times is asked less often than that. */
const SOON_MS = Math.max(...WAITS.fastRetry.ms);

/** False for a next attempt so far off that nobody waits for what it may bring: the provider has refused the ones before it. Pure. */
export function isSoon(dueMs: number, nowMs: number): boolean {
  return dueMs <= nowMs + SOON_MS;
}

/** Returns a stored retry; with the present time where its own is none, or one that no schedule has: a clock was wrong. Pure. */
export function inTime(retry: RetryStatus, nowMs: number): RetryStatus {
  const dueMs = retryDueMs(retry, nowMs);
  return dueMs === parseTime(retry.nextAttemptTime) ? retry : { ...retry, nextAttemptTime: timestamp(dueMs) };
}

/** The retry subject of a change of a name. A withdrawal is the first part of a change, and fails as that. */
function changeSubject(change: WriteDNS): string {
  const { kind, before, after } = change;
  const records = recordsOf(change);
  const addsNothing = addressesWithout(after.addresses, before.addresses).length === 0;
  if (!addsNothing || kind === "withdraw-dns") return dnsSubject(records);
  const isTTLKept = after.addresses.length === 0 || (before.ttlSeconds ?? after.ttlSeconds) === after.ttlSeconds;
  if (isTTLKept) return dnsRemovalSubject(records);
  const takesNothing = addressesWithout(before.addresses, after.addresses).length === 0;
  return takesNothing ? dnsTTLSubject(records) : dnsSubject(records);
}

function recordsOf({ dnsProvider: provider, fqdn }: WriteDNS): RetriedRecords {
  return { provider, fqdn };
}

/** The failed attempts that the status of one object has, as of one instant. What has not failed is due at once. */
export class Retries {
  readonly #bySubject: ReadonlyMap<string, RetryStatus>;
  readonly #nowMs: number;

  constructor(stored: readonly RetryStatus[], nowMs: number) {
    this.#bySubject = new Map(stored.toReversed().map((retry) => [retry.subject, retry]));
    this.#nowMs = nowMs;
  }

  /** Returns the stored retry of a subject; undefined if its last attempt did not fail. */
  of(subject: string): RetryStatus | undefined {
    return this.#bySubject.get(subject);
  }

  /** Returns the stored retry of an address: of its way to a node, else of its removal. */
  ofAddress(ip: string): RetryStatus | undefined {
    return [ipSubject(ip), ipRelocationSubject(ip), ipRemovalSubject(ip)].flatMap((one) => this.of(one) ?? [])[0];
  }

  /**
   * True where the last attempt failed, and what it was about may be there before long: it is tried again soon, or once a permission is there that was refused. An attempt that
   * is due is in the plan, or there is nothing to try it with: it is no reason to wait.
   */
  mayEndSoon(retry: RetryStatus | undefined): boolean {
    if (retry === undefined) return false;
    if (retry.reason !== undefined) return lacksPermission(retry.reason);
    const dueMs = retryDueMs(retry, this.#nowMs);
    return dueMs > this.#nowMs && isSoon(dueMs, this.#nowMs);
  }

  /** Returns when a subject may be tried again, milliseconds; now or earlier = at once. */
  dueMs(subject: string): number {
    const retry = this.of(subject);
    return retry === undefined ? this.#nowMs : retryDueMs(retry, this.#nowMs);
  }

  /** Returns why a subject is not tried now: its last attempt failed, and the wait is not over. */
  obstacle(subject: string): Obstacle | undefined {
    const notBeforeMs = this.dueMs(subject);
    return notBeforeMs <= this.#nowMs ? undefined : this.wait([subject], { notBeforeMs });
  }

  /**
   * Returns why something waits for the next attempt. The error is the first one that is stored under these subjects. A missing permission needs a person, and is
   * tried again all the same: nobody tells flipop that it was granted.
   */
  wait(subjects: readonly string[], until: Pick<Obstacle, "notBeforeMs" | "waitsFor">): Obstacle {
    const [retry] = subjects.flatMap((subject) => this.of(subject) ?? []);
    const why = { ...until, needsPerson: retry?.reason !== undefined };
    return obstacle(retry?.reason ?? "Backoff", retry?.error, why);
  }

  /** Returns why something of a name waits for its next attempt: an addition, a removal, or its TTL. */
  nameObstacle(records: RetriedRecords): Obstacle | undefined {
    return this.removalObstacle(records) ?? this.obstacle(dnsTTLSubject(records));
  }

  /** Returns why nothing may be taken out of a name now: the last change of its addresses failed, and the wait is not over. */
  removalObstacle(records: RetriedRecords): Obstacle | undefined {
    return this.obstacle(dnsSubject(records)) ?? this.obstacle(dnsRemovalSubject(records));
  }

  /** Returns why this change of a name is not tried now: the last one of its kind failed, and the wait is not over. A TTL by itself may have failed with more. */
  changeObstacle(change: WriteDNS): Obstacle | undefined {
    const subject = changeSubject(change);
    const records = recordsOf(change);
    const isTTLAlone = subject === dnsTTLSubject(records);
    return (isTTLAlone ? this.obstacle(dnsSubject(records)) : undefined) ?? this.obstacle(subject);
  }

  /** True where the last attempt to add something to a name failed, due or not. */
  hasFailedToAdd(records: RetriedRecords): boolean {
    return this.of(dnsSubject(records)) !== undefined;
  }

  /** Returns why the annotations of a node are not written now: no node's may be written, or those of this one could not be. */
  annotationObstacle(nodeName: string): Obstacle | undefined {
    return this.obstacle(ANNOTATIONS_SUBJECT) ?? this.obstacle(annotationSubject(nodeName));
  }

  /**
   * Returns the place of a subject in the order of trying: 0 if its last attempt did not fail, else when it is due. What failed goes behind what did not, and
   * the longest due first, so that a subject that fails for ever takes nobody's turn.
   */
  turn(subject: string): number {
    return this.of(subject) === undefined ? 0 : this.dueMs(subject);
  }

  /** The place of an address in the order of trying, as {@link turn} has it. */
  addressTurn(address: MovingAddress): number {
    return Math.max(...moveSubjects(address).map((subject) => this.turn(subject)));
  }

  /**
   * Returns when an address and a node may be tried together, milliseconds. Both must be due. Exceptions:
   * 1. Only one of them has failed, and only once. Then a fresh partner is tried at once, to find out which of the two is to blame. Neither is where a permission is missing.
   * 2. The address served when it failed to go there, and serves no more. Then it is tried once at once: how often the move failed while nobody waited for it says nothing.
   */
  pairDueMs(moving: MovingAddress, place: RetriedNode): number {
    const subjects = moveSubjects(moving);
    const [address] = subjects.flatMap((subject) => this.of(subject) ?? []);
    const node = this.of(nodeSubject(place));
    const isFirst = ({ attempts, reason }: RetryStatus): boolean => attempts === 1 && reason === undefined;
    if (address !== undefined && node === undefined && isFirst(address)) return this.#nowMs;
    if (address === undefined && node !== undefined) {
      const wasServing = this.of(ipRelocationSubject(moving.ip))?.error === node.error;
      if (wasServing || (node.attempts === 1 && this.#isShared(node))) return this.#nowMs;
    }
    return Math.max(...[...subjects, nodeSubject(place)].map((subject) => this.dueMs(subject)));
  }

  /** True if the last attempt of both was the same one, and failed. */
  haveFailedTogether({ ip }: MovingAddress, place: RetriedNode): boolean {
    const error = this.of(nodeSubject(place))?.error;
    const failed = moveSubjects({ ip, isServing: true }).flatMap((subject) => this.of(subject) ?? []);
    return failed.some((address) => address.error === error);
  }

  /** True if the failure of a node is one of an address, too: either of them may be to blame. */
  #isShared(node: RetryStatus): boolean {
    return [...this.#bySubject.values()].some(
      (retry) => retriedAddress(retry) !== undefined && retry.error === node.error,
    );
  }
}

/** What the retries of an object are entered with. */
interface Entering {
  readonly nowMs: number;
  /** The addresses of the object's status. */
  readonly ips?: Readonly<Record<string, IPStatus>>;
}

/** Enters what came of one action in the retries of its object. Returns the same list if nothing changes. Pure. */
export function withOutcome(
  retries: readonly RetryStatus[],
  outcome: Outcome,
  { nowMs, ips = {} }: Entering,
): readonly RetryStatus[] {
  const failures = failuresOf(outcome, ips);
  const remaining = withoutRetries(retries, succeededSubjects(outcome));
  return failures.reduce((list, failure) => withRetry(list, failure, nowMs), remaining);
}

/** A failed attempt of one subject. */
interface Failure {
  readonly subject: string;
  readonly retryClass: "fast" | "slow";
  readonly error: string;
  readonly reason?: RetryStatus["reason"];
}

/** The subjects whose failures an outcome ends. An accepted change of an address counts, too, until it is seen to have failed. */
function succeededSubjects({ action, outcome, address }: Outcome): readonly string[] {
  if (outcome !== "applied" && outcome !== "unconfirmed") return [];
  const isDone = outcome === "applied";
  const target = targetPlace(action);
  const node = target === undefined ? [] : [nodeSubject(target)];
  if (isAssign(action)) return [...moveSubjects({ ip: action.ip, isServing: true }), ...node];
  if (action.kind !== "acquire-ip" || address === undefined) return isDone ? ownSubjects(action) : [];
  if (isDone) return ["acquire", ...node];
  return target === undefined ? [] : ["acquire"];
}

/** Returns how often in a row the last attempts of an action have failed, by the retries of its object; 0 where none is stored. Pure. */
export function failuresInARow(action: Action, retries: readonly RetryStatus[]): number {
  const node = targetPlace(action);
  const machines = action.kind === "add-to-firewall" ? nodesOf(action) : [];
  const subjects = [...ownSubjects(action), ...[...(node === undefined ? [] : [node]), ...machines].map(nodeSubject)];
  const stored = subjects.flatMap((subject) => retries.find((retry) => retry.subject === subject)?.attempts ?? []);
  return stored[0] ?? 0;
}

/** The subjects under which a failure of a change that concerns one thing alone may be stored. */
function ownSubjects(action: Action): readonly string[] {
  if (changesName(action)) return subjectsOfName(action);
  return changesAnnotation(action) ? [ANNOTATIONS_SUBJECT, ownSubject(action)] : [ownSubject(action)];
}

/** A whole change that is done has taken out what was to leave; and where something of the name remains it has the TTL that was asked for. */
function subjectsOfName(action: WriteDNS): readonly string[] {
  const records = recordsOf(action);
  const ttl = action.kind === "update-dns" && action.after.addresses.length > 0 ? [dnsTTLSubject(records)] : [];
  return [...new Set([ownSubject(action), dnsRemovalSubject(records), ...ttl])];
}

/** The subject of a change that concerns one thing alone. */
function ownSubject(action: Action): string {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
      return moveSubjects(action)[0];
    case "unassign-ip":
    case "delete-ip":
      return ipRemovalSubject(action.ip);
    case "acquire-ip":
      return "acquire";
    case "annotate-node":
    case "clear-annotation":
      return annotationSubject(action.nodeName);
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns":
      return changeSubject(action);
    case "open-ports":
      return firewallPortsSubject(action.firewall.id);
    case "add-to-firewall":
      return firewallSubject(action.firewall.id);
    case "close-ports":
    case "remove-from-firewall":
      return firewallRemovalSubject(action.firewall.id);
    case "add-finalizer":
    case "remove-finalizer":
      return FINALIZER_SUBJECT;
  }
}

function failuresOf(outcome: Outcome, ips: Readonly<Record<string, IPStatus>>): readonly Failure[] {
  if (outcome.outcome === "failed") return failures(outcome, ips);
  if (outcome.outcome !== "skipped" || !outcome.isMachineUnfit) return [];
  const { action } = outcome;
  const target = targetPlace(action);
  const subject = target === undefined ? "acquire" : nodeSubject(target);
  return [{ subject, retryClass: "slow", error: outcome.detail }];
}

function failures(outcome: Failed, ips: Readonly<Record<string, IPStatus>>): readonly Failure[] {
  const { action, error } = outcome;
  if (isOfProvider(error)) return [];
  const retryClass = retryClassOf(error);
  const reason = reasonOf(error, action);
  const failure = (subject: string, text = error.message): Failure => ({ subject, retryClass, error: text, ...reason });
  const target = targetPlace(action);
  const text = `${target?.nodeName}: ${error.message}`;
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
      // A permission that is missing is missing whatever the node, and so is a field of the CRD. Where the address could not be read, nothing was asked of the node.
      return isForbidden(error) || error instanceof CRDTooOld || isReading(error)
        ? [failure(ownSubject(action))]
        : [failure(ownSubject(action), text), failure(nodeSubject(action.after), text)];
    case "acquire-ip": {
      // A refusal may be the machine's fault: other nodes are served first next time.
      const isNodeLater = target !== undefined && mayBeMachine(error);
      return [failure("acquire"), ...(isNodeLater ? [failure(nodeSubject(target), text)] : [])];
    }
    case "add-to-firewall":
      return refusedBy(action, outcome, ips).map((subject) => failure(subject));
    case "annotate-node":
    case "clear-annotation":
      // A permission that is missing is missing for every node.
      return isForbidden(error)
        ? [failure(ANNOTATIONS_SUBJECT, ofAllNodes(error.message, action.nodeName))]
        : [failure(ownSubject(action))];
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns":
      return [failure(failedSubject(action, outcome.records))];
    default:
      return [failure(ownSubject(action))];
  }
}

/** The subject of a change of a name that failed: where all that was to be added is there, it was the removal, which goes on by itself. */
function failedSubject(action: WriteDNS, records: RecordsFact | undefined): string {
  const { before, after } = action;
  const added = addressesWithout(after.addresses, before.addresses);
  const isAdded =
    records?.kind === "known" &&
    added.length > 0 &&
    addressesWithout(added, records.records.addresses).length === 0 &&
    records.records.ttlSeconds === after.ttlSeconds;
  return isAdded ? dnsRemovalSubject(recordsOf(action)) : ownSubject(action);
}

/** Returns the error of one node as it is told of all: without the node's name, which the call and the API server's answer have. */
function ofAllNodes(message: string, nodeName: string): string {
  return message.replace(` ${nodeName}:`, ":").replace(`nodes "${nodeName}" is`, "nodes is");
}

/** What says nothing of anything but the provider: it is to be asked later, or with another token. */
const OF_PROVIDER: ReadonlySet<ProviderFailure> = new Set(["rate-limited", "unauthorized"]);

function isOfProvider(error: Error): error is ProviderError {
  return error instanceof ProviderError && (OF_PROVIDER.has(error.failure) || error.hidesMachines);
}

/** Returns why only a person can end a failure. A request that the API server takes for invalid meets its rules, too: flipop sends the same one each time. */
function reasonOf(error: Error, action: Action): Pick<RetryStatus, "reason"> {
  if (isForbidden(error)) return { reason: "PermissionMissing" };
  if (changesName(action) && error instanceof ProviderError && error.failure === "refused")
    return { reason: "RecordsRefused" };
  if (error instanceof ProviderError && error.failure === "over-quota") return { reason: "QuotaExceeded" };
  if (error instanceof CRDTooOld) return { reason: "CRDTooOld" };
  const isRefused = error instanceof KubeError && (error.failure === "denied" || error.failure === "invalid");
  return isRefused ? { reason: "AdmissionRefused" } : {};
}

/** True where the address of a change could not be read before it. */
function isReading(error: Error): boolean {
  return error instanceof ProviderError && error.isOfReading;
}

/** True if a permission is missing: only a person can grant it. */
function isForbidden(error: Error): boolean {
  return (error instanceof ProviderError || error instanceof KubeError) && error.failure === "forbidden";
}

/** A machine that was refused may be to blame: another node is tried, unless an address is there already. A firewall that is not seen to be there is to blame itself. */
function refusedBy(
  action: ChangeMachines,
  { error, firewall: learned }: Failed,
  ips: Readonly<Record<string, IPStatus>>,
): readonly string[] {
  const served = new Set(Object.values(ips).flatMap(({ state, nodeName }) => (state === "active" ? [nodeName] : [])));
  const nodes = nodesOf(action);
  const isFree = nodes.length === action.machines.length && !nodes.some(({ nodeName }) => served.has(nodeName));
  const isThere = learned?.fact.kind === "known";
  return mayBeMachine(error) && isThere && isFree ? nodes.map(nodeSubject) : [firewallSubject(action.firewall.id)];
}

/** The machines of a change that are nodes. */
function nodesOf({ machines }: ChangeMachines): readonly RetriedNode[] {
  return machines.flatMap(({ machineID, nodeName }) => (nodeName === undefined ? [] : [{ machineID, nodeName }]));
}

/** True if a machine may be to blame: the provider knows none, takes nothing there, or is busy with it. */
function mayBeMachine(error: Error): boolean {
  return error instanceof ProviderError && OF_MACHINE.has(error.failure);
}

const OF_MACHINE: ReadonlySet<ProviderFailure> = new Set(["refused", "not-found", "busy"]);

/** What only a person, or somebody else's change, can mend. */
const SLOW: ReadonlySet<ProviderFailure> = new Set(["forbidden", "refused", "over-quota", "not-found"]);

/**
 * How a failed attempt is retried: rarely where the provider refused it, or where the cluster's CRD drops what has to be stored, else soon. Calls to the cluster are cheap and fail for its own
 * reasons: soon. Pure.
 */
export function retryClassOf(error: Error): "fast" | "slow" {
  if (error instanceof CRDTooOld) return "slow";
  return error instanceof ProviderError && SLOW.has(error.failure) ? "slow" : "fast";
}

/** The retries with one more failed attempt of a subject. Sorted by subject. */
function withRetry(
  retries: readonly RetryStatus[],
  { subject, retryClass, error, reason }: Failure,
  nowMs: number,
): readonly RetryStatus[] {
  const attempts = (retries.find((entry) => entry.subject === subject)?.attempts ?? 0) + 1;
  const nextAttemptTime = timestamp(nowMs + retryDelayMs(retryClass, attempts));
  const others = retries.filter((other) => other.subject !== subject);
  const entry = {
    subject,
    attempts,
    nextAttemptTime,
    error: plain(error),
    ...(reason === undefined ? {} : { reason }),
  };
  return [...others, entry].toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
}

/** The retries without those of the subjects; the same list if there are none. */
function withoutRetries(retries: readonly RetryStatus[], subjects: readonly string[]): readonly RetryStatus[] {
  return retries.some(({ subject }) => subjects.includes(subject))
    ? retries.filter(({ subject }) => !subjects.includes(subject))
    : retries;
}

/**
 * Why a provider may not be asked any more after these outcomes: it asked for no calls for a while, refused the token, or hides its machines; undefined when it did nothing of that.
 * Pure.
 */
export function refusalIn(outcomes: readonly Outcome[], skewMs: number): Refusal | undefined {
  const refused = outcomes
    .flatMap((outcome): readonly Error[] => (outcome.outcome === "failed" ? [outcome.error] : hiddenFrom(outcome)))
    .find(isOfProvider);
  if (refused === undefined) return undefined;
  const { failure, message, notBeforeMs } = refused;
  // The next look finds that out, too.
  if (refused.hidesMachines) return { kind: "no-access", message };
  if (failure === "unauthorized") return { kind: "no-access", message, isOfChange: true };
  const until = notBeforeMs === undefined ? {} : { notBeforeMs: notBeforeMs + skewMs };
  return { kind: "rate-limited", message, ...until };
}

/** What ended the wait for a change that was accepted: its machines are hidden. */
function hiddenFrom(outcome: Outcome): readonly ProviderError[] {
  const { endedBy } = "endedBy" in outcome ? outcome : {};
  return endedBy?.hidesMachines === true ? [endedBy] : [];
}
