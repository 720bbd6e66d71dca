import { isDeepStrictEqual } from "node:util";
import {
  type AcquisitionNote,
  acquisitionNote,
  beyond,
  EMPTY_NOTE,
  restoreMemory,
  withOwnMeta,
  withoutProvider,
} from "../model/acquisition-memory.ts";
import { type ObjectRef, refKey } from "../model/action.ts";
import { entryOf } from "../model/address.ts";
import { CRDTooOld, InternalError, KubeError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import { memoryOf } from "../model/record-types.ts";
import {
  type DNSMemory,
  FINALIZER,
  type ObjectMeta,
  objectKey,
  type Pool,
  type PoolStatus,
  type RecordSet,
  type RecordSetStatus,
} from "../model/resource.ts";
import type { RoutedIP } from "../model/routed-ip.ts";
import { laterTime } from "../model/time.ts";
import type { ClusterWriter } from "../ports/cluster.ts";

/** All objects of flipop as the cluster stores them, by the kind of {@link ObjectRef}. One pass has one. */
export class ResourceStores {
  readonly pool: ResourceStore<Pool>;
  readonly routedip: ResourceStore<Pool>;
  readonly dns: ResourceStore<RecordSet>;
  /** The RoutedIPs as pools, as they were observed last, by {@link objectKey}. */
  readonly #routed: Map<string, Pool>;

  /**
   * @param observed - the objects as they were read
   * @param mayWrite - asked right before every write: the Lease may be lost during any wait
   */
  constructor(
    cluster: ClusterWriter,
    { pools, recordSets }: Pick<Observation, "pools" | "recordSets">,
    mayWrite: () => boolean,
  ) {
    const ofKind = (kind: Pool["kind"]): readonly Pool[] => pools.filter((pool) => pool.kind === kind);
    this.#routed = byKey(ofKind("routedip"));
    this.pool = new ResourceStore(poolAccess(cluster), ofKind("pool"), mayWrite);
    this.routedip = new ResourceStore(routedIPAccess(cluster, this.#routed), ofKind("routedip"), mayWrite);
    this.dns = new ResourceStore(recordSetAccess(cluster), recordSets, mayWrite);
  }

  /** True for an object that was observed, or one made anew since: not for one that has taken its name. */
  knows(object: Pool | RecordSet): boolean {
    const stored = "kind" in object ? this.ownersOf(object).get(object.meta) : this.dns.get(object.meta);
    return stored?.meta.uid === object.meta.uid;
  }

  /** Takes over objects as they were observed once more. What this process has written of them stands. */
  learn({ pools, recordSets }: Pick<Observation, "pools" | "recordSets">): void {
    const routed = pools.filter(({ kind }) => kind === "routedip");
    for (const [key, pool] of byKey(routed)) this.#routed.set(key, pool);
    this.routedip.learn(routed);
    this.pool.learn(pools.filter(({ kind }) => kind === "pool"));
    this.dns.learn(recordSets);
  }

  /** Returns the store of an object that owns addresses. */
  ownersOf({ kind }: Pick<ObjectRef, "kind">): ResourceStore<Pool> {
    return kind === "routedip" ? this.routedip : this.pool;
  }

  /**
   * Returns the observation with its objects as they are stored now, and with what only their annotations still show.
   *
   *   an object in `written`    has its stored status, which the newest plan wrote whole
   *   any other object          has the observed status, which knows what came of its actions, with {@link STORED_FIRST} from the stored one
   *
   * A spec stays as it was read: a status computed from it must not pass for one of an edit that came meanwhile.
   */
  enterInto(observation: Observation, written: ReadonlySet<string>, nowMs: number): Observation {
    const enter = <O extends Pool | RecordSet>(object: O, kind: ObjectRef["kind"], store: ResourceStore<O>): O => {
      const stored = store.get(object.meta);
      if (stored === undefined) return object;
      const meta = { ...stored.meta, generation: object.meta.generation };
      const isWritten = written.has(refKey({ kind, ...object.meta }));
      return { ...object, meta, status: isWritten ? stored.status : withStored(object, stored.status) };
    };
    return {
      ...observation,
      pools: observation.pools.map((pool) => restoreMemory(enter(pool, pool.kind, this.ownersOf(pool)), nowMs)),
      recordSets: observation.recordSets.map((recordSet) => enter(recordSet, "dns", this.dns)),
    };
  }
}

/** What is written to status while actions run, so that the stored value is the newer one. */
const STORED_FIRST: ReadonlySet<string> = new Set([
  "acquired",
  "pendingAcquisitions",
  "firewalls",
  "publishedDNS",
  "formerDNS",
]);

/** The time of an assignment is stored before its call only where the pool has a cool-off. */
function withStored<O extends Pool | RecordSet>({ spec, status }: O, stored: O["status"]): O["status"] {
  const ipv6 = "ipv6" in stored && stored.ipv6 !== undefined ? { ipv6: newerNames(status, stored.ipv6) } : {};
  const newer = { ...Object.fromEntries(Object.entries(stored).filter(([field]) => STORED_FIRST.has(field))), ...ipv6 };
  if (!("ips" in status && "ips" in stored)) return { ...status, ...newer };
  const known = { ...status, ...newer, ips: withBought(status.ips, stored) };
  const hasCoolOff = "assignmentCoolOffSeconds" in spec && spec.assignmentCoolOffSeconds > 0;
  const lastAssignmentTime = laterTime(stored.lastAssignmentTime, status.lastAssignmentTime);
  return hasCoolOff && lastAssignmentTime !== undefined ? { ...known, lastAssignmentTime } : known;
}

/** The entries of addresses, with those that were just bought. Until a purchase has ended, only the stored status says for which node it was. */
function withBought(ips: PoolStatus["ips"], stored: PoolStatus): PoolStatus["ips"] {
  const bought = stored.acquired.flatMap(({ ip }) => {
    const entry = entryOf(ips, ip) === undefined ? entryOf(stored.ips, ip) : undefined;
    return entry?.state === "in-progress" ? [[ip, entry] as const] : [];
  });
  return bought.length === 0 ? ips : { ...ips, ...Object.fromEntries(bought) };
}

/** What is known of AAAA records, with what is stored of their names. */
function newerNames(known: Pool["status"] | RecordSet["status"], stored: DNSMemory): DNSMemory {
  const { publishedDNS, formerDNS } = stored;
  return { ...memoryOf(known, "AAAA"), formerDNS, ...(publishedDNS === undefined ? {} : { publishedDNS }) };
}

/**
 * The objects of one kind as the cluster stores them: as last read, or as the API server answered the last write. A write counts only when the answer contains it.
 *
 * Acquisitions are stored twice: in `status`, and in the annotation `flipop.digitalocean.com/acquired` in case status gets lost.
 *
 *   an acquisition …            first write  second write  if the second write fails
 *   is about to be sent         status       annotation    throws; nothing is bought
 *   brought an address          status       annotation    ignored; the next run writes it
 *   … that status drops         –            annotation    ignored; the object has an error
 *   ended without an address    annotation   status        throws; it stays pending in status
 *
 * Invariant: a pending acquisition that only the annotation shows means: status was lost ({@link restoreMemory}).
 * Exception: status has an address that the annotation lacks. Then the annotation is the older copy.
 */
export class ResourceStore<O extends StoredObject> {
  readonly #access: ObjectAccess<O>;
  readonly #mayWrite: () => boolean;
  readonly #objects: Map<string, O>;
  readonly #failed = new Set<string>();
  /** By object, the end of its newest write. */
  readonly #lastWrites = new Map<string, Promise<unknown>>();

  constructor(access: ObjectAccess<O>, objects: readonly O[], mayWrite: () => boolean) {
    this.#access = access;
    this.#mayWrite = mayWrite;
    this.#objects = byKey(objects);
  }

  /** The kind of the objects, as Events name it. */
  get kind(): ObjectAccess<O>["kind"] {
    return this.#access.kind;
  }

  /** Returns the object as last read or written; undefined if it is gone. */
  get(name: ObjectName): O | undefined {
    return this.#objects.get(objectKey(name));
  }

  /** Takes over objects as they were observed once more. Of one that is known, what only flipop writes stands as it was written. */
  learn(objects: readonly O[]): void {
    for (const object of objects) {
      const key = objectKey(object.meta);
      const known = this.#objects.get(key);
      const isSame = known?.meta.uid === object.meta.uid;
      const own = isSame ? { status: known.status, meta: withOwnMeta(object.meta, known.meta) } : {};
      this.#objects.set(key, { ...object, ...own });
      if (!isSame) this.#failed.delete(key);
    }
  }

  /** True once a status write of the object has failed: what must be stored before it is done cannot be done then. */
  hasFailedWrite(name: ObjectName): boolean {
    return this.#failed.has(objectKey(name));
  }

  /** True where two statuses differ, and only in what people read: nothing is decided by it, and nothing is lost where it comes late. */
  onlyTells(before: O["status"], after: O["status"]): boolean {
    return isDeepStrictEqual(decisive(after), decisive(before)) && !isDeepStrictEqual(after, before);
  }

  /**
   * Adds or removes flipop's finalizer, once the writes of the object's status that were asked for before have ended. On `conflict` or `not-found` it reads the object again, once:
   * 1. The object is gone, or was made anew under its name: returns "gone".
   * 2. Its status differs from the one we last read or wrote: returns "changed". The plan was made for the old status.
   * 3. Otherwise: writes the finalizer to the new version and returns "set".
   *
   * @throws KubeError when it cannot be written
   */
  setFinalizer(name: ObjectName, isPresent: boolean): Promise<"set" | "gone" | "changed"> {
    const key = objectKey(name);
    const write = (this.#lastWrites.get(key) ?? Promise.resolve()).then(() => this.#writeFinalizer(key, isPresent));
    this.#lastWrites.set(
      key,
      write.catch(() => undefined),
    );
    return write;
  }

  async #writeFinalizer(key: string, isPresent: boolean): Promise<"set" | "gone" | "changed"> {
    const object = this.#objects.get(key);
    if (object === undefined) return "gone";
    try {
      return await this.#setFinalizer(key, object, isPresent);
    } catch (error) {
      // A finalizer that may be gone is set anew before anything rests on it.
      if (!isPresent && !object.meta.isDeleting && isAmbiguousWrite(error))
        this.#objects.set(key, withoutFinalizer(object));
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
   * Applies `change` to the stored status, once, and writes the result, unless nothing changed. Writes to one object run one after another.
   *
   * @returns true when the status was written
   * @throws KubeError when the status cannot be written, or the annotation cannot be in the first and third row above; CRDTooOld when the cluster's CRD drops what was written
   */
  updateStatus(name: ObjectName, change: (status: O["status"]) => O["status"]): Promise<boolean> {
    const key = objectKey(name);
    const write = (this.#lastWrites.get(key) ?? Promise.resolve()).then(() => this.#write(key, change));
    this.#lastWrites.set(
      key,
      write.catch(() => this.#failed.add(key)),
    );
    return write;
  }

  async #write(key: string, change: (status: O["status"]) => O["status"]): Promise<boolean> {
    const object = this.#objects.get(key);
    if (object === undefined) return false;
    const desired = change(object.status);
    const note = this.#access.note?.of(desired);
    if (note === undefined) return await this.#writeStatus(key, desired);
    const noted = object.meta.note ?? EMPTY_NOTE;
    const ended = beyond(noted.pending, note.pending);
    const isOlder = beyond(note.ips, noted.ips).length > 0;
    if (ended.length > 0 && !isOlder)
      await this.#writeNote(key, { ips: noted.ips, pending: beyond(noted.pending, ended) }, "any");
    const isNewPending = beyond(note.pending, noted.pending).length > 0;
    const isWritten = await this.#writeStatus(key, desired).catch(async (error: unknown) => {
      // What a definition drops of an address that was bought would be lost for good: the note is all that is left to know it by.
      if (error instanceof CRDTooOld && !isNewPending) await this.#writeNote(key, note, "same").catch(ignoreKubeError);
      throw error;
    });
    const work = this.#writeNote(key, note, "same");
    // Without the note the status still has it all, and the next run writes it.
    await (isNewPending ? work : work.catch(ignoreKubeError));
    return isWritten;
  }

  /** Writes the note unless the object has it; after a conflict once more, on the object as it is then. `status` says whether that object's status may have changed, too. */
  async #writeNote(key: string, note: AcquisitionNote, status: "any" | "same"): Promise<void> {
    const object = this.#objects.get(key);
    const write = this.#access.note?.write;
    if (object === undefined || write === undefined) return;
    if (isDeepStrictEqual(object.meta.note ?? EMPTY_NOTE, note)) return;
    this.#assertMayWrite(key, "annotation");
    try {
      this.#objects.set(key, await write(object.meta, note));
    } catch (error) {
      const fresh = await this.#readAfterConflict(object, error);
      const isSame = isDeepStrictEqual(fresh.status, object.status);
      if (!isSame && status === "same") throw error;
      this.#assertMayWrite(key, "annotation");
      const stored = await write(fresh.meta, note);
      // A status that somebody else changed is not taken over: that of this run is not written then.
      if (isSame) this.#objects.set(key, stored);
    }
  }

  async #writeStatus(key: string, desired: O["status"]): Promise<boolean> {
    const object = this.#objects.get(key);
    if (object === undefined) return false;
    if (isDeepStrictEqual(desired, object.status)) return false;
    this.#assertMayWrite(key, "status");
    const stored = await this.#patchStatus(object, desired);
    this.#objects.set(key, stored);
    const status: O["status"] = stored.status;
    const [answered, wanted] = [comparable(status), comparable(desired)];
    const isChanged = (field: keyof O["status"]): boolean => !isDeepStrictEqual(answered[field], wanted[field]);
    // What only tells people something is checked, too: dropped, it would be written again at every pass.
    const told = Object.keys(wanted).toSorted() as (keyof O["status"])[];
    const dropped =
      this.#access.recorded.find(isChanged) ?? told.find((field) => isChanged(field) && isEmpty(answered[field]));
    if (dropped === undefined) return true;
    if (dropped === "formerDNS") await this.#takeBackName(key, stored, object.status);
    throw new CRDTooOld(crdTooOldText(this.#access.resource, String(dropped)));
  }

  /** Where a definition forgets the name before, the name that is published stays on record as it was: with it the records there would be forgotten for good, and nobody would be told again. */
  async #takeBackName(key: string, stored: O, { publishedDNS }: Partial<DNSMemory>): Promise<void> {
    const { publishedDNS: _new, ...status } = stored.status as O["status"] & Partial<DNSMemory>;
    const before = { ...status, ...(publishedDNS === undefined ? {} : { publishedDNS }) } as O["status"];
    if (isDeepStrictEqual(before, stored.status)) return;
    this.#assertMayWrite(key, "status");
    await this.#access.patchStatus(stored.meta, before).then((again) => this.#objects.set(key, again), ignoreKubeError);
  }

  /** After a conflict the object is read again: a changed spec is no obstacle, a status changed by somebody else is. */
  async #patchStatus(object: O, desired: O["status"]): Promise<O> {
    try {
      return await this.#access.patchStatus(object.meta, desired);
    } catch (error) {
      const fresh = await this.#readAfterConflict(object, error);
      if (!isDeepStrictEqual(fresh.status, object.status)) throw error;
      this.#assertMayWrite(objectKey(object.meta), "status");
      return await this.#access.patchStatus(fresh.meta, desired);
    }
  }

  /** @throws the error where it is no conflict, or the object is gone */
  async #readAfterConflict(object: O, error: unknown): Promise<O> {
    if (!(error instanceof KubeError) || error.failure !== "conflict") throw error;
    const fresh = await this.#access.read(object.meta);
    if (fresh?.meta.uid !== object.meta.uid) throw error;
    return fresh;
  }

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

