import { expect } from "vitest";
import { ACQUIRED_ANNOTATION } from "../../src/model/resource.ts";
import type { Register } from "./scenario.ts";
import { bought, ip, short } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** A pool with one address more than nodes, beside an address of somebody else that is attached nowhere, too. */
async function spare(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.machines("n1", "n2");
  world.cloud.address(ip(7));
  await world.pools.create("web", { desiredIPs: 3, ...spec });
  await world.pass();
  expect(await world.show()).toEqual(["new1 active n1", "new2 active n2", "new3 unassigned (NoCandidate)"]);
}

/** A pool whose creation gets no answer, carried out or (`500`) not; then its status is lost. */
async function unanswered(world: World, kind: "lost-answer" | "500"): Promise<void> {
  await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete" });
  world.fail({ side: "cloud", operation: "create", kind });
  await world.pass();
  await world.pools.writeStatus("web", null);
}

/** Passes with time between them, longer than a creation without an answer is watched for. */
async function passForAMinute(world: World): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    world.advance(5 * SECOND);
    await world.pass();
  }
}

/** What the annotation of a pool tells, without the uid and the provider: addresses by their short names, then places. */
async function note(world: World): Promise<readonly string[]> {
  const text = (await world.pools.read("web"))?.metadata.annotations?.[ACQUIRED_ANNOTATION] ?? "";
  return text
    .split(" ")
    .slice(1)
    .filter((word) => !word.startsWith("provider="))
    .map((word) => (word.includes("=") ? word : short(word)));
}

async function stalled(world: World): Promise<string | undefined> {
  return (await world.pools.status("web")).conditions.find(({ type }) => type === "Stalled")?.reason;
}

/** The status of a pool is lost, and what it had acquired is nowhere else: the pool's annotation tells. */
export function lostMemoryScenarios(scenario: Register): void {
  scenario(
    "status lost entirely, with an address that is attached nowhere: it is known again, and nothing is bought",
    async (world) => {
      await spare(world);
      const before = await world.show();
      await world.pools.writeStatus("web", null);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(before);
      expect((await world.pools.status("web")).acquired).toMatchObject(
        [1, 2, 3].map((number) => ({ ip: bought(number), adopted: true })),
      );
      await world.pass();
      expect(world.cloud.boughtNow()).toHaveLength(3);
    },
  );

  scenario("status lost while the provider cannot be read: nothing is forgotten once it can be", async (world) => {
    await spare(world);
    await world.pools.writeStatus("web", null);
    world.fail({ side: "cloud", operation: "list", kind: "401" });
    await world.pass();
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1", "new2 active n2", "new3 unassigned (NoCandidate)"]);
    expect(world.cloud.boughtNow()).toHaveLength(3);
  });

  scenario(
    "status lost and fewer wanted at once, while suspended: all are known again, and the last one is disabled",
    async (world) => {
      await spare(world);
      await world.pools.edit("web", { suspend: true, desiredIPs: 1, reclaimPolicy: "Delete" });
      await world.pools.writeStatus("web", null);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect((await world.pools.status("web")).acquired).toHaveLength(3);
      await world.pools.edit("web", { suspend: false });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual([
        "new1 active n1",
        "new2 disabled n2 (AboveDesired)",
        "new3 disabled (AboveDesired)",
      ]);
    },
  );

  scenario(
    "the list of acquired addresses lost while the spec is edited: they are not taken for released ones",
    async (world) => {
      await spare(world);
      await world.pools.writeStatus("web", { acquired: null });
      await world.pools.edit("web", { assignmentCoolOffSeconds: 1 });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["new1 active n1", "new2 active n2", "new3 unassigned (NoCandidate)"]);
      expect((await world.pools.status("web")).released).toEqual([]);
    },
  );

  scenario(
    "the annotation tells what status has, is written again when lost, and goes with the last",
    async (world) => {
      await spare(world, { reclaimPolicy: "Delete" });
      expect(await note(world)).toEqual(["new1", "new2", "new3"]);
      await world.pools.annotate("web", ACQUIRED_ANNOTATION, null);
      await world.pass();
      expect(world.kubeWrites()).toEqual(["note web"]);
      expect(await note(world)).toEqual(["new1", "new2", "new3"]);
      await world.pools.edit("web", { desiredIPs: 1 });
      await world.pass();
      expect(await note(world)).toEqual(["new1"]);
      await world.pools.edit("web", { ips: [ip(7)], desiredIPs: 1 });
      world.cloud.removeAddress(bought(1));
      await world.pass();
      await world.pass();
      expect((await world.pools.read("web"))?.metadata.annotations ?? {}).not.toHaveProperty(ACQUIRED_ANNOTATION);
    },
  );

  scenario("an annotation copied with the manifest of another pool means nothing", async (world) => {
    await spare(world);
    const text = (await world.pools.read("web"))?.metadata.annotations?.[ACQUIRED_ANNOTATION] ?? "";
    expect(text).not.toBe("");
    await world.pools.create("copy", { desiredIPs: 1, suspend: true });
    await world.pools.annotate("copy", ACQUIRED_ANNOTATION, text);
    await world.pools.delete("web");
    await world.pass();
    expect((await world.pools.status("copy")).acquired).toEqual([]);
  });

  scenario("an annotation that cannot be written: nothing is bought, and status says why", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { desiredIPs: 1 });
    world.fail({ side: "cluster", operation: "setPoolFinalizer", kind: "403", times: 0 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    const { error, pendingAcquisitions } = await world.pools.status("web");
    expect(error).toContain("floatingippools");
    expect(pendingAcquisitions).toEqual([]);
    world.clearFaults();
    world.advance(2 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1"]);
  });

  scenario("status lost with a creation for a node unanswered: its address is found there, and kept", async (world) => {
    await world.machines("n1");
    await unanswered(world, "lost-answer");
    await passForAMinute(world);
    expect(await world.show()).toEqual(["new1 active n1"]);
    expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: bought(1), adopted: true }]);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  scenario(
    "status lost with a creation unanswered that never was: the account is watched, then it is bought once",
    async (world) => {
      await unanswered(world, "500");
      const { remaining } = await world.pass();
      expect(remaining.holds.map(({ reason }) => reason)).toEqual(["AcquisitionUnanswered"]);
      await passForAMinute(world);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect((await world.pools.status("web")).acquired[0]?.adopted).not.toBe(true);
    },
  );

  scenario(
    "status lost with a creation in the region unanswered: one address that may be it is held, until somebody lists it",
    async (world) => {
      await unanswered(world, "lost-answer");
      await passForAMinute(world);
      expect(await stalled(world)).toBe("LostAcquisition");
      expect((await world.pools.status("web")).error).toContain(bought(1));
      await world.pools.edit("web", { ips: [bought(1)] });
      await world.pass();
      await world.pass();
      expect(await world.show()).toEqual(["new1 unassigned (NoCandidate)"]);
      expect(await stalled(world)).toBe("NotStalled");
      expect(await note(world)).toEqual([]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    },
  );

  scenario(
    "status lost with a creation unanswered, and an address of somebody else: it is left alone, until the annotation is removed",
    async (world) => {
      world.cloud.address(ip(7));
      await unanswered(world, "500");
      await passForAMinute(world);
      expect(await stalled(world)).toBe("LostAcquisition");
      expect(world.cloud.boughtNow()).toEqual([]);
      await world.pools.annotate("web", ACQUIRED_ANNOTATION, null);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["create in nyc3"]);
      expect((await world.pools.status("web")).acquired).toMatchObject([{ ip: bought(1) }]);
      expect(await stalled(world)).toBe("NotStalled");
    },
  );
}
