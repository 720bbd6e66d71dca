import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { ip } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

test("a settling run whose passes achieve nothing looks less and less often", async () => {
  const world = new WatchWorld();
  await world.setUp("n1");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)] });
  const { cluster, end } = world.settle(120_000);
  let attempts = 0;
  cluster.beforeCall = (operation, subject) => {
    if (operation !== "patch nodes") return undefined;
    attempts += 1;
    return { throw: new KubeError({ failure: "not-found", operation, subject, status: 404, message: "It is gone." }) };
  };
  await world.clock.advance(125_000);
  const { remaining } = await end;
  expect(remaining.actions).toMatchObject([{ kind: "annotate-node" }]);
  expect(attempts).toBeGreaterThan(5);
  expect(attempts).toBeLessThan(24);
});
