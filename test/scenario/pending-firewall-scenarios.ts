import { expect } from "vitest";
import type { FirewallState } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { dropletOf, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;

type PendingChange = NonNullable<FirewallState["pending_changes"]>[number];

/** Changes of the firewall `web` that the provider has not carried out; none takes all away. */
function pend(world: World, ...changes: readonly (Partial<PendingChange> & { readonly node: string })[]): void {
  const web = webOf(world);
  delete web.pending_changes;
  if (changes.length === 0) return;
  web.pending_changes = changes.map(({ node, ...change }) => ({
    droplet_id: dropletOf(node),
    removing: false,
    ...change,
  }));
}

/** Whether changes of firewalls reach the droplet of a node. */
function reach(world: World, node: string, isReachable: boolean): void {
  const droplet = world.cloud.state.droplets.find(({ id }) => id === dropletOf(node));
  if (droplet === undefined) throw new Error(`${node} has no droplet`);
  if (isReachable) delete droplet.unreachable;
  else droplet.unreachable = true;
}

function webOf(world: World): FirewallState {
  const web = world.cloud.state.firewalls.find(({ name }) => name === "web");
  if (web === undefined) throw new Error("the firewall is gone");
  return web;
}

/** A condition of the RoutedIP in short: `True InProgress`. */
async function condition(world: World, type: "Ready" | "Reconciling" | "Stalled", name = "vip"): Promise<string> {
  const { conditions } = await world.routedIPs.status(name);
  const found = conditions.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
}

async function message(world: World, type: "Ready" | "Reconciling" | "Stalled"): Promise<string> {
  const { conditions } = await world.routedIPs.status("vip");
  return conditions.find((one) => one.type === type)?.message ?? "";
}

/** Passes, and expects that this changed nothing at a provider. */
async function passIdly(world: World): Promise<void> {
  await world.pass();
  expect(world.cloudWrites()).toEqual([]);
}

/** A pass that writes nothing at all. */
async function passQuietly(world: World): Promise<void> {
  await world.pass();
  expect(world.writes()).toEqual([]);
}

function now(world: World): string {
  return new Date(world.nowMs()).toISOString().replace(".000Z", "Z");
}

const FAILOVER = ["add n2 to web", "assign new1 to n2", "remove n1 from web"];

/** A RoutedIP while changes of its firewall stay pending, or were given up, at some machine. */
export function pendingFirewallScenarios(scenario: Register): void {
  scenario("a change that stays pending for a dead droplet delays no failover from it", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    pend(world, { node: "n1" });
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(FAILOVER);
    expect(await condition(world, "Ready")).toBe("True Ready");
    expect(await condition(world, "Stalled")).toBe("False NotStalled");
  });

  scenario("a change that stays pending after its droplet was deleted delays nobody", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    pend(world, { node: "n1", removing: true });
    world.cloud.removeDroplet("n1");
    await world.nodes.delete("n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2"]);
    expect(await condition(world, "Stalled")).toBe("False NotStalled");
  });

  scenario("a droplet that no change reaches does not hold up the pass that moves its address away", async (world) => {
    await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
    await world.routedIPs.create("vip", {});
    await world.pass();
    reach(world, "n1", false);
    await world.pods.setReady("web-n1", false);
    const startMs = world.nowMs();
    await world.pass();
    expect(world.cloudWrites()).toEqual(FAILOVER);
    expect(world.nowMs() - startMs).toBeLessThan(5000);
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloudWrites()).toEqual([
      "close tcp/30080 on web",
      "remove n2 from web",
      "unassign new1",
      "delete new1",
    ]);
    expect(await world.routedIPs.existing()).toEqual([]);
  });

  scenario("of two nodes the one that no change is pending for gets the address", async (world) => {
    await routedScene(world, ["n1", "n2", "n3"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    pend(world, { node: "n2" });
    await world.look();
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n3 to web", "assign new1 to n3", "remove n1 from web"]);
    expect(await condition(world, "Stalled")).toBe("False NotStalled");
  });

  scenario(
    "a failover that waits for its only node says since when, and asks for a person after five minutes",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      pend(world, { node: "n2" });
      await world.pods.setReady("web-n1", false);
      const since = now(world);
      await passIdly(world);
      const told = `firewall web, node n2 (machine 102), since ${since}`;
      expect([await condition(world, "Reconciling"), await condition(world, "Stalled")]).toEqual([
        "True InProgress",
        "False NotStalled",
      ]);
      expect(await message(world, "Reconciling")).toContain(told);
      expect((await world.routedIPs.status("vip")).pendingFirewalls).toMatchObject([
        { name: "web", machineID: "102", since },
      ]);
      world.advance(4 * MINUTE_MS);
      await passQuietly(world);
      world.advance(2 * MINUTE_MS);
      await passIdly(world);
      expect(await condition(world, "Stalled")).toBe("True FirewallStuck");
      expect(await message(world, "Stalled")).toContain(told);
      world.advance(60 * MINUTE_MS);
      await passQuietly(world);
      pend(world);
      world.advance(MINUTE_MS);
      await world.pass();
      expect(world.cloudWrites()).toEqual(FAILOVER);
      const { pendingFirewalls } = await world.routedIPs.status("vip");
      expect([pendingFirewalls, await condition(world, "Stalled")]).toEqual([undefined, "False NotStalled"]);
    },
    { onlySingleRuns: "a process that goes on sees the change pending sooner" },
  );

  scenario(
    "a change of the firewall as a whole is waited for by everybody, and said",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      webOf(world).status = "waiting";
      await world.pods.setReady("web-n1", false);
      await passIdly(world);
      expect(await message(world, "Reconciling")).toContain("firewall web, since ");
      world.advance(6 * MINUTE_MS);
      await passIdly(world);
      expect(await condition(world, "Stalled")).toBe("True FirewallStuck");
      delete webOf(world).status;
      world.advance(MINUTE_MS);
      await world.pass();
      expect(world.cloudWrites()).toEqual(FAILOVER);
    },
    { onlySingleRuns: "a process that goes on passes until nothing is in progress any more" },
  );

  scenario("a firewall whose last change failed without naming a droplet is used", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    webOf(world).status = "failed";
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(FAILOVER);
  });

  scenario("a node where a change was given up is passed over for the next one", async (world) => {
    await routedScene(world, ["n1", "n2", "n3"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    webOf(world).droplet_ids.push(dropletOf("n2"));
    pend(world, { node: "n1", status: "failed" }, { node: "n2", status: "failed" });
    await world.look();
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n3 to web", "assign new1 to n3", "remove n1 from web"]);
    expect(await condition(world, "Stalled")).toBe("False NotStalled");
  });

  scenario("a change that was given up at the only node asks for a person at once", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    webOf(world).droplet_ids.push(dropletOf("n2"));
    pend(world, { node: "n2", status: "failed" });
    await world.look();
    await world.pods.setReady("web-n1", false);
    await passIdly(world);
    expect(await condition(world, "Stalled")).toBe("True FirewallFailed");
    expect(await message(world, "Stalled")).toContain("firewall web, node n2 (machine 102)");
    world.advance(MINUTE_MS);
    await passQuietly(world);
    pend(world);
    world.advance(MINUTE_MS);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n2", "remove n1 from web"]);
  });

  scenario("a change that was given up at a node is tried again by what flipop has to change there", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    pend(world, { node: "n2", removing: true, status: "failed" });
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(FAILOVER);
    expect(await condition(world, "Stalled")).toBe("False NotStalled");
  });

  scenario(
    "a node that the firewall never reaches is given up for another one in the next run",
    async (world) => {
      await routedScene(world, ["n1", "n2", "n3"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      reach(world, "n2", false);
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n2 to web"]);
      expect(await world.showRouted()).toEqual(["new1 no-match n1 (HolderLost)"]);
      world.advance(MINUTE_MS);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n3 to web", "assign new1 to n3", "remove n1, n2 from web"]);
      expect(await condition(world, "Stalled")).toBe("False NotStalled");
    },
    { onlySingleRuns: "a process that goes on makes both passes at once" },
  );

  scenario(
    "a node that the firewall reaches only after the run stays behind it, and has the address then",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      reach(world, "n2", false);
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n2 to web"]);
      world.advance(MINUTE_MS);
      await passIdly(world);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1 n2");
      reach(world, "n2", true);
      world.advance(MINUTE_MS);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign new1 to n2", "remove n1 from web"]);
    },
    { onlySingleRuns: "a process that goes on looks again before the minute is over" },
  );

  scenario(
    "a port that one RoutedIP brings for two is waited for by each on its own node",
    async (world) => {
      await routedScene(world, ["n1", "n2", "n3"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      world.advance(1000);
      await world.routedIPs.create("second", {});
      await world.pass();
      expect(await world.showRouted("second")).toEqual(["new2 active n2"]);
      pend(world, { node: "n1" });
      reach(world, "n1", false);
      await world.routedIPs.setPorts([30443]);
      await world.pods.setReady("web-n2", false);
      const startMs = world.nowMs();
      await world.pass();
      expect(world.cloudWrites()).toContain("assign new2 to n3");
      expect(world.nowMs() - startMs).toBeLessThan(5000);
      expect(await condition(world, "Ready", "second")).toBe("True Ready");
      reach(world, "n1", true);
      world.advance(MINUTE_MS);
      await world.pass();
    },
    { onlySingleRuns: "a process that goes on passes until nothing is in progress any more" },
  );

  scenario(
    "a change that stays pending at the node that serves is said, and nothing is taken from it",
    async (world) => {
      await routedScene(world, ["n1"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      pend(world, { node: "n1" });
      world.advance(MINUTE_MS);
      await passIdly(world);
      expect([await condition(world, "Ready"), await condition(world, "Reconciling")]).toEqual([
        "True Ready",
        "True InProgress",
      ]);
      world.advance(6 * MINUTE_MS);
      await passIdly(world);
      expect([await condition(world, "Ready"), await condition(world, "Stalled")]).toEqual([
        "False FirewallPending",
        "True FirewallStuck",
      ]);
      expect(await world.showRouted()).toEqual(["new1 active n1"]);
      pend(world);
      world.advance(MINUTE_MS);
      await passIdly(world);
      expect([await condition(world, "Ready"), await condition(world, "Stalled")]).toEqual([
        "True Ready",
        "False NotStalled",
      ]);
    },
  );

  scenario(
    "a RoutedIP whose firewall is not in force at its node is not ready before it is",
    async (world) => {
      await routedScene(world, ["n1"]);
      reach(world, "n1", false);
      world.cloud.address(ip(1), { on: "n1" });
      await world.routedIPs.create("vip", { address: ip(1) });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web"]);
      expect(await condition(world, "Ready")).toBe("False FirewallPending");
      world.advance(MINUTE_MS);
      await passQuietly(world);
      reach(world, "n1", true);
      world.advance(MINUTE_MS);
      await passIdly(world);
      expect(await condition(world, "Ready")).toBe("True Ready");
    },
    { onlySingleRuns: "a process that goes on passes until nothing is in progress any more" },
  );

  scenario("a former firewall keeps what it has while the new one is not in force at the node", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    world.cloud.firewall("edge", { open: ["tcp/30080"], nodes: ["n1"] });
    const edge = world.cloud.state.firewalls.find(({ name }) => name === "edge");
    if (edge === undefined) throw new Error("the firewall is gone");
    edge.pending_changes = [{ droplet_id: dropletOf("n1"), removing: false }];
    await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "edge" });
    await passIdly(world);
    delete edge.pending_changes;
    world.advance(MINUTE_MS);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["close tcp/30080 on web", "remove n1 from web"]);
  });

  scenario(
    "a time in the future since when a change is pending counts from now on",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      pend(world, { node: "n2" });
      await world.pods.setReady("web-n1", false);
      await world.pass();
      for (const since of ["2099-01-01T00:00:00Z", "soon"]) {
        const [entry] = (await world.routedIPs.status("vip")).pendingFirewalls ?? [];
        await world.routedIPs.writeStatus("vip", { pendingFirewalls: [{ ...entry, since }] });
        world.advance(MINUTE_MS);
        await passIdly(world);
        expect(await condition(world, "Stalled")).toBe("False NotStalled");
        expect(await message(world, "Reconciling")).toContain(`since ${now(world).slice(0, 16)}`);
      }
      pend(world);
      world.advance(MINUTE_MS);
      await world.pass();
    },
    { onlySingleRuns: "a process that goes on passes until nothing is in progress any more" },
  );
}
