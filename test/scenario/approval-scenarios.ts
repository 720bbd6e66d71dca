import { expect } from "vitest";
import { APPROVED_ANNOTATION, approvalText } from "../../src/model/approval.ts";
import { EXIT, exitCodeOfPlan, exitCodeOfRun } from "../../src/report/exit-code.ts";
import { SavedApplication } from "../../src/saved/application.ts";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const MINUTE = 60_000;
/** What is held keeps its annotation, too. */
const HELD = { checksAnnotations: false };

/** Pool `web` with `approval: Voluntary` and three addresses that flipop acquired; then it asks for fewer. */
async function surplus(world: World, desiredIPs = 2): Promise<readonly string[]> {
  await world.machines("n1", "n2", "n3");
  await world.pools.create("web", { desiredIPs: 3, region: "nyc3", reclaimPolicy: "Delete", approval: "Voluntary" });
  await world.pass();
  expect(await acquired(world)).toBe(3);
  await world.pools.edit("web", { desiredIPs });
  return Object.keys((await world.pools.status("web")).ips);
}

async function acquired(world: World): Promise<number> {
  return (await world.pools.status("web")).acquired.length;
}

/** What `flipop approve` would write now. */
async function approval(world: World, forMs = 15 * MINUTE): Promise<string> {
  const [waiting] = (await world.plan()).toApprove ?? [];
  expect(waiting).toBeDefined();
  return approvalText(waiting?.plan ?? [], "ana", world.nowMs() + forMs);
}

async function expectHeld(world: World, why: string): Promise<void> {
  const before = await acquired(world);
  await world.pass({ settle: true });
  expect(world.cloudWrites()).toEqual([]);
  expect(await acquired(world)).toBe(before);
  const { conditions } = await world.pools.status("web");
  const stalled = conditions.find(({ type }) => type === "Stalled");
  expect(`${stalled?.status} ${stalled?.reason} ${stalled?.message}`).toContain("True AwaitsApproval");
  expect(stalled?.message).toContain(why);
  expect(stalled?.message).toContain("Run flipop approve pool/");
  const planned = exitCodeOfPlan(await world.plan(), { detailed: true });
  expect([planned, exitCodeOfRun(await world.pass(), { partialOk: false })]).toEqual([EXIT.refused, EXIT.refused]);
}

const CORDONED = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** What a person takes from the node of an address that the spec asks for no longer. */
const LEFT: readonly (readonly [string, (world: World) => Promise<void>])[] = [
  ["matches", async () => undefined],
  ["is cordoned", async (world) => world.nodes.patch("n3", { spec: { unschedulable: true, taints: [CORDONED] } })],
  ["has lost its label", async (world) => world.nodes.patch("n3", { metadata: { labels: { role: null } } })],
];

/** Pool `web`, published with three addresses on nodes `role=edge`. */
async function edge(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2", "n3"], { approval: "Voluntary" });
  for (const node of ["n1", "n2", "n3"]) await world.nodes.patch(node, { metadata: { labels: { role: "edge" } } });
  await world.pools.edit("web", { match: { nodeLabel: "role=edge" } });
  await world.pass();
}

async function reason(world: World, wanted: "Stalled" | "Ready" = "Stalled"): Promise<string> {
  const { conditions } = await world.pools.status("web");
  const stalled = conditions.find(({ type }) => type === wanted);
  return `${stalled?.status} ${stalled?.reason}`;
}

