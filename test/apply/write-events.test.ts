import { expect, test } from "vitest";
import { writeEvents } from "../../src/apply/write-back.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { ClusterEvent, ClusterWriter } from "../../src/ports/cluster.ts";
import { refusal, stores } from "./refused-finalizers.ts";

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
  const { failures } = await writeEvents(["a", "b", "c"].map(refusal), stores, cluster, () => true);
  expect(written).toEqual(["a", "b", "c"]);
  expect(failures.map(({ object, error }) => [object.name, error.message])).toEqual([["a", 'Grant the verb "patch".']]);
});

test.for([
  ["denied", 403],
  ["invalid", 422],
  ["not-found", 404],
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
