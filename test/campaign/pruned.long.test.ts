import { describe, expect, test } from "vitest";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import { memoryWorld } from "../scenario/memory-world.ts";
import { World } from "../scenario/world.ts";
import { BOTH, schemaOf } from "./kinds.ts";
import { olderDefinition } from "./older-definition.ts";
import { OBJECTS, settle } from "./situations.ts";
import { outcomeOf, statuses } from "./survive.ts";

/** Written with an assignment alone, so that a run without one does not notice. */
const WITH_ASSIGNMENTS: ReadonlySet<string> = new Set(["lastAssignmentTime", "assignments"]);

describe.for(BOTH.flatMap((kind) => IP_FAMILIES.map((family) => ({ kind, family, name: kind.name }))))(
  "$name with $family",
  ({ kind, family }) => {
    test.for(Object.keys(schemaOf(kind, "status").properties ?? {}))(
      "a run survives a definition that prunes status.%s, says so, and carries on once the present one is back",
      async (field) => {
        const backend = memoryWorld();
        const world = new World(backend);
        await settle(world, family);
        const before = await outcomeOf(world);
        const stored = (await statuses(world))[kind.name] as Readonly<Record<string, unknown>>;
        const object = { namespace: "shop", name: OBJECTS[kind.name] };
        const restore = await olderDefinition(backend.rest, kind, object, [field]);
        const { reportFailures } = await world.pass();
        expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
        const said = reportFailures.map(({ error }) => error.message).join();
        const isNoticed = !WITH_ASSIGNMENTS.has(field) && stored[field] !== undefined;
        expect(said.includes(`it dropped status.${field}. Apply the current one with`)).toBe(isNoticed);
        await restore();
        const after = await outcomeOf(world);
        expect({ ...after, providerWrites: [] }).toEqual({ ...before, providerWrites: [] });
        expect(after.providerWrites).toEqual([]);
        await world.close();
      },
    );
  },
);
