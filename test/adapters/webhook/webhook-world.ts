import type { ProviderOptions } from "../../../src/adapters/http/api-client.ts";
import { createWebhook } from "../../../src/adapters/webhook/webhook.ts";
import type { DNSProvider, ProviderMeter } from "../../../src/ports/providers.ts";
import type { Clock } from "../../../src/ports/system.ts";
import { FaultList } from "../../../src/sandbox/faults.ts";
import { type WebhookSandbox, webhookSandbox } from "../../../src/sandbox/webhook/webhook-sandbox.ts";

/** The webhook adapter on a served webhook, in a time that only waits move on. */
export interface WebhookWorld {
  readonly provider: DNSProvider & ProviderMeter;
  readonly sandbox: WebhookSandbox;
  readonly faults: FaultList;
  /** `GET /records` and the like, in order. */
  readonly calls: string[];
  /** The bodies of changes. */
  readonly changes: unknown[];
  /** Called before each wait of the adapter; a test may set it. */
  beforeWait: () => void;
  /** Moves the time on, milliseconds. */
  readonly pass: (ms: number) => void;
  /** A new adapter on the same webhook, as another process has it. */
  readonly another: () => DNSProvider & ProviderMeter;
}

/** Runs work on a webhook with this state. */
export async function withWebhook(
  state: unknown,
  work: (world: WebhookWorld) => Promise<void>,
  token?: ProviderOptions["token"],
): Promise<void> {
  const faults = new FaultList();
  const calls: string[] = [];
  const changes: unknown[] = [];
  let world: WebhookWorld | undefined;
  let nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  const clock: Clock = {
    monotonicMs: () => nowMs,
    wallMs: () => nowMs,
    sleep: async (ms) => {
      world?.beforeWait();
      nowMs += ms;
    },
  };
  const sandbox = webhookSandbox({
    state,
    faults,
    now: () => nowMs,
    onCall: ({ method, path, body }) => {
      calls.push(`${method} ${path}`);
      if (method === "POST" && path === "/records") changes.push(body);
    },
  });
  const server = await sandbox.serve();
  const another = (): DNSProvider & ProviderMeter =>
    createWebhook({ name: "webhook-test", baseURL: server.url, userAgent: "flipop-test", clock, token });
  try {
    const pass = (ms: number): void => {
      nowMs += ms;
    };
    world = { provider: another(), sandbox, faults, calls, changes, pass, another, beforeWait: () => undefined };
    await work(world);
  } finally {
    await server.close();
  }
}
