import { type Action, refKey, subjectOf, targetPlace } from "../../model/action.ts";
import { changesAddress, changesFirewall, changesName } from "../../model/action-kinds.ts";
import { compareAddresses, entryOf, entryText } from "../../model/address.ts";
import { problemText } from "../../model/hold.ts";
import { verdictPhrase } from "../../model/node-phrase.ts";
import {
  announcedActions,
  type Hold,
  type NodeVerdict,
  type Plan,
  type PoolAssessment,
  type RecordSetAssessment,
  type SetAssessment,
} from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import { publishedNames } from "../../model/record-types.ts";
import type { IPState, IPStatus, PoolStatus, RecordSetStatus } from "../../model/resource.ts";
import { byObject } from "../by-object.ts";
import { isRouted, routedAddress } from "../overview.ts";
import { actionText } from "./actions.ts";
import { whyHold } from "./holds.ts";
import { countText, type Entry, linesOf, listText, wrap } from "./layout.ts";
import { actionEntry, followingEntry, heldEntries, holdEntry, isFollowing, type PlanLayout } from "./plan-entries.ts";
import { activeCount, unreadAddresses, unreadInUse } from "./summary.ts";
import { clockText } from "./times.ts";
import { unresolvedText } from "./written-name.ts";

/** What a plan tells of one object: how it and its nodes stand, and what changes, is held, or is in error. */
export interface PlanSection {
  /** The object as a target: `pool/ingress/web`. */
  readonly key: string;
  /** What stands behind the key: `: 1 of 2 addresses active, 2 of 5 nodes match`. */
  readonly facts: string;
  /** Which nodes are not served, and why; a sentence each. */
  readonly nodes: readonly string[];
  readonly changes: readonly PlannedChange[];
  /** What is held or in error; with `all` what stays, too. */
  readonly held: readonly Entry[];
  /** What stays and is worth telling beside them. */
  readonly rest: readonly Entry[];
  /** True where something of it is held, be it told here or elsewhere. */
  readonly isHeld: boolean;
  /** True for an object that no longer exists and left something behind. */
  readonly isGone?: true;
}

/** A change; `isFollowing` = an annotation that comes by itself when an address is confirmed or gone. */
export type PlannedChange = Entry & { readonly isFollowing: boolean };

/**
 * Returns a section for every pool, every routed IP, every record set, and every object that is gone and left something behind, in this order. Holds of `elsewhere` are told of
 * there.
 */
export function planSections(plan: Plan, elsewhere: ReadonlySet<Hold>, layout: PlanLayout): readonly PlanSection[] {
  const ordered = [...plan.pools.filter((pool) => !isRouted(pool)), ...plan.pools.filter(isRouted)];
  const ownOf = ownIn(plan, elsewhere);
  return [
    ...ordered.map((pool) => poolSection(pool, ownOf(refKey(pool.object)), layout)),
    ...plan.recordSets.map((one) => recordSetSection(one, ownOf(refKey(one.object)), layout)),
    ...goneSections(plan, ownOf, layout),
  ];
}

/** Returns the sections of a plan as lines, an empty line behind each. Where the plan is {@link isShort}, what stays as it is is only counted. */
export function sectionLines(plan: Plan, elsewhere: ReadonlySet<Hold>, layout: PlanLayout): string[] {
  const sections = planSections(plan, elsewhere, layout);
  const there = sections.filter(({ isGone }) => isGone !== true);
  const isStill = ({ changes, held }: PlanSection): boolean => changes.length + held.length === 0;
  const still = isShort(layout) ? there.filter(isStill) : [];
  return [
    ...sections.filter((one) => !still.includes(one)).flatMap((one) => linesOfSection(one, layout)),
    ...stillLines(still.filter(({ isHeld }) => !isHeld).length, layout),
  ];
}

function linesOfSection({ key, facts, nodes, changes, held, rest }: PlanSection, layout: PlanLayout): string[] {
  const { palette, width } = layout;
  const [first = "", ...more] = wrap(`${key}${facts}`, "", width);
  return [
    palette.strong(key) + first.slice(key.length),
    ...more,
    ...nodes.flatMap((text) => wrap(text, "    ", width).map((line) => palette.faint(line))),
    ...linesOf([...folded(changes, layout), ...held, ...rest], layout),
    "",
  ];
}

