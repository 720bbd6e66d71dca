import { describe, expect, test } from "vitest";
import { FakeClock } from "../../fake/fake-clock.ts";
import { addressJSON, errorJSON } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, type Stage, withServer } from "./with-server.ts";

const ip = "203.0.113.1";
const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const nowSeconds = nowMs / 1000;
const good: Reply = { json: { reserved_ip: addressJSON(ip) } };

function tooMany(headers: Readonly<Record<string, string>>): Reply {
  return { status: 429, json: errorJSON("too_many_requests", "API rate limit exceeded."), headers };
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
    await withClock([tooMany({ "retry-after": "20" }), good], async ({ provider, server, clock }) => {
      const first = await failureOf(provider.assign(ip, "42"));
      expect(first).toMatchObject({ failure: "rate-limited", status: 429, isAmbiguous: false });
      expect(first.notBeforeMs).toBe(nowMs + 20_000);
      expect(first.message).toBe(
        "DigitalOcean's rate limit does not allow to assign 203.0.113.1 to droplet 42 now: API rate limit exceeded. (429). No call before 2026-01-02T03:04:25.000Z.",
      );
      await clock.advance(19_999);
      for (const call of [provider.getAddress(ip), provider.delete(ip), provider.listPage(1)]) {
        const later = await failureOf(call);
        expect(later).toMatchObject({ failure: "rate-limited", status: 0, notBeforeMs: nowMs + 20_000 });
      }
      expect(server.requests).toHaveLength(1);
      await clock.advance(1);
      expect((await provider.getAddress(ip))?.ip).toBe(ip);
      expect(server.requests).toHaveLength(2);
    });
  });

  test("of a read is not repeated", async () => {
    await withClock(tooMany({}), async ({ provider, server }) => {
      expect((await failureOf(provider.getAddress(ip))).failure).toBe("rate-limited");
      expect(server.requests).toHaveLength(1);
    });
  });

  test.for<readonly [string, Readonly<Record<string, string>>, number]>([
    ["in 20 s", { "retry-after": "20", "ratelimit-reset": String(nowSeconds + 600) }, 20],
    ["at an HTTP date", { "retry-after": "Fri, 02 Jan 2026 03:04:35 GMT" }, 30],
    ["at the reset when there is no retry-after", { "ratelimit-reset": String(nowSeconds + 600) }, 600],
    ["in 60 s when the reset is past", { "ratelimit-reset": String(nowSeconds - 1) }, 60],
    ["in 60 s when nothing is said", {}, 60],
    ["in 60 s when what is said makes no sense", { "retry-after": "soon", "ratelimit-reset": "-5" }, 60],
    ["in 60 s when the date is past", { "retry-after": "Fri, 02 Jan 2026 03:04:00 GMT" }, 60],
    ["in 1 s when it says 0", { "retry-after": "0" }, 1],
    ["in an hour at most by retry-after", { "retry-after": "7200" }, 3600],
    ["in an hour at most by date", { "retry-after": "Fri, 02 Jan 2026 09:00:00 GMT" }, 3600],
    ["in an hour at most by reset", { "ratelimit-reset": String(nowSeconds + 7200) }, 3600],
  ])("lets the next call go %s", async ([, headers, seconds]) => {
    await withClock([tooMany(headers), good], async ({ provider, clock }) => {
      expect((await failureOf(provider.unassign(ip))).notBeforeMs).toBe(nowMs + seconds * 1000);
      await clock.advance(seconds * 1000 - 1);
      expect((await failureOf(provider.getAddress(ip))).notBeforeMs).toBe(nowMs + seconds * 1000);
      await clock.advance(1);
      expect((await provider.getAddress(ip))?.ip).toBe(ip);
    });
  });

  test("is waited out by elapsed time when somebody sets the clock back", async () => {
    await withClock([tooMany({ "retry-after": "20" }), good], async ({ provider, clock }) => {
      await failureOf(provider.getAddress(ip));
      clock.shiftWall(-3_600_000);
      await clock.advance(20_000);
      expect((await provider.getAddress(ip))?.ip).toBe(ip);
    });
  });

  test("stops the calls that wait for room as well", async () => {
    let release = (): void => undefined;
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    await withClock({ ...tooMany({ "retry-after": "20" }), after }, async ({ provider, server }) => {
      const calls = Array.from({ length: 10 }, () => failureOf(provider.getAddress(ip)));
      release();
      const errors = await Promise.all(calls);
      expect(new Set(errors.map((error) => error.failure))).toEqual(new Set(["rate-limited"]));
      expect(server.requests).toHaveLength(4);
      expect(provider.calls()).toEqual([{ operation: "get", outcome: "error", count: 4 }]);
    });
  });
});