/** An address leaves a name because the spec asks for less, whatever became of its node. */
function fewer(scenario: Register): void {
  for (const [what, leave] of LEFT)
    scenario(
      `an address beyond desiredIPs whose node ${what} leaves its name once it is approved`,
      async (world) => {
        await edge(world);
        await leave(world);
        await world.pools.edit("web", { desiredIPs: 2 });
        for (let time = 0; time < 3; time += 1) {
          await world.pass({ settle: true });
          expect([world.dns.set("digitalocean", WWW), world.cloudWrites()]).toEqual([["ip1", "ip2", "ip3"], []]);
          expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2", n3: "ip3" });
          expect(await reason(world)).toBe("True AwaitsApproval");
          expect(await reason(world, "Ready"), "nothing of the name is pending").toBe("False AwaitsApproval");
          world.advance(61_000);
        }
        await world.pools.annotate("web", APPROVED_ANNOTATION, await approval(world));
        await world.pass({ settle: true });
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
        await world.pass({ settle: true });
        expect(world.writes()).toEqual([]);
      },
      HELD,
    );

  for (const [how, dies] of [
    ["", undefined],
    ...[1, 2, 3, 4].map((write) => [`, also after a death before write ${write} of each pass`, write] as const),
  ] as const)
    scenario(
      `nodes that match no longer are left without an approval; the address beyond desiredIPs stays in its name${how}`,
      async (world) => {
        await publishedPool(world, "digitalocean", ["n1", "n2", "n3"], { approval: "Voluntary" });
        await world.machines("n4", "n5");
        for (const node of ["n4", "n5"]) await world.nodes.patch(node, { metadata: { labels: { role: "edge" } } });
        await world.pools.edit("web", { desiredIPs: 2, match: { nodeLabel: "role=edge" } });
        for (let time = 0; time < 6; time += 1) {
          if (dies !== undefined) await world.run({ dieBeforeWrite: dies });
          await world.pass({ settle: true });
          expect(world.dns.set("digitalocean", WWW)).toContain("ip3");
          world.advance(61_000);
        }
        expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n5", "ip3 disabled n3 (AboveDesired)"]);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
        expect(await reason(world)).toBe("True AwaitsApproval");
      },
      HELD,
    );
}

/** A pool without a name of its own, whose addresses a record set publishes: three on n1, n2 and n3. */
async function publishedByRecordSet(world: World, spec: Spec = {}): Promise<void> {
  await world.machines("n1", "n2", "n3");
  for (const number of [1, 2, 3]) world.cloud.address(ip(number));
  world.dns.zone("digitalocean");
  await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)], ...spec });
  const addressType = "flipop.digitalocean.com/ipv4-reserved-ip";
  await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean"), addressType });
  await world.pass({ settle: true });
  expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
}

/** The same where nothing but a record set shows the addresses of the pool. */
function fewerOfRecordSet(scenario: Register): void {
  for (const [how, first] of [
    ["", async () => undefined],
    [
      ", also by saved plans",
      async (world: World) => {
        const plan = await world.savePlan();
        await world.pass({ saved: new SavedApplication(plan, { isAllOrNothing: false }) });
      },
    ],
    [
      ", also where the pool passes alone before",
      async (world: World) => world.pass({ selection: { objects: ["shop/web"] } }),
    ],
    ...[1, 2, 3, 4, 5, 6].map(
      (dieBeforeWrite) =>
        [
          `, also after a death before write ${dieBeforeWrite} of each pass`,
          async (world: World) => world.run({ dieBeforeWrite }),
        ] as const,
    ),
  ] as const)
    scenario(
      `the address beyond desiredIPs stays in the name of a record set while others move${how}`,
      async (world) => {
        await publishedByRecordSet(world, { approval: "Voluntary" });
        await world.machines("n4", "n5");
        for (const node of ["n4", "n5"]) await world.nodes.patch(node, { metadata: { labels: { role: "edge" } } });
        await world.pools.edit("web", { desiredIPs: 2, match: { nodeLabel: "role=edge" } });
        for (let time = 0; time < 6; time += 1) {
          await first(world);
          expect(world.dns.set("digitalocean", WWW)).toContain("ip3");
          await world.pass({ settle: true });
          expect(world.dns.set("digitalocean", WWW)).toContain("ip3");
          world.advance(61_000);
        }
        expect(await world.show()).toEqual(["ip1 active n4", "ip2 active n5", "ip3 disabled n3 (AboveDesired)"]);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
        expect(await reason(world)).toBe("True AwaitsApproval");
      },
      HELD,
    );
}

