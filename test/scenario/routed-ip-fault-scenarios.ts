import { expect } from "vitest";
import type { FirewallState } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import { failReadings, www } from "./dns-scene.ts";
import type { CloudOperation, FaultKind } from "./operation-fault.ts";
import { PLAYS_ALL } from "./plays-all.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** Passes, ten minutes apart, until nothing is left to do: at most so many. */
async function settle(world: World, passes = 6): Promise<void> {
  for (let pass = 0; pass < passes; pass += 1) {
    world.advance(600_000);
    await world.pass();
    if (world.cloudWrites().length === 0) return;
  }
}

/** The histories during which something goes wrong: what came before, the step, and what is there once all is well again. */
const STORIES: readonly {
  readonly name: string;
  readonly before: (world: World) => Promise<void>;
  readonly step: (world: World) => Promise<void>;
  /** The firewall, then where the address is: of a creation `n1`, unless its firewall refused that. */
  readonly end: readonly string[];
}[] = [
  {
    name: "a creation",
    before: async () => undefined,
    step: (world) => world.routedIPs.create("vip", {}),
    end: ["tcp/30080 | n1", "n1"],
  },
  {
    name: "a failover",
    before: created,
    step: (world) => world.pods.setReady("web-n1", false),
    end: ["tcp/30080 | n2", "n2"],
  },
  {
    name: "a change of ports",
    before: created,
    step: (world) => world.routedIPs.setPorts([30443]),
    end: ["tcp/30443 | n1", "n1"],
  },
  {
    name: "a deletion",
    before: created,
    step: (world) => world.routedIPs.delete("vip"),
    end: ["|"],
  },
];

async function created(world: World): Promise<void> {
  await world.routedIPs.create("vip", {});
  await world.pass();
}

const CALLS: readonly CloudOperation[] = [
  "firewalls",
  "firewall",
  "open-ports",
  "close-ports",
  "add-machines",
  "remove-machines",
];
const KINDS: readonly FaultKind[] = ["500", "lost-answer", "timeout", "422", "404", "429", "403"];

const FAULTS = CALLS.flatMap((operation) => KINDS.map((kind) => [operation, kind] as const));
/** Of the faults one in so many is planned: each call fails in two or three ways, in each history in others. */
const ONE_IN = PLAYS_ALL ? 1 : 3;

/** What may be the node's fault: another one is tried. */
const REFUSALS: ReadonlySet<FaultKind> = new Set(["422", "404"]);

