import { expect } from "vitest";
import type { ClusterOperation, FaultKind } from "./operation-fault.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

async function converge(world: World): Promise<void> {
  for (let round = 0; round < 6; round += 1) {
    world.advance(60 * SECOND);
    await world.pass({ settle: true });
  }
}

/** Runs that end early, answers that get lost, objects that change in between. */
export function mishapScenarios(scenario: Register): void {
  for (const kind of ["lost-answer", "cut", "timeout", "html", "404", "409"] as const) {
    scenario(`assign ends with ${kind}: the address is active in the end, and no other was touched`, async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      world.fail({ side: "cloud", operation: "assign", kind });
      await world.pass();
      if (kind === "timeout") await world.lateEffects();
      await converge(world);
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect((await world.pools.status("web")).retries).toEqual([]);
    });
  }

  for (const operation of ["unassign", "delete"] as const) {
    for (const kind of ["lost-answer", "cut", "timeout", "429"] as const) {
      scenario(
        `${operation} ends with ${kind}: the surplus address is gone in the end, and only that`,
        async (world) => {
          await world.machines("n1", "n2");
          await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
          await world.pass();
          await world.pools.edit("web", { desiredIPs: 1 });
          world.fail({ side: "cloud", operation, kind, retryAfter: 5 });
          await world.pass({ lease: "fail" });
          if (kind === "timeout") await world.lateEffects();
          await converge(world);
          expect(world.cloud.boughtNow()).toEqual([bought(1)]);
          expect(await world.show()).toEqual(["new1 active n1"]);
          expect((await world.pools.status("web")).retries).toEqual([]);
        },
      );
    }
  }

  scenario(
    "429 at a creation: no intent is left behind, and it is bought once when the time is over",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1 });
      world.fail({ side: "cloud", operation: "create", kind: "429", retryAfter: 30 });
      await world.pass({ lease: "fail" });
      expect((await world.pools.status("web")).pendingAcquisitions).toEqual([]);
      world.advance(31 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.show()).toEqual(["new1 active n1"]);
    },
  );

  const mishaps: readonly (readonly [ClusterOperation, FaultKind])[] = [
    ["patchPoolStatus", "lost-answer"],
    ["patchPoolStatus", "500"],
    ["patchPoolStatus", "409"],
    ["patchPoolStatus", "cut"],
    ["annotateNode", "lost-answer"],
    ["annotateNode", "404"],
    ["annotateNode", "409"],
    ["setPoolFinalizer", "lost-answer"],
    ["setPoolFinalizer", "500"],
    ["setPoolFinalizer", "409"],
  ];
  for (const [operation, kind] of mishaps) {
    for (const skip of [0, 1, 2]) {
      scenario(
        `${operation} ends with ${kind} once, after ${skip} others: a pool is filled, then deleted with all it bought`,
        async (world) => {
          await world.machines("n1", "n2");
          world.cloud.address(ip(1));
          await world.pools.create("web", { ips: [ip(1)], desiredIPs: 2, reclaimPolicy: "Delete" });
          world.fail({ side: "cluster", operation, kind, skip });
          await world.pass();
          expect(world.cloud.boughtNow().length).toBeLessThanOrEqual(1);
          await converge(world);
          expect(await world.show()).toEqual(["ip1 active n1", "new1 active n2"]);
          world.clearFaults();
          world.fail({ side: "cluster", operation, kind, skip });
          await world.pools.delete("web");
          await world.pass();
          await converge(world);
          expect(await world.pools.existing()).toEqual([]);
          expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
          expect(await world.nodes.annotations()).toEqual({});
        },
        { worlds: skip === 0 ? ["memory", "sandbox", "cluster"] : ["memory"] },
      );
    }
  }
}
