import { expect } from "vitest";
import type { DNSName } from "../fake/dns-account.ts";
import { addCall, conditionsText, DNS_PROVIDERS, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { dropletOf, externalIP, externalIPv6 } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const AAAA = `${WWW} AAAA`;
const BOTH = { ipFamilies: ["IPv4", "IPv6"] };
const LONGEST_HISTORY = 30;

/** Record sets with A and AAAA records: neither set delays, blanks or breaks the other. */
export function dualStackScenarios(scenario: Register): void {
  for (const provider of DNS_PROVIDERS) {
    follows(scenario, provider);
    leaves(scenario, provider);
    grace(scenario, provider);
    othersRecords(scenario, provider);
    faults(scenario, provider);
    crashes(scenario, provider);
  }
  specs(scenario);
}

/** Nodes with an address of each family; of `onlyIPv4` with an IPv4 address alone. */
async function dualNodes(world: World, names: readonly string[], onlyIPv4: readonly string[] = []): Promise<void> {
  for (const name of names) {
    const number = dropletOf(name) - 100;
    const six = { type: "ExternalIP", address: externalIPv6(number) } as const;
    world.cloud.droplet(name);
    await world.nodes.create(name, {
      addresses: [
        { type: "ExternalIP", address: externalIP(number) },
        ...(onlyIPv4.includes(name) ? [] : [six]),
        { type: "InternalIP", address: `10.9.0.${number}` },
      ],
    });
  }
}

/** Record set `nodes` with both families on n1 and n2, converged. */
async function published(world: World, provider: DNSName, spec: Spec = {}): Promise<void> {
  await dualNodes(world, ["n1", "n2"]);
  world.dns.zone(provider);
  await world.recordSets.create("nodes", { dnsRecordSet: www(provider), ...BOTH, ...spec });
  await world.pass();
  const { ipFamilies = BOTH.ipFamilies } = spec;
  const ofFamily = (family: string, addresses: readonly string[]): readonly string[] =>
    Array.isArray(ipFamilies) && ipFamilies.includes(family) ? addresses : [];
  expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([
    ofFamily("IPv4", ["ext1", "ext2"]),
    ofFamily("IPv6", ["six1", "six2"]),
  ]);
  world.dns.clearHistory();
}

function follows(scenario: Register, provider: DNSName): void {
  scenario(`at ${provider} both families are published, and both follow the nodes`, async (world) => {
    await published(world, provider);
    const { state, conditions, publishedDNS, ipv6, summary } = await world.recordSets.status("nodes");
    expect({ state, text: conditionsText(conditions), summary }).toEqual({
      state: "active",
      text: "",
      summary: { addresses: "4/4" },
    });
    const place = { provider, zone: "example.com" };
    expect(publishedDNS).toEqual({ ...place, name: WWW, addresses: [externalIP(1), externalIP(2)] });
    expect(ipv6?.publishedDNS).toEqual({ ...place, name: AAAA, addresses: [externalIPv6(1), externalIPv6(2)] });
    await dualNodes(world, ["n3"], ["n3"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext2", "ext3"], ["six2"]]);
  });

  scenario(
    `at ${provider} no node has an IPv6 address: the A records are published, and a person is told`,
    async (world) => {
      await dualNodes(world, ["n1", "n2"], ["n1", "n2"]);
      world.dns.zone(provider);
      await world.recordSets.create("nodes", { dnsRecordSet: www(provider), ...BOTH });
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext1", "ext2"], []]);
      const { conditions } = await world.recordSets.status("nodes");
      expect(conditionsText(conditions)).toBe("Ready=False (NothingToPublish)");
      expect(conditions.find(({ type }) => type === "Ready")?.message).toContain(AAAA);
    },
  );

  scenario(`at ${provider} the last node with IPv6 fails: its record stays, and A records follow`, async (world) => {
    await dualNodes(world, ["n1", "n2"], ["n2"]);
    world.dns.zone(provider);
    await world.recordSets.create("nodes", { dnsRecordSet: www(provider), ...BOTH });
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext2"], ["six1"]]);
  });

  scenario(
    `at ${provider} an address is compared however it is written, and repaired where it is another`,
    async (world) => {
      await published(world, provider);
      world.dns.edit(
        provider,
        { fqdn: WWW, type: "AAAA", content: externalIPv6(1) },
        { content: "2001:DB8:0006:0::0001" },
      );
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      world.dns.edit(provider, { fqdn: WWW, type: "AAAA", content: externalIPv6(2) }, { content: externalIPv6(9) });
      await world.pass();
      expect(world.dns.addresses(provider, AAAA)).toContain(externalIPv6(2));
      expect(world.dns.addresses(provider, AAAA)).not.toContain(externalIPv6(9));
      expect(world.dns.history(provider, WWW)).toEqual([]);
    },
  );
}

function leaves(scenario: Register, provider: DNSName): void {
  for (const [policy, left] of [
    ["Delete", []],
    ["Retain", ["six1", "six2"]],
  ] as const)
    scenario(`at ${provider} IPv6 is asked for no longer: ${policy}`, async (world) => {
      world.dnsSafety.allowEnd(AAAA);
      await published(world, provider, { reclaimPolicy: policy });
      await world.recordSets.edit("nodes", { ipFamilies: ["IPv4"] });
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext1", "ext2"], left]);
      expect(world.dns.history(provider, WWW)).toEqual([]);
      const { ipv6 } = await world.recordSets.status("nodes");
      expect(ipv6?.formerDNS.map(({ name }) => name)).toEqual(policy === "Delete" ? undefined : [AAAA]);
      await world.recordSets.edit("nodes", { ipFamilies: ["IPv6", "IPv4"] });
      await world.pass();
      expect(world.dns.set(provider, AAAA)).toEqual(["six1", "six2"]);
    });

  scenario(`at ${provider} an object that is deleted takes both sets away`, async (world) => {
    world.dnsSafety.allowEnd(WWW);
    world.dnsSafety.allowEnd(AAAA);
    await published(world, provider, { reclaimPolicy: "Delete" });
    await world.recordSets.delete("nodes");
    await world.pass();
    expect(world.dns.show(provider)).toEqual([]);
    expect(await world.recordSets.existing()).toEqual([]);
  });

  scenario(`at ${provider} the name changes: each set follows, and the old ones go`, async (world) => {
    world.dnsSafety.allowEnd(WWW);
    world.dnsSafety.allowEnd(AAAA);
    await published(world, provider, { reclaimPolicy: "Delete" });
    await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "api" } });
    await world.pass();
    expect(
      world.dns
        .sets()
        .map(({ fqdn }) => fqdn)
        .toSorted(),
    ).toEqual(["api.example.com", "api.example.com AAAA"]);
  });

  scenario(`at ${provider} IPv4 is asked for no longer: A records go, and are nobody's before`, async (world) => {
    world.dnsSafety.allowEnd(WWW);
    await published(world, provider, { reclaimPolicy: "Delete" });
    await world.recordSets.edit("nodes", { ipFamilies: ["IPv6"] });
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([[], ["six1", "six2"]]);
    expect(conditionsText((await world.recordSets.status("nodes")).conditions)).toBe("");
  });

  scenario(
    `at ${provider} IPv4 is asked for no longer while no node has an IPv6 address: A records stay until AAAA records serve`,
    async (world) => {
      await published(world, provider, { reclaimPolicy: "Delete" });
      for (const name of ["n1", "n2"]) await world.nodes.delete(name);
      await dualNodes(world, ["n3"], ["n3"]);
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext3"], ["six1", "six2"]]);
      await world.recordSets.edit("nodes", { ipFamilies: ["IPv6"] });
      await world.pass();
      expect(world.dnsWrites()).toEqual([]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.dnsSafety.allowEnd(WWW);
      await dualNodes(world, ["n4"]);
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([[], ["six4"]]);
    },
  );
}

function grace(scenario: Register, provider: DNSName): void {
  scenario(`at ${provider} IPv4 is asked for no longer while all nodes are in grace: A records stay`, async (world) => {
    const spec = { reclaimPolicy: "Delete", whenEmpty: "Delete", gracePeriodSeconds: 120 };
    await published(world, provider, { ...spec, ipFamilies: ["IPv4"] });
    for (const node of ["n1", "n2"]) await world.nodes.setReady(node, false);
    await world.recordSets.edit("nodes", { ipFamilies: ["IPv6"] });
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext1", "ext2"], []]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    world.dnsSafety.allowEnd(WWW);
    await world.nodes.setReady("n1", true);
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([[], ["six1"]]);
  });
}

function othersRecords(scenario: Register, provider: DNSName): void {
  scenario(`at ${provider} IPv6 alone: the A records of somebody else are none of its business`, async (world) => {
    await dualNodes(world, ["n1"]);
    world.dns.zone(provider);
    world.dns.add(provider, WWW, "192.0.2.99");
    await world.recordSets.create("nodes", { dnsRecordSet: www(provider), ipFamilies: ["IPv6"] });
    await world.pass();
    expect([world.dns.addresses(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["192.0.2.99"], ["six1"]]);
    const { publishedDNS, ipv6 } = await world.recordSets.status("nodes");
    expect([publishedDNS, ipv6?.publishedDNS?.name]).toEqual([undefined, AAAA]);
  });

  scenario(`at ${provider} two objects have one name, each its own family`, async (world) => {
    await dualNodes(world, ["n1", "n2"]);
    world.dns.zone(provider);
    await world.recordSets.create("four", { dnsRecordSet: www(provider), reclaimPolicy: "Delete" });
    await world.recordSets.create("six", { dnsRecordSet: www(provider), ipFamilies: ["IPv6"] });
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([
      ["ext1", "ext2"],
      ["six1", "six2"],
    ]);
    for (const name of ["four", "six"])
      expect(conditionsText((await world.recordSets.status(name)).conditions), name).toBe("");
    world.dnsSafety.allowEnd(WWW);
    await world.recordSets.delete("four");
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([[], ["six1", "six2"]]);
  });

  scenario(`at ${provider} two objects have one name and want other TTLs: both come to rest`, async (world) => {
    await dualNodes(world, ["n1"]);
    world.dns.zone(provider);
    await world.recordSets.create("four", { dnsRecordSet: www(provider, { ttl: 300 }) });
    await world.recordSets.create("six", { dnsRecordSet: www(provider, { ttl: 120 }), ipFamilies: ["IPv6"] });
    await world.pass();
    const isOfName = provider === "digitalocean";
    expect(world.dns.show(provider)).toEqual([`${WWW} A ext1 ${isOfName ? 120 : 300}`, `${WWW} AAAA six1 120`]);
    const { conditions } = await world.recordSets.status("four");
    const message = conditions.find(({ type }) => type === "Ready")?.message;
    const lowered = " TTL 300 was lowered to 120, the lowest of the records at the name.";
    expect(message).toBe(`1 address is published.${isOfName ? lowered : ""}`);
    await world.recordSets.edit("six", { dnsRecordSet: { ttl: 600 } });
    await world.pass();
    expect(world.dns.ttls(provider, WWW)).toEqual([300]);
  });

  scenario(`at ${provider} a foreign AAAA record is held, and A records follow`, async (world) => {
    await dualNodes(world, ["n1", "n2"]);
    world.dns.zone(provider);
    world.dns.add(provider, WWW, externalIPv6(99), { type: "AAAA" });
    await world.recordSets.create("nodes", { dnsRecordSet: www(provider, { foreignRecords: "Hold" }), ...BOTH });
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext1", "ext2"], ["six99"]]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext2"], ["six99"]]);
    const { conditions } = await world.recordSets.status("nodes");
    expect(conditionsText(conditions)).toContain("ForeignRecords");
    world.dns.remove(provider, { fqdn: WWW, type: "AAAA" });
    await world.pass();
    expect(world.dns.set(provider, AAAA)).toEqual(["six2"]);
  });

  scenario(
    `at ${provider} foreign AAAA records are shared, and A records are adopted by the other object`,
    async (world) => {
      await dualNodes(world, ["n1"]);
      world.dns.zone(provider);
      world.dns.add(provider, WWW, externalIPv6(99), { type: "AAAA" });
      world.dnsSafety.servesElsewhere(externalIPv6(99));
      await world.recordSets.create("nodes", { dnsRecordSet: www(provider, { foreignRecords: "Share" }), ...BOTH });
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext1"], ["six1", "six99"]]);
      const { ipv6 } = await world.recordSets.status("nodes");
      expect(ipv6?.publishedDNS?.foreign?.map(({ address }) => address)).toEqual([externalIPv6(99)]);
    },
  );
}