/** A RoutedIP while its firewall's calls fail, and while processes die. */
export function routedIPFaultScenarios(scenario: Register): void {
  for (const [place, { name, before, step, end }] of STORIES.entries()) {
    const faults = FAULTS.filter((_, at) => (at + place) % ONE_IN === 0);
    scenario(
      `${name} ends well whatever call about firewalls fails, and however`,
      async (world) => {
        await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
        for (const [operation, kind] of faults) {
          await before(world);
          await step(world);
          world.fail({ side: "cloud", operation, kind, times: 1 });
          await world.pass();
          world.clearFaults();
          await settle(world);
          const isOther = operation === "add-machines" && REFUSALS.has(kind) && name === "a creation";
          const expected = isOther ? ["tcp/30080 | n2", "n2"] : end;
          expect([world.cloud.showFirewall(), ...placesOf(world)], `${operation} ${kind}`).toEqual(expected);
          await startAfresh(world);
        }
      },
      { worlds: ["memory"] },
    );

    scenario(
      `${name} ends well after a death before any write`,
      async (world) => {
        await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
        for (let write = 1; write < 40; write += 1) {
          await before(world);
          await step(world);
          const hasDied = await world.crash(write);
          await settle(world);
          expect([world.cloud.showFirewall(), ...placesOf(world)], `death before write ${write}`).toEqual(end);
          await startAfresh(world);
          if (!hasDied) return;
        }
        throw new Error("the pass never ended");
      },
      { worlds: ["memory"] },
    );
  }

  scenario(
    "a run that dies after its first change leaves what the issuer said on record, for a deletion when that is gone",
    async (world) => {
      await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
      await world.routedIPs.create("vip", {});
      for (let write = 1; world.cloud.showFirewall() === "|"; write += 1) await world.crash(write);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 |");
      await world.routedIPs.issuers.delete("cloud");
      await world.routedIPs.delete("vip");
      await settle(world);
      expect([await world.routedIPs.existing(), world.cloud.showFirewall()]).toEqual([[], "|"]);
    },
    { worlds: ["memory"] },
  );

  scenario(
    "a firewall that cannot be read holds a failover up, and nothing else",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pods.setReady("web-n1", false);
      world.fail({ side: "cloud", operation: "firewalls", kind: "500", times: 0 });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
      expect(await world.showRouted()).toEqual(["new1 no-match n1 (NoCandidate)"]);
      world.clearFaults();
      await world.pools.delete("web");
      world.cloud.removeAddress(ip(1));
      world.advance(600_000);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2", "remove n1 from web"]);
    },
    { onlySingleRuns: "a process that goes on knows the firewall from its last look at it" },
  );

  scenario(
    "what failed at a firewall that is deleted then is tried no more, and told of no more",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await created(world);
      world.fail({ side: "cloud", operation: "open-ports", kind: "422", times: 0 });
      await world.routedIPs.setPorts([30080, 30443]);
      await world.pass();
      expect((await world.routedIPs.status("vip")).retries).toMatchObject([
        { subject: expect.stringMatching(/^firewall-ports\//) },
      ]);
      world.cloud.removeFirewall("web");
      world.advance(600_000);
      await world.pass();
      expect((await world.routedIPs.status("vip")).retries).toEqual([]);
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
    { worlds: ["memory"] },
  );

  scenario("a node that the firewall refuses is passed over for the next one", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    world.cloud.removeDroplet("n1");
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "add n2 to web", "create for n2"]);
    expect(await world.showRouted()).toEqual(["new1 active n2"]);
    await world.nodes.delete("n1");
    world.advance(600_000);
    await world.pass();
  });

  for (const [what, name, change] of UNUSABLE) {
    scenario(`a firewall that is ${what} holds the RoutedIP up and says what to do`, async (world) => {
      await routedScene(world, ["n1"], { routedIPFirewallName: name });
      change(world);
      await world.routedIPs.create("vip", { address: ip(1) });
      world.cloud.address(ip(1));
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      const { conditions } = await world.routedIPs.status("vip");
      expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({ status: "True" });
      world.cloud.firewall("right");
      await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "right" });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on right", "add n1 to right", "assign ip1 to n1"]);
    });
  }

  for (const [what, name, change] of UNUSABLE)
    scenario(
      `nothing is bought for a firewall that is ${what}, in a region, too, and what is there stays`,
      async (world) => {
        await routedScene(world, ["n1"], {
          routedIPFirewallName: name,
          region: "nyc3",
          routedIPReclaimPolicy: "Delete",
        });
        change(world);
        await world.routedIPs.create("vip", {});
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        const stalled = async () =>
          (await world.routedIPs.status("vip")).conditions.find(({ type }) => type === "Stalled");
        expect(await stalled()).toMatchObject({ status: "True", reason: expect.stringMatching(/^Firewall/) });
        await world.pass();
        expect(world.writes()).toEqual([]);
        world.cloud.firewall("right");
        await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "right" });
        await world.pass();
        expect(world.cloudWrites()).toEqual(expect.arrayContaining(["open tcp/30080 on right", "add n1 to right"]));
        expect(await world.showRouted()).toEqual(["new1 active n1"]);
        await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: name });
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(await stalled()).toMatchObject({ status: "True", reason: expect.stringMatching(/^Firewall/) });
        expect(await world.showRouted()).toEqual(["new1 active n1"]);
      },
    );

  for (const [what, name, change] of UNUSABLE)
    scenario(`an address behind a firewall that is ${what} follows the pods, and enters no name`, async (world) => {
      await routedScene(world, ["n1", "n2"], { routedIPFirewallName: name });
      change(world);
      world.dns.zone("cloudflare");
      world.cloud.address(ip(1), { on: "n1" });
      await world.routedIPs.create("vip", { address: ip(1), dnsRecordSet: www("cloudflare") });
      await world.pass();
      await world.pods.setReady("web-n1", false);
      await world.pass();
      world.advance(120_000);
      await world.pass();
      expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
      expect(world.dns.show("cloudflare")).toEqual([]);
      await world.pass();
      expect(world.dns.show("cloudflare")).toEqual([]);
    });

  scenario(
    "a problem that comes to an object which waits for a person already is told once, in an Event",
    async (world) => {
      await routedScene(world, ["n1"], { routedIPFirewallName: "nowhere" });
      world.cloud.address(ip(1));
      const [missing, zone] = ["Stall FirewallNotFound x1", "Stall ZoneNotFound x1"];
      await world.routedIPs.create("vip", { address: ip(1) });
      await world.pass();
      expect(await world.warnings()).toEqual([missing]);
      await world.routedIPs.edit("vip", {
        dnsRecordSet: { provider: "digitalocean", zone: "gone.test", recordName: "www" },
      });
      await world.pass();
      expect(await world.warnings()).toEqual([missing, zone]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.routedIPs.edit("vip", { dnsRecordSet: null });
      await world.pass();
      expect(await world.warnings()).toEqual([missing, zone]);
    },
  );

  scenario("a firewall with ten droplets takes no more, until its tag covers them", async (world) => {
    await routedScene(world, ["n1"]);
    const web = (): FirewallState => {
      const [firewall] = world.cloud.state.firewalls;
      if (firewall === undefined) throw new Error("the firewall is gone");
      return firewall;
    };
    const others = Array.from({ length: 10 }, (_, index) => 900 + index);
    for (const id of others) world.cloud.droplet(id);
    web().droplet_ids = others;
    await world.routedIPs.create("vip", { address: ip(1) });
    world.cloud.address(ip(1));
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    web().tags = ["edge"];
    for (const droplet of world.cloud.state.droplets) droplet.tags = ["edge"];
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "assign ip1 to n1"]);
  });

  for (const [what, fault] of NEVER_DONE)
    scenario(`a node stays behind the firewall while ${what} for ever`, async (world) => {
      await routedScene(world, ["n1", "n2"]);
      world.fail({ kind: "403", times: 0, ...fault });
      await world.routedIPs.create("vip", {});
      await world.pass();
      expect(world.cloudWrites().slice(0, 2)).toEqual(["open tcp/30080 on web", "add n1 to web"]);
      for (let attempt = 0; attempt < 4; attempt += 1) {
        world.advance(600_000);
        await world.pass();
        expect(world.cloudWrites().filter((line) => line.endsWith(" web"))).toEqual([]);
      }
      // A node that does not match any more is taken out, and the next one comes in its place.
      await world.pods.setReady("web-n1", false);
      world.advance(600_000);
      await world.pass();
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
      world.clearFaults();
      world.advance(600_000);
      await world.pass();
      expect(await world.showRouted()).toEqual(["new1 active n2"]);
    });

  scenario("a node stays behind the firewall while the assignment to it is refused for ever", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    world.fail({ side: "cloud", operation: "assign", kind: "403", times: 0 });
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2"]);
    for (let attempt = 0; attempt < 4; attempt += 1) {
      world.advance(600_000);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign new1 to n2"]);
    }
    world.clearFaults();
    world.advance(600_000);
    await world.pass();
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
  });

  for (const [what, spec] of [
    ["the account's addresses", {}],
    ["its address", { address: ip(1) }],
  ] as const)
    for (let write = 1; write <= 7; write += 1)
      scenario(
        `a node stays behind the firewall while ${what} cannot be read, after a death before write ${write}`,
        async (world) => {
          await routedScene(world, ["n1", "n2"]);
          world.cloud.address(ip(1));
          await world.routedIPs.create("vip", spec);
          await world.crash(write);
          const before = world.cloud.showFirewall();
          failReadings(world);
          for (let pass = 0; pass < 3; pass += 1) {
            await world.pass();
            expect([world.cloudWrites(), world.cloud.showFirewall()]).toEqual([[], before]);
            world.advance(600_000);
          }
          world.clearFaults();
          await settle(world);
          expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
        },
      );

  scenario("of nodes that are tried in turn only the last one stays behind the firewall", async (world) => {
    await routedScene(world, ["n1", "n2", "n3"]);
    for (const droplet of world.cloud.state.droplets) droplet.anchor_ip = null;
    world.cloud.address(ip(1));
    await world.routedIPs.create("vip", { address: ip(1) });
    for (let attempt = 0; attempt < 6; attempt += 1) {
      await world.pass();
      expect(world.cloud.showFirewall()).toMatch(/^tcp\/30080 \| n\d$/);
      world.advance(600_000);
    }
    for (const droplet of world.cloud.state.droplets) droplet.anchor_ip = "10.0.0.1";
    await world.pass();
    const [[, node] = []] = Object.entries(world.cloud.addresses());
    expect(world.cloud.showFirewall()).toBe(`tcp/30080 | ${node}`);
  });

  scenario("a Service, or an issuer, that is deleted changes nothing, and says so", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    await world.routedIPs.removeService();
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect((await world.routedIPs.status("vip")).error).toBe('Service "web" not found in namespace shop');
    expect(await world.nodes.annotations()).toEqual({ n1: "new1 of routedip/shop/vip" });
    await world.routedIPs.service();
    await world.routedIPs.issuers.delete("cloud");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect((await world.routedIPs.status("vip")).error).toContain('issuer "cloud" not found');
    await world.routedIPs.issuer();
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
  });

  for (let write = 1; write <= 4; write += 1)
    scenario(
      `killed before write ${write} after the issuer gave its firewall up, no address is at a closed port`,
      async (world) => {
        await routedScene(world, ["n1"]);
        await created(world);
        await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: null });
        await world.crash(write);
        expect(world.cloud.showFirewall()).not.toBe("| n1");
        world.advance(60_000);
        await world.pass();
        expect(world.cloud.showFirewall()).toBe("|");
        expect(await world.showRouted()).toEqual(["new1 active n1"]);
        await world.pass();
        expect(world.writes()).toEqual([]);
      },
    );

  scenario("Delete is carried out after the issuer and the Service are gone, too", async (world) => {
    await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
    await world.routedIPs.create("vip", {});
    await world.pass();
    await world.routedIPs.issuers.delete("cloud");
    await world.routedIPs.removeService();
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloudWrites()).toEqual([
      "close tcp/30080 on web",
      "remove n1 from web",
      "unassign new1",
      "delete new1",
    ]);
    expect(await world.routedIPs.existing()).toEqual([]);
  });
}

