import { expect } from "vitest";
import { NOT_BEGUN, type RunLimits, RunRestraint } from "../../src/model/restraint.ts";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const CORDONED = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

const ONLY_SINGLE = { onlySingleRuns: "the limits are those of a single run" };

function limited(limits: RunLimits): RunRestraint {
  return new RunRestraint({ limits, begun: NOT_BEGUN });
}

/** A run that leaves what cannot be undone, but for what was confirmed. */
function asking(...confirmed: readonly string[]): RunRestraint {
  return new RunRestraint({ limits: {}, confirmed: new Set(confirmed), begun: NOT_BEGUN });
}

/** Pool `web` with two addresses that flipop acquired, on n1 and n2, and `reclaimPolicy: Delete`. */
async function bought(world: World, desiredIPs = 2): Promise<readonly string[]> {
  await world.machines("n1", "n2");
  world.dns.zone("digitalocean");
  const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: "www" };
  await world.pools.create("web", { desiredIPs, region: "nyc3", reclaimPolicy: "Delete", dnsRecordSet });
  await world.pass();
  const { acquired } = await world.pools.status("web");
  expect(acquired).toHaveLength(desiredIPs);
  return acquired.map((one) => one.ip);
}

async function heldFor(world: World, reason: string): Promise<readonly string[]> {
  return (await world.plan()).holds.filter((hold) => hold.reason === reason).map(({ subject }) => subject);
}

