import { expect } from "vitest";
import { conditionsText, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** A pool and a record set that want one name; the pool is older, and first by name where the server's clock shows the same second. */
async function rivals(world: World): Promise<void> {
  await world.machines("n1", "n2");
  world.cloud.address(ip(1));
  world.dns.zone("digitalocean");
  await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www("digitalocean") });
  world.advance(SECOND);
  await world.recordSets.create("www-nodes", { dnsRecordSet: www("digitalocean") });
}

/** Two objects, one name. */
export function dnsClaimScenarios(scenario: Register): void {
  scenario("two objects want one name: the older one owns it, the other shows the conflict", async (world) => {
    await rivals(world);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    const { error, conditions } = await world.recordSets.status("www-nodes");
    expect(error).toContain("owned by pool");
    expect(conditionsText(conditions)).toBe("Ready=False (Conflict) Stalled=True (Conflict)");
    expect(conditionsText((await world.pools.status("web")).conditions)).toBe("");
    for (let pass = 0; pass < 3; pass += 1) {
      world.advance(60 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
    }
  });

  scenario("the object that by status has the name keeps it, though an older one wants it now", async (world) => {
    await world.machines("n1");
    world.dns.zone("cloudflare");
    await world.recordSets.create("a-older", { dnsRecordSet: www("cloudflare", { recordName: "api" }) });
    world.advance(2 * SECOND);
    await world.recordSets.create("b-newer", { dnsRecordSet: www("cloudflare"), addressType: "InternalIP" });
    await world.pass();
    await world.recordSets.edit("a-older", { dnsRecordSet: { recordName: "www" } });
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["int1"]);
    expect((await world.recordSets.status("a-older")).error).toContain("owned by dns");
    expect(world.dns.set("cloudflare", "api.example.com")).toEqual(["ext1"]);
  });

  scenario("the owner lets the name go: the other has it in the same pass, and nothing is emptied", async (world) => {
    await rivals(world);
    await world.pass();
    await world.pools.edit("web", { dnsRecordSet: null });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
    expect((await world.recordSets.status("www-nodes")).error).toBeUndefined();
    await world.pass();
    expect((await world.pools.status("web")).formerDNS).toEqual([]);
  });

  scenario(
    "the owner with Delete is deleted: the name goes to the other, its records are not cleaned",
    async (world) => {
      await rivals(world);
      await world.pools.edit("web", { reclaimPolicy: "Delete" });
      await world.pass();
      await world.pools.delete("web");
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
      expect(await world.pools.existing()).toEqual([]);
    },
  );

  scenario("a suspended and an invalid owner keep their names", async (world) => {
    await rivals(world);
    await world.pass();
    await world.pools.edit("web", { suspend: true });
    await world.pass();
    expect((await world.recordSets.status("www-nodes")).error).toContain("owned by pool");
    await world.pools.edit("web", { suspend: false, provider: "Ferengi" });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    expect((await world.recordSets.status("www-nodes")).error).toContain("owned by pool");
    await world.pools.edit("web", { provider: "digitalocean" });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
  });

  scenario("the same name at two providers is two names", async (world) => {
    await rivals(world);
    world.dns.zone("cloudflare");
    await world.recordSets.edit("www-nodes", { dnsRecordSet: { provider: "cloudflare" } });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1", "ext2"]);
  });

  scenario("one name by zone id and by zone name is one name", async (world) => {
    const id = "0123456789abcdef0123456789abcdef";
    await world.machines("n1");
    world.dns.zone("cloudflare", "example.com", { id });
    await world.recordSets.create("a-older", { dnsRecordSet: www("cloudflare", { zone: id }) });
    world.advance(2 * SECOND);
    await world.recordSets.create("b-newer", {
      dnsRecordSet: www("cloudflare", { recordName: WWW }),
      addressType: "InternalIP",
    });
    await world.pass();
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ext1"]);
    expect((await world.recordSets.status("b-newer")).error).toContain("owned by dns");
  });

  scenario("the claims hold while the name cannot be read: the other object does not take it", async (world) => {
    const id = "0123456789abcdef0123456789abcdef";
    await world.machines("n1");
    world.dns.zone("cloudflare", "example.com", { id });
    await world.recordSets.create("a-older", { dnsRecordSet: www("cloudflare", { zone: id }) });
    await world.pass();
    world.advance(2 * SECOND);
    await world.recordSets.create("b-newer", { dnsRecordSet: www("cloudflare"), addressType: "InternalIP" });
    world.fail({ side: "dns", provider: "cloudflare", operation: "zone", kind: "500" });
    await world.pass();
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ext1"]);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1"]);
  });

  scenario("a record set created anew under another name takes over what the old one left", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.delete("web");
    await world.pools.create("next", { ips: [ip(1), ip(2)], dnsRecordSet: www("digitalocean") });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect((await world.pools.status("next")).publishedDNS?.name).toBe(WWW);
  });
}
