import { expect, test } from "vitest";
import { compareVersions } from "../../../../src/adapters/kube/watch/compare-versions.ts";

test.for([
  ["9", "10", "older"],
  ["10", "9", "newer"],
  ["10", "10", "same"],
  ["9007199254740993", "9007199254740992", "newer"],
  ["99999999999999999999", "100000000000000000000", "older"],
  ["", "10", "unknown"],
  ["10", "abc", "unknown"],
  ["010", "10", "unknown"],
] as const)("%s against %s is %s", ([a, b, wanted]) => {
  const compared = compareVersions(a, b);
  const word = compared === undefined ? "unknown" : compared < 0 ? "older" : compared > 0 ? "newer" : "same";
  expect(word).toBe(wanted);
});
