import { describe, expect, test } from "vitest";
import { FakeClock } from "../../fake/fake-clock.ts";
import { errorJSON, listJSON, zoneID } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, type Stage, withServer } from "./with-server.ts";

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const good: Reply = { json: listJSON([]) };

function tooMany(headers: Readonly<Record<string, string>>): Reply {
  return { status: 429, json: errorJSON(971, "Please wait and consider throttling your request speed"), headers };
}

async function withClock(
  script: Parameters<typeof withServer>[0],
  body: (stage: Stage & { clock: FakeClock }) => Promise<void>,
): Promise<void> {
  const clock = new FakeClock(nowMs);
  await withServer(script, (stage) => body({ ...stage, clock }), { clock });
}

describe("a 429", () => {
  test("stops every later call without a request until its time, and no longer", async () => {
    await withClock([tooMany({ "retry-after": "300" }), good], async ({ provider, read, write, server, clock }) => {
      const first = await failureOf(read());
      expect(first).toMatchObject({ failure: "rate-limited", status: 429, isAmbiguous: false });
      expect(first.notBeforeMs).toBe(nowMs + 300_000);
      expect(first.message).toBe(
        "Cloudflare's rate limit does not allow to read the A records of www.example.com now: 971 Please wait and consider throttling your request speed (429). No call before 2026-01-02T03:09:05.000Z.",
      );
      await clock.advance(299_999);
      for (const call of [read, () => write(["203.0.113.1"]), () => provider.findZone(zoneID)]) {
        const later = await failureOf(call());
        expect(later).toMatchObject({ failure: "rate-limited", status: 0, notBeforeMs: nowMs + 300_000 });
      }
      expect(server.requests).toHaveLength(1);
      await clock.advance(1);
      expect((await read()).addresses).toEqual([]);
      expect(server.requests).toHaveLength(2);
    });
  });

  test("of a batch is not repeated and had no effect", async () => {
    await withClock([good, tooMany({})], async ({ write, server }) => {
      const error = await failureOf(write(["203.0.113.1"]));
      expect(error).toMatchObject({ failure: "rate-limited", isAmbiguous: false, operation: "write" });
      expect(server.requests).toHaveLength(2);
    });
  });

  test.for<readonly [string, Readonly<Record<string, string>>, number]>([
    ["in 20 s", { "retry-after": "20" }, 20],
    ["at an HTTP date", { "retry-after": "Fri, 02 Jan 2026 03:04:35 GMT" }, 30],
    ["in five minutes when nothing is said", {}, 300],
    ["in five minutes when what is said makes no sense", { "retry-after": "soon" }, 300],
    ["in five minutes when the date is past", { "retry-after": "Fri, 02 Jan 2026 03:04:00 GMT" }, 300],
    ["in 1 s when it says 0", { "retry-after": "0" }, 1],
    ["in an hour at most", { "retry-after": "7200" }, 3600],
    ["when the longer of two says so", { "retry-after": "20", ratelimit: '"default";r=0;t=40' }, 40],
  ])("lets the next call go %s", async ([, headers, seconds]) => {
    await withClock([tooMany(headers), good], async ({ read, clock }) => {
      expect((await failureOf(read())).notBeforeMs).toBe(nowMs + seconds * 1000);
      await clock.advance(seconds * 1000 - 1);
      expect((await failureOf(read())).notBeforeMs).toBe(nowMs + seconds * 1000);
      await clock.advance(1);
      expect((await read()).addresses).toEqual([]);
    });
  });

  test("is waited out by elapsed time when somebody sets the clock back", async () => {
    await withClock([tooMany({ "retry-after": "20" }), good], async ({ read, clock }) => {
      await failureOf(read());
      clock.shiftWall(-3_600_000);
      await clock.advance(20_000);
      expect((await read()).addresses).toEqual([]);
    });
  });
});

describe("the header ratelimit", () => {
  test.for<readonly [string, string, number]>([
    ["for its time", '"default";r=0;t=30', 30],
    ["for five minutes at most", '"default";r=0;t=3000', 300],
    ["for five minutes when it names no time", '"default";r=0', 300],
    ["when any of its items says so", '"default";r=50;t=30, "burst"; r=0; t=5', 5],
  ])("with r=0 stops later calls %s, although the answer is good", async ([, ratelimit, seconds]) => {
    await withClock([{ ...good, headers: { ratelimit } }, good], async ({ read, server, clock }) => {
      expect((await read()).addresses).toEqual([]);
      await clock.advance(seconds * 1000 - 1);
      expect(await failureOf(read())).toMatchObject({
        failure: "rate-limited",
        status: 0,
        notBeforeMs: nowMs + seconds * 1000,
      });
      await clock.advance(1);
      await read();
      expect(server.requests).toHaveLength(2);
    });
  });

  test("with requests left stops nothing, and is reported", async () => {
    const headers = { ratelimit: '"default";r=601;t=30', "ratelimit-policy": '"default";q=1200;w=300' };
    await withClock({ ...good, headers }, async ({ provider, read, server }) => {
      expect(provider.rateLimit()).toEqual({});
      await read();
      await read();
      expect(provider.rateLimit()).toEqual({ limit: 1200, remaining: 601, resetMs: nowMs + 30_000 });
      expect(server.requests).toHaveLength(2);
    });
  });

  test.for(["nonsense", '"default";r=;t=', '"default";r=-1;t=5', "", '"default";rr=0;t=5'])(
    "that makes no sense stops nothing: %j",
    async (ratelimit) => {
      await withClock({ ...good, headers: { ratelimit } }, async ({ provider, read }) => {
        await read();
        await read();
        expect(provider.rateLimit()).toEqual({});
      });
    },
  );
});

test("at most four requests are in flight, and a 429 stops those that wait for room", async () => {
  let release = (): void => undefined;
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  await withClock({ ...tooMany({ "retry-after": "20" }), after }, async ({ provider, read, server }) => {
    const calls = Array.from({ length: 10 }, () => failureOf(read()));
    await expect.poll(() => server.requests.length).toBe(4);
    release();
    const errors = await Promise.all(calls);
    expect(new Set(errors.map((error) => error.failure))).toEqual(new Set(["rate-limited"]));
    expect(server.requests).toHaveLength(4);
    expect(provider.calls()).toEqual([{ operation: "records", outcome: "error", count: 4 }]);
  });
});
