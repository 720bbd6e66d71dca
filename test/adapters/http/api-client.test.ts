import { describe, expect, test } from "vitest";
import { type Answer, COUNT, object, read as readAs } from "../../../src/adapters/http/answer.ts";
import { createAPIClient, type ProviderAPI, type ProviderOptions } from "../../../src/adapters/http/api-client.ts";
import type { RateLimitReading } from "../../../src/adapters/http/limits.ts";
import { NotSent } from "../../../src/model/errors.ts";
import { CALL_BOUNDS, histogramOf } from "../../../src/model/meter.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { providerFailureOf } from "./provider-failure-of.ts";
import { answered, SOMECLOUD } from "./somecloud.ts";

const VALUE = object({ value: COUNT });
const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const token = "0123456789abcdef";
const good = answered(200, '{"value":7}');

/** A caller, its clock, and calls answered in order; the last answer stays. */
function stage(answers: readonly Answer[], api: Partial<typeof SOMECLOUD> = {}, more: Partial<ProviderOptions> = {}) {
  const clock = new FakeClock(nowMs);
  const caller = createAPIClient({ ...SOMECLOUD, ...api }, { token, userAgent: "flipop/0", clock, ...more });
  let sent = 0;
  const send = async (): Promise<Answer> => {
    sent += 1;
    return answers[Math.min(sent, answers.length) - 1] ?? good;
  };
  const facts = { operation: "get", subject: "a", doing: "read a", scope: "a:read", isWrite: false };
  const read = (): Promise<number> => caller.call({ ...facts, send, read: (body) => readAs(VALUE, body).value });
  return { caller, clock, read, sent: () => sent, facts };
}

/** As it reads the headers, and what is used up stays so for a minute. */
function aMinute(reading: RateLimitReading): RateLimitReading {
  return (status, headers, atMs, refusals) => {
    const report = reading(status, headers, atMs, refusals);
    return report.usedUpUntilMs === undefined ? report : { ...report, usedUpUntilMs: atMs + 60_000 };
  };
}

