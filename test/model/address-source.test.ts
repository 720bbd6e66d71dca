import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { sourceNamed, sourceText } from "../../src/model/address-source.ts";

describe("an address source", () => {
  test.each([
    ["digitalocean", { provider: "digitalocean", family: "IPv4" }],
    ["digitalocean IPv6", { provider: "digitalocean", family: "IPv6" }],
  ] as const)("%s is one text, and is read back from it", (text, source) => {
    expect(sourceText(source)).toBe(text);
    expect(sourceNamed(text)).toEqual(source);
  });
});

describe("the registry", () => {
  const node = { labels: { "topology.kubernetes.io/region": "nyc3" } };

  test("answers for a source as for a provider: what it can do with addresses of that family", () => {
    expect(PROVIDERS.get("digitalocean IPv6")).toMatchObject({
      name: "digitalocean IPv6",
      allowance: PROVIDERS.get("digitalocean")?.allowance,
      hourlyCalls: 5000,
      addresses: { addressesPerMachine: 1, buysUnattached: true, needsHost: true },
    });
    expect(PROVIDERS.machineID("digitalocean IPv6", "digitalocean://42")).toBe("42");
    expect(PROVIDERS.machineID("digitalocean IPv6", "hcloud://42")).toBeUndefined();
    expect(PROVIDERS.providerID("digitalocean IPv6", "42")).toBe("digitalocean://42");
    expect(PROVIDERS.regionOf("digitalocean IPv6", node)).toBe("nyc3");
    expect(PROVIDERS.maxPerNode("digitalocean IPv6", 3)).toBe(1);
    expect(PROVIDERS.areaOf("digitalocean IPv6", "nyc3")).toBe("nyc3");
  });

  test("lets a machine of Hetzner have as many networks as addresses", () => {
    expect(PROVIDERS.get("hetzner IPv6")?.addresses).toEqual(PROVIDERS.get("hetzner")?.addresses);
    expect(PROVIDERS.areaOf("hetzner IPv6", "nbg1")).toBe("eu-central");
    expect(PROVIDERS.maxPerNode("hetzner IPv6", 3)).toBe(3);
  });

  test("says nothing of DNS and firewalls for a source, and changes nothing for IPv4", () => {
    expect(PROVIDERS.get("digitalocean IPv6")).not.toHaveProperty("dns");
    expect(PROVIDERS.get("digitalocean IPv6")).not.toHaveProperty("firewalls");
    expect(PROVIDERS.get("digitalocean")?.addresses).not.toHaveProperty("buysUnattached");
  });

  test.each(["cloudflare IPv6", "nobody IPv6", "digitalocean IPv6 IPv6", "webhook IPv6", " IPv6"])(
    "knows no source %s",
    (text) => {
      expect(PROVIDERS.get(text)).toBeUndefined();
      expect(PROVIDERS.machineID(text, "digitalocean://42")).toBeUndefined();
    },
  );

  test("lists providers by their names, not by their sources", () => {
    expect(PROVIDERS.names.filter((name) => name.includes(" "))).toEqual([]);
  });
});
