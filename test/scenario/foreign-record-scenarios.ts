import { expect } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import type { DNSName } from "../fake/dns-account.ts";
import { conditionsText, DNS_PROVIDERS, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { externalIP, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** An address that somebody else published, and that serves there. */
const FOREIGN = "198.51.100.99";

/** Records that flipop did not write, at a name that it asks for: replaced, or held. */
export function foreignRecordScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(`Adopt at ${provider}: a foreign record is replaced, and the plan says which`, async (world) => {
      await strange(world, provider);
      await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider) });
      expect(replaced(await world.plan())).toEqual([FOREIGN]);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      expect((await world.pools.status("web")).publishedDNS?.foreign).toBeUndefined();
    });

    scenario(`Adopt at ${provider}: wherever a run dies, the next plan tells what it still replaces`, async (world) => {
      await strange(world, provider);
      await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider) });
      for (let write = 1; await world.crash(write); write += 1) {
        const isThere = world.dns.addresses(provider, WWW).includes(FOREIGN);
        expect(replaced(await world.plan()), `after a death before write ${write}`).toEqual(isThere ? [FOREIGN] : []);
      }
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
    });

    scenario(`Hold at ${provider}: nothing is published beside a foreign record until a person acts`, async (world) => {
      await strange(world, provider);
      await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider, HOLD) });
      const { remaining } = await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      const [hold] = remaining.holds.filter(({ reason }) => reason === "ForeignRecords");
      expect(hold).toMatchObject({ subject: WWW, needsPerson: true });
      expect(hold?.detail).toContain(FOREIGN);
      const { conditions } = await world.pools.status("web");
      expect(conditionsText(conditions)).toBe("Ready=False (ForeignRecords) Stalled=True (ForeignRecords)");
      world.dns.remove(provider, { fqdn: WWW, content: FOREIGN });
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      expect(conditionsText((await world.pools.status("web")).conditions)).toBe("");
    });

    scenario(`Hold at ${provider} turned to Adopt: the foreign record is replaced`, async (world) => {
      await strange(world, provider);
      await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider, HOLD) });
      await world.pass();
      await world.pools.edit("web", { dnsRecordSet: { foreignRecords: "Adopt" } });
      expect(replaced(await world.plan())).toEqual([FOREIGN]);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
    });

    scenario(`Hold at ${provider}: own records follow the nodes beside a foreign one`, async (world) => {
      await publishedNodes(world, provider, ["n1", "n2"], { dnsRecordSet: www(provider, HOLD) });
      addForeign(world, provider);
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      expect((await world.recordSets.status("nodes")).publishedDNS?.foreign).toMatchObject([{ address: FOREIGN }]);
      await world.nodes.setReady("n1", false);
      await world.machines("n3");
      await world.pass();
      expect(world.dns.addresses(provider, WWW)).toEqual([FOREIGN, externalIP(2), externalIP(3)].toSorted());
      const { conditions } = await world.recordSets.status("nodes");
      expect(conditionsText(conditions)).toBe("Ready=False (ForeignRecords) Stalled=True (ForeignRecords)");
      world.dns.remove(provider, { fqdn: WWW, content: FOREIGN });
      await world.pass();
      await world.pass();
      expect(conditionsText((await world.recordSets.status("nodes")).conditions)).toBe("");
      expect((await world.recordSets.status("nodes")).publishedDNS?.foreign).toBeUndefined();
      expect(world.dns.ttls(provider, WWW)).toEqual([60]);
    });

    scenario(`Hold at ${provider}: own records stay beside a foreign one while nothing serves`, async (world) => {
      await publishedPool(world, provider, ["n1"], { dnsRecordSet: www(provider, HOLD) });
      addForeign(world, provider);
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      await world.nodes.setReady("n1", true);
      await world.pass();
      expect(world.dns.addresses(provider, WWW)).toEqual([FOREIGN, ip(1)].toSorted());
    });

    scenario(`Hold at ${provider} with a lost status: own addresses are known again`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"], { dnsRecordSet: www(provider, HOLD) });
      addForeign(world, provider);
      await world.pools.writeStatus("web", null);
      await world.nodes.setReady("n2", false);
      await world.pass();
      expect(world.dns.addresses(provider, WWW)).toEqual([FOREIGN, ip(1)].toSorted());
      expect((await world.pools.status("web")).publishedDNS?.foreign).toMatchObject([{ address: FOREIGN }]);
    });

    scenario(`Hold at ${provider}, renamed with reclaimPolicy Delete: only own records go`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"], {
        dnsRecordSet: www(provider, HOLD),
        reclaimPolicy: "Delete",
      });
      addForeign(world, provider);
      await world.pass();
      world.dnsSafety.allowEnd(WWW);
      await world.pools.edit("web", { dnsRecordSet: { recordName: "new" } });
      await world.pass();
      expect(world.dns.addresses(provider, WWW)).toEqual([FOREIGN]);
      expect(world.dns.set(provider, "new.example.com")).toEqual(["ip1", "ip2"]);
    });

    scenario(
      `Hold at ${provider}: a foreign record that comes between plan and first publication is not joined`,
      async (world) => {
        await world.machines("n1");
        world.cloud.address(ip(1));
        world.dns.zone(provider);
        await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider, HOLD) });
        world.before("writeRecords", async () => addForeign(world, provider));
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toEqual([FOREIGN]);
      },
    );
  }
}

const HOLD = { foreignRecords: "Hold" };

/** One node with an address for it, and a name that somebody else has. */
async function strange(world: World, provider: DNSName): Promise<void> {
  await world.machines("n1");
  world.cloud.address(ip(1));
  world.dns.zone(provider);
  addForeign(world, provider);
}

function addForeign(world: World, provider: DNSName): void {
  world.dnsSafety.servesElsewhere(FOREIGN);
  world.dns.add(provider, WWW, FOREIGN);
}

/** The addresses that a plan replaces and flipop did not write. */
function replaced(plan: Plan): readonly string[] {
  return [...plan.actions, ...plan.followUps].flatMap((action) => ("fqdn" in action ? (action.unrecorded ?? []) : []));
}
