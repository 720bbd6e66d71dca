import { expect } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { DNS_PROVIDERS, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { externalIP, ip } from "./scenario-names.ts";
import { rest, SHARE, shown, twoClusters } from "./shared-name-scene.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const DAY = 86_400 * SECOND;

/** What people do to a name that two clusters share, on purpose or not. */
export function sharedNameTrialScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    turnedFields(scenario, provider);
    edits(scenario, provider);
    losses(scenario, provider);
    others(scenario, provider);
  }
}

async function atPeace(...worlds: readonly World[]): Promise<void> {
  for (const world of worlds) {
    await world.pass();
    expect([...world.dnsWrites(), ...world.kubeWrites()]).toEqual([]);
  }
}

async function cordon(world: World, name: string): Promise<void> {
  const taints = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];
  await world.nodes.patch(name, { spec: { unschedulable: true, taints } });
}

/** The others' addresses that a plan says it replaces. */
async function replaced(world: World): Promise<readonly string[]> {
  const { actions, followUps } = await world.plan();
  return [...actions, ...followUps].flatMap((action) => ("fqdn" in action ? (action.unrecorded ?? []) : []));
}

function planned(plan: Plan): string {
  return renderPlan(plan, { palette: PLAIN, all: true, wide: false });
}

type Provider = (typeof DNS_PROVIDERS)[number];

