import { createClusterWriter } from "../../../src/adapters/kube/cluster-writer.ts";
import { clusterContract } from "../../contract/cluster-contract.ts";
import { REAL_CLOCK } from "./real-clock.ts";
import { sandboxContractWorld } from "./sandbox-contract-world.ts";

clusterContract("HTTP adapter on the sandbox", () =>
  sandboxContractWorld((connection) =>
    createClusterWriter(connection, { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" }),
  ),
);
