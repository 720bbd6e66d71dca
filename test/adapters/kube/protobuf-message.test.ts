import { describe, expect, test } from "vitest";
import { CUT_OFF, UNREADABLE } from "../../../src/adapters/kube/json.ts";
import { decodeItem, decodeMessage, type Fields } from "../../../src/adapters/kube/protobuf.ts";
import { bytesField, messageField, numberField, secondsField, textField, timeField } from "./protobuf-writer.ts";

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
      at: new Date("2026-08-01T12:00:00Z"),
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
    expect(() => decode(Buffer.from([9 * 8 + 6]))).toThrow("wire type 6");
    expect(() => decode(Buffer.from([9 * 8 + 4]))).toThrow("wire type 4");
    expect(() => decode(Buffer.from([0 * 8 + 2, 0]))).toThrow("begins no field");
    expect(() => decode(numberField(2 ** 30, 5))).toThrow("begins no field");
    expect(() => decode(Buffer.from([2 * 8, ...Array.from({ length: 11 }, () => 0x80)]))).toThrow("ten bytes");
  });

  test.for([
    0,
    1,
    -1,
    2 ** 31,
    -(2 ** 31),
    -315_619_200,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    2n ** 63n - 1n,
    -(2n ** 63n),
    -(2n ** 53n) - 1n,
  ])("the number %s has the value and the sign that its JSON has", (value) => {
    expect(decode(numberField(2, value))).toEqual({ seconds: JSON.parse(String(value)) });
  });

  test("a tenth byte that says more than 64 bits can hold is cut to them, as Go does", () => {
    const bytes = Buffer.from([2 * 8, ...Array.from({ length: 9 }, () => 0xff), 0x7f]);
    expect(decode(bytes)).toEqual({ seconds: -1 });
  });

  test.for<[string, number | bigint, unknown]>([
    ["1960", -315_619_200, { at: new Date("1960-01-01T00:00:00.000Z") }],
    ["the last second before 1970", -1, { at: new Date("1969-12-31T23:59:59.000Z") }],
    ["1970, which Kubernetes means nothing by", 0, {}],
    ["the year 1, which Kubernetes means nothing by", -62_135_596_800, {}],
    ["the second after it", -62_135_596_799, { at: new Date("0001-01-01T00:00:01.000Z") }],
    ["the end of 9999", 253_402_300_799, { at: new Date("9999-12-31T23:59:59.000Z") }],
  ])("a time of %s is what its JSON has", ([, seconds, wanted]) => {
    expect(decode(secondsField(3, seconds))).toEqual(wanted);
    for (const nanos of [-1, 1_000_000_000, 2n ** 63n - 1n])
      expect(decode(secondsField(3, seconds, nanos))).toEqual(wanted);
  });

  test("of a field that comes twice the last one counts, and parts of a message are put together", () => {
    const fields = [
      ...[textField(1, "first"), textField(1, "last")],
      ...[numberField(2, 5), numberField(2, -7)],
      ...[timeField(3, "2026-08-01T12:00:00Z"), timeField(3, "2025-08-01T12:00:00Z")],
      ...[messageField(5, textField(1, "inside")), messageField(5)],
      ...[numberField(18, 1), numberField(18, 0)],
      ...["a", "b"].map((value) => messageField(4, textField(1, "key"), textField(2, value))),
    ];
    expect(decode(...fields)).toEqual({
      name: "last",
      seconds: -7,
      at: new Date("2025-08-01T12:00:00Z"),
      part: { name: "inside" },
      isOpen: false,
      labels: { key: "b" },
    });
    expect(decode(...fields, textField(1, ""), messageField(3))).not.toHaveProperty(["name"]);
    expect(decode(...fields, messageField(3))).not.toHaveProperty(["at"]);
  });

  test("a label may have any name that a program could stumble over", () => {
    const names = ["__proto__", "constructor", "toString", ""];
    const labels = names.map((name) => messageField(4, textField(1, name), textField(2, "x")));
    const { labels: read } = decode(...labels) as { readonly labels: object };
    expect(Object.entries(read)).toEqual(names.map((name) => [name, "x"]));
  });

  test("groups are skipped, with what is in them, however deep", () => {
    const group = (field: number, ...inside: readonly Buffer[]): Buffer =>
      Buffer.concat([Buffer.from([field * 8 + 3]), ...inside, Buffer.from([field * 8 + 4])]);
    const deep = group(9, textField(1, "hidden"), group(10, numberField(2, 7), group(11)), numberField(12, 1));
    expect(decode(deep, textField(1, "kept"), group(13))).toEqual({ name: "kept" });
    expect(() => decode(deep.subarray(0, -1))).toThrow("cut off");
    const bottomless = Buffer.from(Array.from({ length: 100_000 }, () => 9 * 8 + 3));
    expect(() => decode(bottomless)).toThrow("cut off");
  });

  test("text that is no UTF-8 is read with a mark where it is not, as the JSON has it", () => {
    expect(decode(bytesField(1, Buffer.from([0x61, 0xff, 0x62])))).toEqual({ name: "a\ufffdb" });
  });
});

