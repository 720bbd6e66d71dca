import type { DigitalOceanOptions } from "../../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { ProviderError } from "../../../src/model/errors.ts";
import type { IPProvider, ProviderMeter } from "../../../src/ports/providers.ts";
import { providerFailureOf } from "../http/provider-failure-of.ts";
import { type ReplyScript, replyFunction } from "../http/reply-script.ts";
import { type Received, type Reply, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

/** The token every test uses; no text may ever show it. */
export const token = "dop_v1_0123456789abcdef";

/** The adapter and the server it talks to. */
export interface Stage {
  readonly provider: IPProvider & ProviderMeter;
  /** The port of IPv6 addresses of the same token. */
  readonly ipv6: IPProvider & ProviderMeter;
  readonly server: ScriptedServer;
}

/**
 * Runs a test against a scripted server.
 * @throws Error when a request or answer does not follow the API description
 */
export async function withServer(
  script: ReplyScript<Received, Reply>,
  body: (stage: Stage) => Promise<void>,
  options: Partial<DigitalOceanOptions> = {},
): Promise<void> {
  const server = await startScriptedServer(replyFunction(script));
  try {
    const { addresses: provider, addressesIPv6: ipv6 } = openDigitalOcean({
      token,
      baseURL: server.url,
      userAgent: "flipop/0 (test)",
      clock: SYSTEM_CLOCK,
      ...options,
    });
    await body({ provider, ipv6, server });
  } finally {
    await server.close();
  }
}

/** The ProviderError a call ends with, see providerFailureOf. */
export async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  return providerFailureOf(call, token);
}
