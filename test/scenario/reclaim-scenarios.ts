import { expect } from "vitest";
import { type Condition, FINALIZER } from "../../src/model/resource.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { conditionsText, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE = 60_000;

async function finalizers(world: World): Promise<readonly string[]> {
  return (await world.pools.read("web"))?.metadata.finalizers ?? [];
}

/** What becomes of addresses that are surplus, removed or left by a deleted pool. */
export function reclaimScenarios(scenario: Register): void {
  scenario(
    "Delete: the finalizer is there before the first address is bought, and goes with the last",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      world.before("create", async () => expect(await finalizers(world)).toEqual([FINALIZER]));
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n1"]);
      await world.pools.edit("web", { reclaimPolicy: "Retain" });
      await world.pass();
      expect(await finalizers(world)).toEqual([]);
      expect(world.cloudWrites()).toEqual([]);
    },
  );

  scenario("Delete, desired lowered: the surplus bought address is unassigned, then deleted", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
    await world.pass();
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign new2", "delete new2"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "new1" });
    expect(await world.show()).toEqual(["new1 active n1"]);
    expect((await world.pools.status("web")).acquired.map((entry) => entry.ip)).toEqual([bought(1)]);
  });

  scenario(
    "Delete, an address is surplus since its node is unready: where that is ready again before it is taken off, it stays",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      await world.pass();
      world.cloud.address(ip(1));
      await world.pools.edit("web", { ips: [ip(1)] });
      await world.nodes.setReady("n1", false);
      world.before("annotateNode", () => world.nodes.setReady("n1", true));
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toContain("new1 active n1");
      expect(await world.nodes.annotations()).toEqual({ n1: "new1" });
    },
  );

  scenario("Delete never touches a listed address: lowered and deleted, it stays in the account", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], desiredIPs: 2, reclaimPolicy: "Delete" });
    await world.pass();
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign new1", "delete new1"]);
    expect(await world.pools.existing()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({});
    expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  });

  scenario("a deletion whose unassignment is refused waits, and ends when it succeeds", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    await world.pools.delete("web");
    world.fail({ side: "cloud", operation: "unassign", kind: "500", times: 2 });
    await world.pass();
    expect(await finalizers(world)).toEqual([FINALIZER]);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    world.clearFaults();
    world.advance(600_000);
    await world.pass();
    expect(world.cloud.boughtNow()).toEqual([]);
    expect(await world.pools.existing()).toEqual([]);
  });

  scenario("an object that is being deleted and cannot go yet says so, and nothing of its nodes", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("digitalocean");
    const dnsRecordSet = { provider: "digitalocean", zone: "example.com", ttl: 60 };
    await world.pools.create("web", {
      desiredIPs: 2,
      reclaimPolicy: "Delete",
      dnsRecordSet: { ...dnsRecordSet, recordName: "www" },
    });
    await world.recordSets.create("nodes", {
      reclaimPolicy: "Delete",
      dnsRecordSet: { ...dnsRecordSet, recordName: "nodes" },
    });
    await world.pass();
    world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "403", times: 0 });
    for (const name of ["www", "nodes"]) world.dnsSafety.allowEnd(`${name}.example.com`);
    await world.pools.delete("web");
    await world.recordSets.delete("nodes");
    const result = await world.pass();
    const { ips, conditions } = await world.pools.status("web");
    expect(Object.values(ips)).toMatchObject([1, 2].map(() => ({ state: "no-match", reason: "Deleting" })));
    expect(JSON.stringify(ips)).not.toContain("notMatchingSince");
    const both = [conditions, (await world.recordSets.status("nodes")).conditions];
    for (const one of both) expect(conditionsText(one)).toMatch(/^Ready=False \(Deleting\) .*Stalled=True/);
    const text = renderPlan(result.remaining, { palette: PLAIN, all: false, wide: false });
    expect(text).toContain("web: being deleted");
    world.clearFaults();
    world.advance(600_000);
    await world.pass();
    expect(await world.pools.existing()).toEqual([]);
  });

  scenario("a deleted pool whose unassignment hangs says at once that it is not ready", async (world) => {
    await publishedNodes(world, "digitalocean");
    await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
    await world.pass();
    await world.pools.delete("web");
    const texts = await toldDuring(world, "unassign", () => world.pools.status("web"));
    expect(texts).not.toEqual([]);
    for (const text of texts) expect(text).toMatch(/^Ready=False \(Deleting\)/);
    expect(await world.pools.existing()).toEqual([]);
  });

  scenario("a run that dies before it unassigns what a deleted pool has says that it is not ready", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"], { reclaimPolicy: "Delete" });
    world.dnsSafety.allowEnd(WWW);
    await world.pools.delete("web");
    for (let write = 2; await world.crash(write); write += 1) {
      if ((await world.pools.existing()).length === 0) continue;
      const { conditions } = await world.pools.status("web");
      expect(conditionsText(conditions)).toMatch(/^Ready=False \(Deleting\)/);
    }
    await world.pass();
    expect(await world.pools.existing()).toEqual([]);
  });

  scenario(
    "a deleted record set whose records cannot be removed yet says at once that it is not ready",
    async (world) => {
      await publishedNodes(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
      world.dnsSafety.allowEnd(WWW);
      await world.recordSets.delete("nodes");
      const texts = await toldDuring(world, "writeRecords", () => world.recordSets.status("nodes"));
      expect(texts).not.toEqual([]);
      for (const text of texts) expect(text).toMatch(/^Ready=False \(Deleting\)/);
      expect(await world.recordSets.existing()).toEqual([]);
    },
  );

  for (const operation of ["delete", "get"] as const) {
    scenario(
      `a deletion whose ${operation} fails keeps the finalizer until the address is given back`,
      async (world) => {
        await world.machines("n1");
        await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
        await world.pass();
        await world.pools.delete("web");
        world.fail({ side: "cloud", operation, kind: "422", times: 0 });
        await world.pass();
        expect(await finalizers(world)).toEqual([FINALIZER]);
        expect(world.cloud.boughtNow()).toEqual([bought(1)]);
        world.clearFaults();
        world.advance(600_000);
        await world.pass();
        expect(world.cloud.boughtNow()).toEqual([]);
        expect(await world.pools.existing()).toEqual([]);
      },
    );
  }

  scenario("a suspended pool that is being deleted says what blocks it, and goes on when resumed", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    await world.pools.edit("web", { suspend: true });
    await world.pools.delete("web");
    const { remaining } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "new1" });
    expect(remaining.holds.find(({ kind }) => kind === "remove-finalizer")?.reason).toBe("Suspended");
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(world.cloud.boughtNow()).toEqual([]);
    expect(await world.pools.existing()).toEqual([]);
  });

  scenario("a suspended pool: planned and reported, nothing is changed, and its claims stand", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    await world.pools.edit("web", { suspend: true });
    await world.nodes.setReady("n1", false);
    await world.pools.create("other", { ips: [ip(1)] });
    const { remaining } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    expect(remaining.holds.map(({ reason }) => reason)).toContain("Suspended");
    expect(await world.show("other")).toEqual(["ip1 error (Conflict)"]);
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("a bought address of which the user makes a listed one is the user's: it is not deleted", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    await world.pools.edit("web", { ips: [bought(1)] });
    await world.pass();
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    expect(await world.pools.existing()).toEqual([]);
  });

  for (const [what, reclaimPolicy, more] of [
    ["reclaimPolicy Delete", "Delete", {}],
    ["foreignRecords Share", "Retain", { foreignRecords: "Share" }],
  ] as const)
    scenario(`a pool (${what}) whose status may not be written serves, and publishes once it may`, async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      world.dns.zone("digitalocean");
      world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "403", times: 0 });
      await world.pools.create("web", { ips: [ip(1)], reclaimPolicy, dnsRecordSet: www("digitalocean", more) });
      await world.pass();
      expect([world.cloud.addresses(), await world.nodes.annotations()]).toEqual([{ ip1: "n1" }, { n1: "ip1" }]);
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([]);
      world.clearFaults();
      world.advance(10 * MINUTE);
      await world.pass();
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(1)]);
    });

  keptByName(scenario);
  replacedInName(scenario);
  for (const kind of ["403", "500"] as const) withoutFinalizer(scenario, kind);
}

