import { describe, expect, test } from "vitest";
import { asTextMap } from "../../../src/adapters/kube/json.ts";
import { decodeMessage } from "../../../src/adapters/kube/protobuf.ts";
import { POOL_STATUS } from "../../../src/adapters/kube/status.ts";
import { PROVIDERS } from "../../../src/adapters/registry.ts";
import { yamlText } from "../../../src/cli/yaml-text.ts";
import { entryOf } from "../../../src/model/address.ts";
import type { IPStatus } from "../../../src/model/resource.ts";
import { readTotals, writeTotals } from "../../../src/report/metrics/totals.ts";
import { prune } from "../../../src/sandbox/kubernetes/admission.ts";
import { mergePatch } from "../../../src/sandbox/kubernetes/patches.ts";
import { validate } from "../../../src/sandbox/kubernetes/schema.ts";

/** Names that every object answers to although nobody gave them to it. */
const INHERITED = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];

function each<T>(value: T): Record<string, T> {
  return Object.fromEntries(INHERITED.map((name) => [name, value]));
}

/** The keys that a JSON text has. */
function keysOf(value: unknown): readonly string[] {
  return Object.keys(JSON.parse(JSON.stringify(value)) as object);
}

const BAD: IPStatus = { state: "error", reason: "InvalidIP", fault: "invalid", error: "bad" };

describe("keys that every object has of its own accord", () => {
  test("of status.ips are read, written and removed like any other", () => {
    const { ips } = POOL_STATUS.read(JSON.parse(JSON.stringify({ ips: each(BAD) })));
    expect(Object.keys(ips)).toEqual(INHERITED);
    for (const name of INHERITED) expect(entryOf(ips, name)).toEqual(BAD);
    const patch = POOL_STATUS.patch(POOL_STATUS.read({ ips }), {});
    expect(keysOf(patch["ips"])).toEqual(INHERITED);
    const removed = POOL_STATUS.patch(POOL_STATUS.read({ ips: { a: BAD } }), { ips });
    expect(JSON.stringify(removed["ips"])).toContain('{"__proto__":null,"constructor":null,');
    expect(Object.prototype).not.toHaveProperty("state");
  });

  test.each(INHERITED)("%s is no address of a status that does not have it", (name) => {
    expect(entryOf({}, name)).toBeUndefined();
  });

  test.each(INHERITED)("%s is no provider whose machines are known", (name) => {
    expect(PROVIDERS.machineID(name, "digitalocean://101")).toBeUndefined();
    expect(PROVIDERS.providerID(name, "101")).toBe(`${name}://101`);
  });

  test("of labels arrive from JSON and from protobuf", () => {
    expect(Object.keys(asTextMap(JSON.parse(JSON.stringify(each("yes")))))).toEqual(INHERITED);
    const entries = INHERITED.map((name) => textMapEntry(name, "yes"));
    const message = decodeMessage(Buffer.concat(entries), { 1: { name: "labels", kind: "text-map" } });
    expect(Object.entries(asTextMap(message["labels"]))).toEqual(INHERITED.map((name) => [name, "yes"]));
  });

  test("of a merge patch are set and removed, and nothing else changes", () => {
    const patch: unknown = JSON.parse('{"a": {"__proto__": {"b": 1}, "constructor": {"c": 2}}}');
    const merged = mergePatch({}, patch);
    expect(JSON.stringify(merged)).toBe('{"a":{"__proto__":{"b":1},"constructor":{"c":2}}}');
    expect(JSON.stringify(mergePatch(merged, JSON.parse('{"a": {"__proto__": null}}')))).toBe(
      '{"a":{"constructor":{"c":2}}}',
    );
    expect(({} as Record<string, unknown>)["b"]).toBeUndefined();
  });

  test("are pruned where the schema does not know them, and missed where it asks for them", () => {
    const map = { additionalProperties: { type: "string" } } as const;
    const object = { spec: JSON.parse(JSON.stringify(each("x"))) as object };
    expect(keysOf(prune(object, { properties: { spec: map } }).value["spec"])).toEqual(INHERITED);
    expect(keysOf(prune(object, { properties: { spec: { type: "object" } } }).value["spec"])).toEqual([]);
    expect(validate({}, { type: "object", required: INHERITED }, "spec")).toHaveLength(INHERITED.length);
  });

  test("of the totals on a Lease count from what is written there, and are written again", () => {
    const text = '{"assignments":{"__proto__":3,"constructor":4},"calls":{"toString":"x"},"durations":{"valueOf":1}}';
    const totals = readTotals(text);
    expect(Object.entries(totals.assignments)).toEqual([
      ["__proto__", 3],
      ["constructor", 4],
    ]);
    expect([totals.calls, totals.durations]).toEqual([{}, {}]);
    expect(writeTotals(totals)).toContain('"assignments":{"__proto__":3,"constructor":4}');
  });

  test("of a document are written as YAML", () => {
    expect(yamlText(JSON.parse('{"ips": {"__proto__": 1, "constructor": 2}}'))).toBe(
      "ips:\n  __proto__: 1\n  constructor: 2\n",
    );
  });
});

/** A field 1 of a message that is one entry of a map of text to text. */
function textMapEntry(key: string, value: string): Buffer {
  const field = (number: number, text: Buffer): Buffer => Buffer.from([number * 8 + 2, text.length, ...text]);
  return field(1, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))]));
}
