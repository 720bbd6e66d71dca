import { expect } from "vitest";
import { exitCodeOfRun } from "../../src/report/exit-code.ts";
import { conditionsText, DNS_PROVIDERS, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const ZONE_ID = "0123456789abcdef0123456789abcdef";

/** Manifests of the Go operator as they stand, and specs that cannot be used. */
export function dnsManifestScenarios(scenario: Register): void {
  scenario("README of the Go operator: a pool with ips and match alone has no DNS", async (world) => {
    await world.nodes.create("n1", {
      labels: { "doks.digitalocean.com/node-pool": "work" },
      taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }],
    });
    world.cloud.droplet("n1");
    world.cloud.address(ip(1));
    await world.pods.create("p1", { node: "n1", labels: { app: "nginx-ingress", component: "controller" } });
    await world.pools.create("web", {
      ips: [ip(1), ip(2)],
      match: {
        podNamespace: world.namespaceName("shop"),
        podLabel: "app=nginx-ingress,component=controller",
        nodeLabel: "doks.digitalocean.com/node-pool=work",
        tolerations: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", operator: "Exists" }],
      },
    });
    await world.pass();
    expect(await world.show()).toContain("ip1 active n1");
    expect(world.dnsCalls()).toEqual([]);
  });

  for (const isNameHidden of [false, true]) {
    scenario(
      `README of the Go operator: a pool with DNS at Cloudflare by zone id and full name, ttl 30${isNameHidden ? ", with a token that may not read the zone" : ""}`,
      async (world) => {
        await world.machines("n1");
        world.cloud.address(ip(1));
        world.dns.zone("cloudflare", "example.com", { id: ZONE_ID, isNameHidden });
        const dnsRecordSet = { provider: "cloudflare", zone: ZONE_ID, recordName: "hello-world.example.com", ttl: 30 };
        await world.pools.create("web", { ips: [ip(1)], match: {}, dnsRecordSet });
        await world.pass();
        expect(world.dns.show("cloudflare")).toEqual(["hello-world.example.com A ip1 60"]);
        const { conditions, error } = await world.pools.status("web");
        expect(error).toBeUndefined();
        expect(conditionsText(conditions)).toBe("");
        expect(conditions[0]?.message).toContain("TTL 30 was raised to 60");
      },
    );
  }

  scenario("README of the Go operator: a record set with spec.provider and a full name in its zone", async (world) => {
    await world.nodes.create("n1", { labels: { "doks.digitalocean.com/node-pool": "work" } });
    await world.machines("n2");
    world.dns.zone("digitalocean");
    await world.recordSets.create("provider-in-spec", {
      provider: "digitalocean",
      addressType: "ExternalIP",
      match: { nodeLabel: "doks.digitalocean.com/node-pool=work" },
      dnsRecordSet: { zone: "example.com", recordName: "nodes.example.com", ttl: 30 },
    });
    await world.pass();
    expect(world.dns.show("digitalocean")).toEqual(["nodes.example.com A ext1 30"]);
    expect(conditionsText((await world.recordSets.status("provider-in-spec")).conditions)).toBe("");
  });

  scenario(
    "README of the Go operator: a record set of annotations with dnsRecordSet.provider, at the apex",
    async (world) => {
      await world.machines("n1");
      await world.pods.create("p1", { node: "n1", labels: { app: "nginx-ingress" } });
      world.cloud.address(ip(1));
      world.dns.zone("cloudflare");
      await world.pools.create("web", { ips: [ip(1)] });
      await world.recordSets.create("provider-in-record-set", {
        provider: "",
        addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
        match: { podNamespace: world.namespaceName("shop"), podLabel: "app=nginx-ingress", tolerations: [] },
        dnsRecordSet: { provider: "cloudflare", zone: "example.com", recordName: "@" },
      });
      await world.pass();
      expect(world.dns.show("cloudflare")).toEqual(["example.com A ip1 60"]);
    },
  );

  scenario("the zero values that the Go operator writes back mean nothing", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: null, desiredIPs: 0, assignmentCoolOffSeconds: 0 });
    await world.pools.create("other", {
      ips: [ip(2)],
      dnsRecordSet: { provider: "", zone: "", recordName: "", ttl: 0 },
    });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect((await world.pools.status("web")).error).toBeUndefined();
    expect(world.dnsCalls()).toEqual([]);
  });

  const badPools: Readonly<Record<string, readonly [dnsRecordSet: Spec, text: string | RegExp]>> = {
    "an unknown DNS provider": [www("digitalocean", { provider: "Ferengi" }), 'unknown provider "Ferengi"'],
    "no zone": [www("digitalocean", { zone: "" }), "invalid dnsRecordSet specification"],
    "no record name": [www("cloudflare", { recordName: "" }), "invalid dnsRecordSet specification"],
    "a zone that is no name": [www("digitalocean", { zone: "ex ample" }), /invalid dnsRecordSet specification/],
    "a record name that is no name": [www("digitalocean", { recordName: "a..b" }), /"a\.\.b" is not a DNS name/],
    "a name outside the zone": [
      www("digitalocean", { recordName: "www.example.org." }),
      /outside the zone example\.com/,
    ],
    "a name that is too long": [
      www("digitalocean", { recordName: `${"a".repeat(63)}.`.repeat(3) + "a".repeat(60) }),
      /too long/,
    ],
  };
  for (const [what, [dnsRecordSet, text]] of Object.entries(badPools)) {
    scenario(
      `a pool with ${what}: the DNS part is in error, its addresses go on, another object is not affected`,
      async (world) => {
        await badWorld(world);
        await world.pools.create("web", { ips: [ip(1)], dnsRecordSet });
        const result = await world.pass();
        expect(await world.show()).toEqual(["ip1 active n1"]);
        const { error, conditions } = await world.pools.status("web");
        if (typeof text === "string") expect(error).toBe(text);
        else expect(error).toMatch(text);
        expect(conditionsText(conditions)).toMatch(/^Ready=False \(InvalidDNS\) Stalled=True \(InvalidDNS\)$/);
        expect(exitCodeOfRun(result, { partialOk: false })).not.toBe(0);
        expect(world.dns.set("digitalocean", "good.example.com")).toEqual(["ext1"]);
        await world.pools.edit("web", { dnsRecordSet: www("digitalocean") });
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
        expect((await world.pools.status("web")).error).toBeUndefined();
      },
    );
  }

  const badSets: Readonly<Record<string, readonly [spec: Spec, text: string | RegExp]>> = {
    "an unknown provider": [
      { provider: "Ferengi", dnsRecordSet: www("digitalocean", { provider: "" }) },
      'unknown provider "Ferengi"',
    ],
    "two different providers": [{ provider: "cloudflare", dnsRecordSet: www("digitalocean") }, /differ/],
    "no zone": [{ dnsRecordSet: www("digitalocean", { zone: "" }) }, "invalid dnsRecordSet specification"],
    "no record set": [{ dnsRecordSet: null }, "invalid dnsRecordSet specification"],
    "another address type": [{ addressType: "Hostname", dnsRecordSet: www("digitalocean") }, /Hostname/],
    "a bad node selector": [
      { match: { nodeLabel: "a in b" }, dnsRecordSet: www("digitalocean") },
      /^Error parsing node selector/,
    ],
    "a bad pod selector": [
      { match: { podLabel: "a in b" }, dnsRecordSet: www("digitalocean") },
      /^Error parsing pod selector/,
    ],
    "a name outside the zone": [
      { dnsRecordSet: www("digitalocean", { recordName: "www.example.org." }) },
      /outside the zone/,
    ],
  };
  for (const [what, [spec, text]] of Object.entries(badSets)) {
    scenario(
      `a record set with ${what}: in error, nothing written for it, another object is not affected`,
      async (world) => {
        await badWorld(world);
        await world.recordSets.create("nodes", spec);
        const result = await world.pass();
        const { error, conditions, state } = await world.recordSets.status("nodes");
        if (typeof text === "string") expect(error).toBe(text);
        else expect(error).toMatch(text);
        // What only the zone's name shows to be wrong is known once the zone is found.
        expect(state).toBe("error");
        expect(conditionsText(conditions)).toMatch(/^Ready=False \(\w+\) Stalled=True \(\w+\)$/);
        expect(exitCodeOfRun(result, { partialOk: false })).not.toBe(0);
        expect(world.dns.set("digitalocean", "good.example.com")).toEqual(["ext1"]);
        expect(world.dns.set("digitalocean", WWW)).toEqual([]);
      },
    );
  }

  for (const provider of DNS_PROVIDERS) {
    scenario(
      `a record set at ${provider} edited to something invalid: its records and the rest of its status stay`,
      async (world) => {
        await world.machines("n1", "n2");
        world.dns.zone(provider);
        await world.recordSets.create("nodes", { dnsRecordSet: www(provider), reclaimPolicy: "Delete" });
        await world.pass();
        const before = await world.recordSets.status("nodes");
        await world.recordSets.edit("nodes", { addressType: "Hostname" });
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dnsWrites()).toEqual([]);
        const after = await world.recordSets.status("nodes");
        expect(after.publishedDNS).toEqual(before.publishedDNS);
        expect(after.state).toBe("error");
        await world.recordSets.edit("nodes", { addressType: null });
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ext2"]);
      },
    );
  }

  scenario("a relative name at Cloudflare with a hidden zone: it must be written in full", async (world) => {
    await world.machines("n1");
    world.dns.zone("cloudflare", "example.com", { id: ZONE_ID, isNameHidden: true });
    await world.recordSets.create("nodes", { dnsRecordSet: www("cloudflare", { zone: ZONE_ID }) });
    await world.pass();
    expect((await world.recordSets.status("nodes")).error).toContain("must be written in full");
    await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: WWW } });
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1"]);
  });
}

/** A node, an address, a zone, and a record set that is as it should be. */
async function badWorld(world: World): Promise<void> {
  await world.machines("n1");
  world.cloud.address(ip(1));
  world.dns.zone("digitalocean");
  await world.recordSets.create("good", { dnsRecordSet: www("digitalocean", { recordName: "good" }) });
}