function turnedFields(scenario: Register, provider: Provider): void {
  scenario(
    `one of two clusters at ${provider} says Adopt: its plan names whom it replaces, and Share ends it`,
    async (here) => {
      const there = await twoClusters(here, provider);
      await here.pools.edit("web", { dnsRecordSet: { foreignRecords: "Adopt" } });
      expect(await replaced(here)).toEqual([externalIP(11), externalIP(12)]);
      await here.pass();
      expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
      await there.pass();
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
      await here.pools.edit("web", { dnsRecordSet: SHARE });
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
      await atPeace(here, there);
      await there.nodes.setReady("n11", false);
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext12", "ip1", "ip2"]);
    },
  );

  scenario(`Share turned to Hold at ${provider}: own records follow, the others' stay, and back`, async (here) => {
    const there = await twoClusters(here, provider);
    await here.pools.edit("web", { dnsRecordSet: { foreignRecords: "Hold" } });
    await here.nodes.setReady("n1", false);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip2"]);
    await here.nodes.setReady("n2", false);
    await rest(here, there);
    // Hold gives nothing to others: without anything that serves, the own record stays.
    expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip2"]);
    await here.pools.edit("web", { dnsRecordSet: SHARE });
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext11", "ext12"]);
    for (const node of ["n1", "n2"]) await here.nodes.setReady(node, true);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
    await atPeace(here, there);
  });

  for (const [first, second] of [
    ["Hold", "Share"],
    ["Adopt", "Hold"],
  ] as const) {
    scenario(`Share turned to ${first} and ${second} while an address drains at ${provider}`, async (here) => {
      const there = await twoClusters(here, provider);
      await here.machines("n3");
      await cordon(here, "n1");
      await here.pass();
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip2"]);
      await here.pools.edit("web", { dnsRecordSet: { foreignRecords: first } });
      await here.pass();
      expect(here.cloudWrites()).toEqual([]);
      await there.pass();
      await here.pools.edit("web", { dnsRecordSet: { foreignRecords: second } });
      here.advance(61 * SECOND);
      await here.pass();
      await here.pools.edit("web", { dnsRecordSet: SHARE });
      await rest(here, there);
      expect(await here.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
      await atPeace(here, there);
    });
  }

  scenario(`a cluster at ${provider} is renamed away with reclaimPolicy Delete, and comes back`, async (here) => {
    const there = await twoClusters(here, provider, { reclaimPolicy: "Delete" });
    await here.pools.edit("web", { reclaimPolicy: "Delete" });
    await here.pools.edit("web", { dnsRecordSet: { recordName: "other" } });
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext11", "ext12"]);
    expect(here.dns.set(provider, "other.example.com")).toEqual(["ip1", "ip2"]);
    here.dnsSafety.allowEnd("other.example.com");
    await here.pools.edit("web", { dnsRecordSet: { recordName: "www" } });
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
    expect(here.dns.set(provider, "other.example.com")).toEqual([]);
    await atPeace(here, there);
  });

  scenario(
    `a cluster at ${provider} is renamed away with reclaimPolicy Retain: the other leaves its records`,
    async (here) => {
      const there = await twoClusters(here, provider);
      await here.pools.edit("web", { dnsRecordSet: { recordName: "other" } });
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
      for (const node of ["n11", "n12"]) await there.nodes.setReady(node, false);
      here.dnsSafety.servesElsewhere(ip(1));
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
    },
  );
}

function edits(scenario: Register, provider: Provider): void {
  scenario(`the others' addresses at ${provider} are added once more by hand: nobody takes both out`, async (here) => {
    const there = await twoClusters(here, provider);
    for (const address of [externalIP(11), ip(1)]) {
      // Cloudflare takes no record twice.
      if (provider === "digitalocean") here.dns.add(provider, WWW, address, { ttlSeconds: 300 });
      else here.dns.edit(provider, { fqdn: WWW, content: address }, { ttlSeconds: 300 });
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
      expect(here.dns.ttls(provider, WWW)).toEqual([60]);
      await atPeace(here, there);
    }
  });

  scenario(`the other cluster's address at ${provider} is taken out by hand while its nodes are down`, async (here) => {
    const there = await twoClusters(here, provider);
    for (const number of [11, 12]) here.dns.remove(provider, { fqdn: WWW, content: externalIP(number) });
    for (const node of ["n11", "n12"]) await there.nodes.setReady(node, false);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
    await there.nodes.setReady("n12", true);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext12", "ip1", "ip2"]);
    await atPeace(here, there);
  });

  scenario(`a TTL at ${provider} is raised as the manual says`, async (here) => {
    const there = await twoClusters(here, provider);
    await here.pools.edit("web", { dnsRecordSet: { ttl: 300 } });
    await there.recordSets.edit("nodes", { dnsRecordSet: { ttl: 300 } });
    await rest(here, there);
    expect(here.dns.ttls(provider, WWW)).toEqual([60]);
    await here.pools.edit("web", { suspend: true });
    await there.recordSets.edit("nodes", { suspend: true });
    for (const address of [ip(1), ip(2), externalIP(11), externalIP(12)]) {
      here.dns.edit(provider, { fqdn: WWW, content: address }, { ttlSeconds: 300 });
      await here.pass();
      await there.pass();
    }
    await here.pools.edit("web", { suspend: false });
    await there.recordSets.edit("nodes", { suspend: false });
    await rest(here, there);
    expect(here.dns.ttls(provider, WWW)).toEqual([300]);
    await atPeace(here, there);
  });
}

function losses(scenario: Register, provider: Provider): void {
  scenario(`a cluster at ${provider} that never comes back had the lower TTL: the manual's steps`, async (here) => {
    const there = await twoClusters(here, provider, { ttl: 300 }, { ttl: 120 });
    await rest(here, there);
    expect(here.dns.ttls(provider, WWW)).toEqual([120]);
    const { since = "" } = (await here.pools.status("web")).publishedDNS?.foreign?.[0] ?? {};
    here.advance(DAY);
    expect(planned(await here.plan())).toContain(
      `www.example.com: ${externalIP(11)} is foreign and stays, first seen ${since}`,
    );
    for (const number of [11, 12]) {
      here.dns.remove(provider, { fqdn: WWW, content: externalIP(number) });
      await here.pass();
      expect(shown(here, provider).filter((name) => name.startsWith("ip"))).toEqual(["ip1", "ip2"]);
    }
    await here.pass();
    expect(planned(await here.plan())).not.toContain("foreign");
    expect(here.dns.ttls(provider, WWW)).toEqual([300]);
    await atPeace(here);
    // A cluster of that name comes up again.
    await there.recordSets.writeStatus("nodes", null);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
  });

  scenario(`a cluster at ${provider} comes back from a backup that is a day old`, async (here) => {
    const there = await twoClusters(here, provider);
    const { status } = (await here.pools.read("web")) ?? {};
    const { status: others } = (await there.recordSets.read("nodes")) ?? {};
    here.advance(DAY);
    // Since then ip2 has left for ip3, and n12 for n13.
    here.cloud.address(ip(3));
    await here.pools.edit("web", { ips: [ip(1), ip(3)] });
    await there.machines("n13");
    await there.nodes.delete("n12");
    for (let round = 0; round < 3; round += 1) {
      here.advance(700 * SECOND);
      await rest(here, there);
    }
    expect(shown(here, provider)).toEqual(["ext11", "ext13", "ip1", "ip3"]);
    await here.pools.edit("web", { ips: [ip(1), ip(2)] });
    await here.pools.writeStatus("web", null);
    await here.pools.writeStatus("web", status as never);
    await there.recordSets.writeStatus("nodes", null);
    await there.recordSets.writeStatus("nodes", others as never);
    for (let round = 0; round < 3; round += 1) {
      here.advance(700 * SECOND);
      await rest(here, there);
    }
    // What the backup does not know serves on; nothing of the other cluster is touched.
    expect(shown(here, provider)).toEqual(["ext11", "ext13", "ip1", "ip3"]);
    await atPeace(here, there);
  });

  scenario(`an address at ${provider} moved to the other cluster, and a backup here still has it`, async (here) => {
    const there = await here.beside();
    await here.machines("n1", "n2");
    await there.machines("n11");
    for (const number of [1, 2]) here.cloud.address(ip(number));
    here.dns.zone(provider);
    await here.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www(provider, SHARE) });
    await here.pass();
    const { status } = (await here.pools.read("web")) ?? {};
    await here.pools.edit("web", { ips: [ip(1)] });
    for (let round = 0; round < 2; round += 1) {
      await here.pass();
      here.advance(700 * SECOND);
    }
    here.cloud.put(ip(2), undefined);
    await there.pools.create("web", { ips: [ip(2)], dnsRecordSet: www(provider, SHARE) });
    await rest(there, here);
    expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
    expect((await here.pools.status("web")).publishedDNS?.foreign).toMatchObject([{ address: ip(2) }]);
    await here.pools.edit("web", { ips: [ip(1), ip(2)] });
    await here.pools.writeStatus("web", null);
    await here.pools.writeStatus("web", status as never);
    await here.pass();
    expect(here.cloudWrites()).toEqual([]);
    // Who goes by a backup may take it out once; it is never the last one.
    expect(shown(here, provider)).toEqual(["ip1"]);
    await rest(there, here);
    expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
    await atPeace(there, here);
  });
}

