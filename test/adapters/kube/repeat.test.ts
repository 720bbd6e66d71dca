import { describe, expect, test } from "vitest";
import { repeatDelayMs } from "../../../src/adapters/kube/transport.ts";
import { cutOff, failure, hangUp, list } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const unavailable = failure(503, "ServiceUnavailable", "etcd is away.");
const node = { metadata: { name: "a" } };
const ok = list("NodeList", [node]);

describe("repeats", () => {
  test.for([
    ["429", failure(429, "TooManyRequests", "slow down")],
    ["500", failure(500, "InternalError", "oops")],
    ["502", failure(502, "", "bad gateway")],
    ["503", unavailable],
    ["504", failure(504, "Timeout", "too slow")],
    ["a connection that breaks before the answer", hangUp],
    ["a connection that breaks in the middle of the body", cutOff],
  ] as const)("a list is repeated after %s and succeeds", async ([, first]) => {
    await withServer([first, ok], async ({ reader, asked, slept }) => {
      expect((await reader.listNodes()).map(({ name }) => name)).toEqual(["a"]);
      expect(asked).toHaveLength(2);
      expect(slept).toHaveLength(1);
    });
  });

  test("a list is sent four times at most, with growing waits, and the last refusal is thrown", async () => {
    await withServer([unavailable], async ({ reader, asked, slept }) => {
      const error = await rejection(reader.listNodes());
      expect(asked).toHaveLength(4);
      expect(slept).toHaveLength(3);
      for (const [index, ms] of slept.entries()) {
        expect(ms).toBeGreaterThanOrEqual(100 * 2 ** index);
        expect(ms).toBeLessThanOrEqual(200 * 2 ** index);
      }
      expect(error).toMatchObject({ name: "KubeError", failure: "unavailable", status: 503 });
      expect(error.message).toBe(
        "Cannot list nodes: etcd is away (503). Try again later; if it stays so, look at the API server.",
      );
    });
  });

  test("Retry-After is waited for", async () => {
    const busy = failure(429, "TooManyRequests", "slow down", { "Retry-After": "3" });
    await withServer([busy, ok], async ({ reader, slept }) => {
      await reader.listNodes();
      expect(slept[0]).toBeGreaterThanOrEqual(3000);
      expect(slept[0]).toBeLessThanOrEqual(3100);
    });
  });

  test("a Retry-After beyond the deadline ends the call at once, as rate-limited", async () => {
    const busy = failure(429, "TooManyRequests", "slow down", { "Retry-After": "3" });
    const options = { requestTimeoutMs: 2000 };
    const script = [busy, ok];
    await withServer(
      script,
      async ({ reader, asked }) => {
        expect(await rejection(reader.listNodes())).toMatchObject({ failure: "rate-limited", status: 429 });
        expect(asked).toHaveLength(1);
      },
      options,
    );
  });

  test.for([400, 401, 403, 404, 409, 410, 422] as const)("a get is not repeated after %i", async (status) => {
    await withServer([failure(status, "", "no")], async ({ reader, asked }) => {
      await reader.readPool({ namespace: "a", name: "b" }).catch(() => undefined);
      expect(asked).toHaveLength(1);
    });
  });

  test("a merge patch is repeated after a broken connection", async () => {
    await withServer([hangUp, { json: node }], async ({ writer, asked }) => {
      await writer.annotateNode("a", { address: "192.0.2.1", pool: null });
      expect(asked.map(({ method }) => method)).toEqual(["PATCH", "PATCH"]);
      expect(asked[1]?.body).toEqual(asked[0]?.body);
    });
  });

  test.for([unavailable, hangUp, failure(429, "TooManyRequests", "slow down")])(
    "a POST is never repeated",
    async (first) => {
      await withServer([first], async ({ writer, asked }) => {
        const lease = { namespace: "a", name: "b", holder: "me", durationSeconds: 15, transitions: 0, annotations: {} };
        await rejection(writer.createLease({ ...lease, acquireTimeMs: 1, renewTimeMs: 1 }));
        expect(asked).toHaveLength(1);
      });
    },
  );

  test("nothing listens: a refused connection is tried four times and named", async () => {
    let url = "";
    await withServer([ok], async (scene) => {
      url = scene.url;
    });
    await withServer(
      [ok],
      async ({ reader, slept }) => {
        const error = await rejection(reader.listNodes());
        expect(error).toMatchObject({ failure: "unavailable", status: 0 });
        expect(error.message).toBe(
          `Cannot list nodes: nothing listens at ${url} (connection refused). ` +
            'Check that the API server runs and context "test" of test.yaml is right.',
        );
        expect(slept).toHaveLength(3);
      },
      { connection: { server: url } },
    );
  });
});

describe("repeatDelayMs", () => {
  test.for([
    ["caps a long Retry-After at 10 s", { status: 429, retryAfter: "3600" }, 10_000],
    ["obeys a Retry-After of 0", { status: 503, retryAfter: "0" }, 0],
    ["backs off when Retry-After is a date", { status: 503, retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT" }, 100],
    ["backs off without Retry-After", { status: 500, retryAfter: undefined }, 100],
    ["repeats a refused connection", { code: "ECONNREFUSED" }, 100],
    ["does not repeat an unknown host", { code: "ENOTFOUND" }, undefined],
    ["does not repeat a 501", { status: 501, retryAfter: undefined }, undefined],
  ] as const)("%s", ([, end, expected]) => {
    expect(repeatDelayMs("GET", end, 0, 0)).toBe(expected);
  });
});
