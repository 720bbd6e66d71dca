import { expect } from "vitest";
import { FINALIZER } from "../../src/model/resource.ts";
import { SHORT_PROVIDERS } from "./dns-call-log.ts";
import { DNS_PROVIDERS, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const SECOND = 1000;

/** Writes in order, without Events and statuses. */
function steps(world: World): readonly string[] {
  return world.writes().filter((line) => !/^(event|status|note)/.test(line));
}

/** Take-down: DNS first, address last. */
export function dnsTakeDownScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(
      `39, 40 desired lowered and raised at ${provider}: out of DNS, then the annotation; back in, 0 assigns`,
      async (world) => {
        await publishedPool(world, provider, ["n1", "n2", "n3"]);
        await world.pools.edit("web", { desiredIPs: 2 });
        await world.pass();
        expect(steps(world).map((line) => line.split(" ")[0])).toEqual([SHORT_PROVIDERS[provider], "annotate"]);
        expect(await world.show()).toContain("ip3 disabled n3 (AboveDesired)");
        expect(world.cloud.addresses()).toMatchObject({ ip3: "n3" });
        await world.pools.edit("web", { desiredIPs: 3 });
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(world.dns.history(provider, WWW)).toEqual(["ip1 ip2", "ip1 ip2 ip3"]);
      },
    );

    scenario(`an address removed from the spec at ${provider}: out of DNS, then the annotation`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      await world.pools.edit("web", { ips: [ip(1)] });
      await world.pass();
      expect(steps(world)).toEqual([
        provider === "digitalocean" ? `do remove ip2 from ${WWW}` : `${SHORT_PROVIDERS[provider]} batch ${WWW}`,
        "annotate n2",
      ]);
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
    });

    scenario(`a swap on one droplet at ${provider}: out of DNS, unassign, assign, annotate, in`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(1), ip(3)] });
      await world.pass();
      const left = steps(world);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.dns.history(provider, WWW)).toEqual(["ip1", "ip1 ip3"]);
      const order = [...left, ...steps(world)].map((line) => line.replace(/^(do|cf|hz|wh) .*/, "dns"));
      expect(order).toEqual(["dns", "annotate n2", "unassign ip2", "assign ip3 to n2", "annotate n2", "dns"]);
      expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "-", ip3: "n2" });
    });

    scenario(`a swap of the name's only address at ${provider}: it stays until the new one is in`, async (world) => {
      await publishedPool(world, provider);
      world.cloud.address(ip(2));
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pass();
      expect(world.dns.history(provider, WWW)).toEqual(provider === "digitalocean" ? ["ip1 ip2", "ip2"] : ["ip2"]);
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip2 to n1"]);
    });
  }

  scenario("a swap beside an address that serves and is not published yet: that one goes in first", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    await world.nodes.setReady("n2", false);
    await world.machines("n3");
    world.cloud.address(ip(3));
    world.cloud.address(ip(4), { on: "n3" });
    world.dns.add("cloudflare", WWW, ip(2));
    await world.pools.edit("web", { ips: [ip(3), ip(4)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ip4", "ip3 ip4"]);
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
  });

  scenario(
    "a run that died after a swap took an address off leaves its annotation: the value does not reach DNS",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      world.dns.zone("digitalocean");
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      await world.recordSets.create("nodes", {
        addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
        dnsRecordSet: www("digitalocean"),
      });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(1)] });
      world.cloud.put(ip(2), undefined);
      world.dns.remove("digitalocean", { fqdn: WWW, content: ip(2) });
      world.dns.clearHistory();
      await world.pass();
      expect(world.dns.history("digitalocean", WWW)).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    },
  );

  scenario(
    "the published address is parked and waits for the machine of one that serves: that one stays until it has moved",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.nodes.setReady("n1", false);
      await world.pools.edit("web", { ips: [ip(1)], dnsRecordSet: { ttl: 300 } });
      world.before("assign", async () => expect(world.dns.set("digitalocean", WWW)).toContain("ip1"));
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip2", "assign ip1 to n2"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    },
  );

  scenario(
    "a swap whose withdrawal from DNS fails: the address stays on its droplet until it is out",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(1), ip(3)] });
      world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "500", times: 0 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.nodes.annotations()).toMatchObject({ n2: "ip2" });
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.dns.history("digitalocean", WWW)).toEqual(["ip1"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.dns.history("digitalocean", WWW)).toEqual(["ip1", "ip1 ip3"]);
      expect(await world.show()).toEqual(["ip1 active n1", "ip3 active n2"]);
    },
  );

  scenario(
    "a swap while DNS cannot be read: the address that a name shows is not taken off its droplet",
    async (world) => {
      await publishedPool(world, "cloudflare", ["n1", "n2"]);
      world.cloud.address(ip(3));
      world.fail({ side: "dns", provider: "cloudflare", operation: "records", kind: "500", times: 0 });
      await world.look();
      await world.pools.edit("web", { ips: [ip(1), ip(3)] });
      const { remaining } = await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.nodes.annotations()).toMatchObject({ n2: "ip2" });
      expect(remaining.holds.map(({ reason }) => reason)).toContain("Unreadable");
      world.clearFaults();
      await world.pass();
      expect(world.dns.history("cloudflare", WWW)).toEqual(["ip1"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1", "ip3 active n2"]);
      expect(world.dns.history("cloudflare", WWW)).toEqual(["ip1", "ip1 ip3"]);
    },
  );

  scenario("a swap whose assignment fails: what was withdrawn stays out, the name shows what serves", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(3)] });
    world.cloud.state.settings.fail_actions_of = [ip(3)];
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
    world.cloud.state.settings.fail_actions_of = [];
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip3"]);
  });

  scenario("another pool's name shows the address, too: it leaves every name before its droplet", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.dns.zone("cloudflare");
    await world.recordSets.create("nodes", {
      addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
      dnsRecordSet: www("cloudflare"),
    });
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(3)] });
    world.before("unassign", async () => {
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    });
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip3"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip3"]);
  });

  deletions(scenario);

  scenario(
    "Delete, desired lowered: out of DNS, annotation; unassign, delete once no resolver has it",
    async (world) => {
      await world.machines("n1", "n2");
      world.dns.zone("digitalocean");
      await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete", dnsRecordSet: www("digitalocean") });
      await world.pass();
      await world.pools.edit("web", { desiredIPs: 1 });
      await world.pass();
      expect(steps(world)).toEqual([`do remove new2 from ${WWW}`, "annotate n2"]);
      world.advance(61_000);
      await world.pass();
      expect(steps(world)).toEqual(["unassign new2", "delete new2"]);
    },
  );

  for (const provider of DNS_PROVIDERS) {
    scenario(
      `pool deleted with Delete at ${provider}: DNS, annotations, unassign, delete, finalizer`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await world.machines("n1", "n2");
        world.dns.zone(provider);
        await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete", dnsRecordSet: www(provider) });
        await world.pass();
        expect(await world.pools.finalizers("web")).toEqual([FINALIZER]);
        const held = Object.entries(world.cloud.addresses());
        await world.pools.delete("web");
        await world.pass();
        const kinds = steps(world).map((line) => line.replace(/^(do|cf|hz|wh) .*/, "dns"));
        for (const [ip, node] of held) {
          const own = new Set(["dns", `annotate ${node}`, `unassign ${ip}`, `delete ${ip}`]);
          const order = kinds.filter((kind) => own.has(kind)).filter((kind, at, all) => kind !== all[at - 1]);
          expect(order).toEqual([...own]);
        }
        expect(kinds.at(-1)).toBe("finalizer web");
        expect(world.dns.set(provider, WWW)).toEqual([]);
        expect(world.cloud.boughtNow()).toEqual([]);
        expect(await world.pools.existing()).toEqual([]);
        expect(await world.nodes.annotations()).toEqual({});
      },
    );
  }

  const kinds = [
    { what: "pool", of: (world: World) => world.pools, spec: { desiredIPs: 1 } },
    { what: "record set", of: (world: World) => world.recordSets, spec: {} },
  ];
  for (const { what, of, spec } of kinds)
    scenario(
      `a deleted ${what} that somebody else keeps there: what is left of it says that nothing is to be done`,
      async (world) => {
        const objects = of(world);
        world.dnsSafety.allowEnd(WWW);
        await world.machines("n1");
        world.dns.zone("cloudflare");
        await objects.create("web", { ...spec, reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
        await world.pass();
        await objects.addForeignFinalizer("web");
        await objects.delete("web");
        await world.pass();
        expect(await objects.finalizers("web")).toEqual(["example.com/hold"]);
        const { conditions } = await objects.status("web");
        expect(conditions.map(({ reason }) => reason)).toEqual(["Deleting", "Stable", "NotStalled"]);
      },
    );

  scenario(
    "pool deleted with Delete while its DNS fails: addresses stay attached until the name is clean",
    async (world) => {
      world.dnsSafety.allowEnd(WWW);
      await world.machines("n1");
      world.dns.zone("cloudflare");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
      await world.pass();
      await world.pools.delete("web");
      world.fail({ side: "dns", provider: "cloudflare", operation: "write", kind: "500", times: 0 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.pools.finalizers("web")).toEqual([FINALIZER]);
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.dns.set("cloudflare", WWW)).toEqual([]);
      expect(await world.pools.existing()).toEqual([]);
      expect(world.cloud.boughtNow()).toEqual([]);
    },
  );

  scenario("pool deleted with Retain: records, addresses stay; annotations go", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.delete("web");
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({});
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  });
}

