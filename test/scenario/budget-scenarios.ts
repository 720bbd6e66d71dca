import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { externalIP, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE = 60_000;
const LIMITS = { per_hour: 5000, per_minute: 250 } as const;

/** So many names of one zone: `a0.example.com`, … */
function namesOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}.example.com`);
}

/** A record set at DigitalOcean for each name, whose zone is all but the first label, over the nodes of a role. */
async function recordSets(world: World, names: readonly string[], role: string): Promise<void> {
  for (const name of names) {
    const [recordName = "", ...zone] = name.split(".");
    const dnsRecordSet = { provider: "digitalocean", zone: zone.join("."), recordName, ttl: 60 };
    const match = { nodeLabel: `role=${role}` };
    await world.recordSets.create(recordName, { dnsRecordSet, addressType: "ExternalIP", match });
  }
}

function shown(world: World, names: readonly string[]): readonly string[] {
  return names.filter((name) => world.dns.addresses("digitalocean", name).length > 0);
}

/** The calls of one pass at DigitalOcean, for addresses and for names together. */
function calls(world: World): number {
  return world.cloudCalls().length + world.dnsCalls().length;
}

/** Pool `web` with its address on one of two nodes, the other one spare; beside them a node for names. Returns who has it. */
async function poolBesideNames(world: World): Promise<string> {
  for (const [node, role] of [
    ["n1", "web"],
    ["n2", "web"],
    ["n3", "names"],
  ] as const) {
    await world.machines(node);
    await world.nodes.patch(node, { metadata: { labels: { role } } });
  }
  world.cloud.address(ip(1));
  world.dns.zone("digitalocean");
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "role=web" } });
  await world.pass({ settle: true });
  return (await world.show())[0]?.split(" ").at(-1) ?? "";
}

/** A node of the pool is lost while the account's limits hold; nothing was called in the last minutes. */
async function lose(world: World, holder: string): Promise<void> {
  world.cloud.state.settings.rate_limit = LIMITS;
  world.advance(2 * MINUTE);
  await world.nodes.setReady(holder, false);
}

/** The address of the lost node is on the other one. Returns its number. */
function checkMoved(world: World, lost: string): number {
  const left = lost === "n1" ? 2 : 1;
  expect(world.cloud.addresses()).toEqual({ ip1: `n${left}` });
  return left;
}

/** However many names there are, calls are left for what a failover needs, and for the names of lost nodes. */
export function budgetScenarios(scenario: Register): void {
  const worlds = { worlds: ["sandbox", "cluster"] } as const;

  scenario(
    "400 new names, 250 calls a minute: a lost node's address moves in the first run, the names follow minute by minute",
    async (world) => {
      const names = namesOf("a", 400);
      const holder = await poolBesideNames(world);
      await recordSets(world, names, "names");
      await lose(world, holder);
      const { remaining } = await world.pass();
      checkMoved(world, holder);
      const written = shown(world, names).length;
      expect(written).toBeGreaterThan(80);
      expect(calls(world)).toBeLessThan(250);
      const putOff = remaining.holds.filter(({ reason }) => reason === "RateLimited");
      // The last ones that were written may not be confirmed yet: no call is left for that.
      expect(putOff.length - (400 - written)).toBeOneOf([0, 1, 2, 3]);
      expect(putOff[0]).toMatchObject({ notBeforeMs: expect.any(Number) });
      expect(putOff[0]?.detail).toMatch(/kept for what is more urgent\. No call before /);
      for (let runs = 0; runs < 6 && shown(world, names).length < 400; runs += 1) {
        world.advance(MINUTE + 1000);
        await world.pass();
        expect(calls(world)).toBeLessThan(250);
      }
      expect(shown(world, names)).toEqual(names);
      world.advance(MINUTE + 1000);
      await world.pass();
    },
    worlds,
  );

  scenario(
    "other programs used up most of the hour: names are looked at later, and one of a lost node is changed at once",
    async (world) => {
      const names = ["own.example.com", "drifted.example.com", "new.example.org"] as const;
      world.dns.zone("digitalocean", "example.org");
      const holder = await poolBesideNames(world);
      await recordSets(world, names.slice(0, 1), "web");
      await recordSets(world, names.slice(1, 2), "names");
      await world.pass({ settle: true });
      await recordSets(world, names.slice(2), "names");
      world.dns.edit("digitalocean", { fqdn: names[1] }, { content: "198.51.100.9" });
      world.dnsSafety.turnOff();
      world.cloud.leaveOfTheHour(0.25, 600);
      await world.nodes.setReady(holder, false);
      const { remaining } = await world.pass();
      const left = checkMoved(world, holder);
      expect(world.dns.addresses("digitalocean", names[0])).toEqual([externalIP(left)]);
      expect(world.dns.addresses("digitalocean", names[1])).toEqual(["198.51.100.9"]);
      expect(world.dns.addresses("digitalocean", names[2])).toEqual([externalIP(3)]);
      const [gap] = remaining.gaps;
      expect(remaining.gaps).toHaveLength(1);
      expect(gap).toMatchObject({ provider: "digitalocean", putOff: { untilMs: expect.any(Number) } });
      expect(gap?.error).toMatch(/^\d names? w\w+ not looked at, because the calls that are left are kept /);
      world.advance(60 * MINUTE);
      await world.pass();
      expect(world.dns.addresses("digitalocean", names[1])).toEqual([externalIP(3)]);
    },
    worlds,
  );

  scenario(
    "other programs used up nearly all of the hour: a lost node's address and name go at once, a new name waits",
    async (world) => {
      const names = ["own.example.com", "new.example.com"] as const;
      const holder = await poolBesideNames(world);
      await recordSets(world, names.slice(0, 1), "web");
      await world.pass({ settle: true });
      await recordSets(world, names.slice(1), "names");
      world.cloud.leaveOfTheHour(0.15, 1000);
      await world.nodes.setReady(holder, false);
      const { remaining } = await world.pass();
      const left = checkMoved(world, holder);
      expect(world.dns.addresses("digitalocean", names[0])).toEqual([externalIP(left)]);
      expect(world.dns.addresses("digitalocean", names[1])).toEqual([]);
      const held = remaining.holds.filter(({ subject }) => subject === names[1]);
      expect(held).toMatchObject([{ reason: "RateLimited", needsPerson: false, notBeforeMs: expect.any(Number) }]);
      world.advance(60 * MINUTE);
      await world.pass();
      expect(world.dns.addresses("digitalocean", names[1])).toEqual([externalIP(3)]);
    },
    worlds,
  );

  scenario(
    "2,000 names, 60 of them of a lost node, 250 calls a minute: its address and its names go in the first run",
    async (world) => {
      const [others, own] = [namesOf("a", 1940), namesOf("b", 60)];
      const holder = await poolBesideNames(world);
      await recordSets(world, others, "names");
      await recordSets(world, own, "web");
      world.dns.addAll("digitalocean", others, externalIP(3));
      for (const node of [1, 2]) world.dns.addAll("digitalocean", own, externalIP(node));
      await world.pass({ settle: true });
      await lose(world, holder);
      await world.pass();
      const left = checkMoved(world, holder);
      expect(calls(world)).toBeLessThan(250);
      expect(new Set(own.map((name) => world.dns.addresses("digitalocean", name).join()))).toEqual(
        new Set([externalIP(left)]),
      );
      world.advance(MINUTE + 1000);
      await world.pass();
    },
    { worlds: ["sandbox"] },
  );
}
