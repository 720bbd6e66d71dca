import { expect } from "vitest";
import { SHARD_LABEL } from "../../src/model/shard.ts";
import { publishedPool, WWW } from "./dns-scene.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register, ScenarioOptions } from "./scenario.ts";
import { dropletOf, ip } from "./scenario-names.ts";
import type { RunOptions } from "./scenario-run.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const CORDON = {
  spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
};

/** What a process of a shard is run with; without a shard nothing. */
const of = (shard: string | null): RunOptions => (shard === null ? {} : { selection: { shard } });

/** Gives an object to another shard: the process with that label, or (null) the one without. */
const give = (world: World, shard: string | null): Promise<void> => world.pools.label("web", SHARD_LABEL, shard);

/** Both processes pass in turn until all waits are over; then a pass of each writes nothing. */
async function atRest(world: World, ...order: readonly (string | null)[]): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    for (const shard of order) await world.pass(of(shard));
    world.advance(61 * SECOND);
  }
  for (const shard of order) {
    await world.pass(of(shard));
    expect(world.writes(), `${shard ?? "no shard"} at rest`).toEqual([]);
  }
}

/** Two of `www` on n1 and n2, and n3 free, converged by the process without a shard. */
async function published(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"]);
  await world.machines("n3");
}

async function moved(world: World): Promise<void> {
  expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
  expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  expect(await world.nodes.annotations()).toEqual({ n2: "ip2", n3: "ip1" });
}

/** Objects that change from one shard to another in the middle of something. Processes of shards are single runs here. */
export function shardScenarios(scenario: Register): void {
  const options: ScenarioOptions = { worlds: ["memory"] };
  const register: Register = (title, body) => scenario(title, body, options);
  whileMoving(register);
  whileDraining(register);
  afterADeath(register);
  withOneFirewall(register);
}

