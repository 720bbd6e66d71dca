import type { IncomingMessage } from "node:http";
import { KubeError } from "../../model/errors.ts";
import type { Clock } from "../../ports/system.ts";
import { openRequest, type Request } from "../http/request.ts";
import { Agents } from "./agents.ts";
import { type Call, RESOURCES } from "./call.ts";
import { callFailure } from "./call-failure.ts";
import type { Connection } from "./connection.ts";
import { Credentials, type LoginFacts } from "./credentials.ts";
import { type Answer, exchange, readAnswer } from "./exchange.ts";
import { codeOf, networkFailure } from "./network-failure.ts";
import { repeatDelayMs } from "./repeat.ts";
import { ServerClock } from "./server-clock.ts";

const REQUEST_TIMEOUT_MS = 30_000;
/** What a call gets also at the end of a run, which gives its Lease back then. */
const SHORTEST_MS = 2000;

/** What the calls of one process have in common. */
export interface TransportOptions {
  /** flipop's version, for the User-Agent. */
  readonly version: string;
  readonly clock: Clock;
  /** Of one call with all its repeats, from the first byte sent to the last byte read; default 30 s. */
  readonly requestTimeoutMs?: number;
  /** How the kubeconfig describes the connection by now: credentials written in it are replaced, too. Absent = it stays as it is. */
  readonly reload?: () => Promise<Connection>;
  /** When the run must be over, in {@link Clock.monotonicMs}: calls are given up then, but never sooner than {@link SHORTEST_MS} after they began. */
  readonly untilMs?: number;
}

/**
 * Asked when a repeat is refused although an earlier try, whose answer was lost, may have taken effect: the object as stored
 * when it carries what was sent, else undefined.
 */
export type Confirmation = (refusal: KubeError) => Promise<Answer | undefined>;

type TryEnd = { readonly answer: Answer } | { readonly error: unknown };

/**
 * Sends calls to one API server over kept-alive connections: finds credentials (fresh ones after a 401, once per call), holds
 * one deadline over a call and its repeats, repeats what is idempotent and passing, and turns every failure into one error
 * with a clear text. Also keeps the server's time.
 */
export class Transport {
  readonly connection: Connection;
  readonly #options: TransportOptions;
  readonly #timeoutMs: number;
  readonly #credentials: Credentials;
  readonly #agents: Agents;
  /** Watches keep their connections for minutes; ordinary calls do not wait for them. */
  readonly #watchAgents: Agents;
  /** The Lease is renewed while other calls wait for a slow API server: behind them a leader would lose it. */
  readonly #leaseAgents: Agents;
  readonly #serverClock: ServerClock;

  constructor(connection: Connection, options: TransportOptions) {
    this.connection = connection;
    this.#options = options;
    this.#timeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#credentials = new Credentials(connection, options.clock, options.reload);
    this.#agents = new Agents(connection);
    this.#watchAgents = new Agents(connection, Number.POSITIVE_INFINITY);
    this.#leaseAgents = new Agents(connection);
    this.#serverClock = new ServerClock(options.clock);
  }

  /** The API server's time, milliseconds since the epoch. */
  nowMs(): number {
    return this.#serverClock.nowMs();
  }

  /** Closes idle connections; the transport stays usable. */
  close(): void {
    this.#agents.close();
    this.#watchAgents.close();
    this.#leaseAgents.close();
  }

  /**
   * The answer of a call that succeeded. Time an exec plugin takes at first is not part of the deadline.
   * @throws KubeError for refusals and missing answers; ConfigError for certificates and credentials that cannot be used.
   */
  async send(call: Call, confirm?: Confirmation): Promise<Answer> {
    const { clock } = this.#options;
    await this.#credentials.current();
    const timeoutMs = this.#allowedMs();
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const signal = AbortSignal.timeout(timeoutMs);
    for (let repeats = 0; ; repeats++) {
      const end = await this.#try(call, signal);
      if (isSuccess(end)) return end.answer;
      const timedOutAfterMs = signal.aborted ? timeoutMs : undefined;
      const waitMs = timedOutAfterMs === undefined ? delayMs(call, end, repeats) : undefined;
      if (waitMs === undefined || clock.monotonicMs() + waitMs >= deadlineMs)
        return await this.#refuse(call, end, { timedOutAfterMs, repeats, confirm });
      await clock.sleep(waitMs, signal);
    }
  }

