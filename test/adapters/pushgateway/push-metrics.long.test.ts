import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { NO_PROXY } from "../../../src/adapters/http/proxy-choice.ts";
import { sender } from "../../../src/adapters/http/request.ts";
import { type PushResult, type PushTarget, pushMetrics } from "../../../src/adapters/pushgateway/pushgateway.ts";
import { KnownSecrets } from "../../../src/cli/output.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { ConfigError } from "../../../src/model/errors.ts";
import { waitedMs } from "../../fake/own-time.ts";
import { type ScriptedGateway, scriptedGateway } from "./scripted-gateway.ts";

const running: ScriptedGateway[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.close()));
});

async function start(answer?: (response: ServerResponse, before: number) => void): Promise<ScriptedGateway> {
  const gateway = await scriptedGateway(answer);
  running.push(gateway);
  return gateway;
}

function push(url: string, changes: Partial<PushTarget> = {}, limitMs = 5000): Promise<PushResult> {
  const secrets = new KnownSecrets();
  const target = {
    url,
    job: "flipop",
    grouping: [],
    authorization: () => undefined,
    send: sender(NO_PROXY),
    secrets,
    ...changes,
  };
  return pushMetrics(target, { method: "PUT", text: "a 1\n" }, SYSTEM_CLOCK, limitMs);
}

/** The message of a push that failed. */
async function failureOf(result: Promise<PushResult>): Promise<string> {
  const done = await result;
  if (done.kind === "pushed") throw new Error("it was pushed");
  return done.message;
}

describe("a push", () => {
  test("is one PUT of the text to the group's path, with labels in base64url", async () => {
    const gateway = await start();
    const grouping = [["cluster", "arn:aws:eks/ü"]] as const;
    expect(await push(`${gateway.url}/prefix`, { grouping })).toEqual({ kind: "pushed" });
    expect(gateway.requests).toHaveLength(1);
    const [request] = gateway.requests;
    const label = Buffer.from("arn:aws:eks/ü").toString("base64url");
    expect(request).toMatchObject({
      method: "PUT",
      path: `/prefix/metrics/job@base64/${Buffer.from("flipop").toString("base64url")}/cluster@base64/${label}`,
      body: "a 1\n",
    });
    expect(request?.headers["content-type"]).toBe("text/plain; version=0.0.4");
    expect(request?.headers.authorization).toBeUndefined();
  });

  test("carries the credentials, which no text shows though the server does", async () => {
    const gateway = await start((response) => response.writeHead(403).end("Bearer s3cr3t-token is not welcome"));
    const secrets = new KnownSecrets();
    const authorization = (): string => {
      secrets.add("s3cr3t-token");
      return "Bearer s3cr3t-token";
    };
    const message = await failureOf(push(gateway.url, { authorization, secrets }));
    expect(gateway.requests[0]?.headers.authorization).toBe("Bearer s3cr3t-token");
    expect(message).toBe(
      `Could not push metrics to the Pushgateway at ${gateway.url}: it answered 403: Bearer [redacted] is not welcome. ` +
        "The run itself is not affected. Check PUSHGATEWAY_USERNAME and PUSHGATEWAY_PASSWORD, or PUSHGATEWAY_TOKEN.",
    );
  });

  test.for([
    [
      "pushed metrics are invalid or inconsistent with existing metrics:\n  collected twice\n",
      "pushed metrics are invalid or inconsistent with existing metrics: collected twice. The run itself is not affected. Another group",
    ],
    [
      'text format parsing error in line 1:\n  "s3cr3t" is no value\n',
      'text format parsing error in line 1: "[redacted]" is no value. The run itself is not affected. Check the Pushgateway\'s own log.',
    ],
  ] as const)("that is refused fails at once, with what the server says on one line: %j", async ([body, shown]) => {
    const gateway = await start((response) => response.writeHead(400).end(body));
    const secrets = new KnownSecrets();
    secrets.add("s3cr3t");
    expect(await failureOf(push(gateway.url, { secrets }))).toContain(`it answered 400: ${shown}`);
    expect(gateway.requests).toHaveLength(1);
  });

  test.for([301, 302, 307])("that is redirected with %i fails, and is not sent elsewhere", async (status) => {
    const other = await start();
    const gateway = await start((response) => response.writeHead(status, { location: other.url }).end());
    expect(await failureOf(push(gateway.url))).toContain(
      `it answered ${status}. The run itself is not affected. It redirects`,
    );
    expect(other.requests).toEqual([]);
  });

  test("is made once more after a 503", async () => {
    const gateway = await start((response, before) => response.writeHead(before === 0 ? 503 : 202).end());
    expect(await push(gateway.url)).toEqual({ kind: "pushed" });
    expect(gateway.requests).toHaveLength(2);
  });

  test("is made once more, and no oftener, when the connection breaks", async () => {
    const gateway = await start((response) => response.destroy());
    expect(await failureOf(push(gateway.url))).toContain("Check that it runs and that the URL is right.");
    expect(gateway.requests).toHaveLength(2);
  });

  test("fails where nothing listens", async () => {
    const gateway = await scriptedGateway();
    await gateway.close();
    expect(await failureOf(push(gateway.url))).toContain("ECONNREFUSED");
  });

  test.for([
    ["never answers", () => undefined],
    [
      "stops in the middle of its answer",
      (response) => void response.writeHead(200, { "content-length": 99 }).write("x"),
    ],
    [
      "trickles",
      (response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write("x"), 20);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ] as const satisfies readonly (readonly [string, (response: ServerResponse) => void])[])(
    "is over in time when the server %s",
    async ([, answer]) => {
      const gateway = await start(answer);
      const pushed = async (): Promise<void> => {
        expect(await failureOf(push(gateway.url, {}, 300))).toContain("no answer within 0.3 s");
      };
      expect(await waitedMs(pushed)).toBeLessThan(1500);
    },
  );

  test("is not made when its credentials cannot be read", async () => {
    const gateway = await start();
    const authorization = (): string => {
      throw new ConfigError("invalid", "Cannot read the token file /x that PUSHGATEWAY_TOKEN_FILE names (ENOENT).");
    };
    expect(await failureOf(push(gateway.url, { authorization }))).toContain("its credentials cannot be read");
    expect(gateway.requests).toEqual([]);
  });
});
