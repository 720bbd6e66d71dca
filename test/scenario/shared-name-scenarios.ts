import { expect } from "vitest";
import { planDocument } from "../../src/report/json/plan.ts";
import { conditionsText, DNS_PROVIDERS, WWW } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { externalIP, ip } from "./scenario-names.ts";
import { rest, shown, twoClusters } from "./shared-name-scene.ts";

const SECOND = 1000;

/** Two clusters that publish their addresses under one name. */
export function sharedNameScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(
      `two clusters at ${provider} publish one name, and each leaves the other's records alone`,
      async (here) => {
        const there = await twoClusters(here, provider);
        expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
        for (const world of [here, there, here, there]) {
          await world.pass();
          expect([...world.dnsWrites(), ...world.kubeWrites()]).toEqual([]);
        }
        const { publishedDNS, conditions } = await here.pools.status("web");
        expect(conditionsText(conditions)).toBe("");
        // The others' addresses are none of what is to be published here.
        expect((await there.recordSets.status("nodes")).summary).toEqual({ addresses: "2/2" });
        expect(publishedDNS?.foreign?.map(({ address }) => address)).toEqual([externalIP(11), externalIP(12)]);
      },
    );

    scenario(`both clusters at ${provider} fail over`, async (here) => {
      const there = await twoClusters(here, provider);
      await here.nodes.setReady("n1", false);
      await there.nodes.setReady("n12", false);
      await there.machines("n13");
      await here.pass();
      await there.pass();
      expect(shown(here, provider)).toEqual(["ext11", "ext13", "ip2"]);
      await here.nodes.setReady("n1", true);
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext13", "ip1", "ip2"]);
    });

    scenario(`wherever a run of either cluster at ${provider} dies, nothing of the other is lost`, async (here) => {
      const there = await twoClusters(here, provider);
      await here.nodes.setReady("n2", false);
      await here.machines("n3");
      await here.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
      here.cloud.address(ip(3));
      await there.nodes.setReady("n12", false);
      await there.machines("n13");
      for (let write = 1; ; write += 1) {
        const hasDied = await here.crash(write);
        expect(shown(here, provider), `here, write ${write}`).toContain("ext11");
        const hasDiedThere = await there.crash(write);
        expect(shown(here, provider), `there, write ${write}`).toContain("ip1");
        if (!hasDied && !hasDiedThere) break;
      }
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext13", "ip1", "ip3"]);
    });

    scenario(`the lowest TTL of two clusters at ${provider} wins, and nobody fights`, async (here) => {
      const there = await twoClusters(here, provider, { ttl: 300 }, { ttl: 120 });
      await rest(here, there);
      expect(here.dns.ttls(provider, WWW)).toEqual([120]);
      expect((await here.pools.status("web")).conditions[0]?.message).toContain("TTL 300 was lowered to 120");
      await there.recordSets.edit("nodes", { dnsRecordSet: { ttl: 600 } });
      await rest(here, there);
      expect(here.dns.ttls(provider, WWW)).toEqual([120]);
      await there.recordSets.edit("nodes", { dnsRecordSet: { ttl: 60 } });
      await rest(here, there);
      expect(here.dns.ttls(provider, WWW)).toEqual([60]);
    });

    scenario(`a cluster at ${provider} of which nothing serves takes its addresses out`, async (here) => {
      const there = await twoClusters(here, provider);
      for (const node of ["n1", "n2"]) await here.nodes.setReady(node, false);
      const { holds } = await here.plan();
      expect(holds.filter(({ subject }) => subject === WWW)).toMatchObject([{ reason: "LeftToOthers" }]);
      await here.pass();
      expect(shown(here, provider)).toEqual(["ext11", "ext12"]);
      const [ready] = (await here.pools.status("web")).conditions;
      expect(ready?.message).toBe("No address is active. The DNS name is left to others' records.");
      await rest(here, there);
      for (const node of ["n1", "n2"]) await here.nodes.setReady(node, true);
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
    });

    scenario(
      `a record set at ${provider} of which nothing serves says that the name is left to others`,
      async (here) => {
        const there = await twoClusters(here, provider);
        for (const node of ["n11", "n12"]) await there.nodes.setReady(node, false);
        await there.pass();
        expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
        const { conditions, summary } = await there.recordSets.status("nodes");
        expect(conditionsText(conditions)).toBe("Ready=False (LeftToOthers)");
        expect(summary).toEqual({ addresses: "0/0" });
        expect((await there.plan()).recordSets).toMatchObject([{ published: [], foreign: [ip(1), ip(2)] }]);
        await rest(here, there);
      },
    );

    scenario(`nothing serves in both clusters at ${provider}: the name is not emptied`, async (here) => {
      const there = await twoClusters(here, provider);
      for (const node of ["n1", "n2"]) await here.nodes.setReady(node, false);
      for (const node of ["n11", "n12"]) await there.nodes.setReady(node, false);
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12"]);
      await here.nodes.setReady("n1", true);
      await rest(here, there);
      expect(shown(here, provider)).toContain("ip1");
      expect(shown(here, provider)).not.toContain("ext11");
    });

    scenario(`the other cluster at ${provider} goes between plan and change: own records stay`, async (here) => {
      await twoClusters(here, provider);
      for (const node of ["n1", "n2"]) await here.nodes.setReady(node, false);
      here.before("writeRecords", async () => {
        for (const number of [11, 12]) here.dns.remove(provider, { fqdn: WWW, content: externalIP(number) });
      });
      await here.pass();
      expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
    });

    scenario(`the other cluster at ${provider} adds a record between plan and change: it survives`, async (here) => {
      const there = await twoClusters(here, provider);
      await here.nodes.setReady("n1", false);
      await there.machines("n13");
      here.before("writeRecords", async () => here.dns.add(provider, WWW, externalIP(13)));
      await here.pass();
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ext13", "ip2"]);
      expect(here.dnsWrites()).toHaveLength(1);
    });

    scenario(
      `all nodes cordoned at ${provider}: they serve, so their addresses stay beside the others'`,
      async (here) => {
        const there = await twoClusters(here, provider);
        const cordon = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];
        for (const node of ["n1", "n2"]) await here.nodes.patch(node, { spec: { taints: cordon } });
        for (const node of ["n11", "n12"]) await there.nodes.patch(node, { spec: { taints: cordon } });
        await rest(here, there);
        expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
      },
    );

    scenario(`a lost status at ${provider}: own addresses are known again, the others' stay`, async (here) => {
      const there = await twoClusters(here, provider);
      await here.pools.writeStatus("web", null);
      await there.recordSets.writeStatus("nodes", null);
      await here.nodes.setReady("n1", false);
      await there.nodes.setReady("n11", false);
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext12", "ip2"]);
    });

    scenario(`a list of ${provider} that lacks an own record, and its node goes for good: it leaves`, async (here) => {
      const there = await twoClusters(here, provider);
      const lost = externalIP(12);
      // What a pass sees is the name without the record, as an old list shows it.
      here.dns.remove(provider, { fqdn: WWW, content: lost });
      await there.nodes.delete("n12");
      await there.pass();
      expect((await there.recordSets.status("nodes")).publishedDNS?.unseen).toMatchObject([{ address: lost }]);
      await there.pass();
      expect(there.writes()).toEqual([]);
      here.dns.add(provider, WWW, lost);
      here.advance(60 * SECOND);
      await there.pass();
      expect(shown(here, provider)).toEqual(["ext11", "ip1", "ip2"]);
      expect((await there.recordSets.status("nodes")).publishedDNS?.unseen).toBeUndefined();
      await rest(here, there);
      for (const world of [here, there]) {
        await world.pass();
        expect(world.writes()).toEqual([]);
      }
    });

    scenario(`an own record at ${provider} that no list shows for ten minutes is forgotten`, async (here) => {
      const there = await twoClusters(here, provider);
      const lost = externalIP(12);
      here.dns.remove(provider, { fqdn: WWW, content: lost });
      await there.nodes.delete("n12");
      await there.pass();
      here.advance(601 * SECOND);
      await there.pass();
      expect((await there.recordSets.status("nodes")).publishedDNS?.unseen).toBeUndefined();
      await there.pass();
      expect(there.writes()).toEqual([]);
      // Whoever publishes it now is somebody else.
      await here.machines("n12");
      here.dns.add(provider, WWW, lost);
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12", "ip1", "ip2"]);
    });

    scenario(`a deleted object at ${provider} takes its own addresses with it`, async (here) => {
      const there = await twoClusters(here, provider);
      await there.recordSets.edit("nodes", { reclaimPolicy: "Delete" });
      await there.pass();
      await there.recordSets.delete("nodes");
      await there.pass();
      expect(shown(here, provider)).toEqual(["ip1", "ip2"]);
      await here.pass();
      expect((await here.pools.status("web")).publishedDNS?.foreign).toBeUndefined();
    });

    scenario(
      `a cluster at ${provider} that never comes back: the plan says since when its records are there`,
      async (here) => {
        await twoClusters(here, provider);
        await here.pass();
        const { since = "" } = (await here.pools.status("web")).publishedDNS?.foreign?.[0] ?? {};
        here.advance(3600 * SECOND);
        await here.pass();
        const plan = JSON.stringify(planDocument(await here.plan()));
        expect(plan).toContain(JSON.stringify({ address: externalIP(11), since }));
        for (const number of [11, 12]) here.dns.remove(provider, { fqdn: WWW, content: externalIP(number) });
        await here.pass();
        expect(here.dnsWrites()).toEqual([]);
        expect((await here.pools.status("web")).publishedDNS?.foreign).toBeUndefined();
      },
    );

    scenario(`records of ${provider} that cannot be read: nothing of the shared name changes`, async (here) => {
      const there = await twoClusters(here, provider);
      for (const node of ["n1", "n2"]) await here.nodes.setReady(node, false);
      here.fail({ side: "dns", provider, operation: "records", kind: "500", times: 20 });
      await here.pass();
      expect(here.dnsWrites()).toEqual([]);
      here.clearFaults();
      here.advance(60 * SECOND);
      await rest(here, there);
      expect(shown(here, provider)).toEqual(["ext11", "ext12"]);
    });
  }
}
