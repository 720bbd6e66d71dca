import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { addByAdmission, admitObject, presentObject, refuseUnknownFields } from "./admission.ts";
import {
  changedUID,
  checkPreconditions,
  contentOf,
  endEmptyNamespace,
  isEmpty,
  NAMESPACES,
  namespacedResources,
  notFoundAt,
  requireActiveNamespace,
  wrongKind,
} from "./built-in-checks.ts";
import { apply, fieldsAfterUpdate } from "./managed-fields.ts";
import {
  compact,
  isObject,
  type JSONObject,
  type KubeObject,
  keyOf,
  ObjectStore,
  objectAt,
  omit,
  storeKey,
  textAt,
  timestamp,
  valueAt,
} from "./object-store.ts";
import { MERGE_PATCH, PATCHES, type PatchKind } from "./patches.ts";
import { apiVersionOf, CRD_RESOURCE, establishedCRD, type ResourceType, TypeRegistry } from "./resource-types.ts";
import type { Cause } from "./schema.ts";
import { alreadyExists, badRequest, conflict, invalid, missingResourceVersion, StatusError } from "./status-error.ts";

/** What a write stored, or would have stored, and what its caller is warned of. */
export interface Written {
  readonly object: KubeObject;
  /** True when there was no such object before. */
  readonly isNew: boolean;
  readonly warnings: readonly string[];
}

/** Parameters of a DELETE. */
export interface DeleteOptions {
  /** It is checked like any other deletion, and nothing is stored. */
  readonly isDryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** What a DELETE did: the object is gone, or it stays and is marked. */
export interface Deleted {
  readonly isGone: boolean;
  readonly object: KubeObject;
}

const EVENT_LIFE_MS = 3_600_000;

/** How an object is written. */
export interface WriteOptions {
  /** Who owns what is written, see {@link Writer}. Without it nobody is noted. */
  readonly manager?: string;
  /** It is checked like any other write, and nothing is stored. */
  readonly isDryRun?: boolean;
  /** Unknown fields are refused; else they are left out, and the caller is warned of them. */
  readonly isStrict?: boolean;
}

interface UpdateOptions extends WriteOptions {
  readonly subresource?: "status";
  readonly isPatch?: boolean;
  /** Who owns the fields from now on, where that is decided. */
  readonly managedFields?: readonly JSONObject[] | undefined;
}

/** The writes and single reads of the API, without HTTP. Every method throws StatusError in Kubernetes' own words. */
export class KubernetesAPI {
  readonly store: ObjectStore;
  readonly types: TypeRegistry;
  readonly origins: Origins;

  /** @param options default: the machine's clock and random uids. */
  constructor(options: Partial<Origins> = {}) {
    this.origins = { now: options.now ?? Date.now, newUID: options.newUID ?? randomUUID };
    this.store = new ObjectStore(this.origins.now);
    this.types = new TypeRegistry(this.store);
    this.store.subscribe((change) => endEmptyNamespace(this.store, change));
  }

  /** One object. @throws StatusError 404 */
  get(type: ResourceType, key: string): KubeObject {
    return presentObject(type, this.stored(type, key));
  }

  /** POST. @throws StatusError 400, 403, 404 (no such namespace), 409, 422 */
  create(
    type: ResourceType,
    namespace: string | undefined,
    body: unknown,
    { isDryRun = false, isStrict = false, ...owner }: UpdateOptions = {},
  ): Written {
    const named = this.decode(type, body, namespace);
    if (textAt(named, "metadata", "resourceVersion") !== "") {
      throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
    }
    const { object: admitted, warnings } = admitObject(type, newObject(type, named, namespace, this.origins), {
      isStrict,
    });
    const object = this.withOwners(type, undefined, admitted, owner);
    const metadata = objectAt(object, "metadata");
    const name = textAt(metadata, "name");
    if (namespace !== undefined) requireActiveNamespace(this.store, type, namespace, name);
    if (this.store.get(storeKey(type), keyOf(metadata)) !== undefined) throw alreadyExists(type, name);
    // Admission has seen to it: metadata has a name, and the server's fields were put in.
    if (isDryRun) return { object: object as KubeObject, isNew: true, warnings };
    if (type.kind === "Event") this.expireEvents();
    return { object: this.put(type, object), isNew: true, warnings };
  }

