import type { Agent, IncomingMessage } from "node:http";
import { ConfigError, KubeError, type KubeFailure } from "../../model/errors.ts";
import { type Progress, waitingFor } from "../../model/progress.ts";
import { nextTryMs, TRIES } from "../../model/waits.ts";
import type { Clock } from "../../ports/system.ts";
import { createAgent } from "../http/agents.ts";
import { openRequest, type Request, readBody } from "../http/request.ts";
import { type Answer, type Call, type Connection, optional, RESOURCES, type Receive } from "./call.ts";
import { Credentials, type LoginFacts } from "./credentials.ts";
import {
  callFailure,
  codeOf,
  isMistrusted,
  isRefusedCertificate,
  networkFailure,
  outage,
  serverMoved,
} from "./failures.ts";

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
  /** Is told while a call is under way. */
  readonly progress?: Progress;
}

/**
 * Asked when a repeat is refused although an earlier try, whose answer was lost, may have taken effect: the object as stored
 * when it carries what was sent, else undefined.
 */
export type Confirmation = (refusal: KubeError) => Promise<Answer | undefined>;

/** What a caller does about one call. */
interface SendOptions {
  readonly confirm?: Confirmation | undefined;
  readonly receive?: Receive | undefined;
}

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
  #hasAnswered = false;

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

  /** Local time, by which it waits. */
  get clock(): Clock {
    return this.#options.clock;
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

  /** Finds the credentials that the first call needs, so that an exec plugin takes none of its time. @throws ConfigError when there are none */
  async logIn(): Promise<void> {
    await waitingFor(this.#options.progress, { kind: "cluster" }, () => this.#credentials.current());
  }

  /**
   * The answer of a call that succeeded. Time an exec plugin takes at first is not part of the deadline.
   * @throws KubeError for refusals and missing answers; ConfigError for certificates and credentials that cannot be used, before the server has answered anything.
   *   What it has answered once it may answer again, once somebody has replaced a file: then they are a KubeError `unavailable`.
   */
  send(call: Call, how: SendOptions = {}): Promise<Answer> {
    return waitingFor(this.#options.progress, { kind: "cluster" }, () => this.#send(call, how));
  }

  /** As {@link send}; whatever it is made to send leaves as a GET without a body. */
  read({ path, verb, resource, subject, accept }: Call, receive?: Receive): Promise<Answer> {
    return this.send({ method: "GET", path, verb, resource, subject, ...optional("accept", accept) }, { receive });
  }

  async #send(call: Call, { confirm, receive }: SendOptions): Promise<Answer> {
    const { clock } = this.#options;
    try {
      await this.#credentials.current();
    } catch (error) {
      throw this.#inTerms(call, error);
    }
    const timeoutMs = this.#allowedMs();
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const signal = AbortSignal.timeout(timeoutMs);
    for (let repeats = 0; ; repeats++) {
      const end = await this.#try(call, signal, receive);
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
      const over = AbortSignal.any([signal, headless.signal]);
      const response = await this.#openLoggedIn(call, this.#watchAgents, over);
      if (response.statusCode === 200) return response;
      throw callFailure(call, await answerOf(response), this.connection);
    } catch (error) {
      if (error instanceof KubeError) throw error;
      const timedOutAfterMs = headless.signal.aborted ? this.#timeoutMs : undefined;
      throw this.#inTerms(call, networkFailure(call, this.connection, error, timedOutAfterMs));
    } finally {
      clearTimeout(timer);
    }
  }

  #allowedMs(): number {
    const { clock, untilMs = Number.POSITIVE_INFINITY } = this.#options;
    return Math.min(this.#timeoutMs, Math.max(SHORTEST_MS, Math.ceil(untilMs - clock.monotonicMs())));
  }

  async #try(call: Call, signal: AbortSignal, receive: Receive | undefined): Promise<TryEnd> {
    const agents = call.resource === RESOURCES.leases ? this.#leaseAgents : this.#agents;
    try {
      return { answer: await answerOf(await this.#openLoggedIn(call, agents, signal), receive) };
    } catch (error) {
      return { error };
    }
  }

  /**
   * The head of an answer. After a 401, and where one side does not accept the other's certificate, the call is sent once more with fresh credentials: they come
   * first, so nothing has been done, even by a POST.
   */
  async #openLoggedIn(call: Call, agents: Agents, signal: AbortSignal): Promise<IncomingMessage> {
    const login = await this.#credentials.current();
    const end = await this.#open(call, login, { agents, signal }).catch(unlessOfCertificates);
    const isRefused = !("error" in end);
    if (isRefused && end.statusCode !== 401) return end;
    const renewed = await this.#credentials.renewed(login, isRefused || isRefusedCertificate(end.error));
    if (renewed !== undefined) {
      if (isRefused) end.resume();
      return await this.#open(call, renewed, { agents, signal });
    }
    if (isRefused) return end;
    throw end.error;
  }

  /**
   * An error in the terms of a process that goes on. What is to be corrected in files passes where the server has answered before. What got no answer does not where the
   * kubeconfig names another server by now: that one may belong to another cluster, so nobody goes on there with what is known of this one.
   */
  #inTerms(call: Call, error: unknown): unknown {
    if (error instanceof ConfigError) return this.#hasAnswered ? outage(call, error) : error;
    const { movedTo } = this.#credentials;
    const isUnanswered = error instanceof KubeError && error.status === 0 && UNANSWERED.includes(error.failure);
    return isUnanswered && movedTo !== undefined ? serverMoved(this.connection, movedTo, error) : error;
  }

  async #open(
    call: Call,
    login: LoginFacts,
    over: { readonly agents: Agents; readonly signal: AbortSignal },
  ): Promise<IncomingMessage> {
    const agent = await over.agents.agentFor(login);
    const response = await openRequest(this.#request(call, login, { agent, signal: over.signal }));
    this.#serverClock.observe(response.headers.date);
    this.#hasAnswered = true;
    return response;
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
    if (stored === undefined) throw this.#inTerms(call, failure);
    return stored;
  }
}

