import { expect } from "vitest";
import { conditionsText, DNS_PROVIDERS, publishedNodes, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { externalIP, internalIP, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";

/** What record sets publish. */
export function dnsRecordSetScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(
      `a record set at ${provider} publishes the external addresses of every match, and follows them`,
      async (world) => {
        await publishedNodes(world, provider, ["n1", "n2"]);
        const { state, conditions, publishedDNS } = await world.recordSets.status("nodes");
        expect(state).toBe("active");
        expect(conditionsText(conditions)).toBe("");
        expect(publishedDNS).toEqual({
          provider,
          zone: "example.com",
          name: WWW,
          addresses: [externalIP(1), externalIP(2)],
        });
        await world.machines("n3");
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ext2", "ext3"]);
        expect(world.kubeWrites().filter((line) => line !== "event")).toEqual(["status nodes"]);
      },
    );

    scenario(`49 no match at ${provider}: the records are kept, and a condition says so`, async (world) => {
      await publishedNodes(world, provider, ["n1", "n2"]);
      for (const node of ["n1", "n2"]) await world.nodes.setReady(node, false);
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      expect(world.dns.set(provider, WWW)).toEqual(["ext1", "ext2"]);
      const { conditions, error, state } = await world.recordSets.status("nodes");
      expect(conditionsText(conditions)).toBe("Ready=False (NothingToPublish)");
      expect({ error, state }).toEqual({ error: undefined, state: "active" });
    });

    scenario(
      `49b no match at ${provider} with whenEmpty Delete: the records go, and come back with a match`,
      async (world) => {
        world.dnsSafety.allowEnd(WWW);
        await publishedNodes(world, provider, ["n1", "n2"], { whenEmpty: "Delete" });
        for (const node of ["n1", "n2"]) await world.nodes.setReady(node, false);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual([]);
        expect(conditionsText((await world.recordSets.status("nodes")).conditions)).toBe(
          "Ready=False (NothingToPublish)",
        );
        await world.nodes.setReady("n2", true);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ext2"]);
      },
    );

    scenario(`mass change at ${provider}: at most one write per record that ends up different`, async (world) => {
      const before = Array.from({ length: 10 }, (_, index) => `n${index + 1}`);
      await publishedNodes(world, provider, before);
      for (const node of before.slice(0, 5)) await world.nodes.setReady(node, false);
      await world.machines("n11", "n12", "n13");
      await world.pass();
      expect(world.dnsWrites()).toHaveLength(provider === "digitalocean" ? 8 : 1);
      const zoneReads = world.dnsCalls().filter((line) => line.includes("zone")).length;
      // A webhook is asked for its domains again before the change, unless it was asked a moment ago.
      expect([1, provider === "webhook" ? 2 : 1]).toContain(zoneReads);
      expect(world.dns.set(provider, WWW)).toHaveLength(8);
    });
  }

  scenario("no match from the beginning: nothing is written, and nothing is remembered", async (world) => {
    world.dns.zone("digitalocean");
    world.dns.add("digitalocean", WWW, "192.0.2.99");
    await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean"), reclaimPolicy: "Delete" });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect((await world.recordSets.status("nodes")).publishedDNS).toBeUndefined();
    expect(await world.recordSets.finalizers("nodes")).toEqual([]);
  });

  scenario("the cluster shows no node at all: the records are kept", async (world) => {
    await publishedNodes(world, "cloudflare", ["n1", "n2"]);
    for (const node of ["n1", "n2"]) await world.nodes.delete(node);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1", "ext2"]);
  });

  scenario(
    "InternalIP, several addresses of a node, IPv6 and what is no address: only IPv4, sorted, each once",
    async (world) => {
      await world.nodes.create("n1", {
        addresses: [
          { type: "InternalIP", address: internalIP(2) },
          { type: "InternalIP", address: "fd00::1" },
          { type: "InternalIP", address: internalIP(1) },
          { type: "Hostname", address: "n1" },
          { type: "ExternalIP", address: externalIP(1) },
        ],
      });
      await world.nodes.create("n2", { addresses: [{ type: "InternalIP", address: internalIP(2) }] });
      await world.nodes.create("n3", { addresses: [] });
      world.dns.zone("digitalocean");
      await world.recordSets.create("nodes", { addressType: "InternalIP", dnsRecordSet: www("digitalocean") });
      await world.pass();
      expect(world.dns.show("digitalocean")).toEqual([`${WWW} A int1 60`, `${WWW} A int2 60`]);
    },
  );

  scenario(
    "85 grace: unready for 3 s of 30 s changes nothing; after it the address leaves, since another serves",
    async (world) => {
      await publishedNodes(world, "digitalocean", ["n1", "n2"], { gracePeriodSeconds: 30 });
      await world.nodes.setReady("n1", false);
      world.advance(3 * SECOND);
      const { remaining } = await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      expect(remaining.holds.find(({ reason }) => reason === "Grace")?.notBeforeMs).toBeGreaterThan(world.nowMs());
      expect((await world.recordSets.status("nodes")).unreadyNodes.map(({ nodeName }) => nodeName)).toEqual(["n1"]);
      world.advance(26 * SECOND);
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      world.advance(2 * SECOND);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext2"]);
      expect((await world.recordSets.status("nodes")).unreadyNodes).toEqual([]);
    },
  );

  scenario("85b grace: every recovery starts it afresh", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"], { gracePeriodSeconds: 30 });
    for (let round = 0; round < 4; round += 1) {
      await world.nodes.setReady("n1", false);
      await world.pass();
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      await world.nodes.setReady("n1", true);
      await world.pass();
    }
    expect((await world.recordSets.status("nodes")).unreadyNodes).toEqual([]);
  });

  scenario("85c grace over for the last one that served: the record stays", async (world) => {
    await publishedNodes(world, "cloudflare", ["n1"], { gracePeriodSeconds: 30 });
    await world.nodes.setReady("n1", false);
    world.advance(60 * SECOND);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1"]);
  });

  scenario("85d grace with whenEmpty Delete: the records go only after it", async (world) => {
    world.dnsSafety.allowEnd(WWW);
    await publishedNodes(world, "cloudflare", ["n1"], { gracePeriodSeconds: 30, whenEmpty: "Delete" });
    await world.nodes.setReady("n1", false);
    world.advance(3 * SECOND);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1"]);
    world.advance(30 * SECOND);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual([]);
  });

  scenario("85e no grace for a node that is gone or cordoned", async (world) => {
    await publishedNodes(world, "cloudflare", ["n1", "n2", "n3"], { gracePeriodSeconds: 30 });
    await world.nodes.delete("n1");
    await world.nodes.patch("n2", {
      spec: { taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
    });
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext3"]);
  });

  scenario("85f grace that only status knows the beginning of goes on while DNS cannot be read", async (world) => {
    await publishedNodes(world, "cloudflare", ["n1", "n2"], { gracePeriodSeconds: 30 });
    await world.nodes.patch("n1", { spec: { taints: [{ key: "maintenance", effect: "PreferNoSchedule" }] } });
    await world.pass();
    world.advance(20 * SECOND);
    world.fail({ side: "dns", provider: "cloudflare", operation: "records", kind: "500" });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    world.advance(11 * SECOND);
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext2"]);
  });

  scenario("settle waits for a grace that ends within its time", async (world) => {
    await publishedNodes(world, "cloudflare", ["n1", "n2"], { gracePeriodSeconds: 10 });
    await world.nodes.setReady("n1", false);
    await world.pass({ settle: true });
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext2"]);
  });

  scenario("51 half-ready cluster: a terminating pod and a NotReady node leave in one write", async (world) => {
    await world.machines("n1", "n2", "n3");
    for (const number of [1, 2, 3])
      await world.pods.create(`p${number}`, { node: `n${number}`, labels: { app: "web" } });
    world.dns.zone("cloudflare");
    const match = { podNamespace: world.namespaceName("shop"), podLabel: "app=web" };
    await world.recordSets.create("nodes", { match, dnsRecordSet: www("cloudflare") });
    await world.pass();
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1", "ext2", "ext3"]);
    world.dns.clearHistory();
    await world.pods.delete("p1");
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.dns.history("cloudflare", WWW)).toEqual(["ext3"]);
  });

  scenario("a suspended record set: planned, nothing written, and done when resumed", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"]);
    await world.recordSets.edit("nodes", { suspend: true });
    await world.nodes.setReady("n1", false);
    const { remaining } = await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(remaining.holds.map(({ reason }) => reason)).toContain("Suspended");
    await world.recordSets.edit("nodes", { suspend: false });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext2"]);
  });

  scenario("the status of a record set is lost: nothing is written at the provider", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"]);
    await world.recordSets.writeStatus("nodes", null);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect((await world.recordSets.status("nodes")).publishedDNS?.name).toBe(WWW);
  });
}