describe("decodeItem", () => {
  const item = (...fields: readonly Buffer[]): unknown => decodeItem(Buffer.concat(fields), FIELDS);

  test("reads whatever is whole as decodeMessage does", () => {
    const fields = [textField(1, "größe"), messageField(5, textField(1, "inside")), numberField(2, -5)];
    expect(item(...fields)).toEqual(decode(...fields));
  });

  test("a part that ends too early has what came before, and costs nothing else", () => {
    const cut = bytesField(5, textField(1, "inside").subarray(0, -1));
    expect(item(textField(1, "a"), cut, numberField(2, 7))).toEqual({
      name: "a",
      part: { [CUT_OFF]: true },
      seconds: 7,
    });
    expect(item(bytesField(16, textField(1, "x").subarray(0, -1)), messageField(16, textField(1, "y")))).toEqual({
      parts: [{ [CUT_OFF]: true }, { name: "y" }],
    });
  });

  test("an object that ends too early has what came before", () => {
    expect(item(textField(1, "a"), messageField(5, textField(1, "inside")).subarray(0, -1))).toEqual({
      name: "a",
      [CUT_OFF]: true,
    });
    expect(item(textField(1, "a"), Buffer.from([9 * 8 + 6]), textField(1, "b"))).toEqual({
      name: "a",
      [CUT_OFF]: true,
    });
  });

  test("a field of another wire type is there and cannot be read, and the next one like it counts", () => {
    expect(
      item(numberField(1, 5), textField(2, "5"), numberField(3, 1), numberField(5, 1), numberField(16, 1)),
    ).toEqual({
      name: UNREADABLE,
      seconds: UNREADABLE,
      at: UNREADABLE,
      part: UNREADABLE,
      parts: UNREADABLE,
    });
    expect(item(numberField(1, 5), textField(1, "a"))).toEqual({ name: "a" });
    expect(item(numberField(5, 5), messageField(5, textField(1, "a")))).toEqual({
      part: { name: "a", [CUT_OFF]: true },
    });
    expect(item(numberField(16, 5), messageField(16, textField(1, "a")))).toEqual({ parts: UNREADABLE });
  });

  test.for<[string, Buffer]>([
    ["of seconds that no calendar has", secondsField(3, 2n ** 63n - 1n)],
    ["of seconds before every calendar", secondsField(3, -(2n ** 63n))],
    ["beyond 9999", secondsField(3, 253_402_300_800)],
    ["before the year 0", secondsField(3, -62_167_219_201)],
    ["that ends too early", bytesField(3, numberField(1, 300).subarray(0, -1))],
    ["whose seconds are text", messageField(3, textField(1, "soon"))],
  ])("a time %s is there and cannot be read", ([, time]) => {
    expect(item(textField(1, "a"), time, numberField(2, 1))).toEqual({ name: "a", at: UNREADABLE, seconds: 1 });
  });

  test("a time that says something by being there does so when it is zero, too", () => {
    const fields: Fields = { 1: { name: "deleted", kind: "time", isSign: true } };
    for (const zero of [messageField(1), secondsField(1, 0), secondsField(1, -62_135_596_800)])
      expect(decodeItem(zero, fields)).toEqual({ deleted: UNREADABLE });
  });

  test("a label that ends too early is there without its value; one whose name cannot be read may be any", () => {
    const cutValue = bytesField(4, Buffer.concat([textField(1, "a"), textField(2, "long").subarray(0, -1)]));
    const cutName = bytesField(4, textField(1, "a").subarray(0, -1));
    const whole = messageField(4, textField(1, "b"), textField(2, "c"));
    expect(item(cutValue, whole)).toEqual({ labels: { a: UNREADABLE, b: "c" } });
    expect(item(cutName, whole)).toEqual({ labels: { b: "c", [CUT_OFF]: true } });
  });
});
