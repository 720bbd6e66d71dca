import { expect, test } from "vitest";
import { freshReadme, readmeTables, readReadme } from "./tables.ts";

test("the README's tables are those of the code (npm run docs makes them)", () => {
  expect(freshReadme(readReadme())).toBe(readReadme());
});

test("every table has its place in the README", () => {
  for (const name of Object.keys(readmeTables())) expect(readReadme()).toContain(`<!-- generated: ${name} -->`);
});
