import type { ObjectRef } from "../model/action.ts";
import { compareAddresses } from "../model/address.ts";
import { type HostAgent, type HostPods, hostAgentOf } from "../model/host-agent.ts";
import type { NodeFacts } from "../model/node.ts";
import type { PoolAssessment } from "../model/plan.ts";
import { asksFor, memoryOf, type RecordType } from "../model/record-types.ts";
import {
  type Condition,
  type IPStatus,
  ipFamilyOf,
  type ObjectMeta,
  objectKey,
  type Pool,
  type PoolStatus,
  type RecordSet,
  type RetryStatus,
} from "../model/resource.ts";
import { retriedAddress, retriedRecords } from "../model/retry-subject.ts";
import { type RoutedIP, routedFamily } from "../model/routed-ip.ts";
import { SHARD_LABEL } from "../model/shard.ts";
import { type Problem, problemsIn } from "../model/stalled.ts";
import { type Suspended, type Suspension, suspensionOf } from "../model/suspension.ts";
import { parseTime } from "../model/time.ts";
import type { Live } from "./live.ts";
import { type ReconcilerRow, type RunFacts, reconcilerRow } from "./reconciler.ts";
import { lostAddresses, lostTexts, unkeptAddresses, unkeptTexts } from "./text/node-problems.ts";
import { unservedTexts } from "./text/unserved.ts";
import { nameOf, type WrittenName, writtenName } from "./text/written-name.ts";

/** What `status` reads: pools, routed IPs and record sets as stored, the nodes as they are now, and the Lease where there is one. */
export interface StoredFacts extends RunFacts {
  readonly cluster: string;
  /** Selected pools, sorted by namespace and name. */
  readonly pools: readonly Pool[];
  /** Selected record sets, sorted by namespace and name. */
  readonly recordSets: readonly RecordSet[];
  /** Selected routed IPs, sorted by namespace and name. */
  readonly routedIPs: readonly RoutedIP[];
  /** Absent where they cannot be listed. */
  readonly nodes?: readonly NodeFacts[];
  /** Why they could not be listed. */
  readonly nodesError?: string;
  /** The pods of `flipop host`; absent where no node asks its host for addresses. */
  readonly hostPods?: HostPods;
  /** The labels of objects with which no process has run as its `--shard`, as far as one may look. */
  readonly unusedShards?: ReadonlySet<string>;
}

/** One address of a pool, as its status tells. */
export interface AddressRow {
  readonly ip: string;
  readonly status: IPStatus;
  readonly retry?: RetryStatus;
  /** Why the node that it is on cannot serve now, whatever status says; absent while it can, or nobody knows. */
  readonly trouble?: NodeTrouble;
  /** How `flipop host` is on its node, of an active address that the node is to put on its host; absent for any other. */
  readonly hostAgent?: HostAgent;
  /** Until when it waits for what its status names, milliseconds; absent where that is not known. */
  readonly waitsUntilMs?: number;
}

/** Why a node cannot serve now. */
export interface NodeTrouble {
  readonly kind: "gone" | "deleting" | "not-ready";
  /** Since when it is not ready, milliseconds; absent where nobody says. */
  readonly sinceMs?: number;
}

/** One pool, as its status tells. */
export interface PoolRow extends Readiness {
  readonly pool: Pool;
  /** Absent when it asks for no name. */
  readonly name?: WrittenName;
  /** How many addresses are known to be active. */
  readonly active: number;
  /** How many of those in use could not be looked at: whether they are active is not known. */
  readonly unread: number;
  readonly desired: number;
  /** Sorted by address. */
  readonly addresses: readonly AddressRow[];
}

/** One record set, as its status tells. */
export interface RecordSetRow extends Readiness {
  readonly recordSet: RecordSet;
  /** Of its A records; of its AAAA records where it asks for these alone. */
  readonly name: WrittenName;
  /** Of its AAAA records beside A records. Absent = it does not ask for both. */
  readonly ipv6?: WrittenName;
  /** Of its name; absent when the last attempt did not fail. */
  readonly retry?: RetryStatus;
}

/** One routed IP, as its status tells. */
export interface RoutedIPRow extends Readiness {
  readonly routedIP: RoutedIP;
  /** Absent when it asks for no name. */
  readonly name?: WrittenName;
  /** The address in use, else the one its spec names; `""` while there is neither. */
  readonly address: string;
  /** Of that address; absent while none is in use. */
  readonly status?: IPStatus;
  /** Of whatever is to be tried again first. */
  readonly retry?: RetryStatus;
  /** As of an {@link AddressRow}. */
  readonly trouble?: NodeTrouble;
  /** As of an {@link AddressRow}. */
  readonly hostAgent?: HostAgent;
  /** As of an {@link AddressRow}. */
  readonly waitsUntilMs?: number;
}

