import { isDeepStrictEqual } from "node:util";
import {
  arrayAt,
  canonicalJSON,
  compact,
  isObject,
  type JSONObject,
  type KubeObject,
  objectAt,
  omit,
  parseJSON,
  textAt,
  timestamp,
  valueAt,
} from "./object-store.ts";
import { keysOf, memberOf, shapeOf } from "./patches.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";
import type { Schema } from "./schema.ts";
import { badRequest, StatusError } from "./status-error.ts";

// Who wrote which field of an object, as kube-apiserver keeps it in `metadata.managedFields`, and the server-side apply that rests on it. The server does
// it with structured-merge-diff; nothing of the kind is published for JavaScript. A field is a path of steps: `f:spec`, `k:{"name":"a"}`, `v:"a"`.

/** Who writes, and through what. */
export interface Writer {
  /** As `fieldManager` or the client's name says. */
  readonly manager: string;
  readonly subresource?: "status" | undefined;
  readonly nowMs: number;
}

/** Fields, each by its steps joined with {@link NEXT}. */
type Paths = ReadonlySet<string>;
const NONE: Paths = new Set();
const NEXT = "\n";

/** What one manager owns. */
interface Entry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fields: Paths;
}

/**
 * The `managedFields` of an object after a write that is no apply: the writer owns what it changed or added, and nobody owns what it removed. Undefined for an object of
 * whose fields nothing is known: the server begins with its creation or with the first apply. Pure.
 * @param before - undefined for a new object
 */
export function fieldsAfterUpdate(
  type: ResourceType,
  before: KubeObject | undefined,
  next: JSONObject,
  writer: Writer,
): readonly JSONObject[] | undefined {
  const given = writer.subresource === undefined ? valueAt(next, "metadata", "managedFields") : undefined;
  const isReset = Array.isArray(given) && given.every((entry) => isDeepStrictEqual(entry, {}));
  const known = decoded(given);
  const entries = isReset || known.length > 0 ? known : decoded(before?.metadata["managedFields"]);
  if (before !== undefined && entries.length === 0) return undefined;
  const { written, removed } = difference(nodesOf(type, before ?? {}, writer), nodesOf(type, next, writer));
  const left = without(entries, written.union(removed));
  if (written.size === 0) return encoded(left);
  const own = ownEntry(type, writer, "Update");
  const had = left.find((entry) => isSameManager(entry, own));
  const fields = written.union(had?.fields ?? NONE);
  return encoded([...left.filter((entry) => entry !== had), { ...own, fields }]);
}

/** An object with its owners. */
interface Applied {
  readonly object: JSONObject;
  readonly managedFields: readonly JSONObject[];
}

/**
 * What a server-side apply makes of an object: what the writer asks for is in, what it asked for before and nobody else owns is out. Pure.
 * @param live - undefined for an object that is not there yet
 * @throws StatusError 409 naming each field that another manager owns with another value, unless `isForced`
 */
export function apply(
  type: ResourceType,
  live: KubeObject | undefined,
  config: JSONObject,
  writer: Writer & { readonly isForced: boolean },
): Applied {
  if (valueAt(config, "metadata", "managedFields") !== undefined)
    throw badRequest("metadata.managedFields must be nil");
  const shape = shapeOf(type);
  const own = ownEntry(type, writer, "Apply");
  const entries = live === undefined ? [] : ownersOf(type, live, writer);
  const others = entries.filter((entry) => !isSameManager(entry, own));
  const last = entries.find((entry) => isSameManager(entry, own));
  const fields = ownedBy(nodesOf(type, config, writer));
  const kept = withParents(others.reduce((all, entry) => all.union(entry.fields), fields.union(METADATA)));
  const gone = withParents(last?.fields ?? NONE).difference(kept);
  const object = removed(merged(live ?? {}, config, shape), shape, gone, "") as JSONObject;
  const change = difference(nodesOf(type, live ?? {}, writer), nodesOf(type, object, writer));
  if (!writer.isForced) refuseConflicts(others, change.written.difference(clientApplied(type, live, writer)));
  const touched = change.written.union(change.removed);
  const isSame = touched.size === 0 && last?.fields.symmetricDifference(fields).size === 0;
  const left = without(others, touched);
  const managedFields = encoded([...left, { ...own, ...(isSame ? last : {}), fields }]);
  return { object: withLastApplied(object, config, writer), managedFields };
}

