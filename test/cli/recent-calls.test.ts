import { expect, test } from "vitest";
import { carryCalls, recentCallsNote } from "../../src/cli/recent-calls.ts";
import { RECENT_CALLS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import type { ProviderMeter } from "../../src/ports/ip-provider.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

/** What a meter of DigitalOcean is told to carry by such a note. */
function carried(note: string | undefined, nowMs = NOW + 20_000): readonly (readonly [calls: number, agoMs: number])[] {
  const told: (readonly [number, number])[] = [];
  const meter = { carryCalls: (calls: number, agoMs: number) => told.push([calls, agoMs]) } as unknown as ProviderMeter;
  carryCalls(new Map([["digitalocean", meter]]), note === undefined ? {} : { [RECENT_CALLS_ANNOTATION]: note }, nowMs);
  return told;
}

test("what a run leaves of its calls is carried by the next one, from the time of its end", () => {
  const meter = { provider: "digitalocean", calls: [], durations: [], rateLimit: {}, recentCalls: 187 };
  const note = recentCallsNote({ endedAtMs: NOW, meters: [meter] });
  expect(note).toBe('{"at":"2026-01-02T03:04:05Z","digitalocean":187}');
  expect(carried(note)).toEqual([[187, 20_000]]);
});

test.for([
  undefined,
  "",
  "nonsense",
  "null",
  "[]",
  "7",
  '{"digitalocean":187}',
  '{"at":"soon","digitalocean":187}',
  '{"at":"2026-01-02T03:05:05Z","digitalocean":187}',
  '{"at":"2026-01-02T03:04:05Z"}',
  '{"at":"2026-01-02T03:04:05Z","digitalocean":"187"}',
  '{"at":"2026-01-02T03:04:05Z","digitalocean":-1}',
  '{"at":"2026-01-02T03:04:05Z","digitalocean":0}',
  '{"at":"2026-01-02T03:04:05Z","__proto__":{"digitalocean":5}}',
])("a note that makes no sense counts for nothing: %j", (note) => {
  expect(carried(note)).toEqual([]);
});