/** Everything `status` shows, and what `status --check` finds wrong: one sentence each, objects first. */
export interface Overview {
  readonly cluster: string;
  readonly nowMs: number;
  readonly pools: readonly PoolRow[];
  readonly routedIPs: readonly RoutedIPRow[];
  readonly recordSets: readonly RecordSetRow[];
  readonly reconciler: ReconcilerRow;
  readonly problems: readonly string[];
  /** Why it is not known how the nodes are now; absent where it is. */
  readonly nodesError?: string;
  /** Why it is not known whether `flipop host` runs where it is needed; absent where it is. */
  readonly hostsError?: string;
  /** As of {@link StoredFacts}; empty = each label is that of a process, as far as one may look. */
  readonly unusedShards: ReadonlySet<string>;
  /** What everybody says now; absent where nobody was asked. */
  readonly live?: Live;
}

/** Returns the overview of what is stored. A last success older than `maxAgeMs`, or none, is a problem. */
export function overviewOf(facts: StoredFacts, maxAgeMs: number): Overview {
  const { cluster, nowMs } = facts;
  const reconciler = reconcilerRow(facts, maxAgeMs);
  const ofAll = reconciler.suspension;
  const { grants = reconciler.grants } = facts;
  const unseen = unseenTexts(reconciler);
  const read = (object: Conditioned, kind: ObjectRef["kind"]): Readiness => ({
    ...readinessOf(object, ofAll, nowMs, unseen(`${kind}/${objectKey(object.meta)}`)),
    ...(grants === "off" ? {} : notGrantedOf(object)),
  });
  const nodes = nodesOf(facts);
  const pools = facts.pools.map((pool) => poolRow(pool, read(pool, "pool"), nodes));
  const routedIPs = facts.routedIPs.map((routedIP) => routedIPRow(routedIP, read(routedIP, "routedip"), nodes));
  const recordSets = facts.recordSets.map((recordSet) => recordSetRow(recordSet, read(recordSet, "dns")));
  const rows = namedRows({ pools, routedIPs, recordSets });
  const { unusedShards = new Set<string>() } = facts;
  const problems = [
    ...rows.flatMap(({ row, name }) => problemsOf(name, row)),
    ...unservedTexts(rows, unusedShards),
    ...lostTexts(lostAddresses(rows), nowMs),
    ...unkeptTexts(unkeptAddresses(rows), nowMs),
    ...(reconciler.problem === "" ? [] : [reconciler.problem]),
  ];
  const unknown = {
    ...(facts.nodesError === undefined ? {} : { nodesError: facts.nodesError }),
    ...(facts.hostPods?.kind === "unread" ? { hostsError: facts.hostPods.error } : {}),
  };
  return { cluster, nowMs, pools, routedIPs, recordSets, reconciler, problems, unusedShards, ...unknown };
}

/**
 * Returns an earlier overview as it would be seen now: with the clock, and with the times, the end and the holder of runs, that a later one has.
 * What differs from the later one then is more than that time has passed, or that another run found everything as it was.
 */
export function seenAtTimesOf(before: Overview, now: Overview): Overview {
  const { heldBy, renewed, lastRun, lastSuccess, problem } = now.reconciler;
  const isAsWrong = (before.reconciler.problem === "") === (problem === "");
  const { error } = before.reconciler;
  return {
    ...before,
    nowMs: now.nowMs,
    reconciler: {
      ...before.reconciler,
      ...{ heldBy, renewed, lastRun, lastSuccess },
      ...(isAsWrong && error === now.reconciler.error ? { problem } : {}),
    },
    problems: isAsWrong && before.problems.length === now.problems.length ? now.problems : before.problems,
  };
}

/** The nodes as they are now; undefined where nobody knows. */
type Nodes = { readonly byName: ReadonlyMap<string, NodeFacts>; readonly hostPods: HostPods | undefined } | undefined;

function nodesOf({ nodes, hostPods }: StoredFacts): Nodes {
  return nodes === undefined ? undefined : { byName: new Map(nodes.map((node) => [node.name, node])), hostPods };
}

/** What is known of an address from its node as it is now. */
function seenOn(ip: string, entry: IPStatus, nodes: Nodes): Pick<AddressRow, "trouble" | "hostAgent"> {
  return { ...troubleOf(entry, nodes), ...hostOf(ip, entry, nodes) };
}

