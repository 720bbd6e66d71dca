import { describe, expect, test } from "vitest";
import type { Pool } from "../../../src/model/resource.ts";
import type { LeaseRecord } from "../../../src/ports/cluster.ts";
import { EMPTY_STATUS, FULL_STATUS } from "../../contract/pool-status-samples.ts";
import { EMPTY_RECORD_SET_STATUS, FULL_RECORD_SET_STATUS } from "../../contract/record-set-status-samples.ts";
import { failure, hangUp, type Say } from "./scripted-server.ts";
import { rejection, type Scene, withServer } from "./with-server.ts";

const conflict = failure(409, "Conflict", "the object has been modified");
const meta = { namespace: "a", name: "b", uid: "u", resourceVersion: "7", finalizers: ["example.com/theirs"] };
const pool = (status: unknown, metadata: object = {}): Say => ({
  json: { metadata: { ...meta, ...metadata }, status },
});

async function read({ writer }: Scene): Promise<Pool> {
  const found = await writer.readPool(meta);
  if (found === undefined) throw new Error("no pool");
  return found;
}

describe("patchPoolStatus", () => {
  test("sends what changes, null for what is absent, empty or no longer wanted, and nothing of others", async () => {
    const stored = {
      ips: { "192.0.2.1": { state: "active", theirs: 1 }, "192.0.2.2": "odd" },
      theirs: { x: 1 },
      assignableNodes: ["n1"],
      nodeErrors: "odd",
      error: "x",
    };
    await withServer([pool(stored), pool({})], async (scene) => {
      const { meta: known } = await read(scene);
      await scene.writer.patchPoolStatus(known, {
        ...EMPTY_STATUS,
        error: "",
        ips: { "192.0.2.1": { state: "unassigned" } },
        assignableNodes: ["n1"],
        assignments: 0,
      });
      const fields = [
        "providerID",
        "previousProviderID",
        "error",
        "reason",
        "notMatchingSince",
        "drainingUntil",
        "drainsForSeconds",
        "inherited",
      ];
      const none = Object.fromEntries(fields.map((field) => [field, null]));
      expect(scene.asked[1]).toMatchObject({
        method: "PATCH",
        url: "/apis/flipop.digitalocean.com/v1alpha1/namespaces/a/floatingippools/b/status",
        headers: { "content-type": "application/merge-patch+json" },
      });
      expect(scene.asked[1]?.body).toEqual({
        metadata: { resourceVersion: "7" },
        status: {
          error: null,
          ips: { "192.0.2.1": { state: "unassigned", nodeName: null, ...none }, "192.0.2.2": null },
          nodeErrors: null,
          assignments: 0,
        },
      });
    });
  });

  test("of a record set sends what changes, with its DNS names whole", async () => {
    await withServer([pool({ state: "active", theirs: 1 }), pool({})], async (scene) => {
      const found = await scene.writer.readRecordSet(meta);
      if (found === undefined) throw new Error("no record set");
      const publishedDNS = { provider: "digitalocean", zone: "example.com", name: "example.com", addresses: [] };
      await scene.writer.patchRecordSetStatus(found.meta, { ...EMPTY_RECORD_SET_STATUS, publishedDNS });
      const url = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/a/nodednsrecordsets/b";
      expect(scene.asked.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
        `GET ${url}`,
        `PATCH ${url}/status`,
      ]);
      expect(scene.asked[1]?.body).toEqual({
        metadata: { resourceVersion: "7" },
        status: { state: null, publishedDNS: { ...publishedDNS, foreign: null, unseen: null } },
      });
    });
  });

  test("of a record set is success when a repeat meets a conflict and the status is as sent", async () => {
    const script = [pool({}), hangUp, conflict, pool(FULL_RECORD_SET_STATUS, { resourceVersion: "8" })];
    await withServer(script, async ({ writer }) => {
      const found = await writer.readRecordSet(meta);
      if (found === undefined) throw new Error("no record set");
      const stored = await writer.patchRecordSetStatus(found.meta, FULL_RECORD_SET_STATUS);
      expect(stored).toMatchObject({ status: FULL_RECORD_SET_STATUS, meta: { resourceVersion: "8" } });
    });
  });

  test("reads the pool first when meta is a copy, and is a conflict when it has changed", async () => {
    await withServer([pool({ ips: { "192.0.2.2": {} } }), pool({})], async ({ writer, asked }) => {
      const copy = { ...meta, generation: 1, createdAtMs: 0, isDeleting: false, labels: {} };
      await writer.patchPoolStatus(copy, { ...EMPTY_STATUS, ips: { "192.0.2.1": { state: "active" } } });
      expect(asked.map(({ method }) => method)).toEqual(["GET", "PATCH"]);
      expect(asked[1]?.body).toMatchObject({ status: { ips: { "192.0.2.2": null } } });
      expect(await rejection(writer.patchPoolStatus({ ...copy, resourceVersion: "6" }, EMPTY_STATUS))).toMatchObject({
        failure: "conflict",
      });
    });
  });

  test("a lost answer whose repeat meets a conflict is success when the stored status is what was sent", async () => {
    const script = [pool({}), hangUp, conflict, pool(FULL_STATUS, { resourceVersion: "8" })];
    await withServer(script, async (scene) => {
      const known = await read(scene);
      const stored = await scene.writer.patchPoolStatus(known.meta, FULL_STATUS);
      expect(stored.meta.resourceVersion).toBe("8");
      expect(stored.status).toEqual(FULL_STATUS);
      expect(scene.asked.map(({ method }) => method)).toEqual(["GET", "PATCH", "PATCH", "GET"]);
    });
  });

  test.for([
    ["another status is stored", pool({ ...FULL_STATUS, error: "other" })],
    ["the pool was made anew", pool(FULL_STATUS, { uid: "other" })],
    ["the pool cannot be read", failure(403, "Forbidden", "no")],
  ] as const)("a lost answer whose repeat meets a conflict stays a conflict when %s", async ([, after]) => {
    await withServer([pool({}), hangUp, conflict, after], async (scene) => {
      const known = await read(scene);
      expect(await rejection(scene.writer.patchPoolStatus(known.meta, FULL_STATUS))).toMatchObject({
        failure: "conflict",
      });
    });
  });

  test("a conflict at the first try is a conflict, whatever is stored", async () => {
    await withServer([pool(FULL_STATUS), conflict, pool(FULL_STATUS)], async (scene) => {
      const known = await read(scene);
      expect(await rejection(scene.writer.patchPoolStatus(known.meta, FULL_STATUS))).toMatchObject({
        failure: "conflict",
      });
      expect(scene.asked).toHaveLength(2);
    });
  });
});

