import { NODE_ANNOTATIONS } from "../../model/node-annotations.ts";
import { compareText } from "../../model/resource.ts";
import type { NodeReading, OwnNode } from "../../ports/host.ts";
import { type Connection, named, RESOURCES, resourcePath } from "./call.ts";
import { asRecord, asText, isCutOff, isOdd } from "./json.ts";
import type { ListRequest } from "./lists.ts";
import { decodeMeta, metadataField } from "./metadata.ts";
import { Transport, type TransportOptions } from "./transport.ts";
import { Reflector } from "./watch/reflector.ts";
import { KubeWatchSource } from "./watch/watch-source.ts";

/** Returns the node of this name, read once and then watched: no other node is asked for, and nothing can be written. `random` is from 0 to 1, anew at each call. */
export function createOwnNode(
  connection: Connection,
  options: TransportOptions & { readonly name: string; readonly random?: () => number },
): OwnNode {
  return new KubeOwnNode(new Transport(connection, options), options);
}

/** A node as far as its host goes by it. */
interface HostNode {
  readonly name: string;
  readonly reading: NodeReading;
}

class KubeOwnNode implements OwnNode {
  readonly #transport: Transport;
  readonly #reflector: Reflector<HostNode>;
  readonly #listeners: (() => void)[] = [];

  constructor(
    transport: Transport,
    { name, clock, random = Math.random }: TransportOptions & { readonly name: string; readonly random?: () => number },
  ) {
    this.#transport = transport;
    const { connection } = transport;
    const source = new KubeWatchSource<HostNode>(
      {
        connection,
        clock,
        random,
        send: (call) => transport.send(call),
        open: (call, signal) => transport.open(call, signal),
      },
      requestOf(name),
    );
    const onChange = (): void => {
      for (const tell of this.#listeners) tell();
    };
    this.#reflector = new Reflector({ source, rules: requestOf(name).rules, clock, random, onChange });
    this.#reflector.start();
  }

  async read(): Promise<NodeReading> {
    const [node] = await this.#reflector.values();
    return node?.reading ?? { kind: "missing" };
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#reflector.close();
    this.#transport.close();
  }
}

function requestOf(name: string): ListRequest<HostNode> {
  return {
    kind: "node",
    resource: RESOURCES.nodes,
    path: resourcePath(RESOURCES.nodes),
    query: named(name),
    fields: { 1: metadataField("annotations") },
    project: decodeHostNode,
    atVersion: (node) => node,
    order: (a, b) => compareText(a.name, b.name),
    rules: { visible: (node) => node, foreign: (node) => node },
  };
}

/** A host has the addresses of both families. */
const HOST_ANNOTATIONS = Object.values(NODE_ANNOTATIONS).map(({ host }) => host);

function decodeHostNode(object: unknown): HostNode | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const metadata = asRecord(asRecord(object)?.["metadata"]);
  const annotations = metadata?.["annotations"];
  const { name } = meta;
  if (isCutOff(metadata) || isOdd(annotations, asRecord))
    return { name, reading: { kind: "unreadable", part: "metadata.annotations" } };
  const values = HOST_ANNOTATIONS.map((part) => ({ part, value: asRecord(annotations)?.[part] }));
  const odd = values.find(({ value }) => isOdd(value, asText));
  if (odd !== undefined) return { name, reading: { kind: "unreadable", part: odd.part } };
  const texts = values.flatMap(({ value }) => asText(value) ?? []);
  return { name, reading: { kind: "known", ...(texts.length === 0 ? {} : { annotation: texts.join(",") }) } };
}