function hostOf(ip: string, { state, nodeName = "" }: IPStatus, nodes: Nodes): Pick<AddressRow, "hostAgent"> {
  if (state !== "active" || nodes?.hostPods === undefined) return {};
  const hostAgent = hostAgentOf(ip, nodes.byName.get(nodeName), nodes.hostPods);
  return hostAgent === undefined ? {} : { hostAgent };
}

/** The node that an address is on by its status, as far as it cannot serve now. A node that cannot be read may serve. */
function troubleOf({ nodeName = "" }: IPStatus, nodes: Nodes): { readonly trouble?: NodeTrouble } {
  if (nodes === undefined || nodeName === "") return {};
  const node = nodes.byName.get(nodeName);
  if (node === undefined) return { trouble: { kind: "gone" } };
  if (node.isDeleting) return { trouble: { kind: "deleting" } };
  const { isReady, sinceMs } = node.ready;
  if (isReady || node.unreadable !== undefined) return {};
  return { trouble: { kind: "not-ready", ...(sinceMs === undefined ? {} : { sinceMs }) } };
}

/** Returns the row of every object with its name as a target: `pool/ingress/web`. Pools, then routed IPs, then record sets. */
export function namedRows({
  pools,
  routedIPs,
  recordSets,
}: Pick<Overview, "pools" | "routedIPs" | "recordSets">): readonly NamedRow[] {
  const named = (kind: string, row: Readiness, of: Stored, addresses: readonly AddressRow[]): NamedRow => {
    const { retries, pendingAcquisitions: unanswered = [] } = of.status;
    const { [SHARD_LABEL]: shard = "" } = of.meta.labels;
    return { row, name: `${kind}/${objectKey(of.meta)}`, shard, retries, addresses, unanswered };
  };
  return [
    ...pools.map((row) => named("pool", row, row.pool, row.addresses)),
    ...routedIPs.map((row) => named("routedip", row, row.routedIP, ownAddress(row))),
    ...recordSets.map((row) => named("dns", row, row.recordSet, [])),
  ];
}

interface Stored {
  readonly meta: ObjectMeta;
  readonly status: Pick<PoolStatus, "retries"> & Partial<Pick<PoolStatus, "pendingAcquisitions">>;
}

/** An object, as far as it has what every object may have. */
export interface NamedRow {
  readonly row: Readiness;
  /** As a target. */
  readonly name: string;
  /** What its label names; `""` = none. */
  readonly shard: string;
  /** Everything of it whose last attempt failed. */
  readonly retries: readonly RetryStatus[];
  /** Those that it has in status. */
  readonly addresses: readonly AddressRow[];
  /** What it asked for without an answer so far. */
  readonly unanswered: PoolStatus["pendingAcquisitions"];
}

function ownAddress({ address: ip, status, trouble, hostAgent, waitsUntilMs }: RoutedIPRow): readonly AddressRow[] {
  if (status === undefined) return [];
  return [
    {
      ip,
      status,
      ...(trouble === undefined ? {} : { trouble }),
      ...(hostAgent === undefined ? {} : { hostAgent }),
      ...(waitsUntilMs === undefined ? {} : { waitsUntilMs }),
    },
  ];
}

/** Returns the addresses of a status with what is tried again, and how their nodes are now; sorted by address. */
export function addressRows({ ips, retries }: PoolStatus, nodes?: Nodes): readonly AddressRow[] {
  return Object.entries(ips)
    .sort(([a], [b]) => compareAddresses(a, b))
    .map(([ip, entry]): AddressRow => {
      const retry = retries.find((one) => retriedAddress(one) === ip);
      return { ip, status: entry, ...(retry === undefined ? {} : { retry }), ...seenOn(ip, entry, nodes) };
    });
}

function poolRow(pool: Pool, readiness: Readiness, nodes: Nodes): PoolRow {
  const { status, spec } = pool;
  const rows = addressRows(status, nodes);
  const addresses = rows.map((row): AddressRow => {
    const waitsUntilMs = waitEnd(row.status, pool);
    return waitsUntilMs === undefined ? row : { ...row, waitsUntilMs };
  });
  return {
    pool,
    ...readiness,
    ...nameOf(spec, status, ipFamilyOf(spec), pool.meta),
    active: addresses.filter((address) => address.status.state === "active" && !isUnread(address)).length,
    unread: addresses.filter((address) => address.status.state !== "disabled" && isUnread(address)).length,
    desired: spec.desiredIPs > 0 ? spec.desiredIPs : new Set(spec.ips).size,
    addresses,
  };
}

