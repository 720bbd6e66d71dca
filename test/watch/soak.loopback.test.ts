import { expect, test } from "vitest";
import type { Holdings } from "./probe.ts";
import { SoakWorld } from "./soak-world.ts";

/** Objects that come and go with the moment; a leak of one per pass would be hundreds. */
const SLACK = 60;
/** Connections that are being opened or given up at the moment. */
const FEW = 10;

test("after 10,000 events a process holds no more memory, sockets, files, timers and listeners than after 2,000", async () => {
  const world = new SoakWorld();
  try {
    await world.open();
    const first = await holdingsAfter(world, 2000);
    const writes = world.writes();
    const second = await holdingsAfter(world, 4000);
    const third = await holdingsAfter(world, 4000);
    expect(world.writes(), "it was at work").toBeGreaterThan(writes + 40);
    expect(third.heap / first.heap).toBeLessThan(1.1);
    const held = [first, second, third];
    expect(growing(held, SLACK, ({ objects }) => objects)).toEqual([]);
    expect(growing(held, FEW, ({ resources }) => resources)).toEqual([]);
    expect(growing(held, FEW, ({ files }) => ({ files }))).toEqual([]);
    expect(third.warnings).toEqual([]);
  } finally {
    expect(await world.close()).toBe(143);
  }
});

async function holdingsAfter(world: SoakWorld, events: number): Promise<Holdings> {
  await world.happen(events);
  await world.untilCalm();
  return await world.holdings();
}

type Counts = Readonly<Record<string, number>>;

/**
 * The kinds of which there are many more each time: a leak grows with every event,
 * while what is made once, at the first use of a path or for a connection that is just being opened, grows once.
 */
function growing(held: readonly Holdings[], slack: number, of: (holdings: Holdings) => Counts): readonly string[] {
  const kinds = new Set(held.flatMap((at) => Object.keys(of(at))));
  return [...kinds].flatMap((kind) => {
    const counts = held.map((at) => of(at)[kind] ?? 0);
    const grows = counts.every((count, at) => at === 0 || count > (counts[at - 1] ?? 0) + slack);
    return grows ? [`${kind}: ${counts.join(" → ")}`] : [];
  });
}
