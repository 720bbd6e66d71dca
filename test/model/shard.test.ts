import { expect, test } from "vitest";
import {
  isOfShard,
  overlaps,
  parseShard,
  partOf,
  type Shard,
  shardName,
  shardsOn,
  shardText,
  uncoveredParts,
} from "../../src/model/shard.ts";

const shard = (text: string): Shard => {
  const parsed = parseShard(text);
  if (parsed === undefined) throw new Error(`${text} names no shard`);
  return parsed;
};
const object = (namespace: string, label?: string): Parameters<typeof isOfShard>[0] => ({
  namespace,
  labels: label === undefined ? {} : { "flipop.digitalocean.com/shard": label },
});

test.for(["1/1", "2/3", "100/100", "web", "a", "0", "x".repeat(40), "web-2-of-3"])(
  "%s names a shard, and is written as it was",
  (text) => {
    expect(shardText(shard(text))).toBe(text);
  },
);

test.for([
  "",
  "0/3",
  "4/3",
  "1/101",
  "01/3",
  "1/",
  "/3",
  "1/3/5",
  "-1/3",
  "1/3 ",
  "Web",
  "-web",
  "web-",
  "a.b",
  "2-of-3",
  "x".repeat(41),
])("'%s' names none", (text) => {
  expect(parseShard(text)).toBeUndefined();
});

test("the Lease of a shard is named after it, and no two shards have the same", () => {
  expect(shardName("flipop", shard("2/3"))).toBe("flipop-2-of-3");
  expect(shardName("flipop", shard("web"))).toBe("flipop-web");
});

test("a namespace falls to the same part in every version", () => {
  const names = ["default", "ingress", "shop", "kube-system", "a", ""];
  expect(names.map((name) => partOf(name, 3))).toEqual([3, 2, 3, 3, 1, 3]);
  expect(names.map((name) => partOf(name, 100))).toEqual([53, 11, 66, 52, 16, 24]);
  expect(names.map((name) => partOf(name, 1))).toEqual([1, 1, 1, 1, 1, 1]);
});

test.for([2, 3, 5, 16])("of 3000 namespaces each of %i parts has its share, within a fifth", (parts) => {
  const names = Array.from({ length: 3000 }, (_, at) => `team-${at}`);
  const sizes = Map.groupBy(names, (name) => partOf(name, parts));
  expect(sizes.size).toBe(parts);
  for (const { length } of sizes.values()) expect(Math.abs(length * parts - 3000)).toBeLessThan(600);
});

test("every object is of one process, whatever the label and the namespace", () => {
  const processes = ["1/3", "2/3", "3/3", "web", "2"].map(shard);
  for (let at = 0; at < 500; at += 1) {
    for (const label of [undefined, "", "web", "2"]) {
      const owners = processes.filter((one) => isOfShard(object(`team-${at}`, label), one));
      expect(owners.map(shardText)).toHaveLength(1);
    }
    // Nobody serves a label that no process has.
    expect(processes.filter((one) => isOfShard(object(`team-${at}`, "db"), one))).toEqual([]);
  }
});

test("without --shard a process has what has no label", () => {
  expect(isOfShard(object("ingress"))).toBe(true);
  expect(isOfShard(object("ingress", ""))).toBe(true);
  expect(isOfShard(object("ingress", "web"))).toBe(false);
});

test("two shards overlap exactly if some object could be of both", () => {
  const all: readonly (Shard | undefined)[] = [undefined, shard("web"), shard("db"), ...numbered([1, 2, 3, 4, 6])];
  const objects = [object("x", "web"), object("x", "db"), ...Array.from({ length: 400 }, (_, at) => object(`n${at}`))];
  for (const a of all) {
    for (const b of all) {
      const isShared = objects.some((one) => isOfShard(one, a) && isOfShard(one, b));
      expect([a && shardText(a), b && shardText(b), overlaps(a, b)]).toEqual([
        a && shardText(a),
        b && shardText(b),
        isShared,
      ]);
    }
  }
});

function numbered(counts: readonly number[]): readonly Shard[] {
  return counts.flatMap((of) => Array.from({ length: of }, (_, at) => shard(`${at + 1}/${of}`)));
}

test.for<[string, readonly string[]]>([
  ["", []],
  ["web,db", []],
  ["1/3,2/3,3/3", []],
  ["1/3,3/3,web", ["2/3"]],
  ["1/2,2/4,4/4", []],
  ["1/2,2/4", ["4/4"]],
  ["1/2,1/3", ["2/6", "6/6"]],
])("of '%s' nobody serves %j", ([texts, uncovered]) => {
  expect(uncoveredParts(texts === "" ? [] : texts.split(",").map(shard)).map(shardText)).toEqual(uncovered);
});

test("too many parts to count out are none", () => {
  expect(uncoveredParts(["1/97", "1/89", "1/83"].map(shard))).toEqual([]);
});

test("the shards that have run are read of the Lease, without what names none", () => {
  const named = (text: string): readonly string[] =>
    shardsOn({ "flipop.digitalocean.com/shards": text }).map(shardText);
  expect(named("1/3, 2/3,web")).toEqual(["1/3", "2/3", "web"]);
  expect(named(",4/3,Web,2-of-3")).toEqual([]);
  expect(shardsOn({})).toEqual([]);
});
