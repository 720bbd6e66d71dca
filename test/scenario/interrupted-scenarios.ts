import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

async function converge(world: World): Promise<void> {
  for (let round = 0; round < 6; round += 1) {
    world.advance(60 * SECOND);
    await world.pass({ settle: true });
  }
}

/** Runs that end early, and worlds that change while one works. */
export function interruptedScenarios(scenario: Register): void {
  scenario(
    "the time is over before the address is confirmed: in-progress, and the next run takes it up",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      world.cloud.state.settings.action_delay_ms = 20 * SECOND;
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(await world.show()).toEqual(["ip1 in-progress n1 (InProgress)"]);
      expect(await world.nodes.annotations()).toEqual({});
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(world.cloudWrites()).toEqual([]);
      world.advance(20 * SECOND);
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n1"]);
    },
  );

  scenario("the time is over before the run begins to work: nothing is started, status is written", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass({ deadlineMs: 1 * SECOND });
    expect(world.cloudWrites()).toEqual([]);
    expect(world.kubeWrites()).toEqual(["status web"]);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario(
    "a signal while addresses are assigned: what is in flight is kept, nothing new begins, statuses are written",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2 });
      const stop = new AbortController();
      world.before("create", async () => stop.abort());
      const { wasInterrupted } = await world.pass({ signal: stop.signal });
      expect(wasInterrupted).toBe(true);
      expect(world.cloudWrites()).toEqual(["create for n1"]);
      expect((await world.pools.status("web")).acquired).toHaveLength(1);
      await converge(world);
      expect(world.cloud.boughtNow()).toHaveLength(2);
    },
  );

  scenario("the Lease is taken away during a run: no further mutation, and the next run carries on", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 2 });
    world.before("create", () => world.stealLease());
    const { wasInterrupted } = await world.pass({ lease: "fail" });
    expect(wasInterrupted).toBe(true);
    expect(world.cloudWrites()).toEqual(["create for n1"]);
    world.advance(120 * SECOND);
    await world.run({ lease: "wait", deadlineMs: 600 * SECOND, settle: true });
    expect(world.cloud.boughtNow()).toHaveLength(2);
    expect((await world.show()).map((line) => line.split(" ").slice(1).join(" "))).toEqual(["active n1", "active n2"]);
  });

  scenario(
    "a droplet is destroyed while its node still looks ready: the address goes to the next node in the same pass",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      world.cloud.removeDroplet("n1");
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
      await world.nodes.delete("n1");
      await world.pass();
      expect((await world.pools.status("web")).nodeErrors).toEqual([]);
    },
  );

  scenario(
    "an address is moved by hand to another matching node: accepted there, and its old node gets another",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      world.cloud.put(ip(1), "n2");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
    },
  );

  scenario(
    "an address is moved by hand between plan and action: the action is stale, the next plan follows the world",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.nodes.setReady("n1", false);
      world.before("patchPoolStatus", async () => world.cloud.put(ip(1), "n3"));
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n3"]);
    },
  );

  scenario(
    "the pool is deleted while it is worked on: the run ends well, and the next clears what it left",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      world.before("assign", () => world.pools.delete("web"));
      await world.pass();
      // A process that hears of it waits no longer for the provider.
      world.advance(2 * SECOND);
      await world.pass();
      expect(await world.nodes.annotations()).toEqual({});
      expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
    },
  );

  scenario("a node is deleted while its address is assigned: the next pass moves it on", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.before("assign", () => world.nodes.delete("n1"));
    await world.pass();
    await world.machines("n2");
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });
}
