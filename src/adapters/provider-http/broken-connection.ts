import type { ProviderError } from "../../model/errors.ts";
import { ProxyFailure } from "../http/agents.ts";
import type { CallFacts } from "./call-facts.ts";
import { failedCall } from "./failed-call.ts";
import type { ProviderVoice } from "./provider-voice.ts";

/** Errors before a byte of the request was on the way: nothing can have taken effect. */
const unsentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** The error of a call whose connection failed or broke before the whole answer was there. */
export function brokenConnection(
  voice: ProviderVoice,
  call: CallFacts,
  error: unknown,
  redact: (text: string) => string,
): ProviderError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  const message = (cause instanceof Error ? cause.message : "") || code || "the connection failed";
  if (message === "unexpected redirect") {
    const reason = "a redirect, which is not followed; check the API's URL";
    // Whoever redirects may have passed the request on before.
    return failedCall(voice, call, { failure: "malformed", status: 0, reason, isAmbiguous: call.isWrite }, error);
  }
  const reason = redact(message).slice(0, 200);
  const isUnsent = (cause instanceof ProxyFailure && cause.isUnsent) || unsentCodes.has(code);
  const isAmbiguous = call.isWrite && !isUnsent;
  return failedCall(voice, call, { failure: "unavailable", status: 0, reason, isAmbiguous }, error);
}
