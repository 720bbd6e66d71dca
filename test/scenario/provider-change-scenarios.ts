import { expect } from "vitest";
import { ACQUIRED_ANNOTATION } from "../../src/model/resource.ts";
import { WWW, www } from "./dns-scene.ts";
import { HetznerCloud } from "./hetzner-cloud.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;
const OTHER = "digitalocean";
const POLICIES = ["Retain", "Delete"] as const;
const POOL_TEXT = `provider cannot be "digitalocean": ${bought(1)} was acquired at hetzner; set it back to hetzner, or make a new pool`;
const routedText = (issuer = "cloud"): string =>
  `issuer "${issuer}" cannot have provider "digitalocean": ${bought(1)} was acquired at hetzner; ` +
  "use an issuer of hetzner, or make a new RoutedIP";

/** What was bought, at Hetzner and in the other account. */
function allBought({ cloud }: World): Readonly<Record<"here" | "elsewhere", readonly string[]>> {
  if (!(cloud instanceof HetznerCloud)) throw new Error("this world has one account");
  return { here: cloud.boughtNow(), elsewhere: cloud.boughtElsewhere() };
}

/** Passes a minute apart, until what waits has its time. */
async function passes(world: World, count = 4): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    await world.pass();
    world.advance(MINUTE_MS);
  }
}

/** A pass that changes nothing at a provider, and one after it that writes nothing at all. */
async function staysAsItIs(world: World): Promise<void> {
  await world.pass();
  expect(world.cloudWrites()).toEqual([]);
  await world.pass();
  expect(world.writes()).toEqual([]);
}

async function stalled(world: World, of: "pool" | "routedip"): Promise<string> {
  const { conditions } = of === "pool" ? await world.pools.status("web") : await world.routedIPs.status("vip");
  const found = conditions.find(({ type }) => type === "Stalled");
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

/** A pool with two addresses that it bought at Hetzner, and its name. */
async function served(world: World, reclaimPolicy: string): Promise<void> {
  await world.machines("n1", "n2");
  world.dns.zone("hetzner");
  await world.pools.create("web", { desiredIPs: 2, reclaimPolicy, dnsRecordSet: www("hetzner") });
  await world.pass();
  await world.pass();
  expect(await world.show()).toEqual(["new1 active n1", "new2 active n2"]);
}

/** A RoutedIP with the address that it bought at Hetzner. */
async function routed(world: World, routedIPReclaimPolicy: string): Promise<void> {
  await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy });
  await world.routedIPs.create("vip", {});
  await world.pass();
  await world.pass();
  expect(await world.showRouted()).toEqual(["new1 active n1"]);
}

/** What was bought at one provider, and another one is named. */
export function providerChangeScenarios(scenario: Register): void {
  poolScenarios(scenario);
  memoryScenarios(scenario);
  routedIPScenarios(scenario);
}

