import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../model/errors.ts";
import { YAMLFile } from "../yaml-file.ts";
import { NAMESPACES } from "./built-in-checks.ts";
import { completeDocument, contentHash, type KnownObject, knownOf } from "./complete-document.ts";
import { type KubernetesAPI, NAME_LABEL } from "./kubernetes-api.ts";
import {
  arrayAt,
  type Change,
  canonicalJSON,
  isObject,
  type JSONObject,
  type KubeObject,
  keyOf,
  objectAt,
  omit,
  parseJSON,
  storeKey,
  textAt,
} from "./object-store.ts";
import { StatusError } from "./status-error.ts";

interface OpenFile {
  readonly facts: WorldFile;
  readonly yaml: YAMLFile<readonly JSONObject[]>;
}

/**
 * Keeps the objects of an API in the YAML files of a directory, both ways: edits of a person become changes of the API with
 * a resource version of their own, changes of the API are written back. Versions, generations and uids are kept apart, in
 * `.kubernetes.json`, so that the files show only what people care about.
 */
export class WorldFiles {
  private readonly api: KubernetesAPI;
  private readonly memory: string;
  private readonly files: readonly OpenFile[];
  /** Definitions that are in every world and need no place in a file, as documents. */
  private readonly preinstalled: readonly JSONObject[];
  private readonly records = new Map<string, KnownRecord>();
  private readonly dirtyFiles = new Set<string>();
  private readonly brokenFiles = new Set<string>();
  private isMemoryDirty = false;
  private reading: string | undefined;
  private isOpen = false;

  constructor(directory: string, api: KubernetesAPI, preinstalled: readonly JSONObject[]) {
    this.api = api;
    this.preinstalled = preinstalled;
    this.memory = join(directory, ".kubernetes.json");
    this.files = WORLD_FILES.map((facts) => ({
      facts,
      yaml: new YAMLFile<readonly JSONObject[]>(join(directory, facts.name), {
        header: facts.header,
        documents: "many",
        decode: (value) => decodeDocuments(facts, value),
      }),
    }));
    api.store.subscribe((change) => this.note(change));
  }

  /**
   * Takes over what people changed in the files since the last call. @throws ConfigError naming file and line; nothing of
   * that file is taken over then.
   */
  refresh(): void {
    const changed = this.files.filter(({ facts, yaml }) => this.brokenFiles.has(facts.name) || this.isNew(yaml));
    if (changed.length === 0) return;
    this.remember();
    for (const file of changed) {
      this.reading = file.facts.name;
      this.brokenFiles.add(file.facts.name);
      try {
        this.read(file);
      } finally {
        this.reading = undefined;
      }
      this.brokenFiles.delete(file.facts.name);
    }
    this.addMissingNamespaces();
    this.isOpen = true;
  }

  /** Writes what changed since the last call. */
  save(): void {
    if (this.isMemoryDirty) {
      writeKnownObjects(this.memory, { resourceVersion: this.api.store.resourceVersion, records: this.records });
      this.isMemoryDirty = false;
    }
    for (const { facts, yaml } of this.files) {
      if (this.dirtyFiles.has(facts.name)) yaml.save(documentsOf(this.api, facts, this.preinstalled));
    }
    this.dirtyFiles.clear();
  }

  private isNew(yaml: OpenFile["yaml"]): boolean {
    return !this.isOpen || yaml.changedSinceLoad();
  }

  /** What is remembered may be newer than what we know: another process may serve the same directory. */
  private remember(): void {
    const known = readKnownObjects(this.memory);
    for (const [key, record] of known.records) {
      const own = Number(this.records.get(key)?.resourceVersion ?? 0);
      if (Number(record.resourceVersion) > own) this.records.set(key, record);
    }
    this.api.store.skipTo(known.resourceVersion);
  }

  private read({ facts, yaml }: OpenFile): void {
    const own = (yaml.load() ?? []).map((document, index) => ({ document, index, yaml }));
    const named = new Set(own.map(({ document }) => identity(document)));
    const isOverridden = (document: JSONObject): boolean => named.has(identity(document));
    const implied = facts.kind === undefined ? this.preinstalled.filter((document) => !isOverridden(document)) : [];
    const present = new Set(implied.map((document) => this.take(document)));
    // Definitions first: they say what the other documents of the file may be.
    for (const entry of own.filter(({ document }) => isCRD(document))) present.add(this.takeFrom(entry));
    const others = own.filter(({ document }) => !isCRD(document));
    for (const entry of others) this.check(entry, present);
    for (const entry of others) this.takeFrom(entry);
    this.removeAbsent(facts, present);
  }

