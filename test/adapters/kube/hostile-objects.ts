import type { Field, Fields } from "../../../src/adapters/kube/protobuf.ts";
import type { Random } from "../../simulation/random.ts";
import { bytesField, messageField, numberField, secondsField, textField } from "./protobuf-writer.ts";

// Built-in objects as nobody wants them, in JSON and in protobuf: a tree of values, what each encoding says of it, and how it breaks.

/** A time as protobuf has it, and what the API server writes for it in JSON. */
class HostileTime {
  readonly seconds: number | bigint;
  readonly nanos: number | bigint;
  readonly json: string | null;

  constructor(seconds: number | bigint, json: string | null, nanos: number | bigint = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.json = json;
  }

  toJSON(): string | null {
    return this.json;
  }
}

const SOUND = new HostileTime(1_785_585_600, "2026-08-01T12:00:00Z");

/** Times that a controller may write, with what Kubernetes makes of them. */
const TIMES: readonly HostileTime[] = [
  SOUND,
  new HostileTime(1_785_585_600, "2026-08-01T12:00:00Z", -1),
  new HostileTime(1_785_585_600, "2026-08-01T12:00:00Z", 2_000_000_000),
  new HostileTime(-315_619_200, "1960-01-01T00:00:00Z"),
  new HostileTime(-1, "1969-12-31T23:59:59Z"),
  new HostileTime(-62_135_596_799, "0001-01-01T00:00:01Z"),
  new HostileTime(-62_167_219_200, "0000-01-01T00:00:00Z"),
  new HostileTime(253_402_300_799, "9999-12-31T23:59:59Z"),
  new HostileTime(253_402_300_800, "10000-01-01T00:00:00Z"),
  new HostileTime(8_640_000_000_001, "275760-09-13T00:00:01Z"),
  new HostileTime(2n ** 63n - 1n, "292277026596-12-04T15:30:07Z"),
  new HostileTime(-(2n ** 63n), "-292277022657-01-27T08:29:52Z"),
];
/** Times that are none. */
const ZEROS: readonly HostileTime[] = [new HostileTime(0, null), new HostileTime(-62_135_596_800, null)];

/** Numbers at the ends of what 64 bits hold. */
const INTEGERS: readonly (number | bigint)[] = [
  0,
  1,
  -1,
  30,
  -30,
  2 ** 31,
  -(2 ** 31),
  1e12,
  2n ** 63n - 1n,
  -(2n ** 63n),
];

/** A value of an object: text, number, flag, time, list or map; undefined members are not there. */
export type Tree = { readonly [name: string]: unknown };

