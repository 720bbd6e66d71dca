// Runs seeded histories: node test/simulation/run.ts --seeds 1000 [--from 1] [--keep-going] [--seed N]
import { parseArgs } from "node:util";
import { generate } from "./generate.ts";
import type { History } from "./history.ts";
import { shrink } from "./shrink.ts";
import { Simulation } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    "keep-going": { type: "boolean", default: false },
    full: { type: "boolean", default: false },
  },
});

const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const broken = new Map<string, number[]>();
const startedMs = performance.now();
let calls = 0;
for (let seed = from; seed < from + count; seed += 1) {
  const history = generate(seed);
  const result = await new Simulation(history, false).run();
  calls += result.calls;
  if (result.violation === undefined) continue;
  const { invariant, text } = result.violation;
  const seeds = broken.get(invariant) ?? [];
  broken.set(invariant, [...seeds, seed]);
  if (values["keep-going"]) {
    if (seeds.length < 6) print(`seed ${seed}: ${invariant}: ${text.split("\n")[0]}`);
    continue;
  }
  await explain(values.full ? history : await shrink(history, invariant));
  print(`\nnode test/simulation/run.ts --seed ${seed}`);
  process.exitCode = 1;
  break;
}
for (const [invariant, seeds] of broken) print(`${invariant}: ${seeds.length} (${seeds.slice(0, 12).join(", ")})`);
print(`${count} histories from ${from}, ${calls} calls, ${Math.round(performance.now() - startedMs)} ms`);

async function explain(history: History): Promise<void> {
  const { trace } = await new Simulation(history, true).run();
  print(
    `seed ${history.seed}, ${history.hasLock ? "with" : "without"} the Lease, latency ${history.latencyMs} ms, ${history.slots.length} process(es)`,
  );
  for (const line of withoutIdlePasses(trace).slice(-Number(process.env["LINES"] ?? 120))) print(line);
}

/** Leaves out passes that only read, renewals of the Lease, and Events. */
function withoutIdlePasses(trace: readonly string[]): readonly string[] {
  const lines = trace.filter((text) => !/ (read|replace|create)-lease| event /.test(text) || text.includes("!!"));
  const isStart = (text: string): boolean => / list-pools/.test(text);
  const isRead = (text: string): boolean =>
    / (list|list-pools|list-nodes|list-pods|get|machine|limit|read-node|read-pool) /.test(text) && !text.includes("!!");
  const starts = lines.flatMap((text, index) => (isStart(text) ? [index] : []));
  const idle = new Set<number>();
  for (const [position, start] of starts.entries()) {
    const end = starts[position + 1] ?? lines.length;
    const indexes = Array.from({ length: end - start }, (_, offset) => start + offset);
    const own = indexes.filter((index) => !/ \*\* /.test(lines[index] ?? ""));
    if (own.every((index) => isRead(lines[index] ?? ""))) for (const index of own) idle.add(index);
  }
  return lines.filter((_, index) => !idle.has(index));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