function others(scenario: Register, provider: Provider): void {
  scenario(`RoutedIPs of two clusters share a name at ${provider}, and both fail over`, async (here) => {
    const there = await here.beside();
    here.dns.zone(provider);
    for (const [world, nodes] of [
      [here, ["n1", "n2"]],
      [there, ["n11", "n12"]],
    ] as const) {
      await world.machines(...nodes);
      for (const node of nodes) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
      await world.routedIPs.service();
      await world.routedIPs.issuer({ routedIPFirewallName: "", routedIPReclaimPolicy: "Delete" });
      await world.routedIPs.create("vip", { dnsRecordSet: www(provider, SHARE) });
      await world.pass();
    }
    expect(shown(here, provider)).toEqual(["new1", "new2"]);
    await here.pods.setReady("web-n1", false);
    await there.pods.setReady("web-n11", false);
    await rest(here, there);
    expect(here.cloud.addresses()).toEqual({ new1: "n2", new2: "n12" });
    expect(shown(here, provider)).toEqual(["new1", "new2"]);
    await here.pods.setReady("web-n2", false);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["new2"]);
    await there.pods.setReady("web-n12", false);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["new2"]);
    await here.pods.setReady("web-n1", true);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["new1"]);
    await there.pods.setReady("web-n12", true);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["new1", "new2"]);
    await here.routedIPs.delete("vip");
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["new2"]);
    await atPeace(there);
  });

  scenario(
    `surplus addresses of a cluster leave the shared name at ${provider} before they are given back`,
    async (here) => {
      const there = await here.beside();
      here.dns.zone(provider);
      await here.machines("n1", "n2", "n3");
      await there.machines("n11");
      const dnsRecordSet = www(provider, SHARE);
      await here.pools.create("web", { desiredIPs: 3, dnsRecordSet, reclaimPolicy: "Delete" });
      await there.pools.create("web", { desiredIPs: 1, dnsRecordSet, reclaimPolicy: "Delete" });
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["new1", "new2", "new3", "new4"]);
      await here.pools.edit("web", { desiredIPs: 1 });
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["new1", "new4"]);
      expect(Object.keys(here.cloud.addresses())).toHaveLength(4);
      for (let round = 0; round < 2; round += 1) {
        here.advance(700 * SECOND);
        await rest(here, there);
      }
      expect(Object.keys(here.cloud.addresses())).toEqual(["new1", "new4"]);
      await atPeace(here, there);
    },
  );

  scenario(
    `another object of the cluster takes the shared name over at ${provider}: the others' stay`,
    async (here) => {
      const there = await twoClusters(here, provider);
      await here.pools.edit("web", { reclaimPolicy: "Delete" });
      await here.recordSets.create("nodes", { dnsRecordSet: www(provider, SHARE), reclaimPolicy: "Delete" });
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
      await here.pools.delete("web");
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext1", "ext11", "ext12", "ext2"]);
      await here.recordSets.delete("nodes");
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12"]);
    },
  );

  scenario(`a suspended cluster at ${provider} remembers for a day what it has to take out`, async (here) => {
    const there = await twoClusters(here, provider);
    await there.recordSets.edit("nodes", { suspend: true });
    await there.nodes.delete("n11");
    await rest(here, there);
    here.advance(DAY);
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
    await there.recordSets.edit("nodes", { suspend: false });
    await rest(here, there);
    expect(shown(here, provider)).toEqual(["ext12", "ip1", "ip2"]);
    await atPeace(here, there);
  });
}