/** The JSON of a tree, as the API server would write it. */
export function jsonOf(tree: unknown): unknown {
  const written = JSON.stringify(tree, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
  return JSON.parse(written);
}

/** Spoils the encoded fields of one message of an object; the outermost has depth 0 and comes last. */
export type Break = (fields: readonly Buffer[], depth: number) => readonly Buffer[];

/** The protobuf of a tree, of the fields that flipop reads. */
export function bytesOf(tree: Tree, fields: Fields, breakUp: Break = (whole) => whole, depth = 0): Buffer {
  const encoded = Object.entries(fields).flatMap(([number, field]) => {
    const value = tree[field.name];
    return value === undefined || value === null ? [] : fieldBytes(Number(number), field, value, breakUp, depth);
  });
  return Buffer.concat(breakUp(encoded, depth));
}

function fieldBytes(at: number, field: Field, value: unknown, breakUp: Break, depth: number): readonly Buffer[] {
  switch (field.kind) {
    case "text":
      return [textField(at, String(value))];
    case "number":
      return [numberField(at, value as number | bigint)];
    case "flag":
      return [numberField(at, value === true ? 1 : 0)];
    case "time":
      return [secondsField(at, (value as HostileTime).seconds, (value as HostileTime).nanos)];
    case "text-map":
      return Object.entries(value as object).map(([key, text]) =>
        messageField(at, textField(1, key), textField(2, String(text))),
      );
    case "message":
    case "messages": {
      const parts = (field.kind === "message" ? [value] : value) as readonly Tree[];
      return parts.map((part) => bytesField(at, bytesOf(part, field.fields, breakUp, depth + 1)));
    }
    default:
      throw new Error(`no object has a field of the kind ${field.kind}`);
  }
}

/** Adds fields that nobody knows, of every wire type. */
export function noise(random: Random): Break {
  const unknown: readonly (() => Buffer)[] = [
    () => numberField(99, random.pick([0, -1, 2n ** 63n - 1n])),
    () => textField(536_870_911, "?"),
    () => Buffer.from([15 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8]),
    () => Buffer.from([15 * 8 + 5, 1, 2, 3, 4]),
    () => Buffer.from([15 * 8 + 3, 14 * 8 + 3, 13 * 8, 7, 14 * 8 + 4, 15 * 8 + 4]),
    () => messageField(31, textField(1, "a"), bytesField(2, Buffer.from([0xff, 0xff]))),
  ];
  return (fields) => fields.flatMap((field) => (random.chance(0.3) ? [random.pick(unknown)(), field] : [field]));
}

/** Ends one message too early, within one of its fields. */
export function cut(random: Random): Break {
  return once(random, (fields, at) => {
    const field = fields[at] ?? Buffer.alloc(0);
    return [...fields.slice(0, at), field.subarray(0, random.between(1, field.length - 1))];
  });
}

/** Gives one field of a message another wire type. */
export function wrongWireType(random: Random): Break {
  return once(random, (fields, at) => {
    const tag = fields[at]?.[0] ?? 0;
    const number = tag >> 3;
    const other = tag % 8 === 0 ? textField(number, "?") : numberField(number, 5);
    return fields.with(at, random.pick([other, Buffer.from([number * 8 + 5, 1, 2, 3, 4])]));
  });
}

/** Breaks the one message of an object that chance picks, the outermost if no other, at one of its fields. */
function once(random: Random, breakUp: (fields: readonly Buffer[], at: number) => readonly Buffer[]): Break {
  let isDone = false;
  return (fields, depth) => {
    if (isDone || fields.length === 0 || (depth > 0 && random.chance(0.75))) return fields;
    isDone = true;
    return breakUp(fields, random.between(0, fields.length - 1));
  };
}

const GARBAGE: readonly unknown[] = [5, -1, 1e300, true, "yes", "5", [], {}, [[]], [5], { a: {} }, ["x"]];

const NAMED_BY = ["metadata", "metadata.name", "metadata.namespace"];

/** The JSON with something of another type in the place of one part of it, except what names it. */
export function damaged(random: Random, value: unknown): unknown {
  const paths = pathsOf(value).filter((path) => !NAMED_BY.includes(path.join(".")));
  return replaced(value, random.pick(paths), (old) =>
    random.pick(GARBAGE.filter((other) => typeOf(other) !== typeOf(old))),
  );
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}

function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [[...path, name], ...pathsOf(part, [...path, name])]);
}

function replaced(value: unknown, [step, ...rest]: readonly string[], other: (old: unknown) => unknown): unknown {
  if (step === undefined) return other(value);
  if (Array.isArray(value)) return value.with(Number(step), replaced(value[Number(step)], rest, other));
  return Object.fromEntries(
    Object.entries(value as Tree).map(([name, part]) => [name, name === step ? replaced(part, rest, other) : part]),
  );
}

const TYPES = ["Ready", "DiskPressure", "PodScheduled"];
const TEXTS = ["web", "", "größe", "x".repeat(5_000), "a/b", "0", "null"];
const KEYS = ["app", "constructor", "__proto__", "toString", "kubernetes.io/service-name", "k".repeat(300)];

