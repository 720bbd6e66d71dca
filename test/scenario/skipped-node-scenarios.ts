import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";

const SECOND = 1000;

/** Nodes that cannot take an address: it goes to the next one. */
export function skippedNodeScenarios(scenario: Register): void {
  scenario(
    "21 droplet holds another address: the node is skipped with the reason, the address goes on",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(9), { on: "n1" });
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      const { remaining } = await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
      expect(remaining.pools[0]?.skipped.map(({ reason }) => reason)).toEqual(["NodeHasForeignIP"]);
      expect((await world.pools.status("web")).nodeErrors.join()).toContain(ip(9));
    },
  );

  scenario(
    "21b BYOIP address of nobody on the droplet: found out by the refusal, the address goes on in the same pass",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(9), { on: "n1", isBYOIP: true });
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n1", "assign ip1 to n2"]);
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect((await world.pools.status("web")).nodeErrors.join()).toContain("n1");
    },
  );

  scenario("a node in another region is skipped, and the address goes to the next candidate", async (world) => {
    world.cloud.droplet("n1", { region: "ams3" });
    await world.nodes.create("n1", { region: "ams3" });
    await world.machines("n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("only a node of another region: the address is held with that reason", async (world) => {
    world.cloud.droplet("n1", { region: "ams3" });
    await world.nodes.create("n1", { region: "ams3" });
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    const { remaining } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(remaining.holds.map(({ reason }) => reason)).toContain("RegionMismatch");
  });

  scenario("region mismatch that no label shows: the provider refuses, the next candidate is tried", async (world) => {
    world.cloud.droplet("n1", { region: "ams3" });
    await world.nodes.create("n1", { region: "" });
    await world.machines("n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1", "assign ip1 to n2"]);
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });

  scenario("an unusable providerID: the node is skipped with the reason", async (world) => {
    await world.nodes.create("n1", { providerID: "aws:///us-east-1/i-1" });
    await world.machines("n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    expect((await world.pools.status("web")).nodeErrors.join()).toContain("aws:///us-east-1/i-1");
  });

  scenario(
    "a droplet that the provider does not know: the node is skipped, the address goes on in the same pass",
    async (world) => {
      await world.nodes.create("n1");
      await world.machines("n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect((await world.pools.status("web")).nodeErrors.join()).toContain("does not know machine 101");
    },
  );

  scenario(
    "a node that is made anew with another droplet does not wait because the provider does not know its former one",
    async (world) => {
      await world.nodes.create("n1", { droplet: 107 });
      world.cloud.droplet("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      world.before("assign", async () => {
        await world.nodes.delete("n1");
        await world.nodes.create("n1");
      });
      await world.pass();
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect((await world.pools.status("web")).retries).toEqual([]);
    },
  );

  for (const failures of [1, 2, 4])
    scenario(
      `a node that is made anew after ${failures} attempts with a droplet that the provider does not know gets its address at once`,
      async (world) => {
        await world.nodes.create("n1", { droplet: 107 });
        world.cloud.droplet("n1");
        world.cloud.address(ip(1));
        await world.pools.create("web", { ips: [ip(1)] });
        for (let attempt = 0; attempt < failures; attempt += 1) {
          world.advance(attempt * 300 * SECOND);
          await world.pass();
        }
        expect((await world.pools.status("web")).retries).toMatchObject([{ attempts: failures }]);
        await world.nodes.delete("n1");
        await world.nodes.create("n1");
        await world.pass();
        expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
        const { retries, nodeErrors } = await world.pools.status("web");
        expect({ retries, nodeErrors }).toEqual({ retries: [], nodeErrors: [] });
      },
    );

  scenario(
    "an address is bought for a droplet that the provider does not know: the next node gets it in the same pass, and the pool waits for nothing",
    async (world) => {
      await world.nodes.create("n1");
      await world.machines("n2");
      await world.pools.create("web", { desiredIPs: 1 });
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n2"]);
      const { retries, nodeErrors } = await world.pools.status("web");
      expect(retries.map(({ subject, attempts }) => `${subject} ${attempts}`)).toEqual(["node/n1/101 1"]);
      expect(nodeErrors.join()).toContain("does not know machine 101");
    },
  );

  scenario(
    "no droplet of a pool's nodes exists: the pool buys what it wants in its region all the same, in the same pass",
    async (world) => {
      await world.nodes.create("n1");
      await world.nodes.create("n2");
      await world.pools.create("web", { desiredIPs: 2, region: "nyc3" });
      await world.pass();
      expect(await world.show()).toEqual(["new1 unassigned (Backoff)", "new2 unassigned (Backoff)"]);
    },
  );
}
