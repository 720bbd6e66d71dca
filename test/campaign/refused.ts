import { expect, test } from "vitest";
import type { Backend } from "../scenario/backend.ts";
import { CampaignWorld } from "./campaign-world.ts";
import { BOTH } from "./kinds.ts";
import { BASES } from "./recipes.ts";
import { refusedSpecs } from "./refused-values.ts";

/** Declares that every value outside of the schemas is refused by the API server, with the field named and nothing changed. */
export function testRefusals(open: () => Promise<Backend> | Backend): void {
  test.for(BOTH)(
    "every value that the schema of $name does not admit is refused, and the field is named",
    async (kind) => {
      const campaign = await CampaignWorld.open(await open());
      try {
        await campaign.apply(kind, BASES[kind.name]);
        await campaign.rest();
        const before = await campaign.read(kind);
        const answers = [];
        for (const { title, spec, path } of refusedSpecs(kind)) {
          const refusal = await campaign.apply(kind, spec).then(
            () => "it was admitted",
            (error: unknown) => String(error),
          );
          if (!refusal.includes(path)) answers.push(`${title}: ${refusal}`);
        }
        expect(answers).toEqual([]);
        expect(await campaign.read(kind)).toEqual(before);
      } finally {
        await campaign.close();
      }
    },
  );
}
