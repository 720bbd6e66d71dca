import { expect, test } from "vitest";
import { nextStartMs, scheduleMs } from "../../src/model/workload.ts";

test.for([
  ["* * * * *", 60],
  ["*/5 * * * *", 300],
  ["0,10 * * * *", 3000],
  ["0 */6 * * *", 21_600],
  ["30 4 * * *", 86_400],
  ["0 4 * * 1", 604_800],
  ["@hourly", 3600],
  ["nonsense", 86_400],
  ["5-1 * * * *", 3600],
] as const)("the longest time between two starts of %s is %i s", ([schedule, seconds]) => {
  expect(scheduleMs(schedule)).toBeLessThanOrEqual(seconds * 1000);
  if (schedule !== "nonsense") expect(scheduleMs(schedule)).toBe(seconds * 1000);
});

const CRON = { kind: "CronJob", name: "flipop", isSuspended: false, image: "" } as const;

// 2026-08-01 is a Saturday.
test.for([
  ["* * * * *", "2026-08-01T12:01:00Z"],
  ["*/5 * * * *", "2026-08-01T12:05:00Z"],
  ["0,30 3-5 * * *", "2026-08-02T03:00:00Z"],
  ["15 4 * * 1", "2026-08-03T04:15:00Z"],
  ["15 4 * * 7", "2026-08-02T04:15:00Z"],
  ["0 0 13 * 5", "2026-08-07T00:00:00Z"],
  ["0 0 1 9 *", "2026-09-01T00:00:00Z"],
  ["@hourly", "2026-08-01T13:00:00Z"],
  ["@monthly", "2026-09-01T00:00:00Z"],
  ["0 0 1 1 *", undefined],
  ["0 0 * * MON", undefined],
  ["5-1 * * * *", undefined],
  ["nonsense", undefined],
  ["", undefined],
] as const)("after 12:00:30 on the first of August %s starts next at %s", ([schedule, at]) => {
  const nextMs = nextStartMs({ ...CRON, schedule }, Date.UTC(2026, 7, 1, 12, 0, 30));
  expect(nextMs === undefined ? undefined : new Date(nextMs).toISOString().replace(".000Z", "Z")).toBe(at);
});

test("in another time zone than UTC it is not known when a run starts next", () => {
  const startOf = (timeZone: string): number | undefined =>
    nextStartMs({ ...CRON, schedule: "* * * * *", timeZone }, 30_000);
  expect([startOf("UTC"), startOf("Etc/UTC"), startOf("Europe/Vienna")]).toEqual([60_000, 60_000, undefined]);
});
