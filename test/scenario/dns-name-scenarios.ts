import { expect } from "vitest";
import { FINALIZER } from "../../src/model/resource.ts";
import { addCall, conditionsText, DNS_PROVIDERS, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const API = "api.example.com";
const HAND_MADE = "192.0.2.77";

function reasons(holds: readonly { readonly reason: string }[]): readonly string[] {
  return holds.map(({ reason }) => reason);
}

async function atBothProviders(world: World): Promise<void> {
  world.dnsSafety.allowEnd(WWW);
  await publishedNodes(world, "digitalocean", ["n1"], { whenEmpty: "Delete" });
  world.dns.zone("cloudflare");
  await world.recordSets.edit("nodes", { dnsRecordSet: www("cloudflare") });
  await world.pass();
  expect(world.dns.set("digitalocean", WWW)).toEqual(world.dns.set("cloudflare", WWW));
}

/** Names that are renamed, moved to another provider, removed, or left by a deleted object: scenarios 46 and 58. */
export function dnsNameScenarios(scenario: Register): void {
  scenario(
    "one name at both providers, the former with Delete and the present with whenEmpty Delete: the same pass ends both",
    async (world) => {
      await atBothProviders(world);
      await world.nodes.setReady("n1", false);
      await world.recordSets.edit("nodes", { reclaimPolicy: "Delete" });
      await world.pass();
      expect(world.dns.set("cloudflare", WWW)).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual([]);
      await world.pass();
      expect(await world.recordSets.finalizers("nodes")).toEqual([]);
    },
  );

  for (const provider of DNS_PROVIDERS) {
    scenario(
      `58 renamed with Delete at ${provider}: the old records go after the new ones are in place`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedPool(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
        await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
        world.dns.clearHistory();
        await world.pass();
        expect(world.dns.set(provider, API)).toEqual(["ip1", "ip2"]);
        expect(world.dns.set(provider, WWW)).toEqual([]);
        const names = world.dns.views.map(({ fqdn }) => fqdn);
        expect(names.lastIndexOf(API)).toBeLessThan(names.indexOf(WWW));
        const { publishedDNS, formerDNS } = await world.pools.status("web");
        expect(publishedDNS?.name).toBe(API);
        expect(formerDNS).toEqual([]);
      },
    );

    scenario(
      `renamed with Delete at ${provider} while nothing serves, to a name that shows what flipop never wrote: the old records stay until the new ones serve`,
      async (world) => {
        await publishedPool(world, provider, ["n1"], { reclaimPolicy: "Delete" });
        await world.recordSets.create("nodes", {
          reclaimPolicy: "Delete",
          dnsRecordSet: www(provider, { recordName: "nodes" }),
        });
        await world.pass();
        world.dns.add(provider, API, HAND_MADE);
        world.dns.add(provider, "hosts.example.com", HAND_MADE);
        await world.nodes.setReady("n1", false);
        await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
        await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "hosts" } });
        const { remaining } = await world.pass();
        expect(world.dnsWrites()).toEqual([]);
        expect(reasons(remaining.holds).filter((reason) => reason === "NewNameFirst")).toHaveLength(2);
        await world.pass();
        expect(world.writes()).toEqual([]);
        world.dnsSafety.allowEnd(WWW);
        world.dnsSafety.allowEnd("nodes.example.com");
        await world.nodes.setReady("n1", true);
        await world.pass();
        expect(world.dns.show(provider)).toEqual([`${API} A ip1 60`, "hosts.example.com A ext1 60"]);
      },
    );

    scenario(
      `renamed with Delete at ${provider} as a node fails, to a name that shows what flipop never wrote: the new records first`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedNodes(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
        world.dns.add(provider, API, HAND_MADE);
        world.dns.clearHistory();
        await world.nodes.setReady("n1", false);
        await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "api" } });
        await world.pass();
        expect(world.dns.show(provider)).toEqual([`${API} A ext2 60`]);
        const names = world.dns.views.map(({ fqdn }) => fqdn);
        expect(names.lastIndexOf(API)).toBeLessThan(names.indexOf(WWW));
      },
    );

    scenario(`58b renamed with Retain at ${provider}: the old records stay, and a hold says so`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
      const { remaining } = await world.pass();
      expect(world.dns.set(provider, API)).toEqual(["ip1", "ip2"]);
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
      expect(reasons(remaining.holds)).toEqual(["RecordsRetained"]);
      const status = await world.pools.status("web");
      expect(status.formerDNS).toMatchObject([{ name: WWW }]);
      expect(conditionsText(status.conditions)).toBe("");
    });

    scenario(
      `58c removed from the spec with Delete at ${provider}: our records go, one made by hand stays`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedPool(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
        expect(await world.pools.finalizers("web")).toEqual([FINALIZER]);
        world.dns.add(provider, WWW, HAND_MADE);
        await world.pools.edit("web", { dnsRecordSet: null });
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toEqual([HAND_MADE]);
        expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
        const status = await world.pools.status("web");
        expect(status.publishedDNS).toBeUndefined();
        expect(status.formerDNS).toEqual([]);
        await world.pass();
        expect(await world.pools.finalizers("web")).toEqual([]);
      },
    );

    scenario(
      `a name that an object comes back to at ${provider} while nothing serves: its records are still known, and go with the object`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedPool(world, provider, ["n1"]);
        await world.nodes.setReady("n1", false);
        await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
        await world.pass();
        expect((await world.pools.status("web")).formerDNS).toMatchObject([{ name: WWW }]);
        await world.pools.edit("web", { dnsRecordSet: { recordName: "www" } });
        await world.pass();
        const status = await world.pools.status("web");
        expect(status.publishedDNS).toMatchObject({ name: WWW, addresses: [ip(1)] });
        expect(status.formerDNS).toEqual([]);
        await world.pools.edit("web", { reclaimPolicy: "Delete" });
        await world.pass();
        await world.pools.delete("web");
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual([]);
      },
    );

    scenario(
      `58d removed from the spec with Retain at ${provider}: the records stay; with Delete later they go`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedPool(world, provider, ["n1", "n2"]);
        await world.pools.edit("web", { dnsRecordSet: null });
        const { remaining } = await world.pass();
        expect(world.dnsWrites()).toEqual([]);
        expect(reasons(remaining.holds)).toEqual(["RecordsRetained"]);
        await world.pools.edit("web", { reclaimPolicy: "Delete" });
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual([]);
      },
    );

    scenario(
      `58e record set deleted with Delete at ${provider}: its records go, one made by hand stays, then the object`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedNodes(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
        expect(await world.recordSets.finalizers("nodes")).toEqual([FINALIZER]);
        world.dns.add(provider, WWW, HAND_MADE);
        await world.recordSets.delete("nodes");
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toEqual([HAND_MADE]);
        expect(await world.recordSets.existing()).toEqual([]);
      },
    );

    scenario(
      `58f record set deleted with Retain at ${provider}: nothing is written, the object goes at once`,
      async (world) => {
        await publishedNodes(world, provider);
        expect(await world.recordSets.finalizers("nodes")).toEqual([]);
        await world.recordSets.delete("nodes");
        await world.pass();
        expect(world.writes()).toEqual([]);
        expect(world.dns.set(provider, WWW)).toEqual(["ext1", "ext2"]);
      },
    );

    scenario(
      `a deletion whose DNS write at ${provider} fails keeps the finalizer until the records are gone`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedNodes(world, provider, ["n1"], { reclaimPolicy: "Delete" });
        await world.recordSets.delete("nodes");
        const operation = provider === "digitalocean" ? "remove-record" : "write";
        world.fail({ side: "dns", provider, operation, kind: "500", times: 0 });
        await world.pass();
        expect(await world.recordSets.finalizers("nodes")).toEqual([FINALIZER]);
        world.clearFaults();
        world.advance(60 * SECOND);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual([]);
        expect(await world.recordSets.existing()).toEqual([]);
      },
    );
  }

  for (const [from, to] of [DNS_PROVIDERS, DNS_PROVIDERS.toReversed()] as const) {
    if (from === undefined || to === undefined) continue;
    scenario(
      `46 provider changed from ${from} to ${to} with Delete: the new place first, then the old one`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedPool(world, from, ["n1", "n2"], { reclaimPolicy: "Delete" });
        world.dns.zone(to);
        await world.pools.edit("web", { dnsRecordSet: { provider: to } });
        await world.pass();
        expect(world.dns.set(to, WWW)).toEqual(["ip1", "ip2"]);
        expect(world.dns.set(from, WWW)).toEqual([]);
        expect(world.dns.views.map(({ provider }) => provider).indexOf(from)).toBeGreaterThan(
          world.dns.views.map(({ provider }) => provider).lastIndexOf(to),
        );
      },
    );

    scenario(
      `46b provider changed from ${from} to ${to} while the new one fails: the old records stay until it works`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedPool(world, from, ["n1", "n2"], { reclaimPolicy: "Delete" });
        world.dns.zone(to);
        await world.pools.edit("web", { dnsRecordSet: { provider: to } });
        world.fail({ ...addCall(to), kind: "500", times: 0 });
        await world.pass();
        expect(world.dns.set(from, WWW)).toEqual(["ip1", "ip2"]);
        expect((await world.pools.status("web")).formerDNS).toMatchObject([{ provider: from }]);
        world.clearFaults();
        world.advance(600 * SECOND);
        await world.pass();
        expect(world.dns.set(from, WWW)).toEqual([]);
        expect(world.dns.set(to, WWW)).toEqual(["ip1", "ip2"]);
      },
    );

    scenario(`46c provider changed from ${from} to ${to} with Retain: both places have the records`, async (world) => {
      await publishedNodes(world, from);
      world.dns.zone(to);
      await world.recordSets.edit("nodes", { dnsRecordSet: { provider: to } });
      await world.pass();
      expect(world.dns.set(to, WWW)).toEqual(["ext1", "ext2"]);
      expect(world.dns.set(from, WWW)).toEqual(["ext1", "ext2"]);
    });
  }

  scenario(
    "renamed to a name in a zone that does not exist: the old records are kept and kept right",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
      await world.pools.edit("web", { dnsRecordSet: { zone: "example.org" } });
      const { remaining } = await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      expect(reasons(remaining.holds)).toContain("ZoneNotFound");
      await world.pools.edit("web", { dnsRecordSet: { zone: "example.com" } });
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      expect((await world.pools.status("web")).formerDNS).toEqual([]);
    },
  );

  scenario("renamed and back again before any pass: nothing is written", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"], { reclaimPolicy: "Delete" });
    await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
    await world.pools.edit("web", { dnsRecordSet: { recordName: "www" } });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
  });

  scenario("renamed, then back with Retain: the name is the object's again, and kept right", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
    await world.pass();
    await world.pools.edit("web", { dnsRecordSet: { recordName: "www" } });
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    expect(world.dns.set("digitalocean", API)).toEqual(["ip1", "ip2"]);
    const { publishedDNS, formerDNS } = await world.pools.status("web");
    expect(publishedDNS?.name).toBe(WWW);
    expect(formerDNS).toMatchObject([{ name: API }]);
  });

  scenario("the same name written differently: nothing moves, nothing is deleted", async (world) => {
    await publishedPool(world, "cloudflare", ["n1"], { reclaimPolicy: "Delete" });
    for (const recordName of ["www.example.com", "WWW", "www.example.com."]) {
      await world.pools.edit("web", { dnsRecordSet: { recordName } });
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
    }
    await world.pools.edit("web", { dnsRecordSet: { zone: "Example.COM." } });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
    expect((await world.pools.status("web")).formerDNS).toEqual([]);
  });

  scenario("the zone written by its id instead of its name: the same name, nothing moves", async (world) => {
    const id = "0123456789abcdef0123456789abcdef";
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.dns.zone("cloudflare", "example.com", { id });
    await world.pools.create("web", { ips: [ip(1)], reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
    await world.pass();
    await world.pools.edit("web", { dnsRecordSet: { zone: id } });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1"]);
    expect((await world.pools.status("web")).publishedDNS?.zone).toBe(id);
  });

  scenario("the apex and a wildcard are names like others", async (world) => {
    await world.machines("n1", "n2");
    for (const provider of DNS_PROVIDERS) {
      world.dns.zone(provider);
      await world.recordSets.create(`apex-${provider}`, { dnsRecordSet: www(provider, { recordName: "@" }) });
      await world.recordSets.create(`full-${provider}`, { dnsRecordSet: www(provider, { recordName: "*" }) });
    }
    await world.pass();
    for (const provider of DNS_PROVIDERS) {
      expect(world.dns.set(provider, "example.com")).toEqual(["ext1", "ext2"]);
      expect(world.dns.set(provider, "*.example.com")).toEqual(["ext1", "ext2"]);
    }
  });

  scenario("a deleted zone does not hold a deletion up", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1"], { reclaimPolicy: "Delete" });
    world.dns.removeZone("digitalocean");
    await world.recordSets.delete("nodes");
    await world.pass();
    expect(await world.recordSets.existing()).toEqual([]);
  });

  scenario(
    "a suspended record set that is being deleted says what blocks it, and goes on when resumed",
    async (world) => {
      world.dnsSafety.allowEnd(WWW);
      await publishedNodes(world, "cloudflare", ["n1"], { reclaimPolicy: "Delete" });
      await world.recordSets.edit("nodes", { suspend: true });
      await world.recordSets.delete("nodes");
      const { remaining } = await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      expect(remaining.holds.find(({ kind }) => kind === "remove-finalizer")?.reason).toBe("Suspended");
      await world.recordSets.edit("nodes", { suspend: false });
      await world.pass();
      expect(world.dns.set("cloudflare", WWW)).toEqual([]);
      expect(await world.recordSets.existing()).toEqual([]);
    },
  );

  scenario("the finalizer cannot be set: no record is written, since nobody would clean it", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.dns.zone("cloudflare");
    await world.recordSets.create("nodes", { reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
    await world.pools.create("web", {
      ips: [ip(1)],
      reclaimPolicy: "Delete",
      dnsRecordSet: www("cloudflare", { recordName: "api" }),
    });
    world.fail({ side: "cluster", operation: "setRecordSetFinalizer", kind: "403", times: 0 });
    world.fail({ side: "cluster", operation: "setPoolFinalizer", kind: "403", times: 0 });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dns.show("cloudflare")).toEqual([`${API} A ip1 60`, `${WWW} A ext1 60`]);
  });

  scenario("the finalizer is there before the first record is written", async (world: World) => {
    await world.machines("n1");
    world.dns.zone("cloudflare");
    await world.recordSets.create("nodes", { reclaimPolicy: "Delete", dnsRecordSet: www("cloudflare") });
    world.before("writeRecords", async () => expect(await world.recordSets.finalizers("nodes")).toEqual([FINALIZER]));
    await world.pass();
    await world.recordSets.edit("nodes", { reclaimPolicy: "Retain" });
    await world.pass();
    expect(await world.recordSets.finalizers("nodes")).toEqual([]);
    expect(world.dnsWrites()).toEqual([]);
  });
}
