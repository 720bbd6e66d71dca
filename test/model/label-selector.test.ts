import { describe, expect, test } from "vitest";
import { parseLabelSelector, podSelectorProblem, selects } from "../../src/model/label-selector.ts";
import { processorMs } from "../fake/own-time.ts";

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
  ["a in ()", { a: "" }, true],
  ["a in ()", { a: "b" }, false],
  ["a notin ()", { a: "b" }, true],
  ["a notin ()", { a: "" }, false],
  ["a in (,)", { a: "" }, true],
  ["a in (b,)", { a: "" }, true],
  ["a in (b,,c)", { a: "" }, true],
  ["a in (b,,c)", { a: "d" }, false],
  ["a in(b)", { a: "b" }, true],
  ["a=,b", { a: "", b: "c" }, true],
  ["a==,b", { a: "x", b: "c" }, false],
  ["a!=,b", { b: "" }, true],
  ["\na\t=\rb ", { a: "b" }, true],
  ["notin notin (notin)", { notin: "in" }, true],
  ["in=notin", { in: "notin" }, true],
  ["!notin", { notin: "" }, false],
  ["a=b,a=c", { a: "b" }, false],
  ["a in (b,c),a in (c,d)", { a: "c" }, true],
  ["a in (b,c),a in (c,d)", { a: "b" }, false],
  ["a!=b,a!=c", { a: "c" }, false],
  ["a!=b,a!=c", { a: "d" }, true],
  ["a,!a", { a: "" }, false],
  ["a,!a", {}, false],
  ["a>1,a<3", { a: "2" }, true],
  ["a>1,a>2,a<9,a<8", { a: "2" }, false],
  ["a>1,a>2,a<9,a<8", { a: "8" }, false],
  ["a>1,a!=2", { a: "2" }, false],
  ["a>007", { a: "8" }, true],
  ["a>7", { a: "0008" }, true],
  ["a>0", { a: "+5" }, true],
  ["a<0", { a: "-5" }, true],
  ["a>0", { a: "1_000" }, false],
  ["a>0", { a: "0x10" }, false],
  ["a>0", { a: "5.0" }, false],
  ["a>0", { a: "" }, false],
  ["a>0", { a: "\u0665" }, false],
  ["a<9223372036854775807", { a: "9223372036854775806" }, true],
  ["a>0", { a: "9223372036854775807" }, true],
  ["a>0", { a: "9223372036854775808" }, false],
  ["a<5", { a: "-9223372036854775808" }, true],
  ["a<5", { a: "-9223372036854775809" }, false],
  [`a>${"0".repeat(62)}1`, { a: "2" }, true],
  ["a=b\0", { a: "b" }, true],
  ["a=b\0,c", { a: "b" }, false],
  ["a=b \0 everything from here on is ignored", { a: "b" }, true],
  ["\0a=b", {}, true],
  ["a=\0b,\0!c", { a: "b" }, true],
  [`${"a".repeat(63)}=${"b".repeat(63)}`, { ["a".repeat(63)]: "b".repeat(63) }, true],
  [`${"a.".repeat(126)}a/b`, { [`${"a.".repeat(126)}a/b`]: "" }, true],
])("selector %o on %o is %o", ([text, labels, expected]) => {
  expect(matches(text, labels)).toBe(expected);
});

