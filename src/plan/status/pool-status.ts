import { withProvider } from "../../model/acquisition-memory.ts";
import { type Action, isAssign } from "../../model/action.ts";
import { ACTIONS, changesAnnotation } from "../../model/action-kinds.ts";
import { entryOf, type PendingAcquisition, type ReleasedIP } from "../../model/address.ts";
import { type IPFamily, sourceNamed } from "../../model/address-source.ts";
import { capital, problemText, whyHeld } from "../../model/hold.ts";
import { skippedSentence } from "../../model/node-phrase.ts";
import type { Hold, MissingGrant, NodeVerdict, PoolAssessment } from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import { publishedNames } from "../../model/record-types.ts";
import {
  compareText,
  type HostAddressPolicy,
  type IPStatus,
  ipFamilyOf,
  ownAddresses,
  type PoolStatus,
  type PoolSummary,
  type RetryStatus,
  type RoutedIPStatus,
} from "../../model/resource.ts";
import { nodeBehind, ofRetryKind, type RetriedNode, type RetryKind, recordsBehind } from "../../model/retry-subject.ts";
import { forPerson, problemOfAll } from "../../model/stalled.ts";
import { plain } from "../../model/text.ts";
import { isPast, pastMs, timestamp } from "../../model/time.ts";
import type { ObjectFirewalls } from "../firewalls/plan-firewalls.ts";
import type { EmptyTarget } from "../holds.ts";
import type { NamePlan } from "../names/name-plan.ts";
import type { ObjectNames } from "../names/plan-dns.ts";
import { countedIPs, type Decision, isAsked, isStaying, type PoolView, rememberedIPs, statusOf } from "../pool-view.ts";
import { inTime } from "../retries.ts";
import { withoutNodes } from "../verdicts.ts";
import { type ConditionFacts, conditionsOf, type Readiness } from "./conditions.ts";
import { firewallReadiness } from "./firewall-readiness.ts";
import { drainField, type IsAwaited, ipStatuses, storedPlace } from "./ip-status.ts";
import { dnsError, dnsReadiness, isOpenName, raisedText } from "./name-readiness.ts";

/** What the plan has for one object. */
export interface OwnPlan {
  readonly names: ObjectNames;
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
  /** What it asks for and is not granted. */
  readonly missing: readonly MissingGrant[];
  /** Absent where the object has nothing to do with firewalls. */
  readonly firewall?: ObjectFirewalls;
  /** True for an address that another object is to show on a node, and does not yet. */
  readonly isAwaited: (ip: string, nodeName: string) => boolean;
}

/** What was found out about a pool, with the status it should have. */
export function assessPool(decision: Decision, own: OwnPlan): PoolAssessment {
  const { view, waiting, skipped } = decision;
  const { target, drift, foreign } = own.names.present;
  const inGrace = view.managed.flatMap(({ standing }) =>
    standing.kind === "placed" && standing.unready !== undefined ? [standing.on.nodeName] : [],
  );
  const name = target.kind === "none" ? undefined : target.name;
  return {
    object: view.object,
    provider: view.pool.spec.provider,
    ...(view.suspended === undefined ? {} : { suspended: view.suspended }),
    ...(name === undefined ? {} : { dns: { provider: name.provider, fqdn: name.fqdn } }),
    ...(drift === undefined ? {} : { drift }),
    ...(foreign === undefined ? {} : { foreign }),
    matching: [...new Set([...view.matches.map(({ name: node }) => node), ...inGrace])].toSorted(compareText),
    notMatching: withoutNodes(view.notMatching, inGrace),
    waiting,
    skipped,
    desired: view.desired,
    ...(view.blocked === undefined ? {} : { blocked: view.blocked.reason }),
    status: view.provider === undefined ? blockedStatus(view, own) : poolStatus(decision, own),
  };
}

