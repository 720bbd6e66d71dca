import { describe, expect, test } from "vitest";
import type { SchemaNode } from "../manifests/shipped.ts";
import { fieldValues, idleRecipes } from "./field-values.ts";
import { BOTH, KINDS } from "./kinds.ts";
import { playCampaign } from "./play-campaign.ts";
import { campaignCommand, choiceOf, randomCampaign } from "./random-campaign.ts";
import { BASES } from "./recipes.ts";
import { type FreshEnds, References } from "./references.ts";
import { USUAL } from "./settings.ts";
import { ABSENT, valueAt } from "./spec-value.ts";
import { tellSteps } from "./tell.ts";
import { allTransitions, fieldTours } from "./tours.ts";

/** `CAMPAIGN=all` plays more of them. */
const SEEDS = process.env["CAMPAIGN"] === "all" ? 52 : 8;

const choice = choiceOf();
const references = new References();

describe.for(BOTH)("$name", (kind) => {
  test("gives every field of the shipped schema at least two values, and has no recipe that no field asks for", () => {
    const poor = fieldValues(kind).filter(({ usable, unusable }) => usable.length + unusable.length < 2);
    expect(poor.map(({ path }) => path)).toEqual([]);
    expect(idleRecipes(kind)).toEqual([]);
  });

  test("makes every transition between two usable values of every field, and leaves every unusable value again", () => {
    const fields = fieldValues(kind);
    const done = fieldTours(kind).map(({ steps }, index) => {
      const { path, usable, unusable } = fields[index] ?? { path: "", usable: [], unusable: [] };
      const edits = steps.flat();
      const values = edits.map(({ spec }) => text(valueAt(spec, path)));
      const made = new Set(values.slice(1).map((value, at) => `${values[at]} → ${value}`));
      const wanted = usable.flatMap((from) =>
        usable.filter((to) => to !== from).map((to) => `${text(from)} → ${text(to)}`),
      );
      return {
        path,
        lacking: wanted.filter((transition) => !made.has(transition)),
        isComplete: edits.filter((step) => step.unusable !== undefined).length === unusable.length,
        endsWell: edits.at(-1)?.unusable === undefined,
      };
    });
    expect(done).toEqual(fields.map(({ path }) => ({ path, lacking: [], isComplete: true, endsWell: true })));
  });
});

test("a text or a list that is added to a schema asks for a recipe; a flag or a number gets its values from the schema", () => {
  const withField = (type: string): SchemaNode => ({ type: "object", properties: { planted: { type } } });
  const asks = "spec.planted of FloatingIPPool has no value recipe: add one to test/campaign/recipes.ts";
  expect(() => fieldValues(KINDS.FloatingIPPool, { schema: withField("string") })).toThrow(asks);
  expect(() => fieldValues(KINDS.FloatingIPPool, { schema: withField("array") })).toThrow(asks);
  expect(fieldValues(KINDS.FloatingIPPool, { schema: withField("boolean") })[0]?.usable).toEqual([ABSENT, true, false]);
});

test("a walk over values makes each transition once", () => {
  expect(allTransitions([1, 2, 3])).toEqual([1, 2, 3, 2, 1, 3, 1]);
});

test("a campaign that goes wrong tells its steps as changes of manifests, and the command that repeats them", async () => {
  const wrong: FreshEnds = {
    endOf: async (...args) => ({ ...(await references.endOf(...args)), serving: 99 }),
  };
  const kind = KINDS.FloatingIPPool;
  const steps = [{ kind, spec: BASES[kind.name] }];
  const played = playCampaign(USUAL.open(), [steps], { references: wrong, command: "npm run campaign -- --seed 0" });
  await expect(played).rejects.toThrow(
    /^serving: 3, a fresh object has 99\nafter\n0\. FloatingIPPool\n {3}\+ provider: digitalocean\n[\s\S]*--seed 0$/,
  );
  const change = [...steps, { kind, spec: { ...BASES[kind.name], desiredIPs: 1 } }];
  expect(tellSteps(change)).toContain("1. FloatingIPPool\n   - desiredIPs: 3\n   + desiredIPs: 1");
});

test.for(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  "after every edit of random campaign %i both objects are what fresh ones would be, or say what is wrong",
  async (seed) => {
    const command = campaignCommand(seed);
    await expect(
      playCampaign(USUAL.open(), randomCampaign(seed, choice), { references, command }),
    ).resolves.toBeDefined();
  },
);

function text(value: unknown): string {
  return typeof value === "symbol" ? "absent" : JSON.stringify(value);
}
