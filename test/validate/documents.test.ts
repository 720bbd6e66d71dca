import { expect, test } from "vitest";
import { readDocuments } from "../../src/validate/documents.ts";
import { processorMs } from "../fake/own-time.ts";
import { toldOf } from "./check.ts";
import { checkText } from "./knowledge.ts";

const BAD = `apiVersion: flipop.digitalocean.com/v1alpha1
kind: FloatingIPPool
metadata:
  name: web
spec:
  provider: digitalocean
  ips: [203.0.113.10]
  foreignHolder: TakeOvr
`;
const TOLD = ["8:18 FLP202 spec.foreignHolder"];

function values(text: string): readonly unknown[] {
  return readDocuments(text).documents.map(({ value }) => value);
}

test("line ends of Windows, a byte order mark and tabs behind values move nothing", () => {
  expect(toldOf(BAD)).toEqual(TOLD);
  expect(toldOf(BAD.replaceAll("\n", "\r\n"))).toEqual(TOLD);
  expect(toldOf(`\uFEFF${BAD}`)).toEqual(TOLD);
  expect(toldOf(`\uFEFF${BAD.replaceAll("\n", "\t\r\n")}`)).toEqual(TOLD);
  expect(
    toldOf(
      `\uFEFF${BAD.replace("apiVersion: flipop.digitalocean.com/v1alpha1", "apiVersion: flipop.digitalocean.com/v2")}`,
    ),
  ).toEqual(["1:13 FLP205 apiVersion"]);
});

test("documents are read as kubectl reads them: yes is true, a time and a date are texts, keys are merged", () => {
  expect(values("a: yes\nb: off\nc: 1:30\nd: 2026-11-23\ne: 0x1F\nf: 010\n")).toEqual([
    { a: true, b: false, c: "1:30", d: "2026-11-23", e: 31, f: 8 },
  ]);
  expect(values("base: &base {k: 1}\nuse:\n  <<: *base\n  z: 2\n")).toEqual([{ base: { k: 1 }, use: { k: 1, z: 2 } }]);
});

test("empty documents are none, and each one knows its number", () => {
  expect(values("")).toEqual([]);
  expect(values("# nothing\n---\n---\n")).toEqual([]);
  expect(
    readDocuments("---\na: 1\n---\n---\nb: 2\n...\n").documents.map(({ value, number }) => [value, number]),
  ).toEqual([
    [{ a: 1 }, 1],
    [{ b: 2 }, 3],
  ]);
});

test("a stream of JSON needs nothing between its values, and its places are those of the text", () => {
  const json = (holder: string): string =>
    JSON.stringify({
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web", annotations: { a: 'brace } and " quote' } },
      spec: { provider: "digitalocean", ips: ["203.0.113.10"], foreignHolder: holder },
    });
  const column = json("TakeOvr").indexOf('"TakeOvr"') + 1;
  expect(toldOf(`${json("Hold")}${json("TakeOvr")}`)).toEqual([
    `1:${json("Hold").length + column} FLP202 spec.foreignHolder`,
  ]);
  expect(toldOf(`${json("Hold")}\n\n${json("TakeOvr")}\n`)).toEqual([`3:${column} FLP202 spec.foreignHolder`]);
  expect(toldOf(JSON.stringify(JSON.parse(json("TakeOvr")), null, 2))).toEqual(["15:22 FLP202 spec.foreignHolder"]);
  expect(toldOf(`${json("Hold")}---\n${json("TakeOvr")}`)).toEqual([`2:${column} FLP202 spec.foreignHolder`]);
});

test("the entries of a list are objects of their own", () => {
  const entry = BAD.replaceAll(/^/gm, "    ").replace("   ", "  -").trimEnd();
  const text = `apiVersion: v1\nkind: List\nitems:\n${entry}\n`;
  const { count, others } = checkText(text);
  expect([count, others]).toEqual([1, 0]);
  expect(toldOf(text)).toEqual(["11:22 FLP202 spec.foreignHolder"]);
});

test("what comes through an anchor is told where it stands, what an alias stands for where the alias does", () => {
  const text = `${BAD.replace("TakeOvr", "Hold").replace("[203.0.113.10]", "&all [203.0.113.10, none]")}---\n${BAD.replace(
    "web",
    "api",
  )
    .replace("TakeOvr", "&word TakeOvr")
    .replace("digitalocean\n", "digitalocean\n  reclaimPolicy: *word\n")}`;
  expect(toldOf(text)).toEqual(["7:28 FLP214 spec.ips[1]", "10:1 FLP200"]);
});

test("objects of other groups are passed over and counted, also those that say nothing of themselves", () => {
  const text = `apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\nreplicas: 3\n---\n${BAD}`;
  const { count, others, findings } = checkText(text);
  expect([count, others, findings.length]).toEqual([1, 2, 1]);
});

test("a thousand documents take about a second of the processor at most", () => {
  const text = Array.from({ length: 1000 }, (_, at) =>
    BAD.replace("web", `web-${at}`)
      .replace("TakeOvr", "TakeOver")
      .replace("203.0.113.10", `10.0.${at >> 8}.${at & 255}`),
  ).join("---\n");
  checkText(BAD);
  const spentMs = processorMs(() => {
    const { count, findings } = checkText(text);
    expect([count, findings]).toEqual([1000, []]);
  });
  expect(spentMs).toBeLessThan(2000);
});

test("an object with twenty thousand fields takes about a second of the processor, and so does looking up what is wrong with each", () => {
  const fields = (indent: string): string => Array.from({ length: 20_000 }, (_, at) => `${indent}k${at}: v\n`).join("");
  checkText(BAD);
  const spentMs = processorMs(() => {
    expect(values(`a:\n${fields("  ")}`)).toHaveLength(1);
    expect(values(`a: {${fields("").replaceAll("\n", ", ")}}`)).toHaveLength(1);
    const [document] = readDocuments(fields("")).documents;
    for (let at = 0; at < 20_000; at += 1) document?.keyAt([`k${at}`]);
  });
  expect(spentMs).toBeLessThan(6000);
});

test("each key that stands twice is told where it stands again, also in braces and inside of lists", () => {
  const faults = (text: string): readonly string[] =>
    readDocuments(text).faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
  const twice = "the key stands twice in its object";
  expect(faults("a: 1\nb: {c: 1, d: 2, c: 3}\n? a\n: [{e: 1, e: 2}]\n")).toEqual([
    `2:17 ${twice}`,
    `3:3 ${twice}`,
    `4:11 ${twice}`,
  ]);
  expect(faults('a: {1: x, "1": y}\nb: {true: x, "true": y}\n')).toEqual([]);
});
