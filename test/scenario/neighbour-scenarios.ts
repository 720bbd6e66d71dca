import { expect } from "vitest";
import type { ObjectMeta, PoolStatus } from "../../src/model/resource.ts";
import type { DNSName } from "../fake/dns-account.ts";
import type { PortCall } from "../fake/slowed.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** When calls of interest began, milliseconds since the stopwatch was started. */
function stopwatch(world: World, takesMs: (call: PortCall) => number, isWanted: (call: PortCall) => boolean): number[] {
  const startMs = world.nowMs();
  const times: number[] = [];
  world.takesMs = (call) => {
    if (isWanted(call)) times.push(world.nowMs() - startMs);
    return takesMs(call);
  };
  return times;
}

function isAssignment(address: string): (call: PortCall) => boolean {
  return ({ port, method, args }) => port === "addresses" && method === "assign" && args[0] === address;
}

/** A pool of one address, and a record set of all nodes at this provider of names; both are served. */
async function besideName(world: World, provider: DNSName, ...nodes: readonly string[]): Promise<void> {
  await world.machines(...nodes);
  world.cloud.address(ip(1));
  world.dns.zone(provider);
  await world.pools.create("web", { ips: [ip(1)] });
  const dnsRecordSet = { provider, zone: "example.com", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet, addressType: "ExternalIP", match: { nodeLabel: "" } });
  await world.pass({ settle: true });
}

