import { expect } from "vitest";
import { SHORT_PROVIDERS } from "./dns-call-log.ts";
import { conditionsText, DNS_PROVIDERS, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";

const SECOND = 1000;

/** What a pool publishes, and when. */
export function dnsPoolScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(`1 steady state at ${provider}: one read of the zone, one of the name, no write`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2", "n3"]);
      const before = await world.pools.read("web");
      world.advance(60 * SECOND);
      const { plan } = await world.pass();
      expect(plan.actions).toEqual([]);
      const p = SHORT_PROVIDERS[provider];
      const calls = [`${p} zone example.com`, `${p} records ${WWW}`];
      // A new process asks a webhook for its TTLs, too.
      const made = world.dnsCalls().filter((line) => line !== "wh adjust");
      expect(made).toEqual(provider === "webhook" ? ["wh zone", "wh records"] : calls);
      expect(world.writes()).toEqual([]);
      expect(await world.pools.read("web")).toEqual(before);
    });

    scenario(`2 first fill at ${provider}: addresses are verified, annotated, and published then`, async (world) => {
      await world.machines("n1", "n2", "n3");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      world.dns.zone(provider);
      await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www(provider) });
      world.before("writeRecords", async () => {
        expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "n2" });
        expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
      });
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
      expect(world.dns.ttls(provider, WWW)).toEqual([60]);
      const { conditions, publishedDNS, assignableNodes } = await world.pools.status("web");
      expect(conditionsText(conditions)).toBe("");
      expect(publishedDNS).toEqual({ provider, zone: "example.com", name: WWW, addresses: [ip(1), ip(2)] });
      expect(assignableNodes).toEqual(["n3"]);
    });

    scenario(`3 fresh process at ${provider}: only what is off is repaired`, async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1), { on: "n1" });
      world.cloud.address(ip(2), { on: "n2" });
      world.dns.zone(provider);
      world.dns.add(provider, WWW, ip(2));
      await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www(provider) });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dnsWrites()).toHaveLength(1);
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
    });

    scenario(`5 node lost, spare waits at ${provider}: the address moves, DNS is not written`, async (world) => {
      await publishedPool(world, provider);
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
      expect(world.dnsWrites()).toEqual([]);
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
    });

    scenario(
      `6, 48 node lost, nobody waits at ${provider}: the record is kept, and a condition says so`,
      async (world) => {
        await publishedPool(world, provider);
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dnsWrites()).toEqual([]);
        expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
        const { conditions, error } = await world.pools.status("web");
        expect(conditionsText(conditions)).toBe("Ready=False (NoActiveIP)");
        expect(conditions[0]?.message).toContain("DNS records stay");
        expect(error).toBeUndefined();
        await world.nodes.setReady("n1", true);
        await world.pass();
        expect(world.dnsWrites()).toEqual([]);
        expect(conditionsText((await world.pools.status("web")).conditions)).toBe("");
      },
    );
  }

  scenario("one of two nodes is lost: its address leaves DNS, and comes back with it", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(
      world
        .writes()
        .filter((line) => !line.startsWith("event"))
        .toSorted(),
    ).toEqual(["annotate n1", `do remove ip1 from ${WWW}`, "status web"]);
    await world.nodes.setReady("n1", true);
    await world.pass();
    expect(world.dns.history("digitalocean", WWW)).toEqual(["ip2", "ip1 ip2"]);
  });

  scenario("both nodes are lost, one after the other: the last address that served stays", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ip2"]);
    await world.nodes.setReady("n1", true);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 no-match n2 (NoCandidate)"]);
  });

  scenario(
    "12 one address unreadable: it stays in DNS, and others are added and removed all the same",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
      world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
      world.fail({ side: "cloud", operation: "get", subject: ip(1), kind: "500", times: 0 });
      await world.look();
      await world.nodes.setReady("n1", false);
      await world.nodes.setReady("n3", false);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      world.clearFaults();
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    },
  );

  scenario("14 all addresses unreadable: DNS is not touched, not even where it is off", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.dns.remove("digitalocean", { fqdn: WWW, content: ip(1) });
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
    world.fail({ side: "cloud", operation: "get", kind: "500", times: 0 });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    world.clearFaults();
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario("an assignment fails: the address is not published before it serves", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    world.dns.zone("cloudflare");
    await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("cloudflare") });
    world.cloud.state.settings.fail_actions_of = [ip(2)];
    await world.pass();
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ip1"]);
    world.cloud.state.settings.fail_actions_of = [];
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ip1", "ip1 ip2"]);
  });

  scenario("the time is over before the address is confirmed: it is published by the next run", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.dns.zone("digitalocean");
    world.cloud.state.settings.action_delay_ms = 20 * SECOND;
    await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www("digitalocean") });
    await world.pass({ deadlineMs: 5 * SECOND });
    expect(world.dns.set("digitalocean", WWW)).toEqual([]);
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
  });

  scenario("an address in flight stays in DNS while it moves, whatever becomes of it", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.nodes.delete("n1");
    await world.machines("n3");
    world.cloud.state.settings.action_delay_ms = 20 * SECOND;
    await world.pass({ deadlineMs: 5 * SECOND });
    expect(await world.show()).toEqual(["ip1 in-progress n3 (InProgress)", "ip2 active n2"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.dns.history("digitalocean", WWW)).toEqual([]);
  });

  scenario("30 address gone: its node takes the spare, and DNS follows once that serves", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
    await world.pass();
    world.cloud.removeAddress(ip(1));
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip3 to n1"]);
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ip2 ip3"]);
  });

  scenario("30b the only address is gone: the name follows to the spare without ever being empty", async (world) => {
    await publishedPool(world, "digitalocean");
    world.cloud.address(ip(2));
    await world.pools.edit("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    world.cloud.removeAddress(ip(1));
    await world.pass();
    expect(world.dns.history("digitalocean", WWW)).toEqual(["ip1 ip2", "ip2"]);
  });

  scenario(
    "21 a droplet that carries another address is skipped: DNS has what went to the next node",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(9), { on: "n1" });
      world.cloud.address(ip(1));
      world.dns.zone("digitalocean");
      await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www("digitalocean") });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect(world.dns.history("digitalocean", WWW)).toEqual(["ip1"]);
    },
  );

  scenario("51 half-ready cluster: no intermediate write", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.nodes.create("n4", { droplet: 900, ready: false, annotations: {} });
    await world.nodes.annotate("n4", ip(2), "shop/web");
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
  });

  scenario("85 grace of a pool: DNS is unchanged, and after it another that serves takes its place", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"], { gracePeriodSeconds: 30 });
    await world.nodes.setReady("n1", false);
    world.advance(3 * SECOND);
    await world.pass();
    expect(world.writes().filter((line) => !line.startsWith("status"))).toEqual([]);
    world.advance(28 * SECOND);
    await world.pass();
    expect(world.dns.history("digitalocean", WWW)).toEqual(["ip2"]);
  });

  scenario("a suspended pool: DNS is not written, and drift is repaired once it is resumed", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    await world.pools.edit("web", { suspend: true });
    world.dns.remove("cloudflare", { fqdn: WWW, content: ip(1) });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario("a pool outside the selection: its DNS is not written", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    world.dns.remove("cloudflare", { fqdn: WWW, content: ip(1) });
    await world.pass({ selection: { objects: ["dns/shop/other"] } });
    expect(world.writes()).toEqual([]);
    await world.pass({ selection: { objects: ["shop/web"] } });
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario(
    "the status is lost entirely: nothing is written at the provider, and the name is known again",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.pools.writeStatus("web", null);
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      expect((await world.pools.status("web")).publishedDNS?.addresses).toEqual([ip(1), ip(2)]);
    },
  );

  scenario("the status is lost while no node matches: the records stay", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.writeStatus("web", null);
    await world.nodes.setReady("n1", false);
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario("a pool that buys publishes what it bought, once it serves", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("cloudflare");
    await world.pools.create("web", { desiredIPs: 2, dnsRecordSet: www("cloudflare") });
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["new1", "new2"]);
  });
}
