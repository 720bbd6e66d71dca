import { expect, test } from "vitest";
import { ProviderError } from "../../src/model/errors.ts";
import { ip } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
/** So long another process is at work on ip1, which the provider does not show, milliseconds. */
const BUSY_MS = 20 * SECOND;

/** What came of a failover of ip1, which the provider refuses for {@link BUSY_MS}; times are milliseconds since its node failed. */
interface BusyFailover {
  readonly sentAtMs: readonly number[];
  readonly otherMs: number;
}

/** Pool `web` has ip1 on n1 and can have it on n2 and n5, pool `api` has ip2 on n3 and can have it on n4. The node of ip2 fails 5 s after that of ip1. */
async function busyFailover(meanwhile: (world: WatchWorld, step: number) => Promise<void>): Promise<BusyFailover> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4", "n5");
  for (const [number, role] of ["web", "web", "api", "api", "web"].entries())
    await world.nodes.patch(`n${number + 1}`, { metadata: { labels: { role } } });
  for (const [number, role] of ["web", "api"].entries()) {
    world.cloud.address(ip(number + 1), { on: `n${2 * number + 1}` });
    await world.pools.create(role, { ips: [ip(number + 1)], match: { nodeLabel: `role=${role}` } });
  }
  const watcher = world.watch();
  world.takesMs = () => 20;
  await world.clock.advance(10 * SECOND);
  const lostMs = world.clock.monotonicMs();
  const sinceMs = (): number => world.clock.monotonicMs() - lostMs;
  const sentAtMs: number[] = [];
  watcher.provider.beforeCall = (operation, subject) => {
    if (operation !== "assign" || subject !== ip(1)) return undefined;
    sentAtMs.push(sinceMs());
    const facts = { provider: "digitalocean", failure: "busy", operation, subject, status: 423 } as const;
    return sinceMs() < BUSY_MS
      ? { throw: new ProviderError({ ...facts, message: "an action is running" }) }
      : undefined;
  };
  await world.nodes.setReady("n1", false);
  let otherMs = Number.POSITIVE_INFINITY;
  for (let step = 0; step < 400; step += 1) {
    if (step === 50) await world.nodes.setReady("n3", false);
    await meanwhile(world, step);
    await world.clock.advance(100);
    if (world.cloud.addresses()["ip2"] === "n4") otherMs = Math.min(otherMs, sinceMs() - 5 * SECOND);
  }
  expect(world.cloud.addresses()).toEqual({ ip1: expect.stringMatching(/n[25]/), ip2: "n4" });
  await world.clock.advance(60 * SECOND);
  const written = (): number =>
    watcher.cluster.writes.filter(({ operation }) => !operation.includes("leases")).length + sentAtMs.length;
  const before = written();
  await world.clock.advance(120 * SECOND);
  expect(written()).toBe(before);
  watcher.stop();
  await world.clock.advance(SECOND);
  return { sentAtMs, otherMs };
}

test.for([
  ["nothing else", async () => undefined],
  [
    "labels of nodes change all the time",
    async (world: WatchWorld, step: number) => {
      if (step % 4 === 0) await world.nodes.patch("n2", { metadata: { labels: { step: `${step}` } } });
    },
  ],
] as const)(
  "an address that is busy for 20 s is waited for over passes, and holds up no other (%s)",
  async ([, meanwhile]) => {
    const { sentAtMs, otherMs } = await busyFailover(meanwhile);
    expect(sentAtMs.length).toBeLessThanOrEqual(10);
    expect(sentAtMs.at(-1)).toBeLessThanOrEqual(BUSY_MS + 5.5 * SECOND);
    expect(otherMs).toBeLessThan(500);
  },
);
