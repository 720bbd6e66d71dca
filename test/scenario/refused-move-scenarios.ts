import { expect } from "vitest";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip, ipv6, short } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const BUSY = "Droplet already has a pending event.";

/** Only the provider in memory is waited for at no cost. */
const MEMORY = { worlds: ["memory"] } as const;

/** The provider refuses so many assignments because it is busy with a machine; 0 = all. */
function keepBusy(world: World, times: number): void {
  world.fail({ side: "cloud", operation: "assign", kind: "422", message: BUSY, times });
}

/** What was seen when an assignment was asked for. */
interface Seen {
  /** Since the first one, seconds. */
  readonly atSeconds: number;
  readonly shown: readonly string[];
}

/** Returns what the name shows at each assignment that is asked for from now on. */
function seenAtEachAttempt(world: World, name: string = WWW): readonly Seen[] {
  const seen: Seen[] = [];
  const startMs = world.nowMs();
  const look = (): void =>
    world.before("assign", async () => {
      seen.push({ atSeconds: (world.nowMs() - startMs) / SECOND, shown: world.dns.set("digitalocean", name) });
      look();
    });
  look();
  return seen;
}

/** How long an address that serves nobody was seen in the name, seconds. */
function lastSeen(seen: readonly Seen[], address: string): number {
  return Math.max(0, ...seen.filter(({ shown }) => shown.includes(address)).map(({ atSeconds }) => atSeconds));
}

/** Pool `web` has ip1 on n1 and ip2 on n2, published; the nodes that wait are there, and n1 serves no more. */
async function servedBeside(world: World, waiting: readonly string[], spec = {}): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"], spec);
  await world.machines(...waiting);
  await world.nodes.setReady("n1", false);
}

async function expectRest(world: World): Promise<void> {
  for (const seconds of [600, 600]) {
    world.advance(seconds * SECOND);
    await world.pass();
  }
  expect(world.writes()).toEqual([]);
}

/** A provider that is busy refuses a move: meanwhile no name shows what serves nobody. */
export function refusedMoveScenarios(scenario: Register): void {
  for (const waiting of [["n3"], ["n3", "n4", "n5", "n6"]])
    scenario(
      `an address whose move is refused leaves its name within two seconds, and moves in the same run, with ${waiting.length} to go to`,
      async (world) => {
        await servedBeside(world, waiting);
        keepBusy(world, 5);
        const seen = seenAtEachAttempt(world);
        await world.pass();
        expect(lastSeen(seen, short(ip(1)))).toBeLessThanOrEqual(2);
        expect(seen.map(({ atSeconds }) => Math.round(atSeconds))).toEqual([0, 1, 2, 4, 6, 11]);
        expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
        expect(await world.nodes.annotations()).toEqual({ n2: "ip2", n3: "ip1" });
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
        expect((await world.pools.status("web")).retries).toEqual([]);
        await expectRest(world);
      },
      MEMORY,
    );

  scenario(
    "an address whose move is refused everywhere stays out of its name, however many nodes are tried",
    async (world) => {
      await servedBeside(world, ["n3", "n4", "n5"]);
      keepBusy(world, 0);
      const seen = seenAtEachAttempt(world);
      await world.pass();
      expect(lastSeen(seen, short(ip(1)))).toBeLessThanOrEqual(2);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      expect(await world.nodes.annotations()).toEqual({ n2: "ip2" });
      expect(await world.show()).toEqual(["ip1 error n1 (Failed)", "ip2 active n2"]);
      world.clearFaults();
      await expectRest(world);
      expect((await world.show())[0]).toContain("ip1 active");
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    },
    MEMORY,
  );

  scenario(
    "a run that has little time takes an address whose move is refused out of its name",
    async (world) => {
      await servedBeside(world, ["n3", "n4"]);
      keepBusy(world, 0);
      await world.pass({ deadlineMs: 10 * SECOND });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      world.clearFaults();
      await expectRest(world);
    },
    MEMORY,
  );

  scenario(
    "an address that could not be moved by the last run leaves its name before the next one tries again",
    async (world) => {
      await servedBeside(world, ["n3", "n4"]);
      keepBusy(world, 0);
      await world.pass({ deadlineMs: 5 * SECOND });
      expect((await world.pools.status("web")).retries).toMatchObject([{ subject: `ip/${ip(1)}` }, {}]);
      // As if it had died before it could write the name.
      world.dns.add("digitalocean", WWW, ip(1));
      world.advance(20 * SECOND);
      const seen = seenAtEachAttempt(world);
      await world.pass();
      expect(lastSeen(seen, short(ip(1)))).toBeLessThanOrEqual(0);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      world.clearFaults();
      await expectRest(world);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    },
    { ...MEMORY, onlySingleRuns: "What watches reads the name again only when it looks, and knows its own attempts." },
  );

  scenario(
    "a move that is refused once, in passing, leaves its name as it is",
    async (world) => {
      await servedBeside(world, ["n3"]);
      keepBusy(world, 2);
      const { outcomes } = await world.pass();
      expect(outcomes.map(({ action }) => action.kind).toSorted()).toEqual([
        "annotate-node",
        "clear-annotation",
        "move-ip",
      ]);
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
      await expectRest(world);
    },
    MEMORY,
  );

  scenario(
    "an address whose move is refused stays in its name where nothing else of it serves",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1"]);
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      keepBusy(world, 5);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
      expect(await world.show()).toEqual(["ip1 active n2"]);
      await expectRest(world);
    },
    MEMORY,
  );

  scenario(
    "two addresses whose moves are refused leave their name, each as soon as it is known",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
      await world.machines("n4", "n5");
      await world.nodes.setReady("n1", false);
      await world.nodes.setReady("n2", false);
      keepBusy(world, 0);
      const seen = seenAtEachAttempt(world);
      await world.pass();
      for (const number of [1, 2]) expect(lastSeen(seen, short(ip(number)))).toBeLessThanOrEqual(4);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3"]);
      world.clearFaults();
      await expectRest(world);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
    },
    MEMORY,
  );

  scenario(
    "a record set that publishes the addresses of a pool shows none whose move is refused",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      world.dns.zone("digitalocean");
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      const addressType = "flipop.digitalocean.com/ipv4-reserved-ip";
      await world.recordSets.create("nodes", { addressType, dnsRecordSet: www("digitalocean") });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      await world.machines("n3");
      await world.nodes.setReady("n1", false);
      keepBusy(world, 5);
      const seen = seenAtEachAttempt(world);
      await world.pass();
      expect(lastSeen(seen, short(ip(1)))).toBeLessThanOrEqual(2);
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      await expectRest(world);
    },
    MEMORY,
  );

  scenario(
    "an IPv6 address whose move is refused leaves its name within two seconds",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ipv6(number));
      world.dns.zone("digitalocean");
      const ips = [ipv6(1), ipv6(2)];
      await world.pools.create("web", { ipFamily: "IPv6", ips, dnsRecordSet: www("digitalocean") });
      await world.pass();
      await world.machines("n3");
      await world.nodes.setReady("n1", false);
      keepBusy(world, 5);
      const name = `${WWW} AAAA`;
      const seen = seenAtEachAttempt(world, name);
      await world.pass();
      expect(seen).not.toEqual([]);
      expect(lastSeen(seen, short(ipv6(1)))).toBeLessThanOrEqual(2);
      expect(world.dns.set("digitalocean", name)).toEqual([ipv6(1), ipv6(2)].map(short));
      await expectRest(world);
    },
    MEMORY,
  );
}
