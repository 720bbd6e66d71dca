import http, { type Agent } from "node:http";
import https from "node:https";
import { createSecureContext } from "node:tls";
import { ConfigError } from "../../model/errors.ts";
import type { Connection } from "./connection.ts";
import type { LoginFacts } from "./credentials.ts";

/** Of ordinary calls, and of those about the Lease. */
const MAX_SOCKETS = 8;
/** Idle connections are closed before a load balancer in between drops them: a POST must not meet a dead one. */
const IDLE_MS = 30_000;

/**
 * The kept-alive connections to one API server: at most 8 unless told otherwise, made anew when certificates change. A proxy's agent is taken as it
 * is, unpooled.
 */
export class Agents {
  readonly #connection: Connection;
  readonly #maxSockets: number;
  #current: { readonly agent: Agent; readonly fingerprint: string } | undefined;

  constructor(connection: Connection, maxSockets: number = MAX_SOCKETS) {
    this.#connection = connection;
    this.#maxSockets = maxSockets;
  }

  /** The agent for these credentials. @throws ConfigError when a certificate or key in them cannot be used. */
  agentFor(login: LoginFacts): Agent {
    if (login.agent !== undefined) return login.agent;
    const fingerprint = JSON.stringify(login.tls);
    if (this.#current?.fingerprint !== fingerprint) {
      this.close();
      this.#current = { agent: this.#create(login), fingerprint };
    }
    return this.#current.agent;
  }

  /** Closes the idle connections; calls in flight end as they would. */
  close(): void {
    for (const sockets of Object.values(this.#current?.agent.freeSockets ?? {})) {
      for (const socket of sockets ?? []) socket.destroy();
    }
    this.#current = undefined;
  }

  #create(login: LoginFacts): Agent {
    const options = { keepAlive: true, maxSockets: this.#maxSockets, timeout: IDLE_MS };
    if (this.#connection.server.startsWith("http:")) return new http.Agent(options);
    try {
      return new https.Agent({ ...options, ...login.tls, secureContext: createSecureContext(login.tls) });
    } catch (error) {
      throw new ConfigError(
        "invalid",
        `Cannot use the certificates of ${this.#connection.source}: ${(error as NodeJS.ErrnoException).code ?? "unreadable"}. ` +
          "Check that the authority, the client certificate and its key are PEM and belong together.",
        { cause: error },
      );
    }
  }
}
