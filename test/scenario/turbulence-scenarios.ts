import { expect } from "vitest";
import { ACQUIRED_ANNOTATION } from "../../src/model/resource.ts";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const NAMED = { dnsRecordSet: www("digitalocean") };
const CORDON = {
  spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
};

/** Passes until all waits are over; then a pass writes nothing. */
async function atRest(world: World, rounds = 5): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await world.pass();
    world.advance(61 * SECOND);
  }
  await world.pass();
  expect(world.writes()).toEqual([]);
}

/** People and clusters that change their minds faster than addresses move, and purchases that nobody remembers. */
export function turbulenceScenarios(scenario: Register): void {
  edits(scenario);
  nodes(scenario);
  forgottenPurchases(scenario);
}

function edits(scenario: Register): void {
  for (const reclaimPolicy of ["Delete", "Retain"])
    scenario(
      `a count that is lowered and raised again while addresses drain moves nothing, ${reclaimPolicy}`,
      async (world) => {
        await publishedPool(world, "digitalocean", ["n1", "n2", "n3"], { reclaimPolicy });
        for (const desiredIPs of [1, 2, 3]) {
          await world.pools.edit("web", { desiredIPs });
          await world.pass();
          expect(world.cloudWrites()).toEqual([]);
          world.advance(10 * SECOND);
        }
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
        await atRest(world);
      },
    );

  for (const passes of [0, 1, 2, 3])
    scenario(
      `bought addresses are given back for ${passes} passes, and wanted again: none is too many`,
      async (world) => {
        await world.machines("n1", "n2", "n3");
        world.dns.zone("digitalocean");
        await world.pools.create("web", { desiredIPs: 3, reclaimPolicy: "Delete", drainSeconds: 60, ...NAMED });
        await world.pass();
        await world.pools.edit("web", { desiredIPs: 1 });
        for (let pass = 0; pass < passes; pass += 1) {
          await world.pass();
          world.advance(30 * SECOND);
        }
        await world.pools.edit("web", { desiredIPs: 3 });
        await atRest(world);
        expect(world.cloud.boughtNow()).toHaveLength(3);
        expect(world.dns.set("digitalocean", WWW)).toHaveLength(3);
      },
    );

  scenario(
    "a selector that is edited back and forth leaves every address where the last edit wants it",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      for (const node of ["n1", "n2"]) await world.nodes.patch(node, { metadata: { labels: { role: "a" } } });
      for (const node of ["n3", "n4"]) {
        world.cloud.droplet(node);
        await world.nodes.create(node, { labels: { role: "b" } });
      }
      await world.pools.edit("web", { match: { nodeLabel: "role=a" } });
      await world.pass();
      for (const role of ["b", "a", "b", "a"]) {
        await world.pools.edit("web", { match: { nodeLabel: `role=${role}` } });
        await world.pass();
        world.advance(20 * SECOND);
      }
      await atRest(world, 8);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      for (const line of await world.show()) expect(line).toMatch(/active n[12]$/);
    },
  );
}

function nodes(scenario: Register): void {
  for (const gracePeriodSeconds of [0, 60])
    for (const left of [0, 1])
      scenario(
        `all nodes but ${left} are gone at once and come back, with ${gracePeriodSeconds} s of grace: the name never ends`,
        async (world) => {
          await publishedPool(world, "digitalocean", ["n1", "n2", "n3"], { gracePeriodSeconds });
          const gone = ["n1", "n2", "n3"].slice(left);
          for (const node of gone) await world.nodes.delete(node);
          for (let round = 0; round < 3; round += 1) {
            await world.pass();
            expect(world.dns.set("digitalocean", WWW)).not.toEqual([]);
            world.advance(61 * SECOND);
          }
          for (const node of gone) await world.nodes.create(node);
          await atRest(world);
          expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
          expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "n2", ip3: "n3" });
        },
      );

  for (const last of ["n1", "n3"])
    scenario(`all nodes but ${last} are cordoned and deleted one after another: the name never ends`, async (world) => {
      const all = ["n1", "n2", "n3"];
      await publishedPool(world, "digitalocean", all);
      for (const node of all.filter((one) => one !== last)) {
        await world.nodes.patch(node, CORDON);
        await world.pass();
        world.advance(61 * SECOND);
        await world.nodes.delete(node);
        world.cloud.removeDroplet(node);
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).not.toEqual([]);
      }
      await atRest(world);
      expect(world.dns.set("digitalocean", WWW)).toEqual([`ip${last.slice(1)}`]);
      await world.machines("n7", "n8");
      await atRest(world);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
    });

  for (const seconds of [29, 30, 31])
    scenario(`a node that is unready for ${seconds} s again and again, with 30 s of grace`, async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"], { gracePeriodSeconds: 30 });
      await world.machines("n3");
      for (let flap = 0; flap < 3; flap += 1) {
        await world.nodes.setReady("n1", false);
        await world.pass();
        world.advance(seconds * SECOND);
        await world.nodes.setReady("n1", true);
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
        world.advance(SECOND);
      }
      await atRest(world);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    });
}

/** What stalls a pool. */
async function stalled(world: World): Promise<string> {
  const { conditions } = await world.pools.status("web");
  const found = conditions.find(({ type }) => type === "Stalled");
  return `${found?.status} ${found?.message}`;
}

/** new1 was bought for n1, and nobody remembers it: the person is told, and lists it. */
async function foundAgain(world: World): Promise<void> {
  expect(world.cloud.addresses()).toMatchObject({ new1: "n1" });
  expect(await stalled(world)).toMatch(/^True /);
  expect(await stalled(world)).toContain(bought(1));
  await world.pools.edit("web", { ips: [bought(1)] });
  await atRest(world);
  expect((await world.show()).join()).toContain("new1 active n1");
  expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
}

function forgottenPurchases(scenario: Register): void {
  for (const write of [5, 6])
    scenario(
      `a pool that was taken away by force before write ${write} of its purchase is told what it bought`,
      async (world) => {
        await world.machines("n1");
        world.dns.zone("digitalocean");
        const spec = { desiredIPs: 1, reclaimPolicy: "Delete", ...NAMED };
        await world.pools.create("web", spec);
        await world.crash(write);
        world.dnsSafety.allowEnd(WWW);
        await world.pools.delete("web");
        await world.pools.removeFinalizers("web").catch(() => undefined);
        await atRest(world);
        await world.pools.create("web", spec);
        await atRest(world);
        await foundAgain(world);
      },
    );

  scenario("a purchase whose answer, status and annotation are lost at once is told", async (world) => {
    await world.machines("n1");
    world.dns.zone("digitalocean");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", ...NAMED });
    world.fail({ side: "cloud", operation: "create", kind: "lost-answer", times: 1 });
    await world.crash(5);
    world.clearFaults();
    await world.pools.writeStatus("web", null);
    await world.pools.annotate("web", ACQUIRED_ANNOTATION, null);
    await atRest(world);
    await foundAgain(world);
  });
}
