import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, test } from "vitest";
import { type Beginnings, beginnings, callsOf, type Played, play, several } from "./play.ts";
import { sampled } from "./sampled.ts";
import { isWrite, type Strike, type WireCall } from "./wire.ts";
import { WIRE_STORIES, type WireStory } from "./wire-story.ts";
import type { WireWorld } from "./wire-world.ts";

const DURATION_MS = 4000;
const TIMEOUT_MS = 8000;
const LOCK = ["--lease-duration", "4s", "--renew-deadline", "3s", "--retry-period", "500ms", "--timeout", "8s"];
/** For the statuses and the Lease at the end, on a busy machine. */
const ENDING_MS = 15_000;
/** From the last look at the lock to the arrival of a request, on a busy machine. */
const ON_ITS_WAY_MS = 2000;
/** Nearly all of a case is waiting. */
const AT_ONCE = 12;
/** Of the calls at which the server can go, one in so many is played, in each outage and story another one. */
const ONE_IN = 5;

let begin: Beginnings;
beforeAll(async () => {
  begin = await beginnings();
});

interface Outage {
  readonly what: string;
  /** What happens at the struck call, once. */
  readonly start: (world: WireWorld) => void;
  /** What later requests to the API server meet. */
  readonly strike: Strike | undefined;
  readonly end: (world: WireWorld) => Promise<void>;
  readonly codes: readonly number[];
}

const OUTAGES: readonly Outage[] = [
  {
    what: "cannot be reached any more",
    start: ({ wire }) => wire.cutOff("kubernetes"),
    strike: undefined,
    end: async ({ wire }) => wire.reconnect("kubernetes"),
    codes: [0, 3, 75],
  },
  {
    what: "is back after a moment",
    start: ({ wire }) => {
      wire.cutOff("kubernetes");
      setTimeout(() => wire.reconnect("kubernetes"), 250);
    },
    strike: undefined,
    end: () => sleep(300),
    codes: [0, 3, 75],
  },
  {
    what: "hangs, as with a frozen etcd,",
    start: () => undefined,
    strike: { isLost: true, answer: "silence" },
    end: async () => undefined,
    codes: [0, 3, 75],
  },
];

/** Provider writes that came when the Lease could not have been renewed for its whole duration. */
function unlocked(calls: readonly WireCall[], unansweredFromMs: number): readonly string[] {
  const renewals = calls.filter(({ path, atMs }) => path.includes("/leases") && atMs <= unansweredFromMs);
  const untilMs = (renewals.filter(isWrite).at(-1)?.atMs ?? 0) + DURATION_MS + ON_ITS_WAY_MS;
  return calls
    .filter((call) => call.server !== "kubernetes" && isWrite(call) && call.atMs > untilMs)
    .map(({ key, atMs }) => `${key} came ${Math.round(atMs - untilMs)} ms after the lock was over`);
}

async function playOutage(
  story: WireStory,
  struck: WireCall,
  outage: Outage,
): Promise<Played & { readonly unlocked: readonly string[] }> {
  let outageAtMs = Number.POSITIVE_INFINITY;
  const played = await play(
    story,
    begin,
    (call, world) => {
      if (call.key === struck.key) {
        outageAtMs = performance.now();
        outage.start(world);
      }
      if (call.server === "kubernetes") return outageAtMs <= performance.now() ? outage.strike : undefined;
      // With providers this slow the lock is lost while there is still something to do.
      return outageAtMs <= performance.now() && outage.strike !== undefined ? { before: () => sleep(700) } : undefined;
    },
    { args: LOCK, callTimeoutMs: 5000, afterwards: outage.end },
  );
  return {
    ...played,
    unlocked: unlocked(played.calls, outage.strike === undefined ? Number.POSITIVE_INFINITY : outageAtMs),
  };
}

for (const [number, story] of WIRE_STORIES.entries()) {
  describe(`${story.name} in whose course the API server`, () => {
    test.concurrent.for(OUTAGES)(
      "$what from whichever call on, ends in time, writes nothing without the lock, and ends well with the next run",
      async (outage, { expect: check }) => {
        const calls = sampled(await callsOf(story, begin), ONE_IN, number + 2 * OUTAGES.indexOf(outage));
        const results = await several(calls, AT_ONCE, async (struck) => {
          const { problems, run, unlocked: late } = await playOutage(story, struck, outage);
          const complaints = [
            ...problems,
            ...late,
            ...(outage.codes.includes(run.code) ? [] : [`it ended with ${run.code}: ${run.text}`]),
            ...(run.ms < TIMEOUT_MS + ENDING_MS ? [] : [`it took ${Math.round(run.ms)} ms`]),
          ];
          return complaints.map((problem) => `${struck.key}: ${problem}`);
        });
        check(results.flat()).toEqual([]);
        check(calls.length).toBeGreaterThan(5);
      },
    );
  });
}
