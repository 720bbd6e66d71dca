import { describe, expect, test } from "vitest";
import type { Answers } from "../../src/doctor/facts.ts";
import { RUN_CHECKS } from "../../src/doctor/runs.ts";
import { SHARD_CHECKS } from "../../src/doctor/shards.ts";
import type { Verdict } from "../../src/doctor/verdict.ts";
import { LAST_SUCCESS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import { parseShard, partOf, SHARD_LABEL, type Shard, shardName } from "../../src/model/shard.ts";
import type { LeaseRecord } from "../../src/ports/cluster.ts";

const NOW_MS = Date.parse("2026-11-26T12:00:00Z");
const CHECKS = { ...SHARD_CHECKS, FLP132: RUN_CHECKS.FLP132 };

/** When a process had its Lease last, seconds ago; `none` = there is no Lease, `never` = nobody held it. */
type Ago = number | "none" | "never";

interface World {
  readonly base?: Ago;
  /** When each shard that has run had its Lease last, seconds ago. */
  readonly shards?: Readonly<Record<string, Ago>>;
  /** The same of shards that only labels name. */
  readonly labelled?: Readonly<Record<string, Ago>>;
  /** Namespace and label of each pool. */
  readonly pools?: readonly (readonly [namespace: string, label?: string])[];
  /** How long ago the last success was of each process, where it is not when it had its Lease, seconds. */
  readonly successAgo?: number;
  readonly schedule?: string;
}

const known = <T>(value: T) => ({ ms: 1, value });
const shardOf = (text: string): Shard => {
  const shard = parseShard(text);
  if (shard === undefined) throw new Error(`${text} names no shard`);
  return shard;
};

function record(name: string, ago: Ago, successAgo?: number): LeaseRecord | undefined {
  if (ago === "none") return undefined;
  const renewTimeMs = ago === "never" ? 0 : NOW_MS - ago * 1000;
  const at = new Date(successAgo === undefined ? renewTimeMs : NOW_MS - successAgo * 1000).toISOString();
  const annotations = ago === "never" ? {} : { [LAST_SUCCESS_ANNOTATION]: at };
  const times = { renewTimeMs, acquireTimeMs: renewTimeMs, transitions: 0, durationSeconds: 15 };
  return { namespace: "flipop", name, resourceVersion: "1", holder: "", annotations, ...times };
}

function judged(code: keyof typeof CHECKS, world: World): readonly Verdict[] {
  const { base = 20, shards = {}, labelled = {}, pools = [["shop"]], successAgo, schedule = "* * * * *" } = world;
  const leases = (all: Readonly<Record<string, Ago>>) =>
    known(
      Object.entries(all).map(([text, ago]) => {
        const shard = shardOf(text);
        return { shard, record: record(shardName("flipop", shard), ago, successAgo) };
      }),
    );
  const metas = pools.map(([namespace, label]) => ({
    meta: { namespace, name: "web", labels: label === undefined ? {} : { [SHARD_LABEL]: label } },
  }));
  const workload = { kind: "CronJob", name: "flipop", isSuspended: false, schedule, image: "" };
  return CHECKS[code].judge({
    own: known({ lease: { namespace: "flipop", name: "flipop" } }),
    server: known({ nowMs: NOW_MS }),
    lease: known({ record: record("flipop", base, successAgo) }),
    shards: leases(shards),
    labelled: leases(labelled),
    workloads: known(schedule === "" ? [] : [workload]),
    objects: known({ pools: metas, routedIPs: [], recordSets: [], issuers: [] }),
  } as unknown as Answers);
}

const said = (code: keyof typeof CHECKS, world: World): readonly string[] =>
  judged(code, world).map(({ result, message }) => `${result} ${message}`);

/** A namespace that falls to this part of three. */
function fallingTo(part: number): string {
  const found = Array.from({ length: 100 }, (_, at) => `ns-${at}`).find((name) => partOf(name, 3) === part);
  if (found === undefined) throw new Error(`no namespace falls to ${part}`);
  return found;
}

const [ONE, TWO] = [fallingTo(1), fallingTo(2)];

describe("an object that nobody works for", () => {
  test("is not looked for where no shard is used", () => {
    expect(said("FLP136", { base: "none" })).toEqual(["skipped no shard is used"]);
    expect(said("FLP136", { base: "none", pools: [["shop", ""]] })).toEqual(["skipped no shard is used"]);
  });

  test.for<[string, World, readonly string[]]>([
    [
      "has the label of a shard that never ran",
      { pools: [["a", "vip"], ["b"]], labelled: { vip: "none" } },
      ["error nobody runs with --shard vip, and so nobody works for pool/a/web: there is no Lease flipop/flipop-vip"],
    ],
    [
      "has the label of a shard that ran an hour ago",
      { pools: [["a", "vip"]], labelled: { vip: 3600 }, shards: { vip: 3600 } },
      [
        "error nobody runs with --shard vip, and so nobody works for pool/a/web: the Lease flipop/flipop-vip was renewed last 1h ago",
      ],
    ],
    [
      "has a label that no shard can have",
      {
        pools: [
          ["a", "2-of-3"],
          ["b", "VIP"],
        ],
      },
      ['error no --shard can be "2-of-3" and "VIP", the label of pool/a/web and pool/b/web'],
    ],
    [
      "falls to a part that has not run for an hour",
      { base: "never", shards: { "1/3": 20, "2/3": 3600, "3/3": 20 }, pools: [[ONE], [TWO]] },
      [
        `error nobody runs with --shard 2/3, and so nobody works for pool/${TWO}/web: the Lease flipop/flipop-2-of-3 was renewed last 1h ago`,
      ],
    ],
    [
      "falls to a part that never ran",
      { base: "never", shards: { "1/3": 20, "3/3": 20 }, pools: [[ONE], [TWO]] },
      [`error nobody runs with --shard 2/3, and so nobody works for pool/${TWO}/web`],
    ],
    [
      "has no label where only named shards run",
      { base: "never", shards: { vip: 20 }, pools: [["a", "vip"], ["b"], ["c"], ["d"], ["e"]] },
      [
        "error nobody runs without --shard, and so nobody works for pool/b/web, pool/c/web, pool/d/web and 1 more: nobody has ever held the Lease flipop/flipop",
      ],
    ],
    [
      "has no label where the process without a shard ended yesterday",
      { base: 86_400, shards: { vip: 20 }, pools: [["b"]] },
      [
        "error nobody runs without --shard, and so nobody works for pool/b/web: the Lease flipop/flipop was renewed last 1d ago",
      ],
    ],
  ])("%s", ([, world, messages]) => {
    expect(said("FLP136", world)).toEqual(messages);
  });

  test.for<[string, World]>([
    ["the process without a shard runs beside a named one", { shards: { vip: 20 }, pools: [["a", "vip"], ["b"]] }],
    ["a shard ended that nobody needs", { shards: { vip: 86_400, "1/3": 86_400 }, pools: [["a"]] }],
    ["the parts of other counts cover all", { base: "none", shards: { "1/2": 20, "2/4": 20, "4/4": 20 } }],
    ["its namespace falls to a part that runs", { base: "never", shards: { "1/3": 20 }, pools: [[ONE]] }],
    ["the runs are ten minutes apart", { base: "none", shards: { "1/1": 1700 }, schedule: "*/10 * * * *" }],
    ["somebody runs it by hand", { base: "none", shards: { "1/1": 86_400 }, schedule: "" }],
  ])("is not there where %s", ([, world]) => {
    expect(judged("FLP136", world).map(({ result }) => result)).toEqual(["success"]);
  });

  test("is told what helps: the manifests where the shard never ran, its log where it did", () => {
    const hints = (world: World) => judged("FLP136", world).map(({ hint }) => hint);
    const pools = [["a", "vip"]] as const;
    expect(hints({ pools, labelled: { vip: "none" } })).toEqual([
      expect.stringContaining("Print the manifests of all"),
    ]);
    expect(hints({ pools, labelled: { vip: 3600 } })).toEqual([expect.stringContaining("log of its last Job")]);
  });
});

describe("two processes with the same objects", () => {
  test.for<[string, World, readonly string[]]>([
    ["not looked for where no shard has run", { labelled: { vip: 20 } }, ["skipped no shard has run"]],
    [
      "found where one without a shard runs beside a numbered one",
      { shards: { "1/3": 20, vip: 20 } },
      ["warning the process without --shard and --shard 1/3 both run, and work for the same objects"],
    ],
    [
      "found among numbered ones",
      { base: "never", shards: { "1/2": 20, "1/3": 20, "2/2": 3600 } },
      ["warning --shard 1/2 and --shard 1/3 both run, and work for the same objects"],
    ],
    [
      "not found where one of them has ended",
      { base: 3600, shards: { "1/3": 20, "2/3": 20 } },
      ["success no two processes work for the same objects"],
    ],
    [
      "not found where nothing is scheduled and nobody holds a Lease",
      { shards: { "1/3": 20 }, schedule: "" },
      ["success no two processes work for the same objects"],
    ],
  ])("are %s", ([, world, messages]) => {
    expect(said("FLP137", world)).toEqual(messages);
  });
});

describe("the last successful run where shards have run", () => {
  test.for<[string, World, readonly string[]]>([
    [
      "is that of each process that runs",
      { base: "never", shards: { "1/2": 20, "2/2": 40 } },
      ["success last successful run 40s ago"],
    ],
    [
      "is told of each that runs without success",
      { base: 3600, shards: { "1/2": 20, vip: 20 }, successAgo: 3600 },
      [
        "error the last successful run of --shard 1/2 was 1h ago; it is due every 1m",
        "error the last successful run of --shard vip was 1h ago; it is due every 1m",
      ],
    ],
    [
      "is told where its time has not come: a clock was wrong",
      { base: 20, shards: {}, successAgo: -3600 },
      ["error the last successful run is noted for a time that comes in 1h: a clock was wrong"],
    ],
    [
      "may be ahead by as much as it may be old",
      { base: 20, shards: {}, successAgo: -90 },
      ["success last successful run 0s ago"],
    ],
    [
      "is that of the one that ran last where none runs",
      { base: 7200, shards: { vip: 3600 } },
      ["error the last successful run of --shard vip was 1h ago; it is due every 1m"],
    ],
    [
      "is not on record where nobody has run",
      { base: "never", shards: { vip: "none" } },
      ["error no successful run is on record"],
    ],
  ])("%s", ([, world, messages]) => {
    expect(said("FLP132", world)).toEqual(messages);
  });
});
