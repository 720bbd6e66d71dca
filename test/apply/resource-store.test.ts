import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { poolAccess, ResourceStore } from "../../src/apply/resource-store.ts";
import type { AcquisitionNote } from "../../src/model/acquisition-memory.ts";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import { FINALIZER, type ObjectMeta, type Pool, type PoolStatus } from "../../src/model/resource.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { aPool } from "../plan/builders.ts";

const WEB = { namespace: "ingress", name: "web" };

/** The calls a store makes, over one stored pool. */
class OnePool {
  stored: Pool = aPool();
  readonly writes: PoolStatus[] = [];
  prune: (status: PoolStatus) => PoolStatus = (status) => status;

  async patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
    if (meta.resourceVersion !== this.stored.meta.resourceVersion) throw conflict();
    const refusal = this.refuse("status");
    if (refusal !== undefined) throw refusal;
    this.writes.push(status);
    this.order.push(`status ${status.acquired.length} acquired, ${status.pendingAcquisitions.length} pending`);
    this.stored = {
      ...this.stored,
      status: this.prune(status),
      meta: { ...this.stored.meta, resourceVersion: `${meta.resourceVersion}1` },
    };
    return this.stored;
  }

  /** Every note and status written, in order. */
  readonly order: string[] = [];
  refuse: (what: "note" | "status" | "finalizer") => KubeError | undefined = () => undefined;

  async notePoolAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<Pool> {
    const refusal = meta.resourceVersion === this.stored.meta.resourceVersion ? this.refuse("note") : conflict();
    if (refusal !== undefined) throw refusal;
    this.order.push(`note ${[...note.ips, ...note.pending.map((place) => `pending ${place}`)].join(", ")}`);
    this.edit({ meta: { ...this.stored.meta, note } });
    return this.stored;
  }

  async setPoolFinalizer({ finalizers, resourceVersion }: ObjectMeta, isPresent: boolean): Promise<Pool> {
    if (resourceVersion !== this.stored.meta.resourceVersion) throw conflict();
    const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
    this.edit({ meta: { ...this.stored.meta, finalizers: isPresent ? [...others, FINALIZER] : others } });
    const lost = this.refuse("finalizer");
    if (lost !== undefined) throw lost;
    return this.stored;
  }

  async readPool(): Promise<Pool> {
    return this.stored;
  }

  /** Somebody else writes. */
  edit(change: Partial<Pool>): void {
    const changed = { ...this.stored, ...change };
    this.stored = { ...changed, meta: { ...changed.meta, resourceVersion: `${changed.meta.resourceVersion}9` } };
  }
}

function conflict(): KubeError {
  return new KubeError({
    failure: "conflict",
    operation: "patch floatingippools/status",
    subject: "ingress/web",
    status: 409,
    message: "changed",
  });
}

function open(cluster: OnePool, mayWrite = true): ResourceStore<Pool> {
  return new ResourceStore(poolAccess(cluster as unknown as ClusterWriter), [cluster.stored], () => mayWrite);
}

const withError = (error: string) => (status: PoolStatus) => ({ ...status, error });

const INTENT = { startedAt: "2026-08-01T12:00:00Z", region: "nyc3", knownIPs: [] };

const withIntent = (status: PoolStatus): PoolStatus => ({ ...status, pendingAcquisitions: [INTENT] });
const withoutIntent = (status: PoolStatus): PoolStatus => ({ ...status, pendingAcquisitions: [] });
const withAnswer = (status: PoolStatus): PoolStatus => ({
  ...withoutIntent(status),
  acquired: [{ ip: "192.0.2.1", acquiredAt: INTENT.startedAt }],
});

function forbidden(): KubeError {
  return new KubeError({
    failure: "forbidden",
    operation: "patch floatingippools",
    subject: "ingress/web",
    status: 403,
    message: "forbidden",
  });
}

