import { expect } from "vitest";
import { WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Somebody restores a backup of the cluster of yesterday: specs, statuses and annotations of then come back, objects that were deleted, too. Accounts have gone on. */
export function backupScenarios(register: Register): void {
  // Elsewhere the API server itself would have to be set back.
  const scenario: Register = (title, body) => register(title, body, { worlds: ["memory"] });
  for (const lease of [undefined, "fail"] as const) {
    const runs = lease === undefined ? "" : ", under its Lease";
    scenario(`a backup from before a failover is restored: addresses stay where they serve${runs}`, async (world) => {
      const restore = await yesterday(world, lease);
      await world.nodes.setReady("n1", false);
      await passes(world, 4, lease);
      const before = [await world.show(), await world.show("more"), world.cloud.addresses()];
      world.dns.clearHistory();
      await restore();
      await passes(world, 4, lease);
      expect([await world.show(), await world.show("more"), world.cloud.addresses()]).toEqual(before);
      expect(world.dns.history("digitalocean", WWW)).toEqual([]);
    });

    scenario(
      `a backup from before a purchase is restored, its manifest is not: nothing is bought again${runs}`,
      async (world) => {
        const restore = await yesterday(world, lease);
        await world.machines("n5");
        await world.pools.edit("more", { desiredIPs: 2 });
        await passes(world, 4, lease);
        await restore();
        await world.pools.edit("more", { desiredIPs: 2 });
        await passes(world, 4, lease);
        expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
        expect(await world.show("more")).toEqual(["new1 active n1", "new2 active n4"]);
      },
    );

    scenario(
      `a backup from before its pool was deleted is restored, and its address was given back: another one is bought${runs}`,
      async (world) => {
        const restore = await yesterday(world, lease);
        await world.pools.delete("more");
        await passes(world, 4, lease);
        expect(await world.pools.existing()).toEqual(["web"]);
        expect(world.cloud.boughtNow()).toEqual([]);
        await restore();
        await passes(world, 4, lease);
        expect(world.cloud.boughtNow()).toEqual([bought(2)]);
        expect(await world.show("more")).toEqual(["new2 active n1"]);
        expect(await world.show()).toEqual(["ip1 active n2", "ip2 active n3"]);
      },
    );

    scenario(
      `a backup from before an address changed hands is restored: it goes back, and its name is never empty${runs}`,
      async (world) => {
        const restore = await yesterday(world, lease);
        await world.pools.edit("web", { ips: [ip(2)] });
        await world.pools.create("other", { ips: [ip(1)] });
        await passes(world, 4, lease);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
        await world.pools.delete("other");
        await restore();
        await passes(world, 4, lease);
        expect(await world.show()).toEqual(["ip1 active n2", "ip2 active n3"]);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      },
    );
  }
}

/** Pool `more` has bought new1 for n1, `web` shows ip1 on n2 and ip2 on n3; n4 is free. A backup is made, and a day goes by. Returns what restores it. */
async function yesterday(world: World, lease: "fail" | undefined): Promise<() => Promise<void>> {
  world.dns.zone("digitalocean");
  await world.machines("n1", "n2", "n3", "n4");
  for (const number of [1, 2]) world.cloud.address(ip(number));
  await world.pools.create("more", { desiredIPs: 1, reclaimPolicy: "Delete" });
  await passes(world, 2, lease);
  await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("digitalocean") });
  await passes(world, 2, lease);
  expect([await world.show(), await world.show("more")]).toEqual([
    ["ip1 active n2", "ip2 active n3"],
    ["new1 active n1"],
  ]);
  const restores = [await world.pools.backUp("web"), await world.pools.backUp("more"), await world.nodes.backUp()];
  world.advance(DAY_MS);
  return async () => {
    world.advance(60 * MINUTE_MS);
    for (const restore of restores) await restore();
  };
}

/** Passes, a minute apart. */
async function passes(world: World, count: number, lease: "fail" | undefined): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) {
    await world.pass(lease === undefined ? {} : { lease });
    world.advance(61_000);
  }
}
