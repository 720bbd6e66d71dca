// What every implementation of ClusterWriter must do: the HTTP adapter on a real API server, on the sandbox, and fakes.
import { afterAll, beforeAll, describe } from "vitest";
import { describeCustom } from "./cluster-custom-contract.ts";
import { POOL_KIND, RECORD_SET_KIND, ROUTED_IP_KIND } from "./cluster-custom-kind.ts";
import { describeEvents, describeLease } from "./cluster-lease-contract.ts";
import { describeNodes, describePods } from "./cluster-node-contract.ts";
import { describeNotes } from "./cluster-note-contract.ts";
import { describeIssuers, describeServices } from "./cluster-service-contract.ts";
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
    describeCustom(POOL_KIND, () => world);
    describeCustom(RECORD_SET_KIND, () => world);
    describeCustom(ROUTED_IP_KIND, () => world);
    describeNotes(POOL_KIND, () => world);
    describeNotes(ROUTED_IP_KIND, () => world);
    describeIssuers(() => world);
    describeServices(() => world);
    describeNodes(() => world);
    describePods(() => world);
    describeLease(() => world);
    describeEvents(() => world);
  });
}
