import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** Passes with time between them, until an unanswered creation is settled one way or the other. */
async function passForAMinute(world: World): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    world.advance(5 * SECOND);
    await world.pass();
  }
}

/** An address was bought whose answer was lost, and somebody made another one at the same time. */
async function twoCandidates(world: World, desiredIPs: number): Promise<void> {
  await world.pools.create("web", { desiredIPs });
  world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
  world.before("create", async () => world.cloud.address(ip(7)));
  await world.pass();
  await passForAMinute(world);
}

/** Creations without an answer: never more is bought than desired. Scenario 32. */
export function lostAnswerScenarios(scenario: Register): void {
  scenario("32 answer lost, for a droplet: the address is found on it, and is flipop's own", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1 });
    world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
    await world.pass();
    await passForAMinute(world);
    expect(await world.show()).toEqual(["new1 active n1"]);
    expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: bought(1) }]);
    expect((await world.pools.status("web")).acquired[0]?.adopted).not.toBe(true);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  scenario(
    "32b answer lost, in the region: the one new unattached address is adopted, and never deleted",
    async (world) => {
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      await passForAMinute(world);
      expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: bought(1), adopted: true }]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      await world.pools.edit("web", { ips: [ip(1)], desiredIPs: 1 });
      await world.pools.delete("web");
      await world.pass();
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.pools.existing()).toEqual([]);
    },
  );

  scenario(
    "32c a pool that wants nothing more still says that an answer is open, and names the candidates",
    async (world) => {
      await twoCandidates(world, 1);
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.edit("web", { ips: [ip(1)], desiredIPs: 0 });
      for (let pass = 0; pass < 3; pass += 1) {
        await world.pass();
        world.advance(SECOND);
      }
      expect(await world.show()).toEqual(["ip1 active n1"]);
      const { error } = await world.pools.status("web");
      expect(error).toContain(bought(1));
      expect(error).toContain(ip(7));
    },
  );

  scenario("32c two candidates: a hold names both, and nothing more is bought", async (world) => {
    await twoCandidates(world, 1);
    const { error, conditions } = await world.pools.status("web");
    expect(error).toContain(bought(1));
    expect(error).toContain(ip(7));
    expect(conditions.find(({ type }) => type === "Stalled")?.reason).toBe("AmbiguousAcquisition");
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  scenario(
    "32c two candidates, and a person lists one: that is the answer, and the other is left alone",
    async (world) => {
      await twoCandidates(world, 1);
      await world.pools.edit("web", { ips: [bought(1)] });
      await passForAMinute(world);
      expect(await world.show()).toEqual(["new1 unassigned (NoCandidate)"]);
      const { acquired, pendingAcquisitions } = await world.pools.status("web");
      expect({ acquired, pendingAcquisitions }).toEqual({ acquired: [], pendingAcquisitions: [] });
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
  );

  scenario(
    "32c more are wanted at once, and a person lists one of the candidates: the rest is bought",
    async (world) => {
      await twoCandidates(world, 2);
      await world.pools.edit("web", { ips: [bought(1)] });
      await passForAMinute(world);
      expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: bought(2) }]);
      expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    },
  );

  scenario(
    "32e answer lost, and a changing list hides the new address: nothing more is bought, and nobody else's is taken",
    async (world) => {
      world.cloud.state.account.reserved_ip_limit = 500;
      for (let number = 1; number <= 200; number += 1) world.cloud.address(ip(number));
      await world.pools.create("web", { desiredIPs: 1 });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      world.advance(60 * SECOND);
      // Between the first page and the second one the new address moves from the second page to the first.
      world.before("listPage", async () => undefined);
      world.before("listPage", async () => {
        world.cloud.removeAddress(ip(5));
        world.cloud.address(ip(201), { region: "ams3" });
      });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect((await world.pools.status("web")).pendingAcquisitions).toHaveLength(1);
      world.advance(60 * SECOND);
      await world.pass();
      expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: bought(1) }]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
    { onlySingleRuns: "a process that goes on reads the list again before the first pass is over" },
  );

  scenario(
    "a list that changes while it is read before a purchase delays it",
    async (world) => {
      world.cloud.state.account.reserved_ip_limit = 500;
      for (let number = 1; number <= 200; number += 1) world.cloud.address(ip(number));
      for (let number = 201; number <= 240; number += 1) world.cloud.address(ip(number));
      await world.pools.create("web", { desiredIPs: 1 });
      // The pass reads two pages and the first one again, and so does each of its two attempts to buy.
      for (const call of [1, 2, 3, 4, 5, 6, 7, 8])
        world.before("listPage", async () => {
          if (call !== 5 && call !== 8) return;
          world.cloud.removeAddress(ip(call));
          world.cloud.address(ip(240 + call));
        });
      await world.pass();
      const first = world.cloudWrites();
      world.advance(60 * SECOND);
      await world.pass();
      expect([first, world.cloudWrites()]).toEqual([[], ["create in nyc3"]]);
    },
    { onlySingleRuns: "a process that goes on tries again before the first pass is over" },
  );

  scenario("32d two candidates of which another object claims one: the other is adopted", async (world) => {
    await world.pools.create("web", { desiredIPs: 1 });
    world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
    world.before("create", async () => {
      world.cloud.address(ip(7));
      await world.pools.create("other", { ips: [ip(7)] });
    });
    await world.pass();
    await passForAMinute(world);
    expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: bought(1), adopted: true }]);
    expect(await world.show("other")).toEqual(["ip7 unassigned (NoCandidate)"]);
  });

  scenario(
    "32e nothing was bought, and another cluster buys at the same time: its address is used, never deleted",
    async (world) => {
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      world.fail({ side: "cloud", operation: "create", kind: "500" });
      world.before("create", async () => world.cloud.address(ip(7)));
      await world.pass();
      await passForAMinute(world);
      expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: ip(7), adopted: true }]);
      expect(world.cloud.boughtNow()).toEqual([]);
      await world.pools.delete("web");
      await world.pass();
      expect(world.cloud.addresses()).toEqual({ ip7: "-" });
    },
  );

  for (const kind of ["500", "cut", "html"] as const) {
    scenario(`32f nothing was bought (${kind}): the account is watched, then it is bought once`, async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1 });
      world.fail({ side: "cloud", operation: "create", kind });
      const { remaining } = await world.pass();
      expect(remaining.holds.map(({ reason }) => reason)).toContain("AcquisitionUnanswered");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      await passForAMinute(world);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.show()).toEqual(["new1 active n1"]);
    });
  }

  scenario("32g the list lags behind a creation without an answer: it is found all the same", async (world) => {
    await world.pools.create("web", { desiredIPs: 2 });
    world.cloud.state.settings.list_lag_ms = 5000;
    world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
    await world.pass();
    await passForAMinute(world);
    expect(world.cloud.boughtNow()).toHaveLength(2);
    expect((await world.pools.status("web")).acquired).toHaveLength(2);
  });

  scenario(
    "32n neither list nor single read shows a bought address yet: no other one is bought, and it serves once it is shown",
    async (world) => {
      await world.pools.create("web", { desiredIPs: 1, region: "nyc3" });
      world.cloud.state.settings.list_lag_ms = 20 * SECOND;
      world.fail({ side: "cloud", operation: "get", kind: "404", times: 0 });
      await world.pass();
      for (const _ of [5, 10, 15]) {
        world.advance(5 * SECOND);
        await world.pass();
      }
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      world.advance(5 * SECOND);
      world.clearFaults();
      await world.machines("n1");
      await passForAMinute(world);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.show()).toEqual(["new1 active n1"]);
    },
  );

  scenario(
    "32m the call hangs for its whole 15 s and takes effect, and the list lags: the account is watched long enough",
    async (world) => {
      await world.pools.create("web", { desiredIPs: 1 });
      world.cloud.state.settings.list_lag_ms = 5000;
      world.before("create", async () => world.advance(15 * SECOND));
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      await world.pass();
      await passForAMinute(world);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
  );

  scenario("32h the process dies right after the creation, and the next one comes an hour later", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1 });
    expect(await world.crash(4)).toBe(true);
    expect(world.cloudWrites()).toEqual(["create for n1"]);
    world.advance(3600 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["new1 active n1"]);
  });

  scenario(
    "32i the status cannot be written after the creation: buying stops, and the address is found again",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2 });
      world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "403", skip: 1, times: 0 });
      const { reportFailures } = await world.pass();
      expect(world.cloudWrites()).toEqual(["create for n1"]);
      expect(reportFailures.map(({ what }) => what)).toContain("status");
      world.clearFaults();
      world.advance(SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["create for n2"]);
      expect(world.cloud.boughtNow()).toHaveLength(2);
      expect(await world.show()).toEqual(["new1 active n1", "new2 active n2"]);
    },
  );

  scenario("32j the status cannot be written before the creation: nothing is bought", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1 });
    world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "403", times: 0 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.clearFaults();
    // A process that goes on remembers that it was refused.
    world.advance(60_000);
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1"]);
  });

  scenario(
    "32k the address of a lost answer is deleted by hand meanwhile: another one is bought in the end",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1 });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      world.cloud.settle();
      world.cloud.removeAddress(bought(1));
      await passForAMinute(world);
      expect(await world.show()).toEqual(["new2 active n1"]);
    },
  );

  scenario(
    "32l the node of a lost answer is gone meanwhile: the address is found on its droplet and used",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1 });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      await world.nodes.delete("n1");
      await world.machines("n2");
      await passForAMinute(world);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.show()).toEqual(["new1 active n2"]);
    },
  );
}
