import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { NO_PROXY } from "../../../src/adapters/http/proxy-choice.ts";
import { sender } from "../../../src/adapters/http/request.ts";
import { type Delivery, deliver, type Receiver, type Undelivered } from "../../../src/adapters/notify/notify.ts";
import { KnownSecrets } from "../../../src/cli/output.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { waitedMs } from "../../fake/own-time.ts";
import { type ScriptedGateway, scriptedGateway } from "../pushgateway/scripted-gateway.ts";

const running: ScriptedGateway[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((receiver) => receiver.close()));
});

async function start(answer?: (response: ServerResponse, before: number) => void): Promise<ScriptedGateway> {
  const receiver = await scriptedGateway(answer);
  running.push(receiver);
  return receiver;
}

const receiverAt = (url: string, bodies: readonly string[] = ["1", "2", "3"]): Receiver => {
  return { name: url, url, contentType: "application/json", bodies };
};

const LIMIT_MS = 1500;

function send(receivers: readonly Receiver[], changes: Partial<Delivery> = {}): Promise<readonly Undelivered[]> {
  const secrets = new KnownSecrets();
  const signal = new AbortController().signal;
  const delivery = {
    userAgent: "flipop/test",
    send: sender(NO_PROXY),
    secrets,
    clock: SYSTEM_CLOCK,
    signal,
    ...changes,
  };
  return deliver(receivers, delivery, LIMIT_MS);
}

describe("what is delivered", () => {
  test("comes one after the other, each once more after a 5xx", async () => {
    const flaky = await start((response, before) => response.writeHead(before === 1 ? 503 : 200).end());
    expect(await send([receiverAt(flaky.url)])).toEqual([]);
    expect(flaky.requests.map(({ body }) => body)).toEqual(["1", "2", "2", "3"]);
  });

  test.for<[string, (response: ServerResponse) => void, RegExp, number]>([
    ["breaks off", (response) => void response.destroy(), /the connection broke before the answer was complete/, 2],
    ["never answers", () => undefined, /it took longer than 1\.5 s/, 1],
    ["never ends its answer", (response) => void response.writeHead(200).write("x"), /it took longer than 1\.5 s/, 1],
    ["answers for ever", (response) => endless(response), /it answered 404: x+$/, 3],
  ])("costs 5 s at most, and nobody else anything, where a receiver %s", async ([, answer, why, asked]) => {
    const [good, bad] = [await start(), await start(answer)];
    let undelivered: readonly Undelivered[] = [];
    const waited = await waitedMs(async () => {
      undelivered = await send([receiverAt(bad.url), receiverAt(good.url)]);
    });
    expect(good.requests.map(({ body }) => body)).toEqual(["1", "2", "3"]);
    expect(undelivered).toMatchObject([{ receiver: bad.url, count: 3, of: 3, why: expect.stringMatching(why) }]);
    expect(bad.requests).toHaveLength(asked);
    // It is no multiple of receivers, bodies and tries.
    expect(waited).toBeLessThan(3 * LIMIT_MS);
  });

  test("is nothing more once it is to end", async () => {
    const held = await start(() => undefined);
    const ending = new AbortController();
    const sending = send([receiverAt(held.url)], { signal: ending.signal });
    await expect.poll(() => held.requests.length).toBe(1);
    ending.abort();
    expect(await sending).toMatchObject([{ count: 3 }]);
    expect(held.requests).toHaveLength(1);
  });
});

/** Writes again and again, for as long as somebody reads. */
function endless(response: ServerResponse): void {
  response.writeHead(404);
  const writing = setInterval(() => response.write("x".repeat(10_000)), 5);
  response.once("close", () => clearInterval(writing));
}
