import { expect } from "vitest";
import { www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import { errorsOf } from "./scenario-run.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** A pool that wants bought addresses, on these nodes. */
async function buying(
  world: World,
  desiredIPs: number,
  nodes: readonly string[],
  spec: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await world.machines(...nodes);
  await world.pools.create("web", { desiredIPs, ...spec });
}

/** What is bought, when, and how often: scenarios 34–40. */
export function acquiringScenarios(scenario: Register): void {
  scenario("addresses are bought for the nodes that wait, and for the region beyond them", async (world) => {
    await buying(world, 3, ["n1", "n2"]);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n1", "create for n2", "create in nyc3"]);
    expect(await world.show()).toEqual(["new1 active n1", "new2 active n2", "new3 unassigned (NoCandidate)"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "new1", n2: "new2" });
  });

  scenario("while an address is bought for a node, no other pool prepares to use that node", async (world) => {
    await buying(world, 2, ["n1", "n2"]);
    world.advance(SECOND);
    world.dns.zone("digitalocean");
    world.cloud.address(ip(1));
    await world.pools.create("mail", { ips: [ip(1)], reclaimPolicy: "Delete", dnsRecordSet: www("digitalocean") });
    world.takesMs = ({ method }) => (method === "getAddress" ? SECOND : undefined);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n1", "create for n2"]);
    expect(world.kubeWrites().filter((line) => line.includes("finalizer"))).toEqual([]);
    expect(await world.show("mail")).toEqual(["ip1 unassigned (NoCandidate)"]);
  });

  scenario(
    "nothing is bought while the pool has enough: a listed address counts, whatever its state",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.droplet(900);
      world.cloud.address(ip(1), { on: 900 });
      await world.pools.create("web", { ips: [ip(1), ip(2)], desiredIPs: 2 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 error (ForeignHolder)", "ip2 error (IPNotFound)"]);
    },
  );

  scenario("without region and without a node nothing can be bought, and status says why", async (world) => {
    await world.pools.create("web", { desiredIPs: 1, region: "" });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    const { error, conditions } = await world.pools.status("web");
    expect(error).toContain("spec.region");
    expect(conditions.find(({ type }) => type === "Stalled")?.reason).toBe("NoRegion");
  });

  scenario(
    "without region, while the only other node still carries an address the pool gave up: one is bought in the node's region, and they are swapped",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1), ip(2)], desiredIPs: 2, region: "" });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["create in nyc3", "unassign ip1", "assign new1 to n1"]);
      expect(await world.show()).toEqual(["ip2 active n2", "new1 active n1"]);
    },
  );

  scenario(
    "34 the second create is refused: the first is used, the error shows, later exactly the rest is bought",
    async (world) => {
      await buying(world, 3, ["n1", "n2", "n3"]);
      world.fail({ side: "cloud", operation: "limit", kind: "403", times: 0 });
      world.cloud.state.account.reserved_ip_limit = 1;
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n1"]);
      const { error, pendingAcquisitions } = await world.pools.status("web");
      expect(error).toBeTruthy();
      expect(pendingAcquisitions).toEqual([]);
      world.cloud.state.account.reserved_ip_limit = 10;
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites().toSorted()).toEqual(["create for n2", "create for n3"]);
      expect((await world.pools.status("web")).error).toBeUndefined();
    },
  );

  scenario("35 the need disappears while an error of creation shows: the error goes", async (world) => {
    await buying(world, 2, ["n1"]);
    world.fail({ side: "cloud", operation: "create", kind: "422", skip: 1 });
    await world.pass();
    expect((await world.pools.status("web")).error).toBeTruthy();
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pass();
    const { error, retries } = await world.pools.status("web");
    expect({ error, retries }).toEqual({ error: undefined, retries: [] });
    expect(world.cloudWrites()).toEqual([]);
  });

  scenario(
    "37 the user edits spec.ips during a creation: the list stands, the bought address is on record",
    async (world) => {
      world.cloud.address(ip(1));
      await buying(world, 2, ["n1"], { ips: [ip(9)] });
      world.before("create", () => world.pools.edit("web", { ips: [ip(1)] }));
      await world.pass();
      expect((await world.pools.read("web"))?.spec).toMatchObject({ ips: [ip(1)] });
      expect((await world.pools.status("web")).acquired.map((entry) => entry.ip)).toEqual([bought(1)]);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
  );

  scenario(
    "39 desired lowered: the last of the list is disabled, loses its annotation and stays attached",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      for (const number of [1, 2, 3]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)] });
      await world.pass();
      await world.pools.edit("web", { desiredIPs: 2 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2", "ip3 disabled n3 (AboveDesired)"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
      await world.pools.edit("web", { desiredIPs: 3 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2", n3: "ip3" });
    },
  );

  scenario(
    "39b the one in use loses its node: the disabled one, still attached to a match, takes its place",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      await world.pass();
      await world.pools.edit("web", { desiredIPs: 1 });
      await world.pass();
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 disabled n1 (AboveDesired)", "ip2 active n2"]);
      expect(await world.nodes.annotations()).toEqual({ n2: "ip2" });
    },
  );

  scenario("39c a disabled address leaves its droplet when another pool needs it", async (world) => {
    await world.machines("n1", "n2");
    for (const number of [1, 2, 3]) world.cloud.address(ip(number));
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pools.create("other", { ips: [ip(3)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip2", "assign ip3 to n2"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip3 of shop/other" });
  });

  scenario("40 lowered and raised again with bought addresses: nothing is bought again", async (world) => {
    await buying(world, 3, ["n1", "n2", "n3"]);
    await world.pass();
    await world.pools.edit("web", { desiredIPs: 2 });
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1", "new2 active n2", "new3 disabled n3 (AboveDesired)"]);
    await world.pools.edit("web", { desiredIPs: 3 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.cloud.boughtNow()).toHaveLength(3);
  });

  scenario("an address is deleted by hand and the account is at its limit: a hold, and no request", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 2 });
    await world.pass();
    world.cloud.address(ip(7));
    world.cloud.state.account.reserved_ip_limit = 2;
    world.cloud.removeAddress(bought(2));
    const { plan, remaining } = await world.pass();
    expect(plan.actions.filter(({ kind }) => kind === "acquire-ip")).toEqual([]);
    expect(remaining.holds.map(({ reason }) => reason)).toContain("QuotaExceeded");
    expect(world.cloudWrites()).toEqual([]);
    world.cloud.state.account.reserved_ip_limit = 3;
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1", "new3 active n2"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  scenario("the account's limit is reached: a hold, and no request that would be refused", async (world) => {
    world.cloud.address(ip(9));
    world.cloud.state.account.reserved_ip_limit = 2;
    await buying(world, 2, ["n1", "n2"]);
    const { remaining } = await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n1"]);
    expect(remaining.holds.map(({ reason }) => reason)).toContain("QuotaExceeded");
    expect((await world.pools.status("web")).conditions.find(({ type }) => type === "Stalled")?.reason).toBe(
      "QuotaExceeded",
    );
    world.cloud.state.account.reserved_ip_limit = 3;
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n2"]);
  });

  scenario("twelve creations a minute over all runs: the next process waits for the minute to end", async (world) => {
    await world.pools.create("web", { desiredIPs: 15 });
    const { remaining } = await world.pass({ lease: "fail" });
    expect(world.cloudWrites()).toHaveLength(12);
    expect(remaining.holds.map(({ reason }) => reason)).toContain("CreationRate");
    world.advance(10 * SECOND);
    await world.pass({ lease: "fail" });
    expect(world.cloudWrites()).toEqual([]);
    world.advance(56 * SECOND);
    await world.pass({ lease: "fail" });
    expect(world.cloudWrites()).toHaveLength(3);
    expect((await world.pools.status("web")).retries).toEqual([]);
  });

  scenario("a creation for a node counts for the cool-off", async (world) => {
    await buying(world, 2, ["n1", "n2"], { assignmentCoolOffSeconds: 20 });
    const startMs = world.nowMs();
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n1"]);
    world.advance(startMs + 19 * SECOND - world.nowMs());
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(2 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n2"]);
  });

  scenario("a bought address that is gone at the provider is forgotten and replaced", async (world) => {
    await buying(world, 1, ["n1"]);
    await world.pass();
    world.cloud.removeAddress(bought(1));
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n1"]);
    expect(await world.show()).toEqual(["new2 active n1"]);
    expect((await world.pools.status("web")).acquired).toHaveLength(1);
  });

  scenario(
    "an old CRD prunes what must be on record: nothing is bought, the error names the file",
    async (world) => {
      await world.machines("n1");
      const applyPresent = await world.pools.forgetStatusField("pendingAcquisitions");
      await world.pools.create("web", { desiredIPs: 1 });
      const { outcomes } = await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      const errors = outcomes.map((outcome) => (outcome.outcome === "failed" ? outcome.error.message : ""));
      expect(errors.join()).toContain("cronjob/crds/");
      const { conditions } = await world.pools.status("web");
      expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({
        status: "True",
        reason: "CRDTooOld",
        message: expect.stringContaining("it dropped status.pendingAcquisitions"),
      });
      expect(conditions.find(({ type }) => type === "Reconciling")?.status).toBe("False");
      for (let pass = 0; pass < 3; pass += 1) {
        world.advance(10 * SECOND);
        await world.pass();
        expect(world.writes()).toEqual([]);
      }
      await applyPresent();
      world.advance(60 * SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n1"]);
      const after = (await world.pools.status("web")).conditions;
      expect(after.find(({ type }) => type === "Stalled")?.status).toBe("False");
    },
    { worlds: ["memory", "sandbox"] },
  );

  scenario(
    "a CRD prunes what was bought: the pool's annotation keeps it, nothing is bought again, the error names the file",
    async (world) => {
      await world.machines("n1", "n2");
      const applyPresent = await world.pools.forgetStatusField("acquired");
      await world.pools.create("web", { desiredIPs: 1 });
      const runs = async (): Promise<void> => {
        for (let run = 0; run < 4; run += 1) {
          expect(errorsOf(await world.pass({ settle: true }))).toMatch(
            /it dropped status\.acquired\. Apply .*cronjob\/crds\//,
          );
          world.advance(60 * SECOND);
        }
      };
      await runs();
      expect(world.cloud.addresses()).toEqual({ new1: "n1" });
      await world.nodes.setReady("n1", false);
      await runs();
      expect(world.cloud.addresses()).toEqual({ new1: "n2" });
      await applyPresent();
      await world.pass({ settle: true });
      expect((await world.pools.status("web")).acquired).toHaveLength(1);
    },
    {
      worlds: ["memory", "sandbox"],
      onlySingleRuns: "a process that goes on never comes to rest while the definition drops what it writes",
    },
  );
}