/** `spec.approval: Voluntary` and `flipop approve`. */
export function approvalScenarios(scenario: Register): void {
  fewer(scenario);
  fewerOfRecordSet(scenario);

  scenario("a removal waits for an approval, and goes with one", async (world) => {
    await surplus(world);
    await expectHeld(world, "nobody has approved it");
    await world.pools.annotate("web", APPROVED_ANNOTATION, await approval(world));
    await world.pass({ settle: true });
    expect(await acquired(world)).toBe(2);
    expect((await world.plan()).toApprove).toBeUndefined();
  });

  scenario(
    "an approval that is over approves nothing",
    async (world) => {
      await surplus(world);
      await world.pools.annotate("web", APPROVED_ANNOTATION, await approval(world, -1000));
      await expectHeld(world, "the approval by ana is over since");
    },
    HELD,
  );

  scenario(
    "an approval is for these things only, and for this spec",
    async (world) => {
      await surplus(world);
      await world.pools.annotate("web", APPROVED_ANNOTATION, await approval(world));
      await world.pools.edit("web", { desiredIPs: 1 });
      await expectHeld(world, "the approval by ana is for something else");
      await world.pools.edit("web", { desiredIPs: 2 });
      await expectHeld(world, "the approval by ana is for something else");
    },
    HELD,
  );

  for (const [title, text] of [
    ["no JSON", "yes"],
    ["no hash", '{"plan":"*","by":"ana","until":"2999-01-01T00:00:00Z"}'],
    ["no end", '{"plan":"00000000000000","by":"ana"}'],
    ["an unknown field", '{"plan":"00000000000000","until":"2999-01-01T00:00:00Z","force":true}'],
  ] as const) {
    scenario(
      `an approval with ${title} approves nothing, and the object says why`,
      async (world) => {
        await surplus(world);
        await world.pools.annotate("web", APPROVED_ANNOTATION, text);
        await expectHeld(world, "the annotation flipop.digitalocean.com/approved cannot be read");
      },
      HELD,
    );
  }

  scenario("a recovery waits for no approval", async (world) => {
    await surplus(world, 3);
    await world.machines("n4");
    await world.nodes.setReady("n1", false);
    await world.pass({ settle: true });
    expect(world.cloudWrites()).toHaveLength(1);
    expect((await world.pools.status("web")).conditions.find(({ type }) => type === "Stalled")?.status).toBe("False");
  });

  for (const leaving of ["Voluntary", "None"])
    scenario(
      `a pool takes the former name of another (${leaving}): what serves there leaves once it is approved`,
      async (world) => {
        await publishedPool(world, "digitalocean", ["n1", "n2"], { approval: leaving });
        await world.machines("n3");
        world.cloud.address(ip(3));
        await world.pools.edit("web", { dnsRecordSet: www("digitalocean", { recordName: "www2" }) });
        await world.pools.create("web2", { ips: [ip(3)], dnsRecordSet: www("digitalocean"), approval: "Voluntary" });
        for (let time = 0; time < 3; time += 1) {
          await world.pass({ settle: true });
          expect(world.dns.addresses("digitalocean", WWW)).toEqual(expect.arrayContaining([ip(1), ip(2)]));
          world.advance(MINUTE);
        }
        const [waiting, ...others] = (await world.plan()).toApprove ?? [];
        expect([waiting?.object.name, others]).toEqual(["web2", []]);
        const text = approvalText(waiting?.plan ?? [], "ana", world.nowMs() + 15 * MINUTE);
        await world.pools.annotate("web2", APPROVED_ANNOTATION, text);
        await world.pass({ settle: true });
        world.advance(MINUTE);
        await world.pass({ settle: true });
        expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(3)]);
        expect((await world.plan()).toApprove).toBeUndefined();
      },
    );

  scenario("a pool that takes the former name of another is told as one that hurts", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    world.cloud.address(ip(3));
    await world.pools.edit("web", { dnsRecordSet: www("digitalocean", { recordName: "www2" }) });
    await world.pools.create("web2", { ips: [ip(3)], dnsRecordSet: www("digitalocean") });
    const { actions } = await world.plan();
    const hurt = actions.flatMap(({ impact, takes = [] }) => takes.map(({ what }) => `${impact} ${what}`));
    expect(hurt).toEqual([`reduction ${ip(1)}`, `reduction ${ip(2)}`]);
    await world.pass({ settle: true });
    expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(3)]);
  });

  scenario("a run that dies on the way of what was approved: the next one goes on with it", async (world) => {
    await surplus(world);
    await world.pools.annotate("web", APPROVED_ANNOTATION, await approval(world));
    for (let write = 1; write < 20; write += 1) if (!(await world.crash(write, { settle: true }))) break;
    await world.pass({ settle: true });
    expect(await acquired(world)).toBe(2);
  });
}
