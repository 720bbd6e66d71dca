import { expect, test } from "vitest";
import { generate } from "./generate.ts";
import type { History, WorldEvent } from "./history.ts";
import { shrink } from "./shrink.ts";
import { Simulation } from "./simulation.ts";

/** How long new histories are begun, milliseconds. */
const BUDGET_MS = 7000;
const FIRST_SEED = 1;
const MOST_SEEDS = 1500;
/** Histories that broke a promise once; each stands for a fixed bug. */
const ONCE_BROKEN = [2237, 5976, 12385, 21420, 11032, 147, 72, 10];

test("every promise holds in seeded histories in which anything may fail at any time", {
  timeout: 60_000,
}, async () => {
  const untilMs = performance.now() + BUDGET_MS;
  let played = 0;
  for (const seed of [...ONCE_BROKEN, ...Array.from({ length: MOST_SEEDS }, (_, index) => FIRST_SEED + index)]) {
    if (performance.now() > untilMs) break;
    await expectKept(generate(seed));
    played += 1;
  }
  expect(played).toBeGreaterThan(ONCE_BROKEN.length);
});

test("a history with a broken promise is found, and shrinks to what breaks it", async () => {
  const events: readonly WorldEvent[] = [
    { atMs: 0, kind: "droplet", id: 101, region: "nyc3" },
    { atMs: 0, kind: "node", name: "n1", droplet: 101, region: "nyc3", isReady: true, role: "edge" },
    { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 1 } },
    { atMs: 500, kind: "cordon", name: "n9", value: true },
  ];
  const slot = { pauseMs: 1000, startsAtMs: 0, timeoutMs: 8000, settles: false, onLocked: "skip" } as const;
  const history: History = { seed: 1, hasLock: true, slots: [slot], latencyMs: 0, endsAtMs: 4000, events };
  const simulation = new Simulation(history, false);
  simulation.monitor.health.of = () => undefined;
  simulation.monitor.records.creations.push(...Array.from({ length: 12 }, () => simulation.world.nowMs() + 500));
  const { violation } = await simulation.run();
  expect(violation?.invariant).toBe("creation-rate");
  expect((await shrink(history, "none")).events).toEqual(events);
});

async function expectKept(history: History): Promise<void> {
  const { violation } = await new Simulation(history, false).run();
  expect(
    violation === undefined ? "" : `${violation.invariant}: ${violation.text}`,
    `node test/simulation/run.ts --seed ${history.seed}`,
  ).toBe("");
}
