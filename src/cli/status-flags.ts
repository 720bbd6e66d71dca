import { duration } from "./flag-values.ts";
import {
  COMMON,
  type CommonFlags,
  type FlagTable,
  FROM,
  flag,
  type GlobalFlags,
  GRANTS,
  type GrantsFlag,
  NOTED_GRANTS,
  objectOutputFlag,
  resolverFlag,
  SHARD,
  type ShardFlags,
} from "./flags.ts";

/** Flags of `status`. */
export interface StatusFlags extends CommonFlags, ShardFlags {
  /** Absent = as the Lease notes. */
  readonly grants?: GrantsFlag;
  readonly check?: boolean;
  /** Milliseconds. */
  readonly wait?: number;
  readonly watch?: boolean;
  readonly live?: boolean;
  /** `ADDRESS` or `ADDRESS:PORT`. */
  readonly resolver?: string;
  /** A snapshot; `-` = standard input. */
  readonly from?: string;
  /** Milliseconds. */
  readonly maxAge: number;
}

/** The flags of `status`. */
export const STATUS: FlagTable<Omit<StatusFlags, keyof GlobalFlags>> = {
  ...COMMON,
  ...SHARD,
  output: objectOutputFlag("jsonl", "markdown"),
  grants: flag("--grants <MODE>", `whether to show what is not granted: not with off; ${NOTED_GRANTS}`, GRANTS),
  check: flag(
    "--check",
    "exit 6 when an object is not ready or waits for a person, an address is on a node that cannot serve, or the last success is too old",
  ),
  wait: flag("--wait <DURATION>", "with --check: wait at most so long until nothing of that is so", duration),
  watch: flag("--watch", "go on, and print each row that changes; ends with Ctrl-C"),
  live: flag("--live", "show what providers, nodes and the DNS servers of zones say now, beside what is stored"),
  resolver: resolverFlag("with --live: DNS server to ask in place of those of the zones"),
  from: FROM,
  maxAge: flag("--max-age <DURATION>", "how old the last successful run may be with --check", duration, "5m"),
};
