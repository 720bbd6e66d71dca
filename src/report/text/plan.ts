import { type Action, isAssign, refKey, subjectOf } from "../../model/action.ts";
import { ACTIONS, changesAddress, changesFirewall, changesMachines, changesName } from "../../model/action-kinds.ts";
import { compareIPv4, entryOf } from "../../model/address.ts";
import { capital, problemText } from "../../model/hold.ts";
import { verdictPhrase } from "../../model/node-phrase.ts";
import {
  announcedActions,
  type Gap,
  type Hold,
  type MissingGrant,
  type NodeVerdict,
  type Plan,
  type PoolAssessment,
  type ProviderBudget,
  type RecordSetAssessment,
} from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import type { DNSMemory, IPState, IPStatus } from "../../model/resource.ts";
import { plain, plainValue } from "../../model/text.ts";
import { harmTexts, namesDown, touchedOthers } from "../impact.ts";
import { isRouted, routedAddress } from "../overview.ts";
import { actionText, dnsChangeLines, whyAction } from "./actions.ts";
import { holdText, whyHold } from "./holds.ts";
import { countText, type EntrySymbol, entryLines, type Layout, listText, wrap } from "./layout.ts";
import { activeCount, putOffGaps, summaryText, unreadAddresses, unreadInUse, untoldGaps } from "./summary.ts";
import { rfc3339 } from "./times.ts";

/**
 * Returns a plan for people: where and when it was read; every pool, routed IP and record set with its nodes, actions and holds, each with its reason;
 * what could not be read; then summary, impact, provider calls and quota. Ends with a line end.
 */
