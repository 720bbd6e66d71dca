import { expect, test } from "vitest";
import { entryProblem, entryText } from "../../src/model/address.ts";

test.for([
  ["203.0.113.1", "IPv4", undefined],
  ["2001:db8::1", "IPv6", undefined],
  ["203.0.113.01", "IPv4", "is not a canonical IPv4 address"],
  ["::FFFF:203.0.113.1", "IPv4", "is an IPv4 address in IPv6's form: write 203.0.113.1"],
  ["::ffff:203.0.113.1", "IPv6", "is not an IPv6 address"],
  ["::ffff:203.0.113.01", "IPv4", "is not an IPv6 address"],
  ["2001:db8::1", "IPv4", "is an IPv6 address: spec.ipFamily would have to be IPv6"],
] as const)("of %s in an object of %s: %s", ([entry, family, problem]) => {
  const expected = problem === undefined ? undefined : `"${entry}" ${problem}`;
  expect(entryProblem(entry, family, "spec.ipFamily")).toBe(expected);
});

test.for([
  ["203.0.113.1", "203.0.113.1"],
  ["203.0.113.300", "203.0.113.300"],
  [" 203.0.113.1", '" 203.0.113.1"'],
  ["", '""'],
] as const)("the entry %j is named as %s", ([entry, text]) => {
  expect(entryText(entry)).toBe(text);
});
