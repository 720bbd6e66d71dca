import { expect, test } from "vitest";
import { movesCallTimesOnly } from "../../src/apply/call-times.ts";

const told = (time: string, waits = "", state = "active"): object => ({
  conditions: [{ type: "Ready", message: `Not now: E (429). No call before ${time}.${waits}` }],
  ips: { "203.0.113.10": { state } },
});

test.for<readonly [string, object, object, boolean]>([
  ["moves by seconds", told("2026-01-02T03:04:05.000Z"), told("2026-01-02T03:05:04.000Z"), true],
  ["moves back by seconds", told("2026-01-02T03:04:05Z"), told("2026-01-02T03:04:01Z"), true],
  [
    "moves by seconds, and what waits for it says so",
    told("2026-01-02T03:04:05Z", " Waits until 2026-01-02T03:04:04.999Z."),
    told("2026-01-02T03:04:06Z"),
    true,
  ],
  ["moves by a minute", told("2026-01-02T03:04:05Z"), told("2026-01-02T03:05:05Z"), false],
  ["is over", told("2026-01-02T03:04:05Z"), { conditions: [{ type: "Ready", message: "Served." }] }, false],
  ["moves beside something else", told("2026-01-02T03:04:05Z"), told("2026-01-02T03:04:06Z", "", "error"), false],
  ["stays", told("2026-01-02T03:04:05Z"), told("2026-01-02T03:04:05Z"), false],
])("a status whose time of the next call %s", ([, before, after, expected]) => {
  expect(movesCallTimesOnly(before, after)).toBe(expected);
});