describe("ratelimit-remaining: 0", () => {
  test.for<readonly [string, Readonly<Record<string, string>>, number]>([
    ["until the reset", { "ratelimit-reset": String(nowSeconds + 20) }, 20],
    ["for a minute at most", { "ratelimit-reset": String(nowSeconds + 600) }, 60],
    ["for a minute when no reset is given", {}, 60],
  ])("on a good answer stops later calls %s", async ([, headers, seconds]) => {
    const last: Reply = { ...good, headers: { "ratelimit-remaining": "0", ...headers } };
    await withClock([last, good], async ({ provider, server, clock }) => {
      expect((await provider.getAddress(ip))?.ip).toBe(ip);
      const error = await failureOf(provider.getAddress(ip));
      expect(error).toMatchObject({ failure: "rate-limited", status: 0, notBeforeMs: nowMs + seconds * 1000 });
      expect(server.requests).toHaveLength(1);
      await clock.advance(seconds * 1000);
      expect((await provider.getAddress(ip))?.ip).toBe(ip);
    });
  });

  test("stops nothing when the reset is past", async () => {
    const headers = { "ratelimit-remaining": "0", "ratelimit-reset": String(nowSeconds) };
    await withClock({ ...good, headers }, async ({ provider, server }) => {
      await provider.getAddress(ip);
      await provider.getAddress(ip);
      expect(server.requests).toHaveLength(2);
    });
  });

  test("on a failed read keeps it from being repeated", async () => {
    const headers = { "ratelimit-remaining": "0" };
    const bad: Reply = { status: 500, json: errorJSON("server_error", "Oops"), headers };
    await withClock([bad, good], async ({ provider, server }) => {
      expect((await failureOf(provider.getAddress(ip))).failure).toBe("unavailable");
      expect(server.requests).toHaveLength(1);
    });
  });

  test("does not open a gate that a 429 closed for longer", async () => {
    const quick: Reply = {
      ...good,
      headers: { "ratelimit-remaining": "0", "ratelimit-reset": String(nowSeconds + 5) },
    };
    let release = (): void => undefined;
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    const script = (_: unknown, at: number): Reply =>
      at === 0 ? tooMany({ "retry-after": "20" }) : { ...quick, after };
    await withClock(script, async ({ provider }) => {
      const [first, second] = [failureOf(provider.getAddress(ip)), provider.getAddress(ip)];
      await first;
      release();
      await second;
      expect((await failureOf(provider.getAddress(ip))).notBeforeMs).toBe(nowMs + 20_000);
    });
  });
});

describe("the meter", () => {
  test("counts requests by operation and outcome, sorted", async () => {
    const gone = { status: 404, json: errorJSON("not_found", "Gone.") };
    const refused = { status: 422, json: errorJSON("unprocessable_entity", "No.") };
    await withServer([good, good, gone, refused], async ({ provider }) => {
      expect(provider.calls()).toEqual([]);
      await provider.getAddress(ip);
      await provider.getAddress(ip);
      await provider.delete(ip);
      await failureOf(provider.assign(ip, "42"));
      expect(provider.calls()).toEqual([
        { operation: "assign", outcome: "error", count: 1 },
        { operation: "delete", outcome: "success", count: 1 },
        { operation: "get", outcome: "success", count: 2 },
      ]);
    });
  });

  test("shows the newest rate-limit headers, and keeps them over an answer without any", async () => {
    const reset = String(nowSeconds + 600);
    const first = { "ratelimit-limit": "5000", "ratelimit-remaining": "4999", "ratelimit-reset": reset };
    const replies = [{ ...good, headers: first }, good, { ...good, headers: { "ratelimit-remaining": "4998" } }];
    await withServer(replies, async ({ provider }) => {
      expect(provider.rateLimit()).toEqual({});
      await provider.getAddress(ip);
      expect(provider.rateLimit()).toEqual({ limit: 5000, remaining: 4999, resetMs: nowMs + 600_000 });
      await provider.getAddress(ip);
      expect(provider.rateLimit()).toEqual({ limit: 5000, remaining: 4999, resetMs: nowMs + 600_000 });
      await provider.getAddress(ip);
      expect(provider.rateLimit()).toEqual({ remaining: 4998 });
    });
  });
});

test("at most four requests are in flight, and all calls get their answer", async () => {
  let waiting = 0;
  let release = (): void => undefined;
  let after = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script = (): Reply => {
    waiting += 1;
    const current = after;
    if (waiting % 4 === 0) {
      const open = release;
      after = new Promise<void>((resolve) => {
        release = resolve;
      });
      // A fifth request would come within this time if nothing held it back.
      setTimeout(open, 30);
    }
    return { ...good, after: current };
  };
  await withServer(script, async ({ provider, server }) => {
    const addresses = await Promise.all(Array.from({ length: 12 }, () => provider.getAddress(ip)));
    expect(addresses.map((address) => address?.ip)).toEqual(Array.from({ length: 12 }, () => ip));
    expect(server.mostOpen()).toBe(4);
    expect(server.requests).toHaveLength(12);
  });
});