test.for<[string, string | RegExp]>([
  ["=b", "key '=' is not a valid label key"],
  ["a=b c=d", "found 'c', expected: ',' or the end"],
  ["a in b", "found 'b', expected: '('"],
  ["a in (b", "found '', expected: ')'"],
  ["a=b,", "found '', expected: !, identifier"],
  ["a>b", "'b' is not an integer, as '>' and '<' need"],
  ["a=b_", "value 'b_' is not a valid label value"],
  ["Not A Key/x=b", "found 'A', expected: in, notin, =, ==, !=, >, <"],
  ["x/y/z", "key 'x/y/z' is not a valid label key"],
  ["EXAMPLE.com/x", "key 'EXAMPLE.com/x' is not a valid label key"],
  [`${"a".repeat(64)}=b`, `key '${"a".repeat(64)}' is not a valid label key`],
  [`${"a.".repeat(127)}/b`, /^unable to parse requirement: key 'a\.a\..*…' is not a valid label key$/],
  ["/a", "key '/a' is not a valid label key"],
  ["a/", "key 'a/' is not a valid label key"],
  ["-a", "key '-a' is not a valid label key"],
  ["!", "found '', expected: !, identifier"],
  ["!!a", "key '!' is not a valid label key"],
  ["!a=b", "found '=', expected: ',' or the end"],
  ["a,,b", "key ',' is not a valid label key"],
  [",", "key ',' is not a valid label key"],
  ["a===b", "value '=' is not a valid label value"],
  ["a=!b", "value '!' is not a valid label value"],
  ["a=(b)", "value '(' is not a valid label value"],
  ["a=)", "value ')' is not a valid label value"],
  ["a>=5", "'=' is not an integer, as '>' and '<' need"],
  ["a in (b c)", "found 'c', expected: ')'"],
  ["a in (=)", "value '=' is not a valid label value"],
  ["a in (b)c", "found 'c', expected: ',' or the end"],
  ["a in", "found '', expected: '('"],
  ["a=b\0c", "found 'c', expected: ',' or the end"],
  ["a=b,\0\0c", "found '', expected: !, identifier"],
  [`a=${"b".repeat(64)}`, `value '${"b".repeat(64)}' is not a valid label value`],
  ["a=b\u00a0", "value 'b\\u{a0}' is not a valid label value"],
  ["a\u00a0=b", "key 'a\\u{a0}' is not a valid label key"],
  ["\u00a0", "key '\\u{a0}' is not a valid label key"],
  ["a=b\v", "value 'b\\u{b}' is not a valid label value"],
  ["a=b\f,c", "value 'b\\u{c}' is not a valid label value"],
  ["a=b\u2028", "value 'b\\u{2028}' is not a valid label value"],
  ["\ufeffa=b", "key '\\u{feff}a' is not a valid label key"],
  ["a=b\u0085", "value 'b\\u{85}' is not a valid label value"],
  ["\u0430pp=web", "key '\\u{430}pp' is not a valid label key"],
  ["a='b'", "value ''b'' is not a valid label value"],
  ["a>", "'' is not an integer, as '>' and '<' need"],
  ["a>,b", "'' is not an integer, as '>' and '<' need"],
  ["a>-5", "value '-5' is not a valid label value"],
  ["a<+5", "value '+5' is not a valid label value"],
  ["a>1_000", "'1_000' is not an integer, as '>' and '<' need"],
  ["a>0x10", "'0x10' is not an integer, as '>' and '<' need"],
  [
    "a>9223372036854775808",
    "'9223372036854775808' is more than 9223372036854775807, the most that '>' and '<' compare with",
  ],
  [`a>${"0".repeat(63)}1`, `value '${"0".repeat(63)}1' is not a valid label value`],
])("selector %o cannot be parsed: %s", ([text, error]) => {
  const expected = typeof error === "string" ? `unable to parse requirement: ${error}` : expect.stringMatching(error);
  expect(matches(text, {})).toEqual(expected);
});

describe("a pod selector", () => {
  test.for(["", "shop", "0", "a".repeat(63), "a-b-1"])("may name the namespace %o", (namespace) => {
    expect(podSelectorProblem({ namespace, label: "app=web" })).toBeUndefined();
  });

  test.for<[string, string]>([
    [".", "."],
    ["..", ".."],
    ["a/b", "a/b"],
    ["a.b", "a.b"],
    ["Shop", "Shop"],
    ["shop ", "shop "],
    ["-shop", "-shop"],
    ["shop-", "shop-"],
    ["a_b", "a_b"],
    ["%2e%2e", "%2e%2e"],
    ["shop?x=1", "shop?x=1"],
    ["shop\0", "shop\\u{0}"],
    ["caf\u00e9", "caf\\u{e9}"],
    ["a".repeat(64), "a".repeat(64)],
    ["\ud800", "\\u{d800}"],
  ])("names no namespace %o, which no namespace can have as its name", ([namespace, shown]) => {
    expect(podSelectorProblem({ namespace, label: "" })?.error).toBe(
      `namespace "${shown}" is not a valid name: at most 63 lower-case letters, digits and '-', with a letter or digit at both ends`,
    );
  });

  test("is refused where the API server would not read its list's URL, before it is asked", () => {
    const fits = `a in (${"b,".repeat(249_997)}b)`;
    expect(podSelectorProblem({ namespace: "", label: fits })).toBeUndefined();
    expect(podSelectorProblem({ namespace: "", label: `${fits},c` })?.error).toBe(
      "it takes 1000004 bytes in a URL, and at most 1000000 are sent: an API server reads no more than about 1 MiB of a request's head",
    );
  });

  test("is read in time however long it is, and a long one judges thousands of nodes in time", () => {
    const absent = Array.from({ length: 100_000 }, (_, index) => `!absent-${index}`).join(",");
    const unlike = Array.from({ length: 100_000 }, (_, index) => `tier!=t${index}`).join(",");
    const parsed = parseLabelSelector(`${absent},${unlike},tier in (${"x,".repeat(100_000)}web)`);
    if ("error" in parsed) throw new Error(parsed.error);
    const spentMs = processorMs(() => {
      for (let node = 0; node < 5000; node += 1) expect(selects(parsed.selector, { tier: "web" })).toBe(true);
    });
    expect(spentMs).toBeLessThan(5000);
  });
});