function conditions(random: Random): unknown {
  const one = (): Tree => ({
    type: random.pick(TYPES),
    status: random.pick(["True", "False", "Unknown", "true", ""]),
    lastTransitionTime: random.pick([...TIMES, ...ZEROS]),
  });
  return some(random, 4, one);
}

function some<T>(random: Random, most: number, one: () => T): readonly T[] | undefined {
  return random.chance(0.1) ? undefined : Array.from({ length: random.between(0, most) }, one);
}

function maybe<T>(random: Random, one: () => T): T | undefined {
  return random.chance(0.3) ? undefined : one();
}

function map(random: Random): Tree | undefined {
  const keys = some(random, 4, () => random.pick(KEYS));
  return keys && Object.fromEntries(keys.map((key) => [key, random.pick(TEXTS)]));
}

function metadata(random: Random, name: string): Tree {
  return {
    name,
    resourceVersion: random.pick(["1", "42", "", "soon", "99999999999999999999"]),
    labels: map(random),
    annotations: map(random),
    deletionTimestamp: random.chance(0.2) ? random.pick(TIMES) : undefined,
  };
}

/** A node with this name. */
export function aHostileNode(random: Random, name: string): Tree {
  const own = random.chance(0.5)
    ? { "flipop.digitalocean.com/ipv4-reserved-ip": random.pick(["192.0.2.1", "x", ""]) }
    : {};
  const meta = metadata(random, name);
  return {
    metadata: { ...meta, annotations: { ...(meta["annotations"] as object | undefined), ...own } },
    spec: {
      providerID: random.pick(["digitalocean://1", "digitalocean://2", "", "x"]),
      taints: some(random, 3, () => ({
        key: random.pick(["node.kubernetes.io/not-ready", "dedicated", "x"]),
        value: random.pick(TEXTS),
        effect: random.pick(["NoSchedule", "NoExecute", "PreferNoSchedule", ""]),
        timeAdded: maybe(random, () => random.pick([...TIMES, ...ZEROS])),
      })),
    },
    status: {
      conditions: conditions(random),
      addresses: some(random, 3, () => ({
        type: random.pick(["ExternalIP", "InternalIP", "Hostname"]),
        address: random.pick(["198.51.100.1", "fd00::1", "host"]),
      })),
    },
  };
}

/** A pod with this name. */
export function aHostilePod(random: Random, name: string): Tree {
  const { labels: _labels, annotations: _annotations, ...meta } = metadata(random, name);
  return {
    metadata: {
      ...meta,
      namespace: "shop",
      deletionGracePeriodSeconds: random.chance(0.5) ? random.pick(INTEGERS) : undefined,
    },
    spec: { nodeName: random.pick(["n1", "n2", ""]) },
    status: { phase: random.pick(["Running", "Pending", "Failed", ""]), conditions: conditions(random) },
  };
}

/** An EndpointSlice with this name. */
export function aHostileSlice(random: Random, name: string): Tree {
  const { annotations: _annotations, deletionTimestamp: _deletion, ...meta } = metadata(random, name);
  const flag = (): boolean | undefined => maybe(random, () => random.chance(0.5));
  return {
    metadata: { ...meta, namespace: "shop" },
    endpoints: some(random, 4, () => ({
      nodeName: maybe(random, () => random.pick(["n1", "n2", ""])),
      conditions: maybe(random, () => ({ ready: flag(), terminating: flag() })),
    })),
  };
}

/** A Service with this name. */
export function aHostileService(random: Random, name: string): Tree {
  const { labels: _labels, annotations: _annotations, deletionTimestamp: _deletion, ...meta } = metadata(random, name);
  const number = (): number | bigint => random.pick([80, 443, 30_080, 65_535, 65_536, ...INTEGERS]);
  return {
    metadata: { ...meta, namespace: "shop" },
    spec: {
      type: random.pick(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName", ""]),
      selector: map(random),
      ports: some(random, 3, () => ({
        protocol: random.pick(["TCP", "UDP", ""]),
        port: number(),
        nodePort: maybe(random, number),
      })),
    },
  };
}
