import type { AcquireIP, Action, AssignIP, ChangeMachines } from "../model/action.ts";
import { canonicalIPv4, type PendingAcquisition } from "../model/address.ts";
import { type DNSFacts, type RecordsFact, recordsKey } from "../model/dns.ts";
import { KubeError, ProviderError } from "../model/errors.ts";
import { type AcquisitionNote, beyond, EMPTY_NOTE, placeOf } from "../model/lease-notes.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import type { IPStatus, Pool, PoolStatus, RetryStatus } from "../model/resource.ts";
import type { Failed, Outcome } from "../model/run.ts";
import { timestamp } from "../model/time.ts";
import { FINALIZER_SUBJECT } from "./finalizer.ts";
import { firewallSubject } from "./firewalls/firewall-target.ts";
import { dnsSubject } from "./names/publishers.ts";
import { rateLimitIn, retryClassOf, withoutRetries, withRetry } from "./retries.ts";

/** The status of a pool with the outcomes of its own actions entered: what the next decision needs to know. Pure. */
export function foldIntoStatus(
  pool: Pool,
  outcomes: readonly Outcome[],
  nowMs: number,
  registry: ProviderRegistry,
): PoolStatus {
  const status = outcomes.reduce((known, outcome) => enter(known, outcome, nowMs, registry), pool.status);
  return { ...status, retries: foldDNSRetries(status.retries, outcomes, nowMs) };
}

function enter(status: PoolStatus, outcome: Outcome, nowMs: number, registry: ProviderRegistry): PoolStatus {
  const accepted = countAssignment(status, outcome);
  const { action } = outcome;
  switch (outcome.outcome) {
    case "applied":
      return succeeded(accepted, outcome, registry);
    case "unconfirmed":
      return isAssign(action)
        ? inProgress(accepted, action, registry)
        : acquiredInProgress(accepted, outcome, registry);
    case "skipped":
      return outcome.isMachineUnfit ? retry(accepted, nodeSubject(action), "slow", outcome.detail, nowMs) : accepted;
    case "failed":
      return failed(accepted, outcome, nowMs);
  }
}

function isAssign(action: Action): action is AssignIP {
  return action.kind === "assign-ip" || action.kind === "move-ip";
}

function countAssignment(status: PoolStatus, { acceptedAtMs, action }: Outcome): PoolStatus {
  const counts = isAssign(action) || (action.kind === "acquire-ip" && "node" in action.after);
  if (acceptedAtMs === undefined || !counts) return status;
  return { ...status, lastAssignmentTime: timestamp(acceptedAtMs), assignments: (status.assignments ?? 0) + 1 };
}

function succeeded(status: PoolStatus, { action, address }: Outcome, registry: ProviderRegistry): PoolStatus {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip": {
      const entry: IPStatus = {
        state: "active",
        nodeName: action.after.nodeName,
        providerID: registry.providerID(action.provider, action.after.machineID),
      };
      return forget({ ...status, ips: { ...status.ips, [action.ip]: entry } }, [
        `ip/${action.ip}`,
        `node/${action.after.nodeName}`,
      ]);
    }
    case "acquire-ip":
      return activate(forget(status, ["acquire"]), action, address, registry);
    case "unassign-ip":
      return forget(status, [`ip/${action.ip}`]);
    case "delete-ip":
      return {
        ...forget(status, [`ip/${action.ip}`]),
        acquired: status.acquired.filter(({ ip }) => ip !== action.ip),
        ips: without(status.ips, action.ip),
      };
    case "annotate-node":
    case "clear-annotation":
      return forget(status, ["annotate"]);
    case "open-ports":
    case "close-ports":
    case "add-to-firewall":
    case "remove-from-firewall":
      return forget(status, [firewallSubject(action.firewall.id)]);
    case "add-finalizer":
    case "remove-finalizer":
      return forget(status, [FINALIZER_SUBJECT]);
    default:
      return status;
  }
}

/** An acquired address: the journal has entered it already; its state follows from where it is. */
function activate(
  status: PoolStatus,
  { provider, after }: AcquireIP,
  address: Outcome["address"],
  registry: ProviderRegistry,
): PoolStatus {
  if (address === undefined || !("node" in after)) return status;
  const { nodeName, machineID } = after.node;
  const entry: IPStatus = { state: "active", nodeName, providerID: registry.providerID(provider, machineID) };
  return forget({ ...status, ips: { ...status.ips, [address.ip]: entry } }, [`node/${nodeName}`]);
}

