import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { yamlText } from "../../src/cli/yaml-text.ts";
import type { Observation } from "../../src/model/observation.ts";
import { plan } from "../../src/plan/plan.ts";
import { announce } from "../../src/rehearse/announce.ts";
import type { JSONObject } from "../../src/report/json/document.ts";
import { readSnapshot, type Snapshot, writeSnapshot } from "../../src/snapshot/snapshot.ts";
import { bigSnapshot, snapshotText } from "../bench/tools.ts";
import { processorMs } from "../fake/own-time.ts";
import { randomDNSWorld } from "../plan/random-dns-world.ts";
import { randomFirewallWorld, randomWholeFirewallWorld } from "../plan/random-firewall-world.ts";
import { randomWorld } from "../plan/random-world.ts";
import { afterRoutedFailure } from "../report/routed-world.ts";
import { afterFailure } from "../report/world.ts";
import { checkSnapshot } from "./check-snapshot.ts";

const STORED = { routedIPs: [], leaseKey: "flipop/flipop" } as const;

function snapshotOf(observation: Observation): Snapshot {
  return { observation, stored: { ...STORED, pools: observation.pools.filter(({ kind }) => kind === "pool") } };
}

function textOf(snapshot: Snapshot): string {
  return yamlText({ ...writeSnapshot(snapshot) } as JSONObject);
}

function readText(text: string): Snapshot {
  return readSnapshot(parse(text), { name: "world.yaml", registry: PROVIDERS });
}

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed + 1);

/** Random worlds of every kind. */
function worldsOf(seed: number): readonly Observation[] {
  return [randomWorld(seed), randomDNSWorld(seed), randomFirewallWorld(seed), randomWholeFirewallWorld(seed)];
}

describe("a snapshot", () => {
  test.for([
    ["after a failure", afterFailure()],
    ["with routed IPs", afterRoutedFailure()],
  ] as const)("of the world %s comes back byte for byte", ([, observation]) => {
    const text = textOf(snapshotOf(observation));
    expect(textOf(readText(text))).toBe(text);
  });

  test.for(SEEDS)("of random worlds, seed %i, plans as they do, and comes back byte for byte", (seed) => {
    for (const observation of worldsOf(seed)) {
      checkSnapshot(observation, announce(plan(observation, {}), observation, {}), {});
      const text = textOf(snapshotOf(observation));
      expect(textOf(readText(text))).toBe(text);
    }
  });

  test("holds pools twice only where their annotation knows more than their status", () => {
    const { observation, stored } = snapshotOf(afterFailure());
    const [first] = stored.pools;
    if (first === undefined) throw new Error("no pool");
    const other = { ...first, status: { ...first.status, error: "before" } };
    const written = writeSnapshot({ observation, stored: { ...stored, pools: [other, ...stored.pools.slice(1)] } });
    expect(written.stored).toMatchObject({ pools: { length: 1 } });
    const again = readSnapshot(JSON.parse(JSON.stringify(written)), { name: "x", registry: PROVIDERS });
    expect(again.stored.pools.map(({ status }) => status.error)).toEqual([
      "before",
      ...stored.pools.slice(1).map(({ status }) => status.error),
    ]);
  });

  test("keeps of the Lease only what flipop wrote, of errors no query of a URL, of nodes no label that nobody reads", () => {
    const { observation, stored } = snapshotOf(afterFailure());
    const asked = observation.pools.map(({ spec }) => spec.match.nodeLabel);
    const nodes = observation.nodes.map((node) => ({
      ...node,
      labels: { ...node.labels, "example.com/secret": "s3cret" },
    }));
    const providers = new Map(
      [...observation.providers].map(([name, facts]) => [
        name,
        {
          ...facts,
          unusable: { kind: "unanswered", message: "GET https://x.example/v2/a?token=s3cret&b=1 failed" } as const,
        },
      ]),
    );
    const annotations = { "flipop.digitalocean.com/last-run": "then", "example.com/secret": "s3cret" };
    const lease = { holder: "me", renewTimeMs: 0, annotations };
    const text = textOf({ observation: { ...observation, nodes, providers }, stored: { ...stored, lease } });
    expect(asked.join()).not.toContain("example.com/secret");
    expect(text).not.toMatch(/s3cret/);
    expect(text).toContain("GET https://x.example/v2/a failed");
    expect(text).toContain("flipop.digitalocean.com/last-run: then");
  });

  test("of fields that nobody knows holds none, wherever they stand", () => {
    const planted = plantEverywhere(afterRoutedFailure()) as Observation;
    const text = textOf(snapshotOf({ ...planted, registry: PROVIDERS }));
    expect(text).not.toContain("pl4nted");
    expect(text).toBe(textOf(snapshotOf(afterRoutedFailure())));
  });

  test("of 5,000 nodes, with pods of ten objects on each, takes less than 5 MB and about a second of the processor", () => {
    const snapshot = bigSnapshot();
    let text = "";
    const spentMs = processorMs(() => {
      text = snapshotText(snapshot);
    });
    expect(text.length).toBeLessThan(5_000_000);
    // Other work on the machine takes from the caches, too.
    expect(spentMs).toBeLessThan(2000);
    const { observation } = snapshot;
    expect([observation.nodes.length, [...observation.pods.values()].length]).toEqual([5000, 50]);
  });
});

/** The value with one more field in every object of a fixed form, at whatever depth; maps by names from outside stay as they are. */
function plantEverywhere(value: unknown): unknown {
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, plantEverywhere(one)]));
  if (Array.isArray(value)) return value.map(plantEverywhere);
  if (typeof value !== "object" || value === null || value instanceof Set) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).map(([name, one]) => [
    name,
    BY_NAME.includes(name) ? one : plantEverywhere(one),
  ]);
  return { ...Object.fromEntries(members), planted: "pl4nted" };
}

const BY_NAME: readonly string[] = ["labels", "ips"];
