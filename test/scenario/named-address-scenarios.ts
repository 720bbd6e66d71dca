import { expect } from "vitest";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;
const CORDON = {
  spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
};

/** A RoutedIP that serves with the address that flipop bought for it, published as www.example.com. */
async function serving(
  world: World,
  nodes: readonly string[],
  {
    policy = "Retain",
    isPublished = true,
  }: { readonly policy?: "Retain" | "Delete"; readonly isPublished?: boolean } = {},
): Promise<void> {
  await routedScene(world, nodes, { routedIPReclaimPolicy: policy });
  world.dns.zone("digitalocean", "example.com");
  const name = isPublished ? { dnsRecordSet: { zone: "example.com", recordName: "www" } } : {};
  await world.routedIPs.create("vip", name);
  await world.pass();
  expect(await world.showRouted()).toEqual(["new1 active n1"]);
}

function published(world: World): readonly string[] {
  return world.dns.addresses("digitalocean", "www.example.com");
}

async function condition(world: World, type: "Ready" | "Reconciling" | "Stalled"): Promise<string> {
  const { conditions } = await world.routedIPs.status("vip");
  const found = conditions.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
}

/** What changed at providers and on nodes, in order. */
function changes(world: World): readonly string[] {
  return world.writes().filter((line) => !/^(status|event|note|finalizer)\b/.test(line));
}

/** A pass after which everything is as before. */
async function passIdly(world: World): Promise<void> {
  await world.pass();
  expect(changes(world)).toEqual([]);
}

/** What keeps the named address from being used, and how it ends. */
const OBSTACLES: readonly {
  readonly name: string;
  readonly make: (world: World) => Promise<void> | void;
  readonly end: (world: World) => Promise<void> | void;
  readonly state: string;
  /** Why a person must act; absent = nobody must. */
  readonly stalled?: string;
}[] = [
  {
    name: "does not exist",
    make: () => undefined,
    end: (world) => world.cloud.address(ip(1)),
    state: "ip1 error (IPNotFound)",
    stalled: "IPNotFound",
  },
  {
    name: "belongs to a pool",
    make: async (world) => {
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "role=none" } });
      await world.pass();
    },
    end: (world) => world.pools.delete("web"),
    state: "ip1 error (Conflict)",
    stalled: "Conflict",
  },
  {
    name: "is on a droplet outside the cluster",
    make: (world) => {
      world.cloud.droplet(900);
      world.cloud.address(ip(1), { on: 900 });
    },
    end: (world) => world.routedIPs.edit("vip", { foreignHolder: "TakeOver" }),
    state: "ip1 error (ForeignHolder)",
    stalled: "ForeignHolder",
  },
  {
    name: "is being worked on by somebody else",
    make: (world) => {
      world.cloud.address(ip(1));
      world.cloud.lock(ip(1));
    },
    end: (world) => world.cloud.lock(ip(1), false),
    state: "ip1 in-progress (InProgress)",
  },
  {
    name: "is in another region",
    make: (world) => world.cloud.address(ip(1), { region: "ams3" }),
    end: (world) => {
      world.cloud.removeAddress(ip(1));
      world.cloud.address(ip(1));
    },
    state: "ip1 unassigned (RegionMismatch)",
    stalled: "RegionMismatch",
  },
];

