import { expect } from "vitest";
import { addCall, conditionsText, DNS_PROVIDERS, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const SINGLE = { onlySingleRuns: "What watches passes for all objects, and knows its own attempts." };
const CORDON = {
  spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
};

/** What a person takes from nodes that still serve: a cordon, a label, a selector. */
export function paceScenarios(scenario: Register): void {
  emptyTargets(scenario);
  emptyTargetsByHand(scenario);
  upgrades(scenario);
  drains(scenario);
  spares(scenario);
}

async function cordon(world: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) await world.nodes.patch(name, CORDON);
}

/** Passes until nothing is left that ends by itself, a TTL apart; at every write so many of `www` serve. */
async function upgraded(world: World, least: number, passes = 8): Promise<void> {
  for (let pass = 0; pass < passes; pass += 1) {
    for (const method of ["assign", "unassign", "writeRecords"])
      world.before(method, async () => expect(answering(world), `before ${method}`).toBeGreaterThanOrEqual(least));
    await world.pass();
    expect(answering(world)).toBeGreaterThanOrEqual(least);
    world.advance(61 * SECOND);
  }
}

/** How many addresses of `www` a ready node has. */
function answering(world: World): number {
  const shown = world.dns.addresses("digitalocean", WWW);
  return shown.length - world.dnsSafety.wrong(shown).length;
}

