import { expect, test } from "vitest";
import { rateLimitGate } from "../../../src/adapters/http/limits.ts";
import type { Clock } from "../../../src/ports/system.ts";

test.for([300_000, -300_000])("a closed gate opens at its time although the local clock leaps by %i ms", (leapMs) => {
  const now = { monotonicMs: 0, wallMs: 1_000_000 };
  const clock: Clock = {
    monotonicMs: () => now.monotonicMs,
    wallMs: () => now.wallMs,
    sleep: () => Promise.resolve(),
  };
  const gate = rateLimitGate(clock, (_, __, nowMs) => ({ rateLimit: {}, refusedUntilMs: nowMs }));
  expect(gate.observe(429, new Map([["retry-after", "40"]]))).toBe(1_040_000);
  now.wallMs += leapMs;
  expect(gate.closedUntilMs()).toBe(1_040_000 + leapMs);
  now.monotonicMs = 39_999;
  expect(gate.closedUntilMs()).toBeDefined();
  now.monotonicMs = 40_000;
  expect(gate.closedUntilMs()).toBeUndefined();
});