/** Annotations that follow are one entry unless all is to be told, or a few of them are all there is. */
function folded(changes: readonly PlannedChange[], layout: PlanLayout): readonly Entry[] {
  const following = isWhole(layout) ? [] : changes.filter(({ isFollowing }) => isFollowing);
  if (following.length === 0 || (following.length === changes.length && following.length <= MOST_CLEARED))
    return changes;
  return changes.flatMap((change) => {
    if (!change.isFollowing) return [change];
    return change === following[0] ? [followingEntry(following.length, "follow")] : [];
  });
}

/** True for a plan that tells only what changes and what is held; a person who names something wants to see it, too. */
export function isShort({ all, focus, isNamed }: PlanLayout): boolean {
  return !all && focus === undefined && isNamed !== true;
}

function stillLines(count: number, { palette }: PlanLayout): string[] {
  if (count === 0) return [];
  const text = count === 1 ? "1 object as it is (--all shows it)" : `${count} objects as they are (--all shows them)`;
  return [palette.faint(text), ""];
}

function poolSection(pool: PoolAssessment, own: Own, layout: PlanLayout): PlanSection {
  const { actions, holds } = own;
  const served = new Set(actions.flatMap((action) => targetPlace(action)?.nodeName ?? []));
  // A node may carry an address that could not be looked at.
  const isKnown = unreadInUse(pool) === 0;
  const without = isRouted(pool) ? pool.waiting : pool.waiting.filter((name) => !keepersOf(pool).has(name));
  const waiting = isKnown ? without.filter((name) => !served.has(name)) : [];
  return {
    key: refKey(pool.object),
    facts: headingFacts(pool, own),
    nodes: nodeTexts({ ...pool, waiting, isRouted: isRouted(pool) }, layout),
    changes: changesOf(own, pool, layout),
    held: [
      ...heldOf(own, layout),
      ...restEntries(pool, actions, holds, layout),
      ...firewallEntries(pool, actions, layout),
    ],
    rest: [
      ...foreignEntries(pool.status, actions, layout),
      ...publishedEntries(pool.status, [...actions, ...holds], layout),
    ],
    isHeld: holds.length > 0,
  };
}

/** What a plan has for one object. */
interface Own {
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
  /** What it would do if it were not suspended; absent where nothing is suspended. */
  readonly suspended: readonly Action[] | undefined;
  /** Those of the holds that are told of elsewhere. */
  readonly elsewhere: ReadonlySet<Hold>;
  readonly nowMs: number;
}

/** Returns what finds that of one object. */
function ownIn(plan: Plan, elsewhere: ReadonlySet<Hold>): (key: string) => Own {
  const actionsOf = byObject(announcedActions(plan));
  const holdsOf = byObject(plan.holds);
  const suspendedOf = plan.suspendedActions === undefined ? undefined : byObject(plan.suspendedActions);
  return (key) => ({
    actions: actionsOf(key),
    holds: holdsOf(key),
    suspended: suspendedOf?.(key),
    elsewhere,
    nowMs: plan.observedAtMs,
  });
}

function changesOf({ actions }: Own, pool: PoolAssessment | undefined, layout: PlanLayout): readonly PlannedChange[] {
  // Few annotations that go with their nodes are told one by one: each says what became of its node.
  const isMany = actions.filter(({ kind }) => kind === "clear-annotation").length > MOST_CLEARED;
  return actions.map((action) => {
    const goes = isMany && action.kind === "clear-annotation" && action.isGivenUp !== true;
    return { ...actionEntry(action, pool, layout), isFollowing: isFollowing(action) || goes };
  });
}