function emptyTargets(scenario: Register): void {
  scenario("one wrong letter in podLabel takes nothing away, and says what selects nothing", async (world) => {
    await world.machines("n1", "n2");
    for (const node of ["n1", "n2"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
    await publishedPool(world, "digitalocean", [], {}).catch(() => undefined);
    for (const number of [1, 2]) world.cloud.address(ip(number));
    await world.pools.edit("web", {
      ips: [ip(1), ip(2)],
      match: { podNamespace: world.namespaceName("shop"), podLabel: "app=web" },
    });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    await world.pools.edit("web", { match: { podNamespace: world.namespaceName("shop"), podLabel: "app=wbe" } });
    const { plan } = await world.pass();
    expect(plan.actions).toEqual([]);
    expect([world.cloudWrites(), world.dnsWrites()]).toEqual([[], []]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
    expect(await world.show()).toEqual(["ip1 active n1 (EmptyTarget)", "ip2 active n2 (EmptyTarget)"]);
    const held = plan.holds.filter(({ reason }) => reason === "EmptyTarget");
    expect(held).toHaveLength(1);
    expect(held[0]).toMatchObject({ needsPerson: true });
    expect(held[0]?.detail).toContain("app=wbe selects no pod");
    for (const node of ["n1", "n2"]) await world.nodes.setReady(node, false);
    const { plan: after } = await world.pass();
    expect(after.holds.filter(({ reason }) => reason === "EmptyTarget")).toMatchObject([
      { needsPerson: true, held: "nothing can serve" },
    ]);
    expect((await world.pools.status("web")).conditions).toContainEqual(
      expect.objectContaining({ type: "Stalled", status: "True", reason: "EmptyTarget" }),
    );
    await world.pass();
    expect(world.writes()).toEqual([]);
    for (const node of ["n1", "n2"]) await world.nodes.setReady(node, true);
    await world.pools.edit("web", { match: { podNamespace: world.namespaceName("shop"), podLabel: "app=web" } });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
  });

  scenario(
    "a nodeLabel that selects no node takes nothing away; a node that is down leaves its name",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.pools.edit("web", { match: { nodeLabel: "role=edg" } });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1 (EmptyTarget)", "ip2 active n2 (EmptyTarget)"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    },
  );
}

/** What somebody does at the provider while a selector selects nothing. */
function emptyTargetsByHand(scenario: Register): void {
  scenario("an empty selector is told for good of a pool whose last address somebody has detached", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"]);
    await world.pools.edit("web", { match: { nodeLabel: "role=edg" } });
    await world.pass();
    world.cloud.put(ip(1), undefined);
    for (let pass = 0; pass < 3; pass += 1) {
      const { plan } = await world.pass();
      expect(plan.holds.filter(({ reason }) => reason === "EmptyTarget")).toMatchObject([
        { held: "nothing can serve", advice: expect.stringMatching(/^Correct that selector, or give nodes/) },
      ]);
      expect(conditionsText((await world.pools.status("web")).conditions)).toContain("Stalled=True (EmptyTarget)");
      if (pass > 0) expect(world.writes()).toEqual([]);
    }
    expect(await world.show()).toEqual(["ip1 unassigned (NoCandidate)"]);
    await world.pools.edit("web", { match: { nodeLabel: "" } });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect((await world.pools.status("web")).ips[ip(1)]?.previousProviderID).toBeUndefined();
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  scenario("under an empty selector an address that somebody moves serves where it is then, at once", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"]);
    await world.machines("n2");
    await world.pools.edit("web", { match: { nodeLabel: "role=edg" } });
    await world.pass();
    world.cloud.put(ip(1), "n2");
    const { plan } = await world.pass();
    expect(plan.holds.filter(({ reason }) => reason === "EmptyTarget")).toHaveLength(1);
    expect(plan.holds).not.toContainEqual(expect.objectContaining({ held: "nothing can serve" }));
    expect(await world.show()).toEqual(["ip1 active n2 (EmptyTarget)"]);
    expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
    expect(plan.actions.find(({ kind }) => kind === "clear-annotation")).toMatchObject({
      reason: "AnnotationDrift",
      holder: { nodeName: expect.stringMatching(/n2$/) },
    });
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });
}

function upgrades(scenario: Register): void {
  for (const provider of DNS_PROVIDERS)
    scenario(
      `a cordon beside others at ${provider}: out of the name first, then the TTL, then the move`,
      async (world) => {
        await publishedPool(world, provider, ["n1", "n2", "n3"]);
        await world.machines("n4");
        await cordon(world, "n1");
        const { plan } = await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(world.dns.set(provider, WWW)).toEqual(["ip2", "ip3"]);
        expect(plan.holds).toMatchObject([{ reason: "Draining", subject: ip(1) }]);
        const { drainingUntil } = (await world.pools.status("web")).ips[ip(1)] ?? {};
        expect(Date.parse(drainingUntil ?? "")).toBeGreaterThan(world.nowMs() + 50 * SECOND);
        world.advance(30 * SECOND);
        await world.pass();
        expect(world.writes()).toEqual([]);
        world.advance(31 * SECOND);
        await world.pass();
        expect(world.cloudWrites()).toEqual(["assign ip1 to n4"]);
        expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2", "ip3"]);
        expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n2", "ip3 active n3"]);
      },
    );

  scenario(
    "all nodes cordoned at once: one address after another, two of three serve at every moment",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
      await world.machines("n4", "n5", "n6");
      await cordon(world, "n1", "n2", "n3");
      const { plan } = await world.pass();
      expect(plan.holds.map(({ subject, reason }) => [subject, reason])).toEqual([
        [ip(1), "Draining"],
        [ip(2), "DisruptionBudget"],
        [ip(3), "DisruptionBudget"],
      ]);
      await upgraded(world, 2);
      expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n5", "ip3 active n6"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
    },
  );

  scenario("all nodes cordoned with nowhere to go: all stay in the name until nodes come", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
    await cordon(world, "n1", "n2", "n3");
    await world.pass();
    expect(world.writes().filter((line) => !line.includes("status"))).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
    await world.machines("n4");
    await upgraded(world, 2);
    await world.machines("n5", "n6");
    await upgraded(world, 2);
    expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n5", "ip3 active n6"]);
  });

  scenario("a node that goes down in the middle overtakes: its address takes the node that waits", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
    await world.machines("n4");
    await cordon(world, "n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n4"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
  });

  scenario("an address that drains and whose node goes down moves at once", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    await cordon(world, "n1");
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  });

  scenario("the only address of a name goes at once: there is nothing to drain to", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"]);
    await world.machines("n2");
    await cordon(world, "n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    expect(world.dnsWrites()).toEqual([]);
  });

  scenario("maxUnavailable lets two go at once; the last one that serves never goes with them", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2", "n3"], { maxUnavailable: "100%", drainSeconds: 30 });
    await world.machines("n4", "n5", "n6");
    await cordon(world, "n1", "n2", "n3");
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.writes()).toEqual([]);
    world.advance(30 * SECOND);
    await world.pass();
    expect(world.cloudWrites().toSorted()).toEqual(["assign ip1 to n4", "assign ip2 to n5"]);
    await upgraded(world, 2);
    expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n5", "ip3 active n6"]);
  });

  for (const maxUnavailable of [0, "0%"])
    scenario(`maxUnavailable ${maxUnavailable} is no valid spec`, async (world) => {
      await publishedPool(world, "digitalocean", ["n1"]);
      await world.pools.edit("web", { maxUnavailable });
      await world.pass();
      const { conditions, error } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({
        status: "True",
        reason: "InvalidSpec",
      });
      expect(error).toContain("spec.maxUnavailable");
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    });
}

