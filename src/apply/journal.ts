import { isDeepStrictEqual } from "node:util";
import { ConfigError, KubeError } from "../model/errors.ts";
import { objectKey, type Pool, type PoolStatus } from "../model/resource.ts";
import type { ClusterWriter } from "../ports/cluster.ts";

/** What an answer must contain as it was sent, most important first; a CRD that does not know a field drops it silently. */
const RECORDED = [
  "pendingAcquisitions",
  "acquired",
  "released",
  "retries",
  "lastAssignmentTime",
  "assignments",
  "ips",
  "conditions",
] as const;

/**
 * The statuses of the pools as the cluster holds them, written in the middle of a run where something must be on record before it is done. A record counts only
 * when the API's answer contains it.
 */
export class Journal {
  readonly #cluster: ClusterWriter;
  readonly #mayWrite: () => boolean;
  readonly #pools: Map<string, Pool>;
  readonly #broken = new Set<string>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(cluster: ClusterWriter, pools: readonly Pool[], mayWrite: () => boolean) {
    this.#cluster = cluster;
    this.#mayWrite = mayWrite;
    this.#pools = new Map(pools.map((pool) => [objectKey(pool.meta), pool]));
  }

  /** The pool as last read or written; undefined when it is gone. */
  pool(key: string): Pool | undefined {
    return this.#pools.get(key);
  }

  /** True once a write to the pool failed: what must be on record before it is done can then not be done. */
  isBroken(key: string): boolean {
    return this.#broken.has(key);
  }

  /** Enters what another write answered. */
  keep(pool: Pool): void {
    this.#pools.set(objectKey(pool.meta), pool);
  }

  /**
   * Writes the pool's status as changed from what is stored; nothing when that is no change. Writes to one pool are made one after another.
   *
   * @returns true when something was written.
   * @throws KubeError when the status cannot be written; ConfigError when the cluster's CRD drops what was written.
   */
  record(key: string, change: (status: PoolStatus) => PoolStatus): Promise<boolean> {
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(() => this.#write(key, change));
    this.#turns.set(
      key,
      turn.catch(() => this.#broken.add(key)),
    );
    return turn;
  }

  async #write(key: string, change: (status: PoolStatus) => PoolStatus): Promise<boolean> {
    const pool = this.#pools.get(key);
    if (pool === undefined) return false;
    const wanted = change(pool.status);
    if (isDeepStrictEqual(wanted, pool.status)) return false;
    this.#assertMayWrite(key);
    const stored = await this.#patch(pool, change);
    this.#pools.set(key, stored);
    const dropped = RECORDED.find((field) => !isDeepStrictEqual(stored.status[field], wanted[field]));
    if (dropped !== undefined) throw new ConfigError("invalid", crdTooOldText(dropped));
    return true;
  }

  /** Asked right before every write: the Lease may be lost during any wait. */
  #assertMayWrite(key: string): void {
    if (this.#mayWrite()) return;
    throw new KubeError({
      failure: "conflict",
      operation: "patch floatingippools/status",
      subject: key,
      status: 0,
      message: `Did not write the status of ${key}: the Lease was lost.`,
    });
  }

  /** After a conflict the object is read again: a changed spec is no obstacle, a status changed by somebody else is. */
  async #patch(pool: Pool, change: (status: PoolStatus) => PoolStatus): Promise<Pool> {
    try {
      return await this.#cluster.patchPoolStatus(pool.meta, change(pool.status));
    } catch (error) {
      if (!(error instanceof KubeError) || error.failure !== "conflict") throw error;
      const fresh = await this.#cluster.readPool(pool.meta);
      if (fresh === undefined || !isDeepStrictEqual(fresh.status, pool.status)) throw error;
      this.#assertMayWrite(objectKey(pool.meta));
      return await this.#cluster.patchPoolStatus(fresh.meta, change(fresh.status));
    }
  }
}

function crdTooOldText(field: string): string {
  return (
    `The cluster's CRD floatingippools.flipop.digitalocean.com is older than this flipop: it dropped status.${field}. ` +
    "Apply the current one with `kubectl apply -f cronjob/crds/floatingippools.yaml`."
  );
}
