import { type ObjectRef, refKey } from "../../model/action.ts";
import { entryText } from "../../model/address.ts";
import { memoryOf } from "../../model/record-types.ts";
import {
  type DNSMemory,
  type IPState,
  type ObjectMeta,
  objectKey,
  type RecordSetStatus,
  shownAddresses,
} from "../../model/resource.ts";
import { retriedAddress, retrySubjectText } from "../../model/retry-subject.ts";
import { plain, plainValue } from "../../model/text.ts";
import { durationText, parseTime } from "../../model/time.ts";
import { nextStartMs } from "../../model/workload.ts";
import {
  type AddressRow,
  type Overview,
  type PoolRow,
  type Readiness,
  type RecordSetRow,
  type RoutedIPRow,
  whyReady,
} from "../overview.ts";
import type { ReconcilerRow } from "../reconciler.ts";
import { type Cell, countText, type Layout, listText, type Palette, tableEntries, wrap } from "./layout.ts";
import { hostText, nodeText } from "./node-problems.ts";
import { addressReason, missingGrants, problemLines, problemsOf, retryText, suspendedText } from "./status-problems.ts";
import { agoText, aheadText, clockText, readableTimes, rfc3339, untilText } from "./times.ts";
import { formerNames, nameText, wantedName } from "./written-name.ts";

/** How much of the stored state is shown, and how. */
export interface StatusLayout extends Layout {
  /** Ids, times and retries, and what a ready object says, too. */
  readonly wide: boolean;
  /** What to say where no object is shown. */
  readonly none?: string;
}

/** Returns the stored state for people: a table of pools, one of their addresses, one of routed IPs, one of record sets, and the reconciler. `wide` adds ids, times, retries and what a ready object says. */
export function renderStatus(overview: Overview, layout: StatusLayout): string {
  const shown = plainValue(overview);
  const { nowMs } = shown;
  const { none = "No pools.", width } = layout;
  const tables = statusTables(shown, layout);
  const parts = [
    tables.length === 0 ? `${wrap(plain(none), "", width).join("\n")}\n` : "",
    ...tables.map(({ header, rows }) => linesText([header, ...rows.map(({ line }) => line)])),
    linesText(problemsOf(shown).flatMap((problem) => problemLines(problem, layout))),
    grantText(shown, layout),
  ];
  const head = wrap(`Cluster ${plain(shown.cluster)}, read ${readText(nowMs)}`, "", width);
  const reconciler = [layout.palette.strong("Reconciler"), ...factLines(reconcilerLines(shown), layout)];
  return [linesText(head), ...parts, linesText(reconciler)].filter((part) => part !== "").join("\n");
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Returns facts behind their names; what does not fit stands below, further in. */
function factLines(facts: readonly string[], { width }: Layout): readonly string[] {
  return facts.flatMap((fact) => {
    const [, name = "", text = fact] = /^(\S[^:]*: +)(.*)$/.exec(fact) ?? [];
    const margin = " ".repeat(2 + name.length);
    const [first = "", ...rest] = wrap(text, margin, width);
    return [`  ${name}${first.slice(margin.length)}`, ...rest];
  });
}

/** Returns the tables that have rows: pools, their addresses, routed IPs, record sets, and what pools and routed IPs released. Its texts must be plain by now. */
export function statusTables(
  { pools, routedIPs, recordSets, nowMs }: Overview,
  layout: StatusLayout,
): readonly StatusTable[] {
  const look = { ...layout, nowMs };
  return [
    objectTable("pool", pools, poolTable(pools), look),
    addressTable(pools, look),
    objectTable("routedip", routedIPs, routedIPTable(routedIPs, look), look),
    objectTable("dns", recordSets.flatMap(setRows), recordSetTable(look), look),
    releasedTable({ pools, routedIPs }, look),
  ].filter(({ rows }) => rows.length > 0);
}

/** Returns `2026-11-22 08:36:00 UTC`. */
function readText(ms: number): string {
  return rfc3339(ms).replace("T", " ").replace("Z", " UTC");
}

function grantText(overview: Overview, layout: Layout): string {
  const lines = missingGrants(overview).flatMap((problem) => problemLines(problem, layout));
  return lines.length === 0 ? "" : linesText(["Not granted", ...lines]);
}

/** A layout and the time that ages are counted to. */
interface Look extends StatusLayout {
  readonly nowMs: number;
}

/** A column of a table: its header, what stands there for a row, and whether it is left out where the terminal is too narrow. */
type Column<Row> = readonly [header: string, cell: (row: Row) => Cell | string, rank?: Spare | undefined];

/** In which order columns are left out: those that say least of what is wrong go first. */
type Spare = 1 | 2 | 3 | 4;

/** A table of status, as lines. */
export interface StatusTable {
  /** The title of its first column: what its rows are about. */
  readonly title: string;
  /** The titles of all columns. */
  readonly headers: readonly string[];
  /** Those in one line. */
  readonly header: string;
  readonly rows: readonly StatusTableRow[];
}

/** A row of a table of status. */
export interface StatusTableRow {
  /** Of the object that it is of or belongs to, as a target: `pool/ingress/web`. */
  readonly object: string;
  /** What stands in its first column. */
  readonly name: string;
  /** As it is printed; cut where the terminal is too narrow. */
  readonly line: string;
  /** What its columns say, in their order; never cut. */
  readonly cells: readonly string[];
  /** The same by their titles, without those that say nothing. */
  readonly facts: ReadonlyMap<string, string>;
}

function tableOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width }: Layout,
  objectOf: (row: Row) => string,
): StatusTable {
  const all = rows.map((row) =>
    columns.map(([, cellOf]): Cell => {
      const cell = cellOf(row);
      return typeof cell === "string" ? { text: cell } : cell;
    }),
  );
  const headers = columns.map(([header]) => header);
  const spare = columns.map(([, , rank]) => rank);
  const [header = "", ...lines] = tableEntries(headers, all, { width, spare });
  return {
    title: headers[0] ?? "",
    headers,
    header,
    rows: rows.map((row, at) => {
      const cells = (all[at] ?? []).map(({ text }) => text);
      const facts = new Map(
        cells.map((text, column) => [headers[column] ?? "", text] as const).filter(([, text]) => text !== "-"),
      );
      return { object: objectOf(row), name: cells[0] ?? "", line: lines[at] ?? "", cells, facts };
    }),
  };
}

