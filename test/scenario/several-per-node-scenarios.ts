import { expect } from "vitest";
import { WWW, www } from "./dns-scene.ts";
import { exchanged, exchanging } from "./exchange-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** Several addresses on a node, where the provider gives a machine more than one. */
export function severalPerNodeScenarios(scenario: Register): void {
  fills(scenario);
  failovers(scenario);
  editedLimits(scenario);
  sharedNodes(scenario);
  handMoves(scenario);
  exchanges(scenario);
  crashes(scenario);
}

/** What a provider does that gives a machine one address. */
export function onePerNodeScenarios(scenario: Register): void {
  scenario("a pool that asks for two a node gets one a node, and says why", async (world) => {
    await pooled(world, ["n1"], 2, { maxPerNode: 2 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    const { conditions } = await world.pools.status("web");
    expect(conditions.find(({ type }) => type === "Ready")?.status).toBe("True");
    expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({ status: "True", reason: "OnePerNode" });
    await world.machines("n2");
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 no-match n1 (NoCandidate)", "ip2 active n2"]);
    await world.pools.edit("web", { maxPerNode: 1 });
    await world.pass();
    const after = await world.pools.status("web");
    expect(after.conditions.find(({ type }) => type === "Stalled")?.status).toBe("False");
  });

  scenario("a pool that asks for two a node exchanges its address in one pass", async (world) => {
    await pooled(world, ["n1"], 1, { maxPerNode: 2 });
    await world.pass();
    world.cloud.address(ip(2));
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    expect(await world.show()).toEqual(["ip2 active n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip2" });
  });
}

/** Pool `web` of the addresses ip1… and nodes of these names, before the first pass. */
async function pooled(
  world: World,
  names: readonly string[],
  count: number,
  spec: Readonly<Record<string, unknown>>,
): Promise<void> {
  await world.machines(...names);
  const ips = Array.from({ length: count }, (_, index) => ip(index + 1));
  for (const address of ips) world.cloud.address(address);
  await world.pools.create("web", { ips, ...spec });
}

/** Passes, a TTL apart, until what goes of its own accord has gone; at every change so many addresses of `www` answer. */
async function settled(world: World, least: number, passes = 6): Promise<void> {
  const answering = (): number => {
    const shown = world.dns.addresses("hetzner", WWW);
    return shown.length - world.dnsSafety.wrong(shown).length;
  };
  for (let pass = 0; pass < passes; pass += 1) {
    for (const method of ["assign", "unassign", "writeRecords"])
      world.before(method, async () => expect(answering(), `before ${method}`).toBeGreaterThanOrEqual(least));
    await world.pass();
    world.advance(61 * SECOND);
  }
}

async function minutes(world: World, count: number): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) {
    await world.pass();
    world.advance(61 * SECOND);
  }
}

function fills(scenario: Register): void {
  scenario("every node gets one address before one gets a second, and none gets a third", async (world) => {
    world.dns.zone("hetzner");
    await pooled(world, ["n1", "n2"], 5, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
    await world.pass();
    const served = ["ip1 active n1", "ip2 active n2", "ip3 active n1", "ip4 active n2"];
    expect(await world.show()).toEqual([...served, "ip5 unassigned (NoCandidate)"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip3", n2: "ip2,ip4" });
    expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2", "ip3", "ip4"]);
    const { assignableNodes, conditions } = await world.pools.status("web");
    expect(assignableNodes).toEqual([]);
    expect(conditions.find(({ type }) => type === "Ready")?.status).toBe("True");
    await world.machines("n3");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip5 to n3"]);
  });

  scenario("the second addresses come later, when nodes and addresses do", async (world) => {
    await pooled(world, ["n1"], 1, { maxPerNode: 2 });
    await world.pass();
    world.cloud.address(ip(2));
    await world.pools.edit("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip2" });
  });

  scenario("addresses are bought for every node, then for each a second time", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 5, maxPerNode: 2, reclaimPolicy: "Delete" });
    for (let pass = 0; pass < 4; pass += 1) {
      await world.pass();
      world.advance(SECOND);
    }
    expect(await world.show()).toEqual([
      "new1 active n1",
      "new2 active n2",
      "new3 active n1",
      "new4 active n2",
      "new5 unassigned (NoCandidate)",
    ]);
    await world.pools.edit("web", { desiredIPs: 2 });
    for (let pass = 0; pass < 4; pass += 1) {
      await world.pass();
      world.advance(61 * SECOND);
    }
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    expect(await world.nodes.annotations()).toEqual({ n1: "new1", n2: "new2" });
  });

  scenario("a record set publishes all addresses of a node's annotation", async (world) => {
    world.dns.zone("digitalocean");
    await pooled(world, ["n1", "n2"], 3, { maxPerNode: 2 });
    await world.recordSets.create("nodes", {
      addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
      dnsRecordSet: www("digitalocean"),
    });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    expect(await world.show()).toEqual(["ip1 active n2", "ip2 active n2", "ip3 no-match n1 (NoCandidate)"]);
  });
}

