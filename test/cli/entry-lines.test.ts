import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readEntryLines, withEntryLines } from "../../src/cli/entry-lines.ts";
import { yamlText } from "../../src/cli/yaml-text.ts";
import type { JSONObject } from "../../src/report/json/document.ts";
import type { Written } from "../../src/snapshot/shape.ts";
import { random } from "../plan/random-world.ts";

const textOf = (document: Written): string => withEntryLines(document, (short) => yamlText(short as JSONObject));

/** What is read, and whether every line went through the parser. */
function read(text: string): { readonly value: unknown; readonly isWhole: boolean } {
  let isWhole = false;
  const value = readEntryLines(text, (rest) => {
    isWhole = rest === text;
    return parse(rest);
  });
  return { value, isWhole };
}

const TEXTS = [
  "",
  "a",
  "a: b",
  "- x",
  "#",
  "null",
  "1",
  "0x1",
  "ä\u202e\u2028",
  '"quo"ted',
  "line\nend",
  " ",
  "é:",
  "@flipop",
  "{",
  "[",
];

function randomValue(next: () => number, depth: number): Written {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const size = pick([0, 1, 2, 3, depth > 2 ? 2 : 100, depth > 2 ? 1 : 150]);
  const inner = (): Written =>
    depth > 3 || size >= 100 ? pick<Written>([...TEXTS, 0, 1.5, -3, true, null, [], {}]) : randomValue(next, depth + 1);
  switch (pick(["list", "map", "leaf"])) {
    case "list":
      return Array.from({ length: size }, inner);
    case "map":
      return Object.fromEntries(Array.from({ length: size }, (_, at) => [`${pick(TEXTS)}${at}`, inner()]));
    default:
      return inner();
  }
}

describe("long lists and maps, an entry a line", () => {
  test("say what they said, to whoever reads YAML and to who reads lines", () => {
    let long = 0;
    for (let seed = 1; seed <= 400; seed++) {
      const document = { observed: randomValue(random(seed), 0), more: randomValue(random(seed * 31), 0), end: true };
      const text = textOf(document);
      expect(parse(text)).toEqual(document);
      const { value, isWhole } = read(text);
      expect(value).toEqual(document);
      if (!isWhole) long += 1;
    }
    expect(long).toBeGreaterThan(100);
  });

  const pods = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`worker-${at}`, { ready: 1, notReady: 0 }]));
  const nodes = Array.from({ length: 120 }, (_, at) => ({ name: `worker-${at}`, labels: {} }));
  const document = {
    takenAt: "now",
    observed: { nodes, pods: { "ingress|app=web": { kind: "read", byNode: pods } } },
    digest: "d",
  };
  const text = textOf(document);

  test("stand at their places, and short ones as ever", () => {
    expect(text.split("\n").slice(0, 4)).toEqual([
      "takenAt: now",
      "observed:",
      "  nodes:",
      '    - {"name":"worker-0","labels":{}}',
    ]);
    expect(text).toContain('\n        "worker-7": {"ready":1,"notReady":0}\n');
    expect(text.endsWith("\ndigest: d\n")).toBe(true);
    expect(textOf({ few: [1, 2] })).toBe("few:\n  - 1\n  - 2\n");
  });

  test.for([
    ["an entry in blocks", '    - {"name":"worker-3","labels":{}}', "    - name: other\n      labels: {}"],
    ["an entry as a person writes it", '    - {"name":"worker-119","labels":{}}', "    - {name: other, labels: {}}"],
    [
      "a remark between them",
      '    - {"name":"worker-3","labels":{}}',
      '    # gone soon\n    - {"name":"worker-3","labels":{}}',
    ],
    ["an empty line", '        "worker-7": {"ready":1,"notReady":0}', '\n        "worker-7": {"ready":0,"notReady":1}'],
    ["one entry less", '    - {"name":"worker-3","labels":{}}\n', ""],
    ["a remark behind an entry", '{"name":"worker-3","labels":{}}', '{"name":"worker-3","labels":{}} # gone'],
    ["an entry in other quotes", '"worker-7": {', "'worker-7': {"],
    ["an entry that is no map", '"worker-7": {"ready":1,"notReady":0}', '"worker-7": soon'],
  ] as const)("may be edited: %s", ([, from, to]) => {
    const edited = text.replace(from, to);
    expect(edited).not.toBe(text);
    expect(read(edited).value).toEqual(parse(edited));
  });

  test("are refused where a name stands twice", () => {
    const twice = text.replace('"worker-7": {', '"worker-8": {');
    expect(() => read(twice)).toThrow("Map keys must be unique");
  });

  test("are read without a parser of YAML", () => {
    let seen = "";
    readEntryLines(text, (rest) => {
      seen = rest;
      return parse(rest);
    });
    expect(seen.split("\n").length).toBeLessThan(20);
  });

  test("of texts that look like the marks are left as they are", () => {
    const odd = { nodes, note: "@flipop-entries-0" };
    expect(read(textOf(odd)).value).toEqual(odd);
    const long = { ["k".repeat(2000)]: 1, ...pods };
    expect(parse(textOf({ long }))).toEqual({ long });
  });
});
