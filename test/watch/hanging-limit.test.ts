import { expect, test } from "vitest";
import { ProviderError } from "../../src/model/errors.ts";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
/** So long a call takes that nobody answers, milliseconds. */
const HANGS_MS = 15 * SECOND;

/** Pool `other` has ip1 on n1, and may have it on n2; n3 and n4 are for pool `more`. The account's limit is not told for 15 s. */
async function hangingLimit(): Promise<WatchWorld> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4");
  for (const [number, role] of ["other", "other", "more", "more"].entries())
    await world.nodes.patch(`n${number + 1}`, { metadata: { labels: { role } } });
  world.cloud.address(ip(1), { on: "n1" });
  await world.pools.create("other", { ips: [ip(1)], match: { nodeLabel: "role=other" } });
  world.takesMs = ({ method }) => (method === "addressLimit" ? HANGS_MS : 20);
  return world;
}

/** Pool `more` asks for an address that the account does not have. */
async function askForMore(world: WatchWorld): Promise<void> {
  await world.pools.create("more", { ips: [], desiredIPs: 1, match: { nodeLabel: "role=more" } });
}

/** How the question for the limit ends. */
const ENDS = {
  "is told": () => undefined,
  "cannot be read": ({ provider }: Pick<Watcher, "provider">) => {
    const facts = {
      provider: "digitalocean",
      failure: "unavailable",
      operation: "limit",
      subject: "",
      status: 0,
    } as const;
    provider.beforeCall = (operation) =>
      operation === "limit" ? { throw: new ProviderError({ ...facts, message: "no answer in time" }) } : undefined;
  },
} as const;

test.for(["is told", "cannot be read"] as const)(
  "an account's limit that %s only after 15 s delays no recovery of a watcher, and the purchase follows it",
  async (end) => {
    const world = await hangingLimit();
    const watcher = world.watch();
    ENDS[end](watcher);
    await world.clock.advance(70 * SECOND);
    await askForMore(world);
    await world.clock.advance(SECOND);
    await world.nodes.setReady("n1", false);
    await world.clock.advance(SECOND);
    expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
    expect((await world.pools.status("more")).ips).toEqual({});
    await world.clock.advance(HANGS_MS);
    expect(world.cloud.addresses()).toEqual({ ip1: "n2", new1: "n3" });
    world.takesMs = undefined;
    await world.clock.advance(60 * SECOND);
    const before = watcher.cluster.writes.length;
    await world.clock.advance(120 * SECOND);
    expect(watcher.cluster.writes.slice(before).filter(({ operation }) => !operation.includes("leases"))).toEqual([]);
    watcher.stop();
    await world.clock.advance(SECOND);
  },
);

test.for(["is told", "cannot be read"] as const)(
  "an account's limit that %s only after 15 s delays no recovery of a single run, which buys in the end",
  async (end) => {
    const world = await hangingLimit();
    await askForMore(world);
    await world.nodes.setReady("n1", false);
    const run = world.settle(60 * SECOND);
    ENDS[end](run);
    await world.clock.advance(SECOND);
    expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
    await world.clock.advance(HANGS_MS + 5 * SECOND);
    expect(world.cloud.addresses()).toEqual({ ip1: "n2", new1: "n3" });
    const { remaining } = await run.end;
    expect(remaining.holds).toEqual([]);
  },
);

test("an account's limit that is reached is learned beside the pass: nothing is bought", async () => {
  const world = await hangingLimit();
  world.cloud.state.account.reserved_ip_limit = 1;
  await askForMore(world);
  await world.nodes.setReady("n1", false);
  const run = world.settle(60 * SECOND);
  await world.clock.advance(SECOND);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
  await world.clock.advance(HANGS_MS + 5 * SECOND);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
  const { remaining } = await run.end;
  expect(remaining.holds.map(({ reason }) => reason)).toEqual(["QuotaExceeded"]);
  expect(run.provider.calls().map(({ operation }) => operation)).not.toContain("acquire");
});
