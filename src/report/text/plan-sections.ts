import { type Action, isAssign, refKey, subjectOf } from "../../model/action.ts";
import { changesAddress, changesFirewall, changesName } from "../../model/action-kinds.ts";
import { compareIPv4, entryOf } from "../../model/address.ts";
import { problemText } from "../../model/hold.ts";
import { verdictPhrase } from "../../model/node-phrase.ts";
import {
  announcedActions,
  type Hold,
  type NodeVerdict,
  type Plan,
  type PoolAssessment,
  type RecordSetAssessment,
} from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import type { DNSMemory, IPState, IPStatus } from "../../model/resource.ts";
import { isRouted, routedAddress } from "../overview.ts";
import { actionText } from "./actions.ts";
import { whyHold } from "./holds.ts";
import { countText, entryLines, listText, wrap } from "./layout.ts";
import { actionLines, followingLines, heldLines, holdLines, isFollowing, type PlanLayout } from "./plan-entries.ts";
import { activeCount, unreadAddresses, unreadInUse } from "./summary.ts";
import { clockText } from "./times.ts";

/**
 * Returns the sections of a plan, each with an empty line at its end: every pool, routed IP and record set with its nodes, its actions and its holds, each with its reason.
 * Holds of `told` stand elsewhere. Where the plan is {@link isShort}, what stays as it is is only counted.
 */
