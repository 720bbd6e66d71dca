import { beforeAll, expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { clusterWorld, prepareCluster } from "../scenario/cluster-world.ts";
import { ip } from "../scenario/scenario-names.ts";
import { World } from "../scenario/world.ts";
import { comeToRest } from "./come-to-rest.ts";
import { BOTH } from "./kinds.ts";
import { olderDefinition } from "./older-definition.ts";
import { OBJECTS } from "./situations.ts";

describeCluster("definitions of a real API server that know no status field", (facts) => {
  beforeAll(() => prepareCluster(facts));

  test("a run survives, buys and changes nothing, names the file to apply, and with it carries on", async () => {
    const backend = await clusterWorld(facts, 0);
    const world = new World(backend);
    await world.namespace();
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    world.dns.zone("digitalocean");
    await world.pools.create("web", {
      ips: [ip(1)],
      desiredIPs: 2,
      dnsRecordSet: { zone: "example.com", recordName: "www" },
    });
    await world.recordSets.create("nodes", { dnsRecordSet: { zone: "example.com", recordName: "nodes" } });
    await comeToRest(world, { isBrief: true });
    const before = { cloud: world.cloud.addresses(), names: world.dns.sets(), show: await world.show() };
    const restores = [];
    try {
      for (const kind of BOTH) {
        const object = { namespace: world.namespaceName("shop"), name: OBJECTS[kind.name] };
        restores.push(await olderDefinition(backend.rest, kind, object));
      }
      // A third address is wanted, which may not be bought without a record.
      await world.pools.edit("web", { desiredIPs: 3 });
      const { reportFailures, outcomes } = await world.pass();
      expect({ cloud: world.cloud.addresses(), names: world.dns.sets() }).toEqual({
        cloud: before.cloud,
        names: before.names,
      });
      const failed = outcomes.flatMap((outcome) => (outcome.outcome === "failed" ? [outcome.error.message] : []));
      const said = [...failed, ...reportFailures.map(({ error }) => error.message)].join("\n");
      for (const { plural } of BOTH) {
        expect(said).toContain(`The cluster's CRD ${plural}.flipop.digitalocean.com is older than this flipop`);
        expect(said).toContain(`kubectl apply -f cronjob/crds/${plural}.yaml`);
      }
    } finally {
      for (const restore of restores) await restore();
    }
    await world.pools.edit("web", { desiredIPs: 2 });
    await comeToRest(world, { isBrief: true });
    expect({ cloud: world.cloud.addresses(), names: world.dns.sets(), show: await world.show() }).toEqual(before);
    await world.close();
  });
});
