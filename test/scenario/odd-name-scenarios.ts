import { expect } from "vitest";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** Names that every JavaScript object answers to although nobody gave them to it. */
const INHERITED = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "isPrototypeOf",
  "__defineGetter__",
];
/** Those that Kubernetes admits as keys of labels. */
const LABELS = ["constructor", "toString", "hasOwnProperty"];

/** A pool beside the odd object, which must serve whatever becomes of that. */
async function beside(world: World): Promise<void> {
  await world.machines("n1");
  world.cloud.address(ip(1));
  await world.pools.create("beside", { ips: [ip(1)] });
}

/** Objects with names that a program could mistake for parts of its own objects. */
export function oddNameScenarios(scenario: Register): void {
  scenario(
    "entries of ips that are named as parts of every object are invalid entries, and nothing else",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [...INHERITED, ip(1)], desiredIPs: 1 });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
      const { ips } = await world.pools.status("web");
      expect(Object.keys(ips).toSorted()).toEqual([...INHERITED, ip(1)].toSorted());
      for (const entry of INHERITED)
        expect(Object.getOwnPropertyDescriptor(ips, entry)?.value, entry).toMatchObject({
          state: "error",
          reason: "InvalidIP",
          error: `"${entry}" is not a canonical IPv4 address`,
        });
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pools.edit("web", { ips: ["__proto__", ip(1)] });
      await world.pass();
      expect(Object.keys((await world.pools.status("web")).ips).toSorted()).toEqual([ip(1), "__proto__"]);
      await world.pools.edit("web", { ips: [ip(1)] });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
    },
  );

  scenario("a status that somebody filled with such entries is cleaned, and nothing else changes", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    const entry = { state: "active", nodeName: "n1", providerID: "digitalocean://101" };
    const ips = Object.fromEntries(INHERITED.map((name) => [name, entry]));
    await world.pools.writeStatus("web", {
      ips,
      acquired: INHERITED.map((name) => ({ ip: name, acquiredAt: "2026-01-01T00:00:00Z" })),
      released: INHERITED.map((name) => ({ ip: name })),
      retries: INHERITED.flatMap((name) =>
        [name, `${name}/x`, `ip/${name}`, `node/${name}`].map((subject) => ({
          subject,
          attempts: 1,
          nextAttemptTime: "2026-01-01T00:00:00Z",
          error: "e",
        })),
      ),
    });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect((await world.pools.status("web")).retries).toEqual([]);
  });

  for (const name of INHERITED) {
    scenario(`a pool of the provider ${name} is invalid, and others go on`, async (world) => {
      await world.pools.create("odd", { provider: name, ips: [ip(9)] });
      await beside(world);
      await world.pass();
      expect((await world.pools.status("odd")).error).toBe(`unknown provider "${name}"`);
      expect(await world.show("beside")).toEqual(["ip1 active n1"]);
      await world.pools.writeStatus("odd", {
        ips: { [ip(9)]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } },
        pendingAcquisitions: [{ startedAt: "2026-01-01T00:00:00Z", providerID: "digitalocean://101", knownIPs: [] }],
      });
      await world.pass();
      expect((await world.pools.status("odd")).error).toBe(`unknown provider "${name}"`);
      expect(await world.show("beside")).toEqual(["ip1 active n1"]);
    });

    scenario(
      `a name at the DNS provider ${name}, in the zone ${name} or called ${name} is a matter of that object`,
      async (world) => {
        world.dns.zone("digitalocean", "example.com");
        await beside(world);
        await world.recordSets.create("odd", {
          provider: name,
          dnsRecordSet: { zone: "example.com", recordName: "a" },
        });
        await world.recordSets.create("zone", { dnsRecordSet: { zone: name, recordName: "www" } });
        await world.recordSets.create("record", { dnsRecordSet: { zone: "example.com", recordName: name } });
        await world.pools.create("dns", {
          ips: [ip(8)],
          dnsRecordSet: { provider: name, zone: name, recordName: name },
        });
        await world.pass();
        expect((await world.recordSets.status("odd")).error).toBe(`unknown provider "${name}"`);
        const zone = await world.recordSets.status("zone");
        expect(zone.conditions.find(({ type }) => type === "Ready")?.status).toBe("False");
        expect(await world.show("beside")).toEqual(["ip1 active n1"]);
        expect(
          (await world.recordSets.status("record")).publishedDNS?.addresses ??
            world.dns.addresses("digitalocean", `${name}.example.com`.toLowerCase()),
        ).toHaveLength(1);
        world.dnsSafety.allowEnd(`${name}.example.com`.toLowerCase());
      },
    );
  }

  for (const name of LABELS)
    scenario(`a label called ${name} is told apart from none`, async (world) => {
      await world.machines("n1", "n2");
      await world.nodes.patch("n2", { metadata: { labels: { [name]: "yes" } } });
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("with", { ips: [ip(1)], match: { nodeLabel: name } });
      await world.pools.create("without", { ips: [ip(2)], match: { nodeLabel: `!${name}` } });
      await world.pools.create("other", { ips: [ip(9)], match: { nodeLabel: `${name}=no` } });
      await world.pass();
      expect([await world.show("with"), await world.show("without")]).toEqual([["ip1 active n2"], ["ip2 active n1"]]);
      expect((await world.pools.status("other")).assignableNodes).toEqual([]);
      await world.routedIPs.issuer({ routedIPFirewallName: "", nodeLabel: `!${name}` });
      await world.pools.delete("without");
      await world.pods.create("odd-n1", { node: "n1", labels: { [name]: "web" } });
      await world.pods.create("odd-n2", { node: "n2", labels: { app: "web" } });
      await world.routedIPs.service([30080], "web", { [name]: "web" });
      await world.routedIPs.create("vip", { address: ip(2) });
      await world.pass();
      expect(await world.showRouted()).toEqual(["ip2 active n1"]);
    });

  scenario(
    "objects called constructor are found where they are, and missed where they are not",
    async (world) => {
      const name = "constructor";
      await world.namespace(name);
      await routedScene(world, ["n1"]);
      world.cloud.droplet(900);
      await world.nodes.create(name, { droplet: 900 });
      await world.pods.create("odd", { node: name, labels: { app: "odd" } });
      await world.routedIPs.create("vip", { issuer: name });
      await world.routedIPs.create("other", { serviceName: name });
      await world.pools.create(`${name}/${name}`, { ips: [ip(9)] });
      await world.pass();
      expect((await world.routedIPs.status("vip")).error).toContain(`issuer "${name}" not found`);
      expect((await world.routedIPs.status("other")).error).toContain(`Service "${name}" not found`);
      expect(await world.show(`${name}/${name}`)).toEqual(["ip9 error (IPNotFound)"]);
      await world.routedIPs.delete("other");
      await world.routedIPs.issuer({ routedIPFirewallName: "" }, name);
      await world.routedIPs.service([30081], name, { app: "odd" });
      await world.routedIPs.edit("vip", { serviceName: name });
      await world.pass();
      expect(await world.showRouted()).toEqual([`new1 active ${name}`]);
      expect(await world.nodes.annotations()).toEqual({ [name]: "new1 of routedip/shop/vip" });
      // The droplet of a node that is called otherwise than n1, n2, … is known by its number only.
      expect(world.cloud.addresses()).toEqual({ new1: "d900" });
    },
    { checksAnnotations: false },
  );
}
