import { expect } from "vitest";
import type { WorldKind } from "./backend.ts";
import { checkInvariants, type Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** Passes until nothing is left to do: what a CronJob does after a crash. */
async function converge(world: World): Promise<void> {
  for (let round = 0; round < 8; round += 1) {
    world.advance(15_000);
    const { outcomes, remaining } = await world.pass({ settle: true });
    if (outcomes.length === 0 && remaining.holds.every(({ notBeforeMs }) => notBeforeMs === undefined)) return;
  }
}

interface History {
  readonly title: string;
  /** Up to the moment before the run that dies. */
  readonly before: (world: World) => Promise<void>;
  /** Most writes the run makes; the process dies before each of them in turn. */
  readonly writes: number;
  /** Most addresses that may ever have been bought. */
  readonly mostBought: number;
  readonly after: (world: World) => Promise<void>;
}

const HISTORIES: readonly History[] = [
  {
    title: "first fill",
    writes: 11,
    mostBought: 0,
    before: async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
    },
    after: async (world) => expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]),
  },
  {
    title: "failover",
    writes: 8,
    mostBought: 0,
    before: async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.nodes.delete("n1");
      await world.machines("n2");
    },
    after: async (world) => expect(await world.show()).toEqual(["ip1 active n2"]),
  },
  {
    title: "swap on one droplet",
    writes: 9,
    mostBought: 0,
    before: async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(2)] });
    },
    after: async (world) => {
      expect(await world.show()).toEqual(["ip2 active n1"]);
      expect(world.cloud.addresses()).toEqual({ ip1: "-", ip2: "n1" });
    },
  },
  {
    title: "acquire for nodes",
    writes: 21,
    mostBought: 2,
    before: async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
    },
    after: async (world) => {
      expect((await world.show()).map((line) => line.replace(/new\d+ /, ""))).toEqual(["active n1", "active n2"]);
      expect(world.cloud.boughtNow()).toHaveLength(2);
    },
  },
  {
    title: "acquire in the region",
    writes: 16,
    mostBought: 2,
    before: (world) => world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" }),
    after: async (world) => {
      expect(world.cloud.boughtNow()).toHaveLength(2);
      expect((await world.pools.status("web")).acquired).toHaveLength(2);
    },
  },
  {
    title: "desired lowered with Delete",
    writes: 14,
    mostBought: 3,
    before: async (world) => {
      await world.machines("n1", "n2", "n3");
      await world.pools.create("web", { desiredIPs: 3, reclaimPolicy: "Delete" });
      await world.pass();
      await world.pools.edit("web", { desiredIPs: 1 });
    },
    after: async (world) => {
      expect(await world.show()).toEqual(["new1 active n1"]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
  },
  {
    title: "pool deleted with Delete",
    writes: 14,
    mostBought: 2,
    before: async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)], desiredIPs: 2, reclaimPolicy: "Delete" });
      await world.pass();
      await world.pools.delete("web");
    },
    after: async (world) => {
      expect(await world.pools.existing()).toEqual([]);
      expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
      expect(await world.nodes.annotations()).toEqual({});
    },
  },
];

/** In memory the process dies before every write; over HTTP before a few of them. */
const WORLDS: readonly (readonly WorldKind[])[] = [
  ["memory"],
  ["memory", "sandbox"],
  ["memory", "sandbox", "cluster"],
  ["memory"],
];

/** The process dies before every one of its writes in turn; the next ones converge, and nothing is bought twice or leaked. */
export function crashScenarios(scenario: Register): void {
  for (const history of HISTORIES) {
    for (let write = 1; write <= history.writes + 1; write += 1) {
      const isLast = write > history.writes;
      const worlds = { worlds: WORLDS[write % WORLDS.length] ?? [] };
      const title = isLast ? "ends before any later write" : `dies before write ${write}`;
      scenario(
        `${history.title}: the run ${title}`,
        async (world) => {
          await history.before(world);
          const hasDied = await world.crash(write);
          if (isLast) expect(hasDied).toBe(false);
          expect(world.cloud.boughtNow().length).toBeLessThanOrEqual(history.mostBought);
          await world.pass();
          await checkInvariants(world);
          await converge(world);
          expect(world.cloud.boughtNow().length).toBeLessThanOrEqual(history.mostBought);
          await history.after(world);
        },
        isLast ? {} : worlds,
      );
    }
  }

  scenario("the process dies again and again, at every write of an acquisition in turn", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 2 });
    for (let round = 0; round < 20; round += 1) {
      await world.crash((round % 5) + 1);
      expect(world.cloud.boughtNow().length).toBeLessThanOrEqual(2);
      world.advance(20_000);
    }
    await converge(world);
    expect(world.cloud.boughtNow()).toHaveLength(2);
    expect((await world.pools.status("web")).acquired).toHaveLength(2);
  });

  scenario(
    "the process dies during a failover, and so does its target: the address finds the next node",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.nodes.delete("n1");
      await world.crash(2);
      await world.nodes.delete("n2");
      await world.machines("n3");
      await converge(world);
      expect(await world.show()).toEqual(["ip1 active n3"]);
    },
  );
}