describe("a caller of an API", () => {
  test("says in its errors what the API is called and advises about a scope", async () => {
    const { read } = stage([answered(403, "E no")]);
    const error = await providerFailureOf(read(), token);
    expect(error).toMatchObject({ provider: "somecloud", failure: "forbidden", status: 403 });
    expect(error.message).toBe("Somecloud does not allow this token to read a: E no (403). Ask for a:read.");
  });

  test("an urgent call beyond the allowance waits a moment for it; where it would have to wait for longer it is sent at once", async () => {
    const { read, clock, sent } = stage([good], { limits: { ...SOMECLOUD.limits, timeoutMs: 5000 } });
    for (let count = 0; count < 20; count += 1) await read();
    const beyond = read();
    await clock.advance(0);
    expect(sent()).toBe(21);
    await beyond;
    await clock.advance(9000);
    const later = read();
    await clock.advance(999);
    expect(sent()).toBe(21);
    await clock.advance(1);
    expect(await later).toBe(7);
  });

  test.for([20, 8])(
    "what %i calls of ours have used up, with those of others, is open again when the first of them no longer counts",
    async (own) => {
      const usedUp = answered(200, '{"value":7}', { "x-empty": "1" });
      const api = { readRateLimit: aMinute(SOMECLOUD.readRateLimit) };
      const { read, clock, sent } = stage([...Array.from({ length: own - 1 }, () => good), usedUp, usedUp, good], api);
      for (let count = 0; count < own - 1; count += 1) {
        await read();
        await clock.advance(500);
      }
      await clock.advance(9500 - (own - 1) * 500);
      await read();
      const [first, second] = [read(), read()];
      await clock.advance(499);
      expect(sent()).toBe(own);
      await clock.advance(1);
      expect([await first, sent()]).toEqual([7, own + 1]);
      await clock.advance(500);
      expect([await second, sent()]).toEqual([7, own + 2]);
    },
  );

  test.for([
    ["its turn", 2],
    ["the rate limit", 0],
  ] as const)(
    "a write is asked about after it has waited for %s, and not sent where it is not allowed",
    async ([, hanging]) => {
      let isAllowed = true;
      let asked = 0;
      const mayWrite = (): boolean => {
        asked += 1;
        return isAllowed;
      };
      const limits = { ...SOMECLOUD.limits, timeoutMs: 5000 };
      const { caller, clock, read, sent, facts } = stage([good], { limits }, { mayWrite });
      const ends = Array.from({ length: hanging }, () => Promise.withResolvers<Answer>());
      const reads = ends.map(({ promise }) =>
        caller.for("rest").call({ ...facts, send: () => promise, read: () => undefined }),
      );
      if (hanging === 0) await Promise.all(Array.from({ length: 20 }, read));
      const before = sent();
      const send = async (): Promise<Answer> => expect.unreachable("the write is sent");
      const write = { ...facts, isWrite: true, send, read: () => "written" as const };
      if (hanging === 0) await clock.advance(9000);
      const outcome = caller
        .for("rest")
        .call(write)
        .catch((error: unknown) => error);
      await clock.advance(0);
      expect(asked).toBe(0);
      isAllowed = false;
      for (const { resolve } of ends) resolve(good);
      await clock.advance(1000);
      expect(await outcome).toEqual(new NotSent("Did not read a: the Lease was lost."));
      expect([asked, sent()]).toEqual([1, before]);
      await Promise.all(reads);
    },
  );

  test("a write that is not sent is not counted; one that is allowed is sent", async () => {
    let isAllowed = false;
    const { caller, sent, facts } = stage([good], {}, { mayWrite: () => isAllowed });
    const send = async (): Promise<Answer> => good;
    const write = { ...facts, operation: "set", isWrite: true, send, read: () => "written" as const };
    await expect(caller.call(write)).rejects.toThrow(NotSent);
    expect(caller.meter.calls()).toEqual([]);
    isAllowed = true;
    expect(await caller.call(write)).toBe("written");
    expect(caller.meter.calls()).toEqual([{ operation: "set", outcome: "success", count: 1 }]);
    expect(sent()).toBe(0);
  });

  test("takes the token out of what an answer says", async () => {
    const { read } = stage([answered(403, `E ${token} may not`)]);
    expect((await providerFailureOf(read(), token)).message).toContain("E [redacted] may not");
  });

  test("takes the token out of an answer that is not JSON, also where its excerpt ends", async () => {
    const html = {
      ...answered(500, `${"x".repeat(155)} ${token}`),
      headers: new Map([["content-type", "text/html"]]),
    };
    const { read, clock } = stage([html, { ...html, status: 200 }]);
    const failure = providerFailureOf(read(), token);
    await clock.advance(250);
    const { message } = await failure;
    expect(message).not.toContain(token.slice(0, 4));
  });

  test("repeats a read after the API's delay by the clock it was given, and no earlier", async () => {
    const { read, clock, sent, caller } = stage([answered(500, "E oops"), good]);
    const value = read();
    await clock.advance(249);
    expect(sent()).toBe(1);
    await clock.advance(1);
    expect(await value).toBe(7);
    expect(caller.meter.calls()).toEqual([
      { operation: "get", outcome: "error", count: 1 },
      { operation: "get", outcome: "success", count: 1 },
    ]);
    expect(caller.meter.durations()).toEqual([{ operation: "get", seconds: histogramOf([0, 0], CALL_BOUNDS) }]);
  });

  test("measures how long each request takes, the wait before a repeat aside", async () => {
    const clock = new FakeClock();
    const slow = async (): Promise<Answer> => {
      await clock.sleep(300);
      return answered(500, "E oops");
    };
    const caller = createAPIClient(SOMECLOUD, { token, userAgent: "t", clock });
    const call = { operation: "get", subject: "a", doing: "read a", scope: "a:read", isWrite: false } as const;
    const failed = providerFailureOf(caller.call({ ...call, send: slow, read: () => 1 }), token);
    await clock.advance(1300);
    await failed;
    expect(caller.meter.durations()).toEqual([{ operation: "get", seconds: histogramOf([0.3, 0.3], CALL_BOUNDS) }]);
  });

  test("sends nothing while the API's reading of the headers says that nothing is left, and then again", async () => {
    const { read, clock, sent } = stage([answered(200, '{"value":7}', { "x-empty": "1" }), good]);
    expect(await read()).toBe(7);
    await clock.advance(2_999);
    expect((await providerFailureOf(read(), token)).message).toBe(
      "Somecloud's rate limit does not allow to read a now: an earlier answer said that it is used up, so nothing was sent. No call before 2026-01-02T03:04:08.000Z.",
    );
    expect(sent()).toBe(1);
    await clock.advance(1);
    expect(await read()).toBe(7);
  });

  test.for([
    ["as long as the API's reading says when a 429 does not say", {}, 5_000],
    ["as long as the 429 says", { "retry-after": "9" }, 9_000],
  ] as const)("waits %s", async ([, headers, ms]) => {
    const { read } = stage([answered(429, "E slow down", headers)]);
    expect(await providerFailureOf(read(), token)).toMatchObject({ notBeforeMs: nowMs + ms });
  });

  test("has as many requests in flight as the API's limits allow, and one more for an address", async () => {
    const { caller, facts } = stage([]);
    let open = 0;
    let mostOpen = 0;
    const send = async (): Promise<Answer> => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return good;
    };
    for (const [api, most] of [
      [caller.for("look"), 2],
      [caller, 3],
    ] as const) {
      mostOpen = 0;
      await Promise.all(Array.from({ length: 6 }, () => api.call({ ...facts, send, read: () => 1 })));
      expect(mostOpen).toBe(most);
    }
  });

  test("sends nothing for a purpose that has to leave the rest of the limit to others, and says until when", async () => {
    const { caller, read, sent, facts, clock } = stage([good]);
    const look = (): Promise<number> =>
      caller.for("look").call({ ...facts, send: async () => good, read: (body) => readAs(VALUE, body).value });
    for (let count = 0; count < 14; count += 1) await look();
    const error = await providerFailureOf(look(), token);
    expect(error).toMatchObject({ failure: "put-off", status: 0, isAmbiguous: false, notBeforeMs: nowMs + 10_000 });
    expect(error.message).toBe(
      "Somecloud is not asked to read a now: the calls that are left are kept for what is more urgent. No call before 2026-01-02T03:04:15.000Z.",
    );
    expect(await read()).toBe(7);
    expect(sent()).toBe(1);
    await clock.advance(10_000);
    expect(await look()).toBe(7);
  });

  test.for<readonly [string, Partial<ProviderOptions>, string, number]>([
    ["the API's own place and deadline", {}, "https://api.some.example/v1", 1234],
    [
      "the options' place and deadline",
      { baseURL: "https://other.example/v1/", timeoutMs: 99 },
      "https://other.example/v1",
      99,
    ],
  ])("calls with %s", async ([, options, baseURL, timeoutMs]) => {
    const seen: (string | number)[] = [];
    const open: ProviderAPI<undefined>["open"] = async (url) => {
      seen.push(url);
      return async (call, { deadline }) => {
        seen.push(deadline.timeoutMs);
        return call.send(undefined) as Promise<Answer>;
      };
    };
    const { read } = stage([good], { open }, options);
    expect(await read()).toBe(7);
    expect(seen).toEqual([baseURL, timeoutMs]);
  });
});