/** The status a pool should have: the stored one where it still holds, so that an unchanged world changes nothing. */
function poolStatus(decision: Decision, own: OwnPlan): RoutedIPStatus {
  const { view, unassigned, waiting, skipped } = decision;
  const { pool, nowMs } = view;
  const { holds, names } = own;
  const shown = new Set(publishedNames(names.memory).flatMap(ownAddresses));
  const isAwaited: IsAwaited = (ip, nodeName) =>
    (pool.spec.dnsRecordSet !== undefined && !shown.has(ip)) || (nodeName !== undefined && own.isAwaited(ip, nodeName));
  const ips = ipStatuses(view, [...unassigned, ...holds], isAwaited);
  const retries = currentRetries(view, own);
  const error = poolError(view, own);
  const { emptyTarget, hosts } = view;
  const readiness = poolReadiness({
    ips,
    own,
    firewall: firewallReadiness(view),
    isFirewallBlocked: view.firewall.kind === "blocked",
    emptyTarget,
    waiting: waitingText(own),
    hosts,
    family: ipFamilyOf(view.pool.spec),
  });
  return {
    observedGeneration: pool.meta.generation,
    conditions: conditionsOf({ ...conditionFacts(view, own), ips, pendingActions: own.actions.length }, readiness),
    summary: summaryOf(ips, view.desired),
    ...(error === undefined ? {} : { error }),
    ips,
    assignableNodes: waiting,
    nodeErrors: nodeErrors(retries, skipped),
    ...withProvider(
      { acquired: view.acquired, pendingAcquisitions: pendingAcquisitions(view) },
      sourceNamed(pool.spec.provider).provider,
    ),
    released: [...released(view, own), ...replaced(view)].toSorted((a, b) => compareText(a.ip, b.ip)),
    retries,
    ...lastAssignment(pool.status.lastAssignmentTime, nowMs),
    ...(pool.status.assignments === undefined ? {} : { assignments: pool.status.assignments }),
    ...names.memory,
    ...routedFields(view, own, ips),
  };
}

/** An object that cannot be worked on keeps its status, and notes what its issuer says; only the error and the conditions say why. */
function blockedStatus(view: PoolView, own: OwnPlan): RoutedIPStatus {
  const { pool, blocked } = view;
  const { error: _stale, ...rest } = pool.status;
  const facts = { ...conditionFacts(view, own), ips: pool.status.ips, pendingActions: 0 };
  return {
    ...rest,
    observedGeneration: pool.meta.generation,
    conditions: conditionsOf(facts, NOT_LOOKED_AT),
    ...(pool.issuer === undefined ? {} : { issuer: pool.issuer }),
    ...(blocked === undefined ? {} : { error: plain(blocked.detail) }),
  };
}

const NOT_LOOKED_AT: Readiness = { isTrue: false, reason: "ProviderUnavailable", message: "It was not looked at." };

function conditionFacts(
  { pool, blocked, nowMs }: PoolView,
  { holds, missing }: OwnPlan,
): Omit<ConditionFacts, "ips" | "pendingActions"> {
  return { meta: pool.meta, conditions: pool.status.conditions, holds, missing, blocked, nowMs };
}

/** What an address waits for although a node waits for it. */
const WAITING_FOR_EACH_OTHER: ReadonlySet<Hold["waitsFor"]> = new Set([
  "cool-off",
  "retry",
  "turn",
  "shard",
  "reading",
]);

/** What waits, and for what; undefined when nothing does. */
function waitingText({ holds, actions }: OwnPlan): string | undefined {
  const hold = holds.find(
    ({ kind, waitsFor }) => kind === "assign-ip" && waitsFor !== undefined && WAITING_FOR_EACH_OTHER.has(waitsFor),
  );
  if (hold?.nextNode !== undefined && hold.notBeforeMs !== undefined)
    return `${hold.reason} until ${timestamp(hold.notBeforeMs)}: ${hold.nextNode} gets ${hold.subject} then.`;
  if (hold !== undefined) {
    return `${hold.subject} and a node that could take it wait for each other. ${whyHeld(hold)}`;
  }
  const next = actions.find(isAssign);
  if (next !== undefined) return `${next.ip} and node ${next.after.nodeName} wait for each other.`;
  return actions.some(isAboutAddress) ? "Changes are waiting for the next run." : undefined;
}

