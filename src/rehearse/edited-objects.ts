import { ConfigError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import { formatTime } from "../model/time.ts";
import { EDITED_KINDS, type EditedKind, type ObjectEdit } from "./edit.ts";

/** An object as the API server has it. */
type WireObject = Readonly<Record<string, unknown>>;

/** An object that stands in a file. */
export interface FileObject {
  readonly of: EditedKind;
  readonly namespace: string;
  readonly name: string;
  readonly object: WireObject;
}

/**
 * Objects of a cluster as they would be: those of files stand in the place of the stored ones, and single fields have other values. They are changed as they are read,
 * so that what depends on them, such as pods of another selector, is really asked of the cluster.
 */
export class EditedObjects {
  readonly #edits: readonly ObjectEdit[];
  readonly #files: readonly FileObject[];
  readonly #seen = new Map<EditedKind, Set<string>>();
  readonly #made = new Set<ObjectEdit>();

  constructor(edits: readonly ObjectEdit[], files: readonly FileObject[]) {
    this.#edits = edits;
    this.#files = files;
  }

  /** True where no object is another one. */
  get isEmpty(): boolean {
    return this.#edits.length + this.#files.length === 0;
  }

  /** Returns an object of the cluster as it is to be seen; undefined = as if it were not there. `decode` is how it is read. */
  seen<T>(of: EditedKind, object: unknown, decode: (object: unknown) => T | undefined, nowMs: number): T | undefined {
    const place = placeOf(object);
    if (place === undefined) return decode(object);
    const names = this.#seen.get(of) ?? new Set();
    this.#seen.set(of, names.add(`${place.namespace}/${place.name}`));
    const file = this.#files.findLast((one) => one.of === of && isAt(one, place));
    const laid = file === undefined ? object : laidOver(object, file.object);
    return this.#edited(of, place, laid, decode, nowMs);
  }

  /** Returns the objects of a kind that stand in files; those that the cluster has are among them. They are as if made just now. */
  fresh<T>(of: EditedKind, decode: (object: unknown) => T | undefined, nowMs: number): readonly T[] {
    return this.#files
      .filter((file) => file.of === of)
      .flatMap((file) => this.seen(of, made(file, nowMs), decode, nowMs) ?? []);
  }

  /**
   * To be asked when every object has been read.
   * @throws ConfigError `invalid` for an edit that changes nothing that flipop reads, and for one of an object that does not exist
   */
  check(): void {
    for (const edit of this.#edits) {
      if (this.#made.has(edit)) continue;
      const known = [...(this.#seen.get(edit.of) ?? [])].map((key) => `${edit.of}/${key}`);
      const wanted = `${edit.of}/${edit.namespace}/${edit.path}`;
      if (known.some((name) => wanted === name || wanted.startsWith(`${name}.`)))
        throw new ConfigError(
          "invalid",
          `'${edit.text}' changes nothing: flipop reads no such field of spec, or it is so already.`,
        );
      const name = wanted.replace(/\.[^./]*$/, "");
      const near = nearest(name, known);
      const hint = near === undefined ? "" : ` Did you mean ${near}?`;
      throw new ConfigError("invalid", `There is no object ${name} ('${edit.text}').${hint}`);
    }
  }

  #edited<T>(
    of: EditedKind,
    place: Place,
    object: unknown,
    decode: (object: unknown) => T | undefined,
    nowMs: number,
  ): T | undefined {
    let current = object;
    for (const edit of this.#edits) {
      if (edit.of !== of || edit.namespace !== place.namespace) continue;
      const changed = changedBy(edit, place.name, current, nowMs);
      if (shown(decode(current)) === shown(decode(changed))) continue;
      this.#made.add(edit);
      if (changed === undefined) return undefined;
      current = edit.path === place.name ? changed : withNextGeneration(changed);
    }
    return decode(current);
  }
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function isAt(file: Place, { namespace, name }: Place): boolean {
  return file.namespace === namespace && file.name === name;
}

function placeOf(object: unknown): Place | undefined {
  const { namespace, name } = record(record(object)["metadata"]);
  return typeof namespace === "string" && typeof name === "string" ? { namespace, name } : undefined;
}

/** The stored object with what an apply of the file would change; labels and annotations that only the cluster has stay. */
function laidOver(stored: unknown, file: WireObject): unknown {
  const [before, after] = [record(stored), record(record(file)["metadata"])];
  const stays = record(before["metadata"]);
  const labels = { ...record(stays["labels"]), ...record(after["labels"]) };
  const annotations = { ...record(stays["annotations"]), ...record(after["annotations"]) };
  const laid = { ...before, metadata: { ...stays, labels, annotations }, spec: file["spec"] };
  return shown(before["spec"]) === shown(file["spec"]) ? laid : withNextGeneration(laid);
}

/** The API server counts changes of spec. */
function withNextGeneration(object: unknown): WireObject {
  const metadata = record(record(object)["metadata"]);
  const { generation } = metadata;
  return {
    ...record(object),
    metadata: { ...metadata, generation: typeof generation === "number" ? generation + 1 : 1 },
  };
}

function made({ namespace, name, object }: FileObject, nowMs: number): WireObject {
  const { labels, annotations } = record(object["metadata"]);
  const creationTimestamp = formatTime(nowMs);
  const metadata = { namespace, name, labels, annotations, generation: 1, creationTimestamp, uid: `(new) ${name}` };
  return { apiVersion: object["apiVersion"], kind: object["kind"], metadata, spec: object["spec"] };
}

/** The object with one field of spec replaced, or deleted; the object itself where the edit is about another one. */
function changedBy({ path, value, written }: ObjectEdit, name: string, object: unknown, nowMs: number): unknown {
  if (path === name) return written.toLowerCase() === "deleted" ? deleted(object, nowMs) : object;
  if (!path.startsWith(`${name}.`)) return object;
  const { spec } = record(object);
  return { ...record(object), spec: withField(record(spec), path.slice(name.length + 1).split("."), value) };
}

/** As the API server answers a delete: an object with finalizers stays until they are gone. */
function deleted(object: unknown, nowMs: number): unknown {
  const metadata = record(record(object)["metadata"]);
  const { finalizers } = metadata;
  if (!Array.isArray(finalizers) || finalizers.length === 0) return undefined;
  const deletionTimestamp = formatTime(nowMs);
  return { ...record(object), metadata: { ...metadata, deletionTimestamp } };
}

/** An empty value takes the field away. */
function withField(object: WireObject, [field = "", ...rest]: readonly string[], value: unknown): WireObject {
  const { [field]: before, ...others } = object;
  if (rest.length > 0) return { ...others, [field]: withField(record(before), rest, value) };
  return value === null || value === undefined ? others : { ...others, [field]: value };
}

function record(value: unknown): WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as WireObject) : {};
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

/** The kinds of flipop's objects as Kubernetes names them, in the order of {@link EDITED_KINDS}. */
export const OBJECT_KINDS: readonly string[] = ["FloatingIPPool", "RoutedIP", "NodeDNSRecordSet", "RoutedIPIssuer"];

/** Which kind of flipop's objects a kind of Kubernetes is; undefined for every other one. */
export function editedKindOf(kind: unknown): EditedKind | undefined {
  const at = OBJECT_KINDS.indexOf(String(kind));
  return EDITED_KINDS[at];
}
