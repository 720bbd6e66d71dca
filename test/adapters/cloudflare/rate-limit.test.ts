import { describe, expect, test } from "vitest";
import { FakeClock } from "../../fake/fake-clock.ts";
import { describeTooManyRequests, LIMIT_NOW_MS } from "../http/http-contract.ts";
import { listJSON } from "./api-objects.ts";
import { HTTP_WORLD } from "./http-world.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, type Stage, withServer } from "./with-server.ts";

const nowMs = LIMIT_NOW_MS;
const good: Reply = { json: listJSON([]) };

async function withClock(
  script: Parameters<typeof withServer>[0],
  body: (stage: Stage & { clock: FakeClock }) => Promise<void>,
): Promise<void> {
  const clock = new FakeClock(nowMs);
  await withServer(script, (stage) => body({ ...stage, clock }), { clock });
}

describe("a 429", () => {
  describeTooManyRequests(HTTP_WORLD);

  test("lets the next call go when the longer of two says so", async () => {
    const headers = { "retry-after": "20", ratelimit: '"default";r=0;t=40' };
    await withClock(HTTP_WORLD.tooMany(headers), async ({ read }) => {
      expect((await failureOf(read())).notBeforeMs).toBe(nowMs + 40_000);
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