function poolScenarios(scenario: Register): void {
  for (const policy of POLICIES) {
    scenario(`${policy}: a pool that names another provider keeps what it bought, and buys nothing`, async (world) => {
      await served(world, policy);
      await world.pools.edit("web", { provider: OTHER });
      await staysAsItIs(world);
      expect((await world.pools.status("web")).error).toBe(POOL_TEXT);
      expect(await stalled(world, "pool")).toBe(`True InvalidSpec: ${POOL_TEXT}`);
      expect((await world.pools.status("web")).acquired).toMatchObject(
        [1, 2].map((number) => ({ ip: bought(number), provider: "hetzner" })),
      );
      expect(world.dns.addresses("hetzner", WWW)).toEqual([bought(1), bought(2)]);
      await world.pools.edit("web", { provider: "hetzner" });
      await staysAsItIs(world);
      expect(await world.show()).toEqual(["new1 active n1", "new2 active n2"]);
      expect(allBought(world)).toEqual({ here: [bought(1), bought(2)], elsewhere: [] });
    });

    for (const isSeen of [true, false])
      scenario(
        `${policy}: a pool that names another provider and is deleted ${isSeen ? "later" : "at once"} is cleaned up where it bought`,
        async (world) => {
          await served(world, policy);
          await world.pools.edit("web", { provider: OTHER });
          if (isSeen) await world.pass();
          world.dnsSafety.allowEnd(WWW);
          await world.pools.delete("web");
          await passes(world);
          expect(await world.pools.existing()).toEqual([]);
          const kept = policy === "Delete" ? [] : [bought(1), bought(2)];
          expect(allBought(world)).toEqual({ here: kept, elsewhere: [] });
          expect(await world.nodes.annotations()).toEqual({});
        },
      );
  }

  scenario("a pool that has only listed addresses may name another provider", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    await world.pools.edit("web", { provider: OTHER });
    await world.pass();
    expect((await world.pools.status("web")).error).toBeUndefined();
    expect(await world.show()).toEqual(["ip1 error (IPNotFound)"]);
  });

  scenario("a deleted pool waits for the token of the provider that it bought at, and says so", async (world) => {
    await served(world, "Delete");
    await world.pools.edit("web", { provider: OTHER });
    world.dnsSafety.allowEnd(WWW);
    await world.pools.delete("web");
    await world.pass({ withoutAddresses: ["hetzner"] });
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.pools.existing()).toEqual(["web"]);
    expect(await stalled(world, "pool")).toMatch(/^True \w+: .*hetzner/);
    await passes(world);
    expect(await world.pools.existing()).toEqual([]);
    expect(allBought(world)).toEqual({ here: [], elsewhere: [] });
  });

  scenario("a pool that names another family and is deleted is cleaned up in the one it bought in", async (world) => {
    await served(world, "Delete");
    await world.pools.edit("web", { ipFamily: "IPv6" });
    await world.pass();
    world.dnsSafety.allowEnd(WWW);
    await world.pools.delete("web");
    await passes(world);
    expect(await world.pools.existing()).toEqual([]);
    expect(allBought(world)).toEqual({ here: [], elsewhere: [] });
  });

  for (const provider of [OTHER, "Ferengi"])
    scenario(
      `a pool of ${provider} goes although its finalizer stays at first, when its addresses are gone`,
      async (world) => {
        await served(world, "Delete");
        await world.pools.edit("web", { provider });
        world.dnsSafety.allowEnd(WWW);
        await world.pools.delete("web");
        world.fail({ side: "cluster", operation: "setPoolFinalizer", kind: "500" });
        const options = { withoutAddresses: [OTHER] };
        for (let made = 0; made < 4; made += 1) {
          await world.pass(options);
          world.advance(MINUTE_MS);
        }
        expect(await world.pools.existing()).toEqual([]);
        expect(allBought(world)).toEqual({ here: [], elsewhere: [] });
      },
    );

  for (const kind of ["lost-answer", "500"] as const)
    scenario(`a purchase that ends with ${kind}, and then another provider: nothing is bought twice`, async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      world.fail({ side: "cloud", operation: "create", kind });
      await world.pass();
      await world.pools.edit("web", { provider: OTHER });
      await staysAsItIs(world);
      expect((await world.pools.status("web")).error).toContain("hetzner has not answered an acquisition yet");
      await world.pools.edit("web", { provider: "hetzner" });
      await passes(world);
      expect(await world.show()).toEqual(["new1 active n1"]);
      expect(allBought(world)).toEqual({ here: [bought(1)], elsewhere: [] });
    });

  for (let write = 1; write <= 10; write += 1)
    scenario(
      `a run that dies before write ${write}, then another provider, then a deletion: nothing is left`,
      async (world) => {
        await world.machines("n1");
        await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
        await world.crash(write);
        world.advance(MINUTE_MS);
        await world.pools.edit("web", { provider: OTHER });
        await passes(world);
        const { here, elsewhere } = allBought(world);
        expect([...here, ...elsewhere].length, "one address is asked for").toBeLessThanOrEqual(1);
        await world.pools.delete("web");
        await passes(world, 6);
        expect(await world.pools.existing()).toEqual([]);
        expect(allBought(world)).toEqual({ here: [], elsewhere: [] });
      },
    );
}