/** True for what brings addresses to nodes, and takes them away. An annotation alone, which another controller may rewrite again and again, keeps nobody from being ready. */
function isAboutAddress({ kind }: Action): boolean {
  const { affects } = ACTIONS[kind];
  return affects !== "name" && affects !== "ports" && affects !== "machines" && affects !== "node";
}

/** What only a RoutedIP has: its one address for people, and what it remembers. */
function routedFields(
  { pool, inUse }: PoolView,
  { firewall }: OwnPlan,
  ips: PoolStatus["ips"],
): Omit<RoutedIPStatus, keyof PoolStatus> {
  if (pool.kind !== "routedip") return {};
  const [address] = inUse;
  const { state, nodeName } = entryOf(ips, address ?? "") ?? {};
  const issuer = pool.issuer ?? pool.status.issuer;
  const { memory = [], pending = [] } = firewall ?? {};
  return {
    ...(address === undefined ? {} : { address }),
    ...(state === "active" && nodeName !== undefined ? { nodeName } : {}),
    ...(memory.length === 0 ? {} : { firewalls: memory }),
    ...(pending.length === 0 ? {} : { pendingFirewalls: pending }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}

/** What `kubectl get` prints: how many addresses are known to be active, and on which nodes. */
function summaryOf(ips: PoolStatus["ips"], desired: number): PoolSummary {
  const active = Object.values(ips).filter((entry) => entry.state === "active" && !isUnread(entry));
  const [first = "", ...more] = [...new Set(active.flatMap(({ nodeName }) => nodeName ?? []))].toSorted(compareText);
  return {
    addresses: `${active.length}/${desired}`,
    nodes: more.length === 0 ? first : `${first} +${more.length}`,
  };
}

/** The stored text, unless it names a time in the future: that is now, once. */
function lastAssignment(stored: string | undefined, nowMs: number): Pick<PoolStatus, "lastAssignmentTime"> {
  const ms = pastMs(stored, nowMs);
  if (stored === undefined || ms === undefined) return {};
  return { lastAssignmentTime: isPast(stored, nowMs) ? stored : timestamp(ms) };
}

/** What `status.error` says, on one line without control characters, whatever an API said. */
function poolError(view: PoolView, { holds, names }: OwnPlan): string | undefined {
  const stuck = holds.find(({ kind, needsPerson }) => kind === "acquire-ip" && needsPerson);
  const lacks = countedIPs(view) < view.desired;
  const failed = lacks ? view.retries.of("acquire")?.error : undefined;
  const error = stuck === undefined ? (failed ?? dnsError(names)) : problemText(stuck);
  return error === undefined ? undefined : plain(error);
}

/** Retries that still mean something: of addresses not yet placed, of nodes that still wait, of acquisitions still needed. */
function currentRetries(view: PoolView, { holds, actions, names }: OwnPlan): readonly RetryStatus[] {
  const isHeld = (...kinds: readonly Hold["kind"][]): boolean =>
    actions.length > 0 || holds.some(({ kind }) => kinds.includes(kind));
  const isNodeHeld = (name: string): boolean =>
    actions.some((action) => changesAnnotation(action) && action.nodeName === name) ||
    holds.some(({ kind, subject }) => (kind === "annotate-node" || kind === "clear-annotation") && subject === name);
  const placed = new Set<string>();
  const carried = new Map<string, number>();
  for (const { ip, standing } of view.managed) {
    if (standing.kind !== "placed") continue;
    if (standing.staying === undefined) placed.add(ip);
    const { nodeName } = standing.on;
    carried.set(nodeName, (carried.get(nodeName) ?? 0) + 1);
  }
  const isUnplaced = (ip: string): boolean => isAsked(view, ip) && !placed.has(ip);
  const matching = new Map(view.matches.map(({ name, providerID }) => [name, view.machineOf(providerID)]));
  const isOpenNode = ({ nodeName, machineID }: RetriedNode): boolean =>
    matching.get(nodeName) === machineID && (carried.get(nodeName) ?? 0) < view.maxPerNode;
  const isOpenRecords = (name: string): boolean => isOpenName(names, recordsBehind(name));
  const isOpen: Readonly<Record<RetryKind, (name: string) => boolean>> = {
    ip: (name) => isSpare(view, name) || view.succession?.bought === name || isUnplaced(name),
    "ip-relocation": isUnplaced,
    "ip-removal": (name) => isLeaving(view, name) || isUnplaced(name),
    node: (name) => isOpenNode(nodeBehind(name)),
    acquire: () => countedIPs(view) < view.desired,
    dns: isOpenRecords,
    "dns-removal": isOpenRecords,
    "dns-ttl": isOpenRecords,
    firewall: (id) => isHeld("open-ports") && isPresentFirewall(view, id),
    "firewall-ports": (id) => isHeld("open-ports") && isPresentFirewall(view, id),
    "firewall-removal": (id) => isHeld("close-ports") && hasOnRecord(view, id),
    finalizer: () => isHeld("add-finalizer", "remove-finalizer"),
    annotate: (name) => (name === "" ? isHeld("annotate-node", "clear-annotation") : isNodeHeld(name)),
  };
  const isCurrent = ({ subject }: RetryStatus): boolean => {
    const found = ofRetryKind(subject, isOpen);
    return found?.entry(found.name) === true;
  };
  return view.pool.status.retries
    .filter(isCurrent)
    .map((retry) => inTime(retry, view.nowMs))
    .toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
}

/** True for the firewall that the object wants, as far as it could be looked at; one that is gone is tried no more. */
function isPresentFirewall({ firewall }: PoolView, id: string): boolean {
  if (firewall.kind === "ready") return firewall.fact.firewall.id === id;
  return firewall.kind === "blocked" && firewall.isGone !== true;
}

/** True for a firewall that something of the object is on record for. */
function hasOnRecord({ pool }: PoolView, id: string): boolean {
  return pool.status.firewalls?.some((firewall) => firewall.id === id) === true;
}

/** True for an address that is not in use and could take the place of one that serves on a node which does not match: a failed attempt counts as long as one does. */
function isSpare({ managed, inUse }: PoolView, ip: string): boolean {
  return !inUse.has(ip) && managed.some((address) => address.ip === ip) && managed.some(isStaying);
}

/** True for an address that is attached where it should not stay, or is to be given back: its last attempt counts until it has gone. */
function isLeaving(view: PoolView, ip: string): boolean {
  if (view.released.some((released) => released.ip === ip)) return true;
  const address = view.managed.find((managed) => managed.ip === ip);
  const { isDeleting } = view.pool.meta;
  if (address === undefined || (view.inUse.has(ip) && !isDeleting)) return false;
  const { acquired, standing } = address;
  const isAttached = standing.kind === "placed" || (standing.kind === "free" && standing.from !== undefined);
  return isAttached || (view.pool.spec.reclaimPolicy === "Delete" && acquired?.isAdopted === false);
}

function nodeErrors(retries: readonly RetryStatus[], skipped: readonly NodeVerdict[]): readonly string[] {
  const failed = retries.flatMap(({ subject, error }) =>
    subject.startsWith("node/") || subject === "annotate" || subject.startsWith("annotate/") ? [error] : [],
  );
  const unusable = skipped
    .filter(({ reason }) => REASONS[reason].isNodeError)
    .map((skipped) => plain(skippedSentence(skipped)));
  return [...new Set([...failed, ...unusable])].toSorted();
}

/** Those that are still watched, with what they may have got; one whose time is unreadable or in the future is watched from now on, once. */
function pendingAcquisitions(view: PoolView): readonly PendingAcquisition[] {
  const { nowMs } = view;
  return view.pool.status.pendingAcquisitions.flatMap((intent, index) => {
    const resolution = view.pending[index];
    if (resolution?.kind !== "waiting" && resolution?.kind !== "ambiguous") return [];
    const told = resolution.kind === "ambiguous" ? { candidates: resolution.candidates } : {};
    const startedAt = isPast(intent.startedAt, nowMs) ? intent.startedAt : timestamp(nowMs);
    return [{ ...intent, ...told, startedAt }];
  });
}

/** What the object released, what it handed over for as long as that drains, and what it leaves to others while it is deleted. */
function released(view: PoolView, own: OwnPlan): readonly ReleasedIP[] {
  return [...view.released, ...view.handedOver, ...leftBehindPorts(view, own)].map(({ ip }) => {
    const stored = view.pool.status.released.find((entry) => entry.ip === ip);
    const {
      drainingUntil: _until,
      drainsForSeconds: _seconds,
      ...known
    } = stored ?? { ip, ...storedPlace(statusOf(view.pool, ip) ?? {}) };
    return { ...known, ...drainField(view, ip), ...releaseTime(view, stored) };
  });
}

/** What a deleted object leaves to others, as long as it has ports or machines on record: they may let in the clients of these addresses. */
function leftBehindPorts(
  { pool, managed, released: known }: PoolView,
  { firewall }: OwnPlan,
): readonly { readonly ip: string }[] {
  if (!pool.meta.isDeleting || firewall === undefined || firewall.memory.length === 0) return [];
  const others = new Set([...managed, ...known].map(({ ip }) => ip));
  return [...rememberedIPs(pool)].flatMap((ip) => (others.has(ip) ? [] : [{ ip }]));
}

/** When the object stopped using an address: the stored time, or now where it just has. Of an entry without a time nobody knows. */
function releaseTime({ readAtMs }: PoolView, stored: ReleasedIP | undefined): Pick<ReleasedIP, "releasedAt"> {
  if (stored === undefined) return { releasedAt: timestamp(readAtMs) };
  return stored.releasedAt === undefined ? {} : { releasedAt: stored.releasedAt };
}

/** The addresses bought for a RoutedIP that its spec has replaced, as long as they are attached. They stay acquired: without spec.address they are used again. */
function replaced(view: PoolView): readonly ReleasedIP[] {
  if (view.pool.kind !== "routedip" || view.pool.spec.ips.length === 0 || view.pool.meta.isDeleting) return [];
  return view.managed.flatMap((address): readonly ReleasedIP[] => {
    const { ip, acquired, standing } = address;
    const place = standing.kind === "placed" ? standing.on : standing.kind === "free" ? standing.from : undefined;
    if (acquired === undefined || isAsked(view, ip) || place === undefined) return [];
    const providerID = view.providerIDOf(place.machineID);
    const node = place.nodeName === undefined ? {} : { nodeName: place.nodeName };
    const stored = view.pool.status.released.find((entry) => entry.ip === ip);
    return [
      { ip, providerID, ...node, ...(acquired.isAdopted ? {} : { acquired: true }), ...releaseTime(view, stored) },
    ];
  });
}

/** What a pool's Ready is computed from. */
interface PoolReadinessFacts {
  readonly ips: Readonly<Record<string, IPStatus>>;
  readonly own: OwnPlan;
  /** What waits for its node or for the next run, as a sentence; undefined when nothing does. */
  readonly waiting: string | undefined;
  /** Why it is not ready for its firewall's sake; undefined when it is. */
  readonly firewall: Readiness | undefined;
  /** True where nothing may be changed at its firewall, such as one that cannot be read: then no node may take an address. */
  readonly isFirewallBlocked: boolean;
  /** As {@link PoolView.emptyTarget}. */
  readonly emptyTarget: PoolView["emptyTarget"];
  /** As {@link PoolView.hosts}. */
  readonly hosts: PoolView["hosts"];
  readonly family: IPFamily;
}

function emptyTargetReadiness({ what, isServing }: EmptyTarget): Readiness {
  const left = isServing ? "What serves stays." : "No address is active.";
  return { isTrue: false, reason: "EmptyTarget", message: `${capital(what)}. ${left}` };
}

const KEPT_TEXTS: Readonly<Record<NonNullable<NamePlan["kept"]>, string>> = {
  "as-they-are": "The DNS records stay as they are.",
  "to-others": "The DNS name is left to others' records.",
};

function noneActive(
  { own: { holds, names }, firewall, isFirewallBlocked }: PoolReadinessFacts,
  unread: number,
): Readiness {
  const shut = isFirewallBlocked ? firewall : undefined;
  const { kept } = names.present;
  const records = kept === undefined ? "" : ` ${KEPT_TEXTS[kept]}`;
  const together = forPerson(holds).find(([{ kind }]) => kind === "assign-ip" || kind === "acquire-ip");
  const why = together?.[0];
  const cause = together === undefined ? shut?.message : problemOfAll(together);
  const because = cause === undefined ? "" : ` ${capital(cause)}`;
  const none = unread === 0 ? "No address is active." : `No address is known to be active; ${unreadText(unread)}.`;
  return { isTrue: false, reason: why?.reason ?? shut?.reason ?? "NoActiveIP", message: `${none}${because}${records}` };
}

/** What a pool's condition Ready says: an address is active, its firewall lets everything in, DNS is as desired, and no address waits for a node that could take it. Pure. */
function poolReadiness(facts: PoolReadinessFacts): Readiness {
  const { ips, own, waiting, firewall, emptyTarget } = facts;
  const { names } = own;
  const active = Object.values(ips).filter(({ state }) => state === "active");
  const unread = Object.values(ips).filter(isUnread).length;
  if (emptyTarget !== undefined) return emptyTargetReadiness(emptyTarget);
  if (active.length === 0) return noneActive(facts, unread);
  if (waiting !== undefined) return { isTrue: false, reason: "WaitingForAssignment", message: waiting };
  if (firewall !== undefined) return firewall;
  const dns = dnsReadiness(names, own);
  if (dns !== undefined) return dns;
  return {
    isTrue: true,
    reason: "Ready",
    message: `${servingText(active)}${hostsText(facts)}${raisedText(names)}`,
  };
}

function hostsText({ hosts, family }: Pick<PoolReadinessFacts, "hosts" | "family">): string {
  if (hosts === undefined) return "";
  const advice = family === "IPv6" && hosts === "External" ? MANAGED_ADVICE : "";
  return HOSTS[hosts] + advice;
}

/** No host has an IPv6 address by itself. */
const MANAGED_ADVICE = " spec.hostAddress: Managed would let flipop host put them there.";

/** What is not known of an address that is active at the provider. */
const HOSTS: Readonly<Record<HostAddressPolicy, string>> = {
  External: " At the provider, that is: whether the hosts have the addresses is not seen.",
  Managed: " At the provider, that is: flipop host puts the addresses on the hosts, and whether it did is not seen.",
};

/** What is known to be active, and of what nobody could look at what was seen last. */
function servingText(active: readonly IPStatus[]): string {
  const unread = active.filter(isUnread).length;
  const known = active.length - unread;
  const sure = `${known === 1 ? "1 address is" : `${known} addresses are`} active.`;
  if (unread === 0) return sure;
  const last = `${unreadText(unread)}; ${unread === 1 ? "it was" : "they were"} active when last seen.`;
  return known === 0 ? last : `${sure} ${last}`;
}

function isUnread({ state, fault }: IPStatus): boolean {
  return state !== "disabled" && fault === "unread";
}

function unreadText(count: number): string {
  return `${count} ${count === 1 ? "address" : "addresses"} could not be read`;
}