function heldOf({ actions, holds, suspended, elsewhere, nowMs }: Own, layout: PlanLayout): readonly Entry[] {
  const isRest = actions.some(({ kind }) => kind === "acquire-ip");
  const own = holds.filter((hold) => !elsewhere.has(hold));
  const annotations = layout.all || layout.focus !== undefined ? [] : sharedAnnotations(own);
  const shared = new Set(annotations);
  const others = own.filter((hold) => !shared.has(hold) && !isSuspension(hold));
  return [
    ...annotationEntry(annotations, nowMs, layout),
    ...own
      .filter(isSuspension)
      .map((hold) => holdEntry(hold, nowMs, layout, { more: suspendedText(suspended, layout) })),
    ...heldEntries(others, nowMs, layout, isRest),
  ];
}

/** So many annotations that go with their nodes are told one by one. */
const MOST_CLEARED = 3;

/** True where a person wants to see each annotation. */
function isWhole({ wide, all, focus }: PlanLayout): boolean {
  return wide || all || focus !== undefined;
}

/** The holds of annotations that wait for one thing: what keeps one node from being written is told of all that wait. */
function sharedAnnotations(holds: readonly Hold[]): readonly Hold[] {
  const waiting = holds.filter(({ kind }) => kind === "annotate-node" || kind === "clear-annotation");
  const [first] = waiting;
  const isSame = ({ reason, detail }: Hold): boolean => reason === first?.reason && detail === first.detail;
  const isOne = waiting.length > 1 || (first !== undefined && PATCH.test(first.detail));
  return isOne && waiting.every(isSame) ? waiting : [];
}

/** How an API server's refusal to write a node begins. */
const PATCH = /^Cannot patch nodes(?: \S+)?:/;

/** What a refusal says where the permission is missing, so that no node may be written. */
const ASKS_FOR_PERMISSION = 'Grant the verb "patch" on "nodes"';

/** Returns `flipop may not patch nodes: 2 annotations wait`, and why. */
function annotationEntry(holds: readonly Hold[], nowMs: number, layout: PlanLayout): readonly Entry[] {
  const [first] = holds;
  if (first === undefined) return [];
  const who =
    PATCH.test(first.detail) && first.detail.includes(ASKS_FOR_PERMISSION) ? "flipop may not patch nodes: " : "";
  const what = `${who}${countText(holds.length, "annotation")} ${holds.length === 1 ? "waits" : "wait"}`;
  const why = whyHold({ ...first, detail: first.detail.replace(PATCH, "Cannot patch nodes:") }, nowMs);
  const nodes = layout.wide ? `\n${listText(holds.map(({ subject }) => subject))}` : "";
  return [{ symbol: holds.some(({ needsPerson }) => needsPerson) ? "!" : ".", what, why: why + nodes }];
}

function isSuspension({ kind, reason }: Hold): boolean {
  return kind === "reconcile" && reason === "Suspended";
}

/** How many of the changes that a suspended object would make are told. */
const MOST_SUSPENDED = 3;

/** Returns what a suspended object would do, as a line: `It would move 203.0.113.10 from worker-1 to worker-5.` Annotations that follow are told only with `wide`. */
function suspendedText(actions: readonly Action[] | undefined, { wide }: PlanLayout): string {
  if (actions === undefined) return "";
  const own = wide ? actions : actions.filter((action) => !isFollowing(action));
  if (own.length === 0) return "It would change nothing now.";
  return `It would ${listText(own.map(actionText), wide ? Number.POSITIVE_INFINITY : MOST_SUSPENDED)}.`;
}

function blockedText({ conditions }: Pick<PoolStatus, "conditions">, holds: readonly Hold[]): string | undefined {
  if (conditions.some(({ type, reason }) => type === "Ready" && reason === "Deleting")) return ": being deleted";
  if (holds.some(({ reason }) => reason === "InvalidSpec")) return ": invalid";
  const isUnknown = holds.some(({ reason }) => reason === "SelectorRefused" || reason === "PodsForbidden");
  return isUnknown ? ": its nodes are unknown" : undefined;
}

/** The nodes that still have an address of the pool, be it surplus or released. */
function keepersOf({ status }: PoolAssessment): ReadonlySet<string> {
  const surplus = Object.values(status.ips).filter(({ state }) => state === "disabled");
  return new Set([...surplus, ...status.released].flatMap(({ nodeName }) => nodeName ?? []));
}

