import { expect, test } from "vitest";
import { writeEvents } from "../../src/apply/write-back.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { ClusterEvent, ClusterWriter } from "../../src/ports/cluster.ts";
import type { ObjectEvent } from "../../src/report/events.ts";
import { refusal, stores } from "./refused-finalizers.ts";

function forbidden(): KubeError {
  const message = 'Grant the verb "patch".';
  return new KubeError({ failure: "forbidden", operation: "patch events", subject: "a", status: 403, message });
}

const terminating = {
  failure: "terminating",
  operation: "create events",
  status: 403,
  message: "namespace shop is being terminated",
} as const;

test("without the permission to count a failure's Event, the other failures have their Events, and the run says it once", async () => {
  const written: string[] = [];
  const cluster = {
    createEvent: async ({ regarding }: ClusterEvent) => {
      written.push(regarding.meta.name);
      return await Promise.resolve(written.length < 3 ? forbidden() : undefined);
    },
  } as unknown as ClusterWriter;
  const { failures } = await writeEvents(["a", "b", "c"].map(refusal), stores, cluster, () => true);
  expect(written).toEqual(["a", "b", "c"]);
  expect(failures.map(({ object, error }) => [object.name, error.message])).toEqual([["a", 'Grant the verb "patch".']]);
});

test.for([
  ["denied", 403],
  ["invalid", 422],
] as const)(
  "an Event that the cluster refuses for one object alone (%s) keeps no other one from its own",
  async ([kind, status]) => {
    const written: string[] = [];
    const cluster = {
      createEvent: async ({ regarding }: ClusterEvent) => {
        written.push(regarding.meta.name);
        if (written.length < 3)
          throw new KubeError({
            failure: kind,
            operation: "create events",
            subject: "a",
            status,
            message: "Not here.",
          });
        return await Promise.resolve(undefined);
      },
    } as unknown as ClusterWriter;
    const { failures } = await writeEvents(["a", "b", "c"].map(refusal), stores, cluster, () => true);
    expect(written).toEqual(["a", "b", "c"]);
    expect(failures.map(({ object, error }) => [object.name, error.message])).toEqual([["a", "Not here."]]);
  },
);

/** A namespace ends as soon as the last object in it does. */
const gone = { ...terminating, failure: "not-found", status: 404, message: 'namespaces "shop" not found' } as const;

test.for([
  ["is being deleted", terminating],
  ["is gone", gone],
] as const)(
  "in a namespace that %s one Event is tried, and nobody is told; the others are written",
  async ([, why]) => {
    const written: string[] = [];
    const cluster = {
      createEvent: async ({ regarding }: ClusterEvent) => {
        written.push(regarding.meta.name);
        if (regarding.meta.name !== "c") throw new KubeError({ ...why, subject: regarding.meta.name });
        return await Promise.resolve(undefined);
      },
    } as unknown as ClusterWriter;
    const elsewhere: ObjectEvent = { ...refusal("c"), object: { kind: "dns", namespace: "other", name: "c" } };
    const events = [refusal("a"), refusal("b"), elsewhere, refusal("d")];
    expect(await writeEvents(events, stores, cluster, () => true)).toEqual({ failures: [], isOver: false });
    expect(written).toEqual(["a", "c"]);
  },
);
