import { describe, expect, test } from "vitest";
import { editedSnapshot } from "../../src/cli/edited-snapshot.ts";
import { DEFAULT_MAX_UNAVAILABLE } from "../../src/model/resource.ts";
import type { Overlay } from "../../src/ports/cluster.ts";
import { parseEdit } from "../../src/rehearse/edit.ts";
import { EditedObjects, type FileObject } from "../../src/rehearse/edited-objects.ts";
import type { Snapshot } from "../../src/snapshot/snapshot.ts";
import { randomDNSWorld } from "../plan/random-dns-world.ts";
import { randomFirewallWorld } from "../plan/random-firewall-world.ts";
import { randomWorld } from "../plan/random-world.ts";
import { afterFailure } from "../report/world.ts";
import { storedOf } from "../snapshot/check-anonymized.ts";

/** Every object is written as it is stored, sent as JSON, and read again. */
const COPIES: Overlay = {
  isEmpty: false,
  seen: (_, object, decode) => decode(JSON.parse(JSON.stringify(object))),
  fresh: () => [],
};

function overlay(
  edits: readonly (readonly [text: string, value: unknown])[],
  files: readonly FileObject[] = [],
): Overlay {
  const parsed = edits.map(([text, value]) => parseEdit(text, { duration: () => undefined, yaml: () => ({ value }) }));
  return new EditedObjects(
    parsed.flatMap((edit) => (edit.kind === "object" ? [edit] : [])),
    files,
  );
}

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed + 1);

describe("objects laid over a snapshot", () => {
  test("are the same objects where nothing is changed, whatever they ask for", () => {
    for (const observation of SEEDS.flatMap((seed) => [
      randomWorld(seed),
      randomDNSWorld(seed),
      randomFirewallWorld(seed),
    ])) {
      const readable = (object: { readonly decodeError?: string }): boolean => object.decodeError === undefined;
      const world = {
        ...observation,
        // A routed IP is made of what a snapshot has beside the world.
        pools: observation.pools.filter((pool) => pool.kind === "pool" && readable(pool)),
        recordSets: observation.recordSets.filter(readable),
      };
      const snapshot: Snapshot = { observation: world, stored: { ...storedOf(world), issuers: [], services: [] } };
      const after = editedSnapshot(snapshot, COPIES);
      for (const [at, pool] of world.pools.entries()) expect(after.observation.pools[at]).toBe(pool);
      for (const [at, set] of world.recordSets.entries()) expect(after.observation.recordSets[at]).toBe(set);
      expect(after).toEqual(snapshot);
    }
  });

  const [pool] = afterFailure().pools;
  if (pool === undefined) throw new Error("a world without a pool");
  const { namespace, name } = pool.meta;
  const world = (more: Partial<typeof pool>): Snapshot => {
    const observation = { ...afterFailure(), pools: [{ ...pool, ...more }] };
    return { observation, stored: storedOf(observation) };
  };
  const unreadable = world({ decodeError: "spec.suspend must be true or false" });

  test.for([{ count: 2 }, { percent: 40 }, DEFAULT_MAX_UNAVAILABLE])(
    "have maxUnavailable %j as it was",
    (maxUnavailable) => {
      const snapshot = world({ spec: { ...pool.spec, maxUnavailable } });
      const edited = editedSnapshot(snapshot, overlay([[`pool/${namespace}/${name}.drainSeconds=7`, 7]]));
      expect(edited.observation.pools[0]?.spec).toEqual({ ...pool.spec, maxUnavailable, drainSeconds: 7 });
      expect(edited.stored.pools).toEqual(edited.observation.pools);
    },
  );

  test("stay as unreadable as they were, and are not edited in part", () => {
    expect(editedSnapshot(unreadable, overlay([]))).toMatchObject({
      observation: { pools: [{ decodeError: "spec.suspend must be true or false" }] },
    });
    expect(() => editedSnapshot(unreadable, overlay([[`pool/${namespace}/${name}.drainSeconds=7`, 7]]))).toThrow(
      `The snapshot does not hold what could not be read of ${namespace}/${name}: spec.suspend must be true or false. Lay the whole object over it, with -f.`,
    );
    const deleted = editedSnapshot(unreadable, overlay([[`pool/${namespace}/${name}=Deleted`, "Deleted"]]));
    expect(deleted.observation.pools.filter(({ meta }) => !meta.isDeleting)).toEqual([]);
  });

  test("are readable once a whole object is laid over them", () => {
    const file: FileObject = {
      of: "pool",
      namespace,
      name,
      object: {
        metadata: { name, namespace, labels: { a: "b" } },
        spec: { provider: "digitalocean", ips: [...pool.spec.ips] },
      },
    };
    const [laid] = editedSnapshot(unreadable, overlay([], [file])).observation.pools;
    expect(laid?.decodeError).toBeUndefined();
    expect(laid).toMatchObject({
      meta: { uid: pool.meta.uid, labels: { ...pool.meta.labels, a: "b" } },
      status: pool.status,
    });
    expect(laid?.spec.match.podLabel).toBe("");
  });
});
