import { describe, expect, test } from "vitest";
import { isProtobuf, ListSplitter } from "../../../src/adapters/kube/list-splitter.ts";
import { bytesField, envelope, listOf, messageField, numberField, textField } from "./protobuf-writer.ts";

const ITEMS = ["a", "bc", "", "d".repeat(300), "e".repeat(70_000)];
const METADATA = messageField(1, textField(1, ""), textField(2, "7"), textField(3, "next"));
const fixed = (field: number): Buffer => Buffer.from([field * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8]);
const group = (field: number): Buffer => Buffer.from([field * 8 + 3, 8, 150, 1, field * 8 + 4]);
/** With fields of every wire type that nobody knows, in the list and around it. */
const odd = (): Buffer => {
  const items = ITEMS.map((item) => bytesField(2, Buffer.from(item)));
  const [first = Buffer.alloc(0), ...others] = items;
  const list = envelope("PodList", METADATA, numberField(9, 2 ** 40), first, fixed(7), group(8), ...others);
  return Buffer.concat([list, numberField(5, 1), bytesField(6, Buffer.from("x"))]);
};

function split(bytes: Buffer, size: number): { kind: string; metadata: string; items: readonly string[] } {
  const told = { kind: "", metadata: "", items: [] as string[] };
  const splitter = new ListSplitter({
    takeKind: (kind) => (told.kind += kind),
    takeMetadata: (metadata) => (told.metadata += metadata.toString("hex")),
    takeItem: (item) => told.items.push(item.toString()),
  });
  for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
  splitter.end();
  return told;
}

describe("a list in protobuf", () => {
  const whole = { kind: "PodList", metadata: METADATA.subarray(2).toString("hex"), items: ITEMS };

  test.for([1, 2, 3, 5, 7, 64, 1000, 16_384, 1_000_000])("is taken apart in chunks of %i bytes", (size) => {
    expect(split(odd(), size)).toEqual(whole);
  });

  test("is taken apart in chunks of any sizes", () => {
    const bytes = listOf(
      "PodList",
      ITEMS.slice(0, 4).map((item) => Buffer.from(item)),
      "next",
    );
    for (let first = 1; first < bytes.length; first += 1) {
      const told: string[] = [];
      const splitter = new ListSplitter({
        takeKind: () => undefined,
        takeMetadata: () => undefined,
        takeItem: (item) => told.push(item.toString()),
      });
      splitter.push(bytes.subarray(0, first));
      splitter.push(bytes.subarray(first));
      splitter.end();
      expect(told).toEqual(ITEMS.slice(0, 4));
    }
  });

  test("tells of its metadata and of each item as soon as it is there", () => {
    const told: string[] = [];
    const splitter = new ListSplitter({
      takeKind: (kind) => told.push(kind),
      takeMetadata: () => told.push("metadata"),
      takeItem: (item) => told.push(item.toString()),
    });
    const bytes = listOf("PodList", [Buffer.from("a"), Buffer.from("b")]);
    const heard = [...bytes].map((byte) => {
      splitter.push(Buffer.from([byte]));
      return told.length;
    });
    expect(told).toEqual(["PodList", "metadata", "a", "b"]);
    expect(heard.indexOf(2)).toBe(bytes.indexOf("a") - 3);
    expect(heard.indexOf(3)).toBe(bytes.indexOf("a"));
  });

  test("without items, and without any field, is a list", () => {
    expect(split(listOf("PodList", []), 3).items).toEqual([]);
    expect(split(envelope("PodList"), 1)).toEqual({ kind: "PodList", metadata: "", items: [] });
  });

  test.for([1, 3, 64, 1_000_000])("that ends anywhere before its end is refused, in chunks of %i bytes", (size) => {
    const bytes = listOf("PodList", [Buffer.from("abc"), Buffer.from("d")], "next");
    // What comes after the list are two texts without a letter.
    for (let end = 0; end < bytes.length - 4; end += 1) {
      expect(() => split(bytes.subarray(0, end), size)).toThrow(expect.objectContaining({ name: "MalformedMessage" }));
    }
  });

  test.for<[string, readonly Buffer[]]>([
    ["a wire type that does not exist", [Buffer.from([7 * 8 + 7]), Buffer.alloc(5000)]],
    ["an item that is longer than the list", [Buffer.from([18, 255, 255, 255, 255, 15])]],
    ["a length without an end", [Buffer.from([18, ...Array.from({ length: 20 }, () => 255)])]],
  ])("with %s is refused", ([, fields]) => {
    for (const size of [1, 64, 1_000_000])
      expect(() => split(envelope("PodList", ...fields), size)).toThrow(
        expect.objectContaining({ name: "MalformedMessage" }),
      );
  });
});

test("an answer is known by its first four bytes", () => {
  expect(isProtobuf(Buffer.from("k8s\0rest"))).toBe(true);
  expect(isProtobuf(Buffer.from("k8"))).toBeUndefined();
  expect(isProtobuf(Buffer.alloc(0))).toBeUndefined();
  expect(isProtobuf(Buffer.from("{"))).toBe(false);
  expect(isProtobuf(Buffer.from("k8s "))).toBe(false);
});
