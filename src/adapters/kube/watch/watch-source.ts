import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { KubeError } from "../../../model/errors.ts";
import { Cursor, openEnvelope } from "../../../model/protobuf.ts";
import type { Clock } from "../../../ports/system.ts";
import { type Answer, type Call, optional } from "../call.ts";
import { callFailure, kubeError, malformed, networkFailure } from "../failures.ts";
import { asNumber, asRecord, asText } from "../json.ts";
import { type Listing, type ListRequest, listObjects, type PagedRequest, type PageSource } from "../lists.ts";
import { decodeItem, type Fields, Marker, PROTOBUF_OR_JSON_EVENTS, STATUS_FIELDS } from "../protobuf.ts";
import type { Follower, WatchEvent, WatchSource } from "./reflector.ts";
import { identityOf, type ObservedVersion, packedIdentity } from "./watched-store.ts";

/** What a watch needs of a transport. */
export interface StreamSource extends PageSource {
  /** The head of a successful answer; see `Transport.open`. */
  readonly open: (call: Call, signal: AbortSignal) => Promise<IncomingMessage>;
  readonly clock: Clock;
  /** From 0 to 1, anew at each call. */
  readonly random: () => number;
}

/** The server ends a watch after five to six minutes, by chance, so that not all of them come back together. */
const LIFE_SECONDS = 300;
const JITTER_SECONDS = 60;
/** For the end to arrive after that. */
const LEEWAY_MS = 30_000;
/** A server that is there says something once a minute, if only a bookmark (kube-apiserver 1.35, verified 2026-08). */
const IDLE_MS = 150_000;

/** A list of an API server and its watch over HTTP. */
export class KubeWatchSource<T> implements WatchSource<T> {
  readonly #source: StreamSource;
  readonly #request: ListRequest<T>;
  readonly #marker = new Marker();

  constructor(source: StreamSource, request: ListRequest<T>) {
    this.#source = source;
    this.#request = request;
  }