export function objectSections(plan: Plan, told: ReadonlySet<Hold>, layout: PlanLayout): string[] {
  const ordered = [...plan.pools.filter((pool) => !isRouted(pool)), ...plan.pools.filter(isRouted)];
  const sections = [
    ...ordered.map((pool) => poolSection(pool, ownOf(refKey(pool.object), plan, told), layout)),
    ...plan.recordSets.map((one) => recordSetSection(one, ownOf(refKey(one.object), plan, told), layout)),
  ];
  const shown = isShort(layout) ? sections.filter(({ own }) => own.length > 0) : sections;
  const still =
    sections.length - shown.length - sections.filter(({ own, isHeld }) => own.length === 0 && isHeld).length;
  return [
    ...shown.flatMap(({ heading, own, rest }) => [...heading, ...own, ...rest, ""]),
    ...goneSections(plan, told, layout),
    ...(isShort(layout) ? stillLines(still, layout) : []),
  ];
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

/** What a plan tells of one object: its heading with its nodes, and its own lines: what changes, is held, or is in error. */
interface Section {
  readonly heading: readonly string[];
  readonly own: readonly string[];
  /** What stays and is worth telling beside them. */
  readonly rest: readonly string[];
  /** True where something of it is held, be it told here or elsewhere. */
  readonly isHeld: boolean;
}
/** Returns what is told of one pool or routed IP: heading, nodes, actions, holds and, on demand, what stays. */
function poolSection(pool: PoolAssessment, own: Own, layout: PlanLayout): Section {
  const key = refKey(pool.object);
  const { actions, holds } = own;
  const served = new Set(actions.flatMap((action) => servedNode(action)));
  // A node may carry an address that could not be looked at.
  const isKnown = unreadInUse(pool) === 0;
  const without = isRouted(pool) ? pool.waiting : pool.waiting.filter((name) => !keepersOf(pool).has(name));
  const waiting = isKnown ? without.filter((name) => !served.has(name)) : [];
  return {
    heading: [
      ...headingLines(key, headingFacts(pool, own), layout),
      ...nodeLines({ ...pool, waiting, isRouted: isRouted(pool) }, layout),
    ],
    own: [
      ...ownLines(own, pool, layout),
      ...restLines(pool, actions, holds, layout),
      ...firewallLines(pool, actions, layout),
    ],
    rest: [
      ...foreignLines(pool.status, actions, layout),
      ...publishedLines(pool.status, [...actions, ...holds], layout),
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
  readonly told: ReadonlySet<Hold>;
  readonly nowMs: number;
}

function ownOf(key: string, plan: Plan, told: ReadonlySet<Hold>): Own {
  const isOwn = ({ object }: Action | Hold): boolean => refKey(object) === key;
  return {
    actions: announcedActions(plan).filter(isOwn),
    holds: plan.holds.filter(isOwn),
    suspended: plan.suspendedActions?.filter(isOwn),
    told,
    nowMs: plan.observedAtMs,
  };
}

function ownLines(
  { actions, holds, suspended, told, nowMs }: Own,
  pool: PoolAssessment | undefined,
  layout: PlanLayout,
): string[] {
  const isWhole = layout.wide || layout.all || layout.focus !== undefined;
  const lost = actions.filter(({ kind }) => kind === "clear-annotation");
  // Few annotations that go with their nodes are told one by one: each says what became of its node.
  const isMany = lost.length > MOST_CLEARED;
  const following = isWhole
    ? []
    : actions.filter((action) => isFollowing(action) || (isMany && lost.includes(action) && !isGivenUp(action)));
  const isFolded = following.length > MOST_CLEARED || (following.length > 0 && following.length < actions.length);
  const folded = new Set(isFolded ? following : []);
  const isRest = actions.some(({ kind }) => kind === "acquire-ip");
  const own = holds.filter((hold) => !told.has(hold));
  const annotations = isWhole ? [] : sharedAnnotations(own);
  const shared = new Set(annotations);
  return [
    ...actions.flatMap((action) => {
      if (!folded.has(action)) return actionLines(action, pool, layout);
      return action === following[0] ? followingLines(following.length, "follow", layout) : [];
    }),
    ...annotationLines(annotations, nowMs, layout),
    ...own
      .filter(isSuspension)
      .flatMap((hold) => holdLines(hold, nowMs, layout, { more: suspendedText(suspended, layout) })),
    ...heldLines(
      own.filter((hold) => !shared.has(hold) && !isSuspension(hold)),
      nowMs,
      layout,
      isRest,
    ),
  ];
}

/** So many annotations that go with their nodes are told one by one. */
const MOST_CLEARED = 3;

function isGivenUp(action: Action): boolean {
  return action.kind === "clear-annotation" && action.isGivenUp === true;
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

/** Returns `flipop may not patch nodes: 2 annotations wait`, and why. */
function annotationLines(holds: readonly Hold[], nowMs: number, layout: PlanLayout): string[] {
  const [first] = holds;
  if (first === undefined) return [];
  const who = PATCH.test(first.detail) && first.detail.includes("(403)") ? "flipop may not patch nodes: " : "";
  const what = `${who}${countText(holds.length, "annotation")} ${holds.length === 1 ? "waits" : "wait"}`;
  const why = whyHold({ ...first, detail: first.detail.replace(PATCH, "Cannot patch nodes:") }, nowMs);
  const nodes = layout.wide ? `\n${listText(holds.map(({ subject }) => subject))}` : "";
  return entryLines(holds.some(({ needsPerson }) => needsPerson) ? "!" : ".", what, why + nodes, layout);
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

function blockedText(holds: readonly Hold[]): string | undefined {
  if (holds.some(({ reason }) => reason === "InvalidSpec")) return ": invalid";
  return holds.some(({ reason }) => reason === "SelectorRefused") ? ": its nodes are unknown" : undefined;
}

/** The nodes that still have an address of the pool, be it surplus or released. */
function keepersOf({ status }: PoolAssessment): ReadonlySet<string> {
  const surplus = Object.values(status.ips).filter(({ state }) => state === "disabled");
  return new Set([...surplus, ...status.released].flatMap(({ nodeName }) => nodeName ?? []));
}

function headingFacts(pool: PoolAssessment, own: Own): string {
  const addresses = isRouted(pool) ? routedText(pool) : addressesText(pool);
  return blockedText(own.holds) ?? `: ${addresses}, ${matchText(pool, own)}`;
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

function servedNode(action: Action): readonly string[] {
  if (isAssign(action)) return [action.after.nodeName];
  return action.kind === "acquire-ip" && "node" in action.after ? [action.after.node.nodeName] : [];
}

function restLines(
  pool: PoolAssessment,
  actions: readonly Action[],
  holds: readonly Hold[],
  layout: PlanLayout,
): string[] {
  const { focus } = layout;
  const told = new Set([
    ...actions.flatMap((a) => (changesAddress(a) ? [a.ip] : [])),
    ...holds.map(({ subject }) => subject),
  ]);
  const rest = Object.entries(pool.status.ips)
    .filter(
      ([ip, { nodeName }]) => !told.has(ip) && (focus === undefined || focus.has(ip) || focus.has(nodeName ?? "")),
    )
    .sort(([a], [b]) => compareIPv4(a, b));
  return [
    ...errorLines(pool.status.error, holds, layout),
    ...rest.flatMap(([ip, status]) => addressLines(ip, status, pool, layout)),
  ];
}

/** With `all`, what flipop added to firewalls and stays there, where no action tells of that firewall. */
function firewallLines({ status }: PoolAssessment, actions: readonly Action[], layout: PlanLayout): string[] {
  if (!layout.all || layout.focus !== undefined) return [];
  const told = new Set(actions.flatMap((action) => (changesFirewall(action) ? [action.firewall.id] : [])));
  return (status.firewalls ?? [])
    .filter(({ id }) => !told.has(id))
    .flatMap(({ name, ports, machineIDs }) => {
      const added = [...ports, ...(machineIDs.length === 0 ? [] : [countText(machineIDs.length, "node")])];
      const verb = added.length === 1 && ports.length <= 1 && machineIDs.length <= 1 ? "stays" : "stay";
      return entryLines("=", `${listText(added)} ${verb} on firewall ${name}`, "", layout);
    });
}

/** Of a pool that stands still as a whole an older error is not told: it is not what comes next. */
function addressLines(ip: string, status: IPStatus, { blocked }: PoolAssessment, layout: PlanLayout): string[] {
  if (status.state === "error" && blocked === undefined)
    return entryLines("!", `${ip} is in error`, status.error ?? "", layout);
  if (!layout.all) return [];
  const where = status.nodeName === undefined ? "" : ` on ${status.nodeName}`;
  const what = status.state === "active" ? `${ip} stays${where}` : `${ip} stays ${status.state}${where}`;
  return entryLines("=", what, "", layout);
}

/** Returns what is told of one record set: heading with its name, nodes, actions, holds and, on demand, what stays. */
function recordSetSection(recordSet: RecordSetAssessment, own: Own, layout: PlanLayout): Section {
  const { actions, holds } = own;
  return {
    heading: [
      ...headingLines(refKey(recordSet.object), recordSetFacts(recordSet, own), layout),
      ...nodeLines({ notMatching: recordSet.notMatching, skipped: [], waiting: [] }, layout),
    ],
    own: [
      ...ownLines(own, undefined, layout),
      ...(layout.focus === undefined ? errorLines(recordSet.status.error, holds, layout) : []),
    ],
    rest: [
      ...foreignLines(recordSet.status, actions, layout),
      ...publishedLines(recordSet.status, [...actions, ...holds], layout),
    ],
    isHeld: holds.length > 0,
  };
}

function recordSetFacts(recordSet: RecordSetAssessment, own: Own): string {
  const blocked = blockedText(own.holds);
  if (blocked !== undefined) return blocked;
  const { published } = recordSet;
  const addresses =
    published === undefined ? "records unknown" : `${countText(published.length, "address", "addresses")} published`;
  return `: ${writtenName(recordSet)}, ${addresses}, ${matchText(recordSet, own)}`;
}

/** Returns `www.example.com at cloudflare`, or the name as written where the full one is not known: `www in zone example.com at cloudflare`. */
function writtenName({ fqdn, written }: RecordSetAssessment): string {
  const name = fqdn ?? `${written.recordName || "no name"} in zone ${written.zone || "-"}`;
  return written.provider === "" ? name : `${name} at ${written.provider}`;
}

/** Returns the lines about objects that no longer exist and left something behind, each section with an empty line at its end. */
function goneSections(plan: Plan, told: ReadonlySet<Hold>, layout: PlanLayout): string[] {
  const known = new Set([...plan.pools, ...plan.recordSets].map(({ object }) => refKey(object)));
  const gone = [...announcedActions(plan), ...plan.holds]
    .map(({ object }) => refKey(object))
    .filter((key) => !known.has(key));
  return [...new Set(gone)]
    .sort()
    .flatMap((key) => [
      `${layout.palette.strong(key)}: no longer exists, or is not selected`,
      ...ownLines(ownOf(key, plan, told), undefined, layout),
      "",
    ]);
}

/** Returns the line about the error in an object's status; nothing where a hold tells of it: of the whole object, with the same text, or with the same particulars. */
function errorLines(error: string | undefined, holds: readonly Hold[], layout: PlanLayout): string[] {
  const tells = (hold: Hold): boolean =>
    (hold.kind === "reconcile" && REASONS[hold.reason].held?.object === undefined) ||
    error === problemText(hold) ||
    (hold.detail !== "" && error?.includes(hold.detail) === true);
  return error === undefined || holds.some(tells) ? [] : entryLines("!", error, "", layout);
}

/** Returns, with `all`, the line about a name whose records stay as they are: nothing where an action or a hold tells of it. */
function publishedLines({ publishedDNS }: DNSMemory, told: readonly (Action | Hold)[], layout: PlanLayout): string[] {
  const { all, wide, focus } = layout;
  if (!all || publishedDNS === undefined) return [];
  const { name, provider, addresses } = publishedDNS;
  if (focus !== undefined && !addresses.some((address) => focus.has(address))) return [];
  if (told.some((entry) => ("subject" in entry ? entry.subject : subjectOf(entry)) === name)) return [];
  const list = listText(addresses, wide ? Number.POSITIVE_INFINITY : 8);
  return entryLines("=", `${name} at ${provider} stays ${list === "" ? "without an address" : list}`, "", layout);
}

/** Returns the lines about records of a name that flipop did not write and that stay, each with the time since when it is known. */
function foreignLines({ publishedDNS }: DNSMemory, actions: readonly Action[], layout: PlanLayout): string[] {
  if (publishedDNS?.foreign === undefined || layout.focus !== undefined) return [];
  const replaced = new Set(actions.flatMap((action) => (changesName(action) ? (action.unrecorded ?? []) : [])));
  return publishedDNS.foreign
    .filter(({ address }) => !replaced.has(address))
    .flatMap(({ address, since }) =>
      entryLines("=", `${publishedDNS.name}: ${address} is foreign and stays, first seen ${since}`, "", layout),
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

/** Returns the lines about the nodes of an object that are not served, and why; grouped, at most three by name unless `wide`. */
function nodeLines({ notMatching, skipped, waiting, isRouted }: NodeGroups, layout: PlanLayout): string[] {
  const { width, palette, wide, focus } = layout;
  const isMeant = (name: string): boolean => focus === undefined || focus.has(name);
  const most = wide ? Number.POSITIVE_INFINITY : 3;
  const meant = (verdicts: readonly NodeVerdict[]): readonly NodeVerdict[] =>
    verdicts.filter(({ nodeName }) => isMeant(nodeName));
  const told = (text: string, items: readonly unknown[], list: string): string[] =>
    items.length === 0 ? [] : [`${text}: ${list}.`];
  const waitingFor = waiting.filter(isMeant);
  const texts = [
    ...told("Not matching", meant(notMatching), groupVerdicts(meant(notMatching), most)),
    ...told("Cannot take an address", meant(skipped), groupVerdicts(meant(skipped), most)),
    ...told(
      isRouted === true ? "Matching and free" : "Still without an address",
      waitingFor,
      listText(waitingFor, most),
    ),
  ];
  return texts.flatMap((text) => wrap(text, "    ", width).map((line) => palette.faint(line)));
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

/** Returns the heading of an object's section: its name strong, its facts behind it. */
function headingLines(name: string, facts: string, { palette, width }: PlanLayout): string[] {
  const [first = "", ...rest] = wrap(`${name}${facts}`, "", width);
  return [palette.strong(name) + first.slice(name.length), ...rest];
}

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
