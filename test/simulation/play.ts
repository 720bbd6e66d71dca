import { explain } from "./explain.ts";
import { generate } from "./generate.ts";
import type { History } from "./history.ts";
import { historyElsewhere } from "./history-elsewhere.ts";
import { familiesHistory } from "./history-families.ts";
import { historyIPv6 } from "./history-ipv6.ts";
import { anyLastingHistory } from "./lasting-history.ts";
import { lastingShards } from "./lasting-shards.ts";
import type { Violation } from "./monitor.ts";
import { playStories, strikeStory, tellStory } from "./play-stories.ts";
import { routedHistory } from "./routed-history.ts";
import { routedStories } from "./routed-stories.ts";
import { shardedHistory } from "./sharded-history.ts";
import { type Simulate, shrink } from "./shrink.ts";
import { Simulation } from "./simulation.ts";
import { stories } from "./stories.ts";
import { WatchSimulation } from "./watch-simulation.ts";

/** What to play, as the command line says it. */
export interface PlayOptions {
  readonly seeds: string;
  readonly from: string;
  readonly seed?: string | undefined;
  /** Histories of RoutedIPs and firewalls. */
  readonly routed: boolean;
  /** Histories of record sets with AAAA records. */
  readonly ipv6: boolean;
  /** Histories of pools of both families of addresses. */
  readonly families: boolean;
  /** Histories of three shards. */
  readonly shards: boolean;
  /** What stands in the place of Cloudflare: `hetzner`, or a webhook. */
  readonly names?: string | undefined;
  /** Histories in which processes watch, and something stays wrong for ever, or never rests. */
  readonly lasting: boolean;
  /** Processes watch. */
  readonly watch: boolean;
  readonly stories: boolean;
  readonly story?: string | undefined;
  readonly strike: string;
  readonly lines: string;
  readonly full: boolean;
  readonly brief: boolean;
  readonly "keep-going": boolean;
}

/** Of each promise, so many broken histories are named as they come. */
const MOST_SHOWN = 6;

/** Plays, and tells what comes of it on stdout. Returns false when a promise was broken. */
export async function play(options: PlayOptions): Promise<boolean> {
  const { story, strike, stories, lines, brief } = options;
  if (stories) return playAll(options);
  if (story === undefined) return playSeeds(options);
  const violation = await strikeStory(story, strike);
  if (violation !== undefined) print(`story ${story}: ${violation.invariant}: ${violation.text}`);
  if (!brief) for (const line of await tellStory(story, strike, Number(lines))) print(line);
  return violation === undefined;
}

async function playAll({ brief, lines, routed }: PlayOptions): Promise<boolean> {
  for await (const { line, broken } of playStories(routed ? routedStories() : stories())) {
    print(line);
    if (broken === undefined) continue;
    if (!brief) for (const told of await explain(broken.history, Number(lines))) print(told);
    print(`\n${broken.command}`);
    return false;
  }
  return true;
}

async function playSeeds(options: PlayOptions): Promise<boolean> {
  const from = Number(options.seed ?? options.from);
  const count = options.seed === undefined ? Number(options.seeds) : 1;
  const broken = new Map<string, readonly number[]>();
  const startedMs = performance.now();
  const sum = { calls: 0, effects: 0, faults: 0, deaths: 0 };
  for (let seed = from; seed < from + count; seed += 1) {
    const result = await simulationOf(historyOf(seed, options), options).run();
    for (const key of ["calls", "effects", "faults", "deaths"] as const) sum[key] += result[key];
    if (result.violation === undefined) continue;
    await report(seed, result.violation, broken, options);
    if (!options["keep-going"]) break;
  }
  for (const [invariant, seeds] of broken) print(`${invariant}: ${seeds.length} (${seeds.slice(0, 12).join(", ")})`);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  print(
    `${count} histories from ${from}: ${sum.calls} calls, ${sum.effects} effects checked, ${sum.faults} faults, ${sum.deaths} deaths; ${broken.size} promises broken; ${seconds} s`,
  );
  return broken.size === 0;
}

async function report(
  seed: number,
  { invariant, text }: Violation,
  broken: Map<string, readonly number[]>,
  options: PlayOptions,
): Promise<void> {
  const seeds = broken.get(invariant) ?? [];
  broken.set(invariant, [...seeds, seed]);
  if (seeds.length < MOST_SHOWN) print(`seed ${seed}: ${invariant}: ${text.split("\n")[0]}`);
  if (!options["keep-going"] && !options.brief) await tell(seed, invariant, options);
}

function historyOf(seed: number, { routed, ipv6, families, names, lasting, shards }: PlayOptions): History {
  if (shards && lasting) return lastingShards(seed);
  if (shards) return shardedHistory(seed, families ? familiesHistory : generate);
  if (lasting) return anyLastingHistory(seed);
  if (families) return familiesHistory(seed);
  if (ipv6) return historyIPv6(seed);
  if (names !== undefined) return historyElsewhere(seed, names === "hetzner" ? names : "webhook");
  return routed ? routedHistory(seed) : generate(seed);
}

function simulationOf(history: History, { lasting, watch }: PlayOptions, isTraced = false): Simulation {
  return lasting || watch ? new WatchSimulation(history, isTraced) : new Simulation(history, isTraced);
}

async function tell(seed: number, invariant: string, options: PlayOptions): Promise<void> {
  const { full, lines, lasting } = options;
  const history = historyOf(seed, options);
  if (lasting) {
    const { trace } = await simulationOf(history, options, true).run();
    for (const line of trace.slice(-Number(lines))) print(line);
    print(`\nnpm run play -- ${flagsOf(options)}--seed ${seed}`);
    return;
  }
  const simulate: Simulate = (shorter, isTraced) => simulationOf(shorter, options, isTraced);
  const told = full ? history : await shrink(history, invariant, simulate);
  for (const line of await explain(told, Number(lines), simulate)) print(line);
  print(`\nnpm run play -- ${flagsOf(options)}--seed ${seed}`);
}

/** The flags that choose the kind of a history, with a blank behind them. */
function flagsOf({ names, routed, ipv6, families, shards, lasting, watch }: PlayOptions): string {
  if (names !== undefined) return `--names ${names} `;
  const kinds = Object.entries({ routed, ipv6, families, shards, lasting, watch }).filter(([, isChosen]) => isChosen);
  return kinds.map(([kind]) => `--${kind} `).join("");
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
