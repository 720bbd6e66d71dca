import { ConfigError } from "../../model/errors.ts";
import { arrayAt, type JSONObject, objectAt, textAt } from "./json-object.ts";
import { keyOf } from "./kube-object.ts";
import { StatusError } from "./status-error.ts";
import { positionOf } from "./world-documents.ts";

/** One document of a file. */
export interface Entry {
  /** Of the file. */
  readonly path: string;
  /** From 0; empty documents are not counted. */
  readonly index: number;
  readonly document: JSONObject;
}

/** What a document is about, for people and for telling documents of one file apart: `Node worker-1`. */
export function identity(document: JSONObject): string {
  return `${textAt(document, "kind")} ${keyOf(objectAt(document, "metadata"))}`;
}

/** True for a document that defines a resource. */
export function isCRD(document: JSONObject): boolean {
  return document["kind"] === "CustomResourceDefinition";
}

/** Runs `work`. @throws ConfigError naming the place in the file when the API refuses the document */
export function located<T>(entry: Entry, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw broken(entry, textAt(arrayAt(error.details, "causes")[0], "field"), error.message, error);
  }
}

/** The error of a document, or of one field of it. */
export function broken({ path, index, document }: Entry, field: string, why: string, cause?: unknown): ConfigError {
  const message = `cannot read ${positionOf(path, index, field)}: ${identity(document)}: ${why}; correct it there`;
  return new ConfigError("invalid", message, cause === undefined ? {} : { cause });
}
