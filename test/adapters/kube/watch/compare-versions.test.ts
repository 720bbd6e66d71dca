import { expect, test } from "vitest";
import { compareVersions, laterVersion } from "../../../../src/adapters/kube/watch/watched-store.ts";

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

test.for([
  ["9", "10", "10"],
  ["10", "9", "10"],
  ["10", "", "10"],
  ["10", "soon", "10"],
  ["", "10", "10"],
  ["", "soon", "soon"],
  ["soon", "", "soon"],
  ["soon", "later", "later"],
  ["soon", "10", "10"],
] as const)("who stands at %j and is told of %j goes on from %j", ([present, next, wanted]) => {
  expect(laterVersion(present, next)).toBe(wanted);
});
