import { expect, test } from "vitest";
import { differingRecords } from "../../src/plan/names/name-plan.ts";

const records = {
  fqdn: "www.example.com",
  addresses: ["203.0.113.1", "203.0.113.2"],
  ttlSeconds: 60,
  isTTLAutomatic: false,
  hasDuplicates: false,
};

test.for([
  ["none when all is as wanted", {}, records.addresses, 60, 0],
  ["one missing and one too many", {}, ["203.0.113.2", "203.0.113.3"], 60, 2],
  ["all that stay when the TTL is another", {}, ["203.0.113.2"], 30, 2],
  ["none for the TTL where the provider decides it", { isTTLAutomatic: true }, records.addresses, 30, 0],
  ["one when only a duplicate is wrong", { hasDuplicates: true }, records.addresses, 60, 1],
  ["all when the name is to be emptied", {}, [], 60, 2],
] as const)("the records that differ are %s", ([, changes, wanted, ttlSeconds, count]) => {
  expect(differingRecords({ ...records, ...changes }, wanted, ttlSeconds)).toBe(count);
});