export function renderPlan(planned: Plan, layout: PlanLayout): string {
  const plan = plainValue(planned);
  const read = rfc3339(plan.observedAtMs).replace("T", " ").replace("Z", " UTC");
  const id = layout.wide ? `, plan ${plan.planID}` : "";
  const header = [
    ...wrap(`Plan for ${plan.cluster}, read ${read}${id}${editsText(layout.edits)}`, "", layout.width),
    "",
  ];
  const ordered = [...plan.pools.filter((pool) => !isRouted(pool)), ...plan.pools.filter(isRouted)];
  const pools = ordered.flatMap((pool) => [...poolSection(pool, plan, layout), ""]);
  const recordSets = plan.recordSets.flatMap((recordSet) => [...recordSetSection(recordSet, plan, layout), ""]);
  const isEmpty = plan.pools.length === 0 && plan.recordSets.length === 0;
  const nothing = layout.none ?? "No pools. Create a FloatingIPPool to begin.";
  const none = isEmpty ? [...wrap(plain(nothing), "", layout.width), ""] : [];
  return [
    ...header,
    ...none,
    ...pools,
    ...recordSets,
    ...goneSections(plan, layout),
    ...gapLines(plan, layout),
    ...grantLines(plan, layout),
    ...footer(plan, layout),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns the lines about what could not be read and no hold already tells; with an empty line at the end when there are any. */
export function gapLines(plan: Plan, layout: Layout): string[] {
  const linesOf = (gaps: readonly Gap[]): readonly string[] =>
    gaps.flatMap(({ provider, subject, error }) =>
      entryLines("!", subject === "" ? provider : `${subject} at ${provider}`, error, layout),
    );
  const [unread, putOff] = [linesOf(untoldGaps(plan)), linesOf(putOffGaps(plan))];
  return [
    ...(unread.length === 0 ? [] : ["Could not be read, so nothing about it is changed:", ...unread, ""]),
    ...(putOff.length === 0 ? [] : ["Not looked at, so taken to be as status has it:", ...putOff, ""]),
  ];
}

/**
 * Returns the lines about grants: what is kept although it is not granted, what would be held if grants were required, and what cannot be read. What is held
 * stands at its object. With an empty line at the end when there are any.
 */
function grantLines({ grants }: Plan, layout: Layout): string[] {
  if (grants === undefined) return [];
  const linesOf = (effect: MissingGrant["effect"]): readonly string[] =>
    grants.missing
      .filter((missing) => missing.effect === effect)
      .flatMap(({ object, sentence, advice = "" }) =>
        entryLines("!", refKey(object), `${capital(sentence)}. ${advice}`.trim(), layout),
      );
  const blocks: readonly (readonly [string, readonly string[]])[] = [
    ["Not granted, and kept because it is on record; nothing new comes to it:", linesOf("kept")],
    ["Not granted; with --grants require this would wait:", linesOf("would-be-held")],
  ];
  const told = blocks.flatMap(([heading, lines]) => (lines.length === 0 ? [] : [heading, ...lines, ""]));
  return [...told, ...unreadGrantLines(grants, layout)];
}

/** Returns the lines about what grants nothing because it cannot be read: all namespaces, or entries of annotations; with an empty line at the end when there are any. */
export function unreadGrantLines(grants: Plan["grants"], layout: Layout): string[] {
  const bad = (grants?.problems ?? []).flatMap(({ namespace, annotation, entry, why }) =>
    entryLines("!", `namespace ${namespace}`, `${annotation}${entry === "" ? "" : ` '${entry}'`}: ${why}.`, layout),
  );
  const refusal = grants?.refusal === undefined ? [] : entryLines("!", "namespaces", grants.refusal, layout);
  const lines = [...refusal, ...bad];
  return lines.length === 0 ? [] : ["Grants nothing, because it cannot be read:", ...lines, ""];
}

function footer(plan: Plan, layout: Layout): string[] {
  const read = plan.budget.filter(({ calls, addressCount }) => calls > 0 || addressCount !== undefined);
  const budget = read.flatMap((entry) => wrap(budgetText(entry), "", layout.width));
  return [
    ...wrap(summaryText(plan), "", layout.width).map((line) => layout.palette.strong(line)),
    ...serviceLines(plan, layout),
    ...impactLines(plan, layout),
    ...budget,
  ];
}

/** Returns the lines about what is without service before anything is done; none where all is well. */
function serviceLines(plan: Plan, layout: Layout): string[] {
  const down = namesDown(plan);
  const [first, ...more] = down;
  if (first === undefined) return [];
  const names = listText(
    down.map(({ fqdn }) => fqdn),
    3,
  );
  const text =
    more.length > 0
      ? `${down.length} names show no address that serves: ${names}.`
      : `${first.fqdn} shows ${listText(first.shown, 3)}: ${first.shown.length === 1 ? "it does not serve" : "none of them serves"}.`;
  return hanging("Service: ", text, layout);
}

/** Returns the lines about who is hurt, by class, and what is touched of others; none where nobody is hurt. */
function impactLines(plan: Plan, layout: Layout): string[] {
  const others = touchedOthers(plan).flatMap(({ message }) => entryLines("!", `${message}.`, "", layout));
  return [
    ...harmTexts(plan).flatMap((text) => hanging("Impact: ", text, layout)),
    ...(others.length === 0 ? [] : ["Impact: this touches what flipop did not make:", ...others]),
  ];
}

/** Returns a text behind its heading; its further lines stand below the first word. */
function hanging(heading: string, text: string, { width }: Layout): string[] {
  const [first = "", ...rest] = wrap(text, " ".repeat(heading.length), width);
  return [heading + first.slice(heading.length), ...rest];
}

function budgetText({ provider, calls, addressCount, addressLimit }: ProviderBudget): string {
  const needed = calls === 0 ? `no calls needed` : `at least ${countText(calls, "call")} needed`;
  if (addressCount === undefined) return `${provider}: ${needed}.`;
  const limit = addressLimit === undefined ? "" : ` of ${addressLimit}`;
  return `${provider}: ${needed}; the account has ${addressCount}${limit} reserved IPs.`;
}

/** Returns the lines about one pool or routed IP of a plan: heading, nodes, actions, holds and, on demand, what stays. */
function poolSection(pool: PoolAssessment, plan: Plan, layout: PlanLayout): string[] {
  const key = refKey(pool.object);
  const { actions, holds } = ownOf(key, plan);
  const served = new Set(actions.flatMap((action) => servedNode(action)));
  // A node may carry an address that could not be looked at.
  const isKnown = unreadInUse(pool) === 0;
  const without = isRouted(pool) ? pool.waiting : pool.waiting.filter((name) => !keepersOf(pool).has(name));
  const waiting = isKnown ? without.filter((name) => !served.has(name)) : [];
  return [
    ...headingLines(key, headingFacts(pool, holds), layout),
    ...nodeLines({ ...pool, waiting, isRouted: isRouted(pool) }, layout),
    ...ownLines({ actions, holds }, pool, plan, layout),
    ...restLines(pool, actions, holds, layout),
    ...firewallLines(pool, actions, layout),
    ...foreignLines(pool.status, actions, layout),
    ...publishedLines(pool.status, [...actions, ...holds], layout),
  ];
}

/** What a plan has for one object. */
interface Own {
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
}

function ownOf(key: string, plan: Plan): Own {
  const isOwn = ({ object }: Action | Hold): boolean => refKey(object) === key;
  return { actions: announcedActions(plan).filter(isOwn), holds: plan.holds.filter(isOwn) };
}

function ownLines({ actions, holds }: Own, pool: PoolAssessment | undefined, plan: Plan, layout: PlanLayout): string[] {
  return [
    ...actions.flatMap((action) => actionLines(action, pool, layout)),
    ...holds.flatMap((hold) => holdLines(hold, plan.observedAtMs, layout)),
  ];
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

function headingFacts(pool: PoolAssessment, holds: readonly Hold[]): string {
  return blockedText(holds) ?? `: ${isRouted(pool) ? routedText(pool) : addressesText(pool)}, ${matchText(pool)}`;
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
    ...rest.flatMap(([ip, status]) => addressLines(ip, status, layout)),
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

function addressLines(ip: string, status: IPStatus, layout: PlanLayout): string[] {
  if (status.state === "error") return entryLines("!", `${ip} is in error`, status.error ?? "", layout);
  if (!layout.all) return [];
  const where = status.nodeName === undefined ? "" : ` on ${status.nodeName}`;
  const what = status.state === "active" ? `${ip} stays${where}` : `${ip} stays ${status.state}${where}`;
  return entryLines("=", what, "", layout);
}

/** Returns the lines about one record set of a plan: heading with its name, nodes, actions, holds and, on demand, what stays. */
function recordSetSection(recordSet: RecordSetAssessment, plan: Plan, layout: PlanLayout): string[] {
  const key = refKey(recordSet.object);
  const { actions, holds } = ownOf(key, plan);
  return [
    ...headingLines(key, recordSetFacts(recordSet, holds), layout),
    ...nodeLines({ notMatching: recordSet.notMatching, skipped: [], waiting: [] }, layout),
    ...ownLines({ actions, holds }, undefined, plan, layout),
    ...(layout.focus === undefined ? errorLines(recordSet.status.error, holds, layout) : []),
    ...foreignLines(recordSet.status, actions, layout),
    ...publishedLines(recordSet.status, [...actions, ...holds], layout),
  ];
}

function recordSetFacts(recordSet: RecordSetAssessment, holds: readonly Hold[]): string {
  const blocked = blockedText(holds);
  if (blocked !== undefined) return blocked;
  const { published } = recordSet;
  const addresses =
    published === undefined ? "records unknown" : `${countText(published.length, "address", "addresses")} published`;
  return `: ${writtenName(recordSet)}, ${addresses}, ${matchText(recordSet)}`;
}

/** Returns `www.example.com at cloudflare`, or the name as written where the full one is not known: `www in zone example.com at cloudflare`. */
function writtenName({ fqdn, written }: RecordSetAssessment): string {
  const name = fqdn ?? `${written.recordName || "no name"} in zone ${written.zone || "-"}`;
  return written.provider === "" ? name : `${name} at ${written.provider}`;
}

/** Returns the lines about objects that no longer exist and left something behind, each section with an empty line at its end. */
function goneSections(plan: Plan, layout: PlanLayout): string[] {
  const known = new Set([...plan.pools, ...plan.recordSets].map(({ object }) => refKey(object)));
  const gone = [...announcedActions(plan), ...plan.holds]
    .map(({ object }) => refKey(object))
    .filter((key) => !known.has(key));
  return [...new Set(gone)]
    .sort()
    .flatMap((key) => [
      `${layout.palette.strong(key)}: no longer exists, or is not selected`,
      ...ownLines(ownOf(key, plan), undefined, plan, layout),
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

/** How much a plan shows. */
export interface PlanLayout extends Layout {
  /** Addresses and names that stay as they are, too. */
  readonly all: boolean;
  /** Every node by name, ids and reason words, too. */
  readonly wide: boolean;
  /** Only what concerns these nodes and addresses. */
  readonly focus?: ReadonlySet<string>;
  /** What to say where no object is shown. */
  readonly none?: string;
  /** How the world that is planned for differs from the one that was read. */
  readonly edits?: EditsTold;
}

/** How a world that is planned for was imagined, in the words of who asked. */
export interface EditsTold {
  readonly edits: readonly string[];
  readonly files: readonly string[];
}

/** Returns `, if node/worker-1=NotReady, with web.yaml`. */
function editsText({ edits, files }: EditsTold = { edits: [], files: [] }): string {
  const said = edits.length === 0 ? "" : `, if ${edits.map(plain).join(", ")}`;
  return files.length === 0 ? said : `${said}, with ${files.map(plain).join(", ")}`;
}

/** How many addresses that stay in a name are shown. */
const MOST_KEPT = 3;

/** Returns the lines about one action that is still to be done: what, for DNS address by address, and why. The pool tells why a holder no longer matches. */
function actionLines(action: Action, pool: PoolAssessment | undefined, layout: PlanLayout): string[] {
  const what = layout.wide ? `${actionText(action)} [${action.reason}${idsOf(action)}]` : actionText(action);
  return entryLines(symbolOf(action), what, changeAndReason(action, whyAction(action, pool), layout), layout);
}

/** Returns the symbol of an action: the first records of a name are a creation. */
export function symbolOf(action: Action): EntrySymbol {
  return action.kind === "update-dns" && action.before.addresses.length === 0 ? "+" : ACTIONS[action.kind].symbol;
}

/** Returns what becomes of each address of a name, a line each, and then why; for anything but DNS only why. */
export function changeAndReason(action: Action, why: string, { wide }: Pick<PlanLayout, "wide">): string {
  const most = wide ? Number.POSITIVE_INFINITY : MOST_KEPT;
  return changesName(action) ? [...dnsChangeLines(action, most), why].join("\n") : why;
}

function idsOf(action: Action): string {
  if (changesMachines(action))
    return `, firewall ${action.firewall.id}, ${action.machines.map(({ machineID }) => `machine ${machineID}`).join(", ")}`;
  if (changesFirewall(action)) return `, firewall ${action.firewall.id}`;
  if (!isAssign(action)) return "";
  const from = action.before === undefined ? "" : `${action.before.machineID} -> `;
  return `, machine ${from}${action.after.machineID}`;
}

/** Returns the lines about one hold: what is not done, until when and why. */
export function holdLines(hold: Hold, nowMs: number, layout: PlanLayout): string[] {
  const what = layout.wide ? `${holdText(hold)} [${hold.reason}]` : holdText(hold);
  return entryLines(hold.needsPerson ? "!" : ".", what, whyHold(hold, nowMs), layout);
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

/** Returns `2 of 5 nodes match`. */
function matchText({
  matching,
  notMatching,
}: {
  readonly matching: readonly string[];
  readonly notMatching: readonly NodeVerdict[];
}): string {
  const nodes = countText(matching.length + notMatching.length, "node");
  return `${matching.length} of ${nodes} ${matching.length === 1 ? "matches" : "match"}`;
}

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
