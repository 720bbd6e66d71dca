import { pastTime } from "./flag-values.ts";
import { COMMON, type CommonFlags, type FlagTable, FROM, flag, type GlobalFlags } from "./flags.ts";

/** Flags of `history`. */
export interface HistoryFlags extends CommonFlags {
  /** Milliseconds. */
  readonly since: number;
  readonly failed?: boolean;
  /** A file; `-` = standard input. */
  readonly logs?: string;
  /** A snapshot; `-` = standard input. */
  readonly from?: string;
}

/** The flags of `history`. */
export const HISTORY: FlagTable<Omit<HistoryFlags, keyof GlobalFlags>> = {
  ...COMMON,
  since: flag("--since <DURATION>", "how far back to look", pastTime, "24h"),
  failed: flag("--failed", "only what failed, or waits for a person"),
  logs: flag("--logs <FILE>", "JSON lines of runs, which reach further back than Events; - reads them from stdin"),
  from: FROM,
};
