import { expect } from "vitest";
import { WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import { errorsOf } from "./scenario-run.ts";
import type { World } from "./world.ts";

async function ip1OnN1(world: World, ...others: readonly string[]): Promise<void> {
  await world.machines("n1", ...others);
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)] });
  await world.pass();
}

const SECOND = 1000;

/** Two addresses on two nodes, under a name. */
async function published(world: World): Promise<void> {
  await world.machines("n1", "n2");
  world.dns.zone("digitalocean");
  for (const number of [1, 2]) world.cloud.address(ip(number));
  await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("digitalocean") });
  await world.pass();
  expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
}

/** Statuses, pools and annotations that people change or wipe. */
export function lostStatusScenarios(scenario: Register): void {
  scenario(
    "status lost entirely: nothing is bought, released or moved, and the addresses are known again",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)], desiredIPs: 3 });
      await world.pass();
      const before = await world.show();
      await world.pools.writeStatus("web", null);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(before);
      expect((await world.pools.status("web")).acquired).toMatchObject([
        { ip: bought(1), adopted: true },
        { ip: bought(2), adopted: true },
      ]);
    },
  );

  scenario(
    "the list of acquired addresses lost alone: what status still shows is known again, and nothing is bought",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 3, reclaimPolicy: "Delete" });
      await world.pass();
      const before = await world.show();
      await world.pools.writeStatus("web", { acquired: null });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(before);
      expect((await world.pools.status("web")).acquired).toMatchObject(
        [1, 2, 3].map((number) => ({ ip: bought(number), adopted: true })),
      );
      await world.pools.edit("web", { desiredIPs: 1 });
      await world.pass();
      expect(world.cloud.boughtNow()).toHaveLength(3);
    },
  );

  scenario(
    "an address leaves the spec while the provider is closed: it is not taken for an acquired one",
    async (world) => {
      await ip1OnN1(world, "n2");
      world.cloud.address(ip(2));
      world.fail({ side: "cloud", operation: "list", kind: "401", times: 1 });
      await world.pools.edit("web", { ips: [ip(2)], desiredIPs: 1 });
      await world.pass();
      await world.pass();
      const status = await world.pools.status("web");
      expect(status.acquired).toEqual([]);
      expect(status.released).toMatchObject([{ ip: ip(1) }]);
    },
  );

  scenario("an intent whose time is gone is watched from now on, once, and then given up", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, suspend: true });
    await world.pass();
    await world.pools.writeStatus("web", { pendingAcquisitions: [{ region: "nyc3", startedAt: "?!", knownIPs: [] }] });
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    world.advance(31 * 1000);
    await world.pass();
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1"]);
  });

  scenario("status lost with Delete: what was found again is never deleted", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    await world.pools.writeStatus("web", null);
    await world.pass();
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    expect(await world.pools.existing()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({});
  });

  scenario(
    "the pool is deleted and created again between two passes: its addresses are found on the annotated nodes",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2 });
      await world.pass();
      await world.pools.delete("web");
      await world.pools.create("web", { desiredIPs: 2 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["new1 active n1", "new2 active n2"]);
      expect(world.cloud.boughtNow()).toHaveLength(2);
    },
  );

  scenario(
    "a pool made again after a pass is told which addresses of nobody have its nodes, buys no more, and serves once they are listed",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2 });
      await world.pass();
      await world.pools.delete("web");
      await world.pass();
      await world.pools.create("web", { desiredIPs: 2 });
      await world.pass();
      const { conditions } = await world.pools.status("web");
      const { status, message } = conditions.find(({ type }) => type === "Stalled") ?? {};
      expect([status, message]).toEqual([
        "True",
        expect.stringMatching(
          /^2 of 2 addresses are missing: no matching .*carries an address that no object names, such as \S+ on n1\. Put \S+ into/,
        ),
      ]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pools.edit("web", { ips: [bought(1), bought(2)] });
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n1", "new2 active n2"]);
      expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    },
  );

  scenario("manifest applied again with an empty list: nothing changes", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1 });
    await world.pass();
    await world.pools.edit("web", { ips: [] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["new1 active n1"]);
  });

  emptiedLists(scenario);

  scenario(
    "an annotation written by hand on the wrong node is taken away, one of nobody's is left alone",
    async (world) => {
      await ip1OnN1(world, "n2", "n3");
      await world.nodes.annotate("n2", ip(1), "shop/web");
      await world.nodes.annotate("n3", "192.0.2.77", null);
      await world.pass();
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n3: "ip331 of nobody" });
      await world.nodes.annotate("n3", null);
    },
  );

  scenario("somebody edits the spec while the status is written: the status is written all the same", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.before("patchPoolStatus", () => world.pools.edit("web", { assignmentCoolOffSeconds: 1 }));
    const { reportFailures } = await world.pass();
    expect(reportFailures).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
    await world.pass();
  });

  for (const policy of ["Retain", "Delete"]) {
    scenario(
      `reclaimPolicy ${policy}: a definition that forgets a published name keeps no dead node in it, and is named in each run`,
      async (world) => {
        await world.machines("n1", "n2", "n3");
        world.dns.zone("digitalocean");
        const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: "www", ttl: 30 };
        await world.recordSets.create("www", { dnsRecordSet, reclaimPolicy: policy });
        await world.pass();
        const all = world.dns.addresses("digitalocean", "www.example.com");
        expect(all).toHaveLength(3);
        const applyPresent = await world.recordSets.forgetStatusField("publishedDNS");
        await world.nodes.setReady("n2", false);
        for (let run = 0; run < 3; run += 1) {
          expect(errorsOf(await world.pass())).toContain("it dropped status.publishedDNS");
          world.advance(60_000);
        }
        expect(world.dns.addresses("digitalocean", "www.example.com")).toHaveLength(2);
        await applyPresent();
        await world.pass();
        expect((await world.recordSets.status("www")).publishedDNS?.addresses).toHaveLength(2);
      },
      {
        worlds: ["memory", "sandbox"],
        onlySingleRuns: "a process that watches tells it when it tries, and waits between",
      },
    );

    scenario(
      `reclaimPolicy ${policy}: a definition that forgets the name before is named in each run, and no record of it is lost from sight`,
      async (world) => {
        await world.machines("n1", "n2");
        world.dns.zone("digitalocean");
        const name = (recordName: string): object => ({
          provider: "digitalocean",
          zone: "example.com",
          recordName,
          ttl: 30,
        });
        await world.recordSets.create("www", { dnsRecordSet: name("old"), reclaimPolicy: policy });
        await world.pass();
        const applyPresent = await world.recordSets.forgetStatusField("formerDNS");
        await world.recordSets.edit("www", { dnsRecordSet: name("new") });
        for (let run = 0; run < 3; run += 1) {
          expect(errorsOf(await world.pass())).toContain("it dropped status.formerDNS");
          world.advance(60_000);
        }
        await applyPresent();
        // What only a person can end is tried again after ten minutes at most.
        world.advance(600_000);
        world.dnsSafety.allowEnd("old.example.com");
        await world.pass({ settle: true });
        expect(world.dns.addresses("digitalocean", "new.example.com")).toHaveLength(2);
        expect(world.dns.addresses("digitalocean", "old.example.com")).toHaveLength(policy === "Delete" ? 0 : 2);
      },
      {
        worlds: ["memory", "sandbox"],
        onlySingleRuns: "a process that watches tells it when it tries, and waits between",
      },
    );
  }
}

