import { expect, test } from "vitest";
import { RestlessPods } from "../../src/apply/restless-pods.ts";
import type { PodReading } from "../../src/model/observation.ts";

const NOW_MS = Date.parse("2026-08-01T12:00:00Z");
const SECOND = 1000;

/** Tells of pods on n1 by one selector, at a time of the process, and returns for how long they have to wait, milliseconds; 0 where they need not. */
function watched(): (state: "ready" | "unready" | "gone" | "unreadable", atMs: number, skewMs?: number) => number {
  const restless = new RestlessPods();
  const STATES = {
    ready: [["n1", { ready: 1, notReady: 0 }]],
    unready: [["n1", { ready: 0, notReady: 1 }]],
    gone: [],
    unreadable: [["n1", { ready: 0, notReady: 0, unreadable: "pod shop/web-0" }]],
  } as const;
  return (state, atMs, skewMs = 0) => {
    const reading: PodReading = {
      kind: "read",
      byNode: new Map<string, { ready: number; notReady: number }>(STATES[state]),
    };
    const nowMs = NOW_MS + atMs + skewMs;
    const pods = new Map([["|app=web", reading]]);
    restless.note(pods, atMs);
    const after = restless.settled(pods, { nowMs, monotonicMs: atMs }).get("|app=web");
    const until = after?.kind === "read" ? after.byNode.get("n1")?.restsUntilMs : undefined;
    return until === undefined ? 0 : until - nowMs;
  };
}

test("pods that come back wait longer each time, from the third time within a minute on", () => {
  const tell = watched();
  const waits = [0, 1, 2, 3, 4, 5].map((time) => {
    tell("ready", time * SECOND);
    tell(time % 2 === 0 ? "unready" : "gone", time * SECOND + 300);
    return tell("ready", time * SECOND + 600);
  });
  expect(waits).toEqual([0, 0, 1000, 2000, 2000, 2000]);
});

test("pods that have been ready for long enough count again, and those that were not begin anew", () => {
  const tell = watched();
  for (const atMs of [0, 200, 400]) {
    tell("ready", atMs);
    tell("unready", atMs + 100);
  }
  expect(tell("ready", SECOND)).toBe(1000);
  expect(tell("ready", 1.6 * SECOND)).toBe(400);
  expect(tell("ready", 2 * SECOND)).toBe(0);
  tell("unready", 4 * SECOND);
  expect(tell("ready", 5 * SECOND)).toBe(2000);
});

test("a minute after they stopped being ready last nothing is remembered", () => {
  const tell = watched();
  for (const atMs of [0, 200, 400, 600]) {
    tell("ready", atMs);
    tell("unready", atMs + 100);
  }
  tell("ready", 30 * SECOND);
  tell("ready", 61 * SECOND);
  tell("unready", 62 * SECOND);
  expect(tell("ready", 63 * SECOND)).toBe(0);
});

test("pods that cannot be read have not stopped being ready", () => {
  const tell = watched();
  for (let time = 0; time < 5; time += 1) {
    tell("ready", time * SECOND);
    tell("unreadable", time * SECOND + 500);
  }
  expect(tell("ready", 5 * SECOND)).toBe(0);
});

test("a clock of the server that leaps makes nobody wait longer", () => {
  const tell = watched();
  for (const atMs of [0, 200, 400]) {
    tell("ready", atMs);
    tell("unready", atMs + 100);
  }
  expect(tell("ready", SECOND)).toBe(1000);
  expect(tell("ready", 1.5 * SECOND, -3600 * SECOND)).toBe(500);
  expect(tell("ready", 1.5 * SECOND, 365 * 86_400 * SECOND)).toBe(500);
});