function drains(scenario: Register): void {
  scenario("a run that dies before any write of a drain leaves the next one to wait", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
    await world.machines("n4");
    await cordon(world, "n1");
    for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
    world.advance(50 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(30 * SECOND);
    for (let write = 1; await world.crash(write); write += 1) world.advance(5 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n2", "ip3 active n3"]);
  });

  scenario(
    "a drain whose time is lost goes at once, one far ahead waits ten minutes and a TTL at most",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.machines("n3");
      await cordon(world, "n1");
      await world.pass();
      await world.pools.writeStatus("web", { ips: { [ip(1)]: { drainingUntil: "2999-01-01T00:00:00Z" } } });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(661 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    },
  );

  for (const [what, undo] of [
    ["uncordoned", async (world: World) => world.nodes.patch("n1", { spec: { unschedulable: false, taints: [] } })],
    [
      "tolerated",
      async (world: World) =>
        world.pools.edit("web", {
          match: { tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }] },
        }),
    ],
  ] as const)
    scenario(`a node that is ${what} while its address drains has it published again at once`, async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.machines("n3");
      await cordon(world, "n1");
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      await undo(world);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      expect((await world.pools.status("web")).ips[ip(1)]).not.toHaveProperty("drainingUntil");
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
      await world.pass();
      expect(world.writes()).toEqual([]);
    });

  for (const [how, uncordoned] of [
    ["nobody passes but for the pool", async (world: World) => world.pass({ selection: { objects: ["shop/web"] } })],
    [
      "its name cannot be written",
      async (world: World) => {
        world.fail({ ...addCall("digitalocean"), kind: "500", times: 0 });
        await world.pass();
        world.clearFaults();
      },
    ],
  ] as const)
    scenario(
      `a node is cordoned again before a record set shows its address, as ${how}: it stays until no resolver has it`,
      async (world) => {
        await world.machines("n1", "n2");
        for (const number of [1, 2]) world.cloud.address(ip(number));
        world.dns.zone("digitalocean");
        await world.pools.create("web", { ips: [ip(1), ip(2)] });
        const addressType = "flipop.digitalocean.com/ipv4-reserved-ip";
        await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean"), addressType });
        await world.pass();
        await world.machines("n3");
        await cordon(world, "n1");
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
        await world.nodes.patch("n1", { spec: { unschedulable: false, taints: [] } });
        await uncordoned(world);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
        await cordon(world, "n1");
        for (const seconds of [1, 54]) {
          await world.pass();
          expect(world.cloudWrites()).toEqual([]);
          world.advance(seconds * SECOND);
        }
        world.advance(6 * SECOND);
        await world.pass();
        expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
        await world.pass();
        expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
        expect((await world.pools.status("web")).ips[ip(1)]).not.toHaveProperty("drainingUntil");
      },
      SINGLE,
    );

  scenario("a pool that is suspended while an address drains stands still, and goes on afterwards", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    await cordon(world, "n1");
    await world.pass();
    await world.pools.edit("web", { suspend: true });
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect([world.cloudWrites(), world.dnsWrites()]).toEqual([[], []]);
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario("another name while an address drains: it is out of both, and comes back to the new one", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    await cordon(world, "n1");
    await world.pass();
    await world.pools.edit("web", { dnsRecordSet: { zone: "example.com", recordName: "other", ttl: 60 } });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", "other.example.com")).toEqual(["ip2"]);
    world.advance(61 * SECOND);
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
    expect(world.dns.set("digitalocean", "other.example.com")).toEqual(["ip1", "ip2"]);
  });

  scenario("an address that leaves the spec drains, too, before the node is another one's", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    expect(world.cloudWrites()).toEqual([]);
  });

  scenario("an address beyond desiredIPs is deleted once no resolver has it", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.edit("web", { ips: [ip(1)], desiredIPs: 3, reclaimPolicy: "Delete" });
    await world.machines("n3");
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    await world.pools.edit("web", { desiredIPs: 1 });
    const { plan } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(plan.holds.map(({ reason }) => reason)).toContain("Draining");
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites().filter((line) => line.startsWith("delete"))).toHaveLength(2);
  });

  scenario("an address that has left its name stays out of it while its new node is cleared", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3", "n4");
    await world.pools.create("mail", { desiredIPs: 2, reclaimPolicy: "Delete" });
    await world.pass();
    await cordon(world, "n1");
    await world.pools.edit("mail", { desiredIPs: 1 });
    world.takesMs = ({ method }) => (method === "unassign" ? 2 * SECOND : undefined);
    const { plan } = await world.pass();
    expect(plan.holds).toMatchObject([{ reason: "Draining", subject: ip(1) }]);
    expect(world.cloudWrites()).toEqual(["unassign new2", "delete new2"]);
    expect(world.dnsWrites()).toHaveLength(1);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n2"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
  });

  scenario("a cool-off and the pace: an address stays in its name while the pool cools off", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.advance(301 * SECOND);
    await world.pools.edit("web", { assignmentCoolOffSeconds: 300 });
    await world.machines("n3", "n4");
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n3"]);
    await cordon(world, "n1");
    const { plan } = await world.pass();
    expect(plan.holds).toMatchObject([{ reason: "CoolOff", subject: ip(1) }]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    world.advance(301 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n4"]);
  });
}

