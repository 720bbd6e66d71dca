import { expect } from "vitest";
import { addCall, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const SECOND = 1000;
const API = "api.example.com";
const HAND_MADE = "192.0.2.77";

function reasons(holds: readonly { readonly reason: string }[]): readonly string[] {
  return holds.map(({ reason }) => reason);
}

/** Writes in order, without Events and statuses. */
function steps(world: World): readonly string[] {
  return world.writes().filter((line) => !/^(event|status|note)/.test(line));
}

/** Names that an object has left and has still to clean up: what serves no more leaves them, and what they show is not given back. */
export function formerNameScenarios(scenario: Register): void {
  waitingNames(scenario);
  graceOfFormerNames(scenario);
  nothingSelected(scenario);
  shownAddresses(scenario);
}

/** Edits after which an object cannot write its name, and the reason that says so. */
const UNWRITABLE: readonly {
  readonly reason: string;
  readonly prepare: (world: World) => Promise<void>;
  readonly spec: Spec;
}[] = [
  {
    reason: "Conflict",
    prepare: async (world) => {
      await world.recordSets.create("other", { dnsRecordSet: www("digitalocean", { recordName: "api" }) });
      await world.pass();
    },
    spec: { recordName: "api" },
  },
  { reason: "ZoneNotFound", prepare: async () => {}, spec: { zone: "example.org" } },
  {
    reason: "ForeignRecords",
    prepare: async (world) => world.dns.add("digitalocean", API, HAND_MADE),
    spec: { recordName: "api", foreignRecords: "Hold" },
  },
];

/** A former name that waits since the new one cannot be written. */
function waitingNames(scenario: Register): void {
  for (const { reason, prepare, spec } of UNWRITABLE) {
    scenario(
      `renamed with Delete into ${reason}: what serves no more leaves the old name, but not the last one`,
      async (world) => {
        await publishedPool(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
        await prepare(world);
        await world.pools.edit("web", { dnsRecordSet: spec });
        expect(reasons((await world.pass()).remaining.holds)).toContain(reason);
        expect(world.dnsWrites()).toEqual([]);
        await world.nodes.setReady("n1", false);
        const { remaining } = await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
        expect(reasons(remaining.holds)).toEqual(expect.arrayContaining([reason, "NewNameFirst"]));
        await world.pass();
        expect(world.writes()).toEqual([]);
        await world.nodes.setReady("n2", false);
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
        await world.nodes.setReady("n1", true);
        await world.pass();
        expect(world.dns.set("digitalocean", WWW), "nothing is added").toEqual(["ip2"]);
      },
    );

    scenario(
      `record set renamed into ${reason}: what serves no more leaves the old name with Delete only`,
      async (world) => {
        await publishedNodes(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Retain" });
        await prepare(world);
        world.dns.add("digitalocean", WWW, HAND_MADE);
        await world.pass();
        await world.recordSets.edit("nodes", { dnsRecordSet: spec });
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
        await world.recordSets.edit("nodes", { reclaimPolicy: "Delete" });
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ext2"]);
      },
    );
  }

  scenario("moved to a provider that fails again and again: what serves no more leaves the old one", async (world) => {
    world.dnsSafety.allowEnd(WWW);
    await publishedPool(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
    world.dns.zone("cloudflare");
    await world.pools.edit("web", { dnsRecordSet: { provider: "cloudflare" } });
    world.fail({ ...addCall("cloudflare"), kind: "500", times: 0 });
    for (let attempt = 0; attempt < 9; attempt += 1) {
      await world.pass();
      world.advance(11 * SECOND);
    }
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual([]);
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ip2"]);
  });

  scenario(
    "an old name that another object asks for meanwhile is that one's: nothing leaves it for the first",
    async (world) => {
      await publishedNodes(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
      await world.recordSets.edit("nodes", { dnsRecordSet: { zone: "example.org" } });
      await world.pass();
      await world.recordSets.create("late", { dnsRecordSet: www("digitalocean"), suspend: true });
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
      await world.recordSets.edit("late", { suspend: false });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext2"]);
    },
  );
}

const GRACE = { reclaimPolicy: "Delete", gracePeriodSeconds: 120 };

/** Expects that the pass after this one writes nothing. */
async function expectRest(world: World): Promise<void> {
  await world.pass();
  expect(world.writes()).toEqual([]);
}

/** The names of nodes that are held for their grace, without what a cluster that is shared puts before them. */
function inGrace(holds: readonly { readonly reason: string; readonly subject: string }[]): readonly string[] {
  return holds.flatMap(({ reason, subject }) => (reason === "Grace" ? [subject.replace(/^.*-/, "")] : []));
}

/** Grace goes by what an object publishes, under whatever name: its new name does not show the node yet. */
function graceOfFormerNames(scenario: Register): void {
  const moves: readonly (readonly [how: string, spec: Spec])[] = [
    ["renamed", { recordName: "api" }],
    ["moved to another provider", { provider: "cloudflare" }],
  ];
  for (const [how, spec] of moves) {
    scenario(
      `${how} while all nodes are in grace, whenEmpty Delete: the name is emptied only after it`,
      async (world) => {
        await publishedNodes(world, "digitalocean", ["n1", "n2"], { ...GRACE, whenEmpty: "Delete" });
        world.dnsSafety.allowEnd(WWW);
        world.dns.zone("cloudflare");
        for (const node of ["n1", "n2"]) await world.nodes.setReady(node, false);
        await world.pass();
        await world.recordSets.edit("nodes", { dnsRecordSet: spec });
        const { remaining } = await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
        expect(inGrace(remaining.holds)).toEqual(["n1", "n2"]);
        await expectRest(world);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
        world.advance(121 * SECOND);
        await world.pass();
        expect(world.dns.set("digitalocean", WWW)).toEqual([]);
        await expectRest(world);
      },
    );
  }

  scenario(
    "renamed while all nodes are in grace: those that are ready again go on under the new name",
    async (world) => {
      await publishedNodes(world, "digitalocean", ["n1", "n2"], { ...GRACE, whenEmpty: "Delete" });
      for (const name of [WWW, API]) world.dnsSafety.allowEnd(name);
      for (const node of ["n1", "n2"]) await world.nodes.setReady(node, false);
      await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "api" } });
      await world.pass();
      await world.nodes.setReady("n2", true);
      await world.pass();
      expect(world.dns.set("digitalocean", API)).toEqual(["ext2"]);
      await world.pass();
      await world.nodes.delete("n2");
      await world.pass();
      expect(world.dns.set("digitalocean", API), "n1 still counts as a match").toEqual(["ext2"]);
      await expectRest(world);
      world.advance(121 * SECOND);
      await world.pass();
      expect(world.dns.set("digitalocean", API)).toEqual([]);
      await expectRest(world);
    },
  );

  scenario(
    "addressType changed during grace, whenEmpty Delete: what the node publishes stays for it",
    async (world) => {
      await publishedNodes(world, "digitalocean", ["n1", "n2"], { ...GRACE, whenEmpty: "Delete" });
      world.dnsSafety.allowEnd(WWW);
      await world.nodes.setReady("n1", false);
      await world.pass();
      await world.recordSets.edit("nodes", { addressType: "InternalIP" });
      const { remaining } = await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(expect.arrayContaining(["ext1"]));
      expect(world.dns.set("digitalocean", WWW)).not.toContain("ext2");
      expect(inGrace(remaining.holds)).toEqual(["n1"]);
      await expectRest(world);
      await world.nodes.delete("n2");
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1"]);
      await expectRest(world);
      world.advance(121 * SECOND);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual([]);
      await expectRest(world);
    },
  );

  for (const kind of ["pool", "record set"] as const)
    scenario(`${kind}: an old name that waits for the new one is unchanged during grace`, async (world) => {
      if (kind === "pool") await publishedPool(world, "digitalocean", ["n1", "n2"], GRACE);
      else await publishedNodes(world, "digitalocean", ["n1", "n2"], GRACE);
      const edit = { dnsRecordSet: { zone: "example.org" } };
      await (kind === "pool" ? world.pools.edit("web", edit) : world.recordSets.edit("nodes", edit));
      await world.pass();
      const before = world.dns.set("digitalocean", WWW);
      await world.nodes.setReady("n1", false);
      const { remaining } = await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(before);
      expect(reasons(remaining.holds)).toEqual(expect.arrayContaining(["Grace", "NewNameFirst"]));
      await expectRest(world);
      world.advance(121 * SECOND);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(before.slice(1));
      await expectRest(world);
    });

  scenario("an old name that waits: a grace that only status knows the beginning of ends in time", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"], GRACE);
    await world.recordSets.edit("nodes", { dnsRecordSet: { zone: "example.org" } });
    await world.pass();
    await world.nodes.patch("n1", { spec: { taints: [{ key: "maintenance", effect: "PreferNoSchedule" }] } });
    await world.pass();
    world.advance(100 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
    world.advance(21 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext2"]);
    await expectRest(world);
  });
}

/** A person has to look at a selector that selects nothing as long as it does, whatever has become of the name. */
function nothingSelected(scenario: Register): void {
  const stalled = async (world: World): Promise<string | undefined> =>
    (await world.recordSets.status("nodes")).conditions.find(({ type }) => type === "Stalled")?.reason;
  for (const reclaimPolicy of ["Delete", "Retain"])
    for (const spec of [{ recordName: "api" }, { provider: "cloudflare" }])
      scenario(
        `record set that selects no node, with ${reclaimPolicy} and ${Object.keys(spec).join()} changed: it goes on saying so`,
        async (world) => {
          await publishedNodes(world, "digitalocean", ["n1", "n2"], { reclaimPolicy });
          world.dns.zone("cloudflare");
          await world.recordSets.edit("nodes", { match: { nodeLabel: "role=none" }, dnsRecordSet: spec });
          await world.pass();
          expect(await stalled(world)).toBe("EmptyTarget");
          await expectRest(world);
          expect(await stalled(world)).toBe("EmptyTarget");
          expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2"]);
        },
      );
}

/** Two bought addresses in `www`; then fewer are asked for, and this edit. */
async function loweredWith(world: World, spec: Spec): Promise<void> {
  world.dnsSafety.allowEnd(WWW);
  await world.machines("n1", "n2");
  world.dns.zone("digitalocean");
  world.dns.zone("cloudflare");
  await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete", dnsRecordSet: www("digitalocean") });
  await world.pass();
  expect(world.dns.set("digitalocean", WWW)).toEqual(["new1", "new2"]);
  await world.pools.edit("web", { desiredIPs: 1, ...spec });
}

/** What becomes of addresses that a name still shows which its object has left. */
function shownAddresses(scenario: Register): void {
  const edits: readonly (readonly [string, Spec])[] = [
    ["renamed", { dnsRecordSet: { recordName: "api" } }],
    ["moved to another provider", { dnsRecordSet: { provider: "cloudflare" } }],
    ["left without a name", { dnsRecordSet: null }],
    ["renamed to a name that cannot be written", { dnsRecordSet: { zone: "example.org" } }],
  ];
  for (const [how, spec] of edits) {
    scenario(`desired lowered and ${how} at once: the address goes back once no resolver has it`, async (world) => {
      await loweredWith(world, spec);
      const { remaining } = await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).not.toContain("new2");
      expect(remaining.holds).toContainEqual(expect.objectContaining({ subject: bought(2), reason: "Draining" }));
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(steps(world)).toEqual(["unassign new2", "delete new2"]);
    });

    scenario(`desired lowered and ${how} at once, and runs die anywhere: the address drains`, async (world) => {
      await loweredWith(world, spec);
      for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
      world.advance(40 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(30 * SECOND);
      for (let write = 1; await world.crash(write); write += 1) world.advance(SECOND);
      await world.pass();
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    });
  }

  scenario(
    "an old name that waits and shows nothing else: the address stays, and is not given back",
    async (world) => {
      await loweredWith(world, { desiredIPs: 2, dnsRecordSet: { zone: "example.org" } });
      await world.pass();
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
      await world.nodes.setReady("n1", true);
      await world.nodes.setReady("n2", false);
      await world.pools.edit("web", { desiredIPs: 1 });
      const { remaining } = await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
      expect(world.cloudWrites()).toEqual([]);
      const why = { subject: bought(2), reason: "StillPublished", detail: WWW };
      expect(remaining.holds).toContainEqual(expect.objectContaining(why));
    },
    { checksAnnotations: false },
  );

  scenario("an old name that cannot be read: what it showed stays, until it has left the name", async (world) => {
    await loweredWith(world, { dnsRecordSet: { provider: "cloudflare" } });
    world.fail({ side: "dns", provider: "digitalocean", operation: "records", kind: "500", times: 0 });
    const { remaining } = await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(remaining.holds).toContainEqual(expect.objectContaining({ subject: bought(2), reason: "StillPublished" }));
    world.clearFaults();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual([]);
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(steps(world)).toEqual(["unassign new2", "delete new2"]);
  });

  scenario(
    "an address that leaves the spec, in an old name that waits: it drains before another takes its node",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"], { reclaimPolicy: "Delete" });
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(1), ip(3)], dnsRecordSet: { zone: "example.org" } });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
      expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "n2", ip3: "-" });
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "-", ip3: "n2" });
    },
  );

  scenario("an old name of a record set that waits: the pool's address leaves it first", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("digitalocean");
    await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
    await world.recordSets.create("nodes", {
      reclaimPolicy: "Delete",
      addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
      dnsRecordSet: www("digitalocean"),
    });
    await world.pass();
    await world.recordSets.edit("nodes", { dnsRecordSet: { zone: "example.org" } });
    await world.pass();
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(steps(world)).toEqual(["unassign new2", "delete new2"]);
  });
}