  /**
   * Opens a call whose answer goes on for long, never repeated: resolves with the head of a successful answer, whose body is the caller's to read. The signal ends it
   * at any time. Until the head has come, the deadline is that of any call. Errors as {@link send}.
   */
  async open(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
    const headless = new AbortController();
    const timer = setTimeout(() => headless.abort(), this.#timeoutMs);
    try {
      const response = await this.#openOnceOrTwice(call, AbortSignal.any([signal, headless.signal]));
      if (response.statusCode === 200) return response;
      throw callFailure(call, await readAnswer(response), this.connection);
    } catch (error) {
      if (error instanceof KubeError) throw error;
      throw networkFailure(call, this.connection, error, headless.signal.aborted ? this.#timeoutMs : undefined);
    } finally {
      clearTimeout(timer);
    }
  }

  async #openOnceOrTwice(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
    const login = await this.#credentials.current();
    const response = await this.#openExchange(call, login, signal);
    if (response.statusCode !== 401) return response;
    const renewed = await this.#credentials.renewed(login);
    if (renewed === undefined) return response;
    response.destroy();
    return await this.#openExchange(call, renewed, signal);
  }

  async #openExchange(call: Call, login: LoginFacts, signal: AbortSignal): Promise<IncomingMessage> {
    const agent = await this.#watchAgents.agentFor(login);
    const response = await openRequest(this.#request(call, login, { agent, signal }));
    this.#serverClock.observe(response.headers.date);
    return response;
  }

  #allowedMs(): number {
    const { clock, untilMs = Number.POSITIVE_INFINITY } = this.#options;
    return Math.min(this.#timeoutMs, Math.max(SHORTEST_MS, Math.ceil(untilMs - clock.monotonicMs())));
  }

  async #try(call: Call, signal: AbortSignal): Promise<TryEnd> {
    try {
      const login = await this.#credentials.current();
      const answer = await this.#exchange(call, login, signal);
      if (answer.status !== 401) return { answer };
      // The server looks at credentials first, so nothing has been done: even a POST may be sent again.
      const renewed = await this.#credentials.renewed(login);
      return { answer: renewed === undefined ? answer : await this.#exchange(call, renewed, signal) };
    } catch (error) {
      return { error };
    }
  }

  async #exchange(call: Call, login: LoginFacts, signal: AbortSignal): Promise<Answer> {
    const agents = call.resource === RESOURCES.leases ? this.#leaseAgents : this.#agents;
    const agent = await agents.agentFor(login);
    const answer = await exchange(this.#request(call, login, { agent, signal }));
    this.#serverClock.observe(answer.headers.date);
    return answer;
  }

  #request(call: Call, login: LoginFacts, over: Pick<Request, "agent" | "signal">): Request {
    const type = call.method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    return {
      url: new URL(this.connection.server + call.path),
      method: call.method,
      headers: {
        ...login.headers,
        Accept: call.accept ?? "application/json",
        "User-Agent": `flipop/${this.#options.version}`,
        ...(body === undefined ? {} : { "Content-Type": type }),
      },
      body,
      tls: login.tls,
      proxy: this.connection.proxy,
      ...over,
    };
  }

  async #refuse(
    call: Call,
    end: TryEnd,
    circumstances: {
      readonly timedOutAfterMs: number | undefined;
      readonly repeats: number;
      readonly confirm: Confirmation | undefined;
    },
  ): Promise<Answer> {
    const failure =
      "answer" in end
        ? callFailure(call, end.answer, this.connection)
        : networkFailure(call, this.connection, end.error, circumstances.timedOutAfterMs);
    const isConfirmable = failure instanceof KubeError && circumstances.repeats > 0;
    const stored = isConfirmable ? await circumstances.confirm?.(failure) : undefined;
    if (stored === undefined) throw failure;
    return stored;
  }
}

function isSuccess(end: TryEnd): end is { readonly answer: Answer } {
  return "answer" in end && end.answer.status >= 200 && end.answer.status < 300;
}

function delayMs(call: Call, end: TryEnd, repeats: number): number | undefined {
  const how =
    "answer" in end
      ? { status: end.answer.status, retryAfter: end.answer.headers["retry-after"] }
      : { code: codeOf(end.error) };
  return repeatDelayMs(call.method, how, repeats, Math.random());
}
