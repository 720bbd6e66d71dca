// What is thrown when a call got no complete answer. Texts: what failed, on what, why, what to do.
import { ConfigError, type KubeError } from "../../model/errors.ts";
import { ProxyFailure } from "../http/agents.ts";
import type { Call } from "./call.ts";
import { kubeError } from "./call-failure.ts";
import type { Connection } from "./connection.ts";

/** Codes of node:tls for a server certificate that does not hold (Node 24, verified 2026-08): why, and what to do. */
const CERTIFICATE_CODES: ReadonlyMap<string, readonly [string, string]> = new Map<string, readonly [string, string]>(
  Object.entries({
    CERT_HAS_EXPIRED: ["has expired", "Renew it, and check this machine's clock"],
    CERT_NOT_YET_VALID: ["is not valid yet", "Check this machine's clock"],
    CERT_REVOKED: ["was revoked", "Renew it"],
    CERT_UNTRUSTED: ["is not trusted", "Set the right certificate-authority"],
    DEPTH_ZERO_SELF_SIGNED_CERT: ["is self-signed and not trusted", "Set certificate-authority to it"],
    ERR_TLS_CERT_ALTNAME_INVALID: ["is for another host name", "Use a name it is made for, or set tls-server-name"],
    INVALID_CA: ["is signed by something that is no authority", "Set the right certificate-authority"],
    SELF_SIGNED_CERT_IN_CHAIN: ["is signed by an authority that is not trusted", "Set the right certificate-authority"],
    UNABLE_TO_GET_ISSUER_CERT: ["is signed by an unknown authority", "Set the right certificate-authority"],
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["is signed by an unknown authority", "Set the right certificate-authority"],
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["is signed by an unknown authority", "Set the right certificate-authority"],
  }),
);

/** Codes of node:net and node:dns: why, and what to do. */
const NETWORK_CODES: ReadonlyMap<string, readonly [string, string]> = new Map<string, readonly [string, string]>(
  Object.entries({
    ECONNREFUSED: [
      "nothing listens at SERVER (connection refused)",
      "Check that the API server runs and SOURCE is right",
    ],
    ECONNRESET: ["SERVER broke the connection before the answer was complete", "Try again"],
    EPIPE: ["SERVER closed the connection while the request was sent", "Try again"],
    ENOTFOUND: ["the host name of SERVER is not known to DNS", "Check the server of SOURCE, and the network"],
    EAI_AGAIN: ["DNS does not answer for the host of SERVER", "Check the network"],
    ETIMEDOUT: ["SERVER cannot be reached (connection timed out)", "Check the network, VPN and firewall"],
    EHOSTUNREACH: ["there is no route to SERVER", "Check the network and VPN"],
    ENETUNREACH: ["there is no route to SERVER", "Check the network and VPN"],
    EPROTO: ["TLS with SERVER failed", "Check that the server of SOURCE is right, https:// or http:// included"],
  }),
);

/**
 * The error for a call that ended without a complete answer. Pure.
 * @returns ConfigError `invalid` when a certificate is the cause, KubeError `timeout` or `unavailable` otherwise.
 */
export function networkFailure(
  call: Call,
  connection: Connection,
  error: unknown,
  timedOutAfterMs: number | undefined,
): ConfigError | KubeError {
  if (error instanceof ConfigError) return error;
  if (timedOutAfterMs !== undefined) {
    const why = `no complete answer from ${connection.server} within ${(timedOutAfterMs / 1000).toFixed(1).replace(".0", "")} s`;
    const fix = "Try again, or allow more with --request-timeout.";
    return kubeError(call, "timeout", { status: 0, why, fix, cause: error });
  }
  if (error instanceof ProxyFailure) return proxyFailure(call, connection, error);
  const code = codeOf(error);
  const certificate = CERTIFICATE_CODES.get(code);
  if (certificate !== undefined) return certificateFailure(connection, certificate, error);
  if (/ALERT|CERTIFICATE_REQUIRED/.test(code)) return refusedByServer(connection, code, error);
  const isTLS = code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_");
  const [why, fix] = NETWORK_CODES.get(isTLS ? "EPROTO" : code) ?? [
    `the connection to SERVER failed (${code})`,
    "Try again",
  ];
  const fill = (text: string): string =>
    text
      .replace("SERVER", connection.server)
      .replace("SOURCE", connection.source)
      .concat(isTLS ? ` (${code})` : "");
  return kubeError(call, "unavailable", {
    status: 0,
    why: fill(why),
    fix: `${fix.replace("SOURCE", connection.source)}.`,
    cause: error,
  });
}

/** The error's `code`; its class when it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? code : error.name;
}

/** A refusal of the proxy (403, 407) stays until somebody changes a setting; other failures pass. */
function proxyFailure(call: Call, { server }: Connection, error: ProxyFailure): ConfigError | KubeError {
  if (error.status === 407 || error.status === 403) {
    const fix = "Correct its user and password, have it allow the server, or put the server into NO_PROXY.";
    return new ConfigError("invalid", `Cannot reach the API server ${server}: ${error.message}. ${fix}`, {
      cause: error,
    });
  }
  const fix = "Check that it runs and that its URL is right, or put the server into NO_PROXY.";
  return kubeError(call, "unavailable", { status: 0, why: error.message, fix, cause: error });
}

function certificateFailure(
  connection: Connection,
  [why, fix]: readonly [string, string],
  cause: unknown,
): ConfigError {
  const message = `Cannot trust the API server ${connection.server}: its certificate ${why}. ${fix} (${connection.source}).`;
  return new ConfigError("invalid", message, { cause });
}

function refusedByServer(connection: Connection, code: string, cause: unknown): ConfigError {
  const message =
    `The API server ${connection.server} refuses the TLS connection (${code}): it wants a client certificate that is valid. ` +
    `Renew the client certificate of ${connection.source}.`;
  return new ConfigError("invalid", message, { cause });
}
