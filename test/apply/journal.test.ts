import { describe, expect, test } from "vitest";
import { Journal } from "../../src/apply/journal.ts";
import { poolAccess } from "../../src/apply/object-access.ts";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import type { ObjectMeta, Pool, PoolStatus } from "../../src/model/resource.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { aPool } from "../plan/builders.ts";

/** The two calls a journal makes, over one stored pool. */
class OnePool {
  stored: Pool = aPool();
  readonly writes: PoolStatus[] = [];
  prune: (status: PoolStatus) => PoolStatus = (status) => status;

  async patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
    if (meta.resourceVersion !== this.stored.meta.resourceVersion) throw conflict();
    this.writes.push(status);
    this.stored = {
      ...this.stored,
      status: this.prune(status),
      meta: { ...this.stored.meta, resourceVersion: `${meta.resourceVersion}1` },
    };
    return this.stored;
  }

  async readPool(): Promise<Pool> {
    return this.stored;
  }

  /** Somebody else writes. */
  edit(change: Partial<Pool>): void {
    this.stored = {
      ...this.stored,
      ...change,
      meta: { ...this.stored.meta, resourceVersion: `${this.stored.meta.resourceVersion}9` },
    };
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

function open(cluster: OnePool, mayWrite = true): Journal<Pool> {
  return new Journal(poolAccess(cluster as unknown as ClusterWriter), [cluster.stored], () => mayWrite);
}

const withError = (error: string) => (status: PoolStatus) => ({ ...status, error });

describe("journal", () => {
  test("writes a change once and nothing when nothing changes", async () => {
    const cluster = new OnePool();
    const journal = open(cluster);
    expect(await journal.record("ingress/web", withError("a"))).toBe(true);
    expect(await journal.record("ingress/web", withError("a"))).toBe(false);
    expect(cluster.writes).toHaveLength(1);
  });

  test("writes of one pool build on each other, also when they are asked for at once", async () => {
    const cluster = new OnePool();
    const journal = open(cluster);
    const acquired = (ip: string) => (status: PoolStatus) => ({
      ...status,
      acquired: [...status.acquired, { ip, acquiredAt: "2026-08-01T12:00:00Z" }],
    });
    await Promise.all([
      journal.record("ingress/web", acquired("192.0.2.1")),
      journal.record("ingress/web", acquired("192.0.2.2")),
    ]);
    expect(cluster.stored.status.acquired.map(({ ip }) => ip)).toEqual(["192.0.2.1", "192.0.2.2"]);
  });

  test("a spec edited meanwhile is no obstacle, and stays as the user wrote it", async () => {
    const cluster = new OnePool();
    const journal = open(cluster);
    cluster.edit({ spec: { ...cluster.stored.spec, ips: ["192.0.2.7"] } });
    await journal.record("ingress/web", withError("a"));
    expect(cluster.stored.spec.ips).toEqual(["192.0.2.7"]);
    expect(cluster.stored.status.error).toBe("a");
  });

  test("a status somebody else changed is not overwritten, and the pool counts as broken", async () => {
    const cluster = new OnePool();
    const journal = open(cluster);
    cluster.edit({ status: { ...cluster.stored.status, error: "theirs" } });
    await expect(journal.record("ingress/web", withError("a"))).rejects.toThrow("changed");
    expect(cluster.stored.status.error).toBe("theirs");
    expect(journal.isBroken("ingress/web")).toBe(true);
  });

  test("what an old CRD drops is not on record: the error names the field and the file to apply", async () => {
    const cluster = new OnePool();
    cluster.prune = (status) => ({ ...status, acquired: [] });
    const journal = open(cluster);
    const write = journal.record("ingress/web", (status) => ({
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
    await expect(open(cluster, false).record("ingress/web", withError("a"))).rejects.toThrow("the Lease was lost");
    expect(cluster.writes).toEqual([]);
  });
});
