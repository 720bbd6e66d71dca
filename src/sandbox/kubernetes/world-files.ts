import { join } from "node:path";
import { YAMLFile } from "../yaml-file.ts";
import { completeDocument, contentHash, type KnownObject, specHash } from "./complete-document.ts";
import { documentsOf } from "./file-documents.ts";
import { type JSONObject, textAt } from "./json-object.ts";
import { type KnownRecord, knownKey, readKnownObjects, writeKnownObjects } from "./known-objects.ts";
import { type KubeObject, keyOf } from "./kube-object.ts";
import type { KubernetesAPI } from "./kubernetes-api.ts";
import { NAMESPACES } from "./namespace-rules.ts";
import { type Change, storeKey } from "./object-store.ts";
import { decodeDocuments, documentOf, fileOfKind, WORLD_FILES, type WorldFile } from "./world-documents.ts";
import { broken, type Entry, identity, isCRD, located } from "./world-entry.ts";

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
    const own = (yaml.load() ?? []).map((document, index) => ({ document, index, path: yaml.path }));
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
    if (this.isOpen || record === undefined || record.hash !== hashOf(object)) this.api.store.put(resource, object);
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
  const { uid, creationTimestamp, generation, resourceVersion } = object.metadata;
  const counted = generation === undefined ? {} : { generation };
  return { uid, creationTimestamp, ...counted, specHash: specHash(object), resourceVersion, hash: hashOf(object) };
}

function withVersion(object: KubeObject, resourceVersion: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}