const RES = "res.example.com";

/** A record set of this name that publishes the addresses of pools and nothing else. */
async function reservedNames(world: World, name: string): Promise<void> {
  await world.recordSets.create(name, {
    addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
    dnsRecordSet: www("digitalocean", { recordName: name }),
  });
}

/** A pool is deleted, and a record set with `whenEmpty: Keep` has nothing but its addresses to show. */
function keptByName(scenario: Register): void {
  for (const [remedy, act] of [
    ["whenEmpty: Delete", (world: World) => world.recordSets.edit("res", { whenEmpty: "Delete" })],
    ["the deletion of the record set", (world: World) => world.recordSets.delete("res")],
    [
      "another pool",
      async (world: World) => {
        await world.machines("n3");
        world.cloud.address(ip(1));
        await world.pools.create("other", { ips: [ip(1)] });
      },
    ],
  ] as const)
    for (const nodes of [["n1"], ["n1", "n2"]] as const)
      scenario(
        `Delete, a record set keeps its name while nothing else serves: on ${nodes.join(" and ")} the addresses stay and serve until a person acts, by ${remedy}`,
        async (world) => {
          await world.machines(...nodes);
          world.dns.zone("digitalocean");
          await world.pools.create("web", { desiredIPs: nodes.length, reclaimPolicy: "Delete" });
          await reservedNames(world, "res");
          await world.pass();
          const all = nodes.map((_, index) => `new${index + 1}`);
          expect(world.dns.set("digitalocean", RES)).toEqual(all);
          const annotated = await world.nodes.annotations();
          await world.pools.delete("web");
          const { remaining } = await world.pass();
          expect([world.cloudWrites(), world.dnsWrites()]).toEqual([[], []]);
          expect(await world.nodes.annotations()).toEqual(annotated);
          expect(remaining.actions).toEqual([]);
          const { conditions } = await world.pools.status("web");
          expect(conditionsText(conditions)).toBe("Ready=False (Deleting) Stalled=True (StillPublished)");
          const { message } = conditions.find(({ type }) => type === "Stalled") ?? {};
          expect(message).toContain(`${RES} has nothing else to show, and record set shop/res keeps its records`);
          expect(message).toContain("spec.whenEmpty: Delete");
          await world.pass();
          expect(world.writes()).toEqual([]);
          world.dnsSafety.allowEnd(RES);
          await act(world);
          for (let time = 0; time < 3; time += 1) {
            await world.pass();
            world.advance(10 * MINUTE);
          }
          expect(world.cloud.boughtNow()).toEqual([]);
          expect(await world.pools.existing()).not.toContain("web");
        },
        { checksAnnotations: false },
      );

  scenario(
    "Delete, a record set shows nothing but a deleted RoutedIP's address: its firewall stays open",
    async (world) => {
      await routedScene(world, ["n1"]);
      await world.routedIPs.issuers.edit("cloud", { routedIPReclaimPolicy: "Delete" });
      world.dns.zone("digitalocean");
      await world.routedIPs.create("vip", {});
      await reservedNames(world, "res");
      await world.pass();
      expect(world.dns.set("digitalocean", RES)).toEqual(["new1"]);
      const open = world.cloud.showFirewall();
      await world.routedIPs.delete("vip");
      await world.pass();
      expect([world.cloudWrites(), world.dnsWrites(), world.cloud.showFirewall()]).toEqual([[], [], open]);
      world.dnsSafety.allowEnd(RES);
      await world.recordSets.edit("res", { whenEmpty: "Delete" });
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        world.advance(10 * MINUTE);
      }
      expect([world.cloud.boughtNow(), await world.routedIPs.existing()]).toEqual([[], []]);
    },
  );

  scenario(
    "Delete, a record set shows nothing but a deleted pool's address: another pool takes its machine",
    async (world) => {
      await world.machines("n1");
      world.dns.zone("digitalocean");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      await reservedNames(world, "res");
      await world.pass();
      world.cloud.address(ip(1));
      await world.pools.create("other", { ips: [ip(1)] });
      await world.pools.delete("web");
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        world.advance(10 * MINUTE);
      }
      expect(world.dns.set("digitalocean", RES)).toEqual(["ip1"]);
      expect(world.cloud.boughtNow()).toEqual([]);
      expect(await world.pools.existing()).toEqual(["other"]);
    },
  );
}

