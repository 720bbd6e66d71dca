import { getEventListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { aborted } from "../../src/ports/system.ts";

test("a wait for a signal that was stopped leaves nothing on it, whatever garbage was collected meanwhile", async () => {
  const signal = new AbortController().signal;
  const stops = [new AbortController(), new AbortController(), new AbortController()];
  for (const stop of stops) void aborted(signal, stop.signal);
  await collectGarbage();
  for (const stop of stops) stop.abort();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a wait for a signal resolves when it is aborted, and leaves nothing on what would have stopped it", async () => {
  const [event, stop] = [new AbortController(), new AbortController()];
  const wait = aborted(event.signal, stop.signal);
  event.abort();
  await wait;
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 3; round += 1) {
    collect();
    await pause(1);
  }
}