  async list(known: (key: string, version: string) => T | undefined): Promise<Listing<ObservedVersion<T>>> {
    const project = (item: unknown, bytes?: Buffer): ObservedVersion<T> | undefined => {
      const identity = identityOf(item);
      if (identity === undefined) return undefined;
      const facts = known(identity.key, identity.version) ?? this.#request.project(item);
      return { ...identity, facts, ...this.#mark(bytes) };
    };
    return await listObjects(this.#source, { ...this.#request, project });
  }

  async newest(): Promise<string> {
    const request: PagedRequest<never> = { ...this.#request, pageSize: 1, isFirstPage: true, project: () => undefined };
    return (await listObjects(this.#source, request)).resourceVersion;
  }

  async watch(version: string, follower: Follower<T>): Promise<void> {
    const { clock, random, open, connection } = this.#source;
    const { signal } = follower;
    const seconds = LIFE_SECONDS + Math.floor(random() * JITTER_SECONDS);
    const call = this.#call(version, seconds);
    const idle = new IdleTimeout(clock, { idleMs: IDLE_MS, lifeMs: seconds * 1000 + LEEWAY_MS, signal });
    let refusal: { readonly error: unknown } | undefined;
    const take: Follower<T>["take"] = (events) => {
      try {
        follower.take(events);
      } catch (error) {
        refusal = { error };
        throw error;
      }
    };
    let response: IncomingMessage | undefined;
    try {
      response = await open(call, idle.signal);
      idle.hear();
      await this.#read(call, response, idle, { ...follower, take });
    } catch (error) {
      if (refusal !== undefined) throw refusal.error;
      if (signal.aborted) return;
      if (idle.firedAfterMs !== undefined) throw idleFailure(call, connection.server, idle.firedAfterMs);
      throw error instanceof KubeError ? error : networkFailure(call, connection, error, undefined);
    } finally {
      idle.end();
      response?.destroy();
    }
  }

  refuse(why: string, fix?: string): KubeError {
    return malformed(this.#call("", 0), this.#source.connection, {
      status: 200,
      why,
      ...(fix === undefined ? {} : { fix }),
    });
  }

  async #read(call: Call, response: IncomingMessage, idle: IdleTimeout, follower: Follower<T>): Promise<void> {
    const type = response.headers["content-type"] ?? "";
    const { fields } = this.#request;
    const isProtobuf = fields !== undefined && type.startsWith("application/vnd.kubernetes.protobuf");
    const broken = (why: string): KubeError =>
      malformed(call, this.#source.connection, { status: response.statusCode ?? 0, why });
    if (!isProtobuf && !type.startsWith("application/json")) throw broken(`the answer is ${type || "of no type"}`);
    follower.take([]);
    const splitter = new FrameSplitter(isProtobuf ? "lengths" : "lines");
    const read = isProtobuf
      ? (frame: Buffer) => this.#packedEvent(call, openEvent(frame), fields, follower.known)
      : (frame: Buffer) => this.#event(call, jsonEvent(frame));
    const events = (chunk: Buffer): readonly WatchEvent<T>[] =>
      orElse(
        () => splitter.push(chunk).map(read),
        () => broken("the answer is not a watch"),
      );
    await readChunks(response, (chunk) => {
      idle.hear();
      const told = events(chunk);
      // The length of a frame comes as a chunk of its own.
      if (told.length > 0) follower.take(told);
    });
    if (!splitter.isBetweenFrames) throw broken("the answer is cut off within an event");
  }

  /** An object that is as it was known to be, its version aside, is not read. */
  #packedEvent(call: Call, event: PackedEvent, fields: Fields, known: Follower<T>["known"]): WatchEvent<T> {
    const { atVersion } = this.#request;
    const mayBeKnown = event.type === "MODIFIED" && atVersion !== undefined;
    if (!mayBeKnown) return this.#event(call, readEvent(event, fields));
    const mark = this.#marker.markOf(event.message, fields);
    const identity = mark === undefined ? undefined : packedIdentity(event.message);
    const before = identity === undefined ? undefined : known(identity.key);
    if (identity === undefined || mark === undefined || before?.facts === undefined || before.mark !== mark)
      return this.#event(call, readEvent(event, fields), mark);
    return { kind: "changed", observed: { ...identity, facts: atVersion(before.facts, identity.version), mark } };
  }

  #event(call: Call, { type, object, refusal }: RawEvent, mark?: string): WatchEvent<T> {
    if (refusal !== undefined) return { kind: "failed", error: callFailure(call, refusal, this.#source.connection) };
    if (type === "BOOKMARK") return { kind: "bookmark", version: bookmarkVersion(object) };
    const identity = identityOf(object);
    if (identity === undefined) return { kind: "unknown", type };
    switch (type) {
      case "ADDED":
      case "MODIFIED":
        return {
          kind: "changed",
          observed: { ...identity, facts: this.#request.project(object), ...optional("mark", mark) },
        };
      case "DELETED":
        return { kind: "deleted", observed: { ...identity, facts: undefined } };
      default:
        return { kind: "unknown", type };
    }
  }

  #mark(bytes: Buffer | undefined): { readonly mark?: string } {
    const { fields, atVersion } = this.#request;
    if (bytes === undefined || fields === undefined || atVersion === undefined) return {};
    return optional("mark", this.#marker.markOf(bytes, fields));
  }

  #call(version: string, seconds: number): Call {
    const { resource, path, query, fields } = this.#request;
    const params = new URLSearchParams({
      ...query,
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(seconds),
      resourceVersion: version,
    });
    const call: Call = { method: "GET", path: `${path}?${params}`, verb: "watch", resource, subject: "" };
    return fields === undefined ? call : { ...call, accept: PROTOBUF_OR_JSON_EVENTS };
  }
}

function bookmarkVersion(object: unknown): string {
  return asText(asRecord(asRecord(object)?.["metadata"])?.["resourceVersion"]) ?? "";
}

function idleFailure(call: Call, server: string, ms: number): KubeError {
  const why = `nothing came from ${server} for ${ms / 1000} s`;
  return kubeError(call, "timeout", { status: 0, why, fix: "Check the network and what stands in between." });
}

function orElse<T>(work: () => T, otherwise: () => KubeError): T {
  try {
    return work();
  } catch {
    throw otherwise();
  }
}

/** One event as it arrived, its object in the shape of its JSON as far as it is read. */
export interface RawEvent {
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK`, `ERROR`, or what a later API may say. */
  readonly type: string;
  readonly object: unknown;
  /** Of an ERROR: its Status as an answer, for texts. */
  readonly refusal?: Answer;
}

const NO_STATUS = 500;
/** Fields of a `WatchEvent`, and of the `RawExtension` in it (generated.proto of k8s.io/apimachinery v0.35.4, verified 2026-11). */
const TYPE = 1;
const OBJECT = 2;
const RAW = 1;

/** Reads a line of a watch in JSON. @throws Error when it is no event */
export function jsonEvent(frame: Buffer): RawEvent {
  const event = asRecord(JSON.parse(frame.toString("utf8")));
  const type = asText(event?.["type"]);
  const object = asRecord(event?.["object"]);
  if (type === undefined || object === undefined) throw new Error("no event");
  if (type !== "ERROR") return { type, object };
  return { type, object, refusal: refusal(object, Buffer.from(JSON.stringify(object))) };
}

/** One event in protobuf, its object unread. */
interface PackedEvent {
  /** As {@link RawEvent} has it. */
  readonly type: string;
  /** The object as the answer wraps it, and without. */
  readonly raw: Buffer;
  readonly message: Buffer;
}

/** Opens a frame of a watch in protobuf: a `WatchEvent` whose object is wrapped as any answer is. @throws Error when it is no event */
export function openEvent(frame: Buffer): PackedEvent {
  const event = new Cursor(frame, 0, frame.length);
  const type = event.find(TYPE)?.text() ?? "";
  const raw = event.find(OBJECT)?.find(RAW)?.rest();
  const envelope = raw === undefined ? undefined : openEnvelope(raw);
  if (type === "" || raw === undefined || envelope === undefined) throw new Error("no event");
  return { type, raw, message: envelope.message };
}

/** Reads an event; its object may be unreadable in parts. @param fields what is read of the object. */
export function readEvent({ type, raw, message }: PackedEvent, fields: Fields): RawEvent {
  if (type !== "ERROR") return { type, object: decodeItem(message, fields) };
  const object = decodeItem(message, STATUS_FIELDS);
  return { type, object, refusal: refusal(object, raw) };
}

function refusal(status: Readonly<Record<string, unknown>>, body: Buffer): Answer {
  return { status: asNumber(status["code"]) ?? NO_STATUS, headers: {}, body };
}

/** How a stream is cut into frames: each ends with a line feed, or begins with its length in four bytes, big-endian. */
export type Framing = "lines" | "lengths";

const LINE_FEED = 0x0a;
const HEADER_BYTES = 4;
/** client-go refuses bigger ones, too; no object in etcd comes near. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** Cuts a stream that arrives in chunks of any size into its frames. Copies only those that chunks divide. */
export class FrameSplitter {
  readonly #framing: Framing;
  #parts: Buffer[] = [];
  #size = 0;
  /** Of the frame at hand; undefined until its header is complete. */
  #length: number | undefined;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  /** True where the stream may end: no frame has begun. */
  get isBetweenFrames(): boolean {
    return this.#size === 0 && this.#length === undefined;
  }

  /** The frames that are complete with this chunk, in order; empty lines are none. @throws Error for a frame over 16 MiB. */
  push(chunk: Buffer): readonly Buffer[] {
    return this.#framing === "lines" ? this.#pushLines(chunk) : this.#pushLengths(chunk);
  }

  #pushLines(chunk: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end));
      const line = this.#take();
      if (line.length > 0) frames.push(line);
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    checked(this.#size);
    return frames;
  }

  /** A server sends a header and its frame apart: the frame is then a chunk of its own, and nothing is copied. */
  #pushLengths(chunk: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    let from = 0;
    for (;;) {
      const wanted: number = (this.#length ?? HEADER_BYTES) - this.#size;
      const end = from + wanted;
      if (end > chunk.length) break;
      this.#keep(from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end));
      const bytes = this.#take();
      from = end;
      if (this.#length === undefined) this.#length = checked(bytes.readUInt32BE(0));
      else {
        frames.push(bytes);
        this.#length = undefined;
      }
    }
    this.#keep(chunk.subarray(from));
    return frames;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#size += bytes.length;
  }

  #take(): Buffer {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return bytes;
  }
}

function checked(bytes: number): number {
  if (bytes > MAX_FRAME_BYTES) throw new Error(`a frame of ${bytes} bytes is more than ${MAX_FRAME_BYTES}`);
  return bytes;
}

/**
 * Hands every chunk of a stream to `take` at the moment it arrives, and resolves when the stream ends in good order. Iterating over the stream costs several times as
 * much for each chunk (Node 24.21), which is most of what a watch costs on which nothing happens.
 * @throws what `take` throws, after which the stream is destroyed; else what the stream fails with, its end before the end included.
 */
export async function readChunks(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  let refusal: { readonly error: unknown } | undefined;
  const ended = finished(stream, { writable: false });
  stream.on("data", (chunk: Buffer) => {
    if (refusal !== undefined) return;
    try {
      take(chunk);
    } catch (error) {
      refusal = { error };
      stream.destroy();
    }
  });
  await ended.catch((error: unknown) => {
    throw refusal === undefined ? error : refusal.error;
  });
  if (refusal !== undefined) throw refusal.error;
}

/** How long a stream may say nothing, and how long it may last. */
interface IdleLimits {
  readonly idleMs: number;
  readonly lifeMs: number;
  /** Ends the stream, whatever it says. */
  readonly signal: AbortSignal;
}

/** Ends a stream whose other side has gone without a word: a connection to nobody looks like one on which nothing happens. */
class IdleTimeout {
  readonly #clock: Clock;
  readonly #limits: IdleLimits;
  readonly #stream = new AbortController();
  readonly #done = new AbortController();
  #heardMs: number;
  #firedAfterMs: number | undefined;

  constructor(clock: Clock, limits: IdleLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#heardMs = clock.monotonicMs();
    if (limits.signal.aborted) this.#stream.abort();
    limits.signal.addEventListener("abort", this.#abort, { once: true });
    void this.#run(this.#heardMs);
  }

  /** For the stream. */
  get signal(): AbortSignal {
    return this.#stream.signal;
  }

  /** The limit that was passed, milliseconds; undefined while none was. */
  get firedAfterMs(): number | undefined {
    return this.#firedAfterMs;
  }

  /** The other side has said something. */
  hear(): void {
    this.#heardMs = this.#clock.monotonicMs();
  }

  /** Ends the timeout; the stream is left as it is. */
  end(): void {
    this.#limits.signal.removeEventListener("abort", this.#abort);
    this.#done.abort();
  }

  async #run(startedMs: number): Promise<void> {
    const { idleMs, lifeMs } = this.#limits;
    while (!this.#done.signal.aborted) {
      const nowMs = this.#clock.monotonicMs();
      const [idleEndMs, endMs] = [this.#heardMs + idleMs, startedMs + lifeMs];
      const leftMs = Math.min(idleEndMs, endMs) - nowMs;
      if (leftMs <= 0) {
        this.#firedAfterMs = nowMs >= idleEndMs ? idleMs : lifeMs;
        return this.#abort();
      }
      await this.#clock.sleep(leftMs, this.#done.signal);
    }
  }

  readonly #abort = (): void => this.#stream.abort();
}