/** Firewalls that nothing can be done at before a person has acted. */
const UNUSABLE = [
  ["missing", "nowhere", () => undefined],
  ["of DigitalOcean Kubernetes", "k8s-1234-public", (world: World) => world.cloud.firewall("k8s-1234-public")],
  ["one of two with that name", "web", (world: World) => world.cloud.firewall("web")],
] as const;

/** What keeps an address from ever being bought, although its node is ready for it. */
const NEVER_DONE = [
  ["a purchase is refused", { side: "cloud", operation: "create" }],
  ["a purchase cannot be put on record", { side: "cluster", operation: "setRoutedIPFinalizer" }],
] as const;

function placesOf(world: World): readonly string[] {
  return Object.values(world.cloud.addresses());
}

/** Takes the RoutedIP away by the book, and makes everything as it was before it. */
async function startAfresh(world: World): Promise<void> {
  if ((await world.routedIPs.existing()).length > 0) {
    await world.routedIPs.delete("vip");
    await settle(world);
  }
  expect([await world.routedIPs.existing(), world.cloud.showFirewall(), world.cloud.addresses()]).toEqual([
    [],
    "|",
    {},
  ]);
  await world.pods.setReady("web-n1", true);
  await world.routedIPs.setPorts([30080]);
  world.advance(600_000);
}