describe("what the store notes on the object", () => {
  test("an acquisition is noted after status has it, its answer after that; nothing is written a second time", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    await store.updateStatus(WEB, withIntent);
    await store.updateStatus(WEB, withAnswer);
    await store.updateStatus(WEB, withAnswer);
    expect(cluster.order).toEqual([
      "status 0 acquired, 1 pending",
      "note pending nyc3",
      "status 1 acquired, 0 pending",
      "note 192.0.2.1",
    ]);
  });

  test("an acquisition that came to nothing leaves the note before it leaves status", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    await store.updateStatus(WEB, withIntent);
    await store.updateStatus(WEB, withoutIntent);
    expect(cluster.order.slice(2)).toEqual(["note ", "status 0 acquired, 0 pending"]);
  });

  test("it stays in status where it cannot leave the note", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    await store.updateStatus(WEB, withIntent);
    cluster.refuse = (what) => (what === "note" ? forbidden() : undefined);
    await expect(store.updateStatus(WEB, withoutIntent)).rejects.toThrow("forbidden");
    expect(cluster.stored.status.pendingAcquisitions).toEqual([INTENT]);
  });

  test("an acquisition that cannot be noted is an error, an address that cannot be is none", async () => {
    const cluster = new OnePool();
    cluster.refuse = (what) => (what === "note" ? forbidden() : undefined);
    const store = open(cluster);
    await expect(store.updateStatus(WEB, withIntent)).rejects.toThrow("forbidden");
    await store.updateStatus(WEB, withAnswer);
    expect(cluster.stored.status.acquired).toHaveLength(1);
  });

  test("a status lost meanwhile: what was acquired is not noted over it, and the object is left as it is", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    await store.updateStatus(WEB, withIntent);
    cluster.edit({ status: { ...cluster.stored.status, pendingAcquisitions: [] } });
    await expect(store.updateStatus(WEB, withAnswer)).rejects.toThrow("changed");
    expect(cluster.stored.meta.note).toEqual({ ips: [], pending: ["nyc3"] });
  });

  test("a spec edited meanwhile is no obstacle to a note", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    await store.updateStatus(WEB, withIntent);
    cluster.edit({ spec: { ...cluster.stored.spec, ips: ["192.0.2.7"] } });
    await store.updateStatus(WEB, withoutIntent);
    expect(cluster.stored.meta.note).toEqual({ ips: [], pending: [] });
  });
});

