import { expect } from "vitest";
import { NODE_ANNOTATIONS } from "../../src/model/node-annotations.ts";

import { WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip, short } from "./scenario-names.ts";
import type { World } from "./world.ts";

const CORDONED = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
const MANAGED = { hostAddress: "Managed" } as const;

/** What nodes say for `flipop host`, at a provider whose machines must have their addresses, too. */
export function hostAddressScenarios(scenario: Register): void {
  fills(scenario);
  moves(scenario);
  edits(scenario);
  hands(scenario);
  forgets(scenario);
  typos(scenario);
  crashes(scenario);
}

/** At a provider whose machines need no address of their own. */
export function noHostAddressScenarios(scenario: Register): void {
  scenario("where machines need no address of their own, Managed says nothing for hosts", async (world) => {
    await pooled(world, ["n1"], 1, MANAGED);
    await world.pass();
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    expect(await world.nodes.hosts()).toEqual({});
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

function fills(scenario: Register): void {
  scenario(
    "a host is told its address once the address is there, in the same write as everybody else",
    async (world) => {
      await pooled(world, ["n1", "n2"], 1, MANAGED);
      world.before("assign", async () => expect(await world.nodes.hosts()).toEqual({}));
      await world.pass();
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      expect(await world.nodes.hosts()).toEqual({ n1: "ip1" });
      const { conditions } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Ready")?.message).toContain(
        "flipop host puts the addresses on the hosts",
      );
    },
  );

  scenario("a pool without hostAddress says nothing for hosts, and neither does one with External", async (world) => {
    await pooled(world, ["n1"], 1, {});
    await world.pass();
    await world.pools.edit("web", { hostAddress: "External" });
    await world.pass();
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    expect(await world.nodes.hosts()).toEqual({});
    const { conditions } = await world.pools.status("web");
    expect(conditions.find(({ type }) => type === "Ready")?.message).toContain(
      "whether the hosts have the addresses is not seen",
    );
  });

  scenario("two addresses on a node are both for its host", async (world) => {
    await pooled(world, ["n1"], 2, { ...MANAGED, maxPerNode: 2 });
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({ n1: "ip1,ip2" });
  });

  scenario("of two pools on a node only the addresses of the managed one are for its host", async (world) => {
    await pooled(world, ["n1"], 1, { ...MANAGED, maxPerNode: 2 });
    world.cloud.address(ip(2));
    await world.pools.create("mail", { ips: [ip(2)], maxPerNode: 2 });
    await world.pass();
    await world.pass();
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip2 of shop/web,shop/mail" });
    expect(await world.nodes.hosts()).toEqual({ n1: "ip1" });
  });

  scenario("a bought address is for its host, too", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, ...MANAGED });
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({ n1: "new1" });
  });
}

function moves(scenario: Register): void {
  scenario("a failover tells the new host first, then the old one", async (world) => {
    await pooled(world, ["n1", "n2"], 1, MANAGED);
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
    expect(await world.nodes.hosts()).toEqual({ n2: "ip1" });
    expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
  });

  for (const [what, spec, change, after] of [
    ["whose node is cordoned", { ips: [ip(1), ip(2)] }, cordoned, { n2: "ip2", n3: "ip1" }],
    ["that is not asked for any more", { ips: [ip(1), ip(2)] }, lowered, { n1: "ip1" }],
    ["that the spec names no longer", { ips: [ip(1), ip(2)] }, unnamed, { n1: "ip1" }],
  ] as const)
    scenario(`an address ${what} stays on its host until no resolver has it`, async (world) => {
      await world.machines("n1", "n2");
      for (const address of spec.ips) world.cloud.address(address);
      world.dns.zone("hetzner");
      await world.pools.create("web", { ...MANAGED, ...spec, dnsRecordSet: www("hetzner") });
      await world.pass();
      expect(await world.nodes.hosts()).toEqual({ n1: "ip1", n2: "ip2" });
      await change(world);
      await world.pass();
      expect(world.dns.addresses("hetzner", WWW)).toHaveLength(1);
      expect(await world.nodes.hosts()).toEqual({ n1: "ip1", n2: "ip2" });
      world.advance(30_000);
      await world.pass();
      expect(await world.nodes.hosts()).toEqual({ n1: "ip1", n2: "ip2" });
      world.advance(31_000);
      await world.pass();
      expect(await world.nodes.hosts()).toEqual(after);
    });

  scenario("a pool that is deleted leaves nothing for hosts", async (world) => {
    await pooled(world, ["n1"], 1, MANAGED);
    await world.pass();
    await world.pools.delete("web");
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({});
    expect(await world.nodes.annotations()).toEqual({});
  });

  scenario("an address that the spec names no longer goes from its host", async (world) => {
    await pooled(world, ["n1"], 2, { ...MANAGED, maxPerNode: 2 });
    await world.pass();
    await world.pools.edit("web", { ips: [ip(2)] });
    for (let pass = 0; pass < 3; pass += 1) {
      await world.pass();
      world.advance(61_000);
    }
    expect(await world.nodes.hosts()).toEqual({ n1: "ip2" });
  });
}