/** What is particular to the table of one kind of object. */
interface ObjectTable<Row> {
  readonly title: string;
  readonly objectOf: (row: Row) => { readonly meta: ObjectMeta };
  /** Before the age. */
  readonly columns: readonly Column<Row>[];
  /** Behind the age, with `wide`. */
  readonly wideColumns?: readonly Column<Row>[];
}

/** Returns a table of objects. What waits for a person has a column only where something does. */
function objectTable<Row extends Readiness>(
  kind: ObjectRef["kind"],
  rows: readonly Row[],
  { title, objectOf, columns, wideColumns = [] }: ObjectTable<Row>,
  look: Look,
): StatusTable {
  const { nowMs, palette, wide } = look;
  const problem: Column<Row> = [
    "PROBLEM",
    ({ stalled }) => (stalled === undefined ? "-" : { text: reasonsText(stalled, wide), paint: palette.bad }),
  ];
  const all: readonly Column<Row>[] = [
    [title, (row) => objectKey(objectOf(row).meta)],
    ["READY", ({ ready }) => ({ text: ready, paint: ready === "True" ? palette.good : palette.bad })],
    ...(rows.some(({ stalled }) => stalled !== undefined) ? [problem] : []),
    ...columns,
    ["AGE", (row) => ageText(objectOf(row).meta, nowMs), 1],
    ...(wide ? wideColumns : []),
    ["REASON", (row) => reasonCell(row, look)],
  ];
  return tableOf(all, rows, look, (row) => refKey({ kind, ...objectOf(row).meta }));
}

/** Returns `IPNotFound`, `IPNotFound +2` where two others wait for a person, too, or with `wide` all of them. */
function reasonsText({ problems }: NonNullable<Readiness["stalled"]>, wide: boolean): string {
  const reasons = problems.map(({ reason }) => reason);
  if (wide) return [...new Set(reasons)].join(", ");
  return problems.length === 1 ? reasons.join() : `${reasons[0]} +${problems.length - 1}`;
}

/** The word alone: what it says stands below the tables, where nothing is cut. With `wide` what a ready object says, too, where there is room. */
function reasonCell(row: Readiness, { nowMs, wide }: Look): Cell | string {
  if (row.suspended !== undefined) return "suspended";
  const short = row.reason || "-";
  return row.ready === "True" && wide ? { text: readableTimes(whyReady(row), nowMs), short } : short;
}

function ageText({ createdAtMs }: ObjectMeta, nowMs: number): string {
  return createdAtMs === 0 ? "-" : durationText(nowMs - createdAtMs);
}