/** When the wait ends that the status of an address names, by what status and spec say. */
function waitEnd({ reason, notMatchingSince, drainingUntil }: IPStatus, { spec, status }: Waiting): number | undefined {
  const after = (text: string | undefined, seconds: number): number | undefined => {
    const ms = parseTime(text ?? "");
    return ms === undefined ? undefined : ms + seconds * 1000;
  };
  if (reason === "CoolOff") return after(status.lastAssignmentTime, spec.assignmentCoolOffSeconds ?? 0);
  if (reason === "Grace") return after(notMatchingSince, spec.gracePeriodSeconds);
  return reason === "Draining" ? after(drainingUntil, 0) : undefined;
}

/** What the waits of an address are counted by. */
interface Waiting {
  readonly spec: { readonly assignmentCoolOffSeconds?: number; readonly gracePeriodSeconds: number };
  readonly status: Pick<PoolStatus, "lastAssignmentTime">;
}

function isUnread({ status }: AddressRow): boolean {
  return status.reason === "Unreadable";
}

function routedIPRow(routedIP: RoutedIP, readiness: Readiness, nodes: Nodes): RoutedIPRow {
  const { spec, status } = routedIP;
  const address = routedAddress(status);
  const [retry] = status.retries.toSorted((a, b) => (a.nextAttemptTime < b.nextAttemptTime ? -1 : 1));
  const waitsUntilMs = address === undefined ? undefined : waitEnd(address.entry, routedIP);
  return {
    routedIP,
    ...readiness,
    ...nameOf(spec, status, routedFamily(routedIP), routedIP.meta),
    address: address?.ip ?? spec.address,
    ...(address === undefined ? {} : { status: address.entry, ...seenOn(address.ip, address.entry, nodes) }),
    ...(waitsUntilMs === undefined ? {} : { waitsUntilMs }),
    ...(retry === undefined ? {} : { retry }),
  };
}

function recordSetRow(recordSet: RecordSet, readiness: Readiness): RecordSetRow {
  const { spec, status } = recordSet;
  const written = (type: RecordType): WrittenName =>
    writtenName(spec.dnsRecordSet, memoryOf(status, type), spec.provider, type);
  const name = written(asksFor(spec, "A") ? "A" : "AAAA");
  const ipv6 = name.type === "A" && asksFor(spec, "AAAA") ? { ipv6: written("AAAA") } : {};
  const names = [name, ipv6.ipv6].flatMap((one) => one?.fqdn ?? []);
  const retry = status.retries.find((one) => names.includes(retriedRecords(one)?.fqdn ?? ""));
  return { recordSet, ...readiness, name, ...ipv6, ...(retry === undefined ? {} : { retry }) };
}

/** The Ready condition of an object, as far as it speaks of the present spec; Unknown while it speaks of an older one. */
export interface Readiness {
  readonly ready: Condition["status"];
  /** `""` when there is none for this spec. */
  readonly reason: string;
  readonly message: string;
  /** Since when it is not ready, RFC 3339; absent while it is ready or nobody knows. */
  readonly since?: string;
  /** What a person must act on, also of an object that is ready; absent while nothing is, or while the condition speaks of an older spec. */
  readonly stalled?: Stalled;
  /** True where nothing of it can be worked on now: what failed before says nothing of what comes next. */
  readonly isBlocked?: true | undefined;
  /** What lets it stand still now; absent while nothing does. */
  readonly suspended?: Suspended;
  /** What it asks for and is not granted, since when (RFC 3339); absent where all is granted, and where grants are not shown. */
  readonly notGranted?: Problem & { readonly since: string };
}

/** Everything that a person must act on: the condition as it is stored, and its problems one by one, at least one: first that for which the object is not ready. */
interface Stalled extends Problem {
  /** Since when something of it is, RFC 3339. */
  readonly since: string;
  readonly problems: readonly Problem[];
}

interface Conditioned {
  readonly meta: ObjectMeta;
  readonly spec: { readonly suspend: boolean };
  readonly status: { readonly conditions: readonly Condition[] };
}

/** What is said of an object whose status does not tell how it is. */
interface Unseen {
  /** Where status says nothing. */
  readonly never: string;
  /** Where it speaks of an older spec. */
  readonly changed: string;
}

/** What the Lease says of a run that was not permitted, or misconfigured: a person who runs it again sees the same. */
const FAILED_RUN = /^(77|78) ([^;]+)/;

/**
 * Why status may not tell how an object is: what the Lease says of the last run, and of the statuses that it could not write. It names some of them, and counts the others.
 */
