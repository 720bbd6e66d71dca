import { expect } from "vitest";
import { FINALIZER } from "../../src/model/resource.ts";
import { publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { ClusterOperation, FaultKind } from "./operation-fault.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const API = "api.example.com";
const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";

/** Pool `web` with ip1 on n1 and ip2 on n2, and record set `nodes` that publishes the annotations at Cloudflare. */
async function poolAndNames(world: World): Promise<void> {
  await world.machines("n1", "n2");
  for (const number of [1, 2, 3]) world.cloud.address(ip(number));
  world.dns.zone("cloudflare");
  await world.pools.create("web", { ips: [ip(1), ip(2)] });
  await world.recordSets.create("nodes", { addressType: ANNOTATION, dnsRecordSet: www("cloudflare") });
  await world.pass();
  expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip2"]);
}

/** Names, addresses, objects and runs that meet one another. */
export function dnsTogetherScenarios(scenario: Register): void {
  scenario("two objects with Delete exchange their names: nothing is emptied, nothing is cleaned", async (world) => {
    await world.machines("n1");
    world.dns.zone("digitalocean");
    await world.recordSets.create("a", { reclaimPolicy: "Delete", dnsRecordSet: www("digitalocean") });
    const api = www("digitalocean", { recordName: "api" });
    await world.recordSets.create("b", { reclaimPolicy: "Delete", addressType: "InternalIP", dnsRecordSet: api });
    await world.pass();
    await world.recordSets.edit("a", { dnsRecordSet: { recordName: "api" } });
    await world.recordSets.edit("b", { dnsRecordSet: { recordName: "www" } });
    await world.pass();
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["int1"]);
    expect(world.dns.set("digitalocean", API)).toEqual(["ext1"]);
    await world.pass();
    expect((await world.recordSets.status("a")).formerDNS).toEqual([]);
    expect((await world.recordSets.status("b")).formerDNS).toEqual([]);
  });

  scenario(
    "renamed with Delete while another object waits for the old name: it takes it over, never empty",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
      await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean") });
      await world.pass();
      await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
      expect(world.dns.set("digitalocean", API)).toEqual(["ip1", "ip2"]);
    },
  );

  scenario("renamed again after half of the new records were written: both former names are cleaned", async (world) => {
    world.dnsSafety.allowEnd(WWW);
    world.dnsSafety.allowEnd(API);
    await publishedPool(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
    await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
    world.fail({ side: "dns", provider: "digitalocean", operation: "add-record", kind: "500", skip: 1 });
    await world.pass();
    expect(world.dns.set("digitalocean", API)).toEqual(["ip1"]);
    await world.pools.edit("web", { dnsRecordSet: { recordName: "third" } });
    await world.pass();
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dns.show("digitalocean")).toEqual(["third.example.com A ip1 60", "third.example.com A ip2 60"]);
    expect((await world.pools.status("web")).formerDNS).toEqual([]);
  });

  scenario(
    "an address goes from one pool to another that publishes, too: it leaves one name and enters the other",
    async (world) => {
      await publishedPool(world, "cloudflare", ["n1", "n2"]);
      await world.pools.create("other", { ips: [ip(9)], dnsRecordSet: www("cloudflare", { recordName: "api" }) });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(1)] });
      await world.pools.edit("other", { ips: [ip(2)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
      expect(world.dns.set("cloudflare", API)).toEqual(["ip2"]);
      // Resolvers may hand it out under the old name for a minute; then the first pool forgets it.
      world.advance(61 * SECOND);
      await world.pass();
      expect((await world.pools.status("web")).released).toEqual([]);
    },
  );

  scenario("a record set's name cannot be read: an address it shows is not taken off its droplet", async (world) => {
    await poolAndNames(world);
    world.fail({ side: "dns", provider: "cloudflare", operation: "records", kind: "500", times: 0 });
    await world.look();
    await world.pools.edit("web", { ips: [ip(1), ip(3)] });
    const { remaining } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(remaining.holds.map(({ reason }) => reason)).toContain("Unreadable");
    world.clearFaults();
    world.before("unassign", async () => expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]));
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip3"]);
  });

  scenario(
    "a suspended record set shows an address: it is not taken off its droplet, and failovers go on",
    async (world) => {
      await poolAndNames(world);
      await world.recordSets.edit("nodes", { suspend: true });
      await world.pools.edit("web", { ips: [ip(1), ip(3)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      await world.machines("n4");
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip3 to n4"]);
      await world.recordSets.edit("nodes", { suspend: false });
      await world.pass();
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip3"]);
    },
  );

  scenario(
    "bought addresses are surplus while a name that shows one is rate-limited: given back after it is out and forgotten",
    async (world) => {
      await world.machines("n1", "n2");
      world.dns.zone("cloudflare");
      await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
      await world.pass();
      await world.pools.edit("web", { desiredIPs: 1 });
      world.fail({ side: "dns", provider: "cloudflare", operation: "write", kind: "429", retryAfter: 30 });
      await world.pass({ lease: "fail" });
      expect(world.cloudWrites()).toEqual([]);
      expect(world.cloud.boughtNow()).toHaveLength(2);
      await world.pass({ lease: "fail" });
      expect(world.cloudWrites()).toEqual([]);
      world.advance(31 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.cloudWrites()).toEqual(["unassign new2", "delete new2"]);
      expect(world.dns.set("cloudflare", WWW)).toEqual(["new1"]);
    },
  );

  scenario(
    "the addresses of the account cannot be read: whenEmpty Delete of a record set of annotations empties nothing",
    async (world) => {
      await poolAndNames(world);
      await world.recordSets.edit("nodes", { whenEmpty: "Delete" });
      await world.pass();
      world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
      world.fail({ side: "cloud", operation: "get", kind: "500", times: 0 });
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      world.clearFaults();
      await world.pass();
      await world.pools.edit("web", { provider: "Ferengi" });
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      await world.pools.edit("web", { provider: "digitalocean" });
      await world.pass();
    },
  );

  scenario("73 nodes may not be patched: DNS goes on", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.dns.zone("digitalocean");
    await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www("digitalocean") });
    world.fail({ side: "cluster", operation: "annotateNode", kind: "403", times: 0 });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
  });

  scenario(
    "a signal while records are written: the change in flight is finished, the rest is done by the next run",
    async (world) => {
      await world.machines("n1", "n2");
      world.dns.zone("digitalocean");
      await world.recordSets.create("a", { dnsRecordSet: www("digitalocean") });
      await world.pass();
      await world.nodes.setReady("n1", false);
      await world.machines("n3", "n4");
      const stop = new AbortController();
      world.before("writeRecords", async () => stop.abort());
      const { wasInterrupted } = await world.pass({ signal: stop.signal });
      expect(wasInterrupted).toBe(true);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext2", "ext3", "ext4"]);
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
    },
  );

  scenario("the Lease is lost during a swap: no further mutation, and the next run carries on", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(3)] });
    await world.pass();
    world.advance(61 * SECOND);
    world.cloud.state.settings.action_delay_ms = 20 * SECOND;
    world.before("unassign", () => world.stealLease());
    await world.pass({ lease: "fail" });
    expect(world.cloudWrites()).toEqual(["unassign ip2"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    world.advance(120 * SECOND);
    await world.run({ lease: "wait", deadlineMs: 600 * SECOND, settle: true });
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip3"]);
  });

  scenario("the object is deleted while its records are written: the run ends well", async (world) => {
    await world.machines("n1");
    world.dns.zone("cloudflare");
    await world.recordSets.create("nodes", { dnsRecordSet: www("cloudflare") });
    world.before("writeRecords", () => world.recordSets.delete("nodes"));
    await world.pass();
    expect(await world.recordSets.existing()).toEqual([]);
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1"]);
  });

  scenario(
    "the object is edited while its records are written: the next pass follows",
    async (world) => {
      world.dnsSafety.allowEnd(WWW);
      await world.machines("n1");
      world.dns.zone("cloudflare");
      await world.recordSets.create("nodes", { reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
      world.before("writeRecords", () => world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "api" } }));
      await world.pass();
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1"]);
      await world.pass();
      expect(world.dns.show("cloudflare")).toEqual([`${API} A ext1 60`]);
      expect(await world.recordSets.finalizers("nodes")).toEqual([FINALIZER]);
    },
    { onlySingleRuns: "A watcher hears of the edit, and follows at once." },
  );

  for (const kind of ["500", "lost-answer", "cut"] as const) {
    scenario(`settle does what a write that ended with ${kind} left within its time`, async (world) => {
      await publishedNodes(world, "digitalocean", ["n1", "n2"]);
      await world.machines("n3", "n4");
      world.fail({ side: "dns", provider: "digitalocean", operation: "add-record", kind, times: 2 });
      await world.pass({ settle: true });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2", "ext3", "ext4"]);
    });
  }

  const operations: readonly ClusterOperation[] = ["patchRecordSetStatus", "setRecordSetFinalizer"];
  const kinds: readonly FaultKind[] = ["lost-answer", "500", "409", "cut"];
  for (const operation of operations) {
    for (const kind of kinds) {
      for (const skip of [0, 1, 2]) {
        scenario(
          `${operation} ends with ${kind} once, after ${skip} others: a record set is filled, renamed, then deleted with all it wrote`,
          async (world) => {
            world.dnsSafety.allowEnd(WWW);
            world.dnsSafety.allowEnd(API);
            await world.machines("n1", "n2");
            world.dns.zone("cloudflare");
            await world.recordSets.create("nodes", { reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
            world.fail({ side: "cluster", operation, kind, skip });
            const passes = async (): Promise<void> => {
              for (let pass = 0; pass < 3; pass += 1) {
                await world.pass();
                world.advance(15 * SECOND);
              }
            };
            await passes();
            expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1", "ext2"]);
            await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "api" } });
            await passes();
            expect(world.dns.show("cloudflare")).toEqual([`${API} A ext1 60`, `${API} A ext2 60`]);
            await world.recordSets.delete("nodes");
            await passes();
            expect(world.dns.show("cloudflare")).toEqual([]);
            expect(await world.recordSets.existing()).toEqual([]);
          },
          { worlds: skip === 1 ? ["memory", "sandbox", "cluster"] : ["memory"] },
        );
      }
    }
  }
}
