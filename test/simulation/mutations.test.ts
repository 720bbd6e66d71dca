import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MUTATIONS } from "./mutations.ts";

const root = new URL("../../", import.meta.url);

test("every planted bug still has its place in the sources, exactly once", () => {
  const lost = MUTATIONS.filter(({ file, find }) => readFileSync(new URL(file, root), "utf8").split(find).length !== 2);
  expect(lost.map(({ name }) => name)).toEqual([]);
});

test("no two planted bugs are the same, and each changes something", () => {
  expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  expect(MUTATIONS.filter(({ find, replace }) => find === replace)).toEqual([]);
});
