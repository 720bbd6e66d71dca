import { expect } from "vitest";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const NODES = "nodes.example.com";
const NODES_AT = { side: "dns", provider: "cloudflare" } as const;

/** ip1 on n1 and ip2 on n2, shown by record set `nodes`, and by the pool's own `www` if it has one; n3 is free, and n1 cordoned. */
async function cordoned(world: World, hasName: boolean): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"]);
  if (!hasName) await world.pools.edit("web", { dnsRecordSet: null });
  world.dns.zone("cloudflare");
  await world.recordSets.create("nodes", {
    dnsRecordSet: www("cloudflare", { recordName: "nodes" }),
    addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
  });
  await world.pass();
  expect(world.dns.set("cloudflare", NODES)).toEqual(["ip1", "ip2"]);
  await world.machines("n3");
  const taints = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];
  await world.nodes.patch("n1", { spec: { unschedulable: true, taints } });
}

/** So many minutes: ip1 stays on its node and out of whatever it has left. */
async function goesOnLeaving(world: World, hasName: boolean, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n2: "ip2" });
    expect(world.dns.set("digitalocean", WWW)).toEqual(hasName ? ["ip2"] : ["ip1", "ip2"]);
    world.advance(61 * SECOND);
  }
}

async function settled(world: World): Promise<void> {
  world.clearFaults();
  world.advance(600 * SECOND);
  await world.pass();
  expect(world.cloudWrites()).toEqual([]);
  expect(world.dns.set("cloudflare", NODES)).toEqual(["ip2"]);
  world.advance(61 * SECOND);
  await world.pass();
  expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  expect(world.dns.set("cloudflare", NODES)).toEqual(["ip1", "ip2"]);
}

/** The DNS provider refuses to take an address out of its name that is to move. */
export function refusedWithdrawalScenarios(scenario: Register): void {
  for (const hasName of [false, true])
    for (const kind of ["403", "422", "500"] as const)
      for (const reading of ["500", "429", "timeout"] as const)
        scenario(
          `a withdrawal is answered ${kind}, and then the name cannot be read (${reading}): the node of a pool ${hasName ? "with" : "without"} a name does not get its annotation back`,
          async (world) => {
            await cordoned(world, hasName);
            world.fail({ ...NODES_AT, operation: "write", kind, times: 0 });
            await goesOnLeaving(world, hasName, 3);
            world.fail({ ...NODES_AT, operation: "records", kind: reading, times: 0 });
            await goesOnLeaving(world, hasName, 4);
            await settled(world);
          },
        );

  for (const kind of ["403", "422", "500"] as const)
    scenario(`a withdrawal that is answered ${kind}: until it is tried again passes write nothing`, async (world) => {
      await cordoned(world, true);
      world.fail({ ...NODES_AT, operation: "write", kind, times: 0 });
      let attempts = 0;
      for (let round = 0; round < 40; round += 1) {
        await world.pass();
        const isAttempt = world.dnsWrites().length > 0;
        attempts += isAttempt ? 1 : 0;
        if (!isAttempt) expect(world.writes()).toEqual([]);
        world.advance(2 * SECOND);
      }
      expect(attempts).toBeGreaterThan(1);
      await settled(world);
    });
}
