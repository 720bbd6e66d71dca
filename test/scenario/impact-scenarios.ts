import { expect } from "vitest";
import { type Action, type ImpactClass, subjectOf } from "../../src/model/action.ts";
import { announcedActions } from "../../src/model/plan.ts";
import { impactOf } from "../../src/report/impact.ts";
import { runSummary } from "../../src/report/text/run.ts";
import { publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip, short } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** Longer than an address stays on its node after it has left a name. */
const DRAINED_MS = 10 * 60_000;

const CORDON = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** What a plan says that it hurts, with short names. */
async function told(world: World): Promise<readonly string[]> {
  const plan = await world.plan();
  return impactOf(plan).map(({ class: impact, message }) => {
    return short(`${impact}: ${message}`).replaceAll(world.namespaceName(""), "");
  });
}

/** The classes of a plan's actions that are not `none`: `move-ip ip1: relocation`. */
async function classes(world: World): Promise<readonly string[]> {
  const named = (action: Action, impact: ImpactClass): string =>
    short(`${action.kind} ${subjectOf(action)}: ${impact}`).replaceAll(world.namespaceName(""), "");
  return announcedActions(await world.plan())
    .flatMap((action) => (action.impact === undefined ? [] : [named(action, action.impact)]))
    .toSorted();
}

async function cordon(world: World, ...nodes: readonly string[]): Promise<void> {
  for (const node of nodes) await world.nodes.patch(node, { spec: { taints: [CORDON] } });
}

