import { expect } from "vitest";
import { WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** As many addresses as nodes, ip1 on n1 and so on, converged. */
async function served(
  world: World,
  nodes: readonly string[],
  spec: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await world.machines(...nodes);
  const ips = nodes.map((_, index) => ip(index + 1));
  for (const address of ips) world.cloud.address(address);
  await world.pools.create("web", { ips, ...spec });
  await world.pass();
  expect(Object.keys(await world.nodes.annotations())).toEqual(nodes);
}

/** What a token may not do (403), what needs it, and what is to be once it may. */
const FORBIDDEN = [
  {
    operation: "assign",
    needs: (world: World) => world.nodes.setReady("n1", false),
    after: ["new1 active n[45]", "new2 active n2"],
  },
  {
    operation: "create",
    needs: (world: World) => world.pools.edit("more", { desiredIPs: 3 }),
    after: ["new1 active n1", "new2 active n2", "new3 active n[45]"],
  },
  {
    operation: "unassign",
    needs: (world: World) => world.pools.edit("more", { desiredIPs: 1 }),
    after: ["new1 active n1"],
  },
  {
    operation: "delete",
    needs: (world: World) => world.pools.edit("more", { desiredIPs: 1 }),
    after: ["new1 active n1"],
  },
] as const;

/** One kind of write is forbidden for half an hour. Another pool fails over meanwhile. */
function forbiddenWrites(scenario: Register): void {
  for (const { operation, needs, after } of FORBIDDEN)
    scenario(
      `${operation} is forbidden (403) for half an hour: a person is told, others go on, and then it is done`,
      async (world) => {
        await world.machines("n1", "n2");
        await world.pools.create("more", { desiredIPs: 2, reclaimPolicy: "Delete" });
        for (let pass = 0; pass < 2; pass += 1) await world.pass();
        await world.machines("n3");
        world.cloud.address(ip(1), { on: "n3" });
        await world.pools.create("web", { ips: [ip(1)] });
        await world.pass();
        expect([await world.show("more"), await world.show()]).toEqual([
          ["new1 active n1", "new2 active n2"],
          ["ip1 active n3"],
        ]);
        await world.machines("n4", "n5");
        await world.nodes.setReady("n3", false);
        await needs(world);
        world.fail({
          side: "cloud",
          operation,
          kind: "403",
          times: 0,
          ...(operation === "assign" ? { subject: bought(1) } : {}),
        });
        let writes = 0;
        for (let minute = 0; minute < 30; minute += 1) {
          await world.pass();
          writes += world.cloudWrites().length;
          world.advance(60 * SECOND);
        }
        // At once, after 1 and 5 minutes, then every ten.
        expect(writes).toBeLessThanOrEqual(8);
        const { conditions } = await world.pools.status("more");
        expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({
          status: "True",
          reason: "PermissionMissing",
        });
        expect(await world.show()).toEqual([expect.stringMatching(/^ip1 active n[45]$/)]);
        world.clearFaults();
        for (let minute = 0; minute < 11; minute += 1) {
          await world.pass();
          world.advance(60 * SECOND);
        }
        expect(await world.show("more")).toEqual(after.map((line) => expect.stringMatching(`^${line}$`)));
        expect(world.cloud.boughtNow()).toHaveLength(after.length);
      },
    );
}

/** What the provider does wrong: scenarios 9–59. */
export function cloudFaultScenarios(scenario: Register): void {
  forbiddenWrites(scenario);
  scenario(
    "9 assign answers 500 once: the error names node and reason, and the next due pass converges",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      world.fail({ side: "cloud", operation: "assign", kind: "500" });
      const { remaining } = await world.pass();
      const status = await world.pools.status("web");
      expect(status.ips[ip(1)]?.state).toBe("error");
      expect(status.ips[ip(1)]?.error).toMatch(/^\S*n1: /);
      expect(status.nodeErrors.join()).toContain("n1: ");
      expect(remaining.holds.map(({ reason }) => reason)).toContain("Backoff");
      expect(await world.nodes.annotations()).toEqual({});
      world.advance(SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect((await world.pools.status("web")).nodeErrors).toEqual([]);
    },
  );

  scenario(
    "an address that cannot be read before its move is to blame, and not the node that it would go to",
    async (world) => {
      await served(world, ["n1", "n2"]);
      await world.machines("n3", "n4");
      await world.nodes.setReady("n1", false);
      world.fail({ side: "cloud", operation: "get", subject: ip(1), kind: "500", times: 0 });
      await world.pass();
      const { retries, nodeErrors, ips } = await world.pools.status("web");
      expect([retries.map(({ subject }) => subject), nodeErrors]).toEqual([[`ip/${ip(1)}`], []]);
      expect(ips[ip(1)]?.error).toMatch(/500/);
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
    },
  );

  scenario("16 taken away by hand: reported, held, and the node gets the spare", async (world) => {
    await served(world, ["n1"]);
    world.cloud.address(ip(2));
    await world.pools.edit("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    world.cloud.droplet(900);
    world.cloud.put(ip(1), 900);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n1"]);
    expect(await world.show()).toEqual(["ip1 error (ForeignHolder)", "ip2 active n1"]);
    expect(world.cloud.addresses()).toMatchObject({ ip1: "d900" });
  });

  scenario("20 foreign holder: held with the field in the reason, and TakeOver moves it", async (world) => {
    await world.machines("n1");
    world.cloud.droplet(900);
    world.cloud.address(ip(1), { on: 900 });
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    const { ips, conditions } = await world.pools.status("web");
    expect(ips[ip(1)]?.error).toContain("spec.foreignHolder: TakeOver");
    expect(conditions.find(({ type }) => type === "Stalled")?.status).toBe("True");
    await world.pools.edit("web", { foreignHolder: "TakeOver" });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
  });

  scenario("20b a holder that was a node of the pool is not foreign after the node is gone", async (world) => {
    await served(world, ["n1"]);
    await world.nodes.delete("n1");
    await world.pass();
    expect(await world.show()).toEqual(["ip1 no-match (NoCandidate)"]);
    await world.machines("n2");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("24 locked: waited for, in-progress, and used once it is unlocked", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.cloud.lock(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 in-progress (InProgress)"]);
    world.cloud.lock(ip(1), false);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("24b one locked address does not delay another pool's failover", async (world) => {
    await served(world, ["n1"]);
    world.cloud.address(ip(2));
    world.cloud.lock(ip(2));
    await world.pools.create("other", { ips: [ip(2)] });
    await world.nodes.setReady("n1", false);
    await world.machines("n2", "n3");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    world.cloud.lock(ip(2), false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n3"]);
  });

  for (const [where, to] of [
    ["a machine of nobody", 900],
    ["a node that is down", "n3"],
    ["a spare node", "n2"],
  ] as const)
    for (const isSuspended of [false, true])
      scenario(
        `24d an address that somebody is moving by hand to ${where} is told once${isSuspended ? ", while its pool is suspended" : ""}`,
        async (world) => {
          await served(world, ["n1"]);
          world.dns.zone("digitalocean");
          await world.pools.edit("web", { dnsRecordSet: www("digitalocean") });
          await world.pass();
          await world.machines("n2", "n3");
          await world.nodes.setReady("n3", false);
          world.cloud.put(ip(1), to);
          world.cloud.lock(ip(1));
          if (isSuspended) await world.pools.edit("web", { suspend: true });
          await world.pass();
          expect(world.cloudWrites()).toEqual([]);
          const shown = world.dns.set("digitalocean", WWW);
          const status = await world.pools.status("web");
          await world.pass();
          expect(world.writes()).toEqual([]);
          expect([world.dns.set("digitalocean", WWW), await world.pools.status("web")]).toEqual([shown, status]);
        },
        { checksAnnotations: false },
      );

  scenario("24c a droplet with a pending event is waited for within the pass", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    const [droplet] = world.cloud.state.droplets;
    if (droplet !== undefined) droplet.pending_event_until = new Date(world.nowMs() + 3 * SECOND).toISOString();
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect((await world.pools.status("web")).retries).toEqual([]);
  });

  scenario("26 action errored: the error is in status, and it is retried", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.cloud.state.settings.fail_next_actions = 1;
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    expect((await world.pools.status("web")).ips[ip(1)]).toMatchObject({ state: "error", reason: "Failed" });
    expect(await world.nodes.annotations()).toEqual({});
    world.advance(SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("26b a move whose action errors: the address is not foreign afterwards", async (world) => {
    await served(world, ["n1"]);
    await world.nodes.delete("n1");
    await world.machines("n2");
    world.cloud.state.settings.fail_next_actions = 1;
    await world.pass();
    expect((await world.pools.status("web")).ips[ip(1)]).toMatchObject({ reason: "Failed" });
    world.advance(SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });

  for (const delay of [0, 300]) {
    scenario(`28 422, but it is there after ${delay} ms: success`, async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      world.cloud.state.settings.action_delay_ms = delay;
      await world.pools.create("web", { ips: [ip(1)] });
      const message =
        delay === 0 ? "Droplet already has a reserved IP." : "The reserved IP already has a pending event.";
      world.fail({ side: "cloud", operation: "assign", kind: "422", isDone: true, message });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect((await world.pools.status("web")).retries).toEqual([]);
    });
  }

  scenario("the answer to an assignment is lost: what was accepted is waited for", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cloud", operation: "assign", kind: "lost-answer" });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect((await world.pools.status("web")).assignments).toBe(1);
  });

  scenario("30 address gone: an error on it, and its node takes the spare; others are not affected", async (world) => {
    await served(world, ["n1", "n2"]);
    world.cloud.address(ip(3));
    await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
    await world.pass();
    world.cloud.removeAddress(ip(1));
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip3 to n1"]);
    expect(await world.show()).toEqual(["ip1 error (IPNotFound)", "ip2 active n2", "ip3 active n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip3", n2: "ip2" });
  });

  scenario("a BYOIP address is assigned although its action is never found", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1), { isBYOIP: true });
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    await world.nodes.delete("n1");
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });
}