/** The fields of a status that only tell people something. */
const TOLD_FIELDS: ReadonlySet<string> = new Set([
  "conditions",
  "summary",
  "error",
  "state",
  "assignableNodes",
  "nodeErrors",
] satisfies readonly (keyof PoolStatus | keyof RecordSetStatus)[]);

/** What of a status decides something. */
function decisive(status: StoredObject["status"]): object {
  const fields = Object.entries(status).filter(([field, value]) => value !== undefined && !TOLD_FIELDS.has(field));
  const ips = "ips" in status ? Object.entries((status as Pool["status"]).ips) : [];
  const untold = ips.map(([ip, entry]) => [ip, { ...entry, error: "" }]);
  return { ...Object.fromEntries(fields), ips: untold, conditions: status.conditions.map((one) => one.hasAddresses) };
}

/** A status without what an older definition may drop: the provider of acquisitions is in the annotation, too. */
function comparable<S extends object>(status: S): S {
  return "acquired" in status ? { ...status, ...withoutProvider(status as S & Pool["status"]) } : status;
}

/** True for a field that is not there, or holds nothing. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);
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

function byKey<O extends StoredObject>(objects: readonly O[]): Map<string, O> {
  return new Map(objects.map((object) => [objectKey(object.meta), object]));
}

type ObjectName = Pick<ObjectMeta, "namespace" | "name">;

interface StoredObject {
  readonly meta: ObjectMeta;
  readonly status: Pick<Pool["status"], "conditions" | "observedGeneration" | "publishedDNS">;
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
  /** The annotation with the second copy of acquisitions; absent for a kind that acquires nothing. */
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