function poolTable(rows: readonly PoolRow[]): ObjectTable<PoolRow> {
  return {
    title: "POOL",
    objectOf: ({ pool }) => pool,
    columns: [
      [
        "ACTIVE/DESIRED",
        ({ active, desired, unread }) => `${active}/${desired}${unread === 0 ? "" : ` (${unread} unread)`}`,
      ],
      ["WAITING NODES", ({ pool }) => String(pool.status.assignableNodes.length), 3],
      ...nameColumn(rows),
    ],
  };
}

/** Names have a column only where an object asks for one. */
function nameColumn<Row extends Pick<PoolRow, "name">>(rows: readonly Row[]): readonly Column<Row>[] {
  return rows.some(({ name }) => name !== undefined) ? [["DNS NAME", ({ name }) => wantedName(name), 4]] : [];
}

function addressTable(pools: readonly PoolRow[], look: Look): StatusTable {
  const { nowMs, palette, wide } = look;
  const rows = pools.flatMap(({ addresses, pool, isBlocked }) =>
    addresses.map((address) => ({ ...address, pool, isBlocked })),
  );
  type Row = (typeof rows)[number];
  const wideColumns: readonly Column<Row>[] = [
    ["PROVIDER ID", ({ status }) => status.providerID ?? "-", 2],
    [
      "NOT MATCHING",
      ({ status }) => (status.notMatchingSince === undefined ? "-" : agoText(status.notMatchingSince, nowMs)),
      3,
    ],
    ["RETRY", ({ retry }) => retryText(retry, nowMs), 4],
    ...hostColumn(rows, nowMs),
  ];
  const columns: readonly Column<Row>[] = [
    ["ADDRESS", ({ ip }) => entryText(ip)],
    ["POOL", ({ pool }) => objectKey(pool.meta), pools.length === 1 ? 1 : undefined],
    ["STATE", (row) => stateCell(row, palette)],
    ["NODE", (row) => nodeCell(row, nowMs, palette)],
    ...(wide ? wideColumns : []),
    ["REASON", (row) => (row.isBlocked ? "" : addressReason(row, nowMs)) || "-"],
  ];
  return tableOf(columns, rows, look, ({ pool }) => refKey({ kind: "pool", ...pool.meta }));
}

/** How `flipop host` is on the nodes of addresses has a column only where some node is to put one on its host. */
function hostColumn<Row extends Pick<AddressRow, "hostAgent">>(
  rows: readonly Row[],
  nowMs: number,
): readonly Column<Row>[] {
  const isNeeded = rows.some(({ hostAgent }) => hostAgent !== undefined);
  return isNeeded ? [["HOST", ({ hostAgent }) => hostText(hostAgent, nowMs), 4]] : [];
}

/** What objects do not use any more and is still where it was, with the time at which no resolver hands it out any longer. */
function releasedTable({ pools, routedIPs }: Pick<Overview, "pools" | "routedIPs">, look: Look): StatusTable {
  const { nowMs, wide } = look;
  const objects = [
    ...pools.map(({ pool: { meta, status } }) => ({ by: refKey({ kind: "pool", ...meta }), status })),
    ...routedIPs.map(({ routedIP: { meta, status } }) => ({ by: refKey({ kind: "routedip", ...meta }), status })),
  ];
  const rows = objects.flatMap(({ by, status }) => status.released.map((entry) => ({ ...entry, by })));
  type Row = (typeof rows)[number];
  const drains = ({ drainingUntil }: Row): string => {
    const untilMs = parseTime(drainingUntil ?? "");
    return untilMs === undefined || untilMs <= nowMs ? "-" : untilText(untilMs, nowMs);
  };
  const columns: readonly Column<Row>[] = [
    ["RELEASED", ({ ip }) => ip],
    ["BY", ({ by }) => by],
    ["SINCE", ({ releasedAt = "" }) => (parseTime(releasedAt) === undefined ? "-" : agoText(releasedAt, nowMs))],
    ["NODE", ({ nodeName }) => nodeName ?? "-"],
    ...(wide ? [["PROVIDER ID", ({ providerID }: Row) => providerID ?? "-"] as const] : []),
    ["DRAINS", drains],
  ];
  return tableOf(columns, rows, look, ({ by }) => by);
}