  /** Refuses what cannot be taken, before anything is; adds the key to those that are present. */
  private check(entry: Entry, present: Set<string>): void {
    const key = located(entry, () => {
      const { type, object } = completeDocument(this.api, entry.document, this.knownOf(entry.document));
      return knownKey(storeKey(type), keyOf(object.metadata));
    });
    if (present.has(key)) throw broken(entry, "", "there is another document for it");
    present.add(key);
  }

  private takeFrom(entry: Entry): string {
    return located(entry, () => this.take(entry.document));
  }

  /** Stores a document unless the store has it already; returns its key over all resources. */
  private take(document: JSONObject): string {
    const { type, object } = completeDocument(this.api, document, this.knownOf(document));
    const resource = storeKey(type);
    const key = knownKey(resource, keyOf(object.metadata));
    const record = this.records.get(key);
    const current = this.api.store.get(resource, keyOf(object.metadata));
    if (current !== undefined && hashOf(current) === hashOf(object)) return key;
    const owned = current === undefined ? object : this.api.withOwners(type, current, object, { manager: BY_HAND });
    if (this.isOpen || record === undefined || record.hash !== hashOf(object)) this.api.store.put(resource, owned);
    else this.api.store.restore(resource, withVersion(object, record.resourceVersion));
    return key;
  }

  private knownOf(document: JSONObject): KnownObject | undefined {
    const type = this.api.types.byKind(textAt(document, "apiVersion"), textAt(document, "kind"));
    if (type === undefined) return undefined;
    const name = textAt(document, "metadata", "name");
    const namespace = type.isNamespaced ? textAt(document, "metadata", "namespace") || "default" : undefined;
    return this.records.get(knownKey(storeKey(type), keyOf({ name, namespace })));
  }

  private removeAbsent(facts: WorldFile, present: ReadonlySet<string>): void {
    for (const resource of this.api.store.resourceNames()) {
      for (const object of this.api.store.all(resource)) {
        const key = keyOf(object.metadata);
        const isHere = fileOfKind(object.apiVersion, object.kind) === facts.name;
        if (isHere && !present.has(knownKey(resource, key))) this.api.store.remove(resource, key);
      }
    }
  }

