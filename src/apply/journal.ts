import { isDeepStrictEqual } from "node:util";
import { ConfigError, InternalError, KubeError, type KubeFailure } from "../model/errors.ts";
import { type AcquisitionNote, acquisitionNote, beyond, EMPTY_NOTE } from "../model/lease-notes.ts";
import { FINALIZER, type ObjectMeta, objectKey, type Pool, type RecordSet } from "../model/resource.ts";
import type { RoutedIP } from "../model/routed-ip.ts";
import type { ClusterWriter } from "../ports/cluster.ts";

/**
 * The objects of one kind as the cluster holds them, their statuses written in the middle of a run where something must be on record before it is done. A record
 * counts only when the API's answer contains it.
 */
export class Journal<O extends StoredObject> {
  readonly #access: ObjectAccess<O>;
  readonly #mayWrite: () => boolean;
  readonly #objects: Map<string, O>;
  readonly #broken = new Set<string>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(access: ObjectAccess<O>, objects: readonly O[], mayWrite: () => boolean) {
    this.#access = access;
    this.#mayWrite = mayWrite;
    this.#objects = new Map(objects.map((object) => [objectKey(object.meta), object]));
  }

  /** The kind of the objects, as Events name it. */
  get kind(): ObjectAccess<O>["kind"] {
    return this.#access.kind;
  }

  /** The object as last read or written; undefined when it is gone. */
  object(key: string): O | undefined {
    return this.#objects.get(key);
  }

  /** True once a write to the object failed: what must be on record before it is done can then not be done. */
  isBroken(key: string): boolean {
    return this.#broken.has(key);
  }

  /**
   * Adds or removes flipop's finalizer. An object changed meanwhile is read again once. One whose status is not what is known of it is left alone: what would follow,
   * a purchase say, was decided on another state. So is one that was made anew under the same name: for this journal the object is gone.
   *
   * @throws KubeError when it cannot be written.
   */
  async setFinalizer(key: string, isPresent: boolean): Promise<"set" | "gone" | "changed"> {
    const object = this.#objects.get(key);
    if (object === undefined) return "gone";
    try {
      return await this.#setFinalizer(key, object, isPresent);
    } catch (error) {
      // One that may be gone is set anew before anything rests on it.
      if (!isPresent && !object.meta.isDeleting && mayBeDone(error)) this.#objects.set(key, withoutFinalizer(object));
      throw error;
    }
  }

  async #setFinalizer(key: string, object: O, isPresent: boolean): Promise<"set" | "gone" | "changed"> {
    try {
      this.#objects.set(key, await this.#access.setFinalizer(object.meta, isPresent));
    } catch (error) {
      if (!(error instanceof KubeError) || (error.failure !== "conflict" && error.failure !== "not-found")) throw error;
      const fresh = await this.#access.read(object.meta);
      if (fresh?.meta.uid !== object.meta.uid) return "gone";
      if (!isDeepStrictEqual(fresh.status, object.status)) return "changed";
      this.#assertMayWrite(key, "finalizer");
      this.#objects.set(key, await this.#access.setFinalizer(fresh.meta, isPresent));
    }
    return "set";
  }

  /**
   * Writes the object's status as changed from what is stored; nothing when that is no change. Writes to one object are made one after another.
   *
   * What the object itself carries of it, in case the status is lost, follows in such an order that a note of an acquisition without an answer that status does not
   * know shows that status was lost: a new one is noted after status has it, and one that comes to nothing leaves the note before it leaves status.
   *
   * @returns true when the status was written.
   * @throws KubeError when the status cannot be written, or a new acquisition not noted; ConfigError when the cluster's CRD drops what was written.
   */
  record(key: string, change: (status: O["status"]) => O["status"]): Promise<boolean> {
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(() => this.#write(key, change));
    this.#turns.set(
      key,
      turn.catch(() => this.#broken.add(key)),
    );
    return turn;
  }

  async #write(key: string, change: (status: O["status"]) => O["status"]): Promise<boolean> {
    const object = this.#objects.get(key);
    if (object === undefined) return false;
    const note = this.#access.note?.of(change(object.status));
    if (note === undefined) return await this.#writeStatus(key, change);
    const noted = object.meta.note ?? EMPTY_NOTE;
    const settled = beyond(noted.pending, note.pending);
    // An address that status has and the note does not have yet tells the next run that the note is the older of the two.
    const isToldByStatus = beyond(note.ips, noted.ips).length > 0;
    if (settled.length > 0 && !isToldByStatus)
      await this.#note(key, { ips: noted.ips, pending: beyond(noted.pending, settled) }, "any");
    const isWritten = await this.#writeStatus(key, change);
    const work = this.#note(key, note, "same");
    // Without the note the status still has it all, and the next run writes it.
    await (beyond(note.pending, noted.pending).length > 0 ? work : work.catch(survive));
    return isWritten;
  }

  /** Writes the note unless the object has it; after a conflict once more, on the object as it is then. */
  async #note(key: string, note: AcquisitionNote, status: "any" | "same"): Promise<void> {
    const object = this.#objects.get(key);
    const write = this.#access.note?.write;
    if (object === undefined || write === undefined) return;
    if (isDeepStrictEqual(object.meta.note ?? EMPTY_NOTE, note)) return;
    this.#assertMayWrite(key, "annotation");
    try {
      this.#objects.set(key, await write(object.meta, note));
    } catch (error) {
      const fresh = await this.#changed(object, error);
      const isSame = isDeepStrictEqual(fresh.status, object.status);
      if (!isSame && status === "same") throw error;
      this.#assertMayWrite(key, "annotation");
      const stored = await write(fresh.meta, note);
      // A status that somebody else changed is not taken over: that of this run is not written then.
      if (isSame) this.#objects.set(key, stored);
    }
  }

  /** The object as it is now, after a conflict. @throws the error where it is none, or the object is gone */
  async #changed(object: O, error: unknown): Promise<O> {
    if (!(error instanceof KubeError) || error.failure !== "conflict") throw error;
    const fresh = await this.#access.read(object.meta);
    if (fresh?.meta.uid !== object.meta.uid) throw error;
    return fresh;
  }

  async #writeStatus(key: string, change: (status: O["status"]) => O["status"]): Promise<boolean> {
    const object = this.#objects.get(key);
    if (object === undefined) return false;
    const wanted = change(object.status);
    if (isDeepStrictEqual(wanted, object.status)) return false;
    this.#assertMayWrite(key, "status");
    const stored = await this.#patch(object, change);
    this.#objects.set(key, stored);
    const status: O["status"] = stored.status;
    const dropped = this.#access.recorded.find((field) => !isDeepStrictEqual(status[field], wanted[field]));
    if (dropped !== undefined) throw new ConfigError("invalid", crdTooOldText(this.#access.resource, String(dropped)));
    return true;
  }

  /** After a conflict the object is read again: a changed spec is no obstacle, a status changed by somebody else is. */
  async #patch(object: O, change: (status: O["status"]) => O["status"]): Promise<O> {
    try {
      return await this.#access.patchStatus(object.meta, change(object.status));
    } catch (error) {
      const fresh = await this.#changed(object, error);
      if (!isDeepStrictEqual(fresh.status, object.status)) throw error;
      this.#assertMayWrite(objectKey(object.meta), "status");
      return await this.#access.patchStatus(fresh.meta, change(fresh.status));
    }
  }

  /** Asked right before every write: the Lease may be lost during any wait. */
  #assertMayWrite(key: string, what: "status" | "finalizer" | "annotation"): void {
    if (this.#mayWrite()) return;
    const part = what === "status" ? "/status" : "";
    throw new KubeError({
      failure: "conflict",
      operation: `patch ${this.#access.resource}${part}`,
      subject: key,
      status: 0,
      message: `Did not write the ${what} of ${key}: the Lease was lost.`,
    });
  }
}

