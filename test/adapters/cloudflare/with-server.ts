import type { CloudflareOptions } from "../../../src/adapters/cloudflare/cloudflare-options.ts";
import { createCloudflare } from "../../../src/adapters/cloudflare/create-cloudflare.ts";
import { ProviderError } from "../../../src/model/errors.ts";
import type { DNSProvider, RecordSetState, Zone } from "../../../src/ports/dns-provider.ts";
import type { ProviderMeter } from "../../../src/ports/ip-provider.ts";
import { fqdn, zoneID } from "./api-objects.ts";
import { type Received, type Reply, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

/** The token every test uses; no text may ever show it. */
export const token = "cfut_0123456789abcdef0123456789abcdef";

/** The zone of the tests, found. */
export const zone: Zone = { id: zoneID, name: "example.com" };

/** The adapter and the server it talks to. */
export interface Stage {
  readonly provider: DNSProvider & ProviderMeter;
  readonly server: ScriptedServer;
  /** Reads the records of the tests' name. */
  read(): Promise<RecordSetState>;
  /** Writes them. */
  write(addresses: readonly string[], ttlSeconds?: number): Promise<RecordSetState>;
}

/** Runs a test against a scripted server: one reply for every request, a list in order (the last one stays), or a function. */
export async function withServer(
  script: Reply | readonly Reply[] | ((request: Received, at: number) => Reply),
  body: (stage: Stage) => Promise<void>,
  options: Partial<CloudflareOptions> = {},
): Promise<void> {
  const answer = typeof script === "function" ? script : (_: Received, at: number) => replyAt(script, at);
  const server = await startScriptedServer(answer);
  try {
    const baseURL = `${server.url}/client/v4`;
    const provider = createCloudflare({ token, baseURL, userAgent: "flipop/0 (test)", ...options });
    await body({
      provider,
      server,
      read: () => provider.readRecords(zone, fqdn),
      write: (addresses, ttlSeconds = 60) => provider.writeRecords(zone, fqdn, { addresses, ttlSeconds }),
    });
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
