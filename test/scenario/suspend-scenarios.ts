import { expect } from "vitest";
import { SUSPEND_ANNOTATION } from "../../src/model/suspension.ts";
import { publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const HOUR = 3_600_000;

/** The annotation as `flipop suspend` writes it. */
function suspension(world: World, forMs?: number): string {
  const at = (ms: number): string => new Date(ms).toISOString();
  return JSON.stringify({
    by: "ana",
    reason: "maintenance 4711",
    since: at(world.nowMs()),
    ...(forMs === undefined ? {} : { until: at(world.nowMs() + forMs) }),
  });
}

/** ip1 and ip2 of pool `web` on n1 and n2, with a free n3; then n1 fails. */
async function failed(world: World): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"]);
  await world.machines("n3");
  await world.nodes.setReady("n1", false);
}

async function condition(world: World, type: string, pool = "web"): Promise<string> {
  const { conditions } = await world.pools.status(pool);
  const found = conditions.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

/** `flipop suspend` and `flipop resume`: annotations that let flipop stand still. */
export function suspendScenarios(scenario: Register): void {
  scenario(
    "a suspended pool is given an address that has left its node: the node does not go on showing it",
    async (world) => {
      await world.machines("n1", "n2");
      for (const address of [ip(1), ip(2)]) world.cloud.address(address);
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(2)] });
      await world.pools.create("other", { ips: [ip(1)], suspend: true });
      world.cloud.put(ip(1), undefined);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({ n2: "ip2" });
    },
  );

  scenario("an object with the annotation is left as it is, until somebody takes it away", async (world) => {
    await failed(world);
    await world.pools.annotate("web", SUSPEND_ANNOTATION, suspension(world));
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dnsWrites()).toEqual([]);
    const [hold] = (await world.plan()).holds.filter(({ kind }) => kind === "reconcile");
    expect(hold).toMatchObject({ reason: "Suspended", detail: "by ana (maintenance 4711)", needsPerson: false });
    expect(await condition(world, "Stalled")).toContain("False");
    expect(await condition(world, "Ready")).toBe(
      `False RecordsDiffer: ${WWW}: The records differ from the addresses that serve now, and stay as they are: the object is suspended.`,
    );
    await world.pools.annotate("web", SUSPEND_ANNOTATION, null);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  });

  scenario("it ends by itself by the clock of the API server, and settle waits for it", async (world) => {
    await failed(world);
    await world.pools.annotate("web", SUSPEND_ANNOTATION, suspension(world, 20_000));
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.pass({ settle: true });
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  });

  for (const [title, spec, refused] of [
    ["a retry that becomes due", {}, true],
    ["a cool-off that ends", { assignmentCoolOffSeconds: 600 }, false],
  ] as const) {
    scenario(
      `the status of a suspended pool says that it is suspended, and ${title} changes nothing of it`,
      async (world) => {
        await world.machines("n1");
        for (const number of [1, 2, 3]) world.cloud.address(ip(number));
        await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)], ...spec });
        await world.pass();
        if (refused) await world.nodes.create("n2", { droplet: 900 });
        else await world.machines("n2");
        await world.pass();
        await world.pools.edit("web", { suspend: true });
        await world.pass();
        const before = await world.pools.status("web");
        expect(Object.values(before.ips).map(({ state, reason }) => `${state} ${reason}`)).toEqual([
          "active undefined",
          "unassigned Suspended",
          "unassigned NoCandidate",
        ]);
        for (const minutes of [1, 5, 10, 11]) {
          world.advance(minutes * 60_000);
          await world.pass();
          expect(await world.pools.status("web")).toEqual(before);
        }
        expect(world.cloudWrites()).toEqual([]);
      },
    );
  }

  scenario("an annotation that is over means nothing", async (world) => {
    await failed(world);
    await world.pools.annotate("web", SUSPEND_ANNOTATION, suspension(world, -HOUR));
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  });

  scenario(
    "the annotation of the Lease suspends every object, and a new Lease holder keeps it",
    async (world) => {
      await failed(world);
      world.dns.zone("cloudflare");
      await world.recordSets.create("nodes", { dnsRecordSet: www("cloudflare") });
      await world.annotateLease({ [SUSPEND_ANNOTATION]: suspension(world, HOUR) });
      await world.pass({ lease: "wait" });
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
      const held = (await world.plan()).holds.filter(({ kind }) => kind === "reconcile");
      expect(held.map(({ detail }) => detail)).toEqual(held.map(() => "with all objects by ana (maintenance 4711)"));
      expect(held).toHaveLength(2);
      await world.pass({ lease: "wait" });
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
      world.advance(HOUR);
      await world.pass({ lease: "wait" });
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    },
    { onlySingleRuns: "a watching process holds the Lease that it works under, and this test names another" },
  );

  for (const [title, text] of [
    ["no JSON", "maintenance"],
    ["a list", "[]"],
    ["an unknown field", '{"by":"ana","untl":"2026-01-01T00:00:00Z"}'],
    ["a time that is none", '{"by":"ana","until":"tomorrow"}'],
    ["200 KiB", `{"by":"${"x".repeat(200_000)}`],
  ] as const) {
    scenario(`an annotation of ${title} suspends, and the object says that a person must look`, async (world) => {
      await failed(world);
      await world.pools.annotate("web", SUSPEND_ANNOTATION, text);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      const stalled = await condition(world, "Stalled");
      expect(stalled).toContain(
        "True Suspended: The object is suspended: its annotation flipop.digitalocean.com/suspend cannot be read",
      );
      expect(stalled).toContain("run flipop resume pool/");
      expect(stalled.length).toBeLessThan(600);
      await world.pools.annotate("web", SUSPEND_ANNOTATION, null);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
    });
  }

  scenario("a suspended record set keeps its records; another object goes on", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"]);
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.recordSets.annotate("nodes", SUSPEND_ANNOTATION, suspension(world));
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toHaveLength(2);
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    await world.recordSets.annotate("nodes", SUSPEND_ANNOTATION, null);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toHaveLength(1);
  });

  scenario("a suspended object that is being deleted waits, and says for whom", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", region: "nyc3" });
    await world.pass();
    await world.pools.annotate("web", SUSPEND_ANNOTATION, suspension(world));
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await condition(world, "Stalled")).toContain("the deletion waits for it. To go on, run flipop resume pool/");
    await world.pools.annotate("web", SUSPEND_ANNOTATION, null);
    await world.pass();
    expect(await world.pools.read("web")).toBeUndefined();
  });
}