function acquiredInProgress(status: PoolStatus, { action, address }: Outcome, registry: ProviderRegistry): PoolStatus {
  if (action.kind !== "acquire-ip" || address === undefined || !("node" in action.after)) return status;
  const { nodeName, machineID } = action.after.node;
  const providerID = registry.providerID(action.provider, machineID);
  const entry: IPStatus = { state: "in-progress", nodeName, providerID };
  return forget({ ...status, ips: { ...status.ips, [address.ip]: entry } }, ["acquire"]);
}

function inProgress(status: PoolStatus, action: AssignIP, registry: ProviderRegistry): PoolStatus {
  return forget({ ...status, ips: { ...status.ips, [action.ip]: onItsWay(action, registry) } }, [
    `ip/${action.ip}`,
    `node/${action.after.nodeName}`,
  ]);
}

function failed(status: PoolStatus, outcome: Failed, nowMs: number): PoolStatus {
  const { action, error } = outcome;
  if (error instanceof ProviderError && error.failure === "rate-limited") return status;
  const retryClass = retryClassOf(error);
  switch (action.kind) {
    case "assign-ip":
    case "move-ip": {
      const text = `${action.after.nodeName}: ${error.message}`;
      const withAddress = retry(status, `ip/${action.ip}`, retryClass, text, nowMs);
      return retry(withAddress, `node/${action.after.nodeName}`, retryClass, text, nowMs);
    }
    case "acquire-ip": {
      const held = retry(status, "acquire", retryClass, error.message, nowMs);
      // A refusal may be the machine's fault: other nodes are served first next time.
      if (error instanceof KubeError || retryClass === "fast" || !("node" in action.after)) return held;
      const { nodeName } = action.after.node;
      return retry(held, `node/${nodeName}`, retryClass, `${nodeName}: ${error.message}`, nowMs);
    }
    case "unassign-ip":
    case "delete-ip":
      return retry(status, `ip/${action.ip}`, retryClass, error.message, nowMs);
    case "annotate-node":
    case "clear-annotation":
      return retry(status, "annotate", retryClass, error.message, nowMs);
    case "add-to-firewall":
      return refusedMachines(status, action, error).reduce(
        (known, subject) => retry(known, subject, retryClass, error.message, nowMs),
        status,
      );
    case "open-ports":
    case "close-ports":
    case "remove-from-firewall":
      return retry(status, firewallSubject(action.firewall.id), retryClass, error.message, nowMs);
    case "add-finalizer":
    case "remove-finalizer":
      return retry(status, FINALIZER_SUBJECT, retryClass, error.message, nowMs);
    default:
      return status;
  }
}

/** A machine that was refused may be to blame: another node is tried, unless an address is there already. */
function refusedMachines(status: PoolStatus, { machines, firewall }: ChangeMachines, error: Error): readonly string[] {
  const mayBeMachine = error instanceof ProviderError && (error.failure === "not-found" || error.failure === "refused");
  const served = new Set(
    Object.values(status.ips).flatMap(({ state, nodeName }) => (state === "active" ? [nodeName] : [])),
  );
  const names = machines.map(({ nodeName }) => nodeName);
  const isFree = names.every((name) => name !== undefined && !served.has(name));
  return mayBeMachine && isFree ? names.map((name) => `node/${name}`) : [firewallSubject(firewall.id)];
}

function nodeSubject(action: Action): string {
  if (isAssign(action)) return `node/${action.after.nodeName}`;
  return action.kind === "acquire-ip" && "node" in action.after ? `node/${action.after.node.nodeName}` : "acquire";
}

function retry(
  status: PoolStatus,
  subject: string,
  retryClass: "fast" | "slow",
  error: string,
  nowMs: number,
): PoolStatus {
  return { ...status, retries: withRetry(status.retries, { subject, retryClass, error }, nowMs) };
}

function forget(status: PoolStatus, subjects: readonly string[]): PoolStatus {
  return { ...status, retries: withoutRetries(status.retries, subjects) };
}

function without<T>(map: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(map).filter(([other]) => other !== key));
}

