import type { Agent } from "node:http";
import type { RequestOptions } from "node:https";
import { ConfigError } from "../../model/errors.ts";
import type { Connection } from "./connection.ts";
import type { TLSMaterial } from "./credentials.ts";

/**
 * What only client-node can make: the agent for a kubeconfig's `proxy-url` (HTTP, HTTPS or SOCKS) and the Authorization
 * header of a legacy `auth-provider`. Loads client-node, 0.4 s and 80 MB (2.0.1, measured 2026-08), so it is called for such
 * connections only. May call an identity provider.
 * @throws ConfigError when the provider gives no credentials.
 */
export async function delegate(
  connection: Connection,
  tls: TLSMaterial,
): Promise<{ readonly agent?: Agent; readonly authorization?: string }> {
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const kubeConfig = new KubeConfig();
  const { authProvider } = connection.user;
  const isHTTP = connection.server.startsWith("http:");
  kubeConfig.loadFromOptions({
    clusters: [
      {
        name: "cluster",
        server: connection.server,
        // client-node refuses http:// without it, and there is nothing to verify there.
        skipTLSVerify: connection.tls.isInsecure || isHTTP,
        ...(tls.ca === undefined ? {} : { caData: base64(tls.ca) }),
        ...(tls.servername === undefined ? {} : { tlsServerName: tls.servername }),
        ...(connection.proxyURL === undefined ? {} : { proxyUrl: connection.proxyURL }),
      },
    ],
    users: [
      {
        name: "user",
        ...(tls.cert === undefined ? {} : { certData: base64(tls.cert) }),
        ...(tls.key === undefined ? {} : { keyData: base64(tls.key) }),
        ...(authProvider === undefined ? {} : { authProvider: structuredClone(authProvider) }),
      },
    ],
    contexts: [{ name: "context", cluster: "cluster", user: "user" }],
    currentContext: "context",
  });
  const options: RequestOptions = {};
  try {
    await kubeConfig.applyToHTTPSOptions(options);
  } catch (error) {
    throw refused(connection, error);
  }
  const authorization = new Headers(options.headers as Record<string, string>).get("authorization");
  if (authProvider !== undefined && authorization === null) throw refused(connection, undefined);
  return {
    ...(connection.proxyURL === undefined ? {} : { agent: options.agent as Agent }),
    ...(authorization === null ? {} : { authorization }),
  };
}

function base64(pem: string): string {
  return Buffer.from(pem).toString("base64");
}

/** The provider's own text is left out: it may quote tokens. */
function refused(connection: Connection, cause: unknown): ConfigError {
  const provider = String(connection.user.authProvider?.["name"] ?? "proxy-url");
  return new ConfigError(
    "invalid",
    `Cannot use "${provider}" of ${connection.source}. Log in again, or replace the auth-provider by an exec plugin.`,
    { cause },
  );
}