function withOneFirewall(scenario: Register): void {
  scenario(
    "what another shard's firewall refuses is on record for nobody, so a person's node stays there",
    async (world) => {
      await routedScene(world, ["n1", "n2", "n3"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
      world.cloud.address(ip(1));
      await world.routedIPs.create("two", { address: ip(1) });
      await world.routedIPs.label("two", SHARD_LABEL, "vip");
      await world.pass(of("vip"));
      expect(world.cloudWrites()).toEqual([]);
      // The port is open already, for the other one.
      expect((await world.routedIPs.status("two")).firewalls).toMatchObject([{ ports: ["tcp/30080"], machineIDs: [] }]);
      for (const firewall of world.cloud.state.firewalls) firewall.droplet_ids.push(dropletOf("n2"));
      await world.routedIPs.label("two", SHARD_LABEL, null);
      await world.pass();
      expect(await world.showRouted("two")).toEqual(["ip1 active n2"]);
      await world.pods.setReady("web-n2", false);
      await world.pass();
      expect(await world.showRouted("two")).toEqual(["ip1 active n3"]);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1 n2 n3");
      await atRest(world, "vip", null);
    },
  );
}

function whileMoving(scenario: Register): void {
  for (const method of ["assign", "patchPoolStatus", "annotateNode"])
    scenario(`an object whose shard changes right before ${method} of its move is moved once`, async (world) => {
      await published(world);
      await world.nodes.setReady("n1", false);
      let isGiven = false;
      world.before(method, async () => {
        isGiven = true;
        await give(world, "vip");
      });
      await world.pass();
      expect(isGiven).toBe(true);
      const begun = world.cloudWrites();
      await world.pass(of("vip"));
      expect([...begun, ...world.cloudWrites()]).toEqual(["assign ip1 to n3"]);
      await atRest(world, "vip", null);
      await moved(world);
    });

  scenario(
    "an address that the provider still moves when its object changes the shard is waited for",
    async (world) => {
      await published(world);
      world.cloud.state.settings.action_delay_ms = 90 * SECOND;
      await world.nodes.setReady("n1", false);
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
      await give(world, "vip");
      await world.pass({ ...of("vip"), deadlineMs: 5 * SECOND });
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.advance(90 * SECOND);
      await atRest(world, null, "vip");
      await moved(world);
    },
  );
}

/** ip1, which `www` shows beside ip2, is now of a pool of the shard `vip`; n5 waits for it. */
async function handedOver(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"], { match: { nodeLabel: "role!=other" } });
  world.cloud.droplet("n5");
  await world.nodes.create("n5", { labels: { role: "other" } });
  await world.pools.edit("web", { ips: [ip(2)] });
  await world.pools.create(
    "other",
    { ips: [ip(1)], match: { nodeLabel: "role=other" } },
    { labels: { [SHARD_LABEL]: "vip" } },
  );
}

function whileDraining(scenario: Register): void {
  scenario(
    "an object whose shard changes while its address drains goes on waiting, and moves it then",
    async (world) => {
      await published(world);
      await world.nodes.patch("n1", CORDON);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      const { drainingUntil } = (await world.pools.status("web")).ips[ip(1)] ?? {};
      await give(world, "vip");
      world.advance(20 * SECOND);
      await world.pass(of("vip"));
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
      expect((await world.pools.status("web")).ips[ip(1)]?.drainingUntil).toBe(drainingUntil);
      world.advance(41 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pass(of("vip"));
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
      await atRest(world, null, "vip");
      await moved(world);
    },
  );

  scenario(
    "an address that is handed to an object of a shard while that of its name is down waits, and its status is left as it is",
    async (world) => {
      await handedOver(world);
      await world.pass(of("vip"));
      expect(world.writes()).not.toEqual([]);
      for (let count = 0; count < 3; count += 1) {
        world.advance(15 * SECOND);
        await world.pass(of("vip"));
        expect(world.writes(), `look ${count}`).toEqual([]);
      }
      world.advance(300 * SECOND);
      await world.pass(of("vip"));
      expect(world.cloudWrites()).toEqual([]);
      // Resolvers may have it until its time to live is over, however long it had been waited for.
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      world.advance(50 * SECOND);
      await world.pass(of("vip"));
      expect(world.cloudWrites()).toEqual([]);
      world.advance(11 * SECOND);
      await world.pass(of("vip"));
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
      await atRest(world, "vip", null);
      expect(await world.show("other")).toEqual(["ip1 active n5"]);
    },
  );

  scenario("an address that is handed to an object of another shard drains for both, and moves once", async (world) => {
    await handedOver(world);
    for (const shard of ["vip", null, "vip"]) {
      await world.pass(of(shard));
      expect(world.cloudWrites()).toEqual([]);
    }
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.pass(of("vip"));
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
    await atRest(world, "vip", null);
    expect(await world.show("other")).toEqual(["ip1 active n5"]);
    expect((await world.pools.status("web")).released).toEqual([]);
  });
}

/** Each run dies one write later than the one before it, and the object is another shard's after each. Returns how many died. */
async function dieInTurn(world: World): Promise<number> {
  for (let died = 0; ; died += 1) {
    const owner = died % 2 === 0 ? null : "vip";
    await give(world, owner);
    if (!(await world.crash(died + 1, of(owner)))) return died;
    world.advance(5 * SECOND);
  }
}

function afterADeath(scenario: Register): void {
  for (const first of [null, "vip"] as const)
    scenario(
      `an object whose runs die and that changes its shard after each is moved once, ${first ?? "none"} last`,
      async (world) => {
        await published(world);
        await world.nodes.setReady("n1", false);
        expect(await dieInTurn(world)).toBeGreaterThan(2);
        await give(world, first);
        await atRest(world, "vip", null);
        await moved(world);
      },
    );

  scenario("a drain whose runs die, each of another shard, ends with one move", async (world) => {
    await published(world);
    await world.nodes.patch("n1", CORDON);
    expect(await dieInTurn(world)).toBeGreaterThan(1);
    world.advance(61 * SECOND);
    expect(await dieInTurn(world)).toBeGreaterThan(1);
    await atRest(world, "vip", null);
    await moved(world);
  });

  scenario("what one shard's run bought before it died the next one finds: nothing is bought twice", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
    expect(await dieInTurn(world)).toBeGreaterThan(2);
    await atRest(world, "vip", null);
    expect(world.cloud.allAddresses()).toHaveLength(1);
    expect((await world.pools.status("web")).acquired).toHaveLength(1);
    await give(world, "vip");
    await world.pools.delete("web");
    for (let round = 0; round < 4; round += 1) {
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pass(of("vip"));
      world.advance(61 * SECOND);
    }
    expect(world.cloud.allAddresses()).toEqual([]);
    expect(await world.pools.existing()).toEqual([]);
  });
}
