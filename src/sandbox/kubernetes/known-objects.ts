import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { KnownObject } from "./complete-document.ts";
import { isObject, objectAt, textAt } from "./json-object.ts";

/** What the server remembers of one object of the files, which people need not see there. */
export interface KnownRecord extends KnownObject {
  readonly resourceVersion: string;
  /** Hash of the object as it was last seen: another one now means that a person edited it. */
  readonly hash: string;
}

/** What the server knows of the objects in the files and what is not in the files: versions, generations, uids. */
export interface KnownObjects {
  /** The newest resource version ever given. */
  readonly resourceVersion: number;
  /** By resource and key, see {@link knownKey}. */
  readonly records: ReadonlyMap<string, KnownRecord>;
}

/** The name of an object over all resources: `/pods web/a`. */
export function knownKey(resource: string, key: string): string {
  return `${resource} ${key}`;
}

/**
 * Reads the memory of a directory. Whatever cannot be read counts as not known: the files alone say what the world is, and
 * a copy of them without this memory is a world too.
 */
export function readKnownObjects(path: string): KnownObjects {
  const content = existsSync(path) ? parse(readFileSync(path, "utf8")) : undefined;
  const records = new Map<string, KnownRecord>();
  for (const [key, value] of Object.entries(objectAt(content, "objects"))) {
    const record = decode(value);
    if (record !== undefined) records.set(key, record);
  }
  const resourceVersion = Number(objectAt(content)["resourceVersion"] ?? 0);
  return { resourceVersion: Number.isSafeInteger(resourceVersion) ? resourceVersion : 0, records };
}

/** Writes the memory in one step, one line per object. */
export function writeKnownObjects(path: string, known: KnownObjects): void {
  const lines = [...known.records].sort(([a], [b]) => (a < b ? -1 : 1));
  const objects = lines.map(([key, record]) => `${JSON.stringify(key)}: ${JSON.stringify(record)}`).join(",\n");
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `{"resourceVersion": ${known.resourceVersion}, "objects": {\n${objects}\n}}\n`);
  renameSync(temporary, path);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
  const generation = value["generation"];
  return { ...texts, ...(typeof generation === "number" ? { generation } : {}) };
}
