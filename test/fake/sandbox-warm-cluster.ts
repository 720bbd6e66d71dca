import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { SeenObjects } from "../../src/adapters/kube/access.ts";
import type { Answer, Call } from "../../src/adapters/kube/call.ts";
import { callFailure } from "../../src/adapters/kube/failures.ts";
import { KubeWarmCluster } from "../../src/adapters/kube/warm-cluster.ts";
import type { WarmCluster } from "../../src/ports/cluster.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { SandboxReply } from "../../src/sandbox/http-server.ts";
import type { KubernetesSandbox } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { plainConnection } from "../adapters/kube/scripted-server.ts";

/** A server that is there says something so often, if only a bookmark. */
const SIGN_MS = 60_000;

/** What the cluster is made of. */
export interface SandboxWarmOptions {
  readonly sandbox: KubernetesSandbox;
  /** The only clock: nothing here waits for anything else. */
  readonly clock: Clock;
  /** Sees each call before the emulated server does, and may throw. */
  readonly beforeCall?: (call: Call) => void;
}

/** The warm cluster that users have, with its real lists and watches, on an emulated API server without a network: nothing takes real time. */
export function sandboxWarmCluster(options: SandboxWarmOptions): WarmCluster {
  const { clock } = options;
  const connection = plainConnection("http://127.0.0.1:1");
  const send = async (call: Call): Promise<Answer> => {
    const reply = ask(options, call);
    if ("stream" in reply) throw new Error(`${call.path} is a watch`);
    const answer = { status: reply.status, headers: {}, body: Buffer.from(JSON.stringify(reply.body)) };
    if (reply.status < 200 || reply.status >= 300) throw callFailure(call, answer, connection);
    return answer;
  };
  const open = async (call: Call, signal: AbortSignal): Promise<IncomingMessage> => {
    const reply = ask(options, call);
    const body = new PassThrough();
    const response = Object.assign(body, { headers: { "content-type": "application/json" }, statusCode: 200 });
    if (!("stream" in reply)) throw callFailure(call, await send(call), connection);
    const ended = new AbortController();
    const end = (): void => {
      ended.abort();
      body.destroy();
    };
    signal.addEventListener("abort", end, { once: true });
    body.once("close", () => ended.abort());
    void reply.stream((chunk) => void body.write(chunk), ended.signal);
    void sayOften(body, clock, ended.signal);
    return response as unknown as IncomingMessage;
  };
  const access = {
    connection,
    clock,
    random: () => 0,
    send,
    write: send,
    open,
    nowMs: () => clock.wallMs(),
    logIn: () => Promise.resolve(),
    close: () => undefined,
    seen: new SeenObjects(),
  };
  return new KubeWarmCluster(access, "test");
}

function ask({ sandbox, beforeCall }: SandboxWarmOptions, call: Call): SandboxReply {
  beforeCall?.(call);
  const url = new URL(call.path, "http://localhost");
  const type = call.method === "PATCH" ? "application/merge-patch+json" : "application/json";
  return sandbox.handle({
    method: call.method,
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    headers: call.body === undefined ? {} : { "content-type": type },
    body: structuredClone(call.body),
  });
}

async function sayOften(body: PassThrough, clock: Clock, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await clock.sleep(SIGN_MS, ended);
    if (!ended.aborted) body.write("\n");
  }
}
