import { randomUUID } from "node:crypto";
import { admitObject, type FieldValidation, presentObject } from "./admit-object.ts";
import { establishedCRD } from "./custom-resource-type.ts";
import { decideDeletion, isDeletionDue } from "./deletion.ts";
import { isObject, type JSONObject, objectAt, omit, textAt, valueAt } from "./json-object.ts";
import { type KubeObject, keyOf, timestamp } from "./kube-object.ts";
import { mergePatch } from "./merge-patch.ts";
import {
  contentOf,
  endEmptyNamespace,
  isEmpty,
  NAMESPACES,
  namespacedResources,
  requireActiveNamespace,
} from "./namespace-rules.ts";
import { newObject, type Origins } from "./new-object.ts";
import { isSameObject, nextObject, withGeneration } from "./next-object.ts";
import { ObjectStore, storeKey } from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-type.ts";
import { alreadyExists, badRequest, conflict, missingResourceVersion, StatusError } from "./status-error.ts";
import { CRD_RESOURCE, TypeRegistry } from "./type-registry.ts";
import { changedUID, checkPreconditions, notAMergePatch, notFoundAt, wrongKind } from "./write-refusals.ts";

/** Parameters of a write. */
export interface WriteOptions {
  readonly fieldValidation?: FieldValidation;
  /** True = check everything, store nothing. */
  readonly isDryRun?: boolean;
}

/** What a write stored, or would have stored, and what its caller is warned of. */
export interface Written {
  readonly object: KubeObject;
  /** True when there was no such object before. */
  readonly isNew: boolean;
  readonly warnings: readonly string[];
}

/** Parameters of a DELETE. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly isDryRun?: boolean;
}

/** What a DELETE did: the object is gone, or it stays and is marked. */
export interface Deleted {
  readonly isGone: boolean;
  readonly object: KubeObject;
}

const EVENT_LIFE_MS = 3_600_000;

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
  create(type: ResourceType, namespace: string | undefined, body: unknown, options: WriteOptions = {}): Written {
    const named = this.decode(type, body, namespace);
    if (textAt(named, "metadata", "resourceVersion") !== "") {
      throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
    }
    const { object, warnings } = admitObject(type, newObject(type, named, namespace, this.origins), options);
    const metadata = objectAt(object, "metadata");
    const name = textAt(metadata, "name");
    if (namespace !== undefined) requireActiveNamespace(this.store, type, namespace, name);
    if (this.store.get(storeKey(type), keyOf(metadata)) !== undefined) throw alreadyExists(type, name);
    if (type.kind === "Event") this.expireEvents();
    return { object: this.put(type, object, options), isNew: true, warnings };
  }

  /** PUT, of the whole object or of `/status`. @throws StatusError 400, 404, 409, 422 */
  update(
    type: ResourceType,
    key: string,
    body: unknown,
    options: WriteOptions & { readonly subresource?: "status" } = {},
  ): Written {
    const before = this.store.get(storeKey(type), key);
    if (before === undefined && type.createsOnUpdate) return this.createByUpdate(type, key, body, options);
    if (before === undefined) throw notFoundAt(type, key);
    const asked = this.decode(type, body, before.metadata.namespace);
    this.checkIdentity(type, before, objectAt(asked, "metadata"));
    const next = nextObject(type, before, asked, options.subresource);
    const { object, warnings } = admitObject(type, next, { ...options, before });
    const counted = withGeneration(type, before, object);
    if (isSameObject(before, counted)) return { object: presentObject(type, before), isNew: false, warnings };
    const stored = this.put(type, counted, options);
    if (options.isDryRun !== true && isDeletionDue(stored)) this.removeNow(type, stored);
    return { object: stored, isNew: false, warnings };
  }

  /** PATCH with a JSON merge patch, of the whole object or of `/status`. @throws StatusError 400, 404, 409, 422 */
  patch(
    type: ResourceType,
    key: string,
    patch: unknown,
    options: WriteOptions & { readonly subresource?: "status" } = {},
  ): Written {
    if (!isObject(patch)) throw notAMergePatch(patch);
    const current = this.get(type, key);
    const uid = valueAt(patch, "metadata", "uid") ?? current.metadata.uid;
    if (uid !== current.metadata.uid) throw changedUID(type, current.metadata.name, uid);
    return this.update(type, key, mergePatch(current, patch), options);
  }

  /** DELETE. @throws StatusError 404, 409 when a precondition does not hold */
  remove(type: ResourceType, key: string, options: DeleteOptions = {}): Deleted {
    const object = this.stored(type, key);
    checkPreconditions(type, object, options.preconditions ?? {});
    if (options.isDryRun === true) return { isGone: false, object: presentObject(type, object) };
    if (storeKey(type) === NAMESPACES) return this.removeNamespace(type, object);
    const deletion = decideDeletion(type, object, {
      nowMs: this.origins.now(),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
    });
    switch (deletion.kind) {
      case "removed":
        return { isGone: true, object: this.removeNow(type, object) };
      case "unchanged":
        return { isGone: false, object: presentObject(type, object) };
      case "marked":
        return { isGone: false, object: presentObject(type, this.store.put(storeKey(type), deletion.object)) };
    }
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
    if (kind !== type.kind) throw wrongKind(type, textAt(body, "metadata", "name"), String(kind), String(apiVersion));
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
    if (wantedName !== name) {
      throw badRequest(`the name of the object (${wantedName}) does not match the name on the URL (${name})`);
    }
    if (version === "" && !type.allowsUnconditionalUpdate) throw missingResourceVersion(type, name);
    const wantedUID = textAt(asked, "uid") || uid;
    if (wantedUID !== uid) {
      throw conflict(type, name, uidDiffers(wantedUID, uid));
    }
    if (version !== "" && version !== resourceVersion) throw conflict(type, name);
  }

  private createByUpdate(type: ResourceType, key: string, body: unknown, options: WriteOptions): Written {
    const [namespace] = key.split("/");
    if (!isObject(body)) throw badRequest("the body is not a JSON object");
    const uid = textAt(body, "metadata", "uid");
    if (uid !== "") throw conflict(type, key.split("/").at(-1) ?? key, uidDiffers(uid, ""));
    const metadata = omit(objectAt(body, "metadata"), "resourceVersion");
    return this.create(type, type.isNamespaced ? namespace : undefined, { ...body, metadata }, options);
  }

  private put(type: ResourceType, object: JSONObject, options: WriteOptions): KubeObject {
    const established =
      storeKey(type) === CRD_RESOURCE && object["status"] === undefined
        ? establishedCRD(object, timestamp(this.origins.now()))
        : object;
    // Admission has seen to it: metadata has a name, and the server's fields were put in.
    const complete = established as KubeObject;
    return options.isDryRun === true ? complete : presentObject(type, this.store.put(storeKey(type), complete));
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

function uidDiffers(wanted: string, found: string): string {
  return `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
}
