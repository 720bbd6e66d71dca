import { describe, expect, test } from "vitest";
import { ACQUIRED_ANNOTATION } from "../../src/model/resource.ts";
import { manifestOf, type NotedKind, seeded, stored } from "./cluster-custom-kind.ts";
import type { ContractWorld } from "./cluster-world.ts";
import { failsWith } from "./fails-with.ts";

const NOTE = { ips: ["192.0.2.9", "192.0.2.1"], pending: ["digitalocean://7", "nyc3"] };

/** Declares the tests of the port's method for what an object's annotation tells. */
export function describeNotes<Status extends object>(kind: NotedKind<Status>, world: () => ContractWorld): void {
  describe(`${kind.kind}'s note`, () => {
    test("it is written, read back as sent, and removed, with everything else as it was", async () => {
      const { cluster, seed } = world();
      const manifest = manifestOf(kind, world(), "note");
      await seed.object({ ...manifest, metadata: { ...manifest.metadata, annotations: { theirs: "stays" } } });
      const before = await stored(kind, world(), "note");
      expect(before.meta).not.toHaveProperty("note");
      const noted = await kind.note(cluster, before.meta, NOTE);
      const { resourceVersion } = noted.meta;
      expect(noted).toEqual({ ...before, meta: { ...before.meta, resourceVersion, note: NOTE } });
      expect(await kind.read(cluster, before.meta)).toEqual(noted);
      expect(await kind.note(cluster, noted.meta, NOTE)).toEqual(noted);
      const removed = await kind.note(cluster, noted.meta, { ips: [], pending: [] });
      expect(removed.meta).not.toHaveProperty("note");
    });

    test("one for a resourceVersion that is no longer current is a conflict and changes nothing", async () => {
      const { cluster } = world();
      const { meta } = await seeded(kind, world(), "note-conflict");
      await kind.patchStatus(cluster, meta, kind.twoErrors[0]);
      await failsWith("conflict", kind.note(cluster, meta, NOTE));
      expect((await kind.read(cluster, meta))?.meta).not.toHaveProperty("note");
    });

    test("one of another object, copied with its manifest, is none", async () => {
      const { seed } = world();
      const manifest = manifestOf(kind, world(), "note-copy");
      const annotations = { [ACQUIRED_ANNOTATION]: "another-uid 192.0.2.9" };
      await seed.object({ ...manifest, metadata: { ...manifest.metadata, annotations } });
      const copy = await stored(kind, world(), "note-copy");
      expect(copy.meta).not.toHaveProperty("note");
    });
  });
}
