import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse, parseDocument } from "yaml";
import { CHART, chartFiles } from "../../bin/chart.ts";
import { RECONCILE } from "../../src/cli/reconcile-flags.ts";

const FOLDER = new URL(`../../${CHART}/`, import.meta.url);
const BY_HAND: readonly string[] = ["templates/NOTES.txt", "templates/_helpers.tpl", "values.yaml"];

const read = (path: string): string => readFileSync(new URL(path, FOLDER), "utf8");
const schema = JSON.parse(read("values.schema.json"));

test("the chart is made from what cronjob/ and the flags are (npm run docs makes it)", () => {
  const stale = [...chartFiles()].filter(([path, text]) => read(path) !== text);
  expect(stale.map(([path]) => path)).toEqual([]);
});

test("the chart holds no file that nobody makes or writes", () => {
  const paths = readdirSync(fileURLToPath(FOLDER), { recursive: true, encoding: "utf8" });
  const own = paths.filter((path) => path !== "templates");
  expect(own.sort()).toEqual([...chartFiles().keys(), ...BY_HAND].sort());
});

test("values.yaml is as its schema says, and has every value that the schema knows", () => {
  const values = parse(read("values.yaml"));
  const validate = new Ajv({ strict: false }).compile(schema);
  expect([validate(values), validate.errors]).toEqual([true, null]);
  const known = Object.keys(schema.properties).filter((name) => name !== "global" && name !== "enabled");
  expect(Object.keys(values)).toEqual(known);
  for (const name of ["parts", "image", "dnsWebhook", "notify", "pod", "grantsPolicy"])
    expect(Object.keys(values[name]), name).toEqual(Object.keys(schema.properties[name].properties));
});

test("every value of values.yaml is explained above it, or above the group that it begins", () => {
  const { contents } = parseDocument(read("values.yaml")) as unknown as {
    readonly contents: {
      readonly items: readonly { readonly key: { readonly value: string; commentBefore?: string } }[];
    };
  };
  // The comment of the first one is the file's.
  const bare = contents.items.slice(1).filter(({ key }) => !key.commentBefore);
  expect(bare.map(({ key }) => key.value)).toEqual(["image", "pod", "grantsPolicy"]);
});

test("the chart takes every flag of reconcile but those of people, and what the manifests name themselves", () => {
  const all = Object.values(RECONCILE).map(({ spelling }) => /--([\w-]+)/.exec(spelling)?.[1] ?? "");
  const taken = Object.keys(schema.properties.flags.properties);
  expect(all.filter((name) => !taken.includes(name))).toEqual([
    "all-namespaces",
    "kubeconfig",
    "context",
    "as",
    "as-group",
    "lease-namespace",
    "lease-name",
    "output",
    "color",
    "shard",
    "yes",
    "plan",
    "all-or-nothing",
    "max-age",
    "watch",
    "metrics-addr",
    "no-lock",
  ]);
});
