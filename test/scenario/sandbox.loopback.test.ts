import { describe, test } from "vitest";
import { onSandbox } from "./part-of.ts";
import { PLAYS_ALL } from "./plays-all.ts";
import { runScenarios } from "./run-scenarios.ts";
import { sandboxWorld } from "./sandbox-world.ts";
import { play } from "./scenario.ts";
import { severalPerNodeScenarios } from "./several-per-node-scenarios.ts";
import { World } from "./world.ts";

runScenarios("sandbox", () => sandboxWorld(), {
  name: "sandbox",
  select: onSandbox(),
  open: (backend) => new World(backend),
});

/** Of runs that die, those that do so before one write in four; in memory all of them are played. */
function isPlayed(title: string): boolean {
  const [, write] = / dies before write (\d+)$/.exec(title) ?? [];
  return PLAYS_ALL || write === undefined || Number(write) % 4 === 1;
}

describe("scenarios › sandbox › Hetzner, several on a node", () => {
  severalPerNodeScenarios((title, body, options = {}) => {
    if (!isPlayed(title)) return;
    test(title, async () => {
      const world = new World(await sandboxWorld({ isAtHetzner: true }));
      try {
        await play({ title, body, options: { mostPerMachine: 2, ...options } }, world);
      } finally {
        await world.close();
      }
    });
  });
});