/** Addresses that annotations show: those of pools as confirmed in this pass, others as written. */
export function dnsAnnotationScenarios(scenario: Register): void {
  const published = async (world: World, nodes: readonly string[]): Promise<void> => {
    await world.machines(...nodes);
    const ips = nodes.map((_, index) => ip(index + 1));
    for (const address of ips) world.cloud.address(address);
    world.dns.zone("digitalocean");
    await world.pools.create("web", { ips });
    await world.recordSets.create("nodes", { addressType: ANNOTATION, dnsRecordSet: www("digitalocean") });
    await world.pass();
    expect(world.dns.addresses("digitalocean", WWW)).toEqual(ips);
    world.dns.clearHistory();
  };

  scenario("a pool's addresses are published in the pass that confirmed them", async (world) => {
    await published(world, ["n1", "n2"]);
    await world.machines("n3");
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
  });

  scenario("a pool's address fails over: the name keeps it, and is not written", async (world) => {
    await published(world, ["n1", "n2"]);
    await world.machines("n3");
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
    expect(world.dnsWrites()).toEqual([]);
  });

  scenario("a pool's address is parked on a node that does not match: it leaves in the same pass", async (world) => {
    await published(world, ["n1", "n2"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dns.history("digitalocean", WWW)).toEqual(["ip2"]);
  });

  scenario("an annotation that says something else than what is true does not reach DNS", async (world) => {
    await published(world, ["n1", "n2"]);
    await world.nodes.annotate("n1", ip(2), "shop/web");
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
  });

  scenario("an address that cannot be read stays published", async (world) => {
    await published(world, ["n1", "n2"]);
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
    world.fail({ side: "cloud", operation: "get", kind: "500", times: 0 });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    world.clearFaults();
    await world.pass();
  });

  scenario("an address taken from its pool while it cannot be read leaves once it can", async (world) => {
    await published(world, ["n1", "n2"]);
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
    world.fail({ side: "cloud", operation: "get", subject: ip(2), kind: "500", times: 0 });
    await world.look();
    await world.pools.edit("web", { ips: [ip(1)] });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    world.clearFaults();
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
  });

  scenario("all addresses unreadable and the nodes unready: the records stay", async (world) => {
    await published(world, ["n1", "n2"]);
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
    world.fail({ side: "cloud", operation: "get", kind: "500", times: 0 });
    await world.nodes.setReady("n1", false);
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    world.clearFaults();
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
  });

  scenario(
    "a value that no pool manages is taken as written; one that is no address is skipped with a warning",
    async (world) => {
      world.dnsSafety.turnOff();
      await published(world, ["n1"]);
      await world.nodes.create("n2", { annotations: { [ANNOTATION]: "192.0.2.60" } });
      await world.nodes.create("n3", { annotations: { [ANNOTATION]: "not-an-address" } });
      await world.nodes.create("n4", { annotations: { [ANNOTATION]: "2001:db8::7" } });
      const { remaining } = await world.pass();
      expect(world.dns.addresses("digitalocean", WWW)).toEqual(["192.0.2.60", ip(1)].toSorted());
      const bad = remaining.holds.filter(({ reason }) => reason === "InvalidAddress");
      expect(bad.map(({ subject }) => subject.replace(/^.*-(?=n\d)/, ""))).toEqual(["n3", "n4"]);
      for (const node of ["n2", "n3", "n4"]) await world.nodes.delete(node);
      await world.pass();
    },
    { checksAnnotations: false },
  );

  scenario("annotations cannot be written: the record set publishes what is confirmed all the same", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.dns.zone("digitalocean");
    await world.pools.create("web", { ips: [ip(1)] });
    await world.recordSets.create("nodes", { addressType: ANNOTATION, dnsRecordSet: www("digitalocean") });
    world.fail({ side: "cluster", operation: "annotateNode", kind: "403", times: 0 });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
  });
}
