import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Send } from "../../../src/adapters/http/request.ts";
import { type PushResult, pushMetrics } from "../../../src/adapters/pushgateway/pushgateway.ts";
import { KnownSecrets } from "../../../src/cli/output.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";

/** Pushes to a server that answers like this, without a network. */
function push(statusCode: number, headers: Readonly<Record<string, string>>, body: string): Promise<PushResult> {
  const send = (() =>
    Promise.resolve(Object.assign(Readable.from([Buffer.from(body)]), { statusCode, headers }))) as unknown as Send;
  const target = { url: "http://push.example.com", job: "flipop", grouping: [], authorization: () => undefined };
  return pushMetrics({ ...target, send, secrets: new KnownSecrets() }, { method: "PUT", text: "a 1\n" }, SYSTEM_CLOCK);
}

describe("an answer of 200 or 202", () => {
  test.for([
    ["a content type of a page", { "content-type": "text/html; charset=utf-8" }, ""],
    ["a content type in capitals", { "content-type": "Text/HTML" }, "Log in"],
    ["a body that is a page", {}, "\n <!DOCTYPE html><title>Log in</title>"],
  ] as const)("with %s is no push", async ([, headers, body]) => {
    expect(await push(200, headers, body)).toEqual({
      kind: "failed",
      message:
        "Could not push metrics to the Pushgateway at http://push.example.com: it answered 200 with a web page. " +
        "The run itself is not affected. Check that the URL is that of the Pushgateway itself, not of a login page or proxy.",
    });
  });

  test.for([
    [200, {}, ""],
    [202, {}, ""],
    [200, { "content-type": "text/plain; charset=utf-8" }, "ok"],
  ] as const)("of %i %o with the body %j is a push", async ([status, headers, body]) => {
    expect(await push(status, headers, body)).toEqual({ kind: "pushed" });
  });
});
