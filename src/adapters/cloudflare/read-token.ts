import type { ProviderError } from "../../model/errors.ts";
import type { CallFacts } from "./call.ts";
import type { CloudflareOptions } from "./cloudflare-options.ts";
import { providerError } from "./provider-failure.ts";

/**
 * The token for one request, without the line end that files bring along.
 * @throws ProviderError `unauthorized` when it cannot be had or no header could carry it; never shows the token
 */
export async function readToken(call: CallFacts, source: CloudflareOptions["token"]): Promise<string> {
  let token: string;
  try {
    token = (typeof source === "string" ? source : await source()).trim();
  } catch (error) {
    throw refused(call, `it could not be read: ${error instanceof Error ? error.message : "unknown reason"}`, error);
  }
  if (token === "") throw refused(call, "it is empty");
  if (!/^[\x21-\x7e]+$/.test(token)) throw refused(call, "it has spaces or characters that no token has");
  return token;
}

function refused(call: CallFacts, reason: string, cause?: unknown): ProviderError {
  return providerError(call, { failure: "unauthorized", status: 0, reason }, cause);
}
