import { expect, test } from "vitest";
import type { ResourceStores } from "../../src/apply/resource-store.ts";
import { writeEvents } from "../../src/apply/write-back.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { Outcome } from "../../src/model/run.ts";
import type { ClusterEvent, ClusterWriter } from "../../src/ports/cluster.ts";

/** A refused change of one object's finalizer. */
function refusal(name: string): Outcome {
  const object = { kind: "dns", namespace: "shop", name } as const;
  const action = { kind: "add-finalizer", object, id: name, reason: "Finalizer", follows: [], requires: [] };
  return { action, outcome: "failed", error: new Error("no"), ms: 0, endedAtMs: 0 } as unknown as Outcome;
}

const stores = {
  dns: { kind: "NodeDNSRecordSet", get: (object: { name: string }) => ({ meta: { name: object.name } }) },
} as unknown as ResourceStores;

function forbidden(): KubeError {
  const message = 'Grant the verb "patch".';
  return new KubeError({ failure: "forbidden", operation: "patch events", subject: "a", status: 403, message });
}

test("without the permission to count a failure's Event, the other failures have their Events, and the run says it once", async () => {
  const written: string[] = [];
  const cluster = {
    createEvent: async ({ regarding }: ClusterEvent) => {
      written.push(regarding.meta.name);
      return await Promise.resolve(written.length < 3 ? forbidden() : undefined);
    },
  } as unknown as ClusterWriter;
  const failures = await writeEvents(["a", "b", "c"].map(refusal), stores, cluster, () => true);
  expect(written).toEqual(["a", "b", "c"]);
  expect(failures.map(({ object, error }) => [object.name, error.message])).toEqual([["a", 'Grant the verb "patch".']]);
});
