import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { ConfigError, type ProviderError } from "../../../src/model/errors.ts";
import type { ProviderMeter } from "../../../src/ports/providers.ts";
import type { Clock } from "../../../src/ports/system.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { deafURL, listenOnLoopback } from "./loopback-server.ts";
import { providerFailureOf } from "./provider-failure-of.ts";
import type { ReplyScript } from "./reply-script.ts";
import type { ScriptedReply } from "./scripted-reply.ts";

// What every adapter of a provider promises of its calls over HTTP, whatever the API behind them.

/** What the server does with one request. */
interface Reply extends ScriptedReply {
  /** The JSON is checked against an API description unless this is true. */
  readonly isOffSpec?: boolean;
}

/** An adapter and the server that it talks to. */
export interface HTTPStage {
  readonly provider: ProviderMeter;
  readonly server: { readonly requests: readonly { readonly path: string }[]; readonly mostOpen?: () => number };
  readonly read: () => Promise<unknown>;
  readonly write: () => Promise<unknown>;
}

/** How the adapter is made. */
export interface HTTPStageOptions {
  readonly clock?: Clock;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly token?: string | (() => string | Promise<string>);
}

/** One adapter, with the answers of its API. */
export interface HTTPWorld {
  /** As messages name it. */
  readonly name: string;
  /** No text may show it. */
  readonly token: string;
  readonly reading: { readonly operation: string; readonly text: string; readonly good: Reply };
  /** `before` is what a write reads first. */
  readonly writing: { readonly before: readonly Reply[]; readonly good: Reply };
  /** Answers that say no. */
  readonly refusals: readonly Reply[];
  readonly serverError: { readonly reply: Reply; readonly text: string };
  /** A page of HTML with a status that means a broken server. */
  readonly brokenStatus: number;
  readonly tooMany: (headers: Readonly<Record<string, string>>) => Reply;
  readonly tooManyText: string;
  /** How long a 429 that says nothing closes, seconds. */
  readonly usualWaitSeconds: number;
  /** How many of the readings may be in flight at a time. */
  readonly mostInFlight: number;
  /** Runs a test against a scripted server. */
  readonly withServer: (
    script: ReplyScript<unknown, Reply>,
    body: (stage: HTTPStage) => Promise<void>,
    options?: HTTPStageOptions,
  ) => Promise<void>;
  /** Makes the adapter for a base URL, and reads. */
  readonly readAt: (baseURL: string) => Promise<unknown>;
  /** The path of the API below its host, and what a read asks for below that. */
  readonly apiPath: string;
  readonly readPath: string;
  /** The usual base URL, as a message shows it. */
  readonly usualURL: string;
}

