import { expect } from "vitest";
import { failReadings, publishedPool, WWW, www } from "./dns-scene.ts";
import { exchanged, exchanging } from "./exchange-scenarios.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const CORDON = {
  spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
};
const OTHERS = { match: { nodeLabel: "role=other" } };

/** Two of `www` on n1 and n2, converged. Nodes n5 and n6 match only pools that ask for `role=other`, and wait. */
async function published(world: World, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"], { match: { nodeLabel: "role!=other" }, ...more });
  await otherMachines(world, "n5", "n6");
}

async function otherMachines(world: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    world.cloud.droplet(name);
    await world.nodes.create(name, { labels: { role: "other" } });
  }
}

/** ip1 goes from `web` to `other` in one edit; it has left the name, and is on n1 as before. */
async function handedOver(world: World): Promise<void> {
  await published(world);
  await world.pools.edit("web", { ips: [ip(2)] });
  await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
  await world.pass();
  expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  expect(world.cloudWrites()).toEqual([]);
}

/** ip1 of `web` is on its way from n1 to n2; it arrives once the delay is over. n3 and ip2 are free. */
async function onItsWay(world: World, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1"], more);
  await world.machines("n2", "n3");
  world.cloud.address(ip(2));
  world.cloud.state.settings.action_delay_ms = 20 * SECOND;
  await world.nodes.setReady("n1", false);
  await world.pass({ deadlineMs: 5 * SECOND });
  expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
}

async function drainedAndMoved(world: World): Promise<void> {
  world.advance(61 * SECOND);
  await world.pass();
  expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  await world.pass();
  expect(world.writes()).toEqual([]);
  expect(await world.show("other")).toEqual(["ip1 active n5"]);
  expect((await world.pools.status("web")).released).toEqual([]);
  expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  expect(await world.nodes.annotations()).toEqual({ n2: "ip2", n5: "ip1 of shop/other" });
}

/** Addresses that leave one pool and enter another, whose nodes are others. */
export function handOverScenarios(scenario: Register): void {
  inOneEdit(scenario);
  disturbed(scenario);
  byRecordSets(scenario);
  allAtOnce(scenario);
}

