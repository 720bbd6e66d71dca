import { describe, test } from "vitest";
import type { Backend } from "./backend.ts";
import { play, type Register, type Scenario } from "./scenario.ts";
import { SCENARIO_GROUPS } from "./scenario-groups.ts";
import { World } from "./world.ts";

/** Declares every scenario that plays in this kind of world as a test; each gets a world of its own. */
export function runScenarios(kind: Backend["kind"], makeBackend: (number: number) => Backend | Promise<Backend>): void {
  let count = 0;
  for (const [group, declare] of Object.entries(SCENARIO_GROUPS)) {
    const scenarios = scenariosOf(declare).filter(({ options }) => options.worlds?.includes(kind) !== false);
    if (scenarios.length === 0) continue;
    describe(`scenarios › ${kind} › ${group}`, () => {
      for (const scenario of scenarios) {
        count += 1;
        const number = count;
        test(scenario.title, async () => {
          const world = new World(await makeBackend(number));
          try {
            await play(scenario, world);
          } finally {
            await world.close();
          }
        });
      }
    });
  }
}

function scenariosOf(declare: (register: Register) => void): readonly Scenario[] {
  const scenarios: Scenario[] = [];
  declare((title, body, options = {}) => scenarios.push({ title, body, options }));
  return scenarios;
}