  /** A namespace that a hand-written object is in exists. */
  private addMissingNamespaces(): void {
    for (const resource of this.api.store.resourceNames()) {
      for (const { metadata } of this.api.store.all(resource)) {
        const { namespace } = metadata;
        if (namespace === undefined || this.api.store.get(NAMESPACES, namespace) !== undefined) continue;
        this.take({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
        this.dirtyFiles.add("cluster.yaml");
      }
    }
  }

  private note({ type, resource, key, object }: Change): void {
    this.isMemoryDirty = true;
    if (type === "DELETED") this.records.delete(knownKey(resource, key));
    else this.records.set(knownKey(resource, key), recordOf(object));
    // What a person wrote stays as it was written; what follows from it elsewhere is saved.
    const file = fileOfKind(object.apiVersion, object.kind);
    if (file !== this.reading) this.dirtyFiles.add(file);
  }
}

function hashOf(object: KubeObject): string {
  return contentHash([documentOf(object), object.metadata.uid]);
}

function recordOf(object: KubeObject): KnownRecord {
  return { ...knownOf(object), resourceVersion: object.metadata.resourceVersion, hash: hashOf(object) };
}

function withVersion(object: KubeObject, resourceVersion: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** Who owns the fields that people change in the files, where owners are known. */
const BY_HAND = "by-hand";

/** One file of the world: which objects it holds. */
interface WorldFile {
  readonly name: string;
  /** Filled in where a document leaves them out; absent for the file that holds everything else. */
  readonly apiVersion?: string;
  readonly kind?: string;
  /** Head comment of a file that did not exist. */
  readonly header: string;
}

const FLIPOP = "flipop.digitalocean.com/v1alpha1";

/** The files in the order they are read: what defines resources and namespaces first. */
export const WORLD_FILES: readonly WorldFile[] = [
  {
    name: "cluster.yaml",
    header: "Everything in the cluster that has no file of its own: namespaces, leases, events, endpoint slices.",
  },
  { name: "nodes.yaml", apiVersion: "v1", kind: "Node", header: "The nodes of the cluster." },
  { name: "pods.yaml", apiVersion: "v1", kind: "Pod", header: "The pods of the cluster." },
  { name: "pools.yaml", apiVersion: FLIPOP, kind: "FloatingIPPool", header: "The address pools." },
  { name: "services.yaml", apiVersion: "v1", kind: "Service", header: "The Services of the cluster." },
  {
    name: "issuers.yaml",
    apiVersion: FLIPOP,
    kind: "RoutedIPIssuer",
    header: "How routed IPs are obtained and served.",
  },
  { name: "routed-ips.yaml", apiVersion: FLIPOP, kind: "RoutedIP", header: "The addresses that follow a Service." },
  { name: "dns.yaml", apiVersion: FLIPOP, kind: "NodeDNSRecordSet", header: "The DNS record sets of nodes." },
];

/** The name of the file that holds the objects of a kind. */
function fileOfKind(apiVersion: string, kind: string): string {
  const own = WORLD_FILES.find(
    (file) => file.kind === kind && file.apiVersion?.split("/")[0] === apiVersion.split("/")[0],
  );
  return own?.name ?? "cluster.yaml";
}

/**
 * The documents of a file, with what the file's name says filled in.
 *
 * @throws Error naming the document when one is no object, has no name, or belongs into another file.
 */
function decodeDocuments(file: WorldFile, value: unknown): readonly JSONObject[] {
  const documents: readonly unknown[] = Array.isArray(value) ? value : [];
  return documents.map((document, index) => {
    const place = `document ${index + 1}`;
    if (!isObject(document)) throw new Error(`${place} is not a Kubernetes object; begin it with "metadata:"`);
    const whole = {
      ...(file.kind === undefined ? {} : { apiVersion: file.apiVersion, kind: file.kind }),
      ...document,
    };
    const { apiVersion, kind } = whole as JSONObject;
    if (typeof apiVersion !== "string" || typeof kind !== "string")
      throw new Error(`${place} has no apiVersion or kind`);
    const home = fileOfKind(apiVersion, kind);
    if (home !== file.name) throw new Error(`${place} is a ${kind}, which belongs into ${home}; move it there`);
    if (textAt(whole, "metadata", "name") === "") throw new Error(`${place} (${kind}) has no metadata.name`);
    return whole;
  });
}

const METADATA_ORDER = ["name", "namespace", "labels", "annotations", "finalizers", "creationTimestamp"];
const HIDDEN = ["uid", "resourceVersion", "generation", "managedFields", "selfLink"];

/** An object as a person sees it in its file: kind first, status last, without what only the server needs. Pure. */
function documentOf(object: KubeObject): JSONObject {
  const { apiVersion, kind, metadata, status, ...body } = object;
  const visible = omit(metadata, ...HIDDEN);
  const ordered = METADATA_ORDER.filter((key) => visible[key] !== undefined).map((key) => [key, visible[key]]);
  const head = { ...Object.fromEntries(ordered), ...omit(visible, ...METADATA_ORDER) };
  const document = { apiVersion, kind, metadata: head, ...body, ...(status === undefined ? {} : { status }) };
  return kind === "Namespace" ? withoutNamespaceDefaults(document) : document;
}

/** What {@link withNamespaceDefaults} adds to every namespace is left out. */
function withoutNamespaceDefaults(document: JSONObject): JSONObject {
  const metadata = objectAt(document, "metadata");
  const labels = omit(objectAt(metadata, "labels"), NAME_LABEL);
  const shown = Object.keys(labels).length === 0 ? omit(metadata, "labels") : { ...metadata, labels };
  const isActive = textAt(document, "status", "phase") === "Active";
  return { ...omit(document, "spec", ...(isActive ? ["status"] : [])), metadata: shown };
}

/** Orders the objects of one resource as a person looks for them: Events by time, everything else by key. */
function byReadingOrder(a: KubeObject, b: KubeObject): number {
  if (a.kind !== "Event" || b.kind !== "Event") return 0;
  const [left, right] = [textAt(a, "eventTime"), textAt(b, "eventTime")];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** True for documents that are the same but for their times and what a controller reports of them. Pure. */
function definitionOf(document: JSONObject): JSONObject {
  const metadata = omit(objectAt(document, "metadata"), "creationTimestamp");
  const isDefinition = document["kind"] === "CustomResourceDefinition";
  return { ...(isDefinition ? omit(document, "status") : document), metadata };
}

/** One document of a file. */
interface Entry {
  readonly yaml: OpenFile["yaml"];
  /** From 0; empty documents are not counted. */
  readonly index: number;
  readonly document: JSONObject;
}

/** What a document is about, for people and for telling documents of one file apart: `Node worker-1`. */
function identity(document: JSONObject): string {
  return `${textAt(document, "kind")} ${keyOf(objectAt(document, "metadata"))}`;
}

/** True for a document that defines a resource. */
function isCRD(document: JSONObject): boolean {
  return document["kind"] === "CustomResourceDefinition";
}

/** Runs `work`. @throws ConfigError naming the place in the file when the API refuses the document */
function located<T>(entry: Entry, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw broken(entry, textAt(arrayAt(error.details, "causes")[0], "field"), error.message, error);
  }
}

/** The error of a document, or of one field of it. */
function broken({ yaml, index, document }: Entry, field: string, why: string, cause?: unknown): ConfigError {
  const path = [...field.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key));
  const message = `cannot read ${yaml.positionOf(index, path)}: ${identity(document)}: ${why}; correct it there`;
  return new ConfigError("invalid", message, cause === undefined ? {} : { cause });
}

/**
 * The documents of a file as they are written: by resource, then key, Events by time.
 *
 * @param preinstalled what every world has; left out unless it was changed.
 */
function documentsOf(api: KubernetesAPI, facts: WorldFile, preinstalled: readonly JSONObject[]): readonly JSONObject[] {
  const implied = new Map(preinstalled.map((document) => [identity(document), document]));
  const resources = new Set(api.types.all().map(storeKey));
  const objects = [...resources].flatMap((resource) => api.store.all(resource).toSorted(byReadingOrder));
  const here = objects.filter((object) => fileOfKind(object.apiVersion, object.kind) === facts.name);
  return here.map(documentOf).filter((document) => {
    const original = implied.get(identity(document));
    return original === undefined || !isSameDefinition(api, original, document);
  });
}

function isSameDefinition(api: KubernetesAPI, original: JSONObject, document: JSONObject): boolean {
  const complete = documentOf(completeDocument(api, original).object);
  return canonicalJSON(definitionOf(complete)) === canonicalJSON(definitionOf(document));
}

/** What the server remembers of one object of the files, which people need not see there. */
interface KnownRecord extends KnownObject {
  readonly resourceVersion: string;
  /** Hash of the object as it was last seen: another one now means that a person edited it. */
  readonly hash: string;
}

/** What the server knows of the objects in the files and what is not in the files: versions, generations, uids. */
interface KnownObjects {
  /** The newest resource version ever given. */
  readonly resourceVersion: number;
  /** By resource and key, see {@link knownKey}. */
  readonly records: ReadonlyMap<string, KnownRecord>;
}

/** The name of an object over all resources: `/pods web/a`. */
function knownKey(resource: string, key: string): string {
  return `${resource} ${key}`;
}

/**
 * Reads the memory of a directory. Whatever cannot be read counts as not known: the files alone say what the world is, and
 * a copy of them without this memory is a world too.
 */
function readKnownObjects(path: string): KnownObjects {
  const content = existsSync(path) ? parseJSON(readFileSync(path, "utf8")) : undefined;
  const records = new Map<string, KnownRecord>();
  for (const [key, value] of Object.entries(objectAt(content, "objects"))) {
    const record = decode(value);
    if (record !== undefined) records.set(key, record);
  }
  const resourceVersion = Number(objectAt(content)["resourceVersion"] ?? 0);
  return { resourceVersion: Number.isSafeInteger(resourceVersion) ? resourceVersion : 0, records };
}

/** Writes the memory in one step, one line per object. */
function writeKnownObjects(path: string, known: KnownObjects): void {
  const lines = [...known.records].sort(([a], [b]) => (a < b ? -1 : 1));
  const objects = lines.map(([key, record]) => `${JSON.stringify(key)}: ${JSON.stringify(record)}`).join(",\n");
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `{"resourceVersion": ${known.resourceVersion}, "objects": {\n${objects}\n}}\n`);
  renameSync(temporary, path);
}

function decode(value: unknown): KnownRecord | undefined {
  const texts = {
    uid: textAt(value, "uid"),
    creationTimestamp: textAt(value, "creationTimestamp"),
    specHash: textAt(value, "specHash"),
    resourceVersion: textAt(value, "resourceVersion"),
    hash: textAt(value, "hash"),
  };
  if (!isObject(value) || Object.values(texts).includes("") || !/^\d+$/.test(texts.resourceVersion)) return undefined;
  const { generation, managedFields } = value;
  return {
    ...texts,
    ...(typeof generation === "number" ? { generation } : {}),
    ...(Array.isArray(managedFields) ? { managedFields } : {}),
  };
}