  /** PUT, of the whole object or of `/status`. @throws StatusError 400, 404, 409, 422 */
  update(type: ResourceType, key: string, body: unknown, options: UpdateOptions = {}): Written {
    const before = this.store.get(storeKey(type), key);
    if (before === undefined && type.createsOnUpdate) return this.createByUpdate(type, key, body, options);
    if (before === undefined) throw notFoundAt(type, key);
    const asked = this.decode(type, body, before.metadata.namespace);
    this.checkIdentity(type, before, objectAt(asked, "metadata"));
    const next = nextObject(type, before, asked, options.subresource);
    const { object, warnings } = admitObject(type, next, { ...options, before });
    const given = valueAt(asked, "metadata", "managedFields");
    const counted = this.withOwners(type, before, withGeneration(type, before, object), { given, ...options });
    if (isSameObject(before, counted)) return { object: presentObject(type, before), isNew: false, warnings };
    if (options.isDryRun === true) return { object: counted as KubeObject, isNew: false, warnings };
    const stored = this.put(type, counted);
    if (isDeletionDue(stored)) this.removeNow(type, stored);
    return { object: stored, isNew: false, warnings };
  }

  /** PATCH, a JSON merge patch unless `kind` says otherwise, of the whole object or of `/status`. @throws StatusError 400, 404, 409, 422 */
  patch(
    type: ResourceType,
    key: string,
    patch: unknown,
    options: UpdateOptions & { readonly kind?: PatchKind } = {},
  ): Written {
    const current = this.get(type, key);
    const next = PATCHES[options.kind ?? MERGE_PATCH](type, current, patch);
    const uid = valueAt(next, "metadata", "uid") ?? current.metadata.uid;
    if (uid !== current.metadata.uid) throw changedUID(type, current.metadata.name, uid);
    return this.update(type, key, next, { ...options, isPatch: true });
  }

  /**
   * A server-side apply, of the whole object or of `/status`. What is not there is created. @throws StatusError 400, 404, 409 for a field that another manager owns with
   * another value unless `isForced`, 422
   */
  apply(
    type: ResourceType,
    key: string,
    body: unknown,
    options: UpdateOptions & { readonly manager: string; readonly isForced: boolean },
  ): Written {
    const [name = "", namespace] = key.split("/").toReversed();
    const live = this.store.get(storeKey(type), key);
    if (live === undefined && options.subresource !== undefined) throw notFoundAt(type, key);
    const asked = this.decode(type, body, namespace);
    const wanted = textAt(asked, "metadata", "name") || name;
    if (wanted !== name) throw wrongName(wanted, name);
    const { metadata, status, ...rest } = withMetadata(asked, { name });
    const isPart = options.subresource !== undefined;
    const config = isPart ? { status } : compact({ ...rest, metadata, ...(type.hasStatus ? {} : { status }) });
    refuseUnknownFields(type, asked);
    const current = live && presentObject(type, live);
    const { object, managedFields } = apply(type, current, config, { ...options, nowMs: this.origins.now() });
    if (live === undefined) return this.create(type, namespace, object, { ...options, managedFields });
    return this.update(type, key, object, { ...options, isPatch: true, managedFields });
  }

  /** DELETE. @throws StatusError 404, 409 when a precondition does not hold */
  remove(type: ResourceType, key: string, options: DeleteOptions = {}): Deleted {
    const object = this.stored(type, key);
    checkPreconditions(type, object, options.preconditions ?? {});
    if (storeKey(type) === NAMESPACES && options.isDryRun !== true) return this.removeNamespace(type, object);
    const deletion = decideDeletion(type, object, {
      nowMs: this.origins.now(),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
    });
    if (options.isDryRun === true) return { isGone: deletion.kind === "removed", object: presentObject(type, object) };
    switch (deletion.kind) {
      case "removed":
        return { isGone: true, object: this.removeNow(type, object) };
      case "unchanged":
        return { isGone: false, object: presentObject(type, object) };
      case "marked":
        return { isGone: false, object: presentObject(type, this.store.put(storeKey(type), deletion.object)) };
    }
  }

