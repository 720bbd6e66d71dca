import type { CloudflareOptions } from "../../../src/adapters/cloudflare/api.ts";
import { createCloudflare } from "../../../src/adapters/cloudflare/cloudflare.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { RecordSetState, Zone } from "../../../src/model/dns.ts";
import type { ProviderError } from "../../../src/model/errors.ts";
import type { DNSProvider, ProviderMeter, RecordSetResult } from "../../../src/ports/providers.ts";
import { providerFailureOf } from "../http/provider-failure-of.ts";
import { type ReplyScript, replyFunction } from "../http/reply-script.ts";
import { fqdn, zoneID } from "./api-objects.ts";
import { type Received, type Reply, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

/** The token every test uses; no text may ever show it. */
export const token = "cfut_0123456789abcdef0123456789abcdef";

/** The zone of the tests, found. */
export const zone: Zone = { id: zoneID, name: "example.com" };

/** What a write may say beside the addresses. */
export interface WriteTerms {
  readonly ttlSeconds?: number;
  readonly before?: readonly string[];
}

/** The adapter and the server it talks to. */
export interface Stage {
  readonly provider: DNSProvider & ProviderMeter;
  readonly server: ScriptedServer;
  /** Reads the records of the tests' name. */
  read(): Promise<RecordSetState>;
  /** Writes them: 60 s, and planned on no address, unless told otherwise. */
  write(addresses: readonly string[], more?: WriteTerms): Promise<RecordSetResult>;
}

/** Runs a test against a scripted server. */
export async function withServer(
  script: ReplyScript<Received, Reply>,
  body: (stage: Stage) => Promise<void>,
  options: Partial<CloudflareOptions> = {},
): Promise<void> {
  const server = await startScriptedServer(replyFunction(script));
  try {
    const baseURL = `${server.url}/client/v4`;
    const provider = createCloudflare({
      token,
      baseURL,
      userAgent: "flipop/0 (test)",
      clock: SYSTEM_CLOCK,
      ...options,
    });
    await body({
      provider,
      server,
      read: () => provider.readRecords(zone, fqdn),
      write: (addresses, { ttlSeconds = 60, before = [] } = {}) =>
        provider.writeRecords(zone, fqdn, { before, after: { addresses, ttlSeconds } }),
    });
  } finally {
    await server.close();
  }
}

/** The ProviderError a call ends with, see providerFailureOf. */
export async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  return providerFailureOf(call, token);
}
