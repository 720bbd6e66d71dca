import { clusterContract } from "../../../contract/cluster-contract.ts";
import { sandboxContractWorld } from "../sandbox-contract-world.ts";
import { agreeingCluster } from "./agreeing-cluster.ts";

clusterContract("HTTP adapter kept warm, on the sandbox", () => sandboxContractWorld(agreeingCluster));
