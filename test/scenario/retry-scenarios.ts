import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";

const SECOND = 1000;

/** When what failed is tried again. */
export function retryScenarios(scenario: Register): void {
  scenario(
    "assign fails again and again: attempts follow 1, 1, 5, 5, 10, 10, 10, 60 s, never sooner",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      world.fail({ side: "cloud", operation: "assign", kind: "500", times: 0 });
      const attempts: number[] = [];
      const startMs = world.nowMs();
      for (let second = 0; second <= 110; second += 1) {
        world.advance(startMs + second * SECOND - world.nowMs());
        await world.pass();
        if (world.cloudWrites().length > 0) attempts.push(second);
        expect(world.cloudWrites().length).toBeLessThanOrEqual(1);
      }
      expect(attempts).toEqual([0, 1, 2, 7, 12, 22, 32, 42, 102]);
      world.clearFaults();
      world.advance(60 * SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect((await world.pools.status("web")).retries).toEqual([]);
    },
  );

  scenario("a refusal that somebody must lift is tried again after 1 min, 5 min, 10 min", async (world) => {
    await world.machines("n1");
    const [droplet] = world.cloud.state.droplets;
    if (droplet !== undefined) droplet.anchor_ip = null;
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    const attempts: number[] = [];
    const startMs = world.nowMs();
    for (let minute = 0; minute <= 17; minute += 1) {
      world.advance(startMs + minute * 60 * SECOND - world.nowMs());
      await world.pass();
      if (world.cloudWrites().length > 0) attempts.push(minute);
    }
    expect(attempts).toEqual([0, 1, 6, 16]);
  });

  scenario("one bad address does not starve a good one that waits for the same node", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    world.fail({ side: "cloud", operation: "assign", subject: ip(1), kind: "500", times: 0 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1", "assign ip2 to n1"]);
    expect((await world.show()).at(1)).toBe("ip2 active n1");
  });

  scenario("one bad node does not starve the others", async (world) => {
    await world.machines("n1", "n2", "n3");
    const [droplet] = world.cloud.state.droplets;
    if (droplet !== undefined) droplet.anchor_ip = null;
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    expect(world.cloud.addresses()).toEqual({ ip1: "n3", ip2: "n2" });
    expect((await world.pools.status("web")).nodeErrors.join()).toContain("n1");
  });

  scenario("two bad nodes and one good: the address reaches the good one at its second attempt", async (world) => {
    await world.machines("n1", "n2", "n3");
    for (const droplet of world.cloud.state.droplets.slice(0, 2)) droplet.anchor_ip = null;
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    world.advance(5 * 60 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  });

  scenario("settle waits for the retries that end within its time", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cloud", operation: "assign", kind: "500", times: 3 });
    const startMs = world.nowMs();
    await world.pass({ settle: true });
    expect(world.cloudWrites()).toHaveLength(4);
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect(world.nowMs() - startMs).toBeGreaterThanOrEqual(7 * SECOND);
  });

  scenario("a node that failed before goes behind the others until its time", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cloud", operation: "assign", kind: "500" });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1", "assign ip1 to n2"]);
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });

  for (const operation of ["unassign", "delete"] as const) {
    scenario(`${operation} fails again and again: the same schedule`, async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
      await world.pass();
      await world.pools.edit("web", { desiredIPs: 1 });
      world.cloud.state.settings.action_delay_ms = 0;
      world.fail({ side: "cloud", operation, kind: "500", times: 0 });
      const attempts: number[] = [];
      const startMs = world.nowMs();
      for (let second = 0; second <= 40; second += 1) {
        world.advance(Math.max(0, startMs + second * SECOND - world.nowMs()));
        await world.pass();
        if (world.cloudWrites().includes(`${operation} new2`))
          attempts.push(Math.floor((world.nowMs() - startMs) / SECOND));
      }
      expect(attempts).toEqual([0, 1, 2, 7, 12, 22, 32]);
      expect((await world.pools.status("web")).retries).toMatchObject([
        { subject: "ip-removal/198.51.100.2", attempts: 7 },
      ]);
      world.clearFaults();
      world.advance(60 * SECOND);
      await world.pass();
      expect(world.cloud.boughtNow()).toHaveLength(1);
      expect((await world.pools.status("web")).retries).toEqual([]);
    });
  }

  scenario("an address that cannot leave its droplet does not keep the new one from another node", async (world) => {
    await world.machines("n1", "n2");
    for (const number of [1, 2]) world.cloud.address(ip(number));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    await world.nodes.setReady("n2", false);
    await world.pools.edit("web", { ips: [ip(2)] });
    world.fail({ side: "cloud", operation: "unassign", subject: ip(1), kind: "422", times: 0 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1"]);
    await world.nodes.setReady("n2", true);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n2"]);
    world.clearFaults();
  });
}
