import { expect, test } from "vitest";
import {
  acquisitionAdded,
  acquisitionTimes,
  formerLimits,
  isSharedNote,
  leaseFacts,
} from "../../src/model/lease-notes.ts";

const NOW = Date.parse("2026-08-01T12:00:00Z");
test("a Lease that does not exist says nothing", () => {
  expect(leaseFacts({}, NOW)).toEqual({
    acquisitionTimesMs: [],
    providerNotBeforeMs: new Map(),
    lookFrom: new Map(),
  });
});

test("acquisitions of the last minute count, a little ahead as now, hours ahead and unreadable ones not", () => {
  const times = "2026-08-01T11:58:54Z,2026-08-01T11:59:30Z,nonsense,2026-08-01T12:00:30Z,2026-08-01T13:00:00Z";
  expect(leaseFacts({ "flipop.digitalocean.com/acquisitions": times }, NOW).acquisitionTimesMs).toEqual([
    NOW - 30_000,
    NOW,
  ]);
});

test.for<[string, string, number | undefined]>([
  ["a time ahead is obeyed", "2026-08-01T12:00:20Z", NOW + 20_000],
  ["a time that is over is not", "2026-08-01T12:00:00Z", undefined],
  ["no time is obeyed for more than an hour", "2027-01-01T00:00:00Z", NOW + 3_600_000],
  ["an unreadable time is dropped", "soon", undefined],
])("%s", ([, text, expected]) => {
  const facts = leaseFacts({ "flipop.digitalocean.com/not-before-digitalocean": text }, NOW);
  expect(facts.providerNotBeforeMs.get("digitalocean")).toBe(expected);
});

test("of a time that is over it is known that there was one", () => {
  const times = { digitalocean: "2026-08-01T12:00:00Z", hetzner: "2026-08-01T12:00:01Z", cloudflare: "soon" };
  const notes = Object.entries(times).map(([name, text]) => [`flipop.digitalocean.com/not-before-${name}`, text]);
  expect(formerLimits(Object.fromEntries(notes), NOW)).toEqual(new Set(["digitalocean"]));
});

test("acquisitions of each family count for themselves, and only so many are kept as count", () => {
  const at = (ms: number): string => new Date(NOW + ms).toISOString();
  const twelve = Array.from({ length: 12 }, (_, index) => at(index - 20)).join(",");
  const stored = { "flipop.digitalocean.com/acquisitions": twelve };
  const asked = { ms: NOW, perMinute: 12 };
  expect(acquisitionAdded(stored, { ...asked, family: "IPv4" })).toBeUndefined();
  const added = acquisitionAdded(stored, { ...asked, family: "IPv6" }) ?? {};
  expect(added).toEqual({ "flipop.digitalocean.com/acquisitions-ipv6": "2026-08-01T12:00:00Z" });
  expect(isSharedNote("flipop.digitalocean.com/acquisitions-ipv6")).toBe(true);
  const facts = leaseFacts({ ...stored, ...added }, NOW);
  expect([acquisitionTimes(facts, "IPv4").length, acquisitionTimes(facts, "IPv6")]).toEqual([12, [NOW]]);
});
