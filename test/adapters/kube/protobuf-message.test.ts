import { describe, expect, test } from "vitest";
import { decodeMessage, type Fields } from "../../../src/adapters/kube/protobuf-message.ts";
import { messageField, numberField, textField, timeField } from "./protobuf-writer.ts";

const FIELDS: Fields = {
  1: { name: "name", kind: "text" },
  2: { name: "seconds", kind: "number" },
  3: { name: "at", kind: "time" },
  4: { name: "labels", kind: "text-map" },
  5: { name: "part", kind: "message", fields: { 1: { name: "name", kind: "text" } } },
  18: { name: "isOpen", kind: "flag" },
  19: { name: "isShut", kind: "flag" },
  16: { name: "parts", kind: "messages", fields: { 1: { name: "name", kind: "text" } } },
  17: { name: "items", kind: "list" },
};
const decode = (...fields: readonly Buffer[]): unknown => decodeMessage(Buffer.concat(fields), FIELDS);

describe("decodeMessage", () => {
  test("every kind of field becomes what the JSON has", () => {
    const label = (key: string, value: string): Buffer => messageField(4, textField(1, key), textField(2, value));
    const fields = [
      textField(1, "größe"),
      numberField(2, 1_785_585_600),
      timeField(3, "2026-08-01T12:00:00Z"),
      label("a/b", "c"),
      label("flag", ""),
      messageField(5, textField(1, "inside")),
      numberField(18, 1),
      numberField(19, 0),
      messageField(16, textField(1, "first")),
      messageField(16),
      messageField(17, textField(1, "x")),
    ];
    expect(decode(...fields)).toEqual({
      name: "größe",
      seconds: 1_785_585_600,
      at: "2026-08-01T12:00:00.000Z",
      labels: { "a/b": "c", flag: "" },
      part: { name: "inside" },
      isOpen: true,
      isShut: false,
      parts: [{ name: "first" }, {}],
      items: [textField(1, "x")],
    });
  });

  test("empty texts and times that are zero are absent, as in the JSON", () => {
    expect(decode(textField(1, ""), messageField(3))).toEqual({});
  });

  test("fields that are not wanted are skipped, whatever their wire type", () => {
    const fixed = [Buffer.from([8 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8]), Buffer.from([9 * 8 + 5, 1, 2, 3, 4])];
    const unwanted = [textField(6, "secret"), numberField(7, 2 ** 40), ...fixed, messageField(1000, textField(1, "x"))];
    expect(decode(...unwanted, textField(1, "kept"))).toEqual({ name: "kept" });
  });

  test.for<[string, Buffer]>([
    ["within a text", textField(1, "cut").subarray(0, -1)],
    ["within a nested message", messageField(5, textField(1, "cut")).subarray(0, -1)],
    ["within a skipped text", textField(6, "cut").subarray(0, -1)],
    ["within a number", numberField(2, 300).subarray(0, -1)],
    ["within a skipped fixed value", Buffer.from([9 * 8 + 5, 1, 2])],
    ["within a tag", Buffer.from([0x80])],
  ])("bytes that end %s are refused", ([, bytes]) => {
    expect(() => decode(bytes)).toThrow("cut off");
  });

  test("a nested message cannot reach beyond its own end", () => {
    const inner = Buffer.from([1 * 8 + 2, 100, 0x61]);
    const message = Buffer.concat([Buffer.from([5 * 8 + 2, inner.length]), inner, Buffer.alloc(200)]);
    expect(() => decode(message)).toThrow("cut off");
  });

  test("a wanted field of another wire type, and wire types that are not in use, are refused", () => {
    expect(() => decode(numberField(1, 5))).toThrow("name has wire type 0");
    expect(() => decode(Buffer.from([9 * 8 + 3]))).toThrow("wire type 3");
  });
});