function unseenTexts({ lastResult }: ReconcilerRow): (name: string) => Unseen {
  const [, code, word] = FAILED_RUN.exec(lastResult) ?? [];
  const next =
    code === undefined
      ? "run flipop reconcile"
      : `the last one ended with exit code ${code} (${word}): flipop plan says why`;
  const [, text = ""] = /; the status of (.+) was not written$/.exec(lastResult) ?? [];
  const names = new Set(text.split(/, | and /));
  const areMore = / more$/.test(text);
  const never = areMore ? "no run has written its status yet" : `no run has looked at it yet; ${next}`;
  const others = { never, changed: "the spec was changed after the last run" };
  const failed = "the last run could not write its status";
  return (name) => (names.has(name) ? { never: failed, changed: failed } : others);
}

/** Returns how ready an object is by its stored status, and what of it waits for a person. */
function readinessOf(object: Conditioned, ofAll: Suspension | undefined, nowMs: number, unseen: Unseen): Readiness {
  const condition = conditionOf(object, "Ready");
  const stalled = conditionOf(object, "Stalled");
  const suspended = suspensionOf(object, ofAll, nowMs);
  const problem = {
    ...(stalled?.status === "True" && isOfThisSpec(stalled, object) ? { stalled: stalledOf(stalled, condition) } : {}),
    ...(suspended === undefined ? {} : { suspended }),
  };
  const unknown = (message: string): Readiness => ({ ready: "Unknown", reason: "", message, ...problem });
  if (condition === undefined) return unknown(unseen.never);
  const blocked = condition.status === "False" && isWhole(condition.reason) ? { isBlocked: true as const } : {};
  const { status: ready, reason, message, lastTransitionTime } = condition;
  const since = ready === "True" ? {} : { since: lastTransitionTime };
  return isOfThisSpec(condition, object)
    ? { ready, reason, message, ...since, ...problem, ...blocked }
    : unknown(unseen.changed);
}

function stalledOf({ reason, message, lastTransitionTime: since }: Condition, ready: Condition | undefined): Stalled {
  const isWhy = (problem: Problem): boolean => ready?.status === "False" && problem.reason === ready.reason;
  const problems = problemsIn({ reason, message }).toSorted((a, b) => Number(isWhy(b)) - Number(isWhy(a)));
  return { reason, message, since, problems };
}

/** True for what Ready says where the object as a whole stands still. */
function isWhole(reason: string): boolean {
  return [
    "InvalidSpec",
    "SelectorRefused",
    "PodsForbidden",
    "Suspended",
    "ProviderUnavailable",
    "Unreadable",
    "RateLimited",
  ].includes(reason);
}

/** What the last run found not to be granted, for this spec. */
function notGrantedOf(object: Conditioned): Pick<Readiness, "notGranted"> {
  const condition = conditionOf(object, "Granted");
  if (condition?.status !== "False" || !isOfThisSpec(condition, object)) return {};
  const { reason, message, lastTransitionTime: since } = condition;
  return { notGranted: { reason, message, since } };
}

function conditionOf({ status }: Conditioned, wanted: string): Condition | undefined {
  return status.conditions.find(({ type }) => type === wanted);
}

function isOfThisSpec({ observedGeneration }: Condition, { meta }: Conditioned): boolean {
  return observedGeneration >= meta.generation;
}

/** Returns what is wrong with an object, one sentence each: that it is not ready, and everything else of it that waits for a person. */
function problemsOf(name: string, row: Readiness): readonly string[] {
  const { ready, stalled, message } = row;
  return [
    ...(ready === "True" ? [] : [`${name} is not ready: ${whyReady(row)}`]),
    ...(stalled?.problems ?? [])
      .filter((problem) => ready === "True" || !message.includes(problem.message))
      .map((problem) => `${name} waits for a person: ${whyReady(problem)}`),
  ];
}

/** Returns `NoActiveIP: no address is active`, or the message alone where there is no reason. */
export function whyReady({ reason, message }: Problem): string {
  return [reason, message].filter((part) => part !== "").join(": ");
}

/** True for what the planner found out about a RoutedIP, which it treats as a pool of one address. */
export function isRouted({ object }: Pick<PoolAssessment, "object">): boolean {
  return object.kind === "routedip";
}

/** Returns the address that a RoutedIP has in use, by its status; undefined while it has none. One that it had before, and that is still managed, is disabled. */
export function routedAddress({
  ips,
}: Pick<PoolStatus, "ips">): { readonly ip: string; readonly entry: IPStatus } | undefined {
  const used = Object.entries(ips).find(([, { state }]) => state !== "disabled");
  return used === undefined ? undefined : { ip: used[0], entry: used[1] };
}
