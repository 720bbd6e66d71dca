import { parse } from "yaml";
import { ConfigError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import type { Observation } from "../model/observation.ts";
import { GROUP, VERSION } from "../model/resource.ts";
import { type Edit, type EditReaders, type FactEdit, type ObjectEdit, parseEdit } from "../rehearse/edit.ts";
import { EditedObjects, editedKindOf, type FileObject, OBJECT_KINDS } from "../rehearse/edited-objects.ts";
import { editWorld } from "../rehearse/edited-world.ts";
import { listText } from "../report/text/layout.ts";
import type { EditsTold } from "../report/text/plan-entries.ts";
import { documentsInSteps } from "../validate/documents.ts";
import { refusedNames } from "../validate/object-names.ts";
import { parseDuration } from "./flag-values.ts";
import type { PlanFlags } from "./flags.ts";
import { heeding } from "./heed.ts";
import { readManifests } from "./manifest-files.ts";
import { type Voice, writeLine } from "./output.ts";

/** A world that a person imagines: what `--if` and `-f` say. */
export interface Imagined {
  /** The edits and files as they were given. */
  readonly told: EditsTold;
  /** Objects as they would be. */
  readonly objects: EditedObjects;
  /** Returns the world as it would be. */
  readonly edited: (world: Observation) => Observation;
  /** What stands in files and is none of flipop's objects: `Deployment shop/web`. */
  readonly ignored: readonly string[];
}

/**
 * Reads what `--if` and `-f` say. Returns undefined where neither is given.
 * @throws ConfigError `usage` for an edit that cannot be read, `invalid` for a file
 */
export async function readImagined(
  { if: written, filename, namespace = "default" }: Pick<PlanFlags, "if" | "filename" | "namespace">,
  signal: AbortSignal,
): Promise<Imagined | undefined> {
  if (written.length === 0 && filename.length === 0) return undefined;
  const edits = written.map((text) => parseEdit(text, READERS));
  const documents = (await Promise.all(filename.map((path) => documentsIn(path, signal)))).flat();
  const found = documents.map((document) => fileObject(document, namespace));
  const objects = new EditedObjects(
    edits.filter(isObjectEdit),
    found.flatMap(({ object }) => object ?? []),
  );
  const facts = edits.filter((edit): edit is FactEdit => !isObjectEdit(edit));
  return {
    told: { edits: written, files: filename },
    objects,
    edited: (world) => {
      objects.check();
      return editWorld(world, facts);
    },
    ignored: found.flatMap(({ ignored }) => ignored ?? []),
  };
}

/** Says on stderr which documents of files changed nothing. */
export function warnOfIgnored(voice: Voice, imagined: Imagined | undefined): void {
  if (imagined === undefined || imagined.ignored.length === 0) return;
  writeLine(voice, "warn", `no object of flipop, so it changes nothing: ${listText(imagined.ignored, 5)}`);
}

function isObjectEdit(edit: Edit): edit is ObjectEdit {
  return edit.kind === "object";
}

const READERS: EditReaders = {
  duration: parseDuration,
  yaml: (text) => {
    try {
      return { value: parse(text) };
    } catch {
      return undefined;
    }
  },
};

interface Document {
  /** `web.yaml`, with the number of the document where there are several. */
  readonly from: string;
  readonly value: unknown;
}

/** The documents of a file, of standard input (`-`), or of the manifests in a folder by name. @throws ConfigError that says in words what cannot be read */
async function documentsIn(path: string, signal: AbortSignal): Promise<readonly Document[]> {
  const all: Document[] = [];
  for (const file of await readManifests(path)) {
    if (file.kind === "unread") throw file.error;
    const { documents, faults } = await heeding(signal, documentsInSteps(file.text));
    const [fault] = faults;
    if (fault !== undefined)
      throw new ConfigError("invalid", `${file.name}:${fault.line}:${fault.column}: ${fault.message}`);
    const isOnly = documents.at(-1)?.number === 1;
    for (const { value, number } of documents)
      all.push({ from: isOnly ? file.name : `${file.name}, document ${number}`, value });
  }
  // What made the manifests may have failed: nothing in them is no wish to change nothing.
  if (all.length > 0) return all;
  throw new ConfigError("invalid", `There is no object ${path === "-" ? "on standard input" : `in ${path}`}.`);
}

/** One object of flipop, or what it is instead. */
function fileObject(
  { from, value }: Document,
  namespace: string,
): { readonly object?: FileObject; readonly ignored?: string } {
  const object = asObject(value);
  const metadata = asObject(object["metadata"]);
  const { name } = metadata;
  if (typeof object["kind"] !== "string" || typeof name !== "string" || name === "")
    throw new ConfigError("invalid", `${from}: it is no object of Kubernetes with a kind and a name.`);
  const where = typeof metadata["namespace"] === "string" ? metadata["namespace"] : namespace;
  const of = editedKindOf(object["kind"]);
  const [group = "", version = ""] = String(object["apiVersion"]).split("/");
  if (group === GROUP && of === undefined)
    throw new ConfigError("invalid", `${from}: ${GROUP} has no kind ${object["kind"]}.${meantKind(object["kind"])}`);
  if (group !== GROUP || of === undefined) return { ignored: `${object["kind"]} ${where}/${name}` };
  if (version !== VERSION)
    throw new ConfigError("invalid", `${from}: apiVersion is ${GROUP}/${version}; flipop reads ${GROUP}/${VERSION}.`);
  const [refused] = refusedNames(metadata);
  if (refused !== undefined) throw new ConfigError("invalid", `${from}: metadata.${refused.field} ${refused.message}.`);
  return { object: { of, namespace: where, name, object } };
}

function meantKind(kind: string): string {
  const meant = nearest(kind, OBJECT_KINDS);
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
