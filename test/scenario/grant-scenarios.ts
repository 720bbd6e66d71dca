import { expect } from "vitest";
import type { Condition } from "../../src/model/resource.ts";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** A field that names something of the account: what asks, what would grant it, and what is done once it is granted. */
interface Claim {
  readonly field: string;
  readonly ask: (world: World) => Promise<void>;
  /** Granted beside, so that nothing else is missing. */
  readonly others: Readonly<Record<string, string>>;
  readonly grant: Readonly<Record<string, string>>;
  /** The end of the sentence that says what is missing. */
  readonly missing: string;
  readonly object: "web" | "nodes" | "vip";
  /** Writes to the providers that do not happen without the grant, and do with it. */
  readonly writes: readonly string[];
}

const CLAIMS: readonly Claim[] = [
  {
    field: "spec.ips of a pool",
    object: "web",
    ask: async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
    },
    others: {},
    grant: { addresses: `${ip(1)}/32` },
    missing: `is not granted the address ${ip(1)}`,
    writes: ["assign ip1 to n1"],
  },
  {
    field: "spec.desiredIPs of a pool",
    object: "web",
    ask: async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, ips: [] });
    },
    others: {},
    grant: { purchases: "1" },
    missing: "may hold 0 acquired addresses, and 1 is asked for",
    writes: ["create for n1"],
  },
  {
    field: "spec.dnsRecordSet of a pool",
    object: "web",
    ask: async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1), { on: "n1" });
      world.dns.zone("digitalocean");
      await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www("digitalocean") });
    },
    others: { addresses: ip(1) },
    grant: { names: "*.example.com" },
    missing: `is not granted the name ${WWW}`,
    writes: ["add www ip1"],
  },
  {
    field: "spec.foreignHolder of a pool",
    object: "web",
    ask: async (world) => {
      await world.machines("n1");
      world.cloud.droplet(999);
      world.cloud.address(ip(1), { on: 999 });
      await world.pools.create("web", { ips: [ip(1)], foreignHolder: "TakeOver" });
    },
    others: { addresses: ip(1) },
    grant: { "take-over": "true" },
    missing: "is not granted take-overs (foreignHolder: TakeOver)",
    writes: ["assign ip1 to n1"],
  },
  {
    field: "spec.dnsRecordSet of a record set",
    object: "nodes",
    ask: async (world) => {
      await world.machines("n1");
      world.dns.zone("cloudflare");
      await world.recordSets.create("nodes", { dnsRecordSet: www("cloudflare") });
    },
    others: {},
    grant: { names: WWW },
    missing: `is not granted the name ${WWW}`,
    writes: ["add www n1"],
  },
  {
    field: "spec.address of a RoutedIP",
    object: "vip",
    ask: async (world) => {
      await routedScene(world, ["n1"], { routedIPFirewallName: "" });
      world.cloud.address(ip(1));
      await world.routedIPs.create("vip", { address: ip(1) });
    },
    others: {},
    grant: { addresses: ip(1) },
    missing: `is not granted the address ${ip(1)}`,
    writes: ["assign ip1 to n1"],
  },
  {
    field: "a RoutedIP without address",
    object: "vip",
    ask: async (world) => {
      await routedScene(world, ["n1"], { routedIPFirewallName: "" });
      await world.routedIPs.create("vip", {});
    },
    others: {},
    grant: { purchases: "1" },
    missing: "may hold 0 acquired addresses, and 1 is asked for",
    writes: ["create for n1"],
  },
  {
    field: "routedIPFirewallName of an issuer",
    object: "vip",
    ask: async (world) => {
      await routedScene(world, ["n1"]);
      world.cloud.address(ip(1));
      await world.routedIPs.create("vip", { address: ip(1) });
    },
    others: { addresses: ip(1) },
    grant: { firewalls: "web" },
    missing: "is not granted the firewall web",
    writes: ["open tcp/30080 on web", "add n1 to web", "assign ip1 to n1"],
  },
  {
    field: "spec.dnsRecordSet of a RoutedIP",
    object: "vip",
    ask: async (world) => {
      await routedScene(world, ["n1"], { routedIPFirewallName: "" });
      world.cloud.address(ip(1), { on: "n1" });
      world.dns.zone("digitalocean");
      await world.routedIPs.create("vip", { address: ip(1), dnsRecordSet: www("digitalocean") });
    },
    others: { addresses: ip(1) },
    grant: { names: WWW },
    missing: `is not granted the name ${WWW}`,
    writes: ["add www ip1"],
  },
];