async function cordoned(world: World): Promise<void> {
  await world.machines("n3");
  await world.nodes.patch("n1", { spec: { unschedulable: true, taints: [CORDONED] } });
}

async function lowered(world: World): Promise<void> {
  await world.pools.edit("web", { desiredIPs: 1 });
}

async function unnamed(world: World): Promise<void> {
  await world.pools.edit("web", { ips: [ip(1)] });
}

function edits(scenario: Register): void {
  scenario("hostAddress can be changed at any time, and moves nothing", async (world) => {
    await pooled(world, ["n1"], 1, {});
    await world.pass();
    for (const [hostAddress, told] of [
      ["Managed", { n1: "ip1" }],
      ["External", {}],
      ["Managed", { n1: "ip1" }],
    ] as const) {
      await world.pools.edit("web", { hostAddress });
      await world.pass();
      expect(await world.nodes.hosts()).toEqual(told);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      expect(world.cloudWrites()).toEqual([]);
    }
  });

  scenario("a suspended pool leaves what is for its hosts as it is", async (world) => {
    await pooled(world, ["n1"], 1, MANAGED);
    await world.pass();
    await world.pools.edit("web", { suspend: true, hostAddress: "External" });
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({ n1: "ip1" });
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({});
  });
}

function hands(scenario: Register): void {
  scenario("what a person removed is written again, and what is on another host by mistake goes", async (world) => {
    await pooled(world, ["n1", "n2"], 1, MANAGED);
    await world.pass();
    await world.nodes.patch("n1", { metadata: { annotations: { [NODE_ANNOTATIONS.IPv4.host]: null } } });
    await world.nodes.patch("n2", { metadata: { annotations: { [NODE_ANNOTATIONS.IPv4.host]: ip(1) } } });
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({ n1: "ip1" });
  });

  scenario("what no object names stays for the host, also beside what comes and goes", async (world) => {
    await pooled(world, ["n1", "n2"], 1, MANAGED);
    await world.nodes.patch("n1", {
      metadata: { annotations: { [NODE_ANNOTATIONS.IPv4.host]: "198.18.0.77, 2001:db8::7" } },
    });
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({ n1: "198.18.0.77,2001:db8::7,ip1" });
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({ n1: "198.18.0.77,2001:db8::7", n2: "ip1" });
  });
}

/** What makes a pool forget an address of an earlier spec while it drains. */
const FORGETTING: readonly {
  readonly title: string;
  readonly forget: (world: World) => Promise<void> | void;
  /** What is active then. */
  readonly stays: Readonly<Record<string, string>>;
}[] = [
  {
    title: "whose pool loses its status",
    forget: async (world) => await world.pools.writeStatus("web", null),
    stays: { n1: "ip1" },
  },
  { title: "whose pool is deleted", forget: async (world) => await world.pools.delete("web"), stays: {} },
  {
    title: "that a person takes from its machine",
    forget: (world) => void world.cloud.put(ip(2), undefined),
    stays: { n1: "ip1" },
  },
  {
    title: "that a person takes from its machine, while its node cannot be written once",
    forget: (world) => {
      world.cloud.put(ip(2), undefined);
      world.fail({ side: "cluster", operation: "annotateNode", kind: "500", times: 1 });
    },
    stays: { n1: "ip1" },
  },
  {
    title: "whose node cannot be written when the time is over",
    forget: (world) => {
      world.advance(61_000);
      world.fail({ side: "cluster", operation: "annotateNode", kind: "500", times: 1 });
    },
    stays: { n1: "ip1" },
  },
];