function faults(scenario: Register, provider: DNSName): void {
  scenario(
    `at ${provider} AAAA records are refused: A records follow all the same`,
    async (world) => {
      await published(world, provider);
      await dualNodes(world, ["n3"]);
      world.fail({ ...addCall(provider), subject: AAAA, kind: "422", times: 2 });
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([
        ["ext1", "ext2", "ext3"],
        ["six1", "six2"],
      ]);
      const { retries } = await world.recordSets.status("nodes");
      expect(retries.map(({ subject }) => subject)).toEqual([`dns/${provider}/${AAAA}`]);
      world.clearFaults();
      world.advance(1_200_000);
      await world.pass();
      expect(world.dns.set(provider, AAAA)).toEqual(["six1", "six2", "six3"]);
      expect((await world.recordSets.status("nodes")).retries).toEqual([]);
    },
    { worlds: ["memory"] },
  );
}

function crashes(scenario: Register, provider: DNSName): void {
  scenario(
    `at ${provider} IPv6 takes the place of IPv4: A records stay until AAAA records are there`,
    async (world) => {
      await dualNodes(world, ["n1"], ["n1"]);
      world.dns.zone(provider);
      await world.recordSets.create("nodes", { dnsRecordSet: www(provider), reclaimPolicy: "Delete" });
      await world.pass();
      await world.recordSets.edit("nodes", { ipFamilies: ["IPv6"] });
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([["ext1"], []]);
      world.dnsSafety.allowEnd(WWW);
      await dualNodes(world, ["n2"]);
      await world.pass();
      expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([[], ["six2"]]);
    },
  );

  scenario(
    `at ${provider} a run dies before each of its writes while both sets change`,
    async (world) => {
      world.dnsSafety.allowEnd(AAAA);
      await published(world, provider, { reclaimPolicy: "Delete" });
      for (let write = 1; write <= LONGEST_HISTORY; write += 1)
        if (!(await diesBefore(world, provider, write)) && write > 4) break;
    },
    { worlds: ["memory"] },
  );
}