/** Where the address of each routed IP is, and whom it follows; with `wide` the machine, the firewalls with the ports that flipop opened for it, and what is tried again first. */
function routedIPTable(rows: readonly RoutedIPRow[], { nowMs, palette }: Look): ObjectTable<RoutedIPRow> {
  const firewallsOf = ({ routedIP }: RoutedIPRow): NonNullable<typeof routedIP.status.firewalls> =>
    routedIP.status.firewalls ?? [];
  return {
    title: "ROUTED IP",
    objectOf: ({ routedIP }) => routedIP,
    columns: [
      ["ADDRESS", ({ address }) => address || "-"],
      ["NODE", (row) => nodeCell(row, nowMs, palette)],
      ["STATE", (row) => stateCell(row, palette)],
      ["ISSUER", ({ routedIP }) => routedIP.spec.issuer || "-", 2],
      ["SERVICE", ({ routedIP }) => routedIP.spec.serviceName || "-", 3],
      ...nameColumn(rows),
    ],
    wideColumns: [
      ["PROVIDER ID", ({ status }) => status?.providerID ?? "-", 2],
      [
        "FIREWALL",
        (row) =>
          firewallsOf(row)
            .map(({ name }) => name)
            .join(", ") || "-",
        3,
      ],
      ["PORTS", (row) => [...new Set(firewallsOf(row).flatMap(({ ports }) => ports))].toSorted().join(", ") || "-", 3],
      [
        "RETRY",
        ({ retry }) => {
          const subject =
            retry === undefined || retriedAddress(retry) !== undefined ? "" : `${retrySubjectText(retry.subject)}: `;
          return subject + retryText(retry, nowMs);
        },
        4,
      ],
      ...hostColumn(rows, nowMs),
    ],
  };
}

/** Returns `worker-1`, or `worker-1 (not ready 58s)` while it cannot serve. */
function nodeCell(
  { status, trouble }: Pick<RoutedIPRow, "status" | "trouble">,
  nowMs: number,
  palette: Palette,
): Cell | string {
  const name = status?.nodeName ?? "-";
  if (trouble === undefined) return name;
  const short = nodeText(name, { kind: trouble.kind }, nowMs);
  return { text: nodeText(name, trouble, nowMs), short, paint: palette.bad };
}

function stateCell({ status }: Pick<RoutedIPRow, "status">, palette: Palette): Cell | string {
  if (status === undefined) return "-";
  const unread = status.reason === "Unreadable" ? " (unread)" : "";
  return { text: status.state + unread, paint: palette[STATE_PAINT[status.state]] };
}

const RECORD_SET_PAINT: Readonly<Record<NonNullable<RecordSetStatus["state"]>, keyof Palette>> = {
  active: "good",
  "in-progress": "notable",
  error: "bad",
};

/** The name that each record set asks for, and the addresses its records had when last seen. */
function recordSetTable({ nowMs, palette, wide }: Look): ObjectTable<RecordSetRow> {
  return {
    title: "RECORD SET",
    objectOf: ({ recordSet }) => recordSet,
    columns: [
      ["DNS NAME", ({ name }) => nameText(name), 4],
      ["PROVIDER", ({ name }) => name.provider, 2],
      ["STATE", (row) => recordSetState(row, palette)],
      ["PUBLISHED", (row) => publishedCell(row, wide), 3],
    ],
    wideColumns: [
      ["ZONE", ({ name }) => name.zone || "-", 2],
      ["FORMER NAMES", (row) => formerText(formerOf(row)), 3],
      ["RETRY", ({ retry }) => retryText(retry, nowMs), 4],
    ],
  };
}

/** A row for each set of records that is asked for. */
function setRows(row: RecordSetRow): readonly RecordSetRow[] {
  return row.ipv6 === undefined ? [row] : [row, { ...row, name: row.ipv6 }];
}

/** The former names of the set; of the other one, too, where that is not asked for. */
function formerOf({ name, ipv6, recordSet: { status } }: RecordSetRow): DNSMemory["formerDNS"] {
  const own = formerNames(name, memoryOf(status, name.type));
  if (ipv6 !== undefined) return own;
  return [...own, ...formerNames({ isPublished: false }, memoryOf(status, name.type === "A" ? "AAAA" : "A"))];
}

/** The state that status has; what waits for a person is no progress, whatever the Go operator calls it. */
function recordSetState({ recordSet: { status }, stalled }: RecordSetRow, palette: Palette): Cell | string {
  if (status.state === undefined) return "-";
  if (status.state === "in-progress" && stalled !== undefined) return { text: "held", paint: palette.bad };
  return { text: status.state, paint: palette[RECORD_SET_PAINT[status.state]] };
}

function formerText(names: DNSMemory["formerDNS"]): string {
  return listText(names.map(({ name, provider }) => `${name} at ${provider}`)) || "-";
}

/** How many addresses are shown unless `wide`. */
const MOST_ADDRESSES = 3;

