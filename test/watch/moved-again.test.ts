import { expect, test } from "vitest";
import { WatchWorld } from "./watch-world.ts";

const ACTION_MS = 2000;

/**
 * One address, three nodes. The node of the address fails every ten seconds, and pods of others change four times a second: no pass has the time to see the end of a move.
 * Returns how long each move took, from the failure until the provider was asked, milliseconds.
 */
async function failovers(count: number): Promise<readonly number[]> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3");
  world.cloud.state.settings.action_delay_ms = ACTION_MS;
  world.cloud.address("203.0.113.1", { on: "n1" });
  await world.pools.create("web", {
    desiredIPs: 0,
    ips: ["203.0.113.1"],
    match: { nodeLabel: "", podLabel: "app=web" },
  });
  for (const node of ["n1", "n2", "n3"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
  await world.pods.create("other", { node: "n3", labels: { app: "web" } });
  const watcher = world.watch();
  await world.clock.advance(3000);
  const tookMs: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const failing = world.cloud.addresses()["ip1"] ?? "";
    const failedAtMs = world.clock.monotonicMs();
    await world.nodes.setReady(failing, false);
    let askedAtMs: number | undefined;
    const asked = watcher.provider.recorded.length;
    for (let step = 0; step < 40; step += 1) {
      await world.clock.advance(250);
      await world.pods.setReady("other", step % 2 === 0);
      if (watcher.provider.recorded.slice(asked).some(({ operation }) => operation === "assign"))
        askedAtMs ??= world.clock.monotonicMs();
    }
    tookMs.push((askedAtMs ?? Number.POSITIVE_INFINITY) - failedAtMs);
    await world.nodes.setReady(failing, true);
  }
  watcher.stop();
  await world.clock.advance(100);
  return tookMs;
}

test("an address that fails over again and again is moved each time at once", async () => {
  expect(await failovers(8)).toEqual(Array.from({ length: 8 }, () => 250));
});
