import { expect, test } from "vitest";
import { SoakWorld } from "./soak-world.ts";

/** Objects that come and go with the moment; a leak of one per pass would be hundreds. */
const SLACK = 30;
/** Connections that are being opened or given up at the moment. */
const FEW = 10;

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
    expect(grown(early.objects, late.objects, SLACK)).toEqual([]);
    expect(grown(early.resources, late.resources, FEW)).toEqual([]);
    expect(late.files).toBeLessThanOrEqual(early.files + FEW);
    expect(late.warnings).toEqual([]);
  } finally {
    expect(await world.close()).toBe(143);
  }
});

type Counts = Readonly<Record<string, number>>;

/** The kinds of which there are many more. */
function grown(early: Counts, late: Counts, slack: number): readonly string[] {
  return Object.entries(late)
    .filter(([kind, count]) => count > (early[kind] ?? 0) + slack)
    .map(([kind, count]) => `${kind}: ${early[kind]} → ${count}`);
}