function spares(scenario: Register): void {
  scenario("an approval is not asked for where a spare goes ahead of a cordoned node", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"], { approval: "Voluntary" });
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)], desiredIPs: 2 });
    await world.pass();
    await world.machines("n3");
    await cordon(world, "n1");
    await world.pass();
    expect(await world.show()).toEqual(["ip1 disabled n1 (AboveDesired)", "ip2 active n2", "ip3 active n3"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
  });

  scenario("a spare address goes to the new node first; the old one becomes the spare", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)], desiredIPs: 2 });
    await world.pass();
    await world.machines("n3");
    await cordon(world, "n1");
    const { outcomes } = await world.pass();
    const harm = outcomes.flatMap(({ action: { kind, impact } }) =>
      impact === undefined ? [] : [`${kind} ${impact}`],
    );
    expect(harm.toSorted()).toEqual(["clear-annotation relocation", "update-dns relocation"]);
    expect(world.cloudWrites()).toEqual(["assign ip3 to n3"]);
    expect(world.dns.history("digitalocean", WWW).every((set) => set.split(" ").length >= 2)).toBe(true);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
    expect(await world.show()).toEqual(["ip1 disabled n1 (AboveDesired)", "ip2 active n2", "ip3 active n3"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
  });

  scenario("a run that dies anywhere while a spare goes ahead leaves the next one to go on", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)], desiredIPs: 2 });
    await world.pass();
    await world.machines("n3");
    await cordon(world, "n1");
    for (let write = 1; await world.crash(write); write += 1) {
      expect(answering(world)).toBeGreaterThanOrEqual(2);
      expect(world.dns.addresses("digitalocean", WWW).length).toBeLessThanOrEqual(3);
    }
    await world.pass();
    expect(await world.show()).toEqual(["ip1 disabled n1 (AboveDesired)", "ip2 active n2", "ip3 active n3"]);
  });
}
