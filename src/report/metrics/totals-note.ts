import { CALL_BOUNDS, FAILOVER_BOUNDS, type Histogram, histogramOf } from "../../model/meter.ts";
import type { NameTotals } from "./name-totals.ts";
import type { Totals } from "./totals.ts";

/** Returns the totals as the Lease carries them: JSON with sorted keys. */
export function writeTotals(totals: Totals): string {
  return JSON.stringify(totals, (_, value: unknown) => (isRecord(value) ? sorted(value) : value));
}

/** Returns the totals that the Lease carries; whatever is not as {@link writeTotals} writes it counts as 0. @throws never */
export function readTotals(text: string | undefined): Totals {
  const raw = parsed(text);
  return {
    calls: counts(raw["calls"]),
    durations: histograms(raw["durations"]),
    changes: counts(raw["changes"]),
    assignments: counts(raw["assignments"]),
    assignmentErrors: counts(raw["assignmentErrors"]),
    failovers: isHistogram(raw["failovers"], FAILOVER_BOUNDS) ? raw["failovers"] : histogramOf([], FAILOVER_BOUNDS),
    names: names(raw["names"]),
  };
}

type Raw = Readonly<Record<string, unknown>>;

function sorted(value: Raw): Raw {
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function parsed(text: string | undefined): Raw {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function counts(value: unknown): Readonly<Record<string, number>> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.flatMap(([key, count]) => (Number.isSafeInteger(count) && isCount(count) ? [[key, count]] : [])),
  );
}

function histograms(value: unknown): Readonly<Record<string, Histogram>> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([key, one]) => (isHistogram(one, CALL_BOUNDS) ? [[key, one]] : [])));
}

function names(value: unknown): Readonly<Record<string, NameTotals>> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.flatMap(([key, one]) => {
      if (!isRecord(one)) return [];
      const { foreign, right } = one;
      if (!isCount(foreign) || !Number.isSafeInteger(foreign)) return [];
      return [[key, { foreign, ...(typeof right === "string" ? { right } : {}) }]];
    }),
  );
}

function isHistogram(value: unknown, bounds: readonly number[]): value is Histogram {
  if (!isRecord(value) || !isCount(value["sum"])) return false;
  const list: unknown = value["counts"];
  return Array.isArray(list) && list.length === bounds.length + 1 && list.every(isCount);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isRecord(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
