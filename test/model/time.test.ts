import { describe, expect, test } from "vitest";
import { formatTime, parseTime } from "../../src/model/time.ts";

describe("a time in RFC 3339", () => {
  test.for([
    ["2026-08-01T12:00:00Z", Date.UTC(2026, 7, 1, 12)],
    ["2026-08-01T12:00:00.123456789Z", Date.UTC(2026, 7, 1, 12, 0, 0, 123)],
    ["2026-08-01T12:00:00+02:00", Date.UTC(2026, 7, 1, 10)],
    ["1960-01-01T00:00:00Z", -315_619_200_000],
    ["0000-01-01T00:00:00Z", -62_167_219_200_000],
    ["9999-12-31T23:59:59Z", 253_402_300_799_000],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
  ] as const)("is read: %s", ([text, ms]) => {
    expect(parseTime(text)).toBe(ms);
    expect(parseTime(formatTime(ms))).toBe(ms);
  });

  test.for([
    "",
    "yesterday",
    "1",
    "1785585600",
    "2026",
    "2026-08-01",
    "2026-08-01 12:00:00Z",
    "2026-08-01T12:00:00",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-08-32T00:00:00Z",
    "2026-08-01T24:00:00Z",
    "2026-08-01T23:59:60Z",
    "2026-08-01T12:00:00+25:00",
    "10000-01-01T00:00:00Z",
    "+010000-01-01T00:00:00Z",
    "-000001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00",
    "0000-01-01T00:00:00+01:00",
    "2026-08-01T12:00:00Z\n",
  ])("is not read from %j", (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  test.for([
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00.000000Z",
    "1970-01-01T00:00:00Z",
    "1970-01-01T01:00:00+01:00",
  ])("is none where Kubernetes means nothing by it: %s", (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  test.for([
    [Number.NaN, "0000-01-01T00:00:00.000Z"],
    [Number.NEGATIVE_INFINITY, "0000-01-01T00:00:00.000Z"],
    [-8.64e15 - 1, "0000-01-01T00:00:00.000Z"],
    [-62_167_219_200_001, "0000-01-01T00:00:00.000Z"],
    [0, "1970-01-01T00:00:00.000Z"],
    [0.5, "1970-01-01T00:00:00.000Z"],
    [253_402_300_799_999, "9999-12-31T23:59:59.999Z"],
    [253_402_300_800_000, "9999-12-31T23:59:59.999Z"],
    [Number.MAX_VALUE, "9999-12-31T23:59:59.999Z"],
    [Number.POSITIVE_INFINITY, "9999-12-31T23:59:59.999Z"],
  ] as const)("is written for every number: %d", ([ms, text]) => {
    expect(formatTime(ms)).toBe(text);
  });
});
