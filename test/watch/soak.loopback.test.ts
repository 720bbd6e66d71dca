import { expect, test } from "vitest";
import type { Holdings } from "./probe.ts";
import { SoakWorld } from "./soak-world.ts";

/** Objects that come and go with the moment; a leak of one per pass would be hundreds. */
const SLACK = 30;

test("after 10,000 events a process holds no more memory, sockets, files, timers and listeners than after 2,000", async () => {
  const world = new SoakWorld();
  try {
    await world.open();
    await world.happen(2000);
    await world.untilCalm();
    const early = await world.holdings();
    const writes = world.writes();
    await world.happen(8000);
    await world.untilCalm();
    const late = await world.holdings();
    expect(world.writes(), "it was at work").toBeGreaterThan(writes + 40);
    expect(late.heap / early.heap).toBeLessThan(1.1);
    expect(grown(early, late)).toEqual([]);
    expect(late.resources).toEqual(early.resources);
    expect(late.files).toBeLessThanOrEqual(early.files);
    expect(late.warnings).toEqual([]);
  } finally {
    expect(await world.close()).toBe(143);
  }
});

/** The kinds of objects of which there are many more. */
function grown(early: Holdings, late: Holdings): readonly string[] {
  return Object.entries(late.objects)
    .filter(([kind, count]) => count > (early.objects[kind] ?? 0) + SLACK)
    .map(([kind, count]) => `${kind}: ${early.objects[kind]} → ${count}`);
}
