import { expect, test } from "vitest";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const MINUTE_MS = 60_000;

/** Pool `web` with ip1 on n1, and two nodes that wait for an address; for a minute one of them has a label every other half second by which it does not match, and at last it has not. Its value is another one each time: from what comes back so often the node would have to rest. */
async function churned(): Promise<{
  readonly world: WatchWorld;
  readonly watcher: Watcher;
}> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "!off" } });
  const watcher = world.watch();
  await world.clock.advance(5000);
  watcher.cluster.writes.length = 0;
  for (let isOn = false, atMs = 0; atMs < MINUTE_MS; atMs += 500, isOn = !isOn) {
    await world.nodes.patch("n3", { metadata: { labels: { off: isOn ? null : `since-${atMs}` } } });
    await world.clock.advance(500);
  }
  return { world, watcher };
}

function statusWrites({ cluster }: Watcher): number {
  return cluster.writes.filter(({ operation }) => operation.includes("status")).length;
}

test("nodes that never rest and are only told of make a status be written every ten seconds", async () => {
  const { watcher } = await churned();
  expect(statusWrites(watcher)).toBeGreaterThan(5);
  expect(statusWrites(watcher)).toBeLessThanOrEqual(14);
  watcher.stop();
});

test("what was held back is written within ten seconds, though nothing else happens", async () => {
  const { world, watcher } = await churned();
  await world.nodes.setReady("n2", false);
  await world.clock.advance(10_500);
  expect((await world.pools.read("web"))?.status).toMatchObject({ assignableNodes: ["n3"] });
  const written = statusWrites(watcher);
  await world.clock.advance(MINUTE_MS);
  expect(statusWrites(watcher), "at rest").toBe(written);
  watcher.stop();
});

test("among nodes that never rest a failover is told at once", async () => {
  const { world, watcher } = await churned();
  await world.nodes.setReady("n1", false);
  await world.clock.advance(1000);
  expect((await world.pools.read("web"))?.status).toMatchObject({
    ips: { [ip(1)]: { state: "active", nodeName: "n2" } },
  });
  watcher.stop();
});

test("after twenty seconds of quiet a change is told at once again", async () => {
  const { world, watcher } = await churned();
  await world.clock.advance(20_000);
  await world.nodes.setReady("n2", false);
  await world.clock.advance(500);
  expect((await world.pools.read("web"))?.status).toMatchObject({ assignableNodes: ["n3"] });
  watcher.stop();
});