/** n1 goes or comes back, and IPv6 with it, and the run dies before this write; the next one brings everything to its end. False where there is no such write. */
async function diesBefore(world: World, provider: DNSName, write: number): Promise<boolean> {
  const isEven = write % 2 === 0;
  await world.nodes.setReady("n1", isEven);
  await world.recordSets.edit("nodes", { ipFamilies: isEven ? ["IPv4"] : ["IPv4", "IPv6"] });
  const hasDied = await world.crash(write);
  world.advance(1_200_000);
  await world.pass();
  expect([world.dns.set(provider, WWW), world.dns.set(provider, AAAA)]).toEqual([
    isEven ? ["ext1", "ext2"] : ["ext2"],
    isEven ? [] : ["six2"],
  ]);
  return hasDied;
}

function specs(scenario: Register): void {
  scenario(
    "an annotation shows no IPv6 address: such a spec stands still and says so",
    async (world) => {
      await dualNodes(world, ["n1"]);
      world.dns.zone("digitalocean");
      const addressType = "flipop.digitalocean.com/ipv4-reserved-ip";
      const creating = world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean"), addressType, ...BOTH });
      const refusal = await creating.then(
        () => undefined,
        (error: unknown) => String(error),
      );
      if (refusal !== undefined) return expect(refusal).toContain("ipFamilies IPv6 needs addressType");
      await world.pass();
      const { conditions } = await world.recordSets.status("nodes");
      expect(conditionsText(conditions)).toContain("InvalidSpec");
      expect(world.dns.show("digitalocean")).toEqual([]);
    },
    { worlds: ["memory"] },
  );

  scenario("InternalIP: link-local text and IPv4-mapped addresses are no IPv6 addresses", async (world) => {
    world.cloud.droplet("n1");
    await world.nodes.create("n1", {
      addresses: [
        { type: "InternalIP", address: "FD00:0::1" },
        { type: "InternalIP", address: "::ffff:192.0.2.1" },
        { type: "InternalIP", address: "fe80::1%eth0" },
        { type: "InternalIP", address: "2001:db8::12345" },
        { type: "InternalIP", address: "10.9.0.1" },
      ],
    });
    world.dns.zone("digitalocean");
    await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean"), addressType: "InternalIP", ...BOTH });
    await world.pass();
    expect(world.dns.show("digitalocean")).toEqual([`${WWW} A int1 60`, `${WWW} AAAA fd00::1 60`]);
  });

  scenario(
    "an address of a node that no client reaches is not published, and what has no other one is told",
    async (world) => {
      for (const [name, addresses] of Object.entries({
        n1: ["0.0.0.0", externalIP(1), "::1", "fe80::1"],
        n2: ["127.0.0.1", "169.254.169.254", "224.0.0.1", externalIPv6(2), "::"],
        n3: ["255.255.255.255", "ff02::1"],
      })) {
        world.cloud.droplet(name);
        await world.nodes.create(name, {
          addresses: addresses.map((address) => ({ type: "ExternalIP", address }) as const),
        });
      }
      world.dns.zone("digitalocean");
      await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean"), ...BOTH });
      const { remaining } = await world.pass();
      expect(world.dns.show("digitalocean")).toEqual([`${WWW} A ext1 60`, `${WWW} AAAA six2 60`]);
      expect(remaining.holds.map(({ subject, reason, detail }) => `${subject} ${reason} ${detail}`)).toEqual([
        'n1 InvalidAddress "::1": it is the host itself, "fe80::1": it is link-local',
        'n2 InvalidAddress "127.0.0.1": it is the host itself, "169.254.169.254": it is link-local, "224.0.0.1": it is no address of one host',
        'n3 InvalidAddress "ff02::1": it is no address of one host',
      ]);
      const again = await world.pass();
      expect(again.outcomes).toEqual([]);
    },
  );

  for (const bad of ["0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.251"]) {
    scenario(
      `an annotation of ${bad}, which no pool manages, is not published, and is told`,
      async (world) => {
        world.dnsSafety.turnOff();
        await world.machines("n1", "n2");
        world.dns.zone("digitalocean");
        await world.nodes.annotate("n1", bad);
        await world.nodes.annotate("n2", externalIP(2));
        const addressType = "flipop.digitalocean.com/ipv4-reserved-ip";
        await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean"), addressType });
        const { remaining } = await world.pass();
        expect(world.dns.show("digitalocean")).toEqual([`${WWW} A ext2 60`]);
        // On a real API server the names of nodes begin with the scenario's own.
        expect(remaining.holds.map(({ subject, reason }) => `${subject} ${reason}`)).toEqual([
          expect.stringMatching(/(?:^|-)n1 InvalidAddress$/),
        ]);
      },
      { checksAnnotations: false },
    );
  }
}
