import { expect } from "vitest";
import { NOT_BEGUN, RunRestraint } from "../../src/model/restraint.ts";
import { addCall, publishedNodes, publishedPool, WWW } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const CORDON_TAINT = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

async function cordon(world: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) await world.nodes.patch(name, { spec: { unschedulable: true, taints: [CORDON_TAINT] } });
}

/** Two of `www` on n1 and n2, n1 cordoned, n3 free: ip1 has left its name and drains. */
async function draining(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"]);
  await world.machines("n3");
  await cordon(world, "n1");
  await world.pass();
  expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  expect((await world.pools.status("web")).ips[ip(1)]?.drainingUntil).toBeDefined();
}

/** What happens to an address while resolvers may still hand it out. */
export function drainChangeScenarios(scenario: Register): void {
  people(scenario);
  memory(scenario);
  recordSets(scenario);
}

function people(scenario: Register): void {
  scenario(
    "a node that is uncordoned in the middle of a drain keeps its address, published again at once",
    async (world) => {
      await draining(world);
      await world.nodes.patch("n1", { spec: { unschedulable: null, taints: null } });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      expect((await world.pools.status("web")).ips[ip(1)]).not.toHaveProperty("drainingUntil");
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
    },
  );

  scenario("a pool that is suspended in the middle of a drain stands still, and goes on afterwards", async (world) => {
    await draining(world);
    await world.pools.edit("web", { suspend: true });
    world.advance(61 * SECOND);
    await world.pass();
    expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario("a pool that is suspended and resumed within a drain has not forgotten it", async (world) => {
    await draining(world);
    await world.pools.edit("web", { suspend: true });
    await world.pass();
    await world.pools.edit("web", { suspend: false });
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(41 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  });

  scenario("a maxUnavailable edited in the middle of a drain lets the drain end as it began", async (world) => {
    await draining(world);
    await world.pools.edit("web", { maxUnavailable: "100%", drainSeconds: 600 });
    world.advance(61 * SECOND);
    await world.pass();
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
  });

  scenario(
    "a run with --settle that may remove nothing moves addresses all the same: a spare took the place of the old one",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)], desiredIPs: 2 });
      await world.pass();
      await world.machines("n3");
      await cordon(world, "n1");
      await world.pass({ restraint: new RunRestraint({ limits: { removals: 0 }, begun: NOT_BEGUN }), settle: true });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
      expect(await world.show()).toEqual(["ip1 disabled n1 (AboveDesired)", "ip2 active n2", "ip3 active n3"]);
    },
    { onlySingleRuns: "the limits are those of a single run" },
  );

  scenario("a name that cannot be written: the relocation waits, a recovery does not", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
    await world.machines("n4");
    await cordon(world, "n1");
    world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "500", times: 50 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n4"]);
  });
}

function memory(scenario: Register): void {
  for (const drainingUntil of ["soon", "1970-01-01T00:00:00Z", ""])
    scenario(`a drain whose time in status is "${drainingUntil}" is over`, async (world) => {
      await draining(world);
      await world.pools.writeStatus("web", { ips: { [ip(1)]: { drainingUntil } } });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      expect((await world.pools.status("web")).ips[ip(1)]).not.toHaveProperty("drainingUntil");
    });

  scenario("a time of a drain that is left on an address which serves is forgotten", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.writeStatus("web", { ips: { [ip(1)]: { drainingUntil: "2999-01-01T00:00:00Z" } } });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    expect((await world.pools.status("web")).ips[ip(1)]).not.toHaveProperty("drainingUntil");
  });

  scenario("a failed addition to the name holds nothing of a drain up", async (world) => {
    await draining(world);
    world.fail({ ...addCall("digitalocean"), kind: "500", times: 1 });
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  });
}

function recordSets(scenario: Register): void {
  scenario("a record set whose nodeLabel selects no node keeps its records, and says so", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"]);
    const before = world.dns.set("digitalocean", WWW);
    await world.recordSets.edit("nodes", { match: { nodeLabel: "role=edg" } });
    const { plan } = await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(before);
    expect(plan.holds.map(({ reason }) => reason)).toContain("EmptyTarget");
    await world.recordSets.edit("nodes", { match: { nodeLabel: "" } });
    const { plan: after } = await world.pass();
    expect(after.holds.map(({ reason }) => reason)).not.toContain("EmptyTarget");
  });

  scenario("a record set of cordoned nodes keeps the others, and the last ones stay", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2", "n3"]);
    await cordon(world, "n1");
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toHaveLength(2);
    await cordon(world, "n2", "n3");
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toHaveLength(2);
  });
}
