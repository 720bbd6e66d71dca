import { expect, test } from "vitest";
import { plan } from "../../src/plan/plan.ts";
import { anObservation, aPool, known, nodes } from "./builders.ts";

test("a pool that waits for a person is not told to be in progress, whatever its status says of an address", () => {
  const ip = "203.0.113.1";
  const onItsWay = { state: "in-progress", nodeName: "n1", providerID: "digitalocean://101" } as const;
  const reconciling = (nodeLabel: string): string | undefined => {
    const match = { nodeLabel, podNamespace: "", podLabel: "", tolerations: [] };
    const pools = [aPool({ spec: { ips: [ip], match }, status: { ips: { [ip]: onItsWay } } })];
    const addresses = [known(ip, { holderID: "101", isLocked: true })];
    const { conditions } = plan(anObservation({ pools, nodes: nodes(1), addresses }), {}).pools[0]?.status ?? {};
    return conditions?.find(({ type }) => type === "Reconciling")?.status;
  };
  expect([reconciling(""), reconciling("a in b")]).toEqual(["True", "False"]);
});
