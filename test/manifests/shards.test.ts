import { expect, test } from "vitest";
import { invoke } from "../cli/invoke.ts";
import { documents } from "./shipped.ts";

interface Shown {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly spec?: unknown;
}

async function printed(...args: readonly string[]): Promise<readonly Shown[]> {
  const { stdout, stderr, exitCode } = await invoke(["manifests", ...args]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return documents(stdout) as unknown as readonly Shown[];
}

const ALL = ["1/3", "2/3", "3/3", "web"].flatMap((shard) => ["--shard", shard]);
const NAMES = ["flipop-1-of-3", "flipop-2-of-3", "flipop-3-of-3", "flipop-web"];

test("each shard has a CronJob of its own, which says its shard; everything else is there once", async () => {
  const all = await printed(...ALL);
  const jobs = all.filter(({ kind }) => kind === "CronJob");
  expect(jobs.map(({ metadata: { name } }) => name)).toEqual(NAMES);
  expect(jobs.map((job) => /"name":"FLIPOP_SHARD","value":"([^"]+)"/.exec(JSON.stringify(job))?.[1])).toEqual([
    "1/3",
    "2/3",
    "3/3",
    "web",
  ]);
  const others = all.filter(({ kind }) => kind !== "CronJob");
  expect(others).toHaveLength((await printed()).length - 1);
});

test("the Role names the Leases of all shards and no others, and allows nothing more than without shards", async () => {
  const role = async (...args: readonly string[]): Promise<Shown["rules"]> =>
    (await printed("--only", "rbac", ...args)).find(({ metadata: { name } }) => name === "flipop-lease")?.rules;
  const before = await role();
  const after = await role(...ALL);
  expect(after?.[1]?.resourceNames).toEqual(["flipop", ...NAMES]);
  const nameless = (rules: Shown["rules"]): unknown => rules?.map(({ resourceNames: _names, ...rest }) => rest);
  expect(nameless(after)).toEqual(nameless(before));
  // One part of three has to see whether the others work.
  expect((await role("--shard", "2/3"))?.[1]?.resourceNames).toEqual(["flipop", ...NAMES.slice(0, 3)]);
});

test("no two Deployments have the same pods, nor two budgets", async () => {
  const all = await printed("--mode", "watch", "--only", "watcher", ...ALL);
  for (const kind of ["Deployment", "PodDisruptionBudget"]) {
    const own = all.filter((one) => one.kind === kind);
    expect(own.map(({ metadata: { name } }) => name)).toEqual(NAMES);
    const selectors = own.map(({ spec }) => JSON.stringify((spec as { selector: unknown }).selector));
    expect(new Set(selectors).size).toBe(NAMES.length);
  }
  for (const deployment of all.filter(({ kind }) => kind === "Deployment")) {
    const { selector, template } = deployment.spec as {
      selector: { matchLabels: object };
      template: { metadata: { labels: object } };
    };
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
  }
  expect(all.filter(({ kind }) => kind === "Service")).toHaveLength(1);
});

test("the alert on missing metrics names each shard, so that it tells of one that never ran; without shards it names none", async () => {
  const absent = async (...args: readonly string[]): Promise<readonly string[]> =>
    JSON.stringify(await printed("--only", "alerts", ...args)).match(/(?<= |")absent\(.*?\)/g) ?? [];
  expect(await absent()).toEqual(["absent(flipop_build_info)"]);
  expect(await absent("--shard", "1/2", "--shard", "web")).toEqual([
    String.raw`absent(flipop_build_info{shard=\"1/2\"})`,
    String.raw`absent(flipop_build_info{shard=\"web\"})`,
  ]);
});

test.for([
  [["--shard", "1/3", "--shard", "1/2"], "It has objects of 1/3, too."],
  [["--shard", "web", "--shard", "web"], "It has objects of web, too."],
  [["--shard", "4/3"], "Write I/N, as 2/3"],
] as const)("%j is refused", async ([args, why]) => {
  const { stderr, exitCode } = await invoke(["manifests", ...args]);
  expect(exitCode).toBe(64);
  expect(stderr).toContain(why);
});
