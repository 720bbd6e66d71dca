import { providerError as cloudflareError } from "../../src/adapters/cloudflare/api.ts";
import { providerError as digitalOceanError } from "../../src/adapters/digitalocean/api.ts";
import { providerError as hetznerError } from "../../src/adapters/hetzner/api.ts";
import { webhookError } from "../../src/adapters/webhook/api.ts";
import type { ProviderError } from "../../src/model/errors.ts";
import type { DNSName } from "./dns-account.ts";

/** Makes the error of a call, as the adapter of one provider does. */
export type MakeError = (...facts: Parameters<typeof cloudflareError>) => ProviderError;

/** How the adapter of each provider of DNS makes the error of a call. */
export const DNS_ERRORS: Readonly<Record<DNSName, MakeError>> = {
  digitalocean: digitalOceanError,
  cloudflare: cloudflareError,
  hetzner: hetznerError,
  webhook: (...facts) => webhookError("webhook", ...facts),
};