/** A pool is deleted, and another one takes its place under a name, on a node of its own. */
function replacedInName(scenario: Register): void {
  const replaced = async (world: World, name: "its own" | "a record set's"): Promise<string> => {
    const fqdn = name === "its own" ? WWW : RES;
    const more = name === "its own" ? { dnsRecordSet: www("digitalocean") } : {};
    await world.machines("n1", "n2");
    world.dns.zone("digitalocean");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", ...more });
    if (name !== "its own") await reservedNames(world, "res");
    await world.pass();
    expect(world.dns.set("digitalocean", fqdn)).toEqual(["new1"]);
    world.cloud.address(ip(1));
    await world.pools.delete("web");
    await world.pools.create("other", { ips: [ip(1)], ...more });
    return fqdn;
  };

  scenario("a pool that buys takes the name of a deleted one: the name is never empty", async (world) => {
    await replacedByBuyer(world);
    await world.pass({ settle: true });
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
    await gone(world, [bought(2)]);
  });

  for (const [what, method] of [
    ["list", "listPage"],
    ["limit", "addressLimit"],
  ] as const)
    scenario(`the account's ${what} is read late: a name that a pool is to buy for is not emptied`, async (world) => {
      await replacedByBuyer(world);
      world.takesMs = (call) => (call.method === method ? 3000 : undefined);
      await world.pass({ settle: true });
      world.takesMs = undefined;
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
      await gone(world, [bought(2)]);
    });

  scenario("the account's list cannot be read: a name that a pool is to buy for is not emptied", async (world) => {
    await replacedByBuyer(world);
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
    for (let time = 0; time < 2; time += 1) {
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
      world.advance(MINUTE);
    }
    world.clearFaults();
    world.advance(10 * MINUTE);
    await gone(world, [bought(2)]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
  });

  scenario("a run for a deleted pool alone does not empty the name that another pool is to buy for", async (world) => {
    await replacedByBuyer(world);
    await world.pass({ selection: { objects: ["shop/web"] } });
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    await gone(world, [bought(2)]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
  });

  scenario(
    "a run for a deleted pool alone does not empty the name while the account cannot be listed",
    async (world) => {
      await replacedByBuyer(world);
      world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
      await world.pass({ selection: { objects: ["shop/web"] } });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
      world.clearFaults();
      world.advance(10 * MINUTE);
      await gone(world, [bought(2)]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
    },
  );

  scenario(
    "a pool that buys in vain takes the name of a deleted one: the old address serves meanwhile",
    async (world) => {
      await replacedByBuyer(world);
      world.fail({ side: "cloud", operation: "create", kind: "500", times: 0 });
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
        world.advance(5000);
      }
      world.clearFaults();
      world.advance(MINUTE);
      await gone(world, [bought(2)]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
    },
  );

  scenario(
    "the firewall of a RoutedIP that takes the name of a deleted pool is read late: no empty name",
    async (world) => {
      await replacedByRouted(world);
      world.takesMs = ({ method }) => (method === "listFirewalls" ? 3000 : undefined);
      await world.pass({ settle: true });
      world.takesMs = undefined;
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
      await gone(world, [], []);
    },
  );

  for (const operation of ["firewalls", "open-ports"] as const)
    scenario(
      `the firewall of a RoutedIP that takes the name of a deleted pool fails (${operation}): no empty name`,
      async (world) => {
        await replacedByRouted(world);
        world.fail({ side: "cloud", operation, kind: "500", times: 0 });
        for (let time = 0; time < 3; time += 1) {
          await world.pass();
          expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
          world.advance(MINUTE);
        }
        world.clearFaults();
        world.advance(10 * MINUTE);
        await gone(world, [], []);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
      },
    );

  scenario(
    "a record set takes the name of a deleted pool, and a pool buys for its nodes: no empty name",
    async (world) => {
      await world.machines("n1", "n2");
      world.dns.zone("digitalocean");
      const spec = { desiredIPs: 1, reclaimPolicy: "Delete" };
      await world.pools.create("web", { ...spec, dnsRecordSet: www("digitalocean") });
      await world.pass();
      await world.pools.delete("web");
      await world.pools.create("other", spec);
      await reservedNames(world, "www");
      await world.pass({ settle: true });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
      await gone(world, [bought(2)]);
    },
  );

  scenario("a pool that takes the name of a deleted one cools off: the old address serves meanwhile", async (world) => {
    const more = { dnsRecordSet: www("digitalocean"), assignmentCoolOffSeconds: 60 };
    await world.machines("n1", "n2");
    world.dns.zone("digitalocean");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", ...more });
    await world.pass();
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("other", { ips: [ip(1)], ...more, dnsRecordSet: null });
    await world.pass();
    await world.pools.delete("web");
    await world.pools.edit("other", { ips: [ip(2)], ...more });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    await gone(world);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
  });

  for (const name of ["its own", "a record set's"] as const) {
    const under = `another pool takes the place of a deleted one under ${name} name`;

    scenario(
      `${under}: the old address stays until the new one is there and no resolver has the old one`,
      async (world) => {
        const fqdn = await replaced(world, name);
        await world.pass();
        expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
        expect(world.dns.set("digitalocean", fqdn)).toEqual(["ip1"]);
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        world.advance(MINUTE);
        await world.pass();
        expect(world.cloudWrites()).toEqual(["unassign new1", "delete new1"]);
        expect(await world.pools.existing()).toEqual(["other"]);
      },
    );

    scenario(`${under}: the old address serves as long as the new one cannot`, async (world) => {
      const fqdn = await replaced(world, name);
      world.fail({ side: "cloud", operation: "assign", kind: "500", times: 0 });
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        expect(world.cloudWrites().filter((write) => write.includes("new1"))).toEqual([]);
        expect(world.dns.set("digitalocean", fqdn)).toEqual(["new1"]);
        expect(await world.nodes.annotations()).toMatchObject({ n1: expect.stringContaining("new1") });
        world.advance(10 * MINUTE);
      }
      world.clearFaults();
      await gone(world);
    });

    scenario(`${under}: a name that is read late is not emptied while the new address is on its way`, async (world) => {
      const fqdn = await replaced(world, name);
      world.takesMs = ({ method }) => ({ findZone: 500, assign: 1000 })[method];
      await world.pass({ settle: true });
      world.takesMs = undefined;
      expect(world.dns.set("digitalocean", fqdn)).toEqual(["ip1"]);
      await gone(world);
    });

    scenario(`${under}: the old address serves as long as the name cannot be written`, async (world) => {
      const fqdn = await replaced(world, name);
      for (const operation of ["add-record", "set-ttl", "remove-record", "write"] as const)
        world.fail({ side: "dns", provider: "digitalocean", operation, kind: "500", times: 0 });
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        expect(world.cloudWrites().filter((write) => write.includes("new1"))).toEqual([]);
        expect(world.dns.set("digitalocean", fqdn)).toEqual(["new1"]);
        world.advance(10 * MINUTE);
      }
      world.clearFaults();
      await gone(world);
    });
  }
}

/** A pool that bought an address is deleted, and one that is to buy its own takes its place and its name. */
async function replacedByBuyer(world: World): Promise<void> {
  await world.machines("n1", "n2");
  world.dns.zone("digitalocean");
  const spec = { desiredIPs: 1, reclaimPolicy: "Delete", dnsRecordSet: www("digitalocean") };
  await world.pools.create("web", spec);
  await world.pass();
  await world.pools.delete("web");
  await world.pools.create("other", spec);
}

/** A pool that bought an address is deleted, and a RoutedIP with an address and a firewall takes its place and its name. */
async function replacedByRouted(world: World): Promise<void> {
  const named = { dnsRecordSet: www("digitalocean") };
  await world.machines("n1", "n2");
  await world.pods.create("web-n2", { node: "n2", labels: { app: "web" } });
  await world.routedIPs.service();
  await world.routedIPs.issuer({ routedIPFirewallName: "web" });
  world.cloud.firewall("web");
  world.dns.zone("digitalocean");
  await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", ...named });
  await world.pass();
  world.cloud.address(ip(1));
  await world.pools.delete("web");
  await world.routedIPs.create("vip", { address: ip(1), ...named });
}

/** Passes until the deleted pool is gone with what it had bought; `left` is there still, and of pools `others`. */
async function gone(world: World, left: readonly string[] = [], others: readonly string[] = ["other"]): Promise<void> {
  for (let time = 0; time < 3; time += 1) {
    await world.pass();
    world.advance(10 * MINUTE);
  }
  expect([world.cloud.boughtNow(), await world.pools.existing()]).toEqual([left, others]);
}

/** An object that is told to clean up only after it serves, and never gets its finalizer. */
function withoutFinalizer(scenario: Register, kind: "403" | "500"): void {
  const spoil = (world: World): void => {
    for (const operation of ["setPoolFinalizer", "setRecordSetFinalizer", "setRoutedIPFinalizer"] as const)
      world.fail({ side: "cluster", operation, kind, times: 0 });
  };
  const comeToRest = async (world: World): Promise<void> => {
    for (let time = 0; time < 3; time += 1) {
      await world.pass();
      world.advance(MINUTE);
    }
  };

  scenario(`a pool that cannot get its finalizer (${kind}) takes a dead address out of its name`, async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    spoil(world);
    await world.pools.edit("web", { reclaimPolicy: "Delete" });
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(2)]);
    await world.machines("n3");
    await world.pass();
    expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(1), ip(2)]);
    await comeToRest(world);
    world.clearFaults();
    world.advance(10 * MINUTE);
    await world.pass();
    expect(await finalizers(world)).toEqual([FINALIZER]);
  });

  scenario(`a record set that cannot get its finalizer (${kind}) follows its nodes`, async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"]);
    spoil(world);
    await world.recordSets.edit("nodes", { reclaimPolicy: "Delete" });
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.machines("n3");
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext2", "ext3"]);
    await comeToRest(world);
    world.clearFaults();
    world.advance(10 * MINUTE);
    await world.pass();
  });

  scenario(`a RoutedIP that cannot get its finalizer (${kind}) moves from its dead node`, async (world) => {
    await routedScene(world, ["n1", "n2"]);
    world.cloud.address(ip(1));
    await world.routedIPs.create("vip", { address: ip(1) });
    await world.pass();
    spoil(world);
    await world.routedIPs.issuers.edit("cloud", { routedIPReclaimPolicy: "Delete" });
    await world.pass();
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(await world.showRouted()).toEqual(["ip1 active n2"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
    await comeToRest(world);
    world.clearFaults();
    world.advance(10 * MINUTE);
    await world.pass();
  });
}

/** Passes while each call of a method takes a minute. Returns what the conditions of an object say whenever one begins. */
async function toldDuring(
  world: World,
  slow: string,
  read: () => Promise<{ readonly conditions: readonly Condition[] }>,
): Promise<readonly string[]> {
  const told: Promise<string>[] = [];
  world.takesMs = ({ method }) => {
    if (method !== slow) return undefined;
    told.push(read().then(({ conditions }) => conditionsText(conditions)));
    return MINUTE;
  };
  await world.pass();
  world.takesMs = undefined;
  return await Promise.all(told);
}