function crdTooOldText(resource: string, field: string): string {
  return (
    `The cluster's CRD ${resource}.flipop.digitalocean.com is older than this flipop: it dropped status.${field}. ` +
    `Apply the current one with \`kubectl apply -f cronjob/crds/${resource}.yaml\`.`
  );
}

function withoutFinalizer<O extends StoredObject>(object: O): O {
  const finalizers = object.meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
  return { ...object, meta: { ...object.meta, finalizers } };
}

/** A custom resource as the journal keeps it. */
interface StoredObject {
  readonly meta: ObjectMeta;
  readonly status: object;
}

/** How objects of one kind are read and written. */
interface ObjectAccess<O extends StoredObject> {
  /** Plural name of the resource. */
  readonly resource: string;
  /** The kind, as Events name it. */
  readonly kind: "FloatingIPPool" | "NodeDNSRecordSet" | "RoutedIP";
  /** Status fields that an answer must contain as they were sent, most important first; a CRD that does not know a field drops it silently. */
  readonly recorded: readonly (keyof O["status"])[];
  patchStatus(meta: ObjectMeta, status: O["status"]): Promise<O>;
  read(meta: ObjectMeta): Promise<O | undefined>;
  setFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<O>;
  /** What of a status is noted on the object a second time, and how; absent for a kind that needs none of that. */
  readonly note?: {
    readonly of: (status: O["status"]) => AcquisitionNote;
    readonly write: (meta: ObjectMeta, note: AcquisitionNote) => Promise<O>;
  };
}