async function conditions(world: World, object: Claim["object"]): Promise<readonly Condition[]> {
  if (object === "web") return (await world.pools.status("web")).conditions;
  if (object === "vip") return (await world.routedIPs.status("vip")).conditions;
  return (await world.recordSets.status("nodes")).conditions;
}

async function condition(world: World, type: string, object: Claim["object"] = "web"): Promise<string> {
  const found = (await conditions(world, object)).find((one) => one.type === type);
  return found === undefined ? "absent" : `${found.status} ${found.reason}: ${found.message}`;
}

/** Writes the annotation that flipop writes before a purchase, as somebody does who may edit the pool and not its status. */
async function pretendPurchase(world: World, pool: string, providerID: string): Promise<void> {
  const { metadata } = (await world.pools.read(pool)) as unknown as { readonly metadata: { readonly uid: string } };
  await world.pools.annotate(pool, "flipop.digitalocean.com/acquired", `${metadata.uid} pending=${providerID}`);
}

/** The writes to providers of the last run, DNS in few words. */
function writes(world: World): readonly string[] {
  return [...world.cloudWrites(), ...world.dnsWrites()];
}

/** What namespaces grant their objects. */
export function grantScenarios(scenario: Register): void {
  for (const { field, ask, others, grant, missing, object } of CLAIMS) {
    scenario(`grants: ${field} waits for its grant, and says so`, async (world) => {
      world.grants = "require";
      await world.grant(others);
      await ask(world);
      await world.pass();
      await world.pass();
      expect(writes(world)).toEqual([]);
      expect(await condition(world, "Granted", object)).toContain(missing);
      const { grants } = await world.plan();
      expect(grants?.missing.map(({ effect, sentence }) => [effect, sentence.includes(missing)])).toEqual([
        ["held", true],
      ]);
      await world.grant({ ...others, ...grant });
      await world.pass();
      expect(writes(world)).not.toEqual([]);
      await world.pass();
      expect(await condition(world, "Granted", object)).toBe("absent");
      expect(await condition(world, "Stalled", object)).toContain("False");
    });
  }

  scenario(
    "grants: namespaces are listed once a run, however often it passes, and not at all without grants",
    async (world) => {
      await world.grant({ addresses: "0.0.0.0/0" });
      await world.machines("n1", "n2", "n3", "n4", "n5", "n6");
      for (const n of [1, 2, 3, 4, 5, 6]) world.cloud.address(ip(n));
      const rows = [
        ["off", "web", [ip(1), ip(2)], 0],
        ["warn", "mail", [ip(3), ip(4)], 1],
        ["require", "vpn", [ip(5), ip(6)], 1],
      ] as const;
      for (const [mode, pool, ips, lists] of rows) {
        world.grants = mode;
        await world.pools.create(pool, { ips, assignmentCoolOffSeconds: 5 });
        await world.pass({ settle: true });
        // The second one only after the cool-off, in a later pass of the same run.
        expect(world.cloudWrites()).toHaveLength(2);
        expect(world.namespaceLists()).toBe(lists);
        await world.pass();
        expect([world.writes().length, world.namespaceLists()]).toEqual([0, lists]);
      }
    },
    { onlySingleRuns: "a process that watches lists once, whatever runs" },
  );

  scenario(
    "grants: the command that is told of one missing address grants all that the namespace lacks",
    async (world) => {
      world.grants = "require";
      await world.grant({ addresses: ip(9) });
      await world.machines("n1", "n2", "n3");
      for (const n of [1, 2, 3]) world.cloud.address(ip(n));
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      await world.pools.create("mail", { ips: [ip(3)] });
      await world.pass();
      const told = (await world.plan()).grants?.missing.map(({ advice }) => advice) ?? [];
      expect([told.length, new Set(told).size]).toEqual([3, 1]);
      const [, value = ""] = /\/addresses='(.*)'$/.exec(told[0] ?? "") ?? [];
      await world.grant({ addresses: value });
      await world.pass();
      expect(writes(world)).toHaveLength(3);
      const { grants } = await world.plan();
      expect(grants?.missing).toEqual([]);
    },
  );

  scenario(
    "grants: warn holds nothing, and says what require would hold",
    async (world) => {
      world.grants = "warn";
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
      expect(await condition(world, "Ready")).toContain("True");
      expect(await condition(world, "Granted")).toContain("What is on record stays as it is");
      world.grants = "off";
      await world.pass();
      expect(await condition(world, "Granted")).toBe("absent");
    },
    { onlySingleRuns: "the mode is a flag, which a process that watches keeps" },
  );

  scenario(
    "grants: what is withdrawn goes on being served, moves, and is published; what is new waits",
    async (world) => {
      world.grants = "require";
      await world.grant({ addresses: "192.0.2.0/24 203.0.113.0/24 198.51.100.0/24", names: WWW });
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.grant({});
      await world.machines("n3");
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
      world.cloud.address(ip(3));
      await world.machines("n4");
      await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2", "ip3 error (NotGranted)"]);
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(1), ip(2)]);
      expect(await condition(world, "Stalled")).toContain(`is not granted the address ${ip(3)}`);
      expect(await condition(world, "Granted")).toContain("What is on record stays as it is and is served.");
      await world.pools.edit("web", { ips: [ip(1), ip(2)] });
      await world.pass();
    },
  );

  scenario("grants: another name waits, and the one before it follows the addresses meanwhile", async (world) => {
    world.grants = "require";
    await world.grant({ addresses: "0.0.0.0/0", names: WWW });
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.edit("web", { dnsRecordSet: www("digitalocean", { recordName: "login" }), ips: [ip(1), ip(2)] });
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(await condition(world, "Stalled")).toContain("is not granted the name login.example.com");
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(1)]);
    expect(world.dns.addresses("digitalocean", "login.example.com")).toEqual([]);
    await world.grant({ addresses: "0.0.0.0/0", names: "www.example.com,login.example.com" });
    await world.pass();
    expect(world.dns.addresses("digitalocean", "login.example.com")).toEqual([ip(1)]);
  });

  scenario("grants: a firewall that is withdrawn lets the next node in, and opens no other port", async (world) => {
    world.grants = "require";
    await world.grant({ firewalls: "web", purchases: "1" });
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    await world.grant({});
    await world.routedIPs.setPorts([30080, 30443]);
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2", "remove n1 from web"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
    expect(await condition(world, "Stalled", "vip")).toContain("is not granted the firewall web");
    await world.grant({ firewalls: "web", purchases: "1" });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30443 on web"]);
  });

  scenario("grants: an object that is served moves although its issuer names another firewall now", async (world) => {
    world.grants = "require";
    await world.grant({ firewalls: "web", purchases: "1" });
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    world.cloud.firewall("edge", { open: ["tcp/22"] });
    await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "edge" });
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n2"]);
    expect(world.cloud.showFirewall("edge")).toBe("tcp/22 |");
    expect(await condition(world, "Stalled", "vip")).toContain("is not granted the firewall edge");
  });

  scenario(
    "grants: an acquisition that brought nothing keeps its grant for the object that made it, and no more than that",
    async (world) => {
      world.grants = "require";
      await world.grant({ purchases: "3" });
      await world.pools.create("web", { desiredIPs: 1, region: "nyc3", match: { nodeLabel: "role=nobody" } });
      await world.pass();
      world.advance(1000);
      await world.pools.create("mail", { desiredIPs: 1, region: "nyc3", match: { nodeLabel: "role=nobody" } });
      world.fail({ side: "cloud", operation: "create", kind: "cut" });
      await world.pass();
      world.clearFaults();
      await world.pools.edit("web", { desiredIPs: 9 });
      await world.pools.edit("mail", { desiredIPs: 9 });
      for (let round = 0; round < 7; round += 1) {
        world.advance(31_000);
        await world.pass();
      }
      const counts = await Promise.all(
        ["web", "mail"].map(async (pool) => (await world.pools.status(pool)).acquired.length),
      );
      // Which one is senior a real API server does not say of two that were made in one second.
      expect(counts.toSorted()).toEqual([1, 2]);
    },
  );

  scenario(
    "grants: purchases count over all objects of the namespace, and those without any come first",
    async (world) => {
      world.grants = "require";
      await world.grant({ purchases: "2" });
      await world.machines("n1", "n2", "n3");
      await world.pools.create("web", { desiredIPs: 3, ips: [] });
      world.advance(1000);
      await world.pools.create("api", { desiredIPs: 1, ips: [] });
      await world.pass();
      expect(world.cloudWrites()).toHaveLength(2);
      expect([await world.show(), await world.show("api")]).toEqual([
        [expect.stringContaining("active")],
        [expect.stringContaining("active")],
      ]);
      expect(await condition(world, "Stalled")).toContain("may hold 2 acquired addresses, and 4 are asked for");
      await world.grant({ purchases: "1" });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await condition(world, "Granted")).toContain("may hold 1 acquired address");
    },
  );

  scenario("grants: an entry that cannot be read is that namespace's problem alone", async (world) => {
    world.grants = "require";
    await world.namespace("bank");
    await world.grant({ addresses: "0.0.0.0/0", purchases: "many" }, "bank");
    await world.grant({ addresses: `203.0.113.9/8, ${ip(1)} ${"nonsense,".repeat(29_000)}` });
    await world.machines("n1", "n2", "n3");
    for (const n of [1, 2, 3]) world.cloud.address(ip(n));
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    await world.pools.create("bank/web", { ips: [ip(3)] });
    await world.pass();
    expect([...world.cloudWrites()].map((line) => line.split(" ")[1]).toSorted()).toEqual(["ip1", "ip3"]);
    const problems = (await world.plan()).grants?.problems ?? [];
    expect(problems.filter(({ namespace }) => namespace.endsWith("bank")).map(({ why }) => why)).toEqual([
      "it is not a number from 0 to 999999",
    ]);
    expect(problems.filter(({ namespace }) => namespace.endsWith("shop"))).toHaveLength(6);
  });

  scenario(
    "grants: without the permission to list namespaces what is new waits, and what serves moves",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1"]);
      world.grants = "require";
      const refused = { side: "cluster", operation: "listNamespaceGrants", kind: "403", times: 0 } as const;
      world.fail(refused);
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      world.cloud.address(ip(2));
      await world.pools.edit("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("digitalocean") });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
      expect(await condition(world, "Stalled")).toContain("GrantsUnreadable");
      world.clearFaults();
      await world.grant({ addresses: "0.0.0.0/0", names: WWW });
      await world.machines("n3");
      await world.pass();
      expect(await condition(world, "Granted")).toBe("absent");
    },
    { onlySingleRuns: "a process that watches keeps its flags" },
  );

  scenario(
    "grants: an annotation of the object that claims an address of the account is not believed",
    async (world) => {
      world.grants = "require";
      await world.grant({ purchases: "1" });
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { desiredIPs: 1, ips: [] });
      const { metadata } = (await world.pools.read("web")) as unknown as {
        readonly metadata: { readonly uid: string };
      };
      await world.pools.annotate("web", "flipop.digitalocean.com/acquired", `${metadata.uid} ${ip(1)}`);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await condition(world, "Granted")).toContain(`is not granted the address ${ip(1)}`);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
    },
  );

  scenario(
    "grants: an annotation of the object that claims a purchase for a machine takes no address off that machine",
    async (world) => {
      world.grants = "require";
      await world.grant({ purchases: "1" });
      world.cloud.droplet(900);
      world.cloud.address(ip(1), { on: 900 });
      await world.pools.create("web", { desiredIPs: 1, ips: [], foreignHolder: "TakeOver" });
      await pretendPurchase(world, "web", "digitalocean://900");
      await world.machines("n1");
      for (const later of [0, 60_000]) {
        world.advance(later);
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect((await world.pools.status("web")).acquired).toEqual([]);
      }
      expect(await condition(world, "Stalled")).toContain("LostAcquisition");
      expect(await condition(world, "Stalled")).toContain(ip(1));
      await world.grant({ purchases: "1", addresses: ip(1) });
      await world.pass();
      expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: ip(1), adopted: true }]);
    },
  );

  scenario(
    "grants: a purchase that lost both its answer and its status is found again once a person grants the address",
    async (world) => {
      world.grants = "require";
      await world.grant({ purchases: "1" });
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, ips: [] });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      await world.pools.writeStatus("web", null);
      for (const later of [5000, 60_000]) {
        world.advance(later);
        await world.pass();
      }
      const [only = ""] = world.cloud.boughtNow();
      expect(world.cloud.boughtNow()).toHaveLength(1);
      expect(await condition(world, "Stalled")).toContain(only);
      await world.grant({ purchases: "1", addresses: only });
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n1"]);
      expect(world.cloud.boughtNow()).toEqual([only]);
    },
  );
}
