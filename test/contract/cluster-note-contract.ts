import { describe, expect, test } from "vitest";
import { ACQUIRED_ANNOTATION } from "../../src/model/resource.ts";
import { manifestOf, POOL_KIND, seeded } from "./cluster-custom-kind.ts";
import type { ContractWorld } from "./cluster-world.ts";
import { failsWith } from "./fails-with.ts";

const NOTE = { ips: ["192.0.2.9", "192.0.2.1"], pending: ["digitalocean://7", "nyc3"] };

/** Declares the tests of the port's method for what a pool's annotation tells. */
export function describeNotes(world: () => ContractWorld): void {
  describe("FloatingIPPool's note", () => {
    test("it is written, read back as sent, and removed, with everything else as it was", async () => {
      const { cluster, seed } = world();
      const manifest = manifestOf(POOL_KIND, world(), "note");
      await seed.object({ ...manifest, metadata: { ...manifest.metadata, annotations: { theirs: "stays" } } });
      const before = await cluster.readPool({ namespace: seed.namespace(), name: "note" });
      if (before === undefined) throw new Error("no pool");
      expect(before.meta).not.toHaveProperty("note");
      const noted = await cluster.notePoolAcquisitions(before.meta, NOTE);
      const { resourceVersion } = noted.meta;
      expect(noted).toEqual({ ...before, meta: { ...before.meta, resourceVersion, note: NOTE } });
      expect(await cluster.readPool(before.meta)).toEqual(noted);
      expect(await cluster.notePoolAcquisitions(noted.meta, NOTE)).toEqual(noted);
      const removed = await cluster.notePoolAcquisitions(noted.meta, { ips: [], pending: [] });
      expect(removed.meta).not.toHaveProperty("note");
    });

    test("one for a resourceVersion that is no longer current is a conflict and changes nothing", async () => {
      const { cluster } = world();
      const { meta } = await seeded(POOL_KIND, world(), "note-conflict");
      await cluster.patchPoolStatus(meta, POOL_KIND.twoErrors[0]);
      await failsWith("conflict", cluster.notePoolAcquisitions(meta, NOTE));
      expect((await cluster.readPool(meta))?.meta).not.toHaveProperty("note");
    });

    test("one of another pool, copied with its manifest, is none", async () => {
      const { cluster, seed } = world();
      const manifest = manifestOf(POOL_KIND, world(), "note-copy");
      const annotations = { [ACQUIRED_ANNOTATION]: "another-uid 192.0.2.9" };
      await seed.object({ ...manifest, metadata: { ...manifest.metadata, annotations } });
      const copy = await cluster.readPool({ namespace: seed.namespace(), name: "note-copy" });
      expect(copy?.meta).not.toHaveProperty("note");
    });
  });
}