const POOL_FIELDS = [
  "pendingAcquisitions",
  "acquired",
  "released",
  "retries",
  "lastAssignmentTime",
  "assignments",
  "publishedDNS",
  "formerDNS",
  "ips",
  "conditions",
] as const;

/** FloatingIPPools of a cluster. */
export function poolAccess(cluster: ClusterWriter): ObjectAccess<Pool> {
  return {
    resource: "floatingippools",
    kind: "FloatingIPPool",
    recorded: POOL_FIELDS,
    patchStatus: (meta, status) => cluster.patchPoolStatus(meta, status),
    read: (meta) => cluster.readPool(meta),
    setFinalizer: (meta, isPresent) => cluster.setPoolFinalizer(meta, isPresent),
    note: { of: acquisitionNote, write: (meta, note) => cluster.notePoolAcquisitions(meta, note) },
  };
}

/** RoutedIPs of a cluster, as the pools that were observed: their issuers and Services are not read again. */
export function routedIPAccess(cluster: ClusterWriter, observed: readonly Pool[]): ObjectAccess<Pool> {
  const pools = new Map(observed.map((pool) => [objectKey(pool.meta), pool]));
  const asPool = ({ meta, status }: RoutedIP): Pool => {
    const pool = pools.get(objectKey(meta));
    if (pool === undefined) throw new InternalError(`RoutedIP ${objectKey(meta)} was not observed.`);
    return { ...pool, meta, status };
  };
  return {
    resource: "routedips",
    kind: "RoutedIP",
    recorded: ["firewalls", ...POOL_FIELDS, "issuer", "pendingFirewalls"],
    patchStatus: async (meta, status) => asPool(await cluster.patchRoutedIPStatus(meta, status)),
    async read(meta) {
      const stored = await cluster.readRoutedIP(meta);
      return stored && asPool(stored);
    },
    setFinalizer: async (meta, isPresent) => asPool(await cluster.setRoutedIPFinalizer(meta, isPresent)),
    note: {
      of: acquisitionNote,
      write: async (meta, note) => asPool(await cluster.noteRoutedIPAcquisitions(meta, note)),
    },
  };
}

/** NodeDNSRecordSets of a cluster. */
export function recordSetAccess(cluster: ClusterWriter): ObjectAccess<RecordSet> {
  return {
    resource: "nodednsrecordsets",
    kind: "NodeDNSRecordSet",
    recorded: ["publishedDNS", "formerDNS", "retries", "unreadyNodes", "conditions"],
    patchStatus: (meta, status) => cluster.patchRecordSetStatus(meta, status),
    read: (meta) => cluster.readRecordSet(meta),
    setFinalizer: (meta, isPresent) => cluster.setRecordSetFinalizer(meta, isPresent),
  };
}

/** For the `catch` of a write to the cluster that the next run makes good: what the API refused is passed over, everything else is thrown. */
export function survive(error: unknown): void {
  if (!(error instanceof KubeError)) throw error;
}

const MAY_BE_DONE: ReadonlySet<KubeFailure> = new Set<KubeFailure>(["unavailable", "timeout", "malformed"]);

/** True for the failure of a write to the cluster that may have taken effect all the same. Pure. */
export function mayBeDone(error: unknown): boolean {
  return error instanceof KubeError && MAY_BE_DONE.has(error.failure);
}