/** What is known of the DNS providers after these outcomes. Pure. */
export function foldDNS(
  dns: ReadonlyMap<string, DNSFacts>,
  outcomes: readonly Outcome[],
  skewMs: number,
): ReadonlyMap<string, DNSFacts> {
  return new Map([...dns].map(([name, facts]) => [name, foldFacts(facts, outcomes.filter(isAt(name)), skewMs)]));
}

function isAt(name: string): (outcome: Outcome) => boolean {
  return ({ action }) => "dnsProvider" in action && action.dnsProvider === name;
}

function foldFacts(facts: DNSFacts, outcomes: readonly Outcome[], skewMs: number): DNSFacts {
  const records = new Map<string, RecordsFact>(facts.records);
  for (const { action, records: fact } of outcomes) {
    if ("dnsProvider" in action && fact !== undefined) records.set(recordsKey(action.zone, action.fqdn), fact);
  }
  const limit = rateLimitIn(outcomes, skewMs);
  return limit === undefined ? { ...facts, records } : { ...facts, records, unusable: limit };
}

/** The retries of an object with the outcomes of its DNS writes entered; the same list when there are none. Pure. */
export function foldDNSRetries(
  retries: readonly RetryStatus[],
  outcomes: readonly Outcome[],
  nowMs: number,
): readonly RetryStatus[] {
  return outcomes.reduce((list, outcome) => {
    const { action } = outcome;
    if (!("dnsProvider" in action)) return list;
    const subject = dnsSubject(action.fqdn);
    if (outcome.outcome === "applied") return withoutRetries(list, [subject]);
    if (outcome.outcome !== "failed") return list;
    const { error } = outcome;
    if (error instanceof ProviderError && error.failure === "rate-limited") return list;
    return withRetry(list, { subject, retryClass: retryClassOf(error), error: error.message }, nowMs);
  }, retries);
}

/**
 * The status of an address that is being sent to a node's machine. It remembers both ends, so that wherever the address is found later, on whichever node has
 * gone meanwhile, it is known as the pool's own; a foreign holder it is taken from is not remembered. Pure.
 */
export function onItsWay({ provider, before, after, isHolderJudged }: AssignIP, registry: ProviderRegistry): IPStatus {
  return {
    state: "in-progress",
    nodeName: after.nodeName,
    providerID: registry.providerID(provider, after.machineID),
    ...(before !== undefined && isHolderJudged
      ? { previousProviderID: registry.providerID(provider, before.machineID) }
      : {}),
  };
}

/**
 * The pool with what its annotation tells and its status has lost. Addresses come back as found again, never to be deleted: they leave the annotation only when the
 * account does not have them any more. Acquisitions without an answer come back as far as they are known: where, but not what the account had before. Those that
 * came back are dropped once somebody removed them from the annotation. Pure.
 */
export function restoreMemory(pool: Pool, nowMs: number): Pool {
  const note = pool.meta.note ?? EMPTY_NOTE;
  const { acquired, pendingAcquisitions: pending } = pool.status;
  const lost = beyond(
    note.ips,
    acquired.map(({ ip }) => ip),
  );
  const kept = pending.filter((intent) => intent.restored !== true || note.pending.includes(placeOf(intent)));
  const unanswered = isNewer(pool, note) ? [] : beyond(note.pending, kept.map(placeOf));
  if (lost.length === 0 && unanswered.length === 0 && kept.length === pending.length) return pool;
  const startedAt = timestamp(nowMs);
  return {
    ...pool,
    status: {
      ...pool.status,
      acquired: [...acquired, ...lost.map((ip) => ({ ip, acquiredAt: startedAt, adopted: true }))],
      pendingAcquisitions: [...kept, ...unanswered.map((place) => intentAt(place, startedAt))],
    },
  };
}

/** True when status has an address that the annotation does not tell of yet: an answer was recorded that is not noted. */
function isNewer({ status }: Pool, { ips }: AcquisitionNote): boolean {
  return status.acquired.some(({ ip }) => canonicalIPv4(ip) === ip && !ips.includes(ip));
}

function intentAt(place: string, startedAt: string): PendingAcquisition {
  const common = { startedAt, knownIPs: [], restored: true };
  if (place === "") return common;
  return place.includes("://") ? { ...common, providerID: place } : { ...common, region: place };
}
