import { describe, test } from "vitest";
import type { Backend } from "./backend.ts";
import { play, type Register, type Scenario, type ScenarioOptions } from "./scenario.ts";
import { SCENARIO_GROUPS } from "./scenario-groups.ts";
import type { World } from "./world.ts";

/** Which scenarios of a group are played. */
export type Select = (scenarios: readonly Scenario[], group: string) => readonly Scenario[];

/** How scenarios are driven. */
export interface Drive<W extends World> {
  /** Which of those that play in the world are played. */
  readonly select: Select;
  /** The number is the scenario's among those that are played, from 1. */
  readonly open: (backend: Backend, number: number) => W;
  /** What is looked at after the end. */
  readonly after?: (world: W) => Promise<void>;
  readonly name: string;
}

/** Scenarios under one heading. */
export interface Group {
  readonly group: string;
  readonly scenarios: readonly Scenario[];
}

/** Declares every scenario that plays in this kind of world as a test; each gets a world of its own. */
export function runScenarios<W extends World>(
  kind: Backend["kind"],
  makeBackend: (number: number) => Backend | Promise<Backend>,
  drive: Drive<W>,
): void {
  runGroups(
    chosen(kind, (scenarios) => scenarios),
    makeBackend,
    drive,
  );
}

/** As {@link runScenarios}, of these groups. */
export function runGroups<W extends World>(
  groups: readonly Group[],
  makeBackend: (number: number) => Backend | Promise<Backend>,
  drive: Drive<W>,
): void {
  let count = 0;
  for (const { group, scenarios } of groups) {
    const selected = drive.select(scenarios, group);
    if (selected.length === 0) continue;
    describe(`scenarios › ${drive.name} › ${group}`, () => {
      for (const scenario of selected) {
        count += 1;
        const number = count;
        test(scenario.title, async () => {
          const world = drive.open(await makeBackend(number), number);
          try {
            await play(scenario, world);
            await drive.after?.(world);
          } finally {
            await world.close();
          }
        });
      }
    });
  }
}

/** Tells which scenarios are played in this kind of world, group by group. */
export function chosen(kind: Backend["kind"], select: Select): readonly Group[] {
  return Object.entries(SCENARIO_GROUPS).map(([group, declare]) => {
    const playable = groupOf(group, declare).scenarios.filter(
      ({ title, options }) => options.worlds?.includes(kind) !== false && (kind === "memory" || !isAtHetzner(title)),
    );
    return { group, scenarios: select(playable, group) };
  });
}

/** Over HTTP, names at Hetzner are the business of the contract: there is time for three providers. */
function isAtHetzner(title: string): boolean {
  return /\bhetzner\b/.test(title);
}

/** The scenarios that are declared under one heading; `common` holds for each of them that says nothing else. */
export function groupOf(group: string, declare: (register: Register) => void, common: ScenarioOptions = {}): Group {
  const scenarios: Scenario[] = [];
  declare((title, body, options = {}) => scenarios.push({ title, body, options: { ...common, ...options } }));
  return { group, scenarios };
}
