import {
  type DNSMemory,
  type IPState,
  objectKey,
  type RecordSetStatus,
  type RetryStatus,
} from "../../model/resource.ts";
import { plain, plainValue } from "../../model/text.ts";
import {
  type AddressRow,
  namedRows,
  type Overview,
  type PoolRow,
  type Readiness,
  type ReconcilerRow,
  type RecordSetRow,
  type RoutedIPRow,
  whyReady,
} from "../overview.ts";
import { type Cell, countText, entryLines, type Layout, listText, type Palette, renderTable, wrap } from "./layout.ts";
import { aheadText, durationText } from "./times.ts";
import { formerNames, nameText, type WrittenName, wantedName } from "./written-name.ts";

/** How much of the stored state is shown, and how. */
interface StatusLayout extends Layout {
  /** Ids, times and retries, and what a ready object says, too. */
  readonly wide: boolean;
  /** What to say where no object is shown. */
  readonly none?: string;
}

/** Returns the stored state for people: a table of pools, one of their addresses, one of routed IPs, one of record sets, and the reconciler. `wide` adds ids, times, retries and what a ready object says. */
export function renderStatus(overview: Overview, layout: StatusLayout): string {
  const shown = plainValue(overview);
  const { pools, routedIPs, recordSets, nowMs, reconciler } = shown;
  const { none = "No pools.", width } = layout;
  const parts = [
    pools.length + routedIPs.length + recordSets.length === 0 ? `${wrap(plain(none), "", width).join("\n")}\n` : "",
    pools.length === 0 ? "" : poolTable(pools, nowMs, layout),
    addressTable(pools, nowMs, layout),
    routedIPs.length === 0 ? "" : routedIPTable(routedIPs, nowMs, layout),
    recordSets.length === 0 ? "" : recordSetTable(recordSets, nowMs, layout),
    problemText(shown, layout),
  ];
  return [...parts, reconcilerText(reconciler, nowMs, layout.palette)].filter((part) => part !== "").join("\n");
}