/** Returns how FloatingIPPools are read and written. */
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

/** RoutedIPs are written as the pools that were observed: their issuers and Services are not read again. */
function routedIPAccess(cluster: ClusterWriter, pools: ReadonlyMap<string, Pool>): ObjectAccess<Pool> {
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

/** Returns how NodeDNSRecordSets are read and written. */
function recordSetAccess(cluster: ClusterWriter): ObjectAccess<RecordSet> {
  return {
    resource: "nodednsrecordsets",
    kind: "NodeDNSRecordSet",
    recorded: ["publishedDNS", "formerDNS", "ipv6", "retries", "unreadyNodes", "conditions"],
    patchStatus: (meta, status) => cluster.patchRecordSetStatus(meta, status),
    read: (meta) => cluster.readRecordSet(meta),
    setFinalizer: (meta, isPresent) => cluster.setRecordSetFinalizer(meta, isPresent),
  };
}

/** For the `catch` of a write that the next run repeats: ignores a {@link KubeError} and throws everything else. */
export function ignoreKubeError(error: unknown): void {
  if (!(error instanceof KubeError)) throw error;
}

/** True if a write to the cluster failed so that it may have taken effect. Pure. */
export function isAmbiguousWrite(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    (error.failure === "unavailable" || error.failure === "timeout" || error.failure === "malformed")
  );
}
