import { expect, test } from "vitest";
import { WatchHealth } from "../../src/cli/endpoints.ts";
import { PassRecorder } from "../../src/cli/watched-passes.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { MeterReading } from "../../src/model/meter.ts";
import type { RunEnd } from "../../src/model/run.ts";
import type { LockState } from "../../src/ports/system.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { applied, aQuietRun, aRun, steady } from "../report/runs.ts";
import { afterFailure } from "../report/world.ts";

interface Scene {
  readonly clock: FakeClock;
  readonly notes: PassRecorder;
  /** Calls told by each note. */
  readonly noted: number[];
  calls: number;
  isRefused: boolean;
}

function aScene(): Scene {
  const clock = new FakeClock();
  const noted: number[] = [];
  const lock: LockState = {
    isHeld: () => true,
    lost: new AbortController().signal,
    annotations: () => ({}),
    noteAcquisition: async () => true,
    annotate: async ({ calls }) => {
      if (scene.isRefused) throw new Error("conflict");
      noted.push(Number(calls));
    },
  };
  const readMeters = (): readonly MeterReading[] => [
    {
      provider: "digitalocean",
      calls: [{ operation: "list", outcome: "success", count: scene.calls }],
      durations: [{ operation: "list", seconds: { counts: [scene.calls, 0], sum: scene.calls / 100 } }],
      rateLimit: {},
    },
  ];
  const annotate = ({ meters }: RunEnd): Record<string, string> => ({ calls: String(meters[0]?.calls[0]?.count ?? 0) });
  const notes = new PassRecorder({ clock, lock, now: () => clock.wallMs(), readMeters, annotate, intervalMs: 60_000 });
  const scene: Scene = { clock, notes, noted, calls: 0, isRefused: false };
  return scene;
}

const moved = aRun(afterFailure(), steady(), applied);

test("an idle pass is noted once per interval, one that did something at once, and every call is counted once", async () => {
  const scene = aScene();
  const note = async (result = aQuietRun()): Promise<boolean> => (await scene.notes.record(result, 0)).isNoted;
  scene.calls = 1;
  expect(await note()).toBe(true);
  scene.calls = 3;
  expect(await note()).toBe(false);
  scene.calls = 6;
  expect(await note(moved)).toBe(true);
  await scene.clock.advance(60_000);
  scene.calls = 7;
  expect(await note()).toBe(true);
  expect(scene.noted).toEqual([1, 5, 1]);
});

test("what could not be noted is in the next note", async () => {
  const scene = aScene();
  scene.calls = 4;
  scene.isRefused = true;
  expect((await scene.notes.record(moved, 0)).isNoted).toBe(false);
  scene.isRefused = false;
  scene.calls = 5;
  expect((await scene.notes.record(aQuietRun(), 0)).isNoted).toBe(true);
  expect(scene.noted).toEqual([5]);
});

test("a leader that has not passed for longer than interval and pass allow is not healthy; a standby is", async () => {
  const clock = new FakeClock();
  const health = new WatchHealth({ clock, intervalMs: 60_000, passMs: 50_000, staleness: () => undefined });
  await clock.advance(3_600_000);
  expect(health.health()).toEqual({ isOK: true, why: "waiting for the Lease" });
  health.lead();
  await clock.advance(170_000);
  expect(health.health().isOK).toBe(true);
  await clock.advance(1000);
  expect(health.health()).toEqual({ isOK: false, why: "the last pass ended 2m51s ago" });
  health.beat(true);
  expect(health.health().isOK).toBe(true);
});

test("a process whose lists may be old is not ready, and says why", () => {
  const error = new KubeError({ failure: "unavailable", operation: "watch", subject: "", status: 0, message: "away" });
  let stale: { sinceMs: number; error: KubeError } | undefined = { sinceMs: 0, error };
  const clock = new FakeClock();
  const health = new WatchHealth({ clock, intervalMs: 60_000, passMs: 50_000, staleness: () => stale });
  health.beat(true);
  expect(health.readiness()).toEqual({ isOK: false, why: "away" });
  stale = undefined;
  expect(health.readiness().isOK).toBe(true);
});
