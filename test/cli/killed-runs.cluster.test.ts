import { expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { endRun, type RunEnding, rounds } from "./killed-run.ts";
import { KilledWorld } from "./killed-world.ts";

/** With `KILLED=all` two hundred runs are ended, of five four, which takes minutes; else every suite ends some. */
const isAll = process.env["KILLED"] === "all";
/** One run at a time in each world: two worlds make as many processes as the smallest machine has cores. */
const WORLDS = isAll ? ["left", "right"] : ["left"];
const RUNS_EACH = isAll ? 125 : 12;
/** Longer than a call in flight and the release of the Lease take on a busy machine, milliseconds. */
const LONGEST_FAREWELL_MS = 10_000;

describeCluster("flipop ended at a random moment, again and again", () => {
  test.concurrent.for(WORLDS)(
    "has never an address too many, loses none, empties no name, and is right as soon as one run ends, on its %s",
    async (name, { expect: check }) => {
      const world = await KilledWorld.open();
      try {
        const wholeMs = await world.firstRun();
        const endings: RunEnding[] = [];
        for (const round of rounds(RUNS_EACH, name)) {
          await world.prepare(round);
          const ending = await endRun(
            // A run that nothing ends also waits until no resolver has what it gives back: addresses surely change in it.
            round.moment === "never" ? ["reconcile", "--settle"] : ["reconcile"],
            world.env,
            round.signal,
            world.clock.reaches(round.moment, wholeMs),
          );
          endings.push(ending);
          check(await world.broken(ending), `${JSON.stringify(round)} ${ending.stderr}`).toEqual([]);
          check(ending.farewellMs, JSON.stringify(round)).toBeLessThan(LONGEST_FAREWELL_MS);
        }
        const count = (endedBy: RunEnding["endedBy"]): number =>
          endings.filter((one) => one.endedBy === endedBy).length;
        check(count("SIGKILL")).toBeGreaterThan(RUNS_EACH / 10);
        check(count("SIGTERM")).toBeGreaterThan(RUNS_EACH / 20);
        check(world.changes.bought).toBeGreaterThan(RUNS_EACH / 50);
        check(world.changes.deleted).toBeGreaterThan(RUNS_EACH / 50);

        check(await world.finish()).toBe("Nothing to do: 1 pool, 3 of 3 addresses active, 1 record set as desired.\n");
        const { held, attached, acquired, www, nodes } = await world.truth();
        check({ attached, acquired, www }).toEqual({ attached: held, acquired: held, www: held });
        check(nodes).toEqual(["100.64.1.1", "100.64.1.2", "100.64.1.3", "100.64.1.4"]);
      } finally {
        await world.close();
      }
    },
  );

  test("is ended at the same moments every time", () => {
    expect(rounds(3, "left")).toEqual(rounds(3, "left"));
    expect(rounds(3, "left")).not.toEqual(rounds(3, "right"));
  });
});