/** Who is hurt by a plan: what is told, and that nothing is where nobody is. */
export function impactScenarios(scenario: Register): void {
  scenario("a cordoned holder still serves: its address is relocated, and the plan says so", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    await cordon(world, "n1");
    expect(await told(world)).toEqual([
      `relocation: ip1 still serves, and leaves ${WWW}. ${WWW} keeps 1 of 2 addresses.`,
    ]);
    expect(await classes(world)).toEqual(["clear-annotation n1: relocation", `update-dns ${WWW}: relocation`]);
    await world.pass();
    world.advance(DRAINED_MS);
    expect(await told(world)).toEqual(["relocation: ip1 leaves n1, which still serves."]);
    expect(await classes(world)).toEqual(["move-ip ip1: relocation"]);
    await world.pass();
  });

  scenario("the only holder is cordoned: the seconds without service are told before", async (world) => {
    await publishedPool(world, "cloudflare", ["n1"]);
    await world.machines("n2");
    await cordon(world, "n1");
    expect(await told(world)).toEqual([
      `relocation: ip1 leaves n1, which still serves. ${WWW} would have no service for about 10 s: the pool has no spare address.`,
    ]);
    expect(runSummary(await world.pass())).toMatch(/^Relocation: 1 moved, /);
    expect(await told(world)).toEqual([]);
  });

  scenario("a holder that dies while it is cordoned is no relocation any more", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    await cordon(world, "n1");
    await world.nodes.setReady("n1", false);
    expect(await told(world)).toEqual([]);
    expect(await classes(world)).toEqual(["clear-annotation n1: recovery", "move-ip ip1: recovery"]);
    expect(runSummary(await world.pass())).toMatch(/^1 moved, /);
  });

  scenario("with pods asked for, a cordoned holder serves as long as one of them is ready there", async (world) => {
    await world.machines("n1", "n2");
    for (const node of ["n1", "n2"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], match: { podLabel: "app=web" } });
    await world.pass();
    await cordon(world, "n1");
    expect(await told(world)).toEqual(["relocation: ip1 leaves n1, which still serves."]);
    await world.pods.setReady("web-n1", false);
    expect(await told(world)).toEqual([]);
    await world.pass();
  });

  scenario("another node label is asked for: what serves is relocated", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"]);
    world.cloud.droplet("n2");
    await world.nodes.create("n2", { labels: { tier: "edge" } });
    await world.pools.edit("web", { match: { nodeLabel: "tier=edge" } });
    expect(await classes(world)).toEqual(["clear-annotation n1: relocation", "move-ip ip1: relocation"]);
    expect((await told(world)).join()).toMatch(/^relocation: ip1 leaves n1, which still serves\./);
    await world.pass();
  });

  scenario(
    "desiredIPs is lowered: what serves and goes is a reduction, and what is given back for good",
    async (world) => {
      await world.machines("n1", "n2");
      world.dns.zone("digitalocean");
      const spec = { desiredIPs: 2, region: "nyc3", reclaimPolicy: "Delete", dnsRecordSet: www("digitalocean") };
      await world.pools.create("web", spec);
      await world.pass({ settle: true });
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([bought(1), bought(2)]);
      await world.pools.edit("web", { desiredIPs: 1 });
      expect(await told(world)).toEqual([
        `reduction: new2 still serves, and leaves ${WWW}. ${WWW} keeps 1 of 2 addresses.`,
      ]);
      await world.nodes.setReady("n2", false);
      expect(await told(world)).toEqual(["reduction: new2 is given back to digitalocean for good."]);
      await world.pass();
    },
  );

  scenario("an address that leaves the spec leaves its name: a reduction", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.pools.edit("web", { ips: [ip(1)] });
    expect(await told(world)).toEqual([
      `reduction: ip2 still serves, and leaves ${WWW}. ${WWW} keeps 1 of 2 addresses.`,
    ]);
    expect(runSummary(await world.pass())).toMatch(/^Reduction: /);
  });

  scenario("a name that is changed leaves the old one without addresses: a reduction", async (world) => {
    await publishedPool(world, "cloudflare", ["n1"], { reclaimPolicy: "Delete" });
    world.dnsSafety.allowEnd(WWW);
    await world.pools.edit("web", { dnsRecordSet: www("cloudflare", { recordName: "new" }) });
    expect(await told(world)).toEqual([
      `reduction: ip1 still serves, and leaves ${WWW}. ${WWW} would have no address left.`,
    ]);
    await world.pass();
  });

  scenario("an address of another machine that is taken over: a takeover", async (world) => {
    await world.machines("n1");
    world.cloud.droplet(900);
    world.cloud.address(ip(1), { on: 900 });
    await world.pools.create("web", { ips: [ip(1)] });
    expect(await told(world)).toEqual([]);
    await world.pools.edit("web", { foreignHolder: "TakeOver" });
    expect(await told(world)).toEqual([
      "takeover: ip1 leaves machine 900, no node of this cluster: whatever uses it there loses it.",
    ]);
    expect(runSummary(await world.pass())).toMatch(/^Takeover: 1 moved, /);
  });

  scenario("records that flipop did not write are told before they are replaced", async (world) => {
    await publishedPool(world, "digitalocean", ["n1"]);
    world.dns.add("digitalocean", WWW, "192.0.2.200");
    expect(await told(world)).toEqual([
      short(`none: ${WWW} shows 192.0.2.200, which no object has on record; it is replaced`),
    ]);
    expect(runSummary(await world.pass())).toMatch(/^1 DNS name updated/);
  });

  scenario("ports that open for a machine which is no node are told", async (world) => {
    await world.machines("n1");
    await world.pods.create("web-n1", { node: "n1", labels: { app: "web" } });
    await world.routedIPs.service();
    await world.routedIPs.issuer({});
    world.cloud.droplet("n9");
    world.cloud.firewall("web", { nodes: ["n9"] });
    await world.routedIPs.create("vip", {});
    expect(await told(world)).toEqual([
      "none: firewall web opens tcp/30080 for 1 machine that is no node of this cluster",
    ]);
    await world.pass();
  });

  scenario("a node leaves the name of a record set: relocated if cordoned, recovered if dead", async (world) => {
    await publishedNodes(world, "cloudflare");
    await cordon(world, "n1");
    expect(await told(world)).toEqual([
      `relocation: ext1 still serves, and leaves ${WWW}. ${WWW} keeps 1 of 2 addresses.`,
    ]);
    await world.nodes.setReady("n1", false);
    expect(await told(world)).toEqual([]);
    expect(await classes(world)).toEqual([`update-dns ${WWW}: recovery`]);
    await world.pass();
  });
}
