import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { createDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { ConfigError } from "../../../src/model/errors.ts";
import { deafURL, listenOnLoopback } from "../provider-http/loopback-server.ts";
import { actionJSON, addressJSON, errorJSON } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, token, withServer } from "./with-server.ts";

const ip = "203.0.113.1";
const good: Reply = { json: { reserved_ip: addressJSON(ip) } };
const bad: Reply = { status: 500, json: errorJSON("server_error", "Oops") };

describe("a read", () => {
  test.for<readonly [string, Reply]>([
    ["a 500", bad],
    ["a 503 that is HTML", { status: 503, text: "<html>", headers: { "content-type": "text/html" } }],
    ["a connection that closes without an answer", { fault: "drop" }],
    ["an answer that breaks off", { ...good, fault: "cut" }],
  ])("is repeated once after %s", async ([, reply]) => {
    await withServer([reply, good], async ({ provider, server }) => {
      expect((await provider.getAddress(ip))?.ip).toBe(ip);
      expect(server.requests).toHaveLength(2);
      expect(provider.calls()).toEqual([
        { operation: "get", outcome: "error", count: 1 },
        { operation: "get", outcome: "success", count: 1 },
      ]);
    });
  });

  test("is not repeated a second time", async () => {
    await withServer([bad, bad, good], async ({ provider, server }) => {
      expect(await failureOf(provider.getAddress(ip))).toMatchObject({ failure: "unavailable", isAmbiguous: false });
      expect(server.requests).toHaveLength(2);
    });
  });

  test("is not repeated when the server says when to come back", async () => {
    await withServer({ ...bad, headers: { "retry-after": "20" } }, async ({ provider, server }) => {
      const error = await failureOf(provider.getAddress(ip));
      expect(error.failure).toBe("unavailable");
      expect(error.notBeforeMs).toBeGreaterThan(Date.now() + 18_000);
      expect(server.requests).toHaveLength(1);
    });
  });

  test.for<readonly [string, Reply]>([
    ["a refusal", { status: 422, json: errorJSON("unprocessable_entity", "No.") }],
    ["an unusable answer", { json: {}, isOffSpec: true }],
  ])("is not repeated after %s", async ([, reply]) => {
    await withServer(reply, async ({ provider, server }) => {
      await failureOf(provider.getAddress(ip));
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe("a write", () => {
  test.for<readonly [string, Reply, string]>([
    ["a 500", bad, "Oops (500)"],
    ["a connection that closes without an answer", { fault: "drop" }, "other side closed"],
  ])("is never repeated after %s, and may have taken effect", async ([, reply, reason]) => {
    await withServer([reply, { status: 201, json: { action: actionJSON(7) } }], async ({ provider, server }) => {
      const error = await failureOf(provider.assign(ip, "42"));
      expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true });
      expect(error.message).toContain(`${reason}; it may have taken effect all the same`);
      expect(server.requests).toHaveLength(1);
    });
  });

  test("may have taken effect when the answer of a creation breaks off", async () => {
    const json = { reserved_ip: addressJSON(ip), links: {} };
    await withServer({ status: 202, json, fault: "cut" }, async ({ provider }) => {
      const error = await failureOf(provider.create({ region: "nyc3" }));
      expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true });
    });
  });

  test("cannot have taken effect when nothing listens", async () => {
    const provider = createDigitalOcean({
      token,
      baseURL: await deafURL(),
      userAgent: "flipop/0",
      clock: SYSTEM_CLOCK,
    });
    const error = await failureOf(provider.assign(ip, "42"));
    expect(error).toMatchObject({ failure: "unavailable", status: 0, isAmbiguous: false });
    expect(error.message).toMatch(
      /^DigitalOcean could not be reached to assign 203\.0\.113\.1 to droplet 42: connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
    );
  });

  test("that is redirected is not followed to another place, and may have taken effect on the way", async () => {
    const reply = { status: 307, headers: { location: "/v2/elsewhere" } };
    await withServer(reply, async ({ provider, server }) => {
      const error = await failureOf(provider.assign(ip, "42"));
      expect(error).toMatchObject({ failure: "malformed", isAmbiguous: true });
      expect(error.message).toContain("a redirect, which is not followed; check the API's URL");
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe("the deadline", () => {
  test.for<readonly [string, Reply]>([
    ["headers", { fault: "stall" }],
    ["the body", { ...good, fault: "stall-body" }],
  ])("covers %s, and a read is not repeated after it", async ([, reply]) => {
    await withServer(
      reply,
      async ({ provider, server }) => {
        const error = await failureOf(provider.getAddress(ip));
        expect(error).toMatchObject({ failure: "timeout", isAmbiguous: false });
        expect(error.message).toBe(
          "DigitalOcean did not answer in time when asked to read 203.0.113.1: nothing complete within 0.2 s",
        );
        expect(server.requests).toHaveLength(1);
      },
      { timeoutMs: 200 },
    );
  });

  test("covers the repeat of a read too", async () => {
    await withServer(
      [bad, { fault: "stall" }],
      async ({ provider, server }) => {
        expect((await failureOf(provider.getAddress(ip))).failure).toBe("timeout");
        expect(server.requests).toHaveLength(2);
      },
      { timeoutMs: 800 },
    );
  });

  test("leaves open whether a write took effect", async () => {
    const stalled = { status: 202, json: { reserved_ip: addressJSON(ip), links: {} }, fault: "stall-body" } as const;
    await withServer(
      [{ fault: "stall" }, stalled],
      async ({ provider }) => {
        const errors = [
          await failureOf(provider.assign(ip, "42")),
          await failureOf(provider.create({ region: "nyc3" })),
        ];
        expect(errors.map((error) => [error.failure, error.isAmbiguous])).toEqual([
          ["timeout", true],
          ["timeout", true],
        ]);
      },
      { timeoutMs: 200 },
    );
  });

  test("is not needed when the run stops: the call in flight ends, later ones are not sent", async () => {
    const stop = new AbortController();
    await withServer(
      () => {
        stop.abort();
        return { fault: "stall" };
      },
      async ({ provider, server }) => {
        const first = await failureOf(provider.assign(ip, "42"));
        const second = await failureOf(provider.assign(ip, "42"));
        expect([first.failure, first.isAmbiguous]).toEqual(["timeout", true]);
        expect([second.failure, second.isAmbiguous]).toEqual(["timeout", false]);
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
      [],
      async ({ provider }) => {
        const { message } = await failureOf(provider.unassign(ip));
        expect(message).toBe(
          "DigitalOcean was not asked to unassign 203.0.113.1, for its token cannot be used: /var/run/token is missing.",
        );
      },
      { token: unreadable },
    );
  });
});

describe("the base URL", () => {
  test("may have a path and trailing slashes", async () => {
    await withServer({ json: { reserved_ip: addressJSON(ip) } }, async ({ server }) => {
      const paths: (string | undefined)[] = [];
      const proxy = createServer((request, response) => {
        paths.push(request.url);
        response.writeHead(404).end();
      });
      const baseURL = `${await listenOnLoopback(proxy)}/prefix//`;
      await failureOf(
        createDigitalOcean({ token, baseURL, userAgent: "flipop/0", clock: SYSTEM_CLOCK }).getAddress(ip),
      );
      proxy.closeAllConnections();
      proxy.close();
      expect(paths).toEqual([`/prefix/v2/reserved_ips/${ip}`]);
      expect(server.requests).toEqual([]);
    });
  });

  test("is refused at once when it is not plain http(s)", () => {
    const baseURL = `https://user:${token}@example.com`;
    const create = (): unknown => createDigitalOcean({ token, baseURL, userAgent: "flipop/0", clock: SYSTEM_CLOCK });
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(
      "The DigitalOcean API URL for example.com must have no user, password, query or fragment; expected one like https://api.digitalocean.com.",
    );
  });
});
