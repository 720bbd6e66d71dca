import { describe, expect, test } from "vitest";
import { createCloudflare } from "../../../src/adapters/cloudflare/cloudflare.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { ConfigError } from "../../../src/model/errors.ts";
import { deafURL } from "../provider-http/loopback-server.ts";
import { batchJSON, errorJSON, fqdn, listJSON, okJSON, recordJSON } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, token, withServer, zone } from "./with-server.ts";

const ip = "203.0.113.1";
const good: Reply = { json: listJSON([recordJSON("a", ip)]) };
const none: Reply = { json: listJSON([]) };
const bad: Reply = { status: 500, json: errorJSON(1000, "Oops") };
const made: Reply = { json: batchJSON({ posts: [recordJSON("a", ip)] }) };

describe("a read", () => {
  test.for<readonly [string, Reply]>([
    ["a 500", bad],
    ["a 520 that is HTML", { status: 520, text: "<html>", headers: { "content-type": "text/html" } }],
    ["a connection that closes without an answer", { fault: "drop" }],
    ["an answer that breaks off", { ...good, fault: "cut" }],
  ])("is repeated once after %s", async ([, reply]) => {
    await withServer([reply, good], async ({ provider, read, server }) => {
      expect((await read()).addresses).toEqual([ip]);
      expect(server.requests).toHaveLength(2);
      expect(provider.calls()).toEqual([
        { operation: "records", outcome: "error", count: 1 },
        { operation: "records", outcome: "success", count: 1 },
      ]);
    });
  });

  test("is not repeated a second time", async () => {
    await withServer([bad, bad, good], async ({ read, server }) => {
      expect(await failureOf(read())).toMatchObject({ failure: "unavailable", isAmbiguous: false });
      expect(server.requests).toHaveLength(2);
    });
  });

  test("is not repeated when the server says when to come back", async () => {
    await withServer({ ...bad, headers: { "retry-after": "20" } }, async ({ read, server }) => {
      const error = await failureOf(read());
      expect(error.failure).toBe("unavailable");
      expect(error.notBeforeMs).toBeGreaterThan(Date.now() + 18_000);
      expect(server.requests).toHaveLength(1);
    });
  });

  test.for<readonly [string, Reply]>([
    ["a refusal", { status: 400, json: errorJSON(1004, "No.") }],
    ["a conflict", { status: 409, json: errorJSON(1, "No.") }],
    ["an unusable answer", { json: {} }],
  ])("is not repeated after %s", async ([, reply]) => {
    await withServer(reply, async ({ read, server }) => {
      await failureOf(read());
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe("a batch", () => {
  test.for<readonly [string, Reply, string]>([
    ["a 500", bad, "1000 Oops (500)"],
    ["a connection that closes without an answer", { fault: "drop" }, "other side closed"],
    ["an answer that breaks off", { ...made, fault: "cut" }, "terminated"],
  ])("is never repeated after %s, and may have taken effect", async ([, reply, reason]) => {
    await withServer([none, reply, made], async ({ write, server }) => {
      const error = await failureOf(write([ip]));
      expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true, operation: "write", subject: fqdn });
      expect(error.message).toContain("; it may have taken effect all the same");
      expect(error.message).toMatch(new RegExp(`${reason.replace(/[()]/g, "\\$&")}|other side closed`));
      expect(server.requests).toHaveLength(2);
    });
  });

  test("that is redirected is not followed to another place, and may have taken effect on the way", async () => {
    const reply = { status: 307, headers: { location: "/client/v4/elsewhere" } };
    await withServer([none, reply], async ({ write, server }) => {
      const error = await failureOf(write([ip]));
      expect(error).toMatchObject({ failure: "malformed", isAmbiguous: true });
      expect(error.message).toContain("a redirect, which is not followed; check the API's URL");
      expect(server.requests).toHaveLength(2);
    });
  });
});

test("nothing can have taken effect when nothing listens", async () => {
  const provider = createCloudflare({ token, baseURL: await deafURL(), userAgent: "flipop/0", clock: SYSTEM_CLOCK });
  const error = await failureOf(
    provider.writeRecords(zone, fqdn, { before: [], after: { addresses: [ip], ttlSeconds: 60 } }),
  );
  expect(error).toMatchObject({ failure: "unavailable", status: 0, isAmbiguous: false });
  expect(error.message).toMatch(
    /^Cloudflare could not be reached to read the A records of www\.example\.com: connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
  );
});

describe("the deadline", () => {
  test.for<readonly [string, Reply]>([
    ["headers", { fault: "stall" }],
    ["the body", { ...good, fault: "stall-body" }],
  ])("covers %s, and a read is not repeated after it", async ([, reply]) => {
    await withServer(
      reply,
      async ({ read, server }) => {
        const error = await failureOf(read());
        expect(error).toMatchObject({ failure: "timeout", isAmbiguous: false });
        expect(error.message).toBe(
          "Cloudflare did not answer in time when asked to read the A records of www.example.com: nothing complete within 0.3 s",
        );
        expect(server.requests).toHaveLength(1);
      },
      { timeoutMs: 300 },
    );
  });

  test("covers the repeat of a read too", async () => {
    await withServer(
      [bad, { fault: "stall" }],
      async ({ read, server }) => {
        expect((await failureOf(read())).failure).toBe("timeout");
        expect(server.requests).toHaveLength(2);
      },
      { timeoutMs: 900 },
    );
  });

  test.for<readonly [string, Reply]>([
    ["headers", { fault: "stall" }],
    ["the body", { ...made, fault: "stall-body" }],
  ])("leaves open whether a batch took effect that misses %s", async ([, reply]) => {
    await withServer(
      [none, reply],
      async ({ write }) => {
        expect(await failureOf(write([ip]))).toMatchObject({ failure: "timeout", isAmbiguous: true });
      },
      { timeoutMs: 1000 },
    );
  });

  test("is not needed when the run stops: the call in flight ends, later ones are not sent", async () => {
    const stop = new AbortController();
    await withServer(
      () => {
        stop.abort();
        return { fault: "stall" };
      },
      async ({ read, server }) => {
        const [first, second] = [await failureOf(read()), await failureOf(read())];
        expect([first.failure, second.failure]).toEqual(["timeout", "timeout"]);
        expect(second.message).toContain("the run was told to stop");
        expect(server.requests).toHaveLength(1);
      },
      { signal: stop.signal },
    );
  });
});

describe("the token", () => {
  test("that cannot be read is a failure that says why", async () => {
    const unreadable = async (): Promise<string> => {
      throw new Error("/var/run/token is missing");
    };
    await withServer(
      good,
      async ({ read }) => {
        expect((await failureOf(read())).message).toBe(
          "Cloudflare was not asked to read the A records of www.example.com, for its token cannot be used: /var/run/token is missing.",
        );
      },
      { token: unreadable },
    );
  });

  test("is asked for again for every request, so that a rotated one is used at once", async () => {
    const tokens = ["first\n", "second"];
    await withServer(
      { json: okJSON([]) },
      async ({ read, server }) => {
        await read();
        await read();
        expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
      },
      { token: () => tokens.shift() ?? "" },
    );
  });
});

describe("the base URL", () => {
  test("may end with slashes", async () => {
    await withServer(good, async ({ server }) => {
      const baseURL = `${server.url}/client/v4//`;
      const provider = createCloudflare({ token, baseURL, userAgent: "flipop/0", clock: SYSTEM_CLOCK });
      await provider.readRecords(zone, fqdn);
      expect(server.requests[0]?.path).toMatch(/^\/client\/v4\/zones\//);
    });
  });

  test("is refused at once when it is not plain http(s)", () => {
    const baseURL = `https://user:${token}@example.com/client/v4`;
    const make = (): unknown => createCloudflare({ token, baseURL, userAgent: "flipop/0", clock: SYSTEM_CLOCK });
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(
      "The Cloudflare API URL for example.com must have no user, password, query or fragment; expected one like https://api.cloudflare.com/client/v4.",
    );
  });
});