/** The addresses that the record set wrote, and how many others stand beside them. */
function publishedCell({ name, recordSet }: RecordSetRow, wide: boolean): Cell | string {
  const { publishedDNS } = memoryOf(recordSet.status, name.type);
  if (!name.isPublished || publishedDNS === undefined) return "-";
  const addresses = shownAddresses(publishedDNS);
  const { foreign = [] } = publishedDNS;
  const beside = foreign.length === 0 ? "" : ` (and ${foreign.length} foreign)`;
  const own = listText(addresses, wide ? Number.POSITIVE_INFINITY : MOST_ADDRESSES) || "none";
  if (addresses.length < 2) return own + beside;
  // An address without its middle would look like another one.
  return { text: own + beside, short: countText(addresses.length, "address", "addresses") + beside };
}

/** How the state of an address is painted. */
const STATE_PAINT: Readonly<Record<IPState, keyof Palette>> = {
  active: "good",
  "in-progress": "notable",
  error: "bad",
  "no-match": "bad",
  unassigned: "notable",
  disabled: "faint",
};

/** Returns what is known of the reconciler, a line per fact: `lock:           Lease flipop/flipop, free`. */
export function reconcilerLines({ reconciler: row, nowMs, nodesError, hostsError }: Overview): readonly string[] {
  const runs = runsText(row, nowMs);
  if (row.error !== "") return [`unknown: ${row.error}`, ...runs];
  const result = row.lastResult === "" ? "" : `, exit code ${row.lastResult.replace(/^(\d+) (.+)$/, "$1 ($2)")}`;
  return [
    `last run:       ${row.lastRun === "" ? "never" : agoText(row.lastRun, nowMs)}${result}`,
    `last full look: ${row.lastSuccess === "" ? "never" : agoText(row.lastSuccess, nowMs)}`,
    ...runs,
    ...row.notBefore.map(
      ({ provider, until }) => `no calls:       ${provider} asked for none ${untilText(Date.parse(until), nowMs)}`,
    ),
    ...row.putOff.map((one) => putOffText(one, nowMs)),
    ...(row.suspension === undefined
      ? []
      : [
          `suspended:      all objects ${suspendedText({ ...row.suspension, source: "object" }, nowMs).replace("suspended ", "")}`,
        ]),
    ...grantsText(row),
    `lock:           Lease ${row.lease}, ${heldText(row, nowMs)}`,
    ...(nodesError === undefined ? [] : [`nodes:          not looked at: ${plain(nodesError)}`]),
    ...(hostsError === undefined ? [] : [`flipop host:    whether it runs is not known: ${plain(hostsError)}`]),
  ];
}

/** What runs flipop, and when it does so next; nothing where nobody says. */
function runsText({ workloads, lease }: ReconcilerRow, nowMs: number): readonly string[] {
  if (workloads === undefined) return [];
  const running = workloads.filter(({ isSuspended }) => !isSuspended);
  if (running.length > 0)
    return running.map((one) => {
      if (one.kind === "Deployment") return `runs by itself: Deployment ${one.name}, which watches`;
      const next = nextStartMs(one, nowMs);
      const at = next === undefined ? "" : `, next at ${clockText(next, nowMs)} (${aheadText(rfc3339(next), nowMs)})`;
      return `runs by itself: CronJob ${one.name}, ${one.schedule}${at}`;
    });
  const names = listText(workloads.map(({ kind, name }) => `${kind} ${name}`));
  const why =
    workloads.length === 0
      ? `namespace ${lease.split("/")[0]} has no CronJob or Deployment of flipop`
      : `${names} ${workloads.length === 1 ? "is" : "are"} suspended`;
  return [`runs by itself: no: ${why}`];
}

/** How grants counted. Without them only where somebody asked. */
function grantsText({ grants, asksForGrants }: ReconcilerRow): readonly string[] {
  if (grants === "warn") return ["grants:         only warned of (--grants warn)"];
  if (grants === "require") return ["grants:         required (--grants require)"];
  return asksForGrants
    ? ["grants:         off in the last run; flipop plan --grants warn says what is not granted"]
    : [];
}

function putOffText({ provider, names, until }: ReconcilerRow["putOff"][number], nowMs: number): string {
  const end = untilText(Date.parse(until), nowMs);
  const many = countText(names, "look");
  return `put off:        ${many} at names at ${provider} ${end}: calls are kept for what is more urgent`;
}

function heldText({ heldBy, renewed }: ReconcilerRow, nowMs: number): string {
  return heldBy === "" ? "free" : `held by ${heldBy}, renewed ${agoText(renewed, nowMs)}`;
}
