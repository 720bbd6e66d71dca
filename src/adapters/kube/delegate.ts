import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node/dist/config.js";
import { ConfigError } from "../../model/errors.ts";
import type { TLSFacts } from "../http/agents.ts";
import type { Connection } from "./connection.ts";

/**
 * Makes the Authorization header of a legacy `auth-provider`, which only client-node can. Only such connections use it: client-node takes 0.4 s and 80 MB to load
 * (2.0.1, measured 2026-08). One instance serves a connection: it holds refreshed OIDC tokens.
 */
export class Delegate {
  readonly #connection: Connection;
  #made: { readonly kubeConfig: KubeConfig; readonly fingerprint: string } | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The header for now; may call an identity provider. @throws ConfigError when the provider gives no credentials. */
  async authorization(tls: TLSFacts): Promise<string> {
    const options: RequestOptions = {};
    try {
      await (await this.#kubeConfig(tls)).applyToHTTPSOptions(options);
    } catch (error) {
      throw refused(this.#connection, error);
    }
    const header = new Headers(options.headers as Record<string, string>).get("authorization");
    if (header === null) throw refused(this.#connection, undefined);
    return header;
  }

  /** client-node keeps an agent for ever, so certificates that change need a new KubeConfig. */
  async #kubeConfig(tls: TLSFacts): Promise<KubeConfig> {
    const fingerprint = JSON.stringify(tls);
    if (this.#made?.fingerprint !== fingerprint) {
      const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
      const kubeConfig = new KubeConfig();
      const user = this.#made?.kubeConfig.getCurrentUser()?.authProvider ?? this.#connection.user.authProvider;
      kubeConfig.loadFromOptions(optionsOf(this.#connection, tls, structuredClone(user)));
      this.#made = { kubeConfig, fingerprint };
    }
    return this.#made.kubeConfig;
  }
}

function optionsOf(connection: Connection, tls: TLSFacts, authProvider: unknown): object {
  const { server } = connection;
  return {
    clusters: [
      {
        name: "cluster",
        server,
        // client-node refuses http:// without it, and there is nothing to verify there.
        skipTLSVerify: connection.tls.isInsecure || server.startsWith("http:"),
        ...(tls.ca === undefined ? {} : { caData: base64(tls.ca) }),
        ...(tls.servername === undefined ? {} : { tlsServerName: tls.servername }),
      },
    ],
    users: [
      {
        name: "user",
        ...(tls.cert === undefined ? {} : { certData: base64(tls.cert) }),
        ...(tls.key === undefined ? {} : { keyData: base64(tls.key) }),
        ...(authProvider === undefined ? {} : { authProvider }),
      },
    ],
    contexts: [{ name: "context", cluster: "cluster", user: "user" }],
    currentContext: "context",
  };
}

function base64(pem: string): string {
  return Buffer.from(pem).toString("base64");
}

/** The provider's own text is left out: it may quote tokens. */
function refused(connection: Connection, cause: unknown): ConfigError {
  const provider = String(connection.user.authProvider?.["name"] ?? "");
  return new ConfigError(
    "invalid",
    `Cannot use "${provider}" of ${connection.source}. Log in again, or replace the auth-provider by an exec plugin.`,
    { cause },
  );
}