/** The list of a pool that serves becomes empty, as in a manifest that never had what the Go operator wrote there. */
function emptiedLists(scenario: Register): void {
  for (const whose of ["flipop", "the Go operator"] as const)
    for (const reclaimPolicy of ["Retain", "Delete"] as const)
      scenario(
        `an empty list takes the place of the one that ${whose} served: nothing changes, and nothing is ever deleted, ${reclaimPolicy}`,
        async (world) => {
          await published(world);
          await world.pools.edit("web", { reclaimPolicy });
          await world.pass();
          if (whose === "the Go operator") await asGoLeavesIt(world);
          await world.pools.edit("web", { ips: [], desiredIPs: 2 });
          await world.pass();
          expect([world.cloudWrites(), world.dnsWrites()]).toEqual([[], []]);
          expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
          expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
          expect((await world.pools.status("web")).acquired.map(({ adopted }) => adopted)).toEqual([true, true]);
          await world.machines("n3");
          await world.nodes.setReady("n1", false);
          await world.pass();
          expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
          await neverDeleted(world);
        },
        { checksAnnotations: false },
      );

  scenario(
    "an empty list gives another pool the address that this one lists, and buys what is missing",
    async (world) => {
      await published(world);
      await world.machines("n3");
      await world.pools.edit("web", { ips: [], desiredIPs: 2 });
      await world.pools.create("other", { ips: [ip(2)] });
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        world.advance(600 * SECOND);
      }
      expect(await world.show("other")).toEqual([expect.stringMatching(/^ip2 active/)]);
      expect(await world.show()).toEqual(["ip1 active n1", expect.stringMatching(/^new1 active/)]);
    },
  );

  scenario("an empty list and a lower desiredIPs keep what serves", async (world) => {
    await published(world);
    await world.nodes.setReady("n1", false);
    await world.pass();
    await world.pools.edit("web", { ips: [], desiredIPs: 1 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip2 active n2"]);
  });
}

/** The pool's status has nothing but addresses, and no annotation names the pool. */
async function asGoLeavesIt(world: World): Promise<void> {
  const { ips } = await world.pools.status("web");
  await world.pools.writeStatus("web", null);
  await world.pools.writeStatus("web", { ips });
  await world.nodes.annotate("n1", ip(1));
  await world.nodes.annotate("n2", ip(2));
}

/** The pool gives up an address, and goes. */
async function neverDeleted(world: World): Promise<void> {
  await world.pools.edit("web", { desiredIPs: 1 });
  world.dnsSafety.allowEnd(WWW);
  for (let time = 0; time < 2; time += 1) {
    await world.pass();
    expect(world.cloudWrites()).not.toContainEqual(expect.stringContaining("delete"));
    world.advance(600 * SECOND);
  }
  await world.pools.delete("web");
  await world.pass();
  expect(world.cloudWrites()).not.toContainEqual(expect.stringContaining("delete"));
}
