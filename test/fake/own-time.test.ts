import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { processorMs, waitedMs } from "./own-time.ts";

/** Lets the whole process stand still, and the processor work, for so long. */
function standStill(ms: number): void {
  const endsAtMs = performance.now() + ms;
  while (performance.now() < endsAtMs);
}

test("what code waits for is counted, and a process that stands still meanwhile is not", async () => {
  expect(await waitedMs(() => sleep(300))).toBeGreaterThan(50);
  const stalled = await waitedMs(async () => {
    for (const _ of Array.from({ length: 3 })) {
      standStill(200);
      await sleep(1);
    }
  });
  expect(stalled).toBeLessThan(200);
});

test("work of the processor is counted, and waiting for a timer is not", () => {
  expect(processorMs(() => standStill(200))).toBeGreaterThan(10);
  expect(processorMs(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200))).toBeLessThan(150);
});