/** What one run may take from anybody, and what waits for a person. */
export function limitScenarios(scenario: Register): void {
  scenario(
    "--max-purchases: the senior pool first, the rest in later runs; nothing is lost",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      // The senior one also by name: an API server tells ages apart by whole seconds.
      await world.pools.create("mail", { desiredIPs: 2, region: "nyc3" });
      world.advance(1000);
      await world.pools.create("web", { desiredIPs: 1, region: "nyc3" });
      const acquired = async (): Promise<readonly number[]> =>
        await Promise.all(["mail", "web"].map(async (pool) => (await world.pools.status(pool)).acquired.length));
      const { remaining } = await world.pass({ restraint: limited({ purchases: 1 }), settle: true });
      expect(await acquired()).toEqual([1, 0]);
      const limits = remaining.holds.filter(({ reason }) => reason === "Limited");
      expect(limits.map(({ missing }) => missing)).toEqual([
        { count: 1, desired: 2 },
        { count: 1, desired: 1 },
      ]);
      await world.pass({ restraint: limited({ purchases: 0 }), settle: true });
      expect(await acquired()).toEqual([1, 0]);
      await world.pass({ restraint: limited({ purchases: 1 }), settle: true });
      expect(await acquired()).toEqual([2, 0]);
      await world.pass({ restraint: limited({ purchases: 7 }), settle: true });
      expect(await acquired()).toEqual([2, 1]);
    },
    ONLY_SINGLE,
  );

  scenario(
    "--max-removals: one address a run leaves its name, its node and the account; the others serve",
    async (world) => {
      const ips = await bought(world);
      await world.pools.edit("web", { desiredIPs: 1 });
      await world.pass({ restraint: limited({ removals: 0 }), settle: true });
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([...ips].toSorted());
      expect(Object.keys(await world.nodes.annotations())).toEqual(["n1", "n2"]);
      const { remaining } = await world.pass({ restraint: limited({ removals: 1 }), settle: true });
      expect(remaining.holds.filter(({ reason }) => reason === "Limited")).toEqual([]);
      expect((await world.pools.status("web")).acquired).toHaveLength(1);
    },
    { ...ONLY_SINGLE, checksAnnotations: false },
  );

  scenario(
    "--max-removals 0: an address that the spec asks for no longer stays in its name, also on a cordoned node",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
      await world.nodes.patch("n3", { spec: { taints: [CORDONED] } });
      await world.pools.edit("web", { desiredIPs: 2 });
      await world.pass({ restraint: limited({ removals: 0 }), settle: true });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2", n3: "ip3" });
      await world.pass({ restraint: limited({ removals: 1 }), settle: true });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    },
    { ...ONLY_SINGLE, checksAnnotations: false },
  );

  scenario(
    "--max-voluntary-moves 0: a cordoned node keeps its address, its record and its annotation; a failed one is left at once",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.machines("n3", "n4");
      await world.nodes.patch("n1", { spec: { taints: [CORDONED] } });
      await world.nodes.setReady("n2", false);
      await world.pass({ restraint: limited({ voluntaryMoves: 0 }), settle: true });
      expect(world.cloudWrites()).toEqual(["assign ip2 to n3"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      expect(Object.keys(await world.nodes.annotations())).toEqual(["n1", "n3"]);
      await world.pass({ settle: true });
    },
    ONLY_SINGLE,
  );

  scenario(
    "--max-voluntary-moves 1: an address that has drained moves before one of a senior pool leaves its name",
    async (world) => {
      await world.machines("n1", "n2", "n3", "n4");
      for (const number of [1, 2, 3, 4]) world.cloud.address(ip(number));
      world.dns.zone("digitalocean");
      // The senior one also by name: an API server tells ages apart by whole seconds.
      await world.pools.create("mail", {
        ips: [ip(1), ip(2)],
        dnsRecordSet: www("digitalocean", { recordName: "mail" }),
      });
      await world.pass({ settle: true });
      world.advance(1000);
      await world.pools.create("web", { ips: [ip(3), ip(4)], dnsRecordSet: www("digitalocean") });
      await world.pass({ settle: true });
      await world.machines("n5", "n6");
      const run = async (): Promise<readonly string[]> => {
        await world.pass({ restraint: limited({ voluntaryMoves: 1 }) });
        world.advance(61_000);
        return [...world.cloudWrites(), ...world.dnsWrites()];
      };
      await world.nodes.patch("n3", { spec: { taints: [CORDONED] } });
      await run();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip4"]);
      await world.nodes.patch("n1", { spec: { taints: [CORDONED] } });
      expect((await run()).slice(0, 1)).toEqual(["assign ip3 to n5"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3", "ip4"]);
      expect(world.dns.set("digitalocean", "mail.example.com")).toEqual(["ip1", "ip2"]);
      await run();
      await run();
      expect(await world.show("mail")).toEqual(["ip1 active n6", "ip2 active n2"]);
      expect(world.dns.set("digitalocean", "mail.example.com")).toEqual(["ip1", "ip2"]);
    },
    ONLY_SINGLE,
  );

  scenario(
    "--max-voluntary-moves 1: of two addresses that have drained one moves, and the other stays out of its name until it is its turn",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2", "n3"], { maxUnavailable: 2 });
      await world.machines("n4", "n5");
      for (const node of ["n1", "n2"]) await world.nodes.patch(node, { spec: { taints: [CORDONED] } });
      const shown: (readonly string[])[] = [];
      const run = async (afterMs: number, voluntaryMoves = 1): Promise<void> => {
        world.advance(afterMs);
        await world.pass({ restraint: limited({ voluntaryMoves }) });
        shown.push(world.dns.set("digitalocean", WWW));
      };
      await run(0);
      await run(1000);
      await run(61_000);
      await run(1000, 0);
      await run(1000);
      expect(shown).toEqual([["ip2", "ip3"], ["ip3"], ["ip1", "ip3"], ["ip1", "ip3"], ["ip1", "ip2", "ip3"]]);
      expect(await world.show("web")).toEqual(["ip1 active n4", "ip2 active n5", "ip3 active n3"]);
    },
    ONLY_SINGLE,
  );

  scenario(
    "--max-voluntary-moves: an address that waits out of its name for its turn goes back once nothing else serves",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.machines("n3", "n4");
      await world.nodes.patch("n1", { spec: { taints: [CORDONED] } });
      await world.pass({ restraint: limited({ voluntaryMoves: 1 }) });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      world.advance(61_000);
      await world.pass({ restraint: limited({ voluntaryMoves: 0 }) });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      await world.nodes.setReady("n2", false);
      world.fail({ side: "cloud", operation: "assign", kind: "422", times: 2 });
      await world.pass({ restraint: limited({ voluntaryMoves: 0 }) });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
      await world.pass({ settle: true });
    },
    ONLY_SINGLE,
  );

  scenario(
    "a recovery gets the node that a withheld move would have taken",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.machines("n3");
      await world.nodes.patch("n1", { spec: { taints: [CORDONED] } });
      await world.nodes.setReady("n2", false);
      await world.pass({ restraint: limited({ voluntaryMoves: 0 }), settle: true });
      expect(world.cloudWrites()).toEqual(["assign ip2 to n3"]);
      await world.pass({ settle: true });
    },
    ONLY_SINGLE,
  );

  scenario(
    "what cannot be undone waits for a person, and recoveries do not",
    async (world) => {
      const ips = await bought(world);
      await world.machines("n3");
      await world.pools.edit("web", { desiredIPs: 1 });
      world.cloud.address(ip(5));
      await world.pools.create("mail", { ips: [ip(5)] });
      const { remaining, outcomes } = await world.pass({ restraint: asking(), settle: true });
      expect(remaining.toConfirm?.map(({ kind }) => kind)).toEqual(["delete-ip"]);
      expect(outcomes.map(({ action }) => action.kind)).toContain("assign-ip");
      expect((await world.pools.status("web")).acquired).toHaveLength(2);
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([...ips].toSorted());
      const [asked = ""] = remaining.toConfirm?.flatMap(({ takes = [] }) => takes.map(({ what }) => what)) ?? [];
      await world.pass({ restraint: asking("203.0.113.99"), settle: true });
      expect((await world.pools.status("web")).acquired).toHaveLength(2);
      await world.pass({ restraint: asking(asked), settle: true });
      expect((await world.pools.status("web")).acquired.map((one) => one.ip)).toEqual(
        ips.filter((one) => one !== asked),
      );
      expect(await heldFor(world, "NotConfirmed")).toEqual([]);
    },
    ONLY_SINGLE,
  );

  scenario(
    "the deletion of an object is asked for: its name and its addresses stay, and so does its finalizer",
    async (world) => {
      const ips = await bought(world);
      await world.pools.delete("web");
      const { remaining } = await world.pass({ restraint: asking(), settle: true });
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
      expect(remaining.toConfirm?.map(({ kind }) => kind).toSorted()).toEqual(["delete-dns", "delete-ip", "delete-ip"]);
      expect(await world.pools.finalizers("web")).toHaveLength(1);
      world.dnsSafety.allowEnd(WWW);
      await world.pass({ restraint: asking(WWW, ...ips), settle: true });
      expect(await world.pools.read("web")).toBeUndefined();
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([]);
    },
    ONLY_SINGLE,
  );

  scenario(
    "a takeover is asked for",
    async (world) => {
      await world.machines("n1");
      world.cloud.droplet(999);
      world.cloud.address(ip(1), { on: 999 });
      await world.pools.create("web", { ips: [ip(1)], foreignHolder: "TakeOver" });
      const { remaining } = await world.pass({ restraint: asking(), settle: true });
      expect(world.cloudWrites()).toEqual([]);
      expect(remaining.toConfirm?.map(({ impact }) => impact)).toEqual(["takeover"]);
      await world.pass({ restraint: asking(ip(1)), settle: true });
      expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    },
    ONLY_SINGLE,
  );

  scenario(
    "a run that dies under a limit: the next one carries on, and counts anew",
    async (world) => {
      await bought(world);
      await world.pools.edit("web", { desiredIPs: 1 });
      for (let write = 1; write < 20; write += 1)
        if (!(await world.crash(write, { restraint: limited({ removals: 1 }), settle: true }))) break;
      await world.pass({ settle: true });
      expect((await world.pools.status("web")).acquired).toHaveLength(1);
    },
    ONLY_SINGLE,
  );
}
