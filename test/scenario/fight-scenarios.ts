import { expect } from "vitest";
import type { DNSName } from "../fake/dns-account.ts";
import { conditionsText, DNS_PROVIDERS, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE = 60_000;
const THEIRS = "198.51.100.9";

/** Somebody else puts its own address in place of all records. */
function rewrite(world: World, provider: DNSName): void {
  world.dns.remove(provider, { fqdn: WWW });
  world.dns.add(provider, WWW, THEIRS);
}

/** As {@link rewrite}, then a run, so many times. Returns how often the records were put right. */
async function fight(world: World, provider: DNSName, times: number, everyMs = 1000): Promise<number> {
  let repairs = 0;
  for (let at = 0; at < times; at += 1) {
    rewrite(world, provider);
    world.advance(everyMs);
    await world.pass();
    if (!world.dns.addresses(provider, WWW).includes(THEIRS)) repairs += 1;
  }
  return repairs;
}

async function problem(world: World): Promise<string> {
  return conditionsText((await world.pools.status("web")).conditions);
}

const CONTESTED = "Ready=False (Contested) Reconciling=True (Contested) Stalled=True (Contested)";

/** Names that somebody else rewrites again and again. */
export function fightScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(
      `a fight over a name at ${provider}: the fourth repair waits a minute, and status explains it`,
      async (world) => {
        await publishedPool(world, provider, ["n1", "n2"]);
        expect(await fight(world, provider, 3)).toBe(3);
        expect(await problem(world)).toBe("");
        expect(await fight(world, provider, 1)).toBe(0);
        expect(await problem(world)).toBe(CONTESTED);
        const { conditions, fight: known } = await world.pools.status("web");
        expect(known).toMatchObject({ count: 3, seen: [THEIRS], addresses: [ip(1), ip(2)] });
        expect(known?.times).toHaveLength(3);
        expect(conditions.find(({ type }) => type === "Stalled")?.message).toMatch(
          /^www\.example\.com: Since .* somebody else has changed its records 4 times, and flipop put them right 3 times, last at .*; now 198\.51\.100\.9 stands there\. Find out who else writes the name/,
        );
        world.advance(MINUTE);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
        expect(await fight(world, provider, 3, MINUTE)).toBe(0);
        world.advance(2 * MINUTE);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
      },
    );

    scenario(
      `a fight over a name at ${provider} for two hours costs a write every ten minutes at most`,
      async (world) => {
        await publishedPool(world, provider, ["n1"]);
        const repairs = await fight(world, provider, 120, MINUTE);
        expect(repairs).toBeGreaterThan(8);
        expect(repairs).toBeLessThanOrEqual(16);
        rewrite(world, provider);
        world.advance(21 * MINUTE);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
        expect(await problem(world)).toBe("");
        expect((await world.pools.status("web")).fight).toMatchObject({ count: 1 });
        world.advance(10 * MINUTE);
        await world.pass();
        expect(world.writes()).toEqual([]);
      },
      { worlds: ["memory"] },
    );

    scenario(
      `a fight over a name at ${provider} that is over counts no more, and nothing is written for that`,
      async (world) => {
        await publishedPool(world, provider, ["n1"]);
        await fight(world, provider, 4);
        world.advance(MINUTE);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
        world.advance(19 * MINUTE);
        await world.pass();
        expect((await world.pools.status("web")).fight).toMatchObject({ count: 4 });
        world.advance(MINUTE);
        await world.pass();
        expect(world.writes()).toEqual([]);
        expect(await fight(world, provider, 3)).toBe(3);
        expect((await world.pools.status("web")).fight).toMatchObject({ count: 3 });
      },
    );

    scenario(`a failover during a fight over a name at ${provider} is written at once`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      await fight(world, provider, 4);
      expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS]);
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
    });

    scenario(`during a fight a name at ${provider} is left neither empty nor with a dead address`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      await world.nodes.setReady("n1", false);
      await world.pass();
      await fight(world, provider, 4);
      expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS]);
      world.dns.remove(provider, { fqdn: WWW });
      world.advance(1000);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
      world.dns.edit(provider, { fqdn: WWW }, { content: ip(1) });
      world.advance(1000);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
    });

    scenario(
      `whoever puts a dead address back at ${provider} again and again has its fight, too`,
      async (world) => {
        await publishedPool(world, provider, ["n1", "n2"]);
        await world.nodes.setReady("n1", false);
        await world.pass();
        let repairs = 0;
        for (let at = 0; at < 60; at += 1) {
          world.dns.remove(provider, { fqdn: WWW });
          world.dns.add(provider, WWW, ip(1));
          world.advance(1000);
          await world.pass();
          if (world.dns.set(provider, WWW).join() === "ip2") repairs += 1;
        }
        expect(repairs).toBeGreaterThanOrEqual(8);
        expect(repairs).toBeLessThanOrEqual(12);
        expect(await problem(world)).toBe(CONTESTED);
        await world.nodes.setReady("n1", true);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
      },
      { worlds: ["memory"] },
    );

    scenario(
      `an address of ours in a contested name at ${provider} moves to a node that serves, at once`,
      async (world) => {
        await publishedPool(world, provider, ["n1"]);
        await world.machines("n2");
        await world.pass();
        for (let at = 0; at < 4; at += 1) {
          world.dns.add(provider, WWW, THEIRS);
          await world.pass();
        }
        expect(world.dns.set(provider, WWW)).toContain("ip1");
        expect(await problem(world)).toBe(CONTESTED);
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
        world.advance(MINUTE);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      },
    );

    scenario(`what other clusters do with their own addresses at ${provider} is no fight`, async (world) => {
      await publishedPool(world, provider, ["n1"], { dnsRecordSet: www(provider, { foreignRecords: "Share" }) });
      for (let at = 0; at < 5; at += 1) {
        world.dns.add(provider, WWW, THEIRS);
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS, ip(1)].toSorted());
        world.dns.remove(provider, { fqdn: WWW, content: THEIRS });
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      }
      expect((await world.pools.status("web")).fight).toBeUndefined();
    });

    scenario(`a fight over the TTL of a name at ${provider} is one, too`, async (world) => {
      await publishedPool(world, provider, ["n1"]);
      for (const isRight of [true, true, true, false]) {
        world.dns.edit(provider, { fqdn: WWW }, { ttlSeconds: 600 });
        await world.pass();
        expect(world.dns.ttls(provider, WWW)).toEqual([isRight ? 60 : 600]);
      }
      expect(await problem(world)).toBe(CONTESTED);
      expect((await world.pools.status("web")).conditions.find(({ type }) => type === "Stalled")?.message).toContain(
        "; now 203.0.113.1 stands there with a TTL of 600 s, not 60 s. ",
      );
      world.advance(MINUTE);
      await world.pass();
    });

    scenario(`own changes of a name at ${provider} are no fight, however many`, async (world) => {
      await publishedNodes(world, provider, ["n1", "n2"]);
      for (const isReady of [false, true, false, true, false, true]) {
        await world.nodes.setReady("n1", isReady);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(isReady ? ["ext1", "ext2"] : ["ext2"]);
      }
      for (const ttl of [61, 62, 63, 64, 65]) {
        await world.recordSets.edit("nodes", { dnsRecordSet: { ttl } });
        await world.pass();
        expect(world.dns.ttls(provider, WWW)).toEqual([ttl]);
      }
      expect((await world.recordSets.status("nodes")).fight?.count ?? 0).toBeLessThan(2);
    });
  }

  scenario("repairs that fail count for no fight", async (world) => {
    await publishedPool(world, "cloudflare", ["n1"]);
    rewrite(world, "cloudflare");
    world.fail({ side: "dns", provider: "cloudflare", operation: "write", kind: "500", times: 0 });
    for (let at = 0; at < 4; at += 1) {
      await world.pass();
      world.advance(10_000);
    }
    expect((await world.pools.status("web")).fight).toBeUndefined();
    world.clearFaults();
    world.advance(MINUTE);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
  });

  scenario(
    "a stored fight of the future that cannot be replaced does not delay repairs for good",
    async (world) => {
      await publishedPool(world, "cloudflare", ["n1"]);
      const future = "2999-01-01T00:00:00Z";
      const known = { provider: "cloudflare", name: WWW, addresses: [ip(1)], ttlSeconds: 60, seen: [THEIRS] };
      const fight = { ...known, since: future, times: [future, future, future], count: 3 };
      await world.pools.writeStatus("web", { fight });
      world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "403", times: 0 });
      rewrite(world, "cloudflare");
      for (let run = 0; run < 6; run += 1) {
        await world.pass();
        world.advance(2 * MINUTE);
      }
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
      world.clearFaults();
      world.advance(21 * MINUTE);
      await world.pass();
    },
    { worlds: ["memory"] },
  );

  const MUCH = "x".repeat(262_144);
  for (const [what, damage] of [
    ["times in the future", { since: "2999-01-01T00:00:00Z", times: Array(3).fill("2999-01-01T00:00:00Z"), count: 3 }],
    ["times that are none", { since: "soon", times: ["soon", "", "-1"], count: 3 }],
    ["a count beyond all numbers", { times: ["2999-01-01T00:00:00Z"], count: Number.MAX_SAFE_INTEGER }],
    ["a count below zero", { times: ["2999-01-01T00:00:00Z"], count: -1 }],
    ["texts of 256 KiB", { since: MUCH, times: [MUCH], seen: [MUCH], count: 3 }],
    ["no times", { times: [], count: 3 }],
  ] as const) {
    scenario(
      `a stored fight with ${what} delays a repair ten minutes at most`,
      async (world) => {
        await publishedPool(world, "cloudflare", ["n1"]);
        const known = { provider: "cloudflare", name: WWW, addresses: [ip(1)], ttlSeconds: 60, seen: [THEIRS] };
        await world.pools.writeStatus("web", { fight: { ...known, since: "2020-01-01T00:00:00Z", ...damage } });
        rewrite(world, "cloudflare");
        await world.pass();
        world.advance(10 * MINUTE);
        await world.pass();
        expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
        const { fight: stored } = await world.pools.status("web");
        expect(JSON.stringify(stored ?? {}).length).toBeLessThan(2000);
        world.advance(21 * MINUTE);
        await world.pass();
        await world.pass();
        expect(world.writes()).toEqual([]);
        expect(await problem(world)).toBe("");
      },
      { worlds: ["memory"] },
    );
  }
}