/** What hangs, or is slow, holds up nothing but what needs it. */
export function neighbourScenarios(scenario: Register): void {
  for (const neighbour of ["digitalocean", "cloudflare"] as const)
    scenario(`names at ${neighbour} are read for 30 s: the address of a lost node moves at once`, async (world) => {
      await besideName(world, neighbour, "n1", "n2", "n3");
      const holder = (await world.show())[0]?.split(" ").at(-1) ?? "";
      await world.nodes.setReady(holder, false);
      const hang = ({ port }: PortCall): number => (port === neighbour ? 30 * SECOND : 0);
      const moves = stopwatch(world, hang, isAssignment(ip(1)));
      await world.pass();
      world.takesMs = undefined;
      expect(moves).toHaveLength(1);
      expect(moves[0]).toBeLessThan(SECOND);
      await world.pass({ settle: true });
      expect(world.dns.addresses(neighbour, "www.example.com")).toHaveLength(2);
    });

  for (const [neighbour, settle] of [
    ["digitalocean", false],
    ["digitalocean", true],
    ["cloudflare", false],
    ["cloudflare", true],
  ] as const)
    scenario(
      `names at ${neighbour} are not read in all the time of a run${settle ? " that settles" : ""}: their record set says so, and its records stay`,
      async (world) => {
        await besideName(world, neighbour, "n1", "n2");
        const ready = async (): Promise<unknown> => {
          const { conditions } = await world.recordSets.status("www");
          return conditions.find(({ type }) => type === "Ready");
        };
        expect(await ready()).toMatchObject({ status: "True" });
        await world.nodes.setReady("n2", false);
        world.takesMs = ({ port }: PortCall): number => (port === neighbour ? 60 * SECOND : 0);
        await world.pass({ settle, deadlineMs: 20 * SECOND });
        expect(await ready()).toMatchObject({
          status: "False",
          reason: "Unreadable",
          message: expect.stringContaining("did not answer before the run ended"),
        });
        expect(world.dns.addresses(neighbour, "www.example.com")).toHaveLength(2);
        world.takesMs = undefined;
        await world.pass({ settle: true });
        expect(await ready()).toMatchObject({ status: "True" });
        expect(world.dns.addresses(neighbour, "www.example.com")).toHaveLength(1);
      },
      { onlySingleRuns: "A process that goes on waits for the answer in its next pass." },
    );

  for (const hasNeighbour of [true, false])
    scenario(
      `the provider of a deleted pool hangs${hasNeighbour ? " beside another one" : ""}: its status says at once that it is not ready`,
      async (world) => {
        await world.machines("n1");
        await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
        if (hasNeighbour) {
          world.dns.zone("cloudflare");
          const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
          await world.recordSets.create("www", { dnsRecordSet, addressType: "ExternalIP", match: { nodeLabel: "" } });
        }
        await world.pass({ settle: true });
        const { conditions } = await world.pools.status("web");
        expect(conditions.find(({ type }) => type === "Ready")).toMatchObject({ status: "True" });
        await world.pools.delete("web");
        const hang = ({ port }: PortCall): number => (port === "addresses" ? 12 * SECOND : 0);
        const told = stopwatch(world, hang, ({ method }) => method === "patchPoolStatus");
        await world.pass();
        world.takesMs = undefined;
        expect(told[0]).toBeLessThan(2 * SECOND);
        await world.pass({ settle: true });
        expect(await world.pools.existing()).toEqual([]);
        expect(world.cloud.boughtNow()).toEqual([]);
      },
      { onlySingleRuns: "a watcher knows its addresses, and begins to give them back at once" },
    );

  for (const [what, slow, mostMs] of [
    ["of a node takes 1.5 s", { readNode: 1.5 * SECOND }, 2 * SECOND],
    ["of a node takes 4 s", { readNode: 4 * SECOND }, 9 * SECOND],
    ["of an address takes 1 s", { getAddress: SECOND }, 2.5 * SECOND],
  ] as const)
    scenario(
      `each reading ${what}: the address of a lost node waits for no more of them than it must`,
      async (world) => {
        await world.machines("n1", "n2");
        world.cloud.address(ip(1));
        await world.pools.create("web", { ips: [ip(1)] });
        await world.pass({ settle: true });
        await world.nodes.setReady("n1", false);
        const takesMs = ({ method }: PortCall): number => (slow as Readonly<Record<string, number>>)[method] ?? 0;
        const moves = stopwatch(world, takesMs, isAssignment(ip(1)));
        await world.pass();
        world.takesMs = undefined;
        expect(moves).toEqual([expect.any(Number)]);
        expect(moves[0]).toBeLessThan(mostMs);
        expect(await world.show()).toEqual(["ip1 active n2"]);
      },
    );

  scenario(
    "names arrive while an assignment is put on record: the pool's next one waits for its cool-off all the same",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      world.dns.zone("cloudflare");
      await world.pools.create("web", { ips: [ip(1), ip(2)], assignmentCoolOffSeconds: 20 });
      const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
      await world.recordSets.create("www", { dnsRecordSet, addressType: "ExternalIP", match: { nodeLabel: "" } });
      const isAny = (call: PortCall): boolean => isAssignment(ip(1))(call) || isAssignment(ip(2))(call);
      const takesMs = ({ port, method }: PortCall): number =>
        method === "patchPoolStatus" ? 10 * SECOND : port === "cloudflare" ? 2 * SECOND : 0;
      const assigned = stopwatch(world, takesMs, isAny);
      await world.pass();
      world.takesMs = undefined;
      expect(assigned).toHaveLength(1);
      world.advance(21 * SECOND);
      await world.pass();
      expect(Object.values(world.cloud.addresses()).toSorted()).toEqual(["n1", "n2"]);
    },
  );

  scenario(
    "a purchase that waits for its finalizer is one of the twelve a minute, whoever buys meanwhile",
    async (world) => {
      for (const [name, desiredIPs] of Object.entries({ a: 9, b: 2, c: 9 })) {
        const reclaimPolicy = name === "a" ? "Delete" : "Retain";
        await world.pools.create(name, {
          desiredIPs,
          reclaimPolicy,
          region: "nyc3",
          match: { nodeLabel: "role=nobody" },
        });
      }
      const isPurchase = ({ method }: PortCall): boolean => method === "create";
      const takesMs = ({ method }: PortCall): number => (method === "setPoolFinalizer" ? 20 * SECOND : 0);
      const bought = stopwatch(world, takesMs, isPurchase);
      await world.pass();
      expect(bought).toHaveLength(12);
      world.takesMs = undefined;
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloud.boughtNow()).toHaveLength(20);
    },
    { onlySingleRuns: "Without a Lease the passes of a process know nothing of each other's purchases." },
  );

  scenario("an assignment takes 40 s: another pool's next candidate and status wait for none of it", async (world) => {
    await twoPools(world);
    world.fail({ side: "cloud", operation: "assign", subject: ip(2), kind: "422", times: 1 });
    const slow = (call: PortCall): number => (isAssignment(ip(1))(call) ? 40 * SECOND : 0);
    const told: number[] = [];
    const moves = stopwatch(world, slow, (call) => {
      if (isStatusOf("quick", call)) told.push(world.nowMs());
      return isAssignment(ip(2))(call);
    });
    const startMs = world.nowMs();
    await world.pass();
    world.takesMs = undefined;
    expect(moves).toHaveLength(2);
    expect(Math.max(...moves)).toBeLessThan(5 * SECOND);
    expect(told[0]).toBeLessThan(startMs + 10 * SECOND);
    expect([await world.show("slow"), await world.show("quick")]).toEqual([["ip1 active n2"], ["ip2 active n5"]]);
  });

  scenario(
    "45 pools end one after the other beside a slow one: what waits for its end is done in the same pass",
    async (world) => {
      const others = Array.from({ length: 45 }, (_, index) => index + 10);
      await twoAddresses(world);
      for (const number of others) {
        await world.machines(`n${number}`);
        await world.nodes.patch(`n${number}`, { metadata: { labels: { role: `r${number}` } } });
        world.cloud.address(ip(number));
        await world.pools.create(`p${number}`, { ips: [ip(number)], match: { nodeLabel: `role=r${number}` } });
      }
      world.fail({ side: "cloud", operation: "assign", subject: ip(2), kind: "422", times: 1 });
      world.takesMs = ({ method, args }) => {
        if (method !== "assign" || args[0] === ip(2)) return 0;
        const at = others.findIndex((number) => args[0] === ip(number));
        return 2 * (at < 0 ? others.length + 5 : at + 1) * SECOND;
      };
      await world.pass();
      world.takesMs = undefined;
      const places = (await world.show("two")).map((line) => line.split(" ").slice(0, 2).join(" "));
      expect(places).toEqual(["ip1 active", "ip2 active"]);
      const annotated = Object.values(await world.nodes.annotations()).map((text) => text.split(" ")[0]);
      expect(annotated.toSorted()).toEqual(["ip1", "ip2", ...others.map((number) => `ip${number}`)].toSorted());
    },
    { worlds: ["memory"] },
  );

  scenario(
    "a status that takes long to be written is written once, and takes back nothing that a purchase has put on record",
    async (world) => {
      const roles = ["sold", "told", "slow"] as const;
      for (const [index, role] of roles.entries()) {
        const name = `n${index + 1}`;
        await world.machines(name);
        await world.nodes.patch(name, { metadata: { labels: { role } } });
        world.cloud.address(ip(index + 1));
      }
      const match = (role: string): object => ({ match: { nodeLabel: `role=${role}` } });
      await world.pools.create("before", { ips: [ip(1)], reclaimPolicy: "Delete", ...match("sold") });
      await world.pass({ settle: true });
      await world.pools.delete("before");
      await world.pools.create("after", { desiredIPs: 1, ...match("nobody") });
      await world.pools.create("told", { ips: [ip(2)], ...match("nobody") });
      await world.pools.create("slow", { ips: [ip(3)], ...match("slow") });
      const known: string[] = [];
      let told = 0;
      world.takesMs = ({ method, args: [object, status] }) => {
        if (method === "patchPoolStatus" && (object as ObjectMeta).name.endsWith("after")) {
          const { pendingAcquisitions, acquired } = status as PoolStatus;
          known.push(`${pendingAcquisitions.length} pending, ${acquired.length} acquired`);
        }
        if (method === "patchPoolStatus" && (object as ObjectMeta).name.endsWith("told")) {
          told += 1;
          return 5 * SECOND;
        }
        return { assign: SECOND, unassign: 3 * SECOND, create: 6 * SECOND }[method] ?? 0;
      };
      await world.pass({ settle: true });
      world.takesMs = undefined;
      expect(told).toBe(1);
      const firstAt = known.indexOf("1 pending, 0 acquired");
      expect(firstAt, known.join("; ")).toBeGreaterThanOrEqual(0);
      expect(known.slice(firstAt)).not.toContain("0 pending, 0 acquired");
    },
    { worlds: ["memory"] },
  );
}

