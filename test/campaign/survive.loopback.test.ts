import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { memoryWorld } from "../scenario/memory-world.ts";
import { BOTH, type Kind, schemaOf } from "./kinds.ts";
import { type SchemaField, schemaFields } from "./schema-fields.ts";
import { SITUATIONS, type Situation } from "./situations.ts";
import { DAMAGES, type Damage, damaged } from "./status-damage.ts";
import { harmOf } from "./survivable.ts";
import { loseStatuses, type Outcome, statuses, survive, writeStatus } from "./survive.ts";

/** The end after one damage; undefined where it changes nothing, or the API server refuses it. */
async function endAfter(
  situation: Situation,
  kind: Kind,
  field: SchemaField,
  damage: Damage,
): Promise<Outcome | undefined> {
  return await survive(memoryWorld(), situation, async (world, backend, before) => {
    const stored = (await statuses(world))[kind.name];
    const next = damaged(stored, field, damage, before[kind.name]);
    return !isDeepStrictEqual(next, stored) && (await writeStatus(world, backend, kind, next));
  });
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
    for (const field of schemaFields(schemaOf(kind, "status")))
      for (const damage of DAMAGES) {
        const found = await endAfter(situation, kind, field, damage);
        if (found === undefined) continue;
        count += 1;
        harm.push(...harmOf(situation.title, `${kind.name} ${field.path} ${damage}`, found, await control));
      }
    expect(harm).toEqual([]);
    expect(count).toBeGreaterThan(20);
  });

  test("nothing is released, moved or unpublished where both statuses are lost as a whole", async () => {
    const found = await survive(memoryWorld(), situation, loseStatuses);
    if (found === undefined) throw new Error("nothing was played");
    expect(harmOf(situation.title, "whole status", found, await control)).toEqual([]);
    expect(found.providerWrites.filter((line) => /unassign|delete/.test(line))).toEqual([]);
  });
});