const UNANSWERED: readonly KubeFailure[] = ["unavailable", "timeout"];

/** Certificates that cannot be used, or that one side does not accept. @throws every other error */
function unlessOfCertificates(error: unknown): { readonly error: unknown } {
  if (error instanceof ConfigError || isMistrusted(error) || isRefusedCertificate(error)) return { error };
  throw error;
}

/** The whole of an answer whose head has come. */
async function answerOf(response: IncomingMessage, receive?: Receive): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: await readBody(response, isGood(status) ? receive?.() : undefined) };
}

function isSuccess(end: TryEnd): end is { readonly answer: Answer } {
  return "answer" in end && isGood(end.answer.status);
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

function delayMs(call: Call, end: TryEnd, repeats: number): number | undefined {
  const how =
    "answer" in end
      ? { status: end.answer.status, retryAfter: end.answer.headers["retry-after"] }
      : { code: codeOf(end.error) };
  return repeatDelayMs(call.method, how, repeats, Math.random());
}

/** Of ordinary calls, and of those about the Lease. */
const MAX_SOCKETS = 8;
/** Idle connections are closed before a load balancer in between drops them: a POST must not meet a dead one. */
const IDLE_MS = 30_000;

/** The kept-alive connections to one API server: at most 8 unless told otherwise, made anew when certificates change. */
class Agents {
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

const MAX_RETRY_AFTER_MS = 10_000;
const STATUSES: readonly number[] = [429, 500, 502, 503, 504];
const CODES: readonly string[] = ["ECONNRESET", "EPIPE", "ECONNREFUSED"];

/** How a try ended: with a status that is no success, or without an answer. */
type FailedTry = { readonly status: number; readonly retryAfter: string | undefined } | { readonly code: string };

/**
 * How long to wait before the same call may be sent again, in milliseconds; undefined when it must not be: a POST is not
 * idempotent, other failures do not pass by themselves, and three repeats are enough.
 * @param repeats how often this call has been repeated.
 * @param random from 0 to 1: clients that failed together do not come back together.
 */
export function repeatDelayMs(
  method: Call["method"],
  end: FailedTry,
  repeats: number,
  random: number,
): number | undefined {
  const backoffMs = nextTryMs(TRIES.clusterCall, repeats, random);
  if (method === "POST" || backoffMs === undefined) return undefined;
  const isPassing = "code" in end ? CODES.includes(end.code) : STATUSES.includes(end.status);
  if (!isPassing) return undefined;
  const asked = "code" in end ? undefined : retryAfterMs(end.retryAfter);
  return asked === undefined
    ? backoffMs
    : Math.min(asked, MAX_RETRY_AFTER_MS) + (nextTryMs(TRIES.clusterCall, 0) ?? 0) * random;
}

/** `Retry-After` in seconds, the form Kubernetes sends; undefined for a date or nothing. */
function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}

const RESOLUTION_MS = 1000;
const TOLERANCE_MS = 1500;

/**
 * The API server's time, from the `Date` headers of its answers. They have whole seconds only, so local time is used while it
 * agrees with them to 1.5 s and keeps its milliseconds; otherwise the estimate is moved no further than the newest header asks.
 * Between answers time runs by the local monotonic clock, so a change of the local wall clock moves nothing.
 */
export class ServerClock {
  readonly #clock: Clock;
  #known: { readonly serverMs: number; readonly monotonicMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of an answer's `Date` header that has just arrived; anything unreadable is ignored. */
  observe(date: string | undefined): void {
    const headerMs = Date.parse(date ?? "");
    if (Number.isNaN(headerMs)) return;
    const latestMs = headerMs + RESOLUTION_MS - 1;
    const localMs = this.#clock.wallMs();
    const isLocalRight = localMs > headerMs - TOLERANCE_MS && localMs < latestMs + TOLERANCE_MS;
    const estimateMs = this.#known === undefined ? headerMs : this.nowMs();
    const serverMs = isLocalRight ? localMs : Math.min(Math.max(estimateMs, headerMs), latestMs);
    this.#known = { serverMs, monotonicMs: this.#clock.monotonicMs() };
  }

  /** Milliseconds since the epoch; local time before the first answer. */
  nowMs(): number {
    if (this.#known === undefined) return this.#clock.wallMs();
    return this.#known.serverMs + Math.round(this.#clock.monotonicMs() - this.#known.monotonicMs);
  }
}
