import type { Figure } from "./figure.ts";
import type { Section } from "./table.ts";
import { flapping } from "./watch-flapping.ts";
import { neighbours } from "./watch-neighbour.ts";
import { type ReactionCase, reactions } from "./watch-reaction.ts";
import { takeovers } from "./watch-takeover.ts";
import type { World } from "./world.ts";

const AT_ONCE = { actionMs: 0, runs: 50, wantedAssign: "≤ 15 ms", wantedVerified: "≤ 100 ms" } as const;

const CASES: readonly ReactionCase[] = [
  { ...AT_ONCE, nodes: 10, goAssign: "4.4 ms", goVerified: "1,025 ms" },
  { ...AT_ONCE, nodes: 1000 },
  { nodes: 10, actionMs: 2000, runs: 11, wantedVerified: "≤ 2,100 ms", goVerified: "2,032 ms" },
];

/** What a process that watches does at once, and who does it when it ends. */
export async function benchWatch(world: World): Promise<Section> {
  const figures: Figure[] = [];
  for (const wanted of CASES) figures.push(...(await reactions(world, wanted)));
  figures.push(...(await neighbours(world)), ...(await takeovers(world)), ...(await flapping(world)));
  return { title: "reconcile --watch: from the moment the API server has stored the change", figures };
}
