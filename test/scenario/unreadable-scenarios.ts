import { expect } from "vitest";
import { exitCodeOfRun } from "../../src/report/exit-code.ts";
import { www } from "./dns-scene.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** The token keeps every other scope. */
function loseDropletRead({ cloud }: World): void {
  const objects = ["reserved_ip", "domain", "firewall"];
  const writes = objects.flatMap((object) => ["read", "create", "update", "delete"].map((verb) => `${object}:${verb}`));
  cloud.state.tokens = { token: ["account:read", "tag:read", ...writes] };
}

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

/** What cannot be read is not changed: reads that fail, tokens that are refused, rate limits. Scenarios 12, 14, 59. */
export function unreadableScenarios(scenario: Register): void {
  scenario(
    "12 one read answers 500: the address is not moved, its annotation stays, status shows the error",
    async (world) => {
      await served(world, ["n1", "n2"]);
      world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
      world.fail({ side: "cloud", operation: "get", subject: ip(1), kind: "500", times: 0 });
      await world.look();
      await world.nodes.setReady("n1", false);
      await world.machines("n3");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      const status = await world.pools.status("web");
      expect(status.ips[ip(1)]).toMatchObject({ state: "active", nodeName: "n1", reason: "Unreadable" });
      expect(status.ips[ip(1)]?.error).toBeTruthy();
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
      world.clearFaults();
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    },
  );

  for (const kind of ["500", "html", "cut"] as const) {
    scenario(
      `14 all reads fail (${kind}): nothing is written at the provider or to a node, status says so`,
      async (world) => {
        await served(world, ["n1"]);
        world.fail({ side: "cloud", operation: "list", kind, times: 0 });
        world.fail({ side: "cloud", operation: "get", kind, times: 0 });
        await world.look();
        await world.nodes.setReady("n1", false);
        await world.machines("n2");
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(world.kubeWrites()).toEqual(["status web"]);
        expect((await world.pools.status("web")).ips[ip(1)]).toMatchObject({ nodeName: "n1", reason: "Unreadable" });
        await world.pass();
        expect(world.kubeWrites()).toEqual([]);
        world.clearFaults();
        await world.pass();
        expect(await world.show()).toEqual(["ip1 active n2"]);
      },
    );
  }

  scenario("the list fails and single reads work: everything goes on", async (world) => {
    await served(world, ["n1", "n2"]);
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
    await world.nodes.setReady("n1", false);
    await world.machines("n3");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  });

  scenario(
    "59 429 at the start: nothing is sent before it is over, across processes; annotations are not touched",
    async (world) => {
      await served(world, ["n1"]);
      await world.nodes.setReady("n1", false);
      await world.machines("n2");
      world.fail({ side: "cloud", operation: "get", kind: "429", retryAfter: 20 });
      const result = await world.pass({ lease: "fail" });
      expect(world.cloudCalls()).toEqual(["get ip1"]);
      expect(exitCodeOfRun(result, { partialOk: false })).toBe(75);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      world.advance(15 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.cloudCalls()).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      world.advance(6 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    },
  );

  scenario(
    "59b 429 in the middle of a pass: what was assigned is kept, the rest goes on when it is over",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      for (const number of [1, 2, 3]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)] });
      world.fail({ side: "cloud", operation: "assign", kind: "429", retryAfter: 20, skip: 1 });
      await world.pass({ lease: "fail" });
      const sent = world.cloudWrites().length;
      expect((await world.pools.status("web")).retries).toEqual([]);
      await world.pass({ lease: "fail" });
      expect(world.cloudCalls()).toEqual([]);
      world.advance(21 * SECOND);
      await world.pass({ lease: "fail" });
      expect(sent + world.cloudWrites().length).toBeLessThanOrEqual(5);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2", "ip3 active n3"]);
    },
  );

  scenario(
    "an address that a reading shows on no machine stays where status has it while the machine shows it",
    async (world) => {
      await served(world, ["n1"]);
      await world.machines("n0");
      world.before("getAddress", async () => world.cloud.put(ip(1), undefined));
      for (const method of ["machineAddresses", "assign"])
        world.before(method, async () => world.cloud.put(ip(1), "n1"));
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      expect(await world.show()).toEqual(["ip1 active n1 (Unreadable)"]);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
    },
    { onlySingleRuns: "a process that goes on has read the address already" },
  );

  scenario("a token without droplet:read makes every address look free: nothing is written", async (world) => {
    await served(world, ["n1"]);
    world.cloud.state.tokens = {
      token: ["account:read", "reserved_ip:read", "reserved_ip:update", "reserved_ip:create"],
    };
    await world.look();
    await world.machines("n2");
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.kubeWrites().filter((line) => line !== "status web" && line !== "event")).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    expect(await world.show()).toEqual(["ip1 active n1"]);
    world.cloud.state.tokens = {};
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });

  for (const [what, takeAway] of [
    ["its pool is deleted", (world: World) => world.pools.delete("web")],
    ["its pool shrinks", (world: World) => world.pools.edit("web", { desiredIPs: 1 })],
  ] as const)
    for (const operation of ["getAddress", "unassign"] as const)
      scenario(
        `a token that loses droplet:read when ${what}, before ${operation}: no address is deleted or forgotten`,
        async (world) => {
          await world.machines("n1", "n2");
          await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
          await world.pass();
          const bought = world.cloud.boughtNow();
          await takeAway(world);
          world.before(operation, async () => loseDropletRead(world));
          await world.pass();
          expect(world.cloudWrites().filter((line) => !line.startsWith("unassign"))).toEqual([]);
          if (operation === "getAddress") expect(world.cloudWrites()).toEqual([]);
          expect(world.cloud.boughtNow()).toEqual(bought);
          const { acquired, conditions } = await world.pools.status("web");
          expect(acquired.map((entry) => entry.ip).toSorted()).toEqual([...bought].toSorted());
          expect(conditions.find(({ type }) => type === "Stalled")?.message).toContain("droplet:read");
          world.cloud.state.tokens = {};
          world.advance(60 * SECOND);
          await world.pass();
          expect(world.cloud.boughtNow()).toHaveLength(what === "its pool shrinks" ? 1 : 0);
        },
      );

  scenario("a token that loses droplet:read in a failover: nothing is written, and DNS stays", async (world) => {
    await served(world, ["n1", "n2"], { dnsRecordSet: www("digitalocean") });
    world.advance(60 * SECOND);
    await world.machines("n3");
    await world.nodes.setReady("n1", false);
    world.before("getAddress", async () => loseDropletRead(world));
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dnsWrites()).toEqual([]);
    const { conditions } = await world.pools.status("web");
    expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({
      status: "True",
      message: expect.stringContaining("droplet:read"),
    });
    world.cloud.state.tokens = {};
    world.advance(60 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
  });

  for (const [step, method, act] of [
    ["a failover", "addMachines", (world: World) => world.pods.setReady("web-n1", false)],
    ["a deletion", "getFirewall", (world: World) => world.routedIPs.delete("vip")],
  ] as const)
    scenario(
      `a token that loses droplet:read in ${step} of a RoutedIP, before ${method}: nobody waits for what is hidden`,
      async (world) => {
        await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
        await world.routedIPs.create("vip", {});
        await world.pass();
        world.advance(60 * SECOND);
        await act(world);
        world.before(method, async () => loseDropletRead(world));
        const beganAtMs = world.nowMs();
        await world.pass();
        expect(world.nowMs() - beganAtMs).toBeLessThan(20 * SECOND);
        expect(world.cloudWrites().filter((line) => line !== "add n2 to web")).toEqual([]);
        const { conditions, firewalls } = await world.routedIPs.status("vip");
        expect(conditions.find(({ type }) => type === "Stalled")?.message).toContain("droplet:read");
        expect(firewalls?.[0]?.machineIDs).toContain("101");
        world.cloud.state.tokens = {};
        world.advance(60 * SECOND);
        await world.pass();
        expect(world.cloud.showFirewall()).toBe(step === "a failover" ? "tcp/30080 | n2" : "|");
      },
    );

  scenario("the droplet of a holder is deleted right before its address moves: the address goes on", async (world) => {
    await served(world, ["n1", "n2"]);
    await world.machines("n3");
    await world.nodes.setReady("n1", false);
    world.before("getAddress", async () => world.cloud.removeDroplet("n1"));
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
  });

  scenario("a token that is refused (401): nothing is written, status says so and keeps the rest", async (world) => {
    await served(world, ["n1"]);
    world.cloud.state.tokens = { other: ["*"] };
    await world.look();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    const { error, conditions } = await world.pools.status("web");
    expect(error).toContain("401");
    expect(conditions.find(({ type }) => type === "Ready")?.status).toBe("False");
    world.cloud.state.tokens = {};
    await world.pass();
    expect(await world.show()).toEqual(["ip1 no-match n1 (NoCandidate)"]);
  });

  scenario(
    "an unreadable address whose holder was never known: the node's droplet is looked at first",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1), { on: "n1" });
      world.cloud.address(ip(2));
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
      world.fail({ side: "cloud", operation: "get", subject: ip(1), kind: "500", times: 0 });
      await world.pass();
      expect(world.cloudCalls()).toContain("machine n1");
      expect(world.cloudWrites()).toEqual(["assign ip2 to n2"]);
      world.clearFaults();
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
    },
  );

  scenario(
    "one reading that does not find an address which the list shows is no proof: none is bought",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 1 });
      await world.pass();
      await world.nodes.setReady("n1", false);
      await world.nodes.setReady("n2", false);
      await world.machines("n3");
      world.fail({ side: "cloud", operation: "get", kind: "404", times: 0 });
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        world.advance(60 * SECOND);
      }
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(await world.show()).toEqual(["new1 active n3"]);
    },
  );

  scenario(
    "one reading that does not find an address which the list shows is no proof: a deleted pool does not forget it",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
      await world.pass();
      await world.pools.delete("web");
      world.fail({ side: "cloud", operation: "get", kind: "404", times: 0 });
      for (let time = 0; time < 3; time += 1) {
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(await world.pools.existing()).toEqual(["web"]);
        world.advance(60 * SECOND);
      }
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign new1", "delete new1"]);
      expect(await world.pools.existing()).toEqual([]);
    },
  );

  scenario("confirmation cannot be read: in-progress, not annotated, and the next pass sees it", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cloud", operation: "get", kind: "500", times: 0, skip: 0 });
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0, skip: 1 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    expect(await world.show()).toEqual([expect.stringMatching(/^ip1 in-progress n1 /)]);
    expect(await world.nodes.annotations()).toEqual({});
    world.clearFaults();
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });
}