/** How calls end that meet broken connections, deadlines and redirects. */
export function describeBrokenConnections(world: HTTPWorld): void {
  const { name, reading, writing, serverError, withServer } = world;
  const failureOf = (call: Promise<unknown>): Promise<ProviderError> => providerFailureOf(call, world.token);
  const bad = serverError.reply;
  const sentFor = writing.before.length + 1;

  describe("a read", () => {
    test.for<readonly [string, Reply]>([
      ["a 500", bad],
      [
        "a page of HTML from a broken server",
        { status: world.brokenStatus, text: "<html>", headers: { "content-type": "text/html" } },
      ],
      ["a connection that closes without an answer", { fault: "drop" }],
      ["an answer that breaks off", { ...reading.good, fault: "cut" }],
    ])("is repeated once after %s", async ([, reply]) => {
      await withServer([reply, reading.good], async ({ provider, read, server }) => {
        await read();
        expect(server.requests).toHaveLength(2);
        const { operation } = reading;
        expect(provider.calls()).toEqual([
          { operation, outcome: "error", count: 1 },
          { operation, outcome: "success", count: 1 },
        ]);
      });
    });

    test("is not repeated a second time", async () => {
      await withServer([bad, bad, reading.good], async ({ read, server }) => {
        expect(await failureOf(read())).toMatchObject({ failure: "unavailable", isAmbiguous: false });
        expect(server.requests).toHaveLength(2);
      });
    });

    test("is not repeated when the server says when to come back", async () => {
      await withServer({ ...bad, headers: { "retry-after": "20" } }, async ({ read, server }) => {
        const askedMs = Date.now();
        const error = await failureOf(read());
        expect(error.failure).toBe("unavailable");
        expect(error.notBeforeMs).toBeGreaterThan(askedMs + 18_000);
        expect(server.requests).toHaveLength(1);
      });
    });

    test.for([...world.refusals, { json: {}, isOffSpec: true }])(
      "is not repeated after a refusal or an unusable answer: %j",
      async (reply) => {
        await withServer(reply, async ({ read, server }) => {
          await failureOf(read());
          expect(server.requests).toHaveLength(1);
        });
      },
    );
  });

  describe("a write", () => {
    test.for<readonly [string, Reply, RegExp]>([
      ["a 500", bad, new RegExp(serverError.text.replace(/[()]/g, "\\$&"))],
      [
        "a connection that closes without an answer",
        { fault: "drop" },
        /the connection broke before the answer was complete/,
      ],
      [
        "an answer that breaks off",
        { ...writing.good, fault: "cut" },
        /the connection broke before the answer was complete/,
      ],
    ])("is never repeated after %s, and may have taken effect", async ([, reply, reason]) => {
      await withServer([...writing.before, reply, writing.good], async ({ write, server }) => {
        const error = await failureOf(write());
        expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true });
        expect(error.message).toMatch(reason);
        expect(error.message).toContain("; it may have taken effect all the same");
        expect(server.requests).toHaveLength(sentFor);
      });
    });

    test("that is redirected is not followed to another place, and may have taken effect on the way", async () => {
      const reply = { status: 307, headers: { location: `${world.apiPath}/elsewhere` } };
      await withServer([...writing.before, reply], async ({ write, server }) => {
        const error = await failureOf(write());
        expect(error).toMatchObject({ failure: "malformed", isAmbiguous: true });
        expect(error.message).toContain("a redirect, which is not followed; check the API's URL");
        expect(server.requests).toHaveLength(sentFor);
      });
    });
  });

  describe("the deadline", () => {
    test.for<readonly [string, Reply]>([
      ["headers", { fault: "stall" }],
      ["the body", { ...reading.good, fault: "stall-body" }],
    ])("covers %s, and a read is not repeated after it", async ([, reply]) => {
      const body = async ({ read, server }: HTTPStage): Promise<void> => {
        const error = await failureOf(read());
        expect(error).toMatchObject({ failure: "timeout", isAmbiguous: false });
        const asked = `${name} did not answer in time when asked to ${reading.text}`;
        expect(error.message).toBe(`${asked}: nothing complete within 0.3 s`);
        expect(server.requests).toHaveLength(1);
      };
      await withServer(reply, body, { timeoutMs: 300 });
    });

    test("covers the repeat of a read too", async () => {
      const body = async ({ read, server }: HTTPStage): Promise<void> => {
        expect((await failureOf(read())).failure).toBe("timeout");
        expect(server.requests).toHaveLength(2);
      };
      await withServer([bad, { fault: "stall" }], body, { timeoutMs: 900 });
    });

    test.for<readonly [string, Reply]>([
      ["headers", { fault: "stall" }],
      ["the body", { ...writing.good, fault: "stall-body" }],
    ])("leaves open whether a write took effect that misses %s", async ([, reply]) => {
      const body = async ({ write }: HTTPStage): Promise<void> => {
        expect(await failureOf(write())).toMatchObject({ failure: "timeout", isAmbiguous: true });
      };
      await withServer([...writing.before, reply], body, { timeoutMs: 1000 });
    });

    test("is not needed when the run stops: the call in flight ends, later ones are not sent", async () => {
      const stop = new AbortController();
      const script = (): Reply => {
        stop.abort();
        return { fault: "stall" };
      };
      const body = async ({ read, server }: HTTPStage): Promise<void> => {
        const [first, second] = [await failureOf(read()), await failureOf(read())];
        expect([first.failure, second.failure, second.isAmbiguous]).toEqual(["timeout", "timeout", false]);
        expect(second.message).toContain("the run was told to stop");
        expect(server.requests).toHaveLength(1);
      };
      await withServer(script, body, { signal: stop.signal });
    });
  });

  test("nothing can have taken effect when nothing listens", async () => {
    const error = await failureOf(world.readAt(`${await deafURL()}${world.apiPath}`));
    expect(error).toMatchObject({ failure: "unavailable", status: 0, isAmbiguous: false });
    expect(error.message).toContain(`${name} could not be reached to ${reading.text}: connect ECONNREFUSED 127.0.0.1:`);
  });

  test("a token that cannot be read is a failure that says why", async () => {
    const token = (): Promise<string> => Promise.reject(new Error("/var/run/token is missing"));
    const body = async ({ read }: HTTPStage): Promise<void> => {
      expect((await failureOf(read())).message).toBe(
        `${name} was not asked to ${reading.text}, for its token cannot be used: /var/run/token is missing.`,
      );
    };
    await withServer(reading.good, body, { token });
  });

  test("the base URL may have a path and trailing slashes", async () => {
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.writeHead(404).end();
    });
    const failed = world.readAt(`${await listenOnLoopback(server)}/prefix${world.apiPath}//`);
    await failed.catch(() => undefined);
    server.closeAllConnections();
    server.close();
    expect(paths[0]?.startsWith(`/prefix${world.readPath}`), paths[0]).toBe(true);
  });

  test("a base URL that is not plain http(s) is refused at once", async () => {
    const read = async (): Promise<unknown> => world.readAt(`https://user:${world.token}@example.com${world.apiPath}`);
    await expect(read).rejects.toThrow(ConfigError);
    await expect(read).rejects.toThrow(
      `The ${name} API URL for example.com must have no user, password, query or fragment; expected one like ${world.usualURL}.`,
    );
  });
}

