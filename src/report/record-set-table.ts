import { type DNSMemory, objectKey, type RecordSetStatus } from "../model/resource.ts";
import { listText } from "./count-text.ts";
import type { Layout } from "./layout.ts";
import type { RecordSetRow } from "./overview.ts";
import type { Palette } from "./palette.ts";
import { type ProblemColumn, problemColumn } from "./problem-column.ts";
import { whyReady } from "./readiness.ts";
import { retryText } from "./retry-text.ts";
import { type Cell, renderTable } from "./table.ts";
import { durationText } from "./time-text.ts";
import { formerNames, nameText, type WrittenName } from "./written-name.ts";

const HEADER = ["DNS NAME", "PROVIDER", "STATE", "PUBLISHED", "AGE"];
const WIDE = ["ZONE", "FORMER NAMES", "RETRY"];

const STATE_PAINT: Readonly<Record<NonNullable<RecordSetStatus["state"]>, keyof Palette>> = {
  active: "good",
  "in-progress": "notable",
  error: "bad",
};

/** How many addresses are shown unless `wide`. */
const MOST_ADDRESSES = 3;

/** Returns the table of record sets: the name each asks for, and the addresses its records had when last seen. `wide` adds zone, former names and retries. */
export function recordSetTable(
  rows: readonly RecordSetRow[],
  nowMs: number,
  layout: Layout & { readonly wide: boolean },
): string {
  const problems = problemColumn(rows, layout.palette);
  const header = ["RECORD SET", "READY", ...problems.header, ...HEADER, ...(layout.wide ? WIDE : []), "REASON"];
  return renderTable(
    header,
    rows.map((row) => cells(row, nowMs, layout, problems)),
    layout.width,
  );
}

function cells(
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
    status.state === undefined ? { text: state } : { text: state, paint: palette[STATE_PAINT[status.state]] },
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
