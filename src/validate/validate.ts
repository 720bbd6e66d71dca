import type { Finding } from "../model/finding.ts";
import { nearest } from "../model/nearest.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { GROUP } from "../model/resource.ts";
import { eachInSteps, type Steps } from "../plan/steps.ts";
import { type CheckedObject, findingOf } from "./checked-object.ts";
import { documentsInSteps, type ManifestDocument, type Path, pathSteps, pathText } from "./documents.ts";
import { type Remark, remarksOn, type SpecObject } from "./meaning.ts";
import { refusedNames } from "./object-names.ts";
import { relationsOf } from "./relations.ts";
import { type KindSchema, meantWord, type SchemaFault } from "./schema.ts";

/** A file that has been read. */
export interface ManifestFile {
  readonly name: string;
  readonly text: string;
}

/** What files are checked against. Nothing of it needs a cluster. */
export interface Knowledge {
  /** By kind, of the shipped definitions. */
  readonly schemas: ReadonlyMap<string, KindSchema>;
  readonly registry: ProviderRegistry;
  /** Reads an object as flipop does in a cluster; undefined for one without a name. */
  readonly decode: (kind: string, object: unknown) => SpecObject | undefined;
  /** Where an object is that does not say. */
  readonly namespace: string;
}

/** What was found in files. */
export interface Checked {
  /** In the order of files and lines. */
  readonly findings: readonly Finding[];
  /** Those that can be read. */
  readonly objects: readonly CheckedObject[];
  /** How many objects of flipop there are. */
  readonly count: number;
  /** How many other documents. */
  readonly others: number;
}

/**
 * Checks all objects of flipop in files: each by its schema and by the planner's rules, then what they ask for against each other. Stops after each document: a folder may
 * hold many. Pure.
 */
export function* checkInSteps(files: readonly ManifestFile[], knowledge: Knowledge): Steps<Checked> {
  const results: Result[] = [];
  for (const file of files) results.push(...(yield* checkFile(file, knowledge)));
  const objects = results.flatMap(({ object }) => object ?? []);
  const findings = [...results.flatMap((result) => result.findings), ...relationsOf(objects, knowledge.registry)];
  return {
    findings: inFileOrder(findings, files),
    objects,
    count: results.filter(({ kind }) => kind === "object").length,
    others: results.filter(({ kind }) => kind === "other").length,
  };
}