function headingFacts(pool: PoolAssessment, own: Own): string {
  const addresses = isRouted(pool) ? routedText(pool) : addressesText(pool);
  return blockedText(pool.status, own.holds) ?? `: ${addresses}, ${matchText(pool, own)}`;
}

/** Of addresses that nobody could look at, what was seen last. */
function addressesText(pool: PoolAssessment): string {
  const active = activeCount(pool);
  const unread = unreadInUse(pool);
  const known = countText(pool.desired - unread, "address", "addresses");
  if (unread === 0) return `${active} of ${known} active`;
  const seen = [...unreadAddresses(pool)].filter((ip) => entryOf(pool.status.ips, ip)?.state === "active").length;
  const last = seen === 0 ? "" : ` (${seen >= unread ? "" : `${seen} of them `}active when last seen)`;
  if (unread === pool.desired) return `${countText(unread, "address", "addresses")}, not readable now${last}`;
  return `${active} of ${known} active, ${unread} not readable now${last}`;
}

/** How the address of a routed IP stands, by its state. */
const STANDING: Readonly<Record<IPState, (ip: string, node: string) => string>> = {
  active: (ip, node) => `${ip} active on ${node}`,
  "in-progress": (ip, node) => `${ip} on its way to ${node}`,
  error: (ip) => `${ip} in error`,
  "no-match": (ip, node) => `${ip} on ${node}, which does not match`,
  unassigned: (ip) => `${ip} without a node`,
  disabled: (ip) => `${ip} disabled`,
};

function routedText(pool: PoolAssessment): string {
  const address = routedAddress(pool.status);
  if (address === undefined) return "no address yet";
  const { ip, entry } = address;
  if (unreadAddresses(pool).has(ip))
    return `${ip}, not readable now${entry.state === "active" ? ` (active on ${entry.nodeName ?? "a node"} when last seen)` : ""}`;
  return STANDING[entry.state](ip, entry.nodeName ?? "a machine outside the cluster");
}

function restEntries(
  pool: PoolAssessment,
  actions: readonly Action[],
  holds: readonly Hold[],
  layout: PlanLayout,
): readonly Entry[] {
  const { focus } = layout;
  const told = new Set([
    ...actions.flatMap((a) => (changesAddress(a) ? [a.ip] : [])),
    ...holds.map(({ subject }) => subject),
  ]);
  const rest = Object.entries(pool.status.ips)
    .filter(
      ([ip, { nodeName }]) =>
        !told.has(entryText(ip)) && (focus === undefined || focus.has(ip) || focus.has(nodeName ?? "")),
    )
    .sort(([a], [b]) => compareAddresses(a, b));
  return [
    ...errorEntry(pool.status.error, holds),
    ...rest.flatMap(([ip, status]) => addressEntry(ip, status, pool, layout)),
  ];
}

/** With `all`, what flipop added to firewalls and stays there, where no action tells of that firewall. */
function firewallEntries({ status }: PoolAssessment, actions: readonly Action[], layout: PlanLayout): readonly Entry[] {
  if (!layout.all || layout.focus !== undefined) return [];
  const told = new Set(actions.flatMap((action) => (changesFirewall(action) ? [action.firewall.id] : [])));
  return (status.firewalls ?? [])
    .filter(({ id }) => !told.has(id))
    .map(({ name, ports, machineIDs }) => {
      const added = [...ports, ...(machineIDs.length === 0 ? [] : [countText(machineIDs.length, "node")])];
      const verb = added.length === 1 && ports.length <= 1 && machineIDs.length <= 1 ? "stays" : "stay";
      return { symbol: "=", what: `${listText(added)} ${verb} on firewall ${name}`, why: "" };
    });
}

/** Of a pool that stands still as a whole an older error is not told: it is not what comes next. */
function addressEntry(
  ip: string,
  status: IPStatus,
  { blocked }: PoolAssessment,
  { all }: PlanLayout,
): readonly Entry[] {
  if (status.state === "error" && blocked === undefined)
    return [{ symbol: "!", what: `${ip} is in error`, why: status.error ?? "" }];
  if (!all) return [];
  const where = status.nodeName === undefined ? "" : ` on ${status.nodeName}`;
  const what = status.state === "active" ? `${ip} stays${where}` : `${ip} stays ${status.state}${where}`;
  return [{ symbol: "=", what, why: "" }];
}

