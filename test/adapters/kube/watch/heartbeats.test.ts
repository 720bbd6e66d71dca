import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { NODES_REQUEST } from "../../../../src/adapters/kube/node.ts";
import type { WatchEvent } from "../../../../src/adapters/kube/watch/reflector.ts";
import { KubeWatchSource } from "../../../../src/adapters/kube/watch/watch-source.ts";
import { WatchedStore } from "../../../../src/adapters/kube/watch/watched-store.ts";
import type { NodeFacts } from "../../../../src/model/node.ts";
import { FakeClock } from "../../../fake/fake-clock.ts";
import { envelope, listOf, messageField, textField, timeField } from "../protobuf-writer.ts";
import { plainConnection } from "../scripted-server.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** The fields of a node `worker-1` with one label. */
function node(version: number, label: string, heartbeat: string): readonly Buffer[] {
  const labels = messageField(11, textField(1, "role"), textField(2, label));
  const ready = [textField(1, "Ready"), textField(2, "True"), timeField(3, `2026-08-01T12:${heartbeat}:00Z`)];
  return [
    messageField(1, textField(1, "worker-1"), textField(6, String(version)), labels),
    messageField(2, textField(3, "digitalocean://1")),
    messageField(3, messageField(4, ...ready)),
  ];
}

function frame(type: string, fields: readonly Buffer[]): Buffer {
  const event = Buffer.concat([textField(1, type), messageField(2, messageField(1, envelope("Node", ...fields)))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** A list of one node that is followed, and how many nodes were read whole. */
async function followed() {
  const body = new PassThrough();
  const response = Object.assign(body, { headers: { "content-type": PROTOBUF }, statusCode: 200 });
  let read = 0;
  const project = (item: unknown): NodeFacts | undefined => {
    read += 1;
    return NODES_REQUEST.project(item);
  };
  const list = listOf("NodeList", [Buffer.concat(node(5, "a", "01"))]);
  const source = new KubeWatchSource<NodeFacts>(
    {
      connection: plainConnection("http://127.0.0.1:1", {}),
      send: async () => ({ status: 200, headers: { "content-type": PROTOBUF }, body: list }),
      open: async () => response as unknown as IncomingMessage,
      clock: new FakeClock(),
      random: () => 0,
    },
    { ...NODES_REQUEST, project },
  );
  const store = new WatchedStore(NODES_REQUEST.rules);
  const { items, resourceVersion } = await source.list(() => undefined);
  store.replace(items, resourceVersion);
  read = 0;
  const seen: boolean[] = [];
  const take = (events: readonly WatchEvent<NodeFacts>[]): void => {
    for (const event of events) if (event.kind === "changed") seen.push(store.see(event.observed));
  };
  const known = (key: string) => store.get(key);
  return {
    source,
    store,
    body,
    seen,
    read: () => read,
    follower: { signal: new AbortController().signal, take, known },
  };
}

describe("a node's report", () => {
  test("that all is as it was is not read whole, changes nothing to see, and moves its version on", async () => {
    const { source, store, body, seen, read, follower } = await followed();
    for (const beat of [16, 17, 18]) body.write(frame("MODIFIED", node(beat, "a", String(beat))));
    body.end();
    const [before] = store.values();
    await source.watch("5", follower);
    expect({ seen, read: read() }).toEqual({ seen: [false, false, false], read: 0 });
    expect(store.values()).toEqual([{ ...before, resourceVersion: "18" }]);
  });

  test("of something new is read, once, and so is the way back", async () => {
    const { source, store, body, seen, read, follower } = await followed();
    const reports = [node(16, "b", "02"), node(17, "b", "03"), node(18, "a", "04"), node(19, "a", "05")];
    body.end(Buffer.concat(reports.map((fields) => frame("MODIFIED", fields))));
    await source.watch("5", follower);
    expect({ seen, read: read() }).toEqual({ seen: [true, false, true, false], read: 2 });
    expect(store.values()).toMatchObject([{ labels: { role: "a" }, resourceVersion: "19" }]);
  });

  test("is read whole after the node was taken over from elsewhere, such as the answer to a write", async () => {
    const { source, store, body, seen, read, follower } = await followed();
    const [facts] = store.values();
    store.see({ key: "\0worker-1", version: "16", facts: { ...facts, addressAnnotation: "1.2.3.4" } as NodeFacts });
    body.end(frame("MODIFIED", node(17, "a", "02")));
    await source.watch("5", follower);
    expect({ seen, read: read() }).toEqual({ seen: [true], read: 1 });
    expect(store.values()[0]?.addressAnnotation).toBeUndefined();
  });

  test("whose follower fails ends the watch with that very error", async () => {
    const { source, body, follower } = await followed();
    body.write(frame("MODIFIED", node(16, "a", "02")));
    const failure = new TypeError("a bug");
    const take = (events: readonly unknown[]): void => {
      if (events.length > 0) throw failure;
    };
    await expect(source.watch("5", { ...follower, take })).rejects.toBe(failure);
    expect(body.destroyed).toBe(true);
  });
});