describe("resource store", () => {
  test("writes a change once and nothing when nothing changes", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    expect(await store.updateStatus(WEB, withError("a"))).toBe(true);
    expect(await store.updateStatus(WEB, withError("a"))).toBe(false);
    expect(cluster.writes).toHaveLength(1);
  });

  test("writes of one pool build on each other, also when they are asked for at once", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    const acquired = (ip: string) => (status: PoolStatus) => ({
      ...status,
      acquired: [...status.acquired, { ip, acquiredAt: "2026-08-01T12:00:00Z" }],
    });
    await Promise.all([store.updateStatus(WEB, acquired("192.0.2.1")), store.updateStatus(WEB, acquired("192.0.2.2"))]);
    expect(cluster.stored.status.acquired.map(({ ip }) => ip)).toEqual(["192.0.2.1", "192.0.2.2"]);
  });

  test.for([false, true])(
    "a change that reads a clock is asked once: what it said is sent and expected (edited: %s)",
    async (isEdited) => {
      const cluster = new OnePool();
      const store = open(cluster);
      if (isEdited) cluster.edit({ spec: { ...cluster.stored.spec, ips: ["192.0.2.7"] } });
      let ms = 0;
      const timed = (status: PoolStatus): PoolStatus => {
        ms += 1;
        return { ...status, lastAssignmentTime: new Date(ms).toISOString() };
      };
      expect(await store.updateStatus(WEB, timed)).toBe(true);
      expect(cluster.stored.status.lastAssignmentTime).toBe("1970-01-01T00:00:00.001Z");
    },
  );

  test("a spec edited meanwhile is no obstacle, and stays as the user wrote it", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    cluster.edit({ spec: { ...cluster.stored.spec, ips: ["192.0.2.7"] } });
    await store.updateStatus(WEB, withError("a"));
    expect(cluster.stored.spec.ips).toEqual(["192.0.2.7"]);
    expect(cluster.stored.status.error).toBe("a");
  });

  test("a status somebody else changed is not overwritten, and the pool counts as broken", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    cluster.edit({ status: { ...cluster.stored.status, error: "theirs" } });
    await expect(store.updateStatus(WEB, withError("a"))).rejects.toThrow("changed");
    expect(cluster.stored.status.error).toBe("theirs");
    expect(store.hasFailedWrite(WEB)).toBe(true);
  });

  test("a pool that was made anew under the same name is not given the status of the deleted one", async () => {
    const cluster = new OnePool();
    const store = open(cluster);
    cluster.edit({ meta: { ...cluster.stored.meta, uid: "anew" } });
    await expect(store.updateStatus(WEB, withIntent)).rejects.toThrow("changed");
    expect(cluster.stored.status.pendingAcquisitions).toEqual([]);
    expect(store.hasFailedWrite(WEB)).toBe(true);
  });

  test.for([true, false])(
    "a pool that was made anew under the same name keeps its own finalizers, and nothing is done for it: %s",
    async (isPresent) => {
      const cluster = new OnePool();
      const finalizers = isPresent ? [] : [FINALIZER];
      cluster.stored = { ...cluster.stored, meta: { ...cluster.stored.meta, finalizers } };
      const store = open(cluster);
      cluster.edit({ meta: { ...cluster.stored.meta, uid: "anew" } });
      expect(await store.setFinalizer(WEB, isPresent)).toBe("gone");
      expect(cluster.stored.meta.finalizers).toEqual(finalizers);
    },
  );

  test("what an old CRD drops is not on record: the error names the field and the file to apply", async () => {
    const cluster = new OnePool();
    cluster.prune = (status) => ({ ...status, acquired: [] });
    const store = open(cluster);
    const write = store.updateStatus(WEB, (status) => ({
      ...status,
      acquired: [{ ip: "192.0.2.1", acquiredAt: "2026-08-01T12:00:00Z" }],
    }));
    await expect(write).rejects.toThrow(ConfigError);
    await expect(write).rejects.toThrow(
      "dropped status.acquired. Apply the current one with `kubectl apply -f cronjob/crds/floatingippools.yaml`.",
    );
  });

  test("nothing is written once the lock is lost", async () => {
    const cluster = new OnePool();
    await expect(open(cluster, false).updateStatus(WEB, withError("a"))).rejects.toThrow("the Lease was lost");
    expect(cluster.writes).toEqual([]);
  });
});

test.for([
  ["timeout", false, []],
  ["forbidden", false, [FINALIZER]],
  ["timeout", true, [FINALIZER]],
] as const)(
  "a finalizer whose removal ends in %s, of an object being deleted: %s, is believed to be %j",
  async ([failure, isDeleting, expected]) => {
    const cluster = new OnePool();
    cluster.stored = { ...cluster.stored, meta: { ...cluster.stored.meta, isDeleting, finalizers: [FINALIZER] } };
    const store = open(cluster);
    const lost = { failure, operation: "patch", subject: "ingress/web", status: 0, message: "lost" } as const;
    cluster.refuse = () => new KubeError(lost);
    await expect(store.setFinalizer(WEB, false)).rejects.toThrow("lost");
    expect(store.get(WEB)?.meta.finalizers).toEqual(expected);
  },
);

test("a finalizer is set beside a status of the same run whose answer is still under way", async () => {
  const cluster = new OnePool();
  const patch = cluster.patchPoolStatus.bind(cluster);
  cluster.patchPoolStatus = async (meta, status) => {
    const answer = await patch(meta, status);
    await setTimeout(5);
    return answer;
  };
  const own = open(cluster);
  const status = own.updateStatus(WEB, withError("told"));
  await setTimeout(1);
  expect(cluster.stored.status.error).toBe("told");
  expect(await own.setFinalizer(WEB, true)).toBe("set");
  expect(await status).toBe(true);
  expect(cluster.stored).toMatchObject({ status: { error: "told" }, meta: { finalizers: [FINALIZER] } });
});
