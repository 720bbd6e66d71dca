import { beforeAll, describe, test } from "vitest";
import { type Beginnings, beginnings } from "./play.ts";
import type { Strike, WireCall } from "./wire.ts";
import { wireStory } from "./wire-story.ts";
import { WireWorld } from "./wire-world.ts";

const MINUTE_MS = 60_000;
/** Longer than any wait of a call for the limit. */
const CALL_MS = 15_000;

/** What DigitalOcean refuses, from the first call on, for ever. */
interface Limit {
  readonly what: string;
  /** Returns what befalls a call. */
  readonly strike: (nowMs: () => number) => (call: WireCall) => Strike | undefined;
}

function refused(seconds?: number): Strike {
  const headers = seconds === undefined ? {} : { headers: { "retry-after": String(seconds) } };
  const body = { id: "too_many_requests", message: "API rate limit exceeded." };
  return { isLost: true, answer: { status: 429, body, ...headers } };
}

/** Names are refused at each call; they are to be asked for after so many seconds. */
function namesAfter(seconds: number | undefined): Limit {
  const said = seconds === undefined ? "no time is said" : `retry-after: ${seconds}`;
  return { what: `names, ${said}`, strike: () => (call) => (isOfNames(call) ? refused(seconds) : undefined) };
}

function isOfNames({ path }: WireCall): boolean {
  return path.startsWith("/v2/domains");
}

/** Every second call is refused, and no time is said. */
function everySecond(isFirstRefused: boolean): Limit {
  return {
    what: `every second call, ${isFirstRefused ? "also" : "not"} the first one`,
    strike: () => {
      let isNext = !isFirstRefused;
      return () => {
        isNext = !isNext;
        return isNext ? refused() : undefined;
      };
    },
  };
}

/** So many calls a minute are left by other programs of the same token. */
function leftOver(calls: number): Limit {
  return {
    what: `all but ${calls} calls a minute`,
    strike: (nowMs) => {
      let [left, sinceMs] = [calls, 0];
      return () => {
        if (nowMs() - sinceMs >= MINUTE_MS) [left, sinceMs] = [calls, nowMs()];
        left -= 1;
        return left < 0 ? refused(Math.ceil((sinceMs + MINUTE_MS - nowMs()) / 1000)) : undefined;
      };
    },
  };
}

const CASES: readonly (readonly [mode: "one-shot" | "settle", limit: Limit])[] = [
  ["one-shot", namesAfter(5)],
  ["one-shot", namesAfter(60)],
  ["one-shot", namesAfter(undefined)],
  ["one-shot", everySecond(false)],
  ["one-shot", everySecond(true)],
  ["one-shot", leftOver(3)],
  ["one-shot", leftOver(4)],
  ["settle", namesAfter(60)],
  ["settle", everySecond(false)],
  ["settle", leftOver(3)],
];

let begin: Beginnings;
beforeAll(async () => {
  begin = await beginnings();
});

/** So many runs, one a minute: the first is refused, the second may still have to wait. */
const MOST_RUNS = 3;

describe("the address of a lost node moves within three runs, one a minute, where DigitalOcean refuses", () => {
  const cases = CASES.map(([mode, limit]) => ({ mode, limit, what: limit.what }));
  test.concurrent.for(cases)("$what › $mode", async ({ mode, limit }, { expect }) => {
    const world = await WireWorld.open(begin.filled);
    try {
      await wireStory("a failover").change(world);
      world.advance(2 * MINUTE_MS);
      const strike = limit.strike(() => world.nowMs());
      world.wire.begin((call) => (call.server === "digitalocean" ? strike(call) : undefined));
      const hasMoved = (): boolean =>
        world.digitalocean.cloud().state.reserved_ips.some(({ droplet_id: id }) => id === 104);
      let runs = 0;
      while (!hasMoved() && runs < MOST_RUNS) {
        runs += 1;
        const { ms } = await world.reconcile(mode === "settle" ? ["--settle", "--timeout", "20s"] : [], CALL_MS);
        world.advance(MINUTE_MS - ms);
      }
      expect(hasMoved()).toBe(true);
    } finally {
      await world.close();
    }
  });
});
