import { expect } from "vitest";
import { conditionsText, DNS_PROVIDERS, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { externalIP, ip } from "./scenario-names.ts";

const SECOND = 1000;

/** Records that somebody changed, and TTLs. */
export function dnsDriftScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(`55 drift at ${provider}: edited, deleted and added records are repaired`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2", "n3"]);
      world.dns.edit(provider, { fqdn: WWW, content: ip(1) }, { content: "192.0.2.99" });
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2", "ip3"]);
      world.dns.remove(provider, { fqdn: WWW, content: ip(2) });
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2", "ip3"]);
      world.dns.add(provider, WWW, "192.0.2.98");
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2", "ip3"]);
      world.dns.remove(provider, { fqdn: WWW });
      // The fourth repair within ten minutes waits a moment: somebody may be fighting.
      world.advance(2 * SECOND);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2", "ip3"]);
      expect(world.dns.ttls(provider, WWW)).toEqual([60]);
    });

    scenario(`55b other names and types at ${provider} are left alone`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      const others = ["example.com", "a.www.example.com", "ww.example.com"];
      for (const fqdn of others) world.dns.add(provider, fqdn, "192.0.2.50", { ttlSeconds: 300 });
      world.dns.add(provider, WWW, "v=spf1 -all", { type: "TXT" });
      world.dns.add(provider, WWW, "2001:db8::1", { type: "AAAA" });
      world.dns.remove(provider, { fqdn: WWW, content: ip(1) });
      await world.pass();
      expect(world.dns.show(provider)).toEqual(
        [
          "a.www.example.com A 192.0.2.50 300",
          "example.com A 192.0.2.50 300",
          "ww.example.com A 192.0.2.50 300",
          "www.example.com A ip1 60",
          "www.example.com A ip2 60",
          "www.example.com AAAA 2001:db8::1 60",
          "www.example.com TXT v=spf1 -all 60",
        ].map((line) => line.replace("192.0.2.50", "ip304")),
      );
    });

    scenario(`drift at ${provider} while no address is active: what stands is left as it is`, async (world) => {
      await publishedPool(world, provider);
      await world.nodes.setReady("n1", false);
      world.dns.edit(provider, { fqdn: WWW }, { content: "192.0.2.99" });
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      await world.nodes.setReady("n1", true);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
    });

    scenario(
      `a TTL of 20 or 30 at ${provider} is raised to the least it accepts, and status says so`,
      async (world) => {
        const written = provider === "digitalocean" ? 20 : 30;
        const least = provider === "digitalocean" ? 30 : 60;
        await publishedPool(world, provider, ["n1", "n2"], { dnsRecordSet: www(provider, { ttl: written }) });
        expect(world.dns.ttls(provider, WWW)).toEqual([least]);
        const { conditions } = await world.pools.status("web");
        expect(conditionsText(conditions)).toBe("");
        expect(conditions[0]?.message).toContain(`TTL ${written} was raised to ${least}`);
      },
    );

    scenario(
      `a TTL that is too long for ${provider} is lowered to the most it accepts, and status says so`,
      async (world) => {
        const [written, most] = ["digitalocean", "hetzner"].includes(provider)
          ? [2 ** 40, 2 ** 31 - 1]
          : [604_800, 86_400];
        await publishedPool(world, provider, ["n1", "n2"], { dnsRecordSet: www(provider, { ttl: written }) });
        expect(world.dns.ttls(provider, WWW)).toEqual([most]);
        const { conditions } = await world.pools.status("web");
        expect(conditionsText(conditions)).toBe("");
        expect(conditions[0]?.message).toContain(`TTL ${written} was lowered to ${most}`);
      },
      // The definition admits none beyond what is lowered at these: only an object that an older one let in can have it.
      ["digitalocean", "hetzner"].includes(provider) ? { worlds: ["cluster"] } : {},
    );

    scenario(`a TTL of 0 or none at ${provider} means 60`, async (world) => {
      const { ttl: _ttl, ...none } = www(provider);
      await publishedPool(world, provider, ["n1"], { dnsRecordSet: none });
      expect(world.dns.ttls(provider, WWW)).toEqual([60]);
      await world.pools.edit("web", { dnsRecordSet: { ...none, ttl: 0 } });
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
    });

    scenario(`the TTL is changed at ${provider}: the whole set has it, no address comes or goes`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2", "n3"]);
      await world.pools.edit("web", { dnsRecordSet: { ttl: 300 } });
      await world.pass();
      expect(world.dnsWrites()).toHaveLength(1);
      expect(world.dns.ttls(provider, WWW)).toEqual([300]);
      expect(world.dns.history(provider, WWW)).toEqual([]);
    });

    scenario(`TTL drift at ${provider} is repaired`, async (world) => {
      await publishedNodes(world, provider, ["n1", "n2", "n3"]);
      world.dns.edit(provider, { fqdn: WWW, content: externalIP(2) }, { ttlSeconds: 600 });
      await world.pass();
      expect(world.dns.ttls(provider, WWW)).toEqual([60]);
      world.dns.edit(provider, { fqdn: WWW }, { ttlSeconds: 600 });
      await world.pass();
      expect(world.dns.ttls(provider, WWW)).toEqual([60]);
      expect(world.dns.history(provider, WWW)).toEqual([]);
    });

    scenario(`TTL and addresses change at ${provider} in one pass`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      await world.machines("n3");
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)], dnsRecordSet: { ttl: 300 } });
      await world.nodes.setReady("n1", false);
      await world.pools.edit("web", { ips: [ip(1), ip(2)] });
      await world.pass();
      expect(world.dns.ttls(provider, WWW)).toEqual([300]);
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
    });
  }

  scenario("the same address in two records: one of them goes", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.dns.add("digitalocean", WWW, ip(1));
    await world.pass();
    expect(world.dnsWrites()).toEqual([`do remove ip1 from ${WWW}`]);
    expect(world.dns.show("digitalocean")).toEqual([`${WWW} A ip1 60`, `${WWW} A ip2 60`]);
  });

  scenario("a proxied name: Cloudflare decides the TTL, and no run writes it", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    world.dns.makeAutomatic("cloudflare", WWW);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip2"]);
    await world.nodes.setReady("n1", true);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario("a TTL of 1 at Cloudflare means automatic and stays", async (world) => {
    await publishedPool(world, "cloudflare", ["n1"], { dnsRecordSet: www("cloudflare", { ttl: 1 }) });
    expect(world.dns.ttls("cloudflare", WWW)).toEqual([1]);
    expect((await world.pools.status("web")).conditions[0]?.message).not.toContain("raised");
  });

  scenario(
    "records changed by somebody between plan and action: nothing is written on top of what was not seen",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.nodes.setReady("n1", false);
      world.before("writeRecords", async () => world.dns.add("digitalocean", WWW, "192.0.2.98"));
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      expect(world.dns.history("digitalocean", WWW).at(-1)).toBe("ip2");
      expect((await world.pools.status("web")).retries).toEqual([]);
    },
  );

  scenario("52 the address type or a node's address changes: the next pass updates the records", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"]);
    await world.nodes.setAddresses(
      "n1",
      { type: "ExternalIP", address: externalIP(11) },
      { type: "InternalIP", address: "10.9.0.1" },
    );
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext11", "ext2"]);
    await world.recordSets.edit("nodes", { addressType: "InternalIP" });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["int1", "int2"]);
    world.advance(SECOND);
  });
}
