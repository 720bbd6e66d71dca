import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { ip } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

test.for([
  ["pool", { ips: [ip(1)] }],
  ["pool", { desiredIPs: 1, region: "nyc3" }],
] as const)("of a %s with Delete (%j) whose status is refused the finalizer is written once", async ([, spec]) => {
  const world = new WatchWorld();
  await world.setUp("n1");
  world.cloud.address(ip(1));
  world.dns.world.zone("digitalocean");
  const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: "www", ttl: 60 };
  await world.pools.create("web", { ...spec, dnsRecordSet, reclaimPolicy: "Delete" });
  const watcher = world.watch({
    beforeCall: (operation, subject) => {
      if (operation !== "patch floatingippools.flipop.digitalocean.com/status") return undefined;
      const facts = { failure: "denied", operation, subject, status: 403 } as const;
      return { throw: new KubeError({ ...facts, message: "Cannot write: a rule refuses it." }) };
    },
  });
  await world.clock.advance(10 * 60_000);
  const writes = watcher.cluster.writes.map(({ operation }) => operation);
  expect(writes.filter((operation) => operation === "patch floatingippools.flipop.digitalocean.com").length).toBe(1);
});

test("of two pools whose statuses and nodes may not be written each is tried again after waits that grow", async () => {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)] });
  await world.pools.create("buy", { desiredIPs: 1, region: "nyc3" });
  const watcher = world.watch({
    beforeCall: (operation, subject) => {
      if (!/\/status$|patch nodes/.test(operation)) return undefined;
      return { throw: new KubeError({ failure: "forbidden", operation, subject, status: 403, message: "no" }) };
    },
  });
  for (let second = 0; second < 180; second += 1) await world.clock.advance(1000);
  const annotations = watcher.turns.flatMap((turn) =>
    turn.kind === "passed" ? turn.pass.result.outcomes.filter(({ action }) => action.kind === "annotate-node") : [],
  );
  expect(annotations.length).toBeGreaterThan(3);
  expect(annotations.length).toBeLessThan(20);
});