/** What an earlier version left, an older definition drops, or somebody lost. */
function memoryScenarios(scenario: Register): void {
  scenario(
    "what an earlier version bought is of the provider that its pool names when it is first seen",
    async (world) => {
      await served(world, "Delete");
      await forgetProvider(world);
      await world.pass();
      expect((await world.pools.status("web")).acquired.map(({ provider }) => provider)).toEqual([
        "hetzner",
        "hetzner",
      ]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pools.edit("web", { provider: OTHER });
      await staysAsItIs(world);
      expect((await world.pools.status("web")).error).toBe(POOL_TEXT);
    },
  );

  scenario("status lost, and another provider named: the annotation tells where the addresses are", async (world) => {
    await served(world, "Retain");
    await world.pools.edit("web", { provider: OTHER });
    await world.pools.writeStatus("web", null);
    await staysAsItIs(world);
    expect((await world.pools.status("web")).error).toBe(POOL_TEXT);
    await world.pools.edit("web", { provider: "hetzner" });
    await staysAsItIs(world);
    expect(await world.show()).toEqual(["new1 active n1", "new2 active n2"]);
    expect(allBought(world)).toEqual({ here: [bought(1), bought(2)], elsewhere: [] });
  });

  scenario("an older definition drops the provider: all goes on, and the annotation keeps it", async (world) => {
    await world.pools.forgetStatusField("acquired.provider");
    await world.pools.forgetStatusField("pendingAcquisitions.provider");
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n2"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    await world.pools.edit("web", { provider: OTHER });
    await staysAsItIs(world);
    expect((await world.pools.status("web")).error).toBe(POOL_TEXT);
    await world.pools.delete("web");
    await passes(world);
    expect(allBought(world)).toEqual({ here: [], elsewhere: [] });
  });

  scenario("an older definition, and what an earlier version bought: a failover waits for nothing", async (world) => {
    await served(world, "Delete");
    await world.machines("n3");
    await world.pools.forgetStatusField("acquired.provider");
    await forgetProvider(world);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n3"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });
}

/** The status and the annotation as an earlier version wrote them. */
async function forgetProvider(world: World): Promise<void> {
  const { acquired } = await world.pools.status("web");
  await world.pools.writeStatus("web", { acquired: acquired.map(({ provider: _provider, ...one }) => one) });
  const text = (await world.pools.read("web"))?.metadata.annotations?.[ACQUIRED_ANNOTATION] ?? "";
  expect(text).toContain(" provider=hetzner");
  await world.pools.annotate("web", ACQUIRED_ANNOTATION, text.replace(" provider=hetzner", ""));
}

function routedIPScenarios(scenario: Register): void {
  for (const policy of POLICIES) {
    scenario(`${policy}: a RoutedIP whose issuer names another provider keeps its address`, async (world) => {
      await routed(world, policy);
      await world.routedIPs.issuers.edit("cloud", { provider: OTHER });
      await staysAsItIs(world);
      const { error, issuer } = await world.routedIPs.status("vip");
      expect(error).toBe(routedText());
      expect(await stalled(world, "routedip")).toBe(`True InvalidSpec: ${routedText()}`);
      expect(issuer).toEqual({ provider: "hetzner", reclaimPolicy: policy });
      await world.routedIPs.issuers.edit("cloud", { provider: "hetzner" });
      await staysAsItIs(world);
      expect(await world.showRouted()).toEqual(["new1 active n1"]);
      expect(allBought(world)).toEqual({ here: [bought(1)], elsewhere: [] });
    });

    scenario(`${policy}: a RoutedIP that names an issuer of another provider keeps its address`, async (world) => {
      await routed(world, policy);
      await world.routedIPs.issuer({ provider: OTHER, routedIPReclaimPolicy: policy }, "second");
      await world.routedIPs.edit("vip", { issuer: "second" });
      await staysAsItIs(world);
      expect((await world.routedIPs.status("vip")).error).toBe(routedText("second"));
      await world.routedIPs.edit("vip", { issuer: "cloud" });
      await staysAsItIs(world);
      expect(await world.showRouted()).toEqual(["new1 active n1"]);
    });

    for (const [what, change] of Object.entries(ISSUERS))
      scenario(
        `${policy}: a RoutedIP is deleted whose issuer ${what}: it is cleaned up where it bought`,
        async (world) => {
          await routed(world, policy);
          await change(world);
          await world.routedIPs.delete("vip");
          world.fail({ side: "cluster", operation: "setRoutedIPFinalizer", kind: "500" });
          await passes(world);
          expect(await world.routedIPs.existing()).toEqual([]);
          expect(allBought(world)).toEqual({ here: policy === "Delete" ? [] : [bought(1)], elsewhere: [] });
          expect(await world.nodes.annotations()).toEqual({});
          expect(world.cloud.showFirewall()).toBe(policy === "Delete" ? "|" : "tcp/30080 | n1");
        },
      );
  }

  for (let write = 1; write <= 10; write += 1)
    scenario(
      `a RoutedIP, a run that dies before write ${write}, another provider, a deletion: nothing is left`,
      async (world) => {
        await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
        await world.routedIPs.create("vip", {});
        await world.crash(write);
        world.advance(MINUTE_MS);
        await world.routedIPs.issuers.edit("cloud", { provider: OTHER, region: "nyc3", routedIPFirewallName: null });
        await passes(world);
        const { here, elsewhere } = allBought(world);
        expect([...here, ...elsewhere].length, "one address is asked for").toBeLessThanOrEqual(1);
        await world.routedIPs.delete("vip");
        await passes(world, 6);
        expect(await world.routedIPs.existing()).toEqual([]);
        expect(allBought(world)).toEqual({ here: [], elsewhere: [] });
      },
    );
}

/** What becomes of an issuer before its RoutedIP is deleted. */
const ISSUERS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "names another provider": async (world) => {
    await world.routedIPs.issuers.edit("cloud", { provider: OTHER });
  },
  "names another provider, which is seen": async (world) => {
    await world.routedIPs.issuers.edit("cloud", { provider: OTHER });
    await world.pass();
  },
  "names an unknown provider": async (world) => {
    await world.routedIPs.issuers.edit("cloud", { provider: "Ferengi" });
    await world.pass();
  },
  "names another provider, and is deleted then": async (world) => {
    await world.routedIPs.issuers.edit("cloud", { provider: OTHER });
    await world.pass();
    await world.routedIPs.issuers.delete("cloud");
    await world.pass();
  },
  "is made anew with another provider": async (world) => {
    const { routedIPReclaimPolicy } = (
      (await world.routedIPs.issuers.read("cloud")) as { spec: Record<string, unknown> }
    ).spec;
    await world.routedIPs.issuers.delete("cloud");
    await world.routedIPs.issuer({ provider: OTHER, routedIPReclaimPolicy });
    await world.pass();
  },
};
