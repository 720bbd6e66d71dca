// Plays seeded histories of the simulator; --help says how.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { explain } from "./explain.ts";
import { generate } from "./generate.ts";
import type { Violation } from "./monitor.ts";
import { playStories, tellStory } from "./play-stories.ts";
import { shrink } from "./shrink.ts";
import { Simulation } from "./simulation.ts";

const OPTIONS = {
  seeds: { type: "string", default: "1000", help: "N: how many histories to play" },
  from: { type: "string", default: "1", help: "N: the seed of the first one" },
  seed: { type: "string", help: "N: play this one only, and tell it when it breaks a promise" },
  stories: { type: "boolean", default: false, help: "play the main stories instead, struck at every single call" },
  story: { type: "string", help: "NAME: tell one of them, as --strike says" },
  strike: { type: "string", default: "{}", help: "JSON: what happens at which call of --story" },
  lines: { type: "string", default: "120", help: "N: how many lines a broken history is told in, at most" },
  full: { type: "boolean", default: false, help: "tell a broken history as it was, not shrunk" },
  brief: { type: "boolean", default: false, help: "only name the broken promise, and stop" },
  "keep-going": { type: "boolean", default: false, help: "play on after a broken promise, and count" },
  help: { type: "boolean", default: false, help: "show this" },
} as const satisfies ParseArgsConfig["options"] & Record<string, { help: string }>;

/** Of each promise, so many broken histories are named as they come. */
const MOST_SHOWN = 6;

const { values } = parseArgs({ options: OPTIONS });
if (values.help) help();
else if (values.story !== undefined)
  for (const line of await tellStory(values.story, values.strike, lines())) print(line);
else if (values.stories) await playAll();
else await play();

function help(): void {
  print("npm run simulate -- [options]\n");
  for (const [name, option] of Object.entries(OPTIONS)) {
    const preset = "default" in option && option.default !== false ? ` (${option.default})` : "";
    print(`  --${name.padEnd(13)}${option.help}${preset}`);
  }
}

function lines(): number {
  return Number(values.lines);
}

async function playAll(): Promise<void> {
  for await (const { line, broken } of playStories()) {
    print(line);
    if (broken === undefined) continue;
    process.exitCode = 1;
    if (!values.brief) for (const told of await explain(broken.history, lines())) print(told);
    print(`\n${broken.command}`);
    break;
  }
}

async function play(): Promise<void> {
  const from = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  const broken = new Map<string, readonly number[]>();
  const startedMs = performance.now();
  let calls = 0;
  for (let seed = from; seed < from + count; seed += 1) {
    const result = await new Simulation(generate(seed), false).run();
    calls += result.calls;
    if (result.violation === undefined) continue;
    await report(seed, result.violation, broken);
    if (!values["keep-going"]) break;
  }
  for (const [invariant, seeds] of broken) print(`${invariant}: ${seeds.length} (${seeds.slice(0, 12).join(", ")})`);
  print(`${count} histories from ${from}, ${calls} calls, ${Math.round(performance.now() - startedMs)} ms`);
}

async function report(
  seed: number,
  { invariant, text }: Violation,
  broken: Map<string, readonly number[]>,
): Promise<void> {
  const seeds = broken.get(invariant) ?? [];
  broken.set(invariant, [...seeds, seed]);
  process.exitCode = 1;
  if (seeds.length < MOST_SHOWN) print(`seed ${seed}: ${invariant}: ${text.split("\n")[0]}`);
  if (!values["keep-going"] && !values.brief) await tell(seed, invariant);
}

async function tell(seed: number, invariant: string): Promise<void> {
  const history = generate(seed);
  for (const line of await explain(values.full ? history : await shrink(history, invariant), lines())) {
    print(line);
  }
  print(`\nnpm run simulate -- --seed ${seed}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
