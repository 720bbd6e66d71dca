// What every implementation of ClusterWriter must do: the HTTP adapter on a real API server, on the sandbox, and fakes.
import { afterAll, beforeAll, describe } from "vitest";
import { describeEvents, describeLease } from "./cluster-lease-contract.ts";
import { describeNodes, describePods } from "./cluster-node-contract.ts";
import { describePools } from "./cluster-pool-contract.ts";
import type { ContractWorld } from "./cluster-world.ts";

/**
 * Declares the contract's tests. One world serves all of them; each test uses names of its own, prefixed by the namespace
 * where objects are cluster-scoped.
 */
export function clusterContract(name: string, makeWorld: () => Promise<ContractWorld>): void {
  describe(`cluster contract › ${name}`, () => {
    let world: ContractWorld;
    beforeAll(async () => {
      world = await makeWorld();
    }, 60_000);
    afterAll(async () => {
      await world?.dispose();
    });
    describePools(() => world);
    describeNodes(() => world);
    describePods(() => world);
    describeLease(() => world);
    describeEvents(() => world);
  });
}