/** When the tests of limits begin, milliseconds. */
export const LIMIT_NOW_MS: number = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A limit that ends so soon is waited for by urgent calls, milliseconds. */
const MOMENT_MS = 2000;

/** How a 429 holds back the calls after it. */
export function describeTooManyRequests(world: HTTPWorld): void {
  const { name, reading, writing, tooMany, usualWaitSeconds: usual, mostInFlight } = world;
  const failureOf = (call: Promise<unknown>): Promise<ProviderError> => providerFailureOf(call, world.token);
  const withClock = async (
    script: ReplyScript<unknown, Reply>,
    body: (stage: HTTPStage, clock: FakeClock) => Promise<void>,
    options: Pick<HTTPStageOptions, "timeoutMs"> = {},
  ): Promise<void> => {
    const clock = new FakeClock(LIMIT_NOW_MS);
    await world.withServer(script, (stage) => body(stage, clock), { ...options, clock });
  };

  test("stops every later call without a request until its time, and no longer", async () => {
    const notBeforeMs = LIMIT_NOW_MS + 20_000;
    await withClock([tooMany({ "retry-after": "20" }), reading.good], async ({ read, write, server }, clock) => {
      const first = await failureOf(read());
      expect(first).toMatchObject({ failure: "rate-limited", status: 429, isAmbiguous: false, notBeforeMs });
      expect(first.message).toBe(
        `${name}'s rate limit does not allow to ${reading.text} now: ${world.tooManyText} (429). No call before 2026-01-02T03:04:25.000Z.`,
      );
      await clock.advance(20_000 - MOMENT_MS - 1);
      for (const call of [read, write]) {
        expect(await failureOf(call())).toMatchObject({ failure: "rate-limited", status: 0, notBeforeMs });
      }
      expect(server.requests).toHaveLength(1);
      await clock.advance(MOMENT_MS + 1);
      await read();
      expect(server.requests).toHaveLength(2);
    });
  });

  test("of a write is not repeated and had no effect", async () => {
    await withClock([...writing.before, tooMany({ "retry-after": "20" })], async ({ write, server }) => {
      expect(await failureOf(write())).toMatchObject({ failure: "rate-limited", isAmbiguous: false });
      expect(server.requests).toHaveLength(writing.before.length + 1);
    });
  });

  test.for<readonly [string, Readonly<Record<string, string>>, number]>([
    ["in 20 s", { "retry-after": "20" }, 20],
    ["at an HTTP date", { "retry-after": "Fri, 02 Jan 2026 03:04:35 GMT" }, 30],
    ["after the usual time when nothing is said", {}, usual],
    ["after the usual time when what is said makes no sense", { "retry-after": "soon" }, usual],
    ["after the usual time when the date is past", { "retry-after": "Fri, 02 Jan 2026 03:04:00 GMT" }, usual],
    ["in 1 s when it says 0", { "retry-after": "0" }, 1],
    ["in an hour at most", { "retry-after": "7200" }, 3600],
    ["in an hour at most by date", { "retry-after": "Fri, 02 Jan 2026 09:00:00 GMT" }, 3600],
  ])("lets the next call go %s", async ([, headers, seconds]) => {
    // A call that waits for a moment of this clock waits to its end: nobody moves the clock meanwhile.
    const options = seconds * 1000 > MOMENT_MS ? {} : { timeoutMs: 1000 };
    const body = async ({ read }: HTTPStage, clock: FakeClock): Promise<void> => {
      const notBeforeMs = LIMIT_NOW_MS + seconds * 1000;
      expect((await failureOf(read())).notBeforeMs).toBe(notBeforeMs);
      const closedMs = Math.max(0, seconds * 1000 - MOMENT_MS - 1);
      await clock.advance(closedMs);
      if (closedMs > 0) expect((await failureOf(read())).notBeforeMs).toBe(notBeforeMs);
      await clock.advance(seconds * 1000 - closedMs);
      await read();
    };
    await withClock([tooMany(headers), reading.good], body, options);
  });

  test("is waited out by elapsed time when somebody sets the clock back", async () => {
    await withClock([tooMany({ "retry-after": "20" }), reading.good], async ({ read }, clock) => {
      await failureOf(read());
      clock.shiftWall(-3_600_000);
      await clock.advance(20_000);
      await expect(read()).resolves.toBeDefined();
    });
  });

  test("stops the calls that wait for room as well: no more requests are in flight than may be", async () => {
    const gate = Promise.withResolvers<void>();
    await withClock(
      { ...tooMany({ "retry-after": "20" }), after: gate.promise },
      async ({ provider, read, server }) => {
        const calls = Array.from({ length: 10 }, () => failureOf(read()));
        await expect.poll(() => server.requests.length).toBe(mostInFlight);
        gate.resolve();
        const errors = await Promise.all(calls);
        expect(new Set(errors.map((error) => error.failure))).toEqual(new Set(["rate-limited"]));
        expect(server.requests).toHaveLength(mostInFlight);
        expect(provider.calls()).toEqual([{ operation: reading.operation, outcome: "error", count: mostInFlight }]);
      },
    );
  });
}
