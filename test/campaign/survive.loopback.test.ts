import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { memoryWorld } from "../scenario/memory-world.ts";
import { BOTH, type Kind, schemaOf } from "./kinds.ts";
import { schemaFields } from "./schema-fields.ts";
import { SITUATIONS, type Situation, type Statuses } from "./situations.ts";
import { DAMAGES, damaged } from "./status-damage.ts";
import { harmOf } from "./survivable.ts";
import { loseStatuses, type Outcome, statuses, survive, writeStatus } from "./survive.ts";

/** The end after the status of one kind has become this one; undefined where the API server refuses it. */
async function endWith(situation: Situation, kind: Kind, status: unknown): Promise<Outcome | undefined> {
  return await survive(memoryWorld(), situation, async (world, backend) => writeStatus(world, backend, kind, status));
}

/** The statuses that are damaged, and those at an earlier moment: the same in every world of a situation. */
async function stored(situation: Situation): Promise<{ readonly now: Statuses; readonly before: Statuses }> {
  let now: Statuses | undefined;
  let earlier: Statuses | undefined;
  await survive(memoryWorld(), situation, async (world, _, before) => {
    now = await statuses(world);
    earlier = before;
    return false;
  });
  if (now === undefined || earlier === undefined) throw new Error("the situation never came");
  return { now, before: earlier };
}

/**
 * Every damaged status that differs from the stored one, by its damage: in the settled world of IPv4 each field in one of the four ways; in every other situation
 * every fourth field in one of them, changing from situation to situation. With `CAMPAIGN=all` each field in each way everywhere.
 */
async function damagedStatuses(situation: Situation, kind: Kind): Promise<ReadonlyMap<string, unknown>> {
  const { now, before } = await stored(situation);
  const found = new Map<string, unknown>();
  for (const [place, field] of schemaFields(schemaOf(kind, "status")).entries())
    for (const [way, damage] of DAMAGES.entries()) {
      const family = kind.name === "FloatingIPPool" || field.path.startsWith("ipv6.") ? situation.family : "IPv4";
      const next = damaged(now[kind.name], { field, damage, family }, before[kind.name]);
      if (isPlayed(situation, place + way) && !isDeepStrictEqual(now[kind.name], next))
        found.set(`${kind.name} ${field.path} ${damage}`, next);
    }
  return found;
}

function isPlayed(situation: Situation, number: number): boolean {
  if (process.env["CAMPAIGN"] === "all") return true;
  const isFirst = situation.event === undefined && situation.family === "IPv4";
  return (number + SITUATIONS.indexOf(situation)) % (isFirst ? DAMAGES.length : 4 * DAMAGES.length) === 0;
}

/** The end without any damage. */
async function undamaged(situation: Situation): Promise<Outcome> {
  const outcome = await survive(memoryWorld(), situation, async () => true);
  if (outcome === undefined) throw new Error("nothing was played");
  return outcome;
}

describe.for(SITUATIONS)("$title", (situation) => {
  const control = undamaged(situation);

  test.for(BOTH)("nothing suffers from any one status field of a $name that is lost, stale or edited", async (kind) => {
    const harm: string[] = [];
    let count = 0;
    for (const [title, status] of await damagedStatuses(situation, kind)) {
      const found = await endWith(situation, kind, status);
      if (found === undefined) continue;
      count += 1;
      harm.push(...harmOf(situation.title, title, found, await control));
    }
    expect(harm).toEqual([]);
    expect(count).toBeGreaterThan(situation === SITUATIONS[0] ? 5 : 0);
  });

  test("nothing is released, moved or unpublished where both statuses are lost as a whole", async () => {
    const found = await survive(memoryWorld(), situation, loseStatuses);
    if (found === undefined) throw new Error("nothing was played");
    expect(harmOf(situation.title, "whole status", found, await control)).toEqual([]);
    expect(found.providerWrites.filter((line) => /unassign|delete/.test(line))).toEqual([]);
  });
});