describe("setPoolFinalizer", () => {
  const ours = "flipop.digitalocean.com/cleanup";

  test("a lost removal whose repeat finds no object any more is success", async () => {
    const both = { finalizers: [ours] };
    await withServer([pool({}, both), hangUp, failure(404, "NotFound", "not found")], async (scene) => {
      const known = await read(scene);
      const removed = await scene.writer.setPoolFinalizer(known.meta, false);
      expect(removed).toEqual({ ...known, meta: { ...known.meta, finalizers: [] } });
    });
  });

  test("a lost addition whose repeat meets a conflict is success when the finalizer is stored", async () => {
    const after = pool({}, { resourceVersion: "8", finalizers: ["example.com/theirs", ours] });
    await withServer([pool({}), hangUp, conflict, after], async (scene) => {
      const known = await read(scene);
      expect((await scene.writer.setPoolFinalizer(known.meta, true)).meta.resourceVersion).toBe("8");
      expect(scene.asked[1]?.body).toEqual({
        metadata: { resourceVersion: "7", finalizers: ["example.com/theirs", ours] },
      });
    });
  });
});

describe("notePoolAcquisitions", () => {
  const text = "u 192.0.2.1";
  const note = { ips: ["192.0.2.1"], pending: [] };

  test("sends our annotation alone, and null for none", async () => {
    const annotations = { "flipop.digitalocean.com/acquired": text };
    await withServer([pool({}), pool({}, { annotations }), pool({})], async (scene) => {
      const noted = await scene.writer.notePoolAcquisitions((await read(scene)).meta, note);
      expect(noted.meta.note).toEqual(note);
      await scene.writer.notePoolAcquisitions(noted.meta, { ips: [], pending: [] });
      expect(scene.asked.slice(1).map(({ body }) => body)).toEqual(
        [text, null].map((value) => ({
          metadata: { resourceVersion: "7", annotations: { "flipop.digitalocean.com/acquired": value } },
        })),
      );
    });
  });

  test.for([
    ["is success when it is stored", text, "8"],
    ["stays a conflict when another one is stored", "u 192.0.2.2", undefined],
  ] as const)("a lost answer whose repeat meets a conflict %s", async ([, stored, version]) => {
    const after = pool({}, { resourceVersion: "8", annotations: { "flipop.digitalocean.com/acquired": stored } });
    await withServer([pool({}), hangUp, conflict, after], async (scene) => {
      const work = scene.writer.notePoolAcquisitions((await read(scene)).meta, note);
      if (version === undefined) expect(await rejection(work)).toMatchObject({ failure: "conflict" });
      else expect((await work).meta.resourceVersion).toBe(version);
    });
  });
});