/** A RoutedIP that is given an address while it serves with a bought one. */
export function namedAddressScenarios(scenario: Register): void {
  scenario(
    "an address that is named is brought to another node and published before the bought one leaves DNS",
    async (world) => {
      await serving(world, ["n1", "n2"]);
      world.cloud.address(ip(1));
      await world.routedIPs.edit("vip", { address: ip(1) });
      await world.pass();
      expect(changes(world)).toEqual([
        "add n2 to web",
        "assign ip1 to n2",
        "annotate n2",
        "do add ip1 to www.example.com",
        "do remove new1 from www.example.com",
        "annotate n1",
        "remove n1 from web",
      ]);
      expect(await world.showRouted()).toEqual(["ip1 active n2", "new1 disabled n1 (AboveDesired)"]);
      expect(world.cloud.addresses()).toEqual({ ip1: "n2", new1: "n1" });
      const { address, acquired, released } = await world.routedIPs.status("vip");
      expect([address, acquired.map((one) => one.ip), released]).toMatchObject([
        ip(1),
        [bought(1)],
        [{ ip: bought(1), providerID: "digitalocean://101", acquired: true }],
      ]);
      expect(await condition(world, "Ready")).toBe("True Ready");
      await world.pods.setReady("web-n2", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n1 to web", "unassign new1", "assign ip1 to n1", "remove n2 from web"]);
      expect((await world.routedIPs.status("vip")).released).toEqual([]);
    },
  );

  scenario("an address that is named is swapped for the bought one where there is one node", async (world) => {
    await serving(world, ["n1"]);
    world.cloud.address(ip(1));
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    expect(changes(world)).toEqual([
      "unassign new1",
      "assign ip1 to n1",
      "annotate n1",
      "do add ip1 to www.example.com",
      "do remove new1 from www.example.com",
    ]);
    expect(world.cloud.addresses()).toEqual({ ip1: "n1", new1: "-" });
    expect(await world.showRouted()).toEqual(["ip1 active n1", "new1 disabled (AboveDesired)"]);
  });

  for (const nodes of [["n1", "n2"], ["n1"]])
    scenario(
      `with Delete the bought address is given back once the named one serves, on ${nodes.length} nodes`,
      async (world) => {
        await serving(world, nodes, { policy: "Delete" });
        world.cloud.address(ip(1));
        await world.routedIPs.edit("vip", { address: ip(1) });
        await world.pass();
        const first = changes(world);
        // Beside the named one the bought one has left DNS, and stays until no resolver has it.
        world.advance(61_000);
        await world.pass();
        const done = [...first, ...changes(world)];
        expect(done).toContain("delete new1");
        expect(done.indexOf("do remove new1 from www.example.com")).toBeGreaterThan(
          done.indexOf("do add ip1 to www.example.com"),
        );
        expect(done.filter((line) => line === "unassign new1")).toHaveLength(1);
        expect([published(world), world.cloud.boughtNow()]).toEqual([[ip(1)], []]);
        const { acquired, released } = await world.routedIPs.status("vip");
        expect([acquired, released]).toEqual([[], []]);
        await world.routedIPs.delete("vip");
        world.dnsSafety.allowEnd("www.example.com");
        await world.pass();
        expect(world.cloud.missing()).toEqual([]);
      },
    );

  for (const policy of ["Retain", "Delete"] as const)
    for (const { name, make, end, state, stalled } of OBSTACLES) {
      scenario(
        `with ${policy} a named address that ${name} takes nothing from the bought one, until that ends`,
        async (world) => {
          await serving(world, ["n1"], { policy });
          await make(world);
          await world.routedIPs.edit("vip", { address: ip(1) });
          await passIdly(world);
          expect(await world.showRouted()).toEqual([state, "new1 active n1"]);
          expect((await world.routedIPs.status("vip")).address).toBe(bought(1));
          expect(published(world)).toEqual([bought(1)]);
          const expected = stalled === undefined ? "False NotStalled" : `True ${stalled}`;
          expect(await condition(world, "Stalled")).toBe(expected);
          world.advance(10 * MINUTE_MS);
          await passIdly(world);
          await end(world);
          world.advance(MINUTE_MS);
          await world.pass();
          expect(published(world)).toEqual([ip(1)]);
          expect(world.cloud.addresses()["ip1"]).toBe("n1");
          expect(await condition(world, "Ready")).toBe("True Ready");
        },
      );
    }

  scenario("a named address that cannot be read takes nothing from the bought one", async (world) => {
    await serving(world, ["n1", "n2"]);
    world.cloud.address(ip(1));
    await world.routedIPs.edit("vip", { address: ip(1) });
    world.fail({ side: "cloud", operation: "list", kind: "500", times: 0 });
    world.fail({ side: "cloud", operation: "get", subject: ip(1), kind: "500", times: 0 });
    await passIdly(world);
    expect((await world.showRouted())[1]).toBe("new1 active n1");
    world.clearFaults();
    world.advance(MINUTE_MS);
    await world.pass();
    expect(published(world)).toEqual([ip(1)]);
  });

  for (const policy of ["Retain", "Delete"] as const)
    scenario(
      `with ${policy} a swap that fails brings the bought address back, and is tried again ten minutes later`,
      async (world) => {
        await serving(world, ["n1"], { policy });
        world.cloud.address(ip(1));
        world.cloud.state.settings.fail_actions_of = [ip(1)];
        await world.routedIPs.edit("vip", { address: ip(1) });
        const assigned: string[] = [];
        for (let pass = 0; pass < 9; pass += 1) {
          await world.pass();
          assigned.push(...world.cloudWrites().filter((line) => line.startsWith("assign")));
          world.advance(MINUTE_MS);
        }
        expect(assigned).toEqual(["assign ip1 to n1", "assign new1 to n1"]);
        expect(await world.showRouted()).toContain("new1 active n1");
        expect([await condition(world, "Ready"), published(world)]).toEqual([
          "False WaitingForAssignment",
          [bought(1)],
        ]);
        world.cloud.state.settings.fail_actions_of = [];
        world.advance(20 * MINUTE_MS);
        await world.pass();
        expect(await world.showRouted()).toContain("ip1 active n1");
        expect(published(world)).toEqual([ip(1)]);
      },
      { onlySingleRuns: "a process that goes on tries again before the next minute" },
    );

  for (const before of ["", ip(2)])
    scenario(
      `a node stays behind the firewall while DNS still shows the ${before === "" ? "bought" : "former"} address on it`,
      async (world) => {
        await serving(world, ["n1", "n2"]);
        if (before !== "") {
          world.cloud.address(before, { on: "n2" });
          await world.routedIPs.edit("vip", { address: before });
          await world.pass();
        }
        const [node, shown] = before === "" ? ["n1", bought(1)] : ["n2", before];
        const other = node === "n1" ? "n2" : "n1";
        if (other === "n1") world.cloud.put(bought(1), undefined);
        world.cloud.address(ip(1));
        await world.routedIPs.edit("vip", { address: ip(1) });
        world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "500", times: 0 });
        await world.pass();
        expect(world.cloudWrites()).toEqual([`add ${other} to web`, `assign ip1 to ${other}`]);
        expect(published(world)).toEqual([ip(1), shown].toSorted());
        world.clearFaults();
        world.advance(10 * MINUTE_MS);
        await world.pass();
        expect([published(world), world.cloudWrites()]).toEqual([[ip(1)], [`remove ${node} from web`]]);
      },
    );

  scenario("naming the bought address itself changes nothing, and makes it the owner's", async (world) => {
    await serving(world, ["n1"], { policy: "Delete" });
    await world.routedIPs.edit("vip", { address: bought(1) });
    await passIdly(world);
    expect(await world.showRouted()).toEqual(["new1 active n1"]);
    await world.routedIPs.delete("vip");
    world.dnsSafety.allowEnd("www.example.com");
    await world.pass();
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  for (const nodes of [["n1", "n2"], ["n1"]])
    scenario(
      `an address that is named and taken away again gives way to the bought one, on ${nodes.length} nodes`,
      async (world) => {
        await serving(world, nodes);
        world.cloud.address(ip(1));
        await world.routedIPs.edit("vip", { address: ip(1) });
        await world.pass();
        expect(published(world)).toEqual([ip(1)]);
        await world.routedIPs.edit("vip", { address: null });
        await world.pass();
        expect(published(world)).toEqual([bought(1)]);
        expect(await world.showRouted()).toEqual(["new1 active n1"]);
        expect(world.cloud.boughtNow()).toEqual([bought(1)]);
        await world.routedIPs.edit("vip", { address: ip(1) });
        await world.pass();
        expect([published(world), world.cloud.boughtNow()]).toEqual([[ip(1)], [bought(1)]]);
      },
    );

  scenario("an address that is named and taken away again before a pass changes nothing", async (world) => {
    await serving(world, ["n1"]);
    world.cloud.address(ip(1));
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.routedIPs.edit("vip", { address: null });
    await passIdly(world);
  });

  scenario("with Delete an address that is taken away again is bought anew, one at a time", async (world) => {
    await serving(world, ["n1"], { policy: "Delete" });
    world.cloud.address(ip(1));
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    await world.routedIPs.edit("vip", { address: null });
    await world.pass();
    world.advance(MINUTE_MS);
    await world.pass();
    expect(await world.showRouted()).toEqual(["new2 active n1"]);
    expect([published(world), world.cloud.boughtNow(), world.cloud.missing()]).toEqual([[bought(2)], [bought(2)], []]);
  });

  scenario(
    "an address that is named while the answer of a purchase is open is used, and the bought one found and kept",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await world.routedIPs.create("vip", {});
      world.fail({ side: "cloud", operation: "create", kind: "lost-answer" });
      await world.pass();
      world.cloud.address(ip(1));
      await world.routedIPs.edit("vip", { address: ip(1) });
      for (let pass = 0; pass < 4; pass += 1) {
        world.advance(20_000);
        await world.pass();
      }
      expect((await world.showRouted())[0]).toMatch(/^ip1 active n[12]$/);
      const { acquired, pendingAcquisitions } = await world.routedIPs.status("vip");
      expect([acquired.map((one) => one.ip), pendingAcquisitions]).toEqual([[bought(1)], []]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
  );

  scenario("an address that is named while the bought one serves nowhere goes to the next free node", async (world) => {
    await serving(world, ["n1", "n2"]);
    world.cloud.address(ip(1));
    await world.pods.setReady("web-n1", false);
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign ip1 to n2", "remove n1 from web"]);
    expect([published(world), world.cloud.addresses()]).toEqual([[ip(1)], { ip1: "n2", new1: "n1" }]);
  });

  scenario("a named address that cannot go to the node leaves a failover to the bought one", async (world) => {
    await serving(world, ["n1", "n2"]);
    world.cloud.address(ip(1), { region: "ams3" });
    await world.pods.setReady("web-n1", false);
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2", "remove n1 from web"]);
    expect(published(world)).toEqual([bought(1)]);
  });

  scenario("a named address that somebody attached to another matching node is used as it is", async (world) => {
    await serving(world, ["n1", "n2"]);
    world.cloud.address(ip(1), { on: "n2" });
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "remove n1 from web"]);
    expect([published(world), await world.nodes.annotations()]).toEqual([[ip(1)], { n2: "ip1 of routedip/shop/vip" }]);
  });

  scenario("a named address that vanishes after it served gives way to the bought one", async (world) => {
    await serving(world, ["n1", "n2"]);
    world.cloud.address(ip(1));
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    world.cloud.removeAddress(ip(1));
    world.advance(MINUTE_MS);
    await world.pass();
    expect(await world.showRouted()).toEqual(["ip1 error (IPNotFound)", "new1 active n1"]);
    expect([published(world), await condition(world, "Stalled")]).toEqual([[bought(1)], "True IPNotFound"]);
  });

  scenario("a named address without a node to go to stays the one in use", async (world) => {
    await serving(world, ["n1"]);
    world.cloud.address(ip(1));
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    await world.pods.setReady("web-n1", false);
    await passIdlyButAnnotations(world);
    expect(await world.showRouted()).toEqual(["ip1 no-match n1 (NoCandidate)", "new1 disabled (AboveDesired)"]);
    expect((await world.routedIPs.status("vip")).address).toBe(ip(1));
    await world.machines("n2");
    await world.pods.create("web-n2", { node: "n2", labels: { app: "web" } });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign ip1 to n2", "remove n1 from web"]);
  });

  scenario(
    "a suspended RoutedIP whose address is named shows what it has, and swaps once it goes on",
    async (world) => {
      await serving(world, ["n1"]);
      world.cloud.address(ip(1));
      await world.routedIPs.edit("vip", { address: ip(1), suspend: true });
      await passIdly(world);
      expect(await world.showRouted()).toContain("new1 active n1");
      await world.routedIPs.edit("vip", { suspend: false });
      await world.pass();
      expect(published(world)).toEqual([ip(1)]);
    },
  );

  scenario(
    "a RoutedIP that lost its status still finds the bought address, and keeps it with Delete, too",
    async (world) => {
      await serving(world, ["n1", "n2"], { policy: "Delete" });
      world.cloud.address(ip(1));
      await world.routedIPs.edit("vip", { address: ip(1) });
      await world.routedIPs.writeStatus("vip", null);
      await world.pass();
      expect(world.cloud.addresses()).toEqual({ ip1: "n2", new1: "n1" });
      expect(published(world)).toContain(ip(1));
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
  );

  scenario(
    "a pool keeps the address it acquired when another one is listed, and leaves that one disabled",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 1 });
      await world.pass();
      world.cloud.address(ip(1));
      await world.pools.edit("web", { ips: [ip(1)] });
      await passIdly(world);
      expect(await world.show()).toEqual(["ip1 disabled (AboveDesired)", "new1 active n1"]);
    },
  );

  scenario("a named address moves once from a cordoned node: the bought one does not go first", async (world) => {
    await serving(world, ["n1"]);
    world.cloud.address(ip(1));
    await world.routedIPs.edit("vip", { address: ip(1) });
    await world.pass();
    await world.machines("n2");
    await world.pods.create("web-n2", { node: "n2", labels: { app: "web" } });
    await world.nodes.patch("n1", CORDON);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign ip1 to n2", "remove n1 from web"]);
    expect(await world.showRouted()).toEqual(["ip1 active n2", "new1 disabled (AboveDesired)"]);
    await passIdly(world);
  });

  for (const nodes of [["n1", "n2"], ["n1"]])
    scenario(
      `a death before any write of such a change leaves nothing behind, on ${nodes.length} nodes`,
      async (world) => {
        await serving(world, nodes, { policy: "Delete" });
        for (let write = 1; write < 60; write += 1) {
          world.cloud.address(ip(write));
          await world.routedIPs.edit("vip", { address: ip(write) });
          const hasDied = await world.crash(write);
          await settle(world);
          expect([published(world), world.cloud.boughtNow()], `death before write ${write}`).toEqual([[ip(write)], []]);
          if (!hasDied) return;
          await world.routedIPs.edit("vip", { address: null });
          await settle(world);
          expect([published(world), world.cloud.boughtNow().length]).toEqual([world.cloud.boughtNow(), 1]);
          world.cloud.removeAddress(ip(write));
        }
        throw new Error("the pass never ended");
      },
      { worlds: ["memory"] },
    );
}

/** Passes with ten minutes between them, until nothing is left to do. */
async function settle(world: World): Promise<void> {
  for (let pass = 0; pass < 4; pass += 1) {
    world.advance(10 * MINUTE_MS);
    await world.pass();
  }
}

async function passIdlyButAnnotations(world: World): Promise<void> {
  await world.pass();
  expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
}
