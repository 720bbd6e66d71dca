import { expect, test } from "vitest";
import type { PortCall } from "../fake/slowed.ts";
import { ip } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
/** So often it is looked whether something has come about, milliseconds. */
const STEP_MS = 50;

test("pods that became ready once, while a pass waits for a name that hangs, are not taken for restless ones", async () => {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3");
  for (const [at, role] of ["web", "web", "other"].entries())
    await world.nodes.patch(`n${at + 1}`, { metadata: { labels: { role } } });
  for (const node of ["n1", "n2"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
  await world.pods.setReady("web-n2", false);
  world.cloud.address(ip(1), { on: "n1" });
  world.cloud.address(ip(2), { on: "n3" });
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "role=web", podLabel: "app=web" } });
  await world.pools.create("other", { ips: [ip(2)], match: { nodeLabel: "role=other" } });
  world.dns.world.zone("cloudflare", "example.net");
  const dnsRecordSet = { provider: "cloudflare", zone: "example.net", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet });
  const watcher = world.watch();
  await world.clock.advance(30 * SECOND);
  // At the next look the name lacks everything, and writing it hangs; an address that something else works on is looked at again and again meanwhile.
  world.dns.world.remove("cloudflare", { fqdn: "www.example.net" }, "example.net");
  world.cloud.lock(ip(2));
  let isWriting = false;
  world.takesMs = ({ method }: PortCall) => {
    isWriting ||= method === "writeRecords";
    return method === "writeRecords" ? 25 * SECOND : 20;
  };
  while (!isWriting) await world.clock.advance(STEP_MS);
  await world.pods.setReady("web-n2", true);
  await world.clock.advance(8.3 * SECOND);
  await world.pods.setReady("web-n1", false);
  const lostAtMs = world.clock.monotonicMs();
  while (world.cloud.addresses()["ip1"] !== "n2" && world.clock.monotonicMs() - lostAtMs < 30 * SECOND)
    await world.clock.advance(STEP_MS);
  expect(world.clock.monotonicMs() - lostAtMs).toBeLessThan(500);
  watcher.stop();
  world.takesMs = undefined;
  await world.clock.advance(60 * SECOND);
});