describe("Leases", () => {
  const metadata = { namespace: "a", name: "l", uid: "u", resourceVersion: "1", labels: { theirs: "1" } };
  const times = { acquireTime: "2026-01-02T03:04:05.000000Z", renewTime: "2026-01-02T03:04:06.007000Z" };
  const spec = {
    holderIdentity: "me",
    leaseDurationSeconds: 15,
    leaseTransitions: 1,
    ...times,
    strategy: "OldestEmulationVersion",
  };
  const lease: Say = { json: { metadata: { ...metadata, managedFields: [{}] }, spec } };

  async function readLease({ writer }: Scene): Promise<LeaseRecord> {
    const found = await writer.readLease("a", "l");
    if (found === undefined) throw new Error("no lease");
    return found;
  }

  test("a replaced Lease keeps labels and unknown fields, and its times have 6 decimals", async () => {
    await withServer([lease, lease], async (scene) => {
      const known = await readLease(scene);
      await scene.writer.replaceLease({
        ...known,
        renewTimeMs: known.renewTimeMs + 1,
        annotations: { "example.com/a": "1" },
      });
      expect(scene.asked[1]).toMatchObject({
        method: "PUT",
        url: "/apis/coordination.k8s.io/v1/namespaces/a/leases/l",
      });
      expect(scene.asked[1]?.body).toEqual({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { ...metadata, annotations: { "example.com/a": "1" } },
        spec: { ...spec, renewTime: "2026-01-02T03:04:06.008000Z" },
      });
    });
  });

  test("a lost answer whose repeat meets a conflict is success when the stored Lease is what was sent", async () => {
    const stored: Say = { json: { metadata: { ...metadata, resourceVersion: "2" }, spec } };
    await withServer([lease, hangUp, conflict, stored], async (scene) => {
      const known = await readLease(scene);
      expect(await scene.writer.replaceLease(known)).toEqual({ ...known, resourceVersion: "2" });
    });
  });

  test("a lost answer whose repeat meets a conflict stays a conflict when someone else holds the Lease", async () => {
    const theirs: Say = {
      json: { metadata: { ...metadata, resourceVersion: "2" }, spec: { ...spec, holderIdentity: "you" } },
    };
    await withServer([lease, hangUp, conflict, theirs], async (scene) => {
      const known = await readLease(scene);
      expect(await rejection(scene.writer.replaceLease(known))).toMatchObject({ failure: "conflict" });
    });
  });
});

describe("createEvent", () => {
  test("about a record set names its kind", async () => {
    await withServer([{ json: {} }], async ({ writer, asked }) => {
      const about = { ...meta, generation: 1, createdAtMs: 0, isDeleting: false, labels: {} };
      const regarding = { kind: "NodeDNSRecordSet", meta: about } as const;
      await writer.createEvent({ regarding, type: "Normal", reason: "R", action: "A", note: "n" });
      expect(asked[0]?.body).toMatchObject({ regarding: { kind: "NodeDNSRecordSet", namespace: "a", name: "b" } });
    });
  });

  describe("of a failure that has its Event", () => {
    const about = { ...meta, generation: 1, createdAtMs: 0, isDeleting: false, labels: {} };
    const regarding = { kind: "NodeDNSRecordSet", meta: about } as const;
    const event = { regarding, type: "Warning", reason: "Failed", action: "A", note: "n" } as const;
    const exists = failure(409, "AlreadyExists", "it exists");
    const forbidden = failure(403, "Forbidden", "it is forbidden");

    test.for([
      ["get", [exists, forbidden]],
      ["patch", [exists, { json: {} }, forbidden]],
    ] as const)("says that the verb %s is missing to count it", async ([verb, answers]) => {
      await withServer([...answers], async ({ writer }) => {
        const refusal = await writer.createEvent(event);
        expect(refusal?.message).toContain(`Grant the verb "${verb}" on "events.events.k8s.io"`);
      });
    });

    test("passes over a count that fails for another reason", async () => {
      await withServer([exists, failure(404, "NotFound", "it is gone")], async ({ writer }) => {
        expect(await writer.createEvent(event)).toBeUndefined();
      });
    });
  });

  test("sends one events.k8s.io/v1 Event with a MicroTime and a note of at most 1,024 bytes", async () => {
    await withServer([{ json: {} }], async ({ writer, asked }) => {
      const about = { ...meta, name: "b".repeat(253), generation: 1, createdAtMs: 0, isDeleting: false, labels: {} };
      await writer.createEvent({
        regarding: { kind: "FloatingIPPool", meta: about },
        type: "Warning",
        reason: "Failed",
        action: "AssignIP",
        note: "ü".repeat(1000),
      });
      const body = asked[0]?.body as { metadata: { name: string }; note: string; eventTime: string };
      expect(asked[0]?.url).toBe("/apis/events.k8s.io/v1/namespaces/a/events");
      expect(body).toMatchObject({
        apiVersion: "events.k8s.io/v1",
        type: "Warning",
        reason: "Failed",
        action: "AssignIP",
        reportingController: "flipop.digitalocean.com/flipop",
        reportingInstance: "pod-1",
        regarding: { kind: "FloatingIPPool", namespace: "a", uid: "u", apiVersion: "flipop.digitalocean.com/v1alpha1" },
      });
      expect(body.eventTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(body.metadata.name).toHaveLength(253);
      expect(body.note).toBe(`${"ü".repeat(510)}…`);
    });
  });
});
