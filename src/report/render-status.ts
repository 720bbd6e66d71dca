import { objectKey } from "../model/resource.ts";
import { plain, plainValue } from "../model/text.ts";
import { countText } from "./count-text.ts";
import { entryLines, type Layout } from "./layout.ts";
import { type AddressRow, namedRows, type Overview, type PoolRow, type ReconcilerRow } from "./overview.ts";
import type { Palette } from "./palette.ts";
import { type ProblemColumn, problemColumn } from "./problem-column.ts";
import { whyReady } from "./readiness.ts";
import { recordSetTable } from "./record-set-table.ts";
import { retryText } from "./retry-text.ts";
import { routedIPTable } from "./routed-ip-table.ts";
import { STATE_PAINT } from "./state-paint.ts";
import { type Cell, renderTable } from "./table.ts";
import { durationText } from "./time-text.ts";
import { wrap } from "./wrap.ts";
import { wantedName } from "./written-name.ts";

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
