import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import type { Answer } from "../../../src/adapters/kube/call.ts";
import { type ListRequest, listObjects, type PagedRequest } from "../../../src/adapters/kube/lists.ts";
import type { WatchEvent } from "../../../src/adapters/kube/watch/reflector.ts";
import { KubeWatchSource } from "../../../src/adapters/kube/watch/watch-source.ts";
import { identityOf, type ObservedVersion } from "../../../src/adapters/kube/watch/watched-store.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { bytesField, envelope, listOf, messageField, textField } from "./protobuf-writer.ts";
import { plainConnection } from "./scripted-server.ts";

// Reads the same objects in every way that flipop reads them: a list for one run, a list that is watched, and the events of a watch.

/** Facts by the key of their object. */
export type Read<T> = ReadonlyMap<string, T | undefined>;

/** What each way of reading makes of the same objects. */
export interface ReadEverywhere<T> {
  readonly once: Read<T>;
  readonly listed: Read<T>;
  readonly added: Read<T>;
  readonly modified: Read<T>;
}

/** Objects as the server sends them: in protobuf where they are bytes, else in JSON. */
type Sent = readonly unknown[];

/** Reads objects in all ways. @throws what a list throws; Error for an event that is not about an object */
export async function readEverywhere<T>(
  kind: string,
  request: ListRequest<T>,
  items: Sent,
): Promise<ReadEverywhere<T>> {
  const keyed: PagedRequest<{ readonly key: string; readonly facts: T | undefined }> = {
    resource: request.resource,
    path: request.path,
    ...(request.fields === undefined ? {} : { fields: request.fields }),
    project: (item) => ({ key: identityOf(item)?.key ?? "", facts: request.project(item) }),
  };
  const once = await listObjects(accessTo(kind, items, ""), keyed);
  const source = (event: string) => new KubeWatchSource(accessTo(kind, items, event), request);
  const { items: observed } = await source("").list(() => undefined);
  const known = new Map(observed.map((one) => [one.key, one]));
  return {
    once: byKey(once.items),
    listed: byKey(observed),
    added: byKey(await watched(source("ADDED"), known)),
    modified: byKey(await watched(source("MODIFIED"), known)),
  };
}

async function watched<T>(
  source: KubeWatchSource<T>,
  known: ReadonlyMap<string, ObservedVersion<T>>,
): Promise<readonly ObservedVersion<T>[]> {
  const seen: ObservedVersion<T>[] = [];
  const take = (events: readonly WatchEvent<T>[]): void => {
    for (const event of events) {
      if (event.kind !== "changed") throw new Error(`the watch says ${event.kind}`);
      seen.push(event.observed);
    }
  };
  await source.watch("7", { signal: new AbortController().signal, known: (key) => known.get(key), take });
  return seen;
}

function byKey<T>(read: readonly { readonly key: string; readonly facts: T | undefined }[]): Read<T> {
  return new Map(read.map(({ key, facts }) => [key, facts]));
}

/** A server that has these objects, and tells of each of them in an event of this type. */
function accessTo(kind: string, items: Sent, event: string) {
  const isProtobuf = items.every((item) => Buffer.isBuffer(item));
  const type = isProtobuf ? "application/vnd.kubernetes.protobuf" : "application/json";
  const headers = { "content-type": type };
  const body = isProtobuf
    ? listOf(`${kind}List`, items)
    : Buffer.from(JSON.stringify({ kind: `${kind}List`, metadata: { resourceVersion: "7" }, items }));
  const stream = items.map((item) => (Buffer.isBuffer(item) ? frame(kind, event, item) : line(event, item)));
  return {
    connection: plainConnection("http://127.0.0.1:1"),
    send: async (): Promise<Answer> => ({ status: 200, headers, body }),
    open: async (): Promise<IncomingMessage> => {
      const response = Object.assign(new PassThrough(), { headers, statusCode: 200 });
      response.end(Buffer.concat(stream));
      return response as unknown as IncomingMessage;
    },
    clock: new FakeClock(),
    random: () => 0,
  };
}

function line(type: string, object: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

function frame(kind: string, type: string, item: Buffer): Buffer {
  const event = Buffer.concat([textField(1, type), messageField(2, bytesField(1, envelope(kind, item)))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}
