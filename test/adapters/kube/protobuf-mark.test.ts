import { describe, expect, test } from "vitest";
import { NODE_FIELDS } from "../../../src/adapters/kube/node.ts";
import { Marker } from "../../../src/adapters/kube/protobuf.ts";
import { messageField, numberField, textField, timeField } from "./protobuf-writer.ts";

interface Parts {
  readonly version?: string;
  readonly labels?: readonly (readonly [string, string])[];
  readonly taints?: readonly Buffer[];
  readonly since?: string;
  readonly heartbeat?: string;
  readonly images?: number;
}

/** A Node as a kubelet reports it, with much that flipop does not read. */
function node({
  version = "1",
  labels = [["a", "b"]],
  taints = [],
  since = "01",
  heartbeat = "02",
  images = 3,
}: Parts) {
  const condition = [
    textField(1, "Ready"),
    textField(2, "True"),
    at(3, heartbeat),
    at(4, since),
    textField(5, "because"),
  ];
  return Buffer.concat([
    messageField(
      1,
      textField(1, "worker-1"),
      textField(6, version),
      ...labels.map(([key, value]) => messageField(11, textField(1, key), textField(2, value))),
      messageField(17, textField(1, `kubelet of ${version}`)),
    ),
    messageField(2, textField(3, "digitalocean://1"), ...taints),
    messageField(
      3,
      messageField(4, ...condition),
      ...Array.from({ length: images }, (_, index) => messageField(8, textField(1, `image-${index}`))),
    ),
  ]);
}

function at(field: number, minute: string): Buffer {
  return timeField(field, `2026-08-01T12:${minute}:00Z`);
}

const marker = new Marker();
const mark = (message: Buffer): string | undefined => marker.markOf(message, NODE_FIELDS);
const taint = (...fields: readonly Buffer[]): Buffer => messageField(5, ...fields);

describe("the mark of a node", () => {
  test.for<[string, Parts]>([
    ["another resourceVersion", { version: "22" }],
    ["another heartbeat", { heartbeat: "07" }],
    ["other images", { images: 40 }],
  ])("is the same with %s", ([, parts]) => {
    expect(mark(node(parts))).toBe(mark(node({})));
  });

  test.for<[string, Parts]>([
    ["a label of another value", { labels: [["a", "c"]] }],
    [
      "one label more",
      {
        labels: [
          ["a", "b"],
          ["c", ""],
        ],
      },
    ],
    ["a condition since another time", { since: "03" }],
    ["a taint", { taints: [taint(textField(1, "a"))] }],
  ])("is another one with %s", ([, parts]) => {
    expect(mark(node(parts))).not.toBe(mark(node({})));
  });

  test("tells one part with two fields from two parts with one each", () => {
    const [key, value] = [textField(1, "a"), textField(2, "b")];
    const one = mark(node({ taints: [taint(key, value)] }));
    expect(mark(node({ taints: [taint(key), taint(value)] }))).not.toBe(one);
    expect(mark(node({ taints: [taint(), taint(key, value)] }))).not.toBe(one);
  });

  test("does not depend on what was marked before", () => {
    const first = mark(node({}));
    mark(node({ labels: [["long", "x".repeat(5000)]] }));
    expect(mark(node({}))).toBe(first);
  });
});

test("what is no message has no mark", () => {
  expect(mark(Buffer.from([8 + 2, 100, 1]))).toBeUndefined();
  expect(mark(Buffer.concat([numberField(9, 1), Buffer.from([9 * 8 + 6])]))).toBeUndefined();
});
