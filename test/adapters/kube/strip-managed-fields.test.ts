import { expect, test } from "vitest";
import { stripManagedFields } from "../../../src/adapters/kube/list-page.ts";

const strip = (text: string): string => stripManagedFields(Buffer.from(text)).toString();
const fields = [{ manager: 'a"]\\', fieldsV1: { 'k:{"b":"]"}': {}, list: [[1], []] } }];

test("every managedFields list goes, and all else stays byte for byte", () => {
  const item = (name: string, metadata: object): object => ({
    metadata: { name, ...metadata },
    spec: { a: ["]", "ü"] },
  });
  const stripped = JSON.stringify({ items: [item("a", {}), item("b", { x: 1 }), item("c", {})], end: "," });
  const whole = JSON.stringify({
    items: [
      item("a", { managedFields: fields }),
      item("b", { managedFields: [], x: 1 }),
      item("c", { managedFields: fields }),
    ],
    end: ",",
  }).replace('"managedFields":[],"x":1', '"x":1,"managedFields":[]');
  expect(strip(whole)).toBe(stripped);
});

test.for([
  ["nothing to strip", JSON.stringify({ items: [] })],
  ["a text value that looks like it", JSON.stringify({ note: ',"managedFields":[1]' })],
  ["a label of that name", JSON.stringify({ a: 1, managedFields: "x" })],
  ["pretty-printed JSON", JSON.stringify({ a: 1, managedFields: [1] }, undefined, 2)],
  ["an empty text", ""],
] as const)("%s is returned as it is", ([, text]) => {
  expect(strip(text)).toBe(text);
});

test("a text that ends within the list stays unreadable", () => {
  const text = JSON.stringify({ a: { b: 1, managedFields: fields }, c: { d: 1, managedFields: fields } });
  for (const length of [text.length - 3, text.length - 10, 30, 40]) {
    const cut = strip(text.slice(0, length));
    expect(() => JSON.parse(cut)).toThrow(SyntaxError);
  }
});