function failovers(scenario: Register): void {
  scenario("two addresses of a lost node go to two nodes, and come back to none", async (world) => {
    world.dns.zone("hetzner");
    await pooled(world, ["n1", "n2", "n3"], 4, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
    await world.pass();
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip4", n2: "ip2", n3: "ip3" });
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(new Set(world.cloudWrites())).toEqual(new Set(["assign ip1 to n2", "assign ip4 to n3"]));
    expect(await world.nodes.annotations()).toEqual({ n2: "ip1,ip2", n3: "ip3,ip4" });
    expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2", "ip3", "ip4"]);
    await world.nodes.setReady("n1", true);
    await world.pass();
    expect([world.cloudWrites(), world.dnsWrites()]).toEqual([[], []]);
    expect((await world.pools.status("web")).assignableNodes).toEqual(["n1"]);
  });

  scenario("a node that is gone leaves its two addresses to the one node with room, and to none", async (world) => {
    await pooled(world, ["n1", "n2"], 3, { maxPerNode: 2 });
    await world.pass();
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip3", n2: "ip2" });
    await world.nodes.delete("n1");
    world.cloud.removeDroplet("n1");
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2", "ip2 active n2", "ip3 unassigned (NoCandidate)"]);
    await world.machines("n3");
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2", "ip2 active n2", "ip3 active n3"]);
  });

  scenario("a cordoned node is left by one address after the other", async (world) => {
    world.dns.zone("hetzner");
    await pooled(world, ["n1", "n2"], 3, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
    await world.pass();
    await world.machines("n3");
    await world.nodes.patch("n1", {
      spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
    });
    const { plan } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(plan.holds.map(({ subject, reason }) => [subject, reason])).toEqual([
      [ip(1), "Draining"],
      [ip(3), "DisruptionBudget"],
    ]);
    await settled(world, 2);
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2", "ip3 active n2"]);
  });
}

function editedLimits(scenario: Register): void {
  scenario("raised from 1 to 2: what waits comes, and what is there stays", async (world) => {
    await pooled(world, ["n1", "n2"], 3, { maxPerNode: 1 });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2", "ip3 unassigned (NoCandidate)"]);
    await world.pools.edit("web", { maxPerNode: 2 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip3 to n1"]);
  });

  for (const maxPerNode of [1, null])
    scenario(`lowered from 2 to ${maxPerNode ?? "none"}: the excess goes one by one, as nodes come`, async (world) => {
      world.dns.zone("hetzner");
      await pooled(world, ["n1", "n2"], 4, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
      await world.pass();
      await world.pools.edit("web", { maxPerNode });
      await world.pass();
      expect([world.cloudWrites(), world.dnsWrites()]).toEqual([[], []]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip3", n2: "ip2,ip4" });
      await world.machines("n3", "n4");
      const { plan } = await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2", "ip4"]);
      expect(plan.holds.map(({ subject, reason }) => [subject, reason])).toEqual([
        [ip(3), "Draining"],
        [ip(4), "DisruptionBudget"],
      ]);
      await settled(world, 3);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2", "ip3 active n3", "ip4 active n4"]);
      expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2", "ip3", "ip4"]);
    });

  for (const maxPerNode of [0, "2", 1.5])
    scenario(`maxPerNode ${JSON.stringify(maxPerNode)} is refused`, async (world) => {
      await expect(pooled(world, ["n1"], 1, { maxPerNode })).rejects.toThrow("maxPerNode");
    });
}

function sharedNodes(scenario: Register): void {
  scenario(
    "of two addresses that are handed to others and cannot go there the one of a suspended pool alone stays on its node",
    async (world) => {
      world.dns.zone("hetzner");
      for (const number of [1, 2, 3, 4, 5, 6, 7, 8]) world.cloud.address(ip(number));
      for (const [pool, node, ips] of [
        ["a", "n5", [ip(5), ip(6)]],
        ["b", "n1", [ip(1), ip(2)]],
        ["c", "n7", [ip(7), ip(8)]],
      ] as const) {
        world.cloud.droplet(node);
        await world.nodes.create(node, { labels: { role: pool } });
        const dnsRecordSet = www("hetzner", { recordName: pool });
        await world.pools.create(pool, { ips, maxPerNode: 2, match: { nodeLabel: `role=${pool}` }, dnsRecordSet });
      }
      await world.pass();
      await world.pools.edit("c", { ips: [ip(7), ip(8), ip(2)], suspend: true });
      await world.pools.edit("a", { ips: [ip(5), ip(6), ip(1)] });
      await world.pools.edit("b", { ips: [ip(3), ip(4)] });
      await minutes(world, 5);
      expect(await world.show("b")).toEqual(["ip3 active n1", expect.stringContaining("ip4 unassigned")]);
      expect(world.cloud.addresses()).toMatchObject({ ip1: "-", ip2: "n1", ip3: "n1" });
      expect(world.dns.addresses("hetzner", "b.example.com")).toEqual([ip(3)]);
      await world.pools.edit("c", { suspend: false });
      await minutes(world, 5);
      expect(await world.show("b")).toEqual(["ip3 active n1", "ip4 active n1"]);
      expect(world.dns.addresses("hetzner", "b.example.com")).toEqual([ip(3), ip(4)]);
    },
  );

  scenario("two pools that allow it share a node; one that does not say so shares none", async (world) => {
    await world.machines("n1");
    for (const number of [1, 2, 3]) world.cloud.address(ip(number));
    await world.pools.create("web", { ips: [ip(1)], maxPerNode: 2 });
    await world.pools.create("mail", { ips: [ip(2)], maxPerNode: 2 });
    await world.pools.create("plain", { ips: [ip(3)] });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect(await world.show("mail")).toEqual(["ip2 active n1"]);
    expect(await world.show("plain")).toEqual(["ip3 unassigned (NoCandidate)"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip2 of shop/web,shop/mail" });
    await world.machines("n2");
    await world.pass();
    expect(await world.show("plain")).toEqual(["ip3 active n2"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.machines("n3");
    await world.pass();
    expect(new Set(world.cloudWrites())).toEqual(new Set(["assign ip1 to n3", "assign ip2 to n3"]));
    expect(await world.nodes.annotations()).toEqual({
      n2: "ip3 of shop/plain",
      n3: "ip1,ip2 of shop/web,shop/mail",
    });
  });

  scenario(
    "of two pools on a node one is suspended, and one is deleted: each leaves the other's alone",
    async (world) => {
      await world.machines("n1");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1)], maxPerNode: 2 });
      await world.pools.create("mail", { ips: [ip(2)], maxPerNode: 2 });
      await world.pass();
      await world.pools.edit("web", { suspend: true });
      await world.pools.delete("mail");
      await world.pass();
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "n1" });
      await world.pools.edit("web", { suspend: false });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
    },
  );

  scenario("a status that is lost is found again by an annotation with two addresses", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 2, maxPerNode: 2 });
    for (let pass = 0; pass < 3; pass += 1) await world.pass();
    expect(await world.nodes.annotations()).toEqual({ n1: "new1,new2" });
    await world.pools.writeStatus("web", null);
    await world.pass();
    await world.pass();
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    expect(await world.show()).toEqual(["new1 active n1", "new2 active n1"]);
  });
}

function handMoves(scenario: Register): void {
  scenario("an address that a person puts beside another one stays where two may be", async (world) => {
    await pooled(world, ["n1", "n2"], 2, { maxPerNode: 2 });
    await world.pass();
    world.cloud.put(ip(2), "n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip2" });
  });

  scenario("where one may be it goes back: out of the name first, then the TTL, then the move", async (world) => {
    world.dns.zone("hetzner");
    await pooled(world, ["n1", "n2"], 2, { maxPerNode: 1, dnsRecordSet: www("hetzner") });
    await world.pass();
    world.cloud.put(ip(2), "n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("hetzner", WWW)).toEqual(["ip1"]);
    await settled(world, 1, 3);
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
  });

  scenario(
    "where nothing is said it stays, as it always did",
    async (world) => {
      await pooled(world, ["n1", "n2"], 2, {});
      await world.pass();
      world.cloud.put(ip(2), "n1");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n1"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    },
    { checksAnnotations: false },
  );
}

/** Pools of different nodes, two addresses to each, exchange all of them, and no node has room. */
function exchanges(scenario: Register): void {
  const two = { provider: "hetzner", perNode: 2, spec: { maxPerNode: 2 } } as const;
  const pools = ["a", "b"];
  for (const each of [2, 4])
    scenario(`two pools exchange ${each} addresses, two on a node`, async (world) => {
      await exchanging(world, pools, each, two);
      await exchanged(world, pools, each, two);
    });

  scenario("three pools exchange two addresses each, two on a node, each run to its end", async (world) => {
    await exchanging(world, ["a", "b", "c"], 2, two);
    await exchanged(world, ["a", "b", "c"], 2, { ...two, settle: true });
  });

  scenario("two pools exchange two addresses on one node each, and runs die before each write", async (world) => {
    await exchanging(world, pools, 2, two);
    for (let round = 0; round < 3; round += 1) {
      for (let write = 1; write < 40 && (await world.crash(write)); write += 1) world.advance(5 * SECOND);
      world.advance(61 * SECOND);
    }
    await exchanged(world, pools, 2, two);
  });

  scenario(
    "two pools exchange four addresses while their names cannot be written: then they change places",
    async (world) => {
      await exchanging(world, pools, 4, two);
      await world.pass();
      world.fail({ side: "dns", provider: "hetzner", operation: "write", kind: "403", times: 0 });
      for (let round = 0; round < 6; round += 1) {
        await world.pass();
        world.advance(61 * SECOND);
      }
      world.clearFaults();
      world.advance(600 * SECOND);
      await exchanged(world, pools, 4, two);
    },
  );

  scenario(
    "two pools exchange one of the two addresses that each has on its node: the other one stays",
    async (world) => {
      await exchanging(world, pools, 2, two);
      await world.pools.edit("a", { ips: [ip(1), ip(4)] });
      await world.pools.edit("b", { ips: [ip(2), ip(3)] });
      await settled(world, 0, 10);
      expect(await world.show("a")).toEqual(["ip1 active n1", "ip4 active n1"]);
      expect(await world.show("b")).toEqual(["ip2 active n2", "ip3 active n2"]);
      for (const name of pools) expect(world.dns.history("hetzner", `${name}.example.com`)).not.toContain("");
    },
  );
}

/** Up to the moment before the run that dies, how many writes it makes, and what is to be in the end. */
interface Crash {
  readonly title: string;
  readonly writes: number;
  readonly before: (world: World) => Promise<void>;
  readonly after: readonly string[];
}

const CRASHES: readonly Crash[] = [
  {
    title: "a first fill of one node with two",
    writes: 10,
    before: async (world) => {
      await pooled(world, ["n1"], 2, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
    },
    after: ["ip1 active n1", "ip2 active n1"],
  },
  {
    title: "a failover from a node with two",
    writes: 12,
    before: async (world) => {
      await pooled(world, ["n1"], 2, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
      await world.pass();
      await world.nodes.setReady("n1", false);
      await world.machines("n2", "n3");
    },
    after: ["ip1 active n2", "ip2 active n3"],
  },
  {
    title: "a purchase of two for a node",
    writes: 18,
    before: async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 2, maxPerNode: 2, dnsRecordSet: www("hetzner") });
    },
    after: ["new1 active n1", "new2 active n1"],
  },
  {
    title: "an excess that has drained",
    writes: 8,
    before: async (world) => {
      await pooled(world, ["n1"], 2, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
      await world.pass();
      await world.pools.edit("web", { maxPerNode: 1 });
      await world.machines("n2");
      await world.pass();
      world.advance(61 * SECOND);
    },
    after: ["ip1 active n1", "ip2 active n2"],
  },
  {
    title: "a failover from a node that two pools share",
    writes: 18,
    before: async (world) => {
      await pooled(world, ["n1"], 1, { maxPerNode: 2, dnsRecordSet: www("hetzner") });
      world.cloud.address(ip(2));
      world.cloud.address(ip(3));
      await world.pools.create("mail", { ips: [ip(2)], maxPerNode: 2 });
      await world.pass();
      await world.nodes.delete("n1");
      await world.machines("n2");
      await world.pools.edit("web", { ips: [ip(1), ip(3)] });
      await world.machines("n3");
    },
    after: ["ip1 active n2", "ip3 active n3"],
  },
];

function crashes(scenario: Register): void {
  for (const { title, writes, before, after } of CRASHES)
    for (let write = 1; write <= writes + 1; write += 1)
      scenario(
        `${title}: the run ${write > writes ? "has no later write" : `dies before write ${write}`}`,
        async (world) => {
          world.dns.zone("hetzner");
          await before(world);
          expect(await world.crash(write)).toBe(write <= writes);
          for (let pass = 0; pass < 6; pass += 1) {
            await world.pass({ settle: true });
            world.advance(15 * SECOND);
          }
          expect(await world.show()).toEqual(after);
          expect(world.dns.addresses("hetzner", WWW)).toHaveLength(2);
        },
      );
}
