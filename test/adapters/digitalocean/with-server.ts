import { createDigitalOcean } from "../../../src/adapters/digitalocean/create-digitalocean.ts";
import type { DigitalOceanOptions } from "../../../src/adapters/digitalocean/digitalocean-options.ts";
import { ProviderError } from "../../../src/model/errors.ts";
import type { IPProvider, ProviderMeter } from "../../../src/ports/ip-provider.ts";
import { type Received, type Reply, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

/** The token every test uses; no text may ever show it. */
export const token = "dop_v1_0123456789abcdef";

/** The adapter and the server it talks to. */
export interface Stage {
  readonly provider: IPProvider & ProviderMeter;
  readonly server: ScriptedServer;
}

/**
 * Runs a test against a scripted server: one reply for every request, a list in order (the last one stays), or a function.
 * @throws Error when a request or answer does not follow the API description
 */
export async function withServer(
  script: Reply | readonly Reply[] | ((request: Received, at: number) => Reply),
  body: (stage: Stage) => Promise<void>,
  options: Partial<DigitalOceanOptions> = {},
): Promise<void> {
  const answer = typeof script === "function" ? script : (_: Received, at: number) => replyAt(script, at);
  const server = await startScriptedServer(answer);
  try {
    const provider = createDigitalOcean({ token, baseURL: server.url, userAgent: "flipop/0 (test)", ...options });
    await body({ provider, server });
  } finally {
    await server.close();
  }
}

/** The ProviderError a call ends with. @throws Error when it ends without one, or when any of its texts shows the token */
export async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await call.then(
    (value) => new Error(`no failure but ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw error;
  const texts = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join("\n");
  if (texts.includes(token)) throw new Error("The error shows the token.");
  return error;
}

function replyAt(script: Reply | readonly Reply[], at: number): Reply {
  if (!isList(script)) return script;
  const reply = script[Math.min(at, script.length - 1)];
  if (reply === undefined) throw new Error("The script has no reply.");
  return reply;
}

function isList(script: Reply | readonly Reply[]): script is readonly Reply[] {
  return Array.isArray(script);
}