const METADATA: Paths = new Set(["f:metadata"]);
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** What kubectl applied on its own side before it came to apply on the server's: no conflict for it, unless somebody changed it since. */
function clientApplied(type: ResourceType, live: KubeObject | undefined, writer: Writer): Paths {
  const text = writer.manager === "kubectl" ? textAt(live, "metadata", "annotations", LAST_APPLIED) : "";
  if (live === undefined || text === "") return NONE;
  const applied = nodesOf(type, objectAt({ config: parseJSON(text) }, "config"), writer);
  const { written, removed: gone } = difference(applied, nodesOf(type, live, writer));
  return ownedBy(applied).difference(written).difference(gone);
}

/** kubectl goes on applying on its own side where it did before: what it applied last is kept for it. */
function withLastApplied(object: JSONObject, config: JSONObject, { manager }: Writer): JSONObject {
  const metadata = objectAt(object, "metadata");
  const annotations = objectAt(metadata, "annotations");
  if (manager !== "kubectl" || textAt(annotations, LAST_APPLIED) === "") return object;
  const others = omit(objectAt(config, "metadata", "annotations"), LAST_APPLIED);
  const isPlain = Object.keys(others).length === 0;
  const own = compact({ ...objectAt(config, "metadata"), annotations: isPlain ? undefined : others });
  const text = `${canonicalJSON({ ...config, metadata: own })}\n`;
  return { ...object, metadata: { ...metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } };
}

/** Who owned the object's fields before the first apply nobody knows: one manager stands for all of them. */
function ownersOf(type: ResourceType, live: KubeObject, writer: Writer): readonly Entry[] {
  const entries = decoded(live.metadata["managedFields"]);
  if (entries.length > 0) return entries;
  const { written } = difference(new Map(), nodesOf(type, live, writer));
  return [{ ...ownEntry(type, { ...writer, manager: "before-first-apply" }, "Update"), fields: written }];
}

function ownEntry(type: ResourceType, writer: Writer, operation: Entry["operation"]): Omit<Entry, "fields"> {
  const { manager, subresource, nowMs } = writer;
  const part = subresource === undefined ? {} : { subresource };
  return { manager, operation, apiVersion: apiVersionOf(type), time: timestamp(nowMs), ...part };
}

/** Applies of one manager are one whatever version they are written in. */
function isSameManager(a: Omit<Entry, "fields">, b: Omit<Entry, "fields">): boolean {
  const idOf = ({ manager, operation, apiVersion, subresource }: Omit<Entry, "fields">): unknown => [
    manager,
    operation,
    subresource,
    operation === "Apply" ? "" : apiVersion,
  ];
  return isDeepStrictEqual(idOf(a), idOf(b));
}

