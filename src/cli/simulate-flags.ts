import { InvalidArgumentError } from "commander";
import { ConfigError } from "../model/errors.ts";
import { ASSUMED, type Assumed } from "../rehearse/forward.ts";
import { LOSS_KINDS, type LossKind } from "../rehearse/losses.ts";
import { checkPace, type UpgradePace } from "../rehearse/scenarios.ts";
import { addToList, duration, parseDuration, wholeNumber } from "./flag-values.ts";
import {
  COMMON,
  type CommonFlags,
  type FlagTable,
  flag,
  type GlobalFlags,
  outputFlag,
  PLAN,
  type PlanFlags,
} from "./flags.ts";

/** Flags of `simulate`. */
export interface SimulateFlags
  extends Omit<CommonFlags, "output">,
    Pick<PlanFlags, "if" | "filename" | "from" | "detailedExitcode"> {
  readonly output: Exclude<CommonFlags["output"], "name">;
  /** Milliseconds. */
  readonly horizon: number;
  readonly assume?: Assumed;
  readonly expect?: Expectation;
  /** True = each node. */
  readonly n1?: LossKind | true;
  /** The name of a node. */
  readonly drain?: string;
  /** A label selector. */
  readonly rollingUpgrade?: string;
  /** Absent = 1, unless `unavailable` is given. */
  readonly surge?: number;
  /** Absent = 0. */
  readonly unavailable?: number;
  /** Milliseconds; absent = 2 minutes. */
  readonly nodeReady?: number;
  /** Milliseconds; absent = 30 seconds. */
  readonly drainTime?: number;
}

/** What `--expect` asks for. */
export interface Expectation {
  /** The longest outage of a name, milliseconds. */
  readonly mostOutageMs: number;
}

const { output: _output, ...OTHERS } = COMMON;

/** The flags of `simulate`. */
export const SIMULATE: FlagTable<Omit<SimulateFlags, keyof GlobalFlags>> = {
  output: outputFlag(["table", "wide", "json", "yaml"]),
  ...OTHERS,
  if: flag("--if <EDIT>", "begin in the world with this difference, repeatable; see below", addToList),
  filename: flag(
    "-f, --filename <FILE>",
    "begin as if these objects were applied, repeatable; - reads them from stdin",
    addToList,
  ),
  from: PLAN.from,
  horizon: flag("--horizon <DURATION>", "how far to look after the last thing that happens", duration, "1h"),
  assume: flag("--assume <TIMES>", "how long things take; assign=10s,dns=1s by default", assumedTimes),
  expect: flag(
    "--expect <WHAT>",
    "no-outage, or no-outage=30s: exit 6 when a name is without service for longer",
    expectation,
  ),
  detailedExitcode: flag("--detailed-exitcode", "exit 2 when anything would be done"),
  n1: flag("--n-1 [WHAT]", "lose each node in turn, or each zone or region", LOSS_KINDS),
  drain: flag("--drain <NODE>", "drain this node: it is cordoned, loses its pods, and goes"),
  rollingUpgrade: flag("--rolling-upgrade <LABELS>", "replace all nodes with these labels by new ones"),
  surge: flag("--surge <N>", "with --rolling-upgrade: so many nodes more at a time; 1 by default", wholeNumber),
  unavailable: flag(
    "--unavailable <N>",
    "with --rolling-upgrade: so many nodes less at a time; 0 by default",
    wholeNumber,
  ),
  nodeReady: flag(
    "--node-ready <DURATION>",
    "with --rolling-upgrade: how long a new node takes to be ready; 2m by default",
    duration,
  ),
  drainTime: flag(
    "--drain-time <DURATION>",
    "with --drain and --rolling-upgrade: how long a cordoned node keeps its pods; 30s by default",
    duration,
  ),
};

/** Scenarios, by their fields; one at a time. */
const SCENARIOS = { n1: "--n-1", drain: "--drain", rollingUpgrade: "--rolling-upgrade" } as const;

/** Flags that belong to scenarios. */
const OF_SCENARIOS = {
  surge: ["rollingUpgrade"],
  unavailable: ["rollingUpgrade"],
  nodeReady: ["rollingUpgrade"],
  drainTime: ["drain", "rollingUpgrade"],
} as const satisfies Partial<Record<keyof SimulateFlags, readonly (keyof typeof SCENARIOS)[]>>;

/** How fast nodes are replaced, as the flags say it. */
export function paceOf({ surge, unavailable }: Pick<SimulateFlags, "surge" | "unavailable">): UpgradePace {
  return { surge: surge ?? (unavailable === undefined ? 1 : 0), unavailable: unavailable ?? 0 };
}

/** @throws ConfigError `usage` for two scenarios, for a flag of another scenario, and for a pace at which nothing moves */
export function checkScenario(flags: SimulateFlags): void {
  const given = (Object.keys(SCENARIOS) as (keyof typeof SCENARIOS)[]).filter((name) => flags[name] !== undefined);
  const [first, second] = given;
  if (first !== undefined && second !== undefined)
    throw new ConfigError("usage", `${SCENARIOS[first]} and ${SCENARIOS[second]} are two scenarios. Take one of them.`);
  for (const [name, owners] of Object.entries(OF_SCENARIOS)) {
    const isGiven = flags[name as keyof typeof OF_SCENARIOS] !== undefined;
    if (!isGiven || owners.some((owner) => owner === first)) continue;
    const flagName = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new ConfigError("usage", `${flagName} is for ${owners.map((owner) => SCENARIOS[owner]).join(" and ")}.`);
  }
  checkPace(paceOf(flags));
}

/** The words of `--assume`, and what they mean. */
const TIMES: ReadonlyMap<string, keyof Assumed> = new Map([
  ["assign", "assignMs"],
  ["dns", "dnsMs"],
]);

/** @throws InvalidArgumentError for a text that names no time */
function assumedTimes(text: string, before: Assumed = ASSUMED): Assumed {
  const times = text.split(",").map((part) => {
    const [, word = "", time = ""] = /^([a-z]+)=(.+)$/.exec(part.trim()) ?? [];
    const field = TIMES.get(word);
    const ms = time === "0s" ? 0 : parseDuration(time);
    if (field === undefined || ms === undefined)
      throw new InvalidArgumentError("Write it like assign=4s, dns=500ms or assign=4s,dns=1s.");
    return [field, ms] as const;
  });
  return { ...before, ...Object.fromEntries(times) };
}

/** @throws InvalidArgumentError for anything but an expectation that there is */
function expectation(text: string): Expectation {
  const [, time] = /^no-outage(?:=(.*))?$/.exec(text) ?? [];
  const isNone = text === "no-outage" || time === "0s";
  const ms = isNone ? 0 : parseDuration(time ?? "");
  if (ms === undefined) throw new InvalidArgumentError("Write it like no-outage or no-outage=30s.");
  return { mostOutageMs: ms };
}
