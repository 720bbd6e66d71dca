import { objectKey } from "../model/resource.ts";
import type { Layout } from "./layout.ts";
import type { RoutedIPRow } from "./overview.ts";
import type { Palette } from "./palette.ts";
import { type ProblemColumn, problemColumn } from "./problem-column.ts";
import { whyReady } from "./readiness.ts";
import { retryText } from "./retry-text.ts";
import { STATE_PAINT } from "./state-paint.ts";
import { type Cell, renderTable } from "./table.ts";
import { durationText } from "./time-text.ts";
import { wantedName } from "./written-name.ts";

const HEADER = ["ADDRESS", "NODE", "STATE", "ISSUER", "SERVICE"];
const WIDE = ["PROVIDER ID", "FIREWALL", "PORTS", "RETRY"];

/**
 * Returns the table of routed IPs: where the address of each is, and whom it follows. Names have a column only where a routed IP asks for one. `wide` adds the
 * machine, the firewalls with the ports that flipop opened for it, and what is tried again first.
 */
export function routedIPTable(
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
    ...HEADER,
    ...(hasDNS ? ["DNS NAME"] : []),
    "AGE",
    ...(layout.wide ? WIDE : []),
    "REASON",
  ];
  return renderTable(
    header,
    rows.map((row) => cells(row, nowMs, layout, { hasDNS, problems })),
    layout.width,
  );
}

function cells(
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
