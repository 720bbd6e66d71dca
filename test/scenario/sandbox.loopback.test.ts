import { describe, test } from "vitest";
import { onSandbox } from "./part-of.ts";
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

describe("scenarios › sandbox › Hetzner, several on a node", () => {
  severalPerNodeScenarios((title, body, options = {}) =>
    test(title, async () => {
      const world = new World(await sandboxWorld({ isAtHetzner: true }));
      try {
        await play({ title, body, options: { mostPerMachine: 2, ...options } }, world);
      } finally {
        await world.close();
      }
    }),
  );
});
