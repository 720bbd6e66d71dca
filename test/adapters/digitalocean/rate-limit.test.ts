import { describe, expect, test } from "vitest";
import { ProviderError } from "../../../src/model/errors.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { describeTooManyRequests, LIMIT_NOW_MS } from "../http/http-contract.ts";
import { actionJSON, addressJSON, errorJSON } from "./api-objects.ts";
import { HTTP_WORLD } from "./http-world.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, type Stage, withServer } from "./with-server.ts";

const ip = "203.0.113.1";
const nowMs = LIMIT_NOW_MS;
const { tooMany } = HTTP_WORLD;
const nowSeconds = nowMs / 1000;
const done: Reply = { status: 201, json: { action: actionJSON(7) } };
const good: Reply = { json: { reserved_ip: addressJSON(ip) } };

async function withClock(
  script: Parameters<typeof withServer>[0],
  body: (stage: Stage & { clock: FakeClock }) => Promise<void>,
  options: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const clock = new FakeClock(nowMs);
  await withServer(script, (stage) => body({ ...stage, clock }), { ...options, clock });
}

/** For calls that wait for a moment of a clock that nobody moves meanwhile: they wait to their end. */
const ENDS_SOON = { timeoutMs: 1000 };

describe("a 429", () => {
  describeTooManyRequests(HTTP_WORLD);

  test.for<readonly [string, Readonly<Record<string, string>>, number]>([
    ["by retry-after before the reset", { "retry-after": "20", "ratelimit-reset": String(nowSeconds + 600) }, 20],
    ["at the reset when there is no retry-after", { "ratelimit-reset": String(nowSeconds + 600) }, 600],
    ["in a moment when the reset is past", { "ratelimit-reset": String(nowSeconds - 1) }, 2],
    ["in a moment when the reset makes no sense", { "ratelimit-reset": "-5" }, 2],
    ["in an hour at most by reset", { "ratelimit-reset": String(nowSeconds + 7200) }, 3600],
  ])("lets the next call go %s", async ([, headers, seconds]) => {
    const body = async ({ provider }: Stage): Promise<void> => {
      expect((await failureOf(provider.unassign(ip))).notBeforeMs).toBe(nowMs + seconds * 1000);
    };
    await withClock(tooMany(headers), body, seconds > 2 ? {} : ENDS_SOON);
  });
});

test("a 429 that says no time lasts a minute where the call after it is refused, too, and a moment again once one was answered", async () => {
  const body = async ({ provider, clock }: Stage & { clock: FakeClock }): Promise<void> => {
    const waits: number[] = [];
    for (let call = 0; call < 4; call += 1) {
      const { notBeforeMs } = (await failureOrNone(provider.unassign(ip))) ?? {};
      waits.push(notBeforeMs === undefined ? 0 : notBeforeMs - clock.wallMs());
      await clock.advance(waits.at(-1) ?? 0);
    }
    expect(waits).toEqual([2000, 60_000, 0, 2000]);
  };
  await withClock([tooMany({}), tooMany({}), done, tooMany({})], body, ENDS_SOON);
});

async function failureOrNone(call: Promise<unknown>): Promise<ProviderError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

describe("a 429 for a moment", () => {
  /** Waits are over at once. */
  async function withImpatience(
    script: Parameters<typeof withServer>[0],
    body: (stage: Stage & { clock: FakeClock }) => Promise<void>,
  ): Promise<void> {
    const own = new FakeClock(nowMs);
    const clock = {
      monotonicMs: () => own.monotonicMs(),
      wallMs: () => own.wallMs(),
      sleep: (ms: number) => own.advance(ms),
    };
    await withServer(script, (stage) => body({ ...stage, clock: own }), { clock });
  }

  const refusal = tooMany({ "retry-after": "1" });

  test("does not keep an address from moving where every second call is refused", async () => {
    const moved: Reply = { status: 201, json: { action: { id: 1, status: "completed" } } };
    await withImpatience([good, refusal, moved, refusal, good], async ({ provider, server, clock }) => {
      await provider.getAddress(ip);
      await provider.assign(ip, "42");
      await provider.getAddress(ip);
      expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST", "POST", "GET", "GET"]);
      expect(clock.wallMs() - nowMs).toBe(2000);
    });
  });

  test("is given up after the second repeat, and told with the time of the last refusal", async () => {
    await withImpatience(refusal, async ({ provider, server, clock }) => {
      const { notBeforeMs } = await failureOf(provider.assign(ip, "42"));
      expect(server.requests).toHaveLength(3);
      expect([notBeforeMs, clock.wallMs()]).toEqual([nowMs + 3000, nowMs + 2000]);
    });
  });

  test("is not waited for where it is longer than a moment", async () => {
    await withImpatience(tooMany({ "retry-after": "3" }), async ({ provider, server }) => {
      await failureOf(provider.assign(ip, "42"));
      expect(server.requests).toHaveLength(1);
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
