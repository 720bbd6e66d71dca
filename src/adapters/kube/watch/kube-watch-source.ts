import type { IncomingMessage } from "node:http";
import { KubeError } from "../../../model/errors.ts";
import type { Clock } from "../../../ports/system.ts";
import { malformed } from "../answer-json.ts";
import type { Call } from "../call.ts";
import { callFailure, kubeError } from "../call-failure.ts";
import { asRecord, asText } from "../json-value.ts";
import { type Listing, type ListRequest, listObjects, type PageSource } from "../list-objects.ts";
import { networkFailure } from "../network-failure.ts";
import { optional } from "../optional.ts";
import { PROTOBUF_OR_JSON_EVENTS } from "../protobuf-envelope.ts";
import { Marker } from "../protobuf-mark.ts";
import type { Fields } from "../protobuf-message.ts";
import { FrameSplitter } from "./frame-splitter.ts";
import { readChunks } from "./read-chunks.ts";
import { identityOf, packedIdentity, type Sighting } from "./sighting.ts";
import { SilenceGuard } from "./silence-guard.ts";
import { jsonEvent, openEvent, type PackedEvent, type RawEvent, readEvent } from "./watch-event.ts";
import type { Follower, WatchEvent, WatchSource } from "./watch-source.ts";

/** What a watch needs of a transport. */
export interface StreamSource extends PageSource {
  /** The head of a successful answer; see `Transport.open`. */
  readonly open: (call: Call, signal: AbortSignal) => Promise<IncomingMessage>;
  readonly clock: Clock;
  /** From 0 to 1, anew at each call. */
  readonly random: () => number;
}

/**
 * What a process needs at its start it never gives back, so pages are small: with 5,000 nodes it peaks at 145 MB instead of 180, with 50,000 pods beside them at 186 instead
 * of 260, for the same CPU time (Node 24.21, kube-apiserver 1.35.4).
 */
const PAGE_SIZE = 200;
/** The server ends a watch after five to six minutes, by chance, so that not all of them come back together. */
const LIFE_SECONDS = 300;
const JITTER_SECONDS = 60;
/** For the end to arrive after that. */
const LEEWAY_MS = 30_000;
/** A server that is there says something once a minute, if only a bookmark (kube-apiserver 1.35, verified 2026-08). */
const SILENCE_MS = 150_000;

/** A list of an API server and its watch over HTTP. */
export class KubeWatchSource<T> implements WatchSource<T> {
  readonly #source: StreamSource;
  readonly #request: ListRequest<T>;
  readonly #marker = new Marker();

  constructor(source: StreamSource, request: ListRequest<T>) {
    this.#source = source;
    this.#request = request;
  }

  async list(known: (key: string, version: string) => T | undefined): Promise<Listing<Sighting<T>>> {
    const project = (item: unknown, bytes?: Buffer): Sighting<T> | undefined => {
      const identity = identityOf(item);
      if (identity === undefined) return undefined;
      const facts = known(identity.key, identity.version) ?? this.#request.project(item);
      return { ...identity, facts, ...this.#mark(bytes) };
    };
    const { atVersion: _notOfSightings, ...request } = this.#request;
    return await listObjects(this.#source, { ...request, pageSize: PAGE_SIZE, project });
  }

  async watch(version: string, follower: Follower<T>): Promise<void> {
    const { clock, random, open, connection } = this.#source;
    const { signal } = follower;
    const seconds = LIFE_SECONDS + Math.floor(random() * JITTER_SECONDS);
    const call = this.#call(version, seconds);
    const guard = new SilenceGuard(clock, { silenceMs: SILENCE_MS, lifeMs: seconds * 1000 + LEEWAY_MS, signal });
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
      response = await open(call, guard.signal);
      guard.hear();
      await this.#read(call, response, guard, { ...follower, take });
    } catch (error) {
      if (refusal !== undefined) throw refusal.error;
      if (signal.aborted) return;
      if (guard.firedAfterMs !== undefined) throw silence(call, connection.server, guard.firedAfterMs);
      throw error instanceof KubeError ? error : networkFailure(call, connection, error, undefined);
    } finally {
      guard.end();
      response?.destroy();
    }
  }

  refuse(why: string): KubeError {
    return malformed(this.#call("", 0), this.#source.connection, { status: 200, why });
  }

  async #read(call: Call, response: IncomingMessage, guard: SilenceGuard, follower: Follower<T>): Promise<void> {
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
      guard.hear();
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
    return { kind: "changed", sighting: { ...identity, facts: atVersion(before.facts, identity.version), mark } };
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
          sighting: { ...identity, facts: this.#request.project(object), ...optional("mark", mark) },
        };
      case "DELETED":
        return { kind: "deleted", sighting: { ...identity, facts: undefined } };
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

function silence(call: Call, server: string, ms: number): KubeError {
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
