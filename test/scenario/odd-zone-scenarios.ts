import { expect } from "vitest";
import { conditionsText, DNS_PROVIDERS, publishedNodes, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { externalIP } from "./scenario-names.ts";

const MINUTES_MS = 60_000;
/** Names that are written otherwise than others, with their FQDNs. */
const ODD_NAMES = [
  ["@", "example.com"],
  ["*", "*.example.com"],
  ["*.a", "*.a.example.com"],
  ["_x._tcp", "_x._tcp.example.com"],
] as const;

/** What people do to zones and names while flipop publishes there, and names that are not like most. */
export function oddZoneScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(
      `a zone at ${provider} is deleted and made anew: the name is there again, and its object can go`,
      async (world) => {
        const makeAnew = (): void => {
          world.dns.removeZone(provider);
          world.dns.zone(provider);
        };
        await publishedNodes(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
        makeAnew();
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ext2"]);
        makeAnew();
        await world.recordSets.delete("nodes");
        await world.pass();
        await world.pass();
        expect(await world.recordSets.existing()).toEqual([]);
      },
    );

    scenario(
      `a CNAME takes the place of a name at ${provider} by hand: it is told, and stays when the object goes`,
      async (world) => {
        await publishedNodes(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
        world.dns.remove(provider, { fqdn: WWW, type: "A" });
        world.dns.add(provider, WWW, "else.example.net", { type: "CNAME" });
        await world.pass();
        const { conditions } = await world.recordSets.status("nodes");
        expect(conditionsText(conditions)).toBe("Ready=False (RecordsRefused) Stalled=True (RecordsRefused)");
        await world.pass();
        expect(world.dnsWrites()).toEqual([]);
        await world.recordSets.delete("nodes");
        world.advance(20 * MINUTES_MS);
        await world.pass();
        await world.pass();
        expect(await world.recordSets.existing()).toEqual([]);
        expect(world.dns.show(provider).map((line) => line.split(" ")[1])).toContain("CNAME");
      },
    );

    scenario(
      `an apex, wildcards and a name with underscores at ${provider} follow the nodes, and go`,
      async (world) => {
        world.dns.zone(provider);
        await world.machines("n1", "n2");
        const shown = (): readonly (readonly string[])[] => ODD_NAMES.map(([, fqdn]) => world.dns.set(provider, fqdn));
        const each = (addresses: readonly string[]): readonly (readonly string[])[] => ODD_NAMES.map(() => addresses);
        for (const [at, [recordName]] of ODD_NAMES.entries())
          await world.recordSets.create(`set-${at}`, {
            reclaimPolicy: "Delete",
            dnsRecordSet: www(provider, { recordName }),
          });
        await world.pass();
        expect(shown()).toEqual(each(["ext1", "ext2"]));
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(shown()).toEqual(each(["ext2"]));
        for (const [at, [, fqdn]] of ODD_NAMES.entries()) {
          world.dnsSafety.allowEnd(fqdn);
          await world.recordSets.delete(`set-${at}`);
        }
        await world.pass();
        await world.pass();
        expect(shown()).toEqual(each([]));
        expect(await world.recordSets.existing()).toEqual([]);
      },
    );

    scenario(
      `a name with 201 values at ${provider}, or as many as it takes: one that fails leaves it by one change`,
      async (world) => {
        const count = provider === "hetzner" ? 50 : 201;
        const nodes = Array.from({ length: count }, (_, at) => `n${at + 1}`);
        await publishedNodes(world, provider, nodes);
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dnsWrites()).toHaveLength(1);
        expect(world.dns.addresses(provider, WWW)).toHaveLength(count - 1);
      },
      { worlds: ["memory"] },
    );
  }

  scenario(
    "a name at hetzner that is to have more than 50 values keeps those it has, and what fails leaves it",
    async (world) => {
      const nodes = Array.from({ length: 50 }, (_, at) => `n${at + 1}`);
      await publishedNodes(world, "hetzner", nodes);
      await world.machines("n51", "n52");
      await world.pass();
      const { conditions } = await world.recordSets.status("nodes");
      expect(conditionsText(conditions)).toContain("RecordsRefused");
      await world.nodes.setReady("n2", false);
      await world.pass();
      const shown = world.dns.addresses("hetzner", WWW);
      expect(shown).toHaveLength(49);
      expect(shown).not.toContain(externalIP(2));
      await world.nodes.setReady("n3", false);
      await world.pass();
      world.advance(20 * MINUTES_MS);
      await world.pass();
      expect(world.dns.addresses("hetzner", WWW)).toHaveLength(50);
    },
    { worlds: ["memory"] },
  );
}