function forgets(scenario: Register): void {
  for (const { title, forget, stays } of FORGETTING)
    for (const [where, spec] of [
      ["alone on its node", {}],
      ["beside another one", { maxPerNode: 2 }],
    ] as const)
      scenario(`a draining address ${title} goes from its host, ${where}`, async (world) => {
        await world.machines("n1", ...("maxPerNode" in spec ? [] : ["n2"]));
        for (const address of [ip(1), ip(2)]) world.cloud.address(address);
        world.dns.zone("hetzner");
        await world.pools.create("web", { ...MANAGED, ...spec, ips: [ip(1), ip(2)], dnsRecordSet: www("hetzner") });
        await world.pass();
        await unnamed(world);
        await world.pass();
        expect(Object.values(await world.nodes.hosts()).join(",")).toBe("ip1,ip2");
        await forget(world);
        for (let pass = 0; pass < 3; pass += 1) {
          await world.pass();
          world.advance(61_000);
        }
        expect(await world.nodes.hosts()).toEqual(stays);
        expect(await world.nodes.annotations()).toEqual(stays);
      });
}

/** What hands leave in annotations: half of an edit, another form, the addresses of other nodes. */
const WRITTEN: readonly string[] = [",", `${ip(1)},`, `,${ip(2)}`, `${ip(1)}, ${ip(2)}`, `${ip(2)},${ip(1)}`];
const OWNERS: readonly string[] = ["", ",", "x/y/z", "shop/web,", "shop/other,shop/web"];

function typos(scenario: Register): void {
  for (const written of WRITTEN)
    scenario(
      `somebody writes ${JSON.stringify(short(written))} on two nodes: it is put right, and then rests`,
      async (world) => {
        await pooled(world, ["n1", "n2"], 2, { ...MANAGED, maxPerNode: 2 });
        await world.pass();
        const { address, pool, host } = NODE_ANNOTATIONS.IPv4;
        for (const owner of OWNERS) {
          const annotations = { [address]: written, [pool]: owner, [host]: written };
          for (const node of ["n1", "n2"]) await world.nodes.patch(node, { metadata: { annotations } });
          await world.pass({ settle: true });
          expect(await world.nodes.annotations(), owner).toEqual({ n1: "ip1", n2: "ip2" });
          expect(await world.nodes.hosts(), owner).toEqual({ n1: "ip1", n2: "ip2" });
          await world.pass();
          expect(world.kubeWrites(), owner).toEqual([]);
        }
      },
    );
}

/** Stories whose run dies before each of its writes in turn. */
const CRASHES: readonly {
  readonly title: string;
  /** How many writes the run makes. */
  readonly writes: number;
  readonly before: (world: World) => Promise<void>;
  readonly after: Readonly<Record<string, string>>;
}[] = [
  {
    title: "the first fill of a managed pool",
    writes: 6,
    before: (world) => pooled(world, ["n1"], 1, MANAGED),
    after: { n1: "ip1" },
  },
  {
    title: "a failover of a managed pool",
    writes: 8,
    before: async (world) => {
      await pooled(world, ["n1", "n2"], 1, MANAGED);
      await world.pass();
      await world.nodes.setReady("n1", false);
    },
    after: { n2: "ip1" },
  },
  {
    title: "a pool that becomes managed",
    writes: 3,
    before: async (world) => {
      await pooled(world, ["n1"], 1, {});
      await world.pass();
      await world.pools.edit("web", MANAGED);
    },
    after: { n1: "ip1" },
  },
];

function crashes(scenario: Register): void {
  for (const { title, writes, before, after } of CRASHES)
    for (let write = 1; write <= writes + 1; write += 1)
      scenario(
        `${title}: the run ${write > writes ? "has no later write" : `dies before write ${write}`}`,
        async (world) => {
          await before(world);
          expect(await world.crash(write)).toBe(write <= writes);
          for (let pass = 0; pass < 3; pass += 1) {
            await world.pass({ settle: true });
            world.advance(15_000);
          }
          expect(await world.nodes.hosts()).toEqual(after);
          expect(await world.nodes.annotations()).toEqual(after);
        },
      );
}
