import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** ip1 on n1 whose only pod is ready; n2 waits with a ready pod of its own; the grace is 30 s. */
async function graced(world: World): Promise<void> {
  await world.machines("n1", "n2");
  await world.pods.create("p1", { node: "n1", labels: { app: "web" } });
  await world.pods.create("p2", { node: "n2", labels: { app: "web" } });
  world.cloud.address(ip(1));
  const match = { podNamespace: world.namespaceName("shop"), podLabel: "app=web" };
  await world.pools.create("web", { ips: [ip(1)], gracePeriodSeconds: 30, match });
  await world.pass();
  expect(await world.show()).toEqual(["ip1 active n1"]);
}

/** Cool-off, grace and tolerations that run out: scenarios 61 and 85. */
export function waitingScenarios(scenario: Register): void {
  scenario(
    "61 cool-off: the first at once, the others at least 20 s apart, and status says until when",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      for (const number of [1, 2, 3]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)], assignmentCoolOffSeconds: 20 });
      const times: number[] = [];
      const startMs = world.nowMs();
      for (let second = 0; second <= 60; second += 5) {
        await world.pass();
        for (const _ of world.cloudWrites()) times.push(second);
        if (second === 0) {
          const { conditions } = await world.pools.status("web");
          const reconciling = conditions.find(({ type }) => type === "Reconciling");
          expect(reconciling?.reason).toBe("CoolOff");
          expect(reconciling?.message).toMatch(/: n2 gets it at \d{4}-/);
        }
        world.advance(startMs + (second + 5) * SECOND - world.nowMs());
      }
      expect(times).toEqual([0, 20, 40]);
    },
  );

  scenario("61b cool-off holds a failover, too, and settle waits for it", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], assignmentCoolOffSeconds: 20 });
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect((await world.plan()).holds.map(({ reason }) => reason)).toContain("CoolOff");
    await world.pass({ settle: true });
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("61c cool-off with a crash between: the next run waits rather than comes early", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1), ip(2)], assignmentCoolOffSeconds: 20 });
    // Write 1 records the target, write 2 the time, write 3 assigns; the process dies before the next.
    expect(await world.crash(4)).toBe(true);
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    world.advance(10 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(11 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip2 to n2"]);
  });

  scenario("61d cool-off: an assignment that is refused costs no cool-off", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], assignmentCoolOffSeconds: 20 });
    world.fail({ side: "cloud", operation: "assign", subject: ip(1), kind: "422" });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });

  scenario("61e a stored time in the future counts as now, once", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], assignmentCoolOffSeconds: 20 });
    await world.pools.writeStatus("web", { lastAssignmentTime: new Date(world.nowMs() + 3_600_000).toISOString() });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
  });

  scenario("85 grace: a pod unready for 3 s moves nothing, and a hold says until when", async (world) => {
    await graced(world);
    await world.pods.setReady("p1", false);
    const sinceMs = Math.floor(world.nowMs() / SECOND) * SECOND;
    world.advance(3 * SECOND);
    const { remaining } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1 (Grace)"]);
    const hold = remaining.holds.find(({ reason }) => reason === "Grace");
    expect(hold?.notBeforeMs).toBe(sinceMs + 30 * SECOND);
  });

  scenario(
    "85b grace ends by the evidence: 29 s after the pod stopped nothing moves, 31 s after it the address does",
    async (world) => {
      await graced(world);
      await world.pods.setReady("p1", false);
      const sinceMs = Math.floor(world.nowMs() / SECOND) * SECOND;
      world.advance(sinceMs + 29 * SECOND - world.nowMs());
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(sinceMs + 31 * SECOND - world.nowMs());
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    },
  );

  scenario("85c grace without evidence counts from the first sight: the pod is gone at once", async (world) => {
    await graced(world);
    await world.pods.deleteForced("p1");
    world.advance(100 * SECOND);
    await world.pass();
    const seenMs = world.nowMs();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(seenMs + 29 * SECOND - world.nowMs());
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(2 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("85d flapping within grace: every recovery starts it afresh", async (world) => {
    await graced(world);
    for (let round = 0; round < 4; round += 1) {
      await world.pods.setReady("p1", false);
      await world.pass();
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      await world.pods.setReady("p1", true);
      await world.pass();
    }
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("85e grace of a NotReady node with its condition taints; the annotation stays meanwhile", async (world) => {
    await graced(world);
    await world.nodes.setReady("n1", false);
    const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    await world.nodes.patch("n1", { spec: { taints: [taint] } });
    world.advance(29 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
    world.advance(2 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  const noGrace: Readonly<Record<string, (world: World) => Promise<void>>> = {
    "a cordoned node": (world) =>
      world.nodes.patch("n1", {
        spec: { taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
      }),
    "a node being deleted": (world) => world.nodes.beginDeletion("n1"),
    "a node that is gone": (world) => world.nodes.delete("n1"),
    "an out-of-service node": (world) =>
      world.nodes.patch("n1", {
        spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] },
      }),
  };
  for (const [what, lose] of Object.entries(noGrace)) {
    scenario(`85f no grace for ${what}`, async (world) => {
      await graced(world);
      await lose(world);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    });
  }

  scenario("85g no grace for a node no longer selected by its label", async (world) => {
    await world.machines("n1", "n2");
    for (const node of ["n1", "n2"]) await world.nodes.patch(node, { metadata: { labels: { web: "" } } });
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], gracePeriodSeconds: 30, match: { nodeLabel: "web" } });
    await world.pass();
    await world.nodes.patch("n1", { metadata: { labels: { web: null } } });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("tolerationSeconds counts from the taint's timeAdded", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    const toleration = { key: "maintenance", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 };
    await world.pools.create("web", { ips: [ip(1)], match: { tolerations: [toleration] } });
    await world.pass();
    const timeAdded = new Date(world.nowMs()).toISOString().replace(/\.\d+Z/, "Z");
    await world.nodes.patch("n1", { spec: { taints: [{ key: "maintenance", effect: "NoExecute", timeAdded }] } });
    world.advance(58 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(3 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("a holder keeps its address until its toleration runs out, and settle waits for that", async (world) => {
    const key = "node.kubernetes.io/unreachable";
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    const tolerations = [{ key, operator: "Exists", tolerationSeconds: 30 }];
    await world.pools.create("web", { ips: [ip(1)], match: { tolerations } });
    await world.pass();
    const timeAdded = new Date(world.nowMs()).toISOString();
    await world.nodes.patch("n1", { spec: { taints: [{ key, effect: "NoExecute", timeAdded }] } });
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
    await world.pass({ settle: true });
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });
}
