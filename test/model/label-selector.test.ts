import { expect, test } from "vitest";
import { parseLabelSelector, selects } from "../../src/model/label-selector.ts";

function matches(text: string, labels: Record<string, string>): boolean | string {
  const parsed = parseLabelSelector(text);
  return "error" in parsed ? parsed.error : selects(parsed.selector, labels);
}

test.for<[string, Record<string, string>, boolean]>([
  ["", {}, true],
  ["  ", { a: "b" }, true],
  ["a=b", { a: "b" }, true],
  ["a=b", { a: "c" }, false],
  ["a=b", {}, false],
  ["a==b", { a: "b" }, true],
  [" a = b ", { a: "b" }, true],
  ["a=", { a: "" }, true],
  ["a=", {}, false],
  ["a!=b", { a: "c" }, true],
  ["a!=b", {}, true],
  ["a!=b", { a: "b" }, false],
  ["a in (b,c)", { a: "c" }, true],
  ["a in (b, c)", { a: "d" }, false],
  ["a in (b)", {}, false],
  ["a notin (b,c)", { a: "d" }, true],
  ["a notin (b,c)", {}, true],
  ["a notin (b,c)", { a: "b" }, false],
  ["a", { a: "" }, true],
  ["a", {}, false],
  ["!a", {}, true],
  ["! a", { a: "x" }, false],
  ["a>1", { a: "2" }, true],
  ["a>1", { a: "1" }, false],
  ["a<5", { a: "4" }, true],
  ["a<5", { a: "five" }, false],
  ["a<5", {}, false],
  ["a>9007199254740993", { a: "9007199254740994" }, true],
  ["a=b,c!=d,!e", { a: "b" }, true],
  ["a=b,c!=d,!e", { a: "b", e: "" }, false],
  ["in in (in,notin)", { in: "notin" }, true],
  ["topology.kubernetes.io/region in (nyc3)", { "topology.kubernetes.io/region": "nyc3" }, true],
  ["a in (,b)", { a: "" }, true],
  ["toString", {}, false],
  ["!constructor", {}, true],
])("selector %o on %o is %o", ([text, labels, expected]) => {
  expect(matches(text, labels)).toBe(expected);
});

test.for<[string, string]>([
  ["=b", "key '=' is not a valid label key"],
  ["a=b c=d", "found 'c', expected: ',' or the end"],
  ["a in b", "found 'b', expected: '('"],
  ["a in ()", "for 'in', 'notin' operators, values set can't be empty"],
  ["a in (b", "found '', expected: ')'"],
  ["a=b,", "found '', expected: !, identifier"],
  ["a>b", "'b' is not an integer, as '>' and '<' need"],
  ["a=b_", "value 'b_' is not a valid label value"],
  ["Not A Key/x=b", "found 'A', expected: in, notin, =, ==, !=, >, <"],
  ["x/y/z", "key 'x/y/z' is not a valid label key"],
  ["EXAMPLE.com/x", "key 'EXAMPLE.com/x' is not a valid label key"],
  [`${"a".repeat(64)}=b`, `key '${"a".repeat(64)}' is not a valid label key`],
])("selector %o cannot be parsed: %s", ([text, error]) => {
  expect(matches(text, {})).toBe(`unable to parse requirement: ${error}`);
});
