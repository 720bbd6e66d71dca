import { expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { providerUses } from "../../src/doctor/uses.ts";
import { aPool } from "../plan/builders.ts";

test.for<[string, string, string | undefined, readonly string[]]>([
  ["what it names", "digitalocean", undefined, ["digitalocean: digitalocean"]],
  ["what it names, in its family", "hetzner IPv6", "hetzner", ["hetzner: hetzner IPv6"]],
  ["what it bought at, too", "digitalocean", "hetzner", ["digitalocean: digitalocean", "hetzner: hetzner"]],
])("a pool uses %s", ([, provider, bought, expected]) => {
  const acquired = bought === undefined ? [] : [{ ip: "203.0.113.1", acquiredAt: "", provider: bought }];
  const pool = aPool({ spec: { provider }, status: { acquired } });
  const uses = providerUses({ pools: [pool], routedIPs: [], recordSets: [], issuers: [] }, PROVIDERS);
  expect(uses.map(({ provider: name, sources }) => `${name}: ${sources.join(", ")}`)).toEqual(expected);
});