  /** The object with those who own its fields once it is stored in the place of another. */
  withOwners<T extends JSONObject>(
    type: ResourceType,
    before: KubeObject | undefined,
    object: T,
    options: UpdateOptions & { readonly given?: unknown },
  ): T {
    const { manager, subresource, given, managedFields } = options;
    if (manager === undefined) return object;
    const asked = given === undefined ? object : withMetadata(object, { managedFields: given });
    const writer = { manager, subresource, nowMs: this.origins.now() };
    return withMetadata(object, { managedFields: managedFields ?? fieldsAfterUpdate(type, before, asked, writer) });
  }

  private stored(type: ResourceType, key: string): KubeObject {
    const found = this.store.get(storeKey(type), key);
    if (found === undefined) throw notFoundAt(type, key);
    return found;
  }

  /** The body as an object of this resource, in the namespace of the URL. */
  private decode(type: ResourceType, body: unknown, namespace: string | undefined): JSONObject {
    if (!isObject(body)) throw badRequest("the body is not a JSON object");
    const { kind = type.kind, apiVersion = apiVersionOf(type) } = body;
    if (kind !== type.kind) throw wrongKind(type, textAt(body, "metadata", "name"), String(kind));
    if (apiVersion !== apiVersionOf(type)) {
      const versions = `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(type)})`;
      throw badRequest(versions);
    }
    const own = textAt(body, "metadata", "namespace");
    if (own !== "" && own !== (namespace ?? "")) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    return { ...body, apiVersion, kind };
  }

  private checkIdentity(type: ResourceType, before: KubeObject, asked: JSONObject): void {
    const { name, uid, resourceVersion } = before.metadata;
    const wantedName = textAt(asked, "name");
    const version = textAt(asked, "resourceVersion");
    if (wantedName !== name) throw wrongName(wantedName, name);
    if (version === "" && !type.allowsUnconditionalUpdate) throw missingResourceVersion(type, name);
    const wantedUID = textAt(asked, "uid") || uid;
    if (wantedUID !== uid) {
      throw conflict(type, name, uidDiffers(wantedUID, uid));
    }
    if (version !== "" && version !== resourceVersion) throw conflict(type, name);
  }

  private createByUpdate(type: ResourceType, key: string, body: unknown, options: UpdateOptions): Written {
    const [namespace] = key.split("/");
    if (!isObject(body)) throw badRequest("the body is not a JSON object");
    const uid = textAt(body, "metadata", "uid");
    if (uid !== "") throw conflict(type, key.split("/").at(-1) ?? key, uidDiffers(uid, ""));
    const metadata = omit(objectAt(body, "metadata"), "resourceVersion");
    return this.create(type, type.isNamespaced ? namespace : undefined, { ...body, metadata }, options);
  }

  private put(type: ResourceType, object: JSONObject): KubeObject {
    const established =
      storeKey(type) === CRD_RESOURCE && object["status"] === undefined
        ? establishedCRD(object, timestamp(this.origins.now()))
        : object;
    // Admission has seen to it: metadata has a name, and the server's fields were put in.
    const complete = established as KubeObject;
    return presentObject(type, this.store.put(storeKey(type), complete));
  }

  private removeNow(type: ResourceType, object: KubeObject): KubeObject {
    if (storeKey(type) === CRD_RESOURCE) this.removeInstances(object);
    return presentObject(type, this.store.remove(storeKey(type), keyOf(object.metadata)) ?? object);
  }

  private removeInstances(crd: KubeObject): void {
    const resource = storeKey({ group: textAt(crd, "spec", "group"), plural: textAt(crd, "spec", "names", "plural") });
    for (const instance of this.store.all(resource)) this.store.remove(resource, keyOf(instance.metadata));
  }

