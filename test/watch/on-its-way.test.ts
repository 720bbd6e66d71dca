import { expect, test } from "vitest";
import { WatchWorld } from "./watch-world.ts";

const SECOND = 1000;

test.for([
  ["IPv4", "203.0.113.1"],
  ["IPv6", "2001:db8:6::1"],
] as const)(
  "an address of %s on its way is sent once and to one node, however often others change meanwhile",
  async ([ipFamily, address]) => {
    const world = new WatchWorld();
    await world.setUp("n1", "n2", "n3");
    world.cloud.address(address, { on: "n1" });
    const match = { nodeLabel: "", podLabel: "app=web" };
    await world.pools.create("web", { desiredIPs: 0, ipFamily, ips: [address], match });
    for (const node of ["n1", "n2", "n3"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
    await world.pods.create("other", { node: "n3", labels: { app: "web" } });
    const placed = async (): Promise<string> => {
      const { state, nodeName } = (await world.pools.status("web")).ips[address] ?? {};
      return `${state} ${nodeName}`;
    };
    const watcher = world.watch();
    await world.clock.advance(3 * SECOND);
    expect(await placed()).toBe("active n1");
    world.cloud.state.settings.action_delay_ms = 20 * SECOND;
    await world.nodes.setReady("n1", false);
    const seen = new Set<string>();
    for (let step = 0; step < 72; step += 1) {
      await world.clock.advance(250);
      await world.pods.setReady("other", step % 2 === 0);
      seen.add(await placed());
    }
    expect([...seen]).toEqual(["in-progress n2"]);
    await world.clock.advance(20 * SECOND);
    expect(await placed()).toBe("active n2");
    const { recorded } = ipFamily === "IPv6" ? watcher.providerIPv6 : watcher.provider;
    expect(recorded.filter(({ operation }) => operation === "assign")).toHaveLength(1);
    watcher.stop();
    await world.clock.advance(SECOND);
  },
);
