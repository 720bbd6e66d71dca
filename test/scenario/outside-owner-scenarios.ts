import { expect } from "vitest";
import type { DNSName } from "../fake/dns-account.ts";
import { conditionsText, DNS_PROVIDERS, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MARK = "heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/shop/web";
const THEIRS = "198.51.100.9";

/** Pool `web` with ip1 on n1, that asks for `www`; converged. */
async function pool(world: World, provider: DNSName, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.machines("n1");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider, more) });
  await world.pass();
}

function mark(world: World, provider: DNSName, fqdn: string, text = MARK): void {
  world.dns.add(provider, fqdn, text, { type: "TXT" });
}

async function problem(world: World): Promise<string> {
  return conditionsText((await world.pools.status("web")).conditions);
}

/** Makes a pass; returns how many calls read texts. */
async function textCalls(world: World): Promise<number> {
  await world.pass();
  return world.dnsCalls().filter((line) => line.includes(" texts ")).length;
}

const HELD = "Ready=False (OwnedByOther) Stalled=True (OwnedByOther)";

/** Names that external-dns has. */
export function outsideOwnerScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    scenario(`a name at ${provider} that external-dns has is left to it until its mark goes`, async (world) => {
      world.dns.zone(provider);
      world.dns.add(provider, WWW, THEIRS);
      mark(world, provider, "a-www.example.com");
      await pool(world, provider);
      expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS]);
      expect(world.dnsWrites()).toEqual([]);
      expect(await problem(world)).toBe(HELD);
      const { conditions, publishedDNS } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Stalled")?.message).toBe(
        `www.example.com: It belongs to external-dns with the owner id "prod": there is the TXT record a-www.example.com, which says so. ` +
          "Publish under another name, or let external-dns give this one up and remove its TXT record; to take the name over, write dnsRecordSet.foreignRecords: Adopt.",
      );
      expect(publishedDNS).toBeUndefined();
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      world.dns.remove(provider, { fqdn: "a-www.example.com", type: "TXT" });
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      expect(await problem(world)).toBe("");
    });

    scenario(`a name at ${provider} that external-dns has is taken where Adopt is written out`, async (world) => {
      world.dns.zone(provider);
      world.dns.add(provider, WWW, THEIRS);
      mark(world, provider, WWW);
      await pool(world, provider, { foreignRecords: "Adopt" });
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
    });

    for (const foreignRecords of ["Hold", "Share"])
      scenario(`${foreignRecords} puts nothing beside what external-dns has at ${provider}`, async (world) => {
        world.dns.zone(provider);
        if (foreignRecords === "Share") world.dns.add(provider, WWW, THEIRS);
        mark(world, provider, "a-www.example.com", `"${MARK}"`);
        await pool(world, provider, { foreignRecords });
        expect(world.dns.set(provider, WWW)).not.toContain("ip1");
        expect(await problem(world)).toBe(HELD);
      });

    scenario(`a mark at ${provider} with a prefix that nobody told flipop is found`, async (world) => {
      world.dns.zone(provider);
      world.dns.add(provider, WWW, THEIRS);
      world.dns.add(provider, "api.example.com", THEIRS);
      for (const name of ["www", "api"]) mark(world, provider, `edns.a-${name}.example.com`);
      await pool(world, provider);
      expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS]);
      expect(await problem(world)).toBe(HELD);
    });

    scenario(`marks of other names and types at ${provider} keep no name from being taken`, async (world) => {
      world.dns.zone(provider);
      for (const name of ["www", "www-old"]) world.dns.add(provider, `${name}.example.com`, THEIRS);
      mark(world, provider, "a-www-old.example.com");
      mark(world, provider, "cname-www.example.com");
      mark(world, provider, WWW, "v=spf1 -all");
      await pool(world, provider);
      expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      expect(world.dns.addresses(provider, "www-old.example.com")).toEqual([THEIRS]);
    });

    scenario(
      `external-dns takes a name at ${provider} that flipop has: its record stays, and ours follow the nodes`,
      async (world) => {
        await publishedPool(world, provider, ["n1", "n2"]);
        mark(world, provider, "a-www.example.com");
        world.dns.add(provider, WWW, THEIRS);
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toContain(THEIRS);
        expect(await problem(world)).toBe(HELD);
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS, ip(2)].toSorted());
        world.dns.remove(provider, { fqdn: WWW, content: ip(2) });
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS]);
      },
    );

    // A webhook shows texts with everything else.
    if (provider === "webhook") continue;
    scenario(
      `whose a name at ${provider} is cannot be read: it is not taken, and a recovery of a name of ours goes on`,
      async (world) => {
        await publishedPool(world, provider, ["n1", "n2"]);
        world.dns.add(provider, WWW, THEIRS);
        world.fail({ side: "dns", provider, operation: "texts", kind: "500", times: 0 });
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dns.addresses(provider, WWW)).toEqual([THEIRS, ip(2)].toSorted());
        expect(await problem(world)).toBe("Ready=False (Unreadable)");
        world.clearFaults();
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
      },
      { worlds: ["memory"] },
    );

    scenario(
      `texts at ${provider} are read when a name is taken, and when records go that flipop did not write; never at rest`,
      async (world) => {
        await world.machines("n1", "n2");
        for (const number of [1, 2]) world.cloud.address(ip(number));
        world.dns.zone(provider);
        await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www(provider) });
        expect(await textCalls(world)).toBe(1);
        expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
        expect(await textCalls(world)).toBe(0);
        expect(await textCalls(world)).toBe(0);
        await world.nodes.setReady("n1", false);
        expect(await textCalls(world)).toBe(0);
        expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
        world.dns.add(provider, WWW, THEIRS);
        expect(await textCalls(world)).toBe(1);
        expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
        expect(await textCalls(world)).toBe(0);
        mark(world, provider, "a-www.example.com");
        world.dns.add(provider, WWW, THEIRS);
        expect(await textCalls(world)).toBe(1);
        expect(await textCalls(world)).toBe(1);
        await world.pools.edit("web", { dnsRecordSet: www(provider, { foreignRecords: "Adopt" }) });
        expect(await textCalls(world)).toBe(0);
        expect(world.dns.set(provider, WWW)).toEqual(["ip2"]);
      },
      { worlds: ["memory"] },
    );
  }
}
