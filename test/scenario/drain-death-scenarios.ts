import { expect } from "vitest";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const NAMED_BY_NODES = "nodes.example.com";

/** Two of `www` on n1 and n2, n3 free, and n1 cordoned. */
async function toDrain(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"]);
  await world.machines("n3");
  await cordon(world);
}

async function cordon(world: World): Promise<void> {
  const taints = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];
  await world.nodes.patch("n1", { spec: { unschedulable: true, taints } });
}

/** Runs that die, each so many seconds after the one before, before the writes of these numbers, over and over. No sooner than its TTL after the address left each of these names it moves. */
async function die(
  world: World,
  runs: { readonly writes: readonly number[]; readonly seconds: number },
  ttls: Readonly<Record<string, number>>,
): Promise<void> {
  let untilMs = 0;
  for (let run = 0; run < 40 && world.cloud.addresses()["ip1"] === "n1"; run += 1) {
    world.advance(runs.seconds * SECOND);
    for (const [name, ttl] of Object.entries(ttls))
      if (world.dns.set("digitalocean", name).includes("ip1"))
        untilMs = Math.max(untilMs, world.nowMs() + ttl * SECOND);
    await world.crash(runs.writes[run % runs.writes.length] ?? 2);
  }
  if (world.cloud.addresses()["ip1"] !== "n1") expect(world.nowMs()).toBeGreaterThanOrEqual(untilMs);
}

/** Runs that die one after another while an address is to leave its name, to move. */
export function drainDeathScenarios(scenario: Register): void {
  for (const writes of [[2], [3], [2, 3], [2, 2, 3]])
    for (const seconds of [5, 20, 59, 61])
      scenario(
        `runs that all die before their write ${writes.join(", ")}, ${seconds} s apart, drain a cordoned node all the same`,
        async (world) => {
          await toDrain(world);
          await die(world, { writes, seconds }, { [WWW]: 60 });
          expect(world.cloud.addresses()).toMatchObject({ ip1: "n3" });
          await world.pass();
          await world.pass();
          expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
        },
      );

  for (const writes of [[3], [4], [2, 3], [3, 4], [2, 3, 4]])
    for (const seconds of [50, 290])
      scenario(
        `runs that die before their write ${writes.join(", ")}, ${seconds} s apart, wait for a record set's TTL, too`,
        async (world) => {
          await publishedPool(world, "digitalocean", ["n1", "n2"]);
          await world.recordSets.create("nodes", {
            dnsRecordSet: { ...www("digitalocean"), recordName: "nodes", ttl: 600 },
            addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
          });
          await world.pass();
          expect(world.dns.set("digitalocean", NAMED_BY_NODES)).toEqual(["ip1", "ip2"]);
          await world.machines("n3");
          await cordon(world);
          await die(world, { writes, seconds }, { [WWW]: 60, [NAMED_BY_NODES]: 600 });
          await world.pass();
          world.advance(601 * SECOND);
          await world.pass();
          await world.pass();
          expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
          for (const name of [WWW, NAMED_BY_NODES]) expect(world.dns.set("digitalocean", name)).toEqual(["ip1", "ip2"]);
        },
      );

  for (const writes of [[2], [3], [2, 3]])
    for (const seconds of [5, 30, 61])
      scenario(
        `runs that all die before their write ${writes.join(", ")}, ${seconds} s apart, drain a node that only a record set shows`,
        async (world) => {
          await world.machines("n1", "n2");
          for (const number of [1, 2]) world.cloud.address(ip(number));
          world.dns.zone("digitalocean");
          await world.pools.create("web", { ips: [ip(1), ip(2)] });
          await world.recordSets.create("nodes", {
            dnsRecordSet: { ...www("digitalocean"), recordName: "nodes" },
            addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
          });
          await world.pass();
          await world.machines("n3");
          await cordon(world);
          await die(world, { writes, seconds }, { [NAMED_BY_NODES]: 60 });
          expect(world.cloud.addresses()).toMatchObject({ ip1: "n3" });
          await world.pass();
          await world.pass();
          expect(world.dns.set("digitalocean", NAMED_BY_NODES)).toEqual(["ip1", "ip2"]);
          expect((await world.pools.status("web")).ips[ip(1)]).not.toHaveProperty("drainsForSeconds");
        },
        // One that watches takes the annotation off n1 and puts it back, and comes to nothing else.
        writes.every((write) => write === 2) ? { onlySingleRuns: "its one write is one of the annotation" } : {},
      );

  scenario(
    "an address that a run took out of its name, and died, stays while the name cannot be read, and drains from then",
    async (world) => {
      await toDrain(world);
      await world.crash(2);
      world.advance(50 * SECOND);
      // One that watches clears the annotation first.
      while (world.dns.set("digitalocean", WWW).includes("ip1")) await world.crash(2);
      world.advance(20 * SECOND);
      world.fail({ side: "dns", provider: "digitalocean", operation: "records", kind: "500", times: 0 });
      await world.pass();
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect((await world.pools.status("web")).ips[ip(1)]?.drainingUntil).toBeDefined();
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    },
  );
}