function refuseConflicts(others: readonly Entry[], written: Paths): void {
  const conflicts = others.flatMap((entry) => {
    const fields = [...entry.fields].filter((path) => written.has(path)).toSorted(byReadingOrder);
    return fields.length === 0 ? [] : [{ who: managerText(entry), fields: fields.map(pathText) }];
  });
  const [only] = conflicts;
  const causes = conflicts.flatMap(({ who, fields }) =>
    fields.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${who}`, field })),
  );
  if (only === undefined) return;
  const all = conflicts.flatMap(({ who, fields }) => [
    `conflicts with ${who}:`,
    ...fields.map((field) => `- ${field}`),
  ]);
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${only.who}: ${only.fields[0]}`
      : `Apply failed with ${causes.length} conflicts: ${all.join("\n")}`;
  throw new StatusError(409, "Conflict", message, { causes });
}

/** What ends at a step comes before what goes on there. */
function byReadingOrder(a: string, b: string): number {
  const orderOf = (path: string): string => path.replaceAll(NEXT, `${NEXT}1`).replace(/1(?=[^\n]*$)/, "0");
  return orderOf(a) < orderOf(b) ? -1 : 1;
}

function managerText({ manager, operation, apiVersion, subresource }: Entry): string {
  const part = subresource === undefined ? "" : ` with subresource "${subresource}"`;
  return `${JSON.stringify(manager)}${part}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}

/** `.spec.ports[port=80,protocol="TCP"].name` */
function pathText(path: string): string {
  const steps = path.split(NEXT).map((step) => {
    if (step.startsWith("f:")) return `.${step.slice(2)}`;
    if (step.startsWith("v:")) return `[=${step.slice(2)}]`;
    const keys = Object.entries(JSON.parse(step.slice(2)) as JSONObject);
    return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
  });
  return steps.join("");
}

/** Something that has parts of its own: a map, or a list whose items are told apart. */
const MAP = Symbol("map");
/** An item of such a list. Unlike a map, it has an owner itself. */
const ITEM = Symbol("item");

/** Every field of an object that can have an owner, with its value, or with what it is. */
type Nodes = ReadonlyMap<string, unknown>;

/** Metadata that is nobody's. */
const IDENTITY = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "generation",
  "resourceVersion",
  "managedFields",
];

/** A write through `/status` owns nothing else, and one that is not never owns the status. */
function nodesOf(type: ResourceType, object: JSONObject, { subresource }: Writer): Nodes {
  const { apiVersion: _apiVersion, kind: _kind, status, ...body } = object;
  const metadata = omit(objectAt(object, "metadata"), ...IDENTITY);
  const own = type.hasStatus ? { ...body, metadata } : { ...body, metadata, status };
  const nodes = new Map<string, unknown>();
  collect(compact(subresource === undefined ? own : { status }), shapeOf(type), "", nodes);
  for (const path of ["", step("", "f:metadata")]) nodes.delete(path);
  return nodes;
}

function collect(value: unknown, schema: Schema, path: string, nodes: Map<string, unknown>): void {
  const parts = partsOf(value, schema);
  nodes.set(path, parts === undefined ? value : MAP);
  for (const [last, part, partSchema] of parts ?? []) {
    const place = step(path, last);
    collect(part, partSchema, place, nodes);
    if (!last.startsWith("f:") && nodes.get(place) === MAP) nodes.set(place, ITEM);
  }
}

type Part = readonly [last: string, value: unknown, schema: Schema];

/** What has owners of its own in a value; undefined for a value that has an owner as a whole. */
function partsOf(value: unknown, schema: Schema): readonly Part[] | undefined {
  if (isMap(value, schema))
    return Object.entries(value).map(([key, member]) => [`f:${key}`, member, memberOf(schema, key)]);
  if (!Array.isArray(value) || value.length === 0 || keysOf(schema) === undefined) return undefined;
  return value.map((item) => [stepOf(item, schema), item, schema.items ?? {}]);
}

function isMap(value: unknown, schema: Schema): value is JSONObject {
  return isObject(value) && schema["x-kubernetes-map-type"] !== "atomic" && Object.keys(value).length > 0;
}

function step(path: string, next: string): string {
  return path === "" ? next : `${path}${NEXT}${next}`;
}

/** What tells an item apart: its keys, with the defaults of those that it leaves out, or itself. */
function stepOf(item: unknown, { items = {}, ...list }: Schema): string {
  const keys = keysOf({ ...list }) ?? [];
  if (keys.length === 0) return `v:${canonicalJSON(item)}`;
  const identity = keys.map((key) => [key, valueAt(item, key) ?? memberOf(items, key).default]);
  return `k:${canonicalJSON(Object.fromEntries(identity))}`;
}

function difference(before: Nodes, after: Nodes): { readonly written: Paths; readonly removed: Paths } {
  const isWritten = ([path, value]: readonly [string, unknown]): boolean =>
    !before.has(path) || !(isPart(value) || isPart(before.get(path)) || isDeepStrictEqual(value, before.get(path)));
  return {
    written: new Set([...after].filter(isWritten).map(([path]) => path)),
    removed: new Set([...before.keys()].filter((path) => !after.has(path))),
  };
}

function isPart(value: unknown): boolean {
  return value === MAP || value === ITEM;
}

/** Who applies an object owns its values and items. */
function ownedBy(nodes: Nodes): Paths {
  return new Set([...nodes].filter(([, value]) => value !== MAP).map(([path]) => path));
}

/** A live value with what is applied in it. */
function merged(live: unknown, config: unknown, schema: Schema): unknown {
  if (isMap(live, schema) && isMap(config, schema)) {
    const members = Object.entries(config).map(([key, value]) => [
      key,
      merged(live[key], value, memberOf(schema, key)),
    ]);
    return { ...live, ...Object.fromEntries(members) };
  }
  const isKeyed = keysOf(schema) !== undefined && Array.isArray(live) && Array.isArray(config);
  return isKeyed ? mergedItems(live, config, schema) : config;
}

/** Items that only the live list has keep their place among those that both have; the others follow in the order in which they are applied. */
function mergedItems(live: readonly unknown[], config: readonly unknown[], schema: Schema): readonly unknown[] {
  const had = new Map(live.map((item) => [stepOf(item, schema), item]));
  const asked = new Map(config.map((item) => [stepOf(item, schema), item]));
  const shared = [...asked.keys()].filter((key) => had.has(key));
  const rest = [...asked];
  const result: unknown[] = [];
  const takeNext = (): string | undefined => {
    const [key = "", item] = rest.shift() ?? [];
    result.push(had.has(key) ? merged(had.get(key), item, schema.items ?? {}) : item);
    return key;
  };
  for (const [key, item] of had) {
    if (!asked.has(key)) result.push(item);
    else if (key === shared[0]) {
      shared.shift();
      while (takeNext() !== key);
    }
  }
  while (rest.length > 0) takeNext();
  return result;
}

/** A value without these fields, and without what has nothing left then; undefined when that is all of it. */
function removed(value: unknown, schema: Schema, gone: Paths, path: string): unknown {
  const left = partsOf(value, schema)?.flatMap(([last, part, partSchema]) => {
    const place = step(path, last);
    const rest = gone.has(place) ? undefined : removed(part, partSchema, gone, place);
    return rest === undefined ? [] : [[last.slice(2), rest] as const];
  });
  if (left === undefined) return value;
  if (left.length === 0) return undefined;
  return Array.isArray(value) ? left.map(([, item]) => item) : Object.fromEntries(left);
}

function withParents(paths: Paths): Paths {
  const all = new Set(paths);
  for (const path of paths) {
    for (let end = path.lastIndexOf(NEXT); end > 0; end = path.lastIndexOf(NEXT, end - 1)) all.add(path.slice(0, end));
  }
  return all;
}

function without(entries: readonly Entry[], paths: Paths): readonly Entry[] {
  return entries.map((entry) => ({ ...entry, fields: entry.fields.difference(paths) }));
}

/** Reads `managedFields`; what is no list of entries counts as none. */
function decoded(managedFields: unknown): readonly Entry[] {
  return arrayAt({ managedFields }, "managedFields").flatMap((entry) => {
    const [manager, apiVersion, time] = [textAt(entry, "manager"), textAt(entry, "apiVersion"), textAt(entry, "time")];
    const [operation, subresource] = [valueAt(entry, "operation"), textAt(entry, "subresource")];
    if ((operation !== "Apply" && operation !== "Update") || apiVersion === "") return [];
    const fields = new Set(pathsIn(objectAt(entry, "fieldsV1"), ""));
    const more = { ...(time === "" ? {} : { time }), ...(subresource === "" ? {} : { subresource }) };
    return [{ manager, operation, apiVersion, ...more, fields }];
  });
}

function pathsIn(tree: JSONObject, path: string): readonly string[] {
  return Object.entries(tree).flatMap(([key, below]) => {
    if (key === ".") return [path];
    const place = step(path, key);
    return isObject(below) && Object.keys(below).length > 0 ? pathsIn(below, place) : [place];
  });
}

/** As the server writes them: applies first, older before newer, managers by name. Who owns nothing is left out. */
function encoded(entries: readonly Entry[]): readonly JSONObject[] {
  const orderOf = ({ operation, time = "", manager, apiVersion, subresource = "" }: Entry): string =>
    [operation, time, manager, apiVersion, subresource].join(NEXT);
  return entries
    .filter(({ fields }) => fields.size > 0)
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    .map(({ manager, operation, apiVersion, time, subresource, fields }) =>
      compact({ manager, operation, apiVersion, time, fieldsType: "FieldsV1", fieldsV1: treeOf(fields), subresource }),
    );
}

interface Tree {
  [step: string]: Tree;
}

function treeOf(paths: Paths): Tree {
  const root: Tree = {};
  const nodeAt = (path: string): Tree =>
    path.split(NEXT).reduce((node, key) => {
      node[key] ??= {};
      return node[key];
    }, root);
  const nodes = [...paths].sort().map(nodeAt);
  for (const node of nodes) if (Object.keys(node).length > 0) node["."] = {};
  return root;
}
