import { expect } from "vitest";
import { ACQUIRED_ANNOTATION } from "../../src/model/resource.ts";
import { WWW, www } from "./dns-scene.ts";
import type { HetznerCloud } from "./hetzner-cloud.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

const GOES_ON = { onlySingleRuns: "a process that goes on passes until nothing is in progress any more" };

/** What is so at Hetzner alone. */
export function hetznerOnlyScenarios(scenario: Register): void {
  scenario("of two nodes in one network zone the one in the address's own location gets it", async (world) => {
    for (const [name, region] of Object.entries({ n1: "nbg1", n2: "fsn1" })) {
      world.cloud.droplet(name, { region });
      await world.nodes.create(name, { region });
    }
    world.cloud.address(ip(1), { region: "fsn1" });
    await world.pools.create("web", { ips: [ip(1)], region: "fsn1" });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
    const { conditions } = await world.pools.status("web");
    expect(conditions[0]?.message).toContain("whether the hosts have the addresses is not seen");
  });

  scenario("an address does not go to another network zone, and says so", async (world) => {
    world.cloud.droplet("n1", { region: "ash" });
    await world.nodes.create("n1", { region: "ash" });
    world.cloud.address(ip(1), { region: "fsn1" });
    await world.pools.create("web", { ips: [ip(1)], region: "fsn1" });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 unassigned (RegionMismatch)"]);
  });

  scenario(
    "an address that Hetzner blocks leaves its name, and a person is asked; nothing is bought for it",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      world.dns.zone("hetzner");
      await world.pools.create("web", { desiredIPs: 2, dnsRecordSet: www("hetzner") });
      for (const _ of [1, 2, 3]) {
        await world.pass();
        world.advance(SECOND);
      }
      expect(world.dns.addresses("hetzner", WWW)).toEqual([bought(1), bought(2)]);
      world.cloud.block(bought(1));
      await world.pass();
      expect(world.dns.addresses("hetzner", WWW)).toEqual([bought(2)]);
      expect(await world.show()).toEqual(["new1 error (IPBlocked)", "new2 active n2"]);
      expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
      const { conditions } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({ status: "True", reason: "IPBlocked" });
      world.cloud.block(bought(1), false);
      await world.pass();
      await world.pass();
      expect(world.dns.addresses("hetzner", WWW)).toEqual([bought(1), bought(2)]);
    },
  );

  scenario(
    "an address that Hetzner has locked on a dead node leaves its name while it is waited for",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      world.dns.zone("hetzner");
      await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("hetzner") });
      await world.pass();
      expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2"]);
      await world.machines("n3");
      await world.nodes.setReady("n1", false);
      world.cloud.lock(ip(1));
      await world.pass();
      expect(world.dns.set("hetzner", WWW)).toEqual(["ip2"]);
      world.cloud.lock(ip(1), false);
      for (const seconds of [60, 60]) {
        world.advance(seconds * SECOND);
        await world.pass();
      }
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
      expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2"]);
    },
  );

  scenario(
    "a protected address is not given back: nothing is taken from it before a person has decided",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      await world.pass();
      (world.cloud as HetznerCloud).protect(bought(1));
      await world.pools.delete("web");
      for (let time = 0; time < 2; time += 1) {
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(world.cloud.addresses()).toEqual({ new1: "n1" });
      }
      const { conditions } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({
        status: "True",
        reason: "IPProtected",
      });
      (world.cloud as HetznerCloud).protect(bought(1), false);
      await world.pass();
      expect(world.cloud.boughtNow()).toEqual([]);
      expect(await world.pools.existing()).toEqual([]);
    },
  );

  for (const [what, method, onIt] of [
    ["while its annotation is cleared", "annotateNode", { new1: "n1" }],
    ["while it is taken from its machine", "unassign", { new1: "-" }],
  ] as const)
    scenario(`an address that a person protects ${what} is asked nothing more`, async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      await world.pass();
      await world.pools.delete("web");
      world.before(method, async () => (world.cloud as HetznerCloud).protect(bought(1)));
      await world.pass();
      expect(world.cloudWrites()).toEqual(method === "unassign" ? ["unassign new1"] : []);
      expect(world.cloud.addresses()).toEqual(onIt);
      const { conditions, retries } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Stalled")?.reason).toBe("IPProtected");
      expect(retries).toEqual([]);
      (world.cloud as HetznerCloud).protect(bought(1), false);
      await world.pass();
      expect(world.cloud.boughtNow()).toEqual([]);
      expect(await world.pools.existing()).toEqual([]);
    });

  for (const refusals of [1, 5])
    scenario(
      `an address that a person protects while a busy Hetzner refuses to detach it stays, after ${refusals} refusals`,
      async (world) => {
        await world.machines("n1");
        await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
        await world.pass();
        await world.pools.delete("web");
        world.fail({ side: "cloud", operation: "unassign", kind: "422", times: refusals, message: "pending" });
        world.before("unassign", async () => (world.cloud as HetznerCloud).protect(bought(1)));
        await world.pass();
        expect(world.cloudWrites()).toEqual(["unassign new1"]);
        expect(world.cloud.addresses()).toEqual({ new1: "n1" });
        const { conditions, retries } = await world.pools.status("web");
        expect(conditions.find(({ type }) => type === "Stalled")?.reason).toBe("IPProtected");
        expect(retries).toEqual([]);
        world.clearFaults();
        (world.cloud as HetznerCloud).protect(bought(1), false);
        await world.pass();
        expect(world.cloud.boughtNow()).toEqual([]);
        expect(await world.pools.existing()).toEqual([]);
      },
    );

  scenario("a blocked address that was bought is given back with its pool", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    world.cloud.block(bought(1));
    await world.pass();
    await world.pools.delete("web");
    await world.pass();
    await world.pass();
    expect(world.cloud.boughtNow()).toEqual([]);
  });

  for (const [what, assigned] of [
    ["is accepted", undefined],
    ["gets no answer", "lost-answer"],
  ] as const)
    scenario(`a failover that ${what} ends although no action can be read`, async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1), { on: "n1" });
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
      await world.nodes.setReady("n1", false);
      world.fail({ side: "cloud", operation: "action", kind: "500", times: 0 });
      if (assigned !== undefined) world.fail({ side: "cloud", operation: "assign", kind: assigned });
      const startedMs = world.nowMs();
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect(world.nowMs() - startedMs).toBeLessThan(20 * SECOND);
    });

  for (const { title, isWritten, failing } of [
    { title: "in-progress in status", isWritten: true, failing: 0 },
    { title: "in-progress in status, and comes back", isWritten: true, failing: 1 },
    { title: "elsewhere in status", isWritten: false, failing: 1 },
  ])
    scenario(
      `an address that shows its target early is not published while its action runs: ${title}`,
      async (world) => {
        await loseNode(world, failing);
        if (!isWritten) world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "500", times: 0 });
        await world.run({ deadlineMs: 17 * SECOND });
        expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
        world.clearFaults();
        for (let passes = 0; passes < 3; passes += 1) {
          await world.pass();
          expect(world.cloudWrites()).toEqual([]);
          expect(await world.show()).toEqual([expect.stringContaining("ip1 in-progress")]);
          expect(await world.nodes.annotations()).not.toHaveProperty("n2");
          world.advance(SECOND);
        }
        world.advance(25 * SECOND);
        for (let passes = 0; passes < 3; passes += 1) {
          await world.pass({ deadlineMs: 60 * SECOND });
          world.advance(10 * SECOND);
        }
        expect(await world.show()).toEqual(["ip1 active n2"]);
      },
      GOES_ON,
    );

  scenario(
    "a move that shows its target early is written to its node once it has ended, however long a run goes on",
    async (world) => {
      await loseNode(world, 0);
      const writes: { readonly atMs: number; readonly had: boolean }[] = [];
      const look = (): void =>
        world.before("annotateNode", async () => {
          writes.push({ atMs: world.nowMs(), had: "n2" in (await world.nodes.annotations()) });
          look();
        });
      look();
      const begunMs = world.nowMs();
      await world.pass({ settle: true });
      expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
      const before = writes.filter(({ had }) => !had);
      expect((before.at(-1)?.atMs ?? 0) - begunMs).toBeGreaterThanOrEqual(25 * SECOND);
    },
  );

  for (const [what, begun] of [
    ["from a node", "n1"],
    ["from nowhere", undefined],
    ["from a node that is gone", "gone"],
  ] as const)
    scenario(
      `a move ${what} that an earlier process began is not asked for again while nothing shows it`,
      async (world) => {
        await world.machines("n1", "n2");
        world.cloud.address(ip(1), begun === undefined ? {} : { on: "n1" });
        await world.pools.create("web", { ips: [ip(1)] });
        if (begun !== undefined) await world.pass();
        if (begun === "gone") await world.nodes.delete("n1");
        else await world.nodes.setReady("n1", false);
        const { settings } = world.cloud as HetznerCloud;
        settings.action_delay_ms = 25 * SECOND;
        await world.run({ deadlineMs: 17 * SECOND });
        expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        for (let passes = 0; passes < 3; passes += 1) {
          world.advance(25 * SECOND);
          await world.pass();
          expect(world.cloudWrites()).toEqual([]);
        }
        expect(await world.show()).toEqual(["ip1 active n2"]);
      },
    );

  scenario("a purchase whose assignment fails is not waited for, and the address is assigned next", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1 });
    (world.cloud as HetznerCloud).settings.fail_next_actions = 1;
    const startedMs = world.nowMs();
    const { outcomes } = await world.pass();
    expect(world.nowMs() - startedMs).toBeLessThan(10 * SECOND);
    expect(outcomes.map(({ outcome }) => outcome)).toContain("failed");
    world.advance(2 * SECOND);
    await world.pass();
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    expect(await world.show()).toEqual(["new1 active n1"]);
  });

  scenario(
    "a purchase without an answer is not published while its action runs",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1 });
      slowActions(world.cloud as HetznerCloud, 0);
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      world.advance(SECOND);
      await world.pass();
      expect(await world.show()).toEqual([expect.stringContaining("new1 in-progress")]);
      expect(await world.nodes.annotations()).toEqual({});
      world.advance(30 * SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n1"]);
    },
    GOES_ON,
  );

  scenario(
    "the limit of the project shows in the refusal, which is said, and tried again after a minute",
    async (world) => {
      world.cloud.state.account.reserved_ip_limit = 1;
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2 });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["create for n1", "create for n2"]);
      expect((await world.pools.status("web")).error).toContain("floating_ip limit exceeded");
      const { conditions } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({
        status: "True",
        reason: "QuotaExceeded",
      });
      world.advance(30 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.cloud.state.account.reserved_ip_limit = 2;
      world.advance(31 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toHaveLength(1);
      expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    },
  );

  for (const kind of ["lost-answer", "500"] as const)
    scenario(`a purchase that ends with ${kind} brings one address, whoever else buys meanwhile`, async (world) => {
      await world.pools.create("web", { desiredIPs: 1 });
      world.fail({ side: "cloud", operation: "create", kind });
      await world.pass();
      // Another cluster of the project buys at the same time.
      world.cloud.address(ip(7));
      for (let passes = 0; passes < 4; passes += 1) {
        world.advance(20 * SECOND);
        await world.pass();
      }
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect((await world.pools.status("web")).acquired).toEqual([
        { ip: bought(1), acquiredAt: expect.any(String), provider: "hetzner" },
      ]);
    });

  scenario(
    "what a purchase without an answer brought is flipop's own, however soon it is looked for, and goes with its pool",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      for (let passes = 0; passes < 4; passes += 1) {
        await world.pass();
        if (passes > 0) world.advance(20 * SECOND);
      }
      const { acquired, pendingAcquisitions } = await world.pools.status("web");
      expect(acquired).toEqual([{ ip: bought(1), acquiredAt: expect.any(String), provider: "hetzner" }]);
      expect(pendingAcquisitions).toEqual([]);
      await world.pools.delete("web");
      await world.pass();
      expect(world.cloud.boughtNow()).toEqual([]);
    },
  );

  scenario(
    "with status and annotation lost, a purchase without an answer is found again by whose it is",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1 });
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      await world.pools.writeStatus("web", null);
      await world.pools.annotate("web", ACQUIRED_ANNOTATION, null);
      for (let passes = 0; passes < 4; passes += 1) {
        world.advance(20 * SECOND);
        await world.pass();
      }
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.show()).toEqual(["new1 active n1"]);
    },
  );
}

/** ip1 is on n1, which is lost: its move to n2 takes an action that is slow. */
async function loseNode(world: World, failing: number): Promise<void> {
  await world.machines("n1", "n2");
  world.cloud.address(ip(1), { on: "n1" });
  await world.pools.create("web", { ips: [ip(1)] });
  await world.pass();
  await world.nodes.setReady("n1", false);
  slowActions(world.cloud as HetznerCloud, failing);
}

/** Actions take 25 s from now on, the first ones end in an error, and an address shows its target at once. */
function slowActions({ settings }: HetznerCloud, failing: number): void {
  settings.shows_target_early = true;
  settings.action_delay_ms = 25 * SECOND;
  settings.fail_next_actions = failing;
}