/** Pool `two` of ip1 and ip2, neither assigned, for which n1, n2 and n3 are there. */
async function twoAddresses(world: World): Promise<void> {
  const names = ["n1", "n2", "n3"];
  await world.machines(...names);
  for (const name of names) await world.nodes.patch(name, { metadata: { labels: { role: "two" } } });
  for (const number of [1, 2]) world.cloud.address(ip(number));
  await world.pools.create("two", { ips: [ip(1), ip(2)], match: { nodeLabel: "role=two" } });
}

function isStatusOf(pool: string, { method, args: [object] }: PortCall): boolean {
  return method === "patchPoolStatus" && (object as ObjectMeta).name.endsWith(pool);
}

/** ip1 of `slow` on n1 and ip2 of `quick` on n3, both just lost; n2, n4 and n5 are there for them. */
async function twoPools(world: World): Promise<void> {
  for (const [number, role] of [
    [1, "slow"],
    [2, "quick"],
  ] as const) {
    const names = role === "slow" ? ["n1", "n2"] : ["n3", "n4", "n5"];
    await world.machines(...names);
    for (const name of names) await world.nodes.patch(name, { metadata: { labels: { role } } });
    world.cloud.address(ip(number));
    await world.pools.create(role, { ips: [ip(number)], match: { nodeLabel: `role=${role}` } });
  }
  await world.pass();
  expect([await world.show("slow"), await world.show("quick")]).toEqual([["ip1 active n1"], ["ip2 active n3"]]);
  for (const name of ["n1", "n3"]) await world.nodes.setReady(name, false);
}