/** Returns findings in the order of files, lines and columns. Pure. */
export function inFileOrder(
  findings: readonly Finding[],
  files: readonly Pick<ManifestFile, "name">[],
): readonly Finding[] {
  const place = new Map(files.map(({ name }, at) => [name, at]));
  return findings.toSorted(
    (a, b) => (place.get(a.file) ?? 0) - (place.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
}

/** What came of one document. */
interface Result {
  readonly kind: "object" | "other" | "fault";
  readonly findings: readonly Finding[];
  readonly object?: CheckedObject;
}

function* checkFile({ name, text }: ManifestFile, knowledge: Knowledge): Steps<readonly Result[]> {
  const { documents, faults } = yield* documentsInSteps(text);
  const unread = faults.map(({ message, ...position }) =>
    findingOf({ code: "FLP200", path: "", message }, { file: name, object: "", position }),
  );
  const results = yield* eachInSteps(documents, (document) => new Check(name, document, knowledge).result());
  return [...unread.map((finding) => ({ kind: "fault" as const, findings: [finding] })), ...results];
}

/** The check of one document. */
class Check {
  readonly #file: string;
  readonly #document: ManifestDocument;
  readonly #knowledge: Knowledge;
  readonly #object: Fields;

  constructor(file: string, document: ManifestDocument, knowledge: Knowledge) {
    this.#file = file;
    this.#document = document;
    this.#knowledge = knowledge;
    this.#object = fieldsOf(document.value);
  }

  result(): Result {
    if (!isFields(this.#document.value) && !Array.isArray(this.#document.value))
      return { kind: "fault", findings: [this.#finding("FLP200", [], "no object of Kubernetes", "value")] };
    const { apiVersion, kind } = this.#object;
    const [group = "", version = ""] = typeof apiVersion === "string" ? apiVersion.split("/") : [];
    const schema = typeof kind === "string" ? this.#knowledge.schemas.get(kind) : undefined;
    if (group !== GROUP) return this.#ofOtherGroup(group, schema);
    if (typeof kind !== "string") return this.#wrongKind("FLP203", "kind", "is required");
    if (schema === undefined) {
      const meant = meantWord(kind, [...this.#knowledge.schemas.keys()]);
      return this.#wrongKind("FLP205", "kind", `${GROUP} has no kind ${kind}${meant}`);
    }
    if (version !== schema.version)
      return this.#wrongKind("FLP205", "apiVersion", `${kind} is served as ${GROUP}/${schema.version} only`);
    return this.#ofKind(kind, schema);
  }

  /** An object of flipop without its group is meant to be one; so is one whose group is mistyped. */
  #ofOtherGroup(group: string, schema: KindSchema | undefined): Result {
    if (schema === undefined) return { kind: "other", findings: [] };
    const served = `${GROUP}/${schema.version}`;
    if (this.#object["apiVersion"] === undefined)
      return this.#wrongKind("FLP203", "apiVersion", `is required: ${served}`);
    const isMeant = nearest(group, [GROUP]) !== undefined;
    return isMeant
      ? this.#wrongKind("FLP205", "apiVersion", `${group} has no such kind. Did you mean ${served}?`)
      : { kind: "other", findings: [] };
  }

  #wrongKind(code: "FLP203" | "FLP205", field: "kind" | "apiVersion", message: string): Result {
    const findings = [this.#finding(code, [field], message, code === "FLP203" ? "key" : "value")];
    return { kind: "object", findings };
  }

  #ofKind(kind: string, schema: KindSchema): Result {
    const faults = schema.faultsOf(this.#document.value);
    const metadata = fieldsOf(this.#object["metadata"]);
    const namespace = typeof metadata["namespace"] === "string" ? metadata["namespace"] : this.#knowledge.namespace;
    const name = metadata["name"] ?? metadata["generateName"];
    const placed = { ...this.#object, metadata: { ...metadata, namespace, name } };
    const decoded = this.#knowledge.decode(kind, placed);
    const ref = `${decoded?.of ?? kind}/${namespace}/${typeof name === "string" ? name : "?"}`;
    const spec = this.#object["spec"];
    const remarks = decoded === undefined || !isFields(spec) ? [] : remarksOn(decoded, this.#knowledge.registry);
    const findings = [
      ...this.#nameFindings(metadata, ref),
      ...faults.map(({ code, path, message, isOfKey }) =>
        this.#finding(code, path, message, isOfKey ? "key" : "value", ref),
      ),
      ...[...emptyAddress(kind, spec), ...remarks]
        .filter((remark, at, all) => all.findIndex(isSameAs(remark)) === at && !follows(remark, faults))
        .map((remark) => this.#remarked(remark, ref)),
    ];
    const object =
      decoded === undefined ? {} : { object: { ref, file: this.#file, document: this.#document, spec: decoded } };
    return { kind: "object", findings, ...object };
  }

  #nameFindings(metadata: Fields, ref: string): readonly Finding[] {
    const isNamed = metadata["name"] !== undefined || metadata["generateName"] !== undefined;
    return [
      ...(isNamed || !isFields(this.#object["metadata"])
        ? []
        : [this.#finding("FLP203", ["metadata", "name"], "is required", "key", ref)]),
      ...refusedNames(metadata).map(({ field, message }) =>
        this.#finding("FLP202", ["metadata", field], message, "value", ref),
      ),
    ];
  }

  #remarked(remark: Remark, object: string): Finding {
    const steps = pathSteps(remark.path);
    const position =
      remark.code === "FLP212" || remark.code === "FLP219"
        ? this.#document.keyAt(steps)
        : this.#document.valueAt(steps, remark.offset);
    return findingOf(remark, { file: this.#file, object, position });
  }

  #finding(code: Finding["code"], path: Path, message: string, part: "key" | "value", object: string = ""): Finding {
    const position = part === "key" ? this.#document.keyAt(path) : this.#document.valueAt(path);
    return findingOf({ code, path: pathText(path), message }, { file: this.#file, object, position });
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** An absent address asks for a new one; an empty one is refused by the API server, so that none is bought by mistake. */
function emptyAddress(kind: string, spec: unknown): readonly Remark[] {
  if (kind !== "RoutedIP" || fieldsOf(spec)["address"] !== "") return [];
  const message = '"" is not a canonical IPv4 address; without the field one is created';
  return [{ code: "FLP214", path: "spec.address", message }];
}

function isSameAs({ code, path }: Remark): (other: Remark) => boolean {
  return (other) => other.code === code && other.path === path;
}

/** True for what is only said because a value could not be read. */
function follows(remark: Remark, faults: readonly SchemaFault[]): boolean {
  const paths = faults.filter(({ code }) => code !== "FLP204").map(({ path }) => pathText(path));
  return (remark.from ?? [remark.path]).some((from) =>
    paths.some((path) => isWithin(path, from) || isWithin(from, path)),
  );
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}