  /** Does the namespace controller's work too: the content goes first, then the namespace. */
  private removeNamespace(type: ResourceType, namespace: KubeObject): Deleted {
    const { metadata } = namespace;
    const deletionTimestamp = metadata.deletionTimestamp ?? timestamp(this.origins.now());
    const status = { ...objectAt(namespace, "status"), phase: "Terminating" };
    const marked = this.store.put(NAMESPACES, { ...namespace, metadata: { ...metadata, deletionTimestamp }, status });
    for (const resource of namespacedResources(this.types.all())) this.emptyResource(resource, metadata.name);
    if (isEmpty(this.store, metadata.name)) this.store.remove(NAMESPACES, metadata.name);
    return { isGone: false, object: presentObject(type, marked) };
  }

  private emptyResource(resource: string, namespace: string): void {
    const type = this.types.byStoreKey(resource);
    if (type === undefined) return;
    for (const object of contentOf(this.store, resource, namespace)) {
      this.remove(type, keyOf(object.metadata), { gracePeriodSeconds: 0 });
    }
  }

  private expireEvents(): void {
    const oldest = this.origins.now() - EVENT_LIFE_MS;
    for (const { metadata } of this.store.all("events.k8s.io/events")) {
      const isOld = Date.parse(metadata.creationTimestamp) < oldest;
      if (isOld) this.store.remove("events.k8s.io/events", keyOf(metadata));
    }
  }
}

function withMetadata<T extends JSONObject>(object: T, more: JSONObject): T {
  return { ...object, metadata: compact({ ...objectAt(object, "metadata"), ...more }) };
}

function wrongName(wanted: string, name: string): StatusError {
  return badRequest(`the name of the object (${wanted}) does not match the name on the URL (${name})`);
}

function uidDiffers(wanted: string, found: string): string {
  return `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
}

/** Where the server's own values come from. */
export interface Origins {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new `metadata.uid` at every call. */
  readonly newUID: () => string;
}

/**
 * What a POST asks to store: named, with the server's metadata, without a status where `/status` alone writes it, and with
 * what admission adds (the label of a namespace, the taint of a new node).
 */
function newObject(type: ResourceType, body: JSONObject, namespace: string | undefined, origins: Origins): JSONObject {
  const given = objectAt(body, "metadata");
  const uid = origins.newUID();
  const metadata = compact({
    ...clientMetadata(given),
    name: textAt(given, "name") || generatedName(given, uid),
    namespace,
    uid,
    creationTimestamp: timestamp(origins.now()),
    generation: type.hasGeneration ? 1 : undefined,
  });
  return addByAdmission(type, { ...body, metadata });
}

function generatedName(metadata: JSONObject, uid: string): string | undefined {
  const beginning = textAt(metadata, "generateName");
  return beginning === "" ? undefined : `${beginning}${uid.slice(-5)}`;
}

/** Metadata that only the server writes; what a client sends there is ignored. */
const SERVER_FIELDS = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "managedFields",
] as const;

/** Metadata as a client may write it: without the server's fields and without empty maps and lists. */
function clientMetadata(metadata: JSONObject): JSONObject {
  const own = omit(metadata, ...SERVER_FIELDS);
  return Object.fromEntries(Object.entries(own).filter(([, value]) => !hasNothing(value)));
}

function hasNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/**
 * What an update asks to store: the main endpoint leaves `status` as it is, `/status` leaves everything else, for resources
 * with that subresource; the server's own metadata stays. Pure.
 *
 * @throws StatusError 422 when a finalizer is added to an object that is being deleted.
 */
function nextObject(
  type: ResourceType,
  before: KubeObject,
  body: JSONObject,
  subresource: "status" | undefined,
): JSONObject {
  const serverMetadata = Object.fromEntries(
    SERVER_FIELDS.filter((key) => before.metadata[key] !== undefined).map((key) => [key, before.metadata[key]]),
  );
  const { name, namespace } = before.metadata;
  const metadata = compact({ ...clientMetadata(objectAt(body, "metadata")), name, namespace, ...serverMetadata });
  const head = { apiVersion: body["apiVersion"], kind: body["kind"] };
  if (subresource === "status") {
    // Only built-in resources take labels and annotations with the status.
    const kept = type.schema === undefined ? metadata : before.metadata;
    return compact({ ...before, ...head, metadata: kept, status: body["status"] });
  }
  refuseNewFinalizers(type, before, metadata);
  const status = type.hasStatus ? before["status"] : body["status"];
  return compact({ ...body, ...head, metadata, status });
}

function refuseNewFinalizers(type: ResourceType, before: KubeObject, metadata: JSONObject): void {
  if (before.metadata.deletionTimestamp === undefined) return;
  const had = before.metadata.finalizers ?? [];
  const wanted = Array.isArray(metadata["finalizers"]) ? metadata["finalizers"] : [];
  const added = wanted.filter((finalizer) => !had.includes(finalizer));
  if (added.length === 0) return;
  const shown = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`;
  const cause: Cause = { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field: "metadata.finalizers" };
  throw invalid(type, before.metadata.name, [cause]);
}

/** The object with its generation: one more than before when anything but metadata and status differs. Pure. */
function withGeneration(type: ResourceType, before: JSONObject, object: JSONObject): JSONObject {
  if (!type.hasGeneration) return object;
  const generation = Number(objectAt(before, "metadata")["generation"] ?? 1);
  const desired = (value: JSONObject): JSONObject => omit(value, "apiVersion", "kind", "metadata", "status");
  const isSame = isDeepStrictEqual(desired(before), desired(object));
  return { ...object, metadata: { ...objectAt(object, "metadata"), generation: isSame ? generation : generation + 1 } };
}

/** True when both are the same object but for their resource versions and the version they are written in. Pure. */
function isSameObject(a: JSONObject, b: JSONObject): boolean {
  const bare = (object: JSONObject): JSONObject => ({
    ...omit(object, "apiVersion"),
    metadata: omit(objectAt(object, "metadata"), "resourceVersion"),
  });
  return isDeepStrictEqual(bare(a), bare(b));
}

const POD_GRACE_SECONDS = 30;

/** What becomes of an object that somebody asked to delete. */
type Deletion =
  | { readonly kind: "removed" }
  | { readonly kind: "unchanged" }
  /** It stays, marked, until its finalizers are gone or its kubelet has ended it. */
  | { readonly kind: "marked"; readonly object: KubeObject };

/**
 * Decides a DELETE: objects with finalizers are marked; so are pods that run on a node, for their grace period, until they
 * are deleted with `gracePeriodSeconds` 0. Pure.
 */
function decideDeletion(
  type: ResourceType,
  object: KubeObject,
  options: { readonly gracePeriodSeconds?: number; readonly nowMs: number },
): Deletion {
  const graceSeconds = gracePeriod(type, object, options.gracePeriodSeconds);
  const isHeld = (object.metadata.finalizers ?? []).length > 0;
  if (graceSeconds === 0 && !isHeld) return { kind: "removed" };
  const { metadata } = object;
  const isMarked = metadata.deletionTimestamp !== undefined;
  if (isMarked && graceSeconds >= (metadata.deletionGracePeriodSeconds ?? 0)) return { kind: "unchanged" };
  const generation = metadata.generation === undefined || isMarked ? {} : { generation: metadata.generation + 1 };
  const marks = {
    deletionTimestamp: timestamp(options.nowMs + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  return { kind: "marked", object: { ...object, metadata: { ...metadata, ...marks, ...generation } } };
}

function gracePeriod(type: ResourceType, object: KubeObject, asked: number | undefined): number {
  if (type.kind !== "Pod" || textAt(object, "spec", "nodeName") === "") return 0;
  const phase = textAt(object, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed") return 0;
  const own = valueAt(object, "spec", "terminationGracePeriodSeconds");
  return asked ?? (typeof own === "number" ? own : POD_GRACE_SECONDS);
}

/** True when an object that is marked for deletion has nothing left to wait for. Pure. */
function isDeletionDue(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  return deletionTimestamp !== undefined && (deletionGracePeriodSeconds ?? 0) === 0 && (finalizers ?? []).length === 0;
}