/** What waits for a person, and why, wrapped and never cut: below the tables, whose last column may be. */
function problemText(overview: Overview, layout: Layout): string {
  return namedRows(overview)
    .flatMap(({ row: { stalled }, name }) =>
      stalled === undefined ? [] : entryLines("!", `${name}: ${stalled.message || stalled.reason}`, "", layout),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** Names have a column only where a pool asks for one, problems where one waits for a person. */
function poolTable(pools: readonly PoolRow[], nowMs: number, layout: Layout & { readonly wide: boolean }): string {
  const hasDNS = pools.some(({ name }) => name !== undefined);
  const problems = problemColumn(pools, layout.palette);
  const rows = pools.map((row) => poolCells(row, nowMs, layout, { hasDNS, problems }));
  const header = [
    "POOL",
    "READY",
    ...problems.header,
    "ACTIVE/DESIRED",
    "WAITING NODES",
    ...(hasDNS ? ["DNS NAME"] : []),
    "AGE",
    "REASON",
  ];
  return renderTable(header, rows, layout.width);
}

function poolCells(
  row: PoolRow,
  nowMs: number,
  { palette, wide }: Layout & { readonly wide: boolean },
  { hasDNS, problems }: { readonly hasDNS: boolean; readonly problems: ProblemColumn },
): readonly Cell[] {
  const { meta, status, spec } = row.pool;
  const suspended = spec.suspend ? "suspended; " : "";
  const why = row.ready === "True" && !wide ? row.reason : whyReady(row);
  return [
    { text: objectKey(meta) },
    { text: row.ready, paint: row.ready === "True" ? palette.good : palette.bad },
    ...problems.cells(row),
    { text: `${row.active}/${row.desired}${row.unread === 0 ? "" : ` (${row.unread} unread)`}` },
    { text: String(status.assignableNodes.length) },
    ...(hasDNS ? [{ text: wantedName(row.name) }] : []),
    { text: meta.createdAtMs === 0 ? "-" : durationText(nowMs - meta.createdAtMs) },
    { text: suspended + why },
  ];
}

const ADDRESS_HEADER = ["ADDRESS", "POOL", "STATE", "NODE", "REASON"];
const WIDE_HEADER = ["ADDRESS", "POOL", "STATE", "NODE", "PROVIDER ID", "NOT MATCHING", "RETRY", "REASON"];

function addressTable(pools: readonly PoolRow[], nowMs: number, layout: Layout & { readonly wide: boolean }): string {
  const rows = pools.flatMap((row) =>
    row.addresses.map((address) => addressCells(address, objectKey(row.pool.meta), nowMs, layout)),
  );
  return rows.length === 0 ? "" : renderTable(layout.wide ? WIDE_HEADER : ADDRESS_HEADER, rows, layout.width);
}

function addressCells(
  { ip, status, retry }: AddressRow,
  pool: string,
  nowMs: number,
  { palette, wide }: { readonly palette: Palette; readonly wide: boolean },
): readonly Cell[] {
  const why = [status.reason, status.error].filter((part) => part !== undefined && part !== "").join(": ");
  const detail: readonly Cell[] = [
    { text: status.providerID ?? "-" },
    { text: status.notMatchingSince === undefined ? "-" : ago(status.notMatchingSince, nowMs) },
    { text: retryText(retry, nowMs) },
  ];
  return [
    { text: ip },
    { text: pool },
    { text: status.state, paint: palette[STATE_PAINT[status.state]] },
    { text: status.nodeName ?? "-" },
    ...(wide ? detail : []),
    { text: why === "" ? "-" : why },
  ];
}

function reconcilerText(row: ReconcilerRow, nowMs: number, palette: Palette): string {
  if (row.error !== "") return `${palette.strong("Reconciler")}\n  unknown: ${row.error}\n`;
  const result = row.lastResult === "" ? "" : `, exit code ${row.lastResult.replace(/^(\d+) (.+)$/, "$1 ($2)")}`;
  const lines = [
    palette.strong("Reconciler"),
    `  last run:     ${row.lastRun === "" ? "never" : ago(row.lastRun, nowMs)}${result}`,
    `  last success: ${row.lastSuccess === "" ? "never" : ago(row.lastSuccess, nowMs)}`,
    ...row.putOff.map(putOffText),
    `  lock:         Lease ${row.lease}, ${heldText(row, nowMs)}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function putOffText({ provider, names, until }: ReconcilerRow["putOff"][number]): string {
  const many = countText(names, "look");
  return `  put off:      ${many} at names at ${provider}, until ${until}: calls are kept for what is more urgent`;
}

function heldText({ heldBy, renewed }: ReconcilerRow, nowMs: number): string {
  return heldBy === "" ? "free" : `held by ${heldBy}, renewed ${ago(renewed, nowMs)}`;
}

function ago(time: string, nowMs: number): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? time : `${durationText(Math.max(nowMs - at, 0))} ago`;
}

const RECORD_SET_HEADER = ["DNS NAME", "PROVIDER", "STATE", "PUBLISHED", "AGE"];
const WIDE_RECORD_SETS = ["ZONE", "FORMER NAMES", "RETRY"];

const RECORD_SET_PAINT: Readonly<Record<NonNullable<RecordSetStatus["state"]>, keyof Palette>> = {
  active: "good",
  "in-progress": "notable",
  error: "bad",
};

/** How many addresses are shown unless `wide`. */
const MOST_ADDRESSES = 3;

/** Returns the table of record sets: the name each asks for, and the addresses its records had when last seen. `wide` adds zone, former names and retries. */
function recordSetTable(
  rows: readonly RecordSetRow[],
  nowMs: number,
  layout: Layout & { readonly wide: boolean },
): string {
  const problems = problemColumn(rows, layout.palette);
  const header = [
    "RECORD SET",
    "READY",
    ...problems.header,
    ...RECORD_SET_HEADER,
    ...(layout.wide ? WIDE_RECORD_SETS : []),
    "REASON",
  ];
  return renderTable(
    header,
    rows.map((row) => recordSetCells(row, nowMs, layout, problems)),
    layout.width,
  );
}

function recordSetCells(
  row: RecordSetRow,
  nowMs: number,
  { palette, wide }: Layout & { readonly wide: boolean },
  problems: ProblemColumn,
): readonly Cell[] {
  const { meta, status, spec } = row.recordSet;
  const suspended = spec.suspend ? "suspended; " : "";
  const why = row.ready === "True" && !wide ? row.reason : whyReady(row);
  const state = status.state ?? "-";
  const former = formerNames(row.name, status).map(({ name, provider }) => `${name} at ${provider}`);
  const more: readonly Cell[] = [
    { text: row.name.zone || "-" },
    { text: listText(former) || "-" },
    { text: retryText(row.retry, nowMs) },
  ];
  return [
    { text: objectKey(meta) },
    { text: row.ready, paint: row.ready === "True" ? palette.good : palette.bad },
    ...problems.cells(row),
    { text: nameText(row.name) },
    { text: row.name.provider },
    status.state === undefined ? { text: state } : { text: state, paint: palette[RECORD_SET_PAINT[status.state]] },
    { text: publishedText(row.name, status, wide) },
    { text: meta.createdAtMs === 0 ? "-" : durationText(nowMs - meta.createdAtMs) },
    ...(wide ? more : []),
    { text: suspended + why },
  ];
}

function publishedText({ isPublished }: WrittenName, { publishedDNS }: DNSMemory, wide: boolean): string {
  if (!isPublished || publishedDNS === undefined) return "-";
  return listText(publishedDNS.addresses, wide ? Number.POSITIVE_INFINITY : MOST_ADDRESSES) || "none";
}

const ROUTED_IP_HEADER = ["ADDRESS", "NODE", "STATE", "ISSUER", "SERVICE"];
const WIDE_ROUTED_IPS = ["PROVIDER ID", "FIREWALL", "PORTS", "RETRY"];

/**
 * Returns the table of routed IPs: where the address of each is, and whom it follows. Names have a column only where a routed IP asks for one. `wide` adds the
 * machine, the firewalls with the ports that flipop opened for it, and what is tried again first.
 */
function routedIPTable(
  rows: readonly RoutedIPRow[],
  nowMs: number,
  layout: Layout & { readonly wide: boolean },
): string {
  const hasDNS = rows.some(({ name }) => name !== undefined);
  const problems = problemColumn(rows, layout.palette);
  const header = [
    "ROUTED IP",
    "READY",
    ...problems.header,
    ...ROUTED_IP_HEADER,
    ...(hasDNS ? ["DNS NAME"] : []),
    "AGE",
    ...(layout.wide ? WIDE_ROUTED_IPS : []),
    "REASON",
  ];
  return renderTable(
    header,
    rows.map((row) => routedIPCells(row, nowMs, layout, { hasDNS, problems })),
    layout.width,
  );
}

function routedIPCells(
  row: RoutedIPRow,
  nowMs: number,
  { palette, wide }: Layout & { readonly wide: boolean },
  { hasDNS, problems }: { readonly hasDNS: boolean; readonly problems: ProblemColumn },
): readonly Cell[] {
  const { meta, spec } = row.routedIP;
  const suspended = spec.suspend ? "suspended; " : "";
  const why = row.ready === "True" && !wide ? row.reason : whyReady(row);
  return [
    { text: objectKey(meta) },
    { text: row.ready, paint: row.ready === "True" ? palette.good : palette.bad },
    ...problems.cells(row),
    { text: row.address || "-" },
    { text: row.status?.nodeName ?? "-" },
    stateCell(row, palette),
    { text: spec.issuer || "-" },
    { text: spec.serviceName || "-" },
    ...(hasDNS ? [{ text: wantedName(row.name) }] : []),
    { text: meta.createdAtMs === 0 ? "-" : durationText(nowMs - meta.createdAtMs) },
    ...(wide ? wideCells(row, nowMs) : []),
    { text: suspended + why },
  ];
}

function stateCell({ status }: RoutedIPRow, palette: Palette): Cell {
  if (status === undefined) return { text: "-" };
  const unread = status.reason === "Unreadable" ? " (unread)" : "";
  return { text: status.state + unread, paint: palette[STATE_PAINT[status.state]] };
}

function wideCells({ routedIP, status, retry }: RoutedIPRow, nowMs: number): readonly Cell[] {
  const firewalls = routedIP.status.firewalls ?? [];
  const ports = [...new Set(firewalls.flatMap((firewall) => firewall.ports))].toSorted();
  const subject = retry === undefined || retry.subject.startsWith("ip/") ? "" : `${retry.subject}: `;
  return [
    { text: status?.providerID ?? "-" },
    { text: firewalls.map(({ name }) => name).join(", ") || "-" },
    { text: ports.join(", ") || "-" },
    { text: subject + retryText(retry, nowMs) },
  ];
}

/** The column of what waits for a person, for the header and for each row; empty where nothing does. */
interface ProblemColumn {
  readonly header: readonly string[];
  readonly cells: (row: Readiness) => readonly Cell[];
}

/** Returns the column PROBLEM of a table of objects: the reason of each one's condition Stalled. */
function problemColumn(rows: readonly Readiness[], palette: Palette): ProblemColumn {
  if (rows.every(({ stalled }) => stalled === undefined)) return { header: [], cells: () => [] };
  return {
    header: ["PROBLEM"],
    cells: ({ stalled }) => [stalled === undefined ? { text: "-" } : { text: stalled.reason, paint: palette.bad }],
  };
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

/** Returns `2 failed, next in 5s`, or `-` when nothing is to be tried again. */
function retryText(retry: RetryStatus | undefined, nowMs: number): string {
  return retry === undefined ? "-" : `${retry.attempts} failed, next ${aheadText(retry.nextAttemptTime, nowMs)}`;
}