function recordSetSection(recordSet: RecordSetAssessment, own: Own, layout: PlanLayout): PlanSection {
  const { actions, holds } = own;
  return {
    key: refKey(recordSet.object),
    facts: recordSetFacts(recordSet, own),
    nodes: nodeTexts({ notMatching: recordSet.notMatching, skipped: [], waiting: [] }, layout),
    changes: changesOf(own, undefined, layout),
    held: [...heldOf(own, layout), ...(layout.focus === undefined ? errorEntry(recordSet.status.error, holds) : [])],
    rest: [
      ...foreignEntries(recordSet.status, actions, layout),
      ...publishedEntries(recordSet.status, [...actions, ...holds], layout),
    ],
    isHeld: holds.length > 0,
  };
}

function recordSetFacts(recordSet: RecordSetAssessment, own: Own): string {
  const blocked = blockedText(recordSet.status, own.holds);
  if (blocked !== undefined) return blocked;
  const { ipv6 } = recordSet;
  const both = ipv6 === undefined ? "" : `, ${ipv6.fqdn ?? "AAAA"}: ${shownText(ipv6)}`;
  return `: ${writtenName(recordSet)}, ${shownText(recordSet)}${both}, ${matchText(recordSet, own)}`;
}

function shownText({ published }: SetAssessment): string {
  return published === undefined
    ? "records unknown"
    : `${countText(published.length, "address", "addresses")} published`;
}

/** Returns `www.example.com at cloudflare`, or the name as written where the full one is not known: `www in zone example.com at cloudflare`. */
function writtenName({ fqdn, written }: RecordSetAssessment): string {
  const name = fqdn ?? unresolvedText(written);
  return written.provider === "" ? name : `${name} at ${written.provider}`;
}

function goneSections(plan: Plan, ownOf: (key: string) => Own, layout: PlanLayout): readonly PlanSection[] {
  const known = new Set([...plan.pools, ...plan.recordSets].map(({ object }) => refKey(object)));
  const gone = [...announcedActions(plan), ...plan.holds]
    .map(({ object }) => refKey(object))
    .filter((key) => !known.has(key));
  return [...new Set(gone)].sort().map((key) => {
    const own = ownOf(key);
    return {
      key,
      facts: ": no longer exists, or is not selected",
      nodes: [],
      changes: changesOf(own, undefined, layout),
      held: heldOf(own, layout),
      rest: [],
      isHeld: own.holds.length > 0,
      isGone: true,
    };
  });
}

/** Returns the error in an object's status; nothing where a hold tells of it: of the whole object, with the same text, or with the same particulars. */
function errorEntry(error: string | undefined, holds: readonly Hold[]): readonly Entry[] {
  const tells = (hold: Hold): boolean =>
    (hold.kind === "reconcile" && REASONS[hold.reason].held?.object === undefined) ||
    error === problemText(hold) ||
    (hold.detail !== "" && error?.includes(hold.detail) === true);
  return error === undefined || holds.some(tells) ? [] : [{ symbol: "!", what: error, why: "" }];
}

/** Returns, with `all`, a name whose records stay as they are: nothing where an action or a hold tells of it. */
function publishedEntries(
  status: PoolStatus | RecordSetStatus,
  told: readonly (Action | Hold)[],
  layout: PlanLayout,
): readonly Entry[] {
  const { all, wide, focus } = layout;
  if (!all) return [];
  return publishedNames(status).flatMap(({ name, provider, addresses }) => {
    if (focus !== undefined && !addresses.some((address) => focus.has(address))) return [];
    if (told.some((entry) => ("subject" in entry ? entry.subject : subjectOf(entry)) === name)) return [];
    const list = listText(addresses, wide ? Number.POSITIVE_INFINITY : 8);
    return [
      { symbol: "=", what: `${name} at ${provider} stays ${list === "" ? "without an address" : list}`, why: "" },
    ];
  });
}