function inOneEdit(scenario: Register): void {
  scenario("an address that goes to another pool in one edit moves once no resolver has it", async (world) => {
    await handedOver(world);
    const { plan } = await world.pass();
    expect(world.writes()).toEqual([]);
    expect(plan.holds).toMatchObject([{ kind: "assign-ip", subject: ip(1), reason: "Draining" }]);
    expect(await world.nodes.annotations()).toEqual({ n2: "ip2" });
    expect(await world.show("other")).toEqual(["ip1 no-match n1 (Draining)"]);
    const { released } = await world.pools.status("web");
    expect(released).toMatchObject([{ ip: ip(1), nodeName: "n1", drainingUntil: expect.any(String) }]);
    await drainedAndMoved(world);
  });

  scenario("the other pool asks for the address one pass before the first one gives it up", async (world) => {
    await published(world);
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    await world.pass();
    expect(await world.show("other")).toEqual(["ip1 error (Conflict)"]);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await drainedAndMoved(world);
  });

  scenario("the other pool asks for the address one pass after the first one gave it up", async (world) => {
    await published(world);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    world.advance(20 * SECOND);
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(41 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  });

  scenario("an address that goes to another pool whose nodes match stays where it is", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pools.create("other", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    expect(await world.show("other")).toEqual(["ip1 active n1"]);
    world.advance(61 * SECOND);
    await world.pass();
    await world.pass();
    expect(world.writes()).toEqual([]);
    expect((await world.pools.status("web")).released).toEqual([]);
  });

  scenario(
    "an address drains only from the name that it leaves: the other pool's own goes on showing it",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      world.cloud.address(ip(3));
      world.cloud.droplet("n3");
      await world.nodes.create("n3");
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pools.create("other", {
        ips: [ip(1), ip(3)],
        dnsRecordSet: www("digitalocean", { recordName: "edge" }),
      });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      await world.pass();
      expect(world.dns.set("digitalocean", "edge.example.com")).toEqual(["ip1", "ip3"]);
      const { released } = await world.pools.status("web");
      expect(released).toMatchObject([{ ip: ip(1), drainingUntil: expect.any(String) }]);
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
      expect((await world.pools.status("web")).released).toEqual(released);
      world.advance(41 * SECOND);
      await world.pass();
      expect((await world.pools.status("web")).released).toEqual([]);
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario(
    "a pool that gave all its addresses away gets a machine of them, though its name has nothing else",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      for (const address of [ip(3), ip(4)]) world.cloud.address(address);
      world.cloud.droplet("n3");
      await world.nodes.create("n3");
      await world.pools.create("other", { ips: [ip(3)], desiredIPs: 1 });
      await world.pass();
      expect(await world.show("other")).toEqual(["ip3 active n3"]);
      await world.pools.edit("web", { ips: [ip(4)] });
      await world.pools.edit("other", { ips: [ip(3), ip(1), ip(2)], desiredIPs: 1 });
      for (let pass = 0; pass < 5; pass++) {
        await world.pass();
        world.advance(61 * SECOND);
      }
      expect(await world.show("web")).toEqual(["ip4 active n1"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip4"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario("a pool that has too many addresses does not give away at once one that it was handed", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pools.create("other", { ips: [ip(1)], desiredIPs: 1, match: { nodeLabel: "role=other" } });
    await world.pools.create("third", { ips: [ip(3)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(30 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(31 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  });
}

/** What else happens while a handed address drains. */
function disturbed(scenario: Register): void {
  scenario("a run that dies anywhere while an address is handed over leaves the next one to wait", async (world) => {
    await published(world);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
    world.advance(40 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(30 * SECOND);
    for (let write = 1; await world.crash(write); write += 1) world.advance(5 * SECOND);
    await world.pass();
    expect(await world.show("other")).toEqual(["ip1 active n5"]);
  });

  scenario("a node that fails while its address is handed over: the address moves at once", async (world) => {
    await handedOver(world);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
    await world.pass();
    expect((await world.pools.status("web")).released).toEqual([]);
  });

  scenario(
    "an address that is on its way for its name when another pool asks for it serves the name first",
    async (world) => {
      await onItsWay(world, { match: { nodeLabel: "role!=other" } });
      await otherMachines(world, "n5");
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      await world.pass({ deadlineMs: 5 * SECOND });
      world.cloud.state.settings.action_delay_ms = 0;
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.cloud.addresses()).toMatchObject({ ip1: "n2", ip2: "n3" });
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    },
  );

  scenario("an address that takes the place of one on its way to a node goes to another node", async (world) => {
    await onItsWay(world);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass({ deadlineMs: 5 * SECOND });
    expect(world.cloudWrites()).toEqual(["assign ip2 to n3"]);
    world.cloud.state.settings.action_delay_ms = 0;
    world.advance(20 * SECOND);
    await world.pass();
    await world.pass();
    expect(world.writes()).toEqual([]);
    expect(await world.show()).toEqual(["ip2 active n3"]);
    expect((await world.pools.status("web")).nodeErrors).toEqual([]);
  });

  scenario("an address that is given back to its first pool while it drains is published again", async (world) => {
    await handedOver(world);
    await world.pools.edit("web", { ips: [ip(1), ip(2)] });
    await world.pools.edit("other", { ips: [ip(9)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    expect((await world.pools.status("web")).ips[ip(1)]).not.toHaveProperty("drainingUntil");
  });

  scenario("a name that cannot be written keeps the address that is handed over where it is", async (world) => {
    await published(world);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "500", times: 50 });
    await world.pass();
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await drainedAndMoved(world);
  });

  scenario(
    "an address that may not leave its name without approval stays where it is, and nothing is written",
    async (world) => {
      await published(world, { approval: "Voluntary" });
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      world.advance(300 * SECOND);
      await world.pass();
      world.advance(300 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pools.edit("web", { approval: "None" });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
    },
  );

  scenario("a suspended pool that shows an address keeps it from the pool that it is handed to", async (world) => {
    await published(world);
    await world.pools.edit("web", { ips: [ip(2)], suspend: true });
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    const { plan } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(plan.holds).toContainEqual(expect.objectContaining({ subject: ip(1), reason: "StillPublished" }));
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await drainedAndMoved(world);
  });

  scenario(
    "a pool with a mistake in its spec keeps an address that its name shows from the other pool",
    async (world) => {
      await published(world);
      await world.pools.edit("web", { ips: [ip(2)], match: { nodeLabel: "role in other" } });
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      const { plan } = await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(plan.holds).toContainEqual(expect.objectContaining({ subject: ip(1), reason: "StillPublished" }));
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pools.edit("web", { match: { nodeLabel: "role!=other" } });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      await drainedAndMoved(world);
    },
  );

  scenario("a mistake in the spec of the pool that handed an address over does not end its drain", async (world) => {
    await handedOver(world);
    await world.pools.edit("web", { ips: [] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  });

  for (const suspend of [false, true]) {
    const whose = suspend ? "a suspended pool" : "a pool";
    scenario(
      `an address that ${whose} hands over while the provider cannot be read is not forgotten`,
      async (world) => {
        await published(world);
        failReadings(world);
        await world.pools.edit("web", { ips: [ip(2)], suspend });
        await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
        await world.pass();
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        world.clearFaults();
        world.advance(30 * SECOND);
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        await world.pools.edit("web", { suspend: false });
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        world.advance(61 * SECOND);
        await world.pass();
        expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
      },
    );
  }

  for (const name of ["other", "zoo"]) {
    scenario(`an address that pool ${name} gives up before it has drained stays until then`, async (world) => {
      await published(world);
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pools.create(name, { ips: [ip(1)], ...OTHERS });
      await world.pass();
      world.cloud.address(ip(3));
      await world.pools.edit(name, { ips: [ip(4)] });
      await world.pools.edit("web", { ips: [ip(2), ip(3)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    });
  }

  scenario("an address on a node that fails moves at once, though its former pool has a mistake", async (world) => {
    await published(world);
    await world.pools.edit("web", { ips: [ip(2)], match: { nodeLabel: "role in other" } });
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  });

  scenario(
    "an address of the other pool whose node fails takes the node that a handed one waits for",
    async (world) => {
      await handedOver(world);
      world.cloud.address(ip(4));
      await world.pools.edit("other", { ips: [ip(1), ip(4)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip4 to n5"]);
      await world.nodes.setReady("n5", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip4 to n6"]);
      // What web still knows of ip1 ends with the drain.
      world.advance(61 * SECOND);
      await world.pass();
    },
  );

  scenario("the record set that shows an address by its annotation lets it drain, too", async (world) => {
    await published(world);
    await world.pools.edit("web", { dnsRecordSet: null });
    await world.recordSets.create("nodes", {
      dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "all" },
      addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
    });
    await world.pass();
    expect(world.dns.set("digitalocean", "all.example.com")).toEqual(["ip1", "ip2"]);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", "all.example.com")).toEqual(["ip2"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  });
}

/** The name of a record set. */
function byRecordSets(scenario: Register): void {
  scenario(
    "a record set that cannot be read when its address is handed over lets it drain once it can",
    async (world) => {
      await published(world);
      await world.pools.edit("web", { dnsRecordSet: null });
      await world.recordSets.create("nodes", {
        dnsRecordSet: { provider: "cloudflare", zone: "example.com", recordName: "all" },
        addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
      });
      world.dns.zone("cloudflare");
      await world.pass();
      expect(world.dns.set("cloudflare", "all.example.com")).toEqual(["ip1", "ip2"]);
      world.fail({ side: "dns", provider: "cloudflare", operation: "records", kind: "500", times: 50 });
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      await world.pass();
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("cloudflare", "all.example.com")).toEqual(["ip2"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
    },
  );

  scenario(
    "a record set of whose nodes none serves lets one address go that makes room, and keeps the other",
    async (world) => {
      world.dns.zone("digitalocean");
      for (const name of ["n1", "n2", "n3"]) {
        world.cloud.droplet(name);
        await world.nodes.create(name, { labels: { role: "web" } });
      }
      await world.nodes.setReady("n3", false);
      for (const number of [1, 2, 3]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1), ip(2)], match: { nodeLabel: "role=web" } });
      await world.recordSets.create("nodes", {
        match: { nodeLabel: "role=web" },
        dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "all" },
        addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
      });
      await world.pass();
      expect(world.dns.set("digitalocean", "all.example.com")).toEqual(["ip1", "ip2"]);
      for (const name of ["n1", "n2"]) await world.nodes.patch(name, { metadata: { labels: { role: "side" } } });
      await world.pass();
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
      world.advance(60 * SECOND);
      await world.pass();
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pools.create("other", { ips: [ip(3)], match: { nodeLabel: "role=side" } });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", "all.example.com")).toEqual(["ip2"]);
      expect(await world.show("other")).toEqual(["ip3 unassigned (Draining)"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
      expect(world.dns.set("digitalocean", "all.example.com")).toEqual(["ip2"]);
    },
  );
}

/** All addresses of a name are handed over. */
function allAtOnce(scenario: Register): void {
  scenario("the last address of a name goes to another pool at once: there is nothing to drain to", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"], { match: { nodeLabel: "role!=other" } });
    await otherMachines(world, "n5");
    await world.pools.edit("web", { ips: [ip(9)] });
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  });

  for (const ips of [
    [ip(1), ip(2)],
    [ip(2), ip(1)],
  ])
    scenario(
      `all addresses of a name are handed over as ${ips.join()}, and none comes: one after another`,
      async (world) => {
        await published(world);
        await world.pools.edit("web", { ips: [ip(9)] });
        await world.pools.create("other", { ips, ...OTHERS });
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(world.dns.set("digitalocean", WWW)).toHaveLength(1);
        await world.pools.edit("other", { ips: ips.toReversed() });
        await world.pass();
        await world.pass();
        expect(world.writes()).toEqual([]);
        world.advance(61 * SECOND);
        await world.pass();
        await world.pass();
        expect((await world.show("other")).toSorted()).toEqual(
          ["ip1 active n5", "ip2 active n6"].map((line) => expect.stringContaining(line.slice(0, 10))),
        );
        expect((await world.pools.status("web")).released).toEqual([]);
      },
    );

  scenario(
    "an address that the other pool has no node for stays in the name that nothing else serves",
    async (world) => {
      await published(world);
      await world.nodes.delete("n6");
      await world.pools.edit("web", { ips: [ip(9)] });
      await world.pools.create("other", { ips: [ip(1), ip(2)], ...OTHERS });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario(
    "all addresses of a name are handed over, and others come: they serve before the old ones go",
    async (world) => {
      await published(world);
      await world.machines("n3");
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(3)] });
      await world.pools.create("other", { ips: [ip(1), ip(2)], ...OTHERS });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip3 to n3"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites().toSorted()).toEqual(["assign ip1 to n5", "assign ip2 to n6"]);
      expect(await world.show("other")).toEqual(["ip1 active n5", "ip2 active n6"]);
    },
  );

  scenario("two pools exchange their addresses in one edit: each leaves its name before it moves", async (world) => {
    await published(world);
    world.cloud.address(ip(3));
    world.cloud.address(ip(4));
    await world.pools.create("other", {
      ips: [ip(3), ip(4)],
      ...OTHERS,
      dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "other" },
    });
    await world.pass();
    await world.pools.edit("web", { ips: [ip(2), ip(3)] });
    await world.pools.edit("other", { ips: [ip(1), ip(4)] });
    for (let round = 0; round < 6; round += 1) {
      await world.pass();
      world.advance(61 * SECOND);
    }
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toContain("ip2");
    expect(world.dns.set("digitalocean", "other.example.com")).toContain("ip4");
  });

  for (const kind of ["500", "422", "404"] as const)
    scenario(
      `two pools exchange all their addresses, and the first moves end with ${kind}: they are tried again`,
      async (world) => {
        await published(world);
        await otherMachines(world, "n7");
        await world.machines("n3");
        world.cloud.address(ip(3));
        world.cloud.address(ip(4));
        await world.pools.create("other", {
          ips: [ip(3), ip(4)],
          ...OTHERS,
          dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "other" },
        });
        await world.pass();
        await world.pools.edit("web", { ips: [ip(3), ip(4)] });
        await world.pools.edit("other", { ips: [ip(1), ip(2)] });
        world.fail({ side: "cloud", operation: "assign", kind, times: 2 });
        for (let round = 0; round < 14; round += 1) {
          await world.pass();
          world.advance(61 * SECOND);
        }
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3", "ip4"]);
        expect(world.dns.set("digitalocean", "other.example.com")).toEqual(["ip1", "ip2"]);
      },
    );

  for (const [each, failure] of [
    [1, "all moves"],
    [1, "a failed move"],
    [2, "all moves"],
    [2, "a failed move"],
  ] as const)
    scenario(`two pools exchange ${each} of ${each} addresses, and no node is free: ${failure}`, async (world) => {
      const names = await exchanging(world, ["a", "b"], each);
      if (failure === "a failed move") world.fail({ side: "cloud", operation: "assign", kind: "422", times: 1 });
      await exchanged(world, names, each);
    });

  scenario("three pools pass their only addresses on in a ring, and no node is free", async (world) => {
    const names = await exchanging(world, ["a", "b", "c"], 1);
    await exchanged(world, names, 1);
  });

  scenario("a cordoned node's address that is the only one left goes at once", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    await world.nodes.patch("n2", CORDON);
    await world.pools.edit("web", { ips: [ip(2)] });
    for (let round = 0; round < 3; round += 1) {
      await world.pass();
      world.advance(61 * SECOND);
    }
    expect(await world.show()).toEqual(["ip2 active n3"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  });

  for (const count of [2, 3])
    scenario(`${count} pools pass their only addresses on in a ring, off cordoned nodes`, async (world) => {
      const names = await ring(world, count);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip2 to n7"]);
      for (const _name of names) {
        expect(names.flatMap((name) => world.dns.set("digitalocean", name))).toHaveLength(count);
        world.advance(61 * SECOND);
        await world.pass();
      }
      const shown = names.flatMap((name) => world.dns.set("digitalocean", name));
      expect(shown).toEqual(count === 2 ? ["ip2", "ip1"] : ["ip2", "ip3", "ip1"]);
      expect(names.flatMap((name) => world.dns.history("digitalocean", name))).not.toContain("");
      await world.pass();
      expect(world.writes()).toEqual([]);
    });
}

/** Pools with a name and a cordoned node each. Each pool was just given the only address of the next one. Nodes n7, n8 and n9 are free. Returns the names. */
async function ring(world: World, count: number): Promise<readonly string[]> {
  const pools = ["a", "b", "c"].slice(0, count);
  const nodes = ["n1", "n2", "n3"].slice(0, count);
  await world.machines(...nodes, "n7", "n8", "n9");
  world.dns.zone("digitalocean");
  for (const [at, recordName] of pools.entries()) {
    world.cloud.address(ip(at + 1));
    await world.pools.create(recordName, { ips: [ip(at + 1)], dnsRecordSet: www("digitalocean", { recordName }) });
  }
  await world.pass();
  for (const node of nodes) await world.nodes.patch(node, CORDON);
  for (const [at, name] of pools.entries()) await world.pools.edit(name, { ips: [ip(((at + 1) % count) + 1)] });
  return pools.map((name) => `${name}.example.com`);
}
