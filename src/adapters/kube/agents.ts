import type { Agent } from "node:http";
import { ConfigError } from "../../model/errors.ts";
import { createAgent } from "../http/agents.ts";
import type { Connection } from "./connection.ts";
import type { LoginFacts } from "./credentials.ts";

/** Of ordinary calls, and of those about the Lease. */
const MAX_SOCKETS = 8;
/** Idle connections are closed before a load balancer in between drops them: a POST must not meet a dead one. */
const IDLE_MS = 30_000;

/** The kept-alive connections to one API server: at most 8 unless told otherwise, made anew when certificates change. */
export class Agents {
  readonly #connection: Connection;
  readonly #maxSockets: number;
  #current: { readonly agent: Promise<Agent>; readonly fingerprint: string } | undefined;

  constructor(connection: Connection, maxSockets: number = MAX_SOCKETS) {
    this.#connection = connection;
    this.#maxSockets = maxSockets;
  }

  /** The agent for these credentials. @throws ConfigError when a certificate or key in them cannot be used. */
  async agentFor(login: LoginFacts): Promise<Agent> {
    const fingerprint = JSON.stringify(login.tls);
    if (this.#current?.fingerprint !== fingerprint) {
      this.close();
      this.#current = { agent: this.#create(login), fingerprint };
    }
    return await this.#current.agent;
  }

  /** Closes the idle connections; calls in flight end as they would. */
  close(): void {
    this.#current?.agent.then(closeIdle, () => undefined);
    this.#current = undefined;
  }

  async #create({ tls }: LoginFacts): Promise<Agent> {
    const { server, source, proxy } = this.#connection;
    const { protocol } = new URL(server);
    try {
      return await createAgent({ protocol, tls, proxy, maxSockets: this.#maxSockets, idleMs: IDLE_MS });
    } catch (error) {
      throw new ConfigError(
        "invalid",
        `Cannot use the certificates of ${source}: ${(error as NodeJS.ErrnoException).code ?? "unreadable"}. ` +
          "Check that the authority, the client certificate and its key are PEM and belong together.",
        { cause: error },
      );
    }
  }
}

function closeIdle({ freeSockets }: Agent): void {
  for (const sockets of Object.values(freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
