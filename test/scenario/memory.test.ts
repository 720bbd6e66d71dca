import { expect, test } from "vitest";
import { DNS_NAMES } from "../fake/dns-account.ts";
import { memoryWorld } from "./memory-world.ts";
import { forEverySave, notForEverySave, withoutProvider } from "./part-of.ts";
import { chosen, runScenarios, type Select } from "./run-scenarios.ts";
import { LOOKED_AT } from "./snapshot-world.ts";

runScenarios("memory", memoryWorld, {
  select: forEverySave(),
  ...LOOKED_AT,
  name: "memory",
});

test("of every scenario that is left out the same one is played at another DNS provider, and at each provider many are", () => {
  const titles = (select: Select): readonly string[] =>
    chosen("memory", select).flatMap(({ group, scenarios }) => scenarios.map(({ title }) => `${group}: ${title}`));
  const played = [forEverySave(), notForEverySave("odd"), notForEverySave("even")].flatMap(titles);
  expect(new Set(played).size, "none is played twice").toBe(played.length);
  const kinds = new Set(played.map(withoutProvider));
  expect(titles((scenarios) => scenarios).filter((title) => !kinds.has(withoutProvider(title)))).toEqual([]);
  const at = (name: string): number => played.filter((title) => new RegExp(`\\b${name}\\b`).test(title)).length;
  expect(Object.fromEntries(DNS_NAMES.filter((name) => at(name) < 50).map((name) => [name, at(name)]))).toEqual({});
});
