import { formatTime } from "../model/time.ts";
import { FaultList, type FaultSource, type SandboxServerName } from "./faults.ts";
import { type RecordedCall, type SandboxReply, type SandboxRequest, type SandboxServer, serve } from "./http-server.ts";
import type { Exclusively, Save } from "./one-at-a-time.ts";
import { YAMLFile } from "./yaml-file.ts";

/** Where an emulated account is kept, and its surroundings. */
export interface ProviderOptions {
  /** Path of its YAML file; made when it does not exist. Without it the account lives in memory. */
  readonly file?: string;
  /** What a new account holds; as short as a person would write it. Ignored when the file exists. */
  readonly state?: unknown;
  /** Default: none. */
  readonly faults?: FaultSource;
  /** Milliseconds since the epoch; the account's only clock. */
  readonly now: () => number;
  readonly onCall?: ((call: RecordedCall) => void) | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Runs what is done for a request, and waits its turn for that; default: at once. */
  readonly exclusively?: Exclusively | undefined;
  /** Is asked for the file to be written; default: it is written at once. */
  readonly save?: Save | undefined;
}

/** How the file of an account is read and written. */
interface AccountForm<S> {
  /** Comment at the head of a new file. */
  readonly header: string;
  /** Returns the whole state for what a person wrote. @throws BadValue */
  readonly complete: (input: unknown) => S;
  /** The order in which the file shows the state; default: as it is. */
  readonly encode?: (state: S) => unknown;
}

/**
 * The state of an emulated account, plain and serialisable, and the file that holds exactly it. The file is read again when a
 * person changed it.
 */
export class Account<S extends object> {
  /** May be changed in place between requests. */
  state: S;
  readonly #file: YAMLFile<S> | undefined;
  readonly #complete: (input: unknown) => S;
  readonly #initial: unknown;
  readonly #save: Save;

  /** @throws ConfigError naming the file when it cannot be read; BadValue when `state` is invalid */
  constructor(options: ProviderOptions, { complete, ...form }: AccountForm<S>) {
    this.#complete = complete;
    this.#initial = options.state;
    this.#save = options.save ?? ((write) => write());
    this.#file = options.file === undefined ? undefined : new YAMLFile<S>(options.file, { ...form, decode: complete });
    this.state = this.#file?.load() ?? complete(options.state);
    this.save();
  }

  /** Takes over what a person wrote into the file. @throws ConfigError when that is invalid */
  refresh(): void {
    if (this.#file?.changedSinceLoad() === true) this.state = this.#file.load() ?? this.#complete(this.#initial);
  }

  /** Changes the state behind everybody's back, as a person does in the file. @throws BadValue, and then changes nothing */
  edit(change: (state: S) => void): void {
    this.refresh();
    const draft = structuredClone(this.state);
    change(draft);
    this.state = this.#complete(draft);
    this.save();
  }

  /** Has the file written if something changed. */
  save(): void {
    if (this.#file?.isOther(this.state) === true) this.#save(this.#write);
  }

  /** What a person has written meanwhile stays. */
  readonly #write = (): void => {
    this.refresh();
    this.#file?.save(this.state);
  };
}

/** Serves an emulated account on loopback, with its faults. */
export function serveProvider(
  server: SandboxServerName,
  options: ProviderOptions,
  handle: (request: SandboxRequest) => SandboxReply,
): Promise<SandboxServer> {
  return serve({ ...options, server, handle, faults: options.faults ?? new FaultList() });
}

/** An answer of an emulated API that is not a success, with the words of that API. */
export class Refusal extends Error {
  override readonly name: string = "Refusal";
  readonly status: number;
  /** The API's own word or number for it. */
  readonly code: string | number;
  /** Seconds, for the `retry-after` header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string | number, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** `retry-after`, when the API sends one. */
  get headers(): Readonly<Record<string, string>> {
    return this.retryAfterSeconds === undefined ? {} : { "retry-after": String(this.retryAfterSeconds) };
  }
}

/** One operation of an API; the groups of the path are its parts. */
export type Route<Call, Answer> = readonly [
  method: string,
  path: RegExp,
  answer: (call: Call, ...parts: string[]) => Answer,
];

/** Answers a call by the first route that fits; undefined when none does. */
export function answerByRoute<Call, Answer>(
  routes: readonly Route<Call, Answer>[],
  { method, path }: Pick<SandboxRequest, "method" | "path">,
  call: Call,
): Answer | undefined {
  for (const [routeMethod, pattern, answer] of routes) {
    const found = routeMethod === method ? pattern.exec(path) : null;
    if (found !== null) return answer(call, ...found.slice(1));
  }
  return undefined;
}

/** One page of a list. */
interface Page<T> {
  readonly items: readonly T[];
  /** From 1. */
  readonly page: number;
  readonly size: number;
  readonly total: number;
  readonly pages: number;
}

/** The page that `page` (from 1) and `per_page` ask for. What lies outside is brought inside; a page after the last is empty. */
export function pageOf<T>(
  items: readonly T[],
  query: URLSearchParams,
  sizes: { readonly usual: number; readonly most: number },
): Page<T> {
  const size = within(query.get("per_page"), sizes.usual, sizes.most);
  const page = within(query.get("page"), 1, Number.MAX_SAFE_INTEGER);
  const total = items.length;
  return { items: items.slice((page - 1) * size, page * size), page, size, total, pages: Math.ceil(total / size) };
}

function within(text: string | null, fallback: number, most: number): number {
  const number = text === null || !/^\d+$/.test(text) ? fallback : Number(text);
  return Math.min(most, Math.max(1, number));
}

/** When requests were made, by whatever they are counted by. Lives in memory only: a new process starts afresh. */
export class RequestTimes {
  readonly #times = new Map<string, number[]>();
  readonly #windowMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The requests of the window, oldest first, milliseconds since the epoch; a new one is pushed to it. */
  of(key: string, nowMs: number): number[] {
    const times = this.#times.get(key) ?? [];
    this.#times.set(key, times);
    const live = times.findIndex((time) => time > nowMs - this.#windowMs);
    times.splice(0, live === -1 ? times.length : live);
    return times;
  }
}

/** JSON as an API sends it. */
export type APIObject = Readonly<Record<string, unknown>>;

/** The members of a JSON object in a request; undefined for anything else. */
export function membersOf(value: unknown): APIObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as APIObject) : undefined;
}

/** RFC 3339 in UTC, with milliseconds when there are some. */
export function timeText(ms: number): string {
  return formatTime(ms).replace(".000Z", "Z");
}

/** The token of an `Authorization: Bearer` header; undefined when there is none. */
export function bearerToken({ headers }: Pick<SandboxRequest, "headers">): string | undefined {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(headers["authorization"] ?? "")?.[1];
}