/** Returns the records of a name that flipop did not write and that stay, each with the time since when it is known. */
function foreignEntries(
  status: PoolStatus | RecordSetStatus,
  actions: readonly Action[],
  { focus }: PlanLayout,
): readonly Entry[] {
  if (focus !== undefined) return [];
  const replaced = new Set(actions.flatMap((action) => (changesName(action) ? (action.unrecorded ?? []) : [])));
  return publishedNames(status).flatMap(({ name, foreign = [] }) =>
    foreign
      .filter(({ address }) => !replaced.has(address))
      .map(({ address, since }) => ({
        symbol: "=",
        what: `${name}: ${address} is foreign and stays, first seen ${since}`,
        why: "",
      })),
  );
}

/** Nodes to tell of: those an object does not want, those that can take nothing, those that wait. */
interface NodeGroups {
  readonly notMatching: readonly NodeVerdict[];
  readonly skipped: readonly NodeVerdict[];
  readonly waiting: readonly string[];
  /** True for a RoutedIP: it wants one address, so nodes that could have it do not lack one. */
  readonly isRouted?: boolean;
}

/** Returns which nodes of an object are not served, and why; grouped, at most three by name unless `wide`. */
function nodeTexts(
  { notMatching, skipped, waiting, isRouted }: NodeGroups,
  { wide, focus }: PlanLayout,
): readonly string[] {
  const isMeant = (name: string): boolean => focus === undefined || focus.has(name);
  const most = wide ? Number.POSITIVE_INFINITY : 3;
  const meant = (verdicts: readonly NodeVerdict[]): readonly NodeVerdict[] =>
    verdicts.filter(({ nodeName }) => isMeant(nodeName));
  const told = (text: string, items: readonly unknown[], list: string): string[] =>
    items.length === 0 ? [] : [`${text}: ${list}.`];
  const waitingFor = waiting.filter(isMeant);
  return [
    ...told("Not matching", meant(notMatching), groupVerdicts(meant(notMatching), most)),
    ...told("Cannot take an address", meant(skipped), groupVerdicts(meant(skipped), most)),
    ...told(
      isRouted === true ? "Matching and free" : "Still without an address",
      waitingFor,
      listText(waitingFor, most),
    ),
  ];
}

/** Returns `2 of 5 nodes match`, and which of them still count as a match although they are not ready: `…, 1 of them in grace (worker-1 until 08:18:12 UTC)`. */
function matchText(
  { matching, notMatching, status }: PoolAssessment | RecordSetAssessment,
  { holds, nowMs }: Pick<Own, "holds" | "nowMs">,
): string {
  const nodes = countText(matching.length + notMatching.length, "node");
  const match = `${matching.length} of ${nodes} ${matching.length === 1 ? "matches" : "match"}`;
  const inGrace = holds.flatMap(({ reason, subject, notBeforeMs }) => {
    const node = ("ips" in status ? entryOf(status.ips, subject)?.nodeName : undefined) ?? subject;
    return reason === "Grace" && notBeforeMs !== undefined ? [[node, clockText(notBeforeMs, nowMs)] as const] : [];
  });
  const until = [...new Map(inGrace)].map(([node, time]) => `${node} until ${time}`);
  return until.length === 0 ? match : `${match}, ${until.length} of them in grace (${listText(until, MOST_IN_GRACE)})`;
}

/** How many nodes in grace are named. */
const MOST_IN_GRACE = 3;

/**
 * Returns the verdicts grouped by what is said of them, the largest group first: `3 nodeLabel mismatch (a, b and 1 more), 1 no ready pod (c)`.
 * `names` limits how many nodes a group names.
 */
export function groupVerdicts(verdicts: readonly NodeVerdict[], names: number): string {
  const groups = Map.groupBy(verdicts, verdictPhrase);
  return [...groups]
    .sort(([a, as], [b, bs]) => bs.length - as.length || (a < b ? -1 : 1))
    .map(([phrase, members]) => {
      const nodes = members.map((member) => member.nodeName);
      return `${members.length} ${phrase} (${listText(nodes, names)})`;
    })
    .join(", ");
}
