import { expect } from "vitest";
import { NOT_BEGUN, RunRestraint } from "../../src/model/restraint.ts";
import { addCall, failReadings, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
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
  ttls(scenario);
  recordSets(scenario);
  released(scenario);
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

  for (const [title, happens] of [
    ["whose new node is lost", async (world: World) => await world.nodes.setReady("n2", false)],
    ["whose new node gets another address", async (world: World) => world.cloud.address(ip(9), { on: "n2" })],
  ] as const)
    scenario(
      `the only address of a cordoned node ${title} after the run died that was to send it there serves on where it is`,
      async (world) => {
        await publishedPool(world, "digitalocean", ["n1"]);
        await world.machines("n2");
        await cordon(world, "n1");
        await world.crash(2);
        expect(world.cloudWrites()).toEqual([]);
        expect((await world.pools.status("web")).ips[ip(1)]).toMatchObject({ state: "in-progress", nodeName: "n2" });
        await happens(world);
        await world.pass();
        expect(world.writes().filter((write) => /annotate|move|dns/.test(write))).toEqual([]);
        expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
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

  for (const backMs of [600 * SECOND, 3600 * SECOND, 365 * 86_400 * SECOND])
    scenario(
      `a clock that goes back by ${backMs / SECOND} s in the middle of a drain lets it begin anew, and no more`,
      async (world) => {
        world.advance(backMs);
        await draining(world);
        world.advance(10 * SECOND - backMs);
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        world.advance(61 * SECOND);
        await world.pass();
        expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      },
    );

  scenario(
    "a clock that goes back while a pool is suspended in the middle of a drain does not lengthen it",
    async (world) => {
      world.advance(3600 * SECOND);
      await draining(world);
      await world.pools.edit("web", { suspend: true });
      world.advance(-3600 * SECOND);
      await world.pass();
      await world.pools.edit("web", { suspend: false });
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    },
  );

  scenario("a clock that goes ahead for a while in the middle of a drain does not lengthen it", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    world.advance(3600 * SECOND);
    await cordon(world, "n1");
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    world.advance(-3600 * SECOND);
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
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

/** Two of `www` on n1 and n2 with a TTL of half an hour, n3 free; then the TTL is lowered to a minute. */
async function lowered(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"], { dnsRecordSet: www("digitalocean", { ttl: 1800 }) });
  await world.machines("n3");
  await world.pools.edit("web", { dnsRecordSet: www("digitalocean") });
  await world.pass();
  expect(world.dns.ttls("digitalocean", WWW)).toEqual([60]);
}

/** A TTL that is lowered: resolvers have what they asked for before by the old one. */
function ttls(scenario: Register): void {
  const moved = ["assign ip1 to n3"];
  scenario("an address that leaves its name after the TTL was lowered drains by the old one", async (world) => {
    await lowered(world);
    world.advance(600 * SECOND);
    await cordon(world, "n1");
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    for (const seconds of [61, 600, 500]) {
      world.advance(seconds * SECOND);
      await world.pass();
      expect([...world.cloudWrites(), ...world.writes()]).toEqual([]);
    }
    world.advance(40 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(moved);
  });

  scenario("an address that leaves its name long after the TTL was lowered drains by the new one", async (world) => {
    await lowered(world);
    world.advance(1800 * SECOND);
    await cordon(world, "n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(moved);
  });

  scenario("a TTL that is lowered in the middle of a drain does not shorten it", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"], { dnsRecordSet: www("digitalocean", { ttl: 1800 }) });
    await world.machines("n3");
    await cordon(world, "n1");
    await world.pass();
    await world.pools.edit("web", { dnsRecordSet: www("digitalocean") });
    await world.pass();
    world.advance(1000 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(801 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(moved);
  });

  scenario(
    "an address that leaves a name of TTL 1 at Cloudflare drains for the 300 s that this means",
    async (world) => {
      await publishedPool(world, "cloudflare", ["n1", "n2"], { dnsRecordSet: www("cloudflare", { ttl: 1 }) });
      await world.machines("n3");
      await cordon(world, "n1");
      await world.pass();
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ip2"]);
      world.advance(290 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(11 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(moved);
    },
  );

  scenario("a name whose TTL the provider decides has none that is lowered: it remembers nothing", async (world) => {
    await publishedPool(world, "cloudflare", ["n1", "n2"]);
    world.dns.makeAutomatic("cloudflare", WWW);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip2"]);
    expect((await world.pools.status("web")).leftDNS).toBeUndefined();
  });

  scenario(
    "a reduction right after the TTL was lowered gives nothing back before the old one is over",
    async (world) => {
      await lowered(world);
      world.advance(60 * SECOND);
      world.cloud.address(ip(4));
      await world.pools.create("other", { ips: [ip(4)] });
      await world.nodes.delete("n3");
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pass();
      world.advance(1000 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(741 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip4 to n1"]);
    },
  );
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

/** Two of `www` on n1 and n2; the spec has ip3 in the place of ip1, and no pass has seen that yet. */
async function edited(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"]);
  world.cloud.address(ip(3));
  await world.pools.edit("web", { ips: [ip(3), ip(2)] });
}

/** As {@link edited}, after a pass: ip1 has left its name. */
async function swapped(world: World): Promise<void> {
  await edited(world);
  await world.pass();
  expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  expect(world.cloudWrites()).toEqual([]);
}

/** Two passes cannot read the account's addresses; a third one can, 40 seconds from now. */
async function readAgainAfter40Seconds(world: World): Promise<void> {
  failReadings(world);
  world.advance(20 * SECOND);
  await world.pass();
  await world.pass();
  world.clearFaults();
  world.advance(20 * SECOND);
  await world.pass();
}

async function releasedUntil(world: World): Promise<string | undefined> {
  const { released } = await world.pools.status("web");
  return released.find((entry) => entry.ip === ip(1))?.drainingUntil;
}

/** Addresses that leave the spec, and whose machine others need. */
function released(scenario: Register): void {
  scenario(
    "an address that leaves the spec keeps its node until no resolver has it, then another takes it",
    async (world) => {
      await swapped(world);
      const { plan } = await world.pass();
      expect(plan.holds).toMatchObject([{ kind: "assign-ip", subject: ip(3), reason: "Draining" }]);
      expect(world.writes()).toEqual([]);
      expect(Date.parse((await releasedUntil(world)) ?? "")).toBeGreaterThan(world.nowMs() + 30 * SECOND);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
      expect((await world.pools.status("web")).released).toEqual([]);
    },
  );

  scenario(
    "a clock that goes back by an hour while an address leaves the spec makes nobody wait for longer",
    async (world) => {
      world.advance(3600 * SECOND);
      await swapped(world);
      world.advance(-3600 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    },
  );

  scenario("a run that dies anywhere while an address leaves the spec leaves the next one to wait", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(3), ip(2)] });
    for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
    world.advance(40 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(30 * SECOND);
    for (let write = 1; await world.crash(write); write += 1) world.advance(5 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip2 active n2", "ip3 active n1"]);
  });

  scenario(
    "an address that leaves the spec beside a node that fails: the recovery takes its node at once",
    async (world) => {
      await swapped(world);
      await world.nodes.setReady("n2", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip2 to n1"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    },
  );

  scenario("an address whose droplet is destroyed takes the node of one that left the spec at once", async (world) => {
    await swapped(world);
    await world.nodes.delete("n2");
    world.cloud.removeDroplet("n2");
    await world.pass();
    // A process that watches sees the node go before its droplet: then both are unassigned, and the first one of the spec is sent.
    expect(world.cloudWrites()).toEqual(["unassign ip1", expect.stringMatching(/^assign ip[23] to n1$/)]);
    expect(await world.show()).toContainEqual(expect.stringMatching(/^ip[23] active n1$/));
  });

  scenario("an address whose drain cannot be stored keeps its node until it can", async (world) => {
    await edited(world);
    world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "403", times: 1000 });
    for (let round = 0; round < 3; round += 1) {
      await world.pass();
      expect([world.cloudWrites(), world.dns.set("digitalocean", WWW)]).toEqual([[], ["ip2"]]);
      world.advance(20 * SECOND);
    }
    world.clearFaults();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
  });

  scenario("an address that left its name, of which the answer was lost, drains from then on", async (world) => {
    await edited(world);
    world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "lost-answer", times: 10 });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.clearFaults();
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
  });

  scenario("an address drains on although the provider cannot be read for a while", async (world) => {
    await swapped(world);
    await readAgainAfter40Seconds(world);
    expect(world.cloudWrites()).toEqual([]);
    world.advance(21 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
  });

  scenario(
    "an address of a cordoned node drains on although the provider cannot be read for a while",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.machines("n3");
      await cordon(world, "n1");
      await world.pass();
      expect([world.cloudWrites(), world.dns.set("digitalocean", WWW)]).toEqual([[], ["ip2"]]);
      await readAgainAfter40Seconds(world);
      expect([world.cloudWrites(), world.dns.set("digitalocean", WWW)]).toEqual([[], ["ip2"]]);
      world.advance(21 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    },
  );

  scenario("an address that comes back to the spec while it drains is published again at once", async (world) => {
    await swapped(world);
    await world.pools.edit("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    const { ips, released: left } = await world.pools.status("web");
    expect([ips[ip(1)]?.drainingUntil, left]).toEqual([undefined, []]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
  });

  scenario(
    "another pool waits for the node of an address that left the spec, and gets it afterwards",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      world.cloud.address(ip(4));
      await world.pools.create("other", { ips: [ip(4)] });
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip4 to n1"]);
    },
  );

  scenario(
    "a name that cannot be written keeps the address that left the spec on its node, annotated",
    async (world) => {
      await edited(world);
      world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "500", times: 50 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["ip2 active n2", "ip3 active n1"]);
    },
  );

  scenario("an address that left the spec and waits for an approval: nothing is written meanwhile", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"], { approval: "Voluntary" });
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    world.advance(300 * SECOND);
    await world.pass();
    expect(world.writes()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    await world.pools.edit("web", { approval: "None" });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  });

  scenario(
    "a node that is cordoned while the address that left the spec drains lets it drain all the same",
    async (world) => {
      await swapped(world);
      await cordon(world, "n1");
      await world.pools.edit("web", {
        match: { tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }] },
      });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    },
  );

  scenario("a node that fails while the address that left the spec drains: it drains no more", async (world) => {
    await swapped(world);
    await world.machines("n3");
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip3 to n3"]);
    expect(await releasedUntil(world)).toBeUndefined();
  });

  scenario(
    "a pool suspended while an address that left the spec drains stands still, and forgets nothing",
    async (world) => {
      await swapped(world);
      const until = await releasedUntil(world);
      await world.pools.edit("web", { suspend: true });
      await world.pass();
      expect(await releasedUntil(world)).toBe(until);
      await world.pools.edit("web", { suspend: false });
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(41 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    },
  );

  for (const drainingUntil of ["soon", "1970-01-01T00:00:00Z", ""])
    scenario(
      `the drain of an address that left the spec is over when status says "${drainingUntil}"`,
      async (world) => {
        await swapped(world);
        await world.pools.writeStatus("web", { released: [{ ip: ip(1), drainingUntil }] });
        await world.pass();
        expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
      },
    );

  scenario(
    "a time far ahead holds the node of an address that left the spec ten minutes and a TTL at most",
    async (world) => {
      await swapped(world);
      await world.pools.writeStatus("web", { released: [{ ip: ip(1), drainingUntil: "2999-01-01T00:00:00Z" }] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(661 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    },
  );

  scenario(
    "the last address of a name that leaves the spec goes in one pass: there is nothing to drain to",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1"]);
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(3)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3"]);
    },
  );

  scenario("a cordoned node waits with its address for the node of one that left the spec", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
    await world.pools.edit("web", { ips: [ip(2), ip(3)], drainSeconds: 60 });
    await cordon(world, "n2");
    await world.pass();
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.addresses("digitalocean", WWW).length).toBeGreaterThanOrEqual(1);
    world.advance(121 * SECOND);
    await world.pass();
    world.advance(121 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip2 active n1", "ip3 active n3"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
  });

  scenario(
    "all addresses of a spec exchanged in one edit: one after another, and the name always serves",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      world.cloud.address(ip(3));
      world.cloud.address(ip(4));
      await world.pools.edit("web", { ips: [ip(3), ip(4)] });
      await world.pass();
      expect([world.cloudWrites(), world.dns.set("digitalocean", WWW)]).toEqual([[], ["ip2"]]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip2", "assign ip4 to n2"]);
      expect(await world.show()).toEqual(["ip3 active n1", "ip4 active n2"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3", "ip4"]);
    },
  );

  scenario("all addresses of a spec exchanged, and runs that die anywhere: the name always serves", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.cloud.address(ip(3));
    world.cloud.address(ip(4));
    await world.pools.edit("web", { ips: [ip(3), ip(4)] });
    for (let round = 0; round < 3; round += 1) {
      for (let write = 1; await world.crash(write); write += 1) world.advance(SECOND);
      world.advance(61 * SECOND);
    }
    await world.pass();
    expect(await world.show()).toEqual(["ip3 active n1", "ip4 active n2"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3", "ip4"]);
  });

  scenario("all addresses of a spec exchanged for mistyped ones: nothing leaves the name", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.edit("web", { ips: [ip(7), ip(8)] });
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    expect(world.dns.history("digitalocean", WWW)).toEqual([]);
    expect(world.cloudWrites()).toEqual([]);
  });

  scenario(
    "all addresses of a spec exchanged while one node is cordoned: the other node's address stays until it is replaced",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      world.cloud.address(ip(3));
      await cordon(world, "n1");
      await world.pools.edit("web", { ips: [ip(3)] });
      for (let round = 0; round < 3; round += 1) {
        await world.pass();
        world.advance(61 * SECOND);
      }
      await world.pass();
      expect(await world.show()).toEqual(["ip3 active n2"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3"]);
    },
  );

  scenario(
    "two pools wait for the machines of all that a third one gave up: its name keeps one until they have",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      world.cloud.address(ip(3));
      world.cloud.address(ip(4));
      await world.pools.edit("web", { ips: [ip(7), ip(8)] });
      await world.pools.create("other", { ips: [ip(3)] });
      await world.pools.create("third", { ips: [ip(4)] });
      for (let round = 0; round < 3; round += 1) {
        await world.pass();
        world.advance(61 * SECOND);
      }
      await world.pass();
      expect(await world.show("other")).toEqual(["ip3 active n1"]);
      expect(world.cloud.addresses()).toMatchObject({ ip3: "n1" });
    },
  );

  scenario(
    "the address that a spare has replaced is used again on its cordoned node: it serves there until the spare has drained",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1"]);
      world.cloud.address(ip(2));
      await world.pools.edit("web", { ips: [ip(1), ip(2)], desiredIPs: 1 });
      await world.machines("n2");
      await cordon(world, "n1");
      await world.pass();
      expect(await world.show()).toEqual(["ip1 disabled n1 (AboveDesired)", "ip2 active n2"]);
      await world.pools.edit("web", { ips: [ip(1)] });
      await world.pass();
      expect([world.cloudWrites(), world.dns.set("digitalocean", WWW)]).toEqual([[], ["ip1"]]);
      world.advance(30 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.advance(31 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip2", "assign ip1 to n2"]);
      expect(await world.show()).toEqual(["ip1 active n2"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );
}