/** `web` has bought new1, which a record set shows beside ip1 of another pool. `web` is deleted, and the name shows new1 no more. */
async function deletedBeside(world: World, spec: Spec = {}): Promise<void> {
  await world.machines("n1", "n2");
  world.dns.zone("cloudflare");
  world.cloud.address(ip(1));
  if (spec["ips"] !== undefined) world.cloud.address(ip(2));
  const match = { nodeLabel: "own" };
  await world.nodes.patch("n1", { metadata: { labels: { own: "" } } });
  await world.pools.create("own", { ips: [ip(1)], match });
  await world.pass();
  await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", ...spec });
  await world.recordSets.create("nodes", {
    addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
    dnsRecordSet: www("cloudflare"),
  });
  await world.pass();
  expect(world.dns.set("cloudflare", WWW)).toHaveLength(2);
  await world.pools.delete("web");
}

/** What becomes of the addresses of deleted pools that names of other objects show. */
function deletions(scenario: Register): void {
  scenario(
    "a pool is deleted with Delete: what a record set shows goes back once no resolver has it, then the pool goes",
    async (world) => {
      await deletedBeside(world);
      world.before("unassign", async () => expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]));
      await world.pass();
      expect(steps(world)).toEqual([`cf batch ${WWW}`, "annotate n2"]);
      const { plan } = await world.pass();
      expect(world.writes()).toEqual([]);
      expect(plan.holds).toMatchObject([{ kind: "delete-ip", subject: bought(1), reason: "Draining" }]);
      world.advance(61_000);
      await world.pass();
      expect(steps(world)).toEqual(["unassign new1", "delete new1", "finalizer web"]);
    },
  );

  scenario("a pool is deleted with Delete, and runs die anywhere: it drains once, and the pool goes", async (world) => {
    await deletedBeside(world);
    for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
    world.advance(40_000);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(30_000);
    for (let write = 1; await world.crash(write); write += 1) world.advance(1000);
    await world.pass();
    expect(await world.pools.read("web")).toBeUndefined();
    expect(Object.keys(world.cloud.addresses())).toEqual(["ip1"]);
  });

  scenario("a pool is deleted with Delete, and its node fails in the middle: it waits no longer", async (world) => {
    await deletedBeside(world);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign new1", "delete new1"]);
    expect(await world.pools.read("web")).toBeUndefined();
  });

  scenario("a deletion waits ten minutes and a TTL at most, whatever status says", async (world) => {
    await deletedBeside(world);
    await world.pass();
    await world.pools.writeStatus("web", { ips: { [bought(1)]: { drainingUntil: "2999-01-01T00:00:00Z" } } });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(661_000);
    await world.pass();
    expect(await world.pools.read("web")).toBeUndefined();
  });

  scenario("a pool is deleted with Retain: nothing is taken from a machine, whoever waits for one", async (world) => {
    await deletedBeside(world, { desiredIPs: 1, ips: [ip(2)], reclaimPolicy: "Retain" });
    world.cloud.address(ip(3));
    await world.pools.create("next", { ips: [ip(3)] });
    await world.pass();
    world.advance(61_000);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.cloud.addresses()).toMatchObject({ ip2: "n2" });
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
  });

  scenario(
    "a listed address of a pool deleted with Delete stays on its machine, whoever waits for one",
    async (world) => {
      await deletedBeside(world, {
        desiredIPs: 1,
        ips: [ip(2)],
        dnsRecordSet: www("cloudflare", { recordName: "own" }),
      });
      world.dnsSafety.allowEnd("own.example.com");
      world.cloud.address(ip(3));
      await world.pools.create("next", { ips: [ip(3)] });
      await world.pass();
      world.advance(61_000);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.cloud.addresses()).toMatchObject({ ip2: "n2" });
      expect(await world.pools.read("web")).toBeUndefined();
    },
  );
}
