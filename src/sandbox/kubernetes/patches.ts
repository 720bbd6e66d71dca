import { isDeepStrictEqual } from "node:util";
import { canonicalJSON, isObject, type JSONObject, omit, valueAt } from "./object-store.ts";
import type { ResourceType } from "./resource-types.ts";
import type { Schema } from "./schema.ts";
import { badRequest, StatusError } from "./status-error.ts";

/** Media type of a PATCH that the sandbox carries out. */
export type PatchKind =
  | "application/json-patch+json"
  | "application/merge-patch+json"
  | "application/strategic-merge-patch+json";

/** The kind of PATCH that flipop itself sends. */
export const MERGE_PATCH: PatchKind = "application/merge-patch+json";

/** What each kind of PATCH makes of an object. Pure. They throw StatusError 400 for a patch that cannot be read, 422 for one that does not fit. */
export const PATCHES: Readonly<
  Record<PatchKind, (type: ResourceType, current: JSONObject, patch: unknown) => unknown>
> = {
  "application/json-patch+json": (_, current, patch) => jsonPatched(current, patch),
  "application/merge-patch+json": (_, current, patch) => mergePatch(current, mapOf(patch, "merge")),
  "application/strategic-merge-patch+json": (type, current, patch) =>
    mergeMap(current, mapOf(patch, "strategic merge"), shapeOf(type)),
};

function mapOf(patch: unknown, kind: string): JSONObject {
  if (isObject(patch)) return patch;
  throw badRequest(`a ${kind} patch must be a JSON object`);
}

/**
 * The value after a JSON merge patch: null removes a member, objects merge, anything else replaces. Pure.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7396 (verified 2026-08)
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, unknown>(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch) satisfies readonly (readonly [string, unknown])[]) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged) satisfies JSONObject;
}

/** A list whose items are told apart by these members. */
function keyed(keys: string, properties: Readonly<Record<string, Schema>> = {}): Schema {
  return {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys.split(","),
    items: { properties, ...(keys === "uid" ? ATOMIC : {}) },
  };
}

const ATOMIC: Schema = { "x-kubernetes-map-type": "atomic" };
/** A list of plain values, each once. */
const SET: Schema = { "x-kubernetes-list-type": "set" };
const TCP: Readonly<Record<string, Schema>> = { protocol: { default: "TCP" } };

const CONDITIONS = { conditions: keyed("type") };
const CONTAINERS = keyed("name", {
  env: keyed("name"),
  ports: keyed("containerPort,protocol", TCP),
  volumeMounts: keyed("mountPath"),
  volumeDevices: keyed("devicePath"),
});
const POD: Schema = {
  properties: {
    containers: CONTAINERS,
    initContainers: CONTAINERS,
    ephemeralContainers: CONTAINERS,
    volumes: keyed("name"),
    imagePullSecrets: keyed("name"),
    hostAliases: keyed("ip"),
    topologySpreadConstraints: keyed("topologyKey,whenUnsatisfiable"),
    resourceClaims: keyed("name"),
    nodeSelector: ATOMIC,
  },
};
const POD_TEMPLATE: Schema = { properties: { template: { properties: { spec: POD } }, selector: ATOMIC } };
const SERVICE: Schema = { properties: { ports: keyed("port,protocol", TCP), selector: ATOMIC } };

function specAndStatus(spec: Schema, status: Readonly<Record<string, Schema>> = {}): Schema {
  return { properties: { spec, status: { properties: status } } };
}

/**
 * How the lists and maps of the built-in kinds merge, both by a strategic merge patch, which knows the first key of a list alone, and where fields have owners. A list that is
 * not named is one value (API of Kubernetes 1.35.4, read 2026-11-25).
 */
const BY_KIND: ReadonlyMap<string, Schema> = new Map([
  ["Namespace", specAndStatus({}, CONDITIONS)],
  ["Node", specAndStatus({ properties: { podCIDRs: SET } }, { ...CONDITIONS, addresses: keyed("type") })],
  ["Pod", specAndStatus(POD, { ...CONDITIONS, podIPs: keyed("ip"), hostIPs: keyed("ip") })],
  ["Service", specAndStatus(SERVICE, CONDITIONS)],
  ["Deployment", specAndStatus(POD_TEMPLATE, CONDITIONS)],
  ["CronJob", specAndStatus({ properties: { jobTemplate: { properties: { spec: POD_TEMPLATE } } } })],
  ["Event", { properties: { regarding: ATOMIC, related: ATOMIC } }],
]);

const METADATA: Schema = { properties: { finalizers: SET, ownerReferences: keyed("uid") } };

/** How the lists and maps of an object merge. */
export function shapeOf({ kind, schema }: Pick<ResourceType, "kind" | "schema">): Schema {
  return { ...schema, properties: { ...(schema ?? BY_KIND.get(kind))?.properties, metadata: METADATA } };
}

/** The members that tell the items of a list apart: none for a set, undefined for a list that is one value. */
export function keysOf(list: Schema): readonly string[] | undefined {
  const type = list["x-kubernetes-list-type"];
  return type === "map" ? (list["x-kubernetes-list-map-keys"] ?? []) : type === "set" ? [] : undefined;
}

/** What is known of a member; nothing = `{}`. */
export function memberOf(schema: Schema, key: string): Schema {
  const own = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
  return own ?? (isObject(schema.additionalProperties) ? schema.additionalProperties : {});
}

const ORDER = "$setElementOrder/";
const WITHOUT = "$deleteFromPrimitiveList/";

/** An object after a strategic merge patch, directives included. */
function mergeMap(current: JSONObject, patch: JSONObject, schema: Schema): JSONObject {
  const { $patch: directive, $retainKeys: retained, ...rest } = patch;
  if (directive === "delete") return {};
  if (directive === "replace") return rest;
  const kept = Object.entries(current).filter(([key]) => !Array.isArray(retained) || retained.includes(key));
  const merged = new Map<string, unknown>(kept);
  for (const [key, value] of Object.entries(rest)) mergeMember(merged, key, value, schema);
  for (const [key, order] of Object.entries(rest)) {
    const [, field = ""] = key.split(ORDER);
    if (!merged.has(field)) continue;
    const [by] = keysOf(memberOf(schema, field)) ?? [];
    merged.set(field, inOrder(listOf(merged.get(field)), listOf(order), listOf(current[field]), by));
  }
  return Object.fromEntries(merged);
}

function mergeMember(merged: Map<string, unknown>, key: string, value: unknown, schema: Schema): void {
  const [, listed] = key.split(WITHOUT);
  if (listed !== undefined) {
    const gone = listOf(value);
    merged.set(
      listed,
      listOf(merged.get(listed)).filter((item) => !gone.includes(item)),
    );
  } else if (value === null) merged.delete(key);
  else if (!key.startsWith(ORDER)) merged.set(key, mergeValue(merged.get(key), value, memberOf(schema, key)));
}

function mergeValue(current: unknown, patch: unknown, schema: Schema): unknown {
  if (isObject(patch)) return mergeMap(isObject(current) ? current : {}, patch, schema);
  const keys = keysOf(schema);
  if (!Array.isArray(patch) || keys === undefined) return patch;
  const [by] = keys;
  const before = listOf(current);
  const merged = by === undefined ? [...new Set([...before, ...patch])] : mergeItems(before, patch, by, schema.items);
  return inOrder(merged, patch, before, by);
}

/** Items are found by their key; `$patch: delete` removes one, `$patch: replace` all that were there. */
function mergeItems(
  before: readonly unknown[],
  patch: readonly unknown[],
  by: string,
  schema: Schema = {},
): readonly unknown[] {
  const changes = patch.filter((item): item is JSONObject => isObject(item));
  const isReplaced = changes.some((item) => item["$patch"] === "replace");
  if (isReplaced) return changes.filter((item) => item["$patch"] !== "replace");
  const items = new Map(before.map((item) => [identityOf(item, by), item]));
  for (const change of changes) {
    if (change[by] === undefined)
      throw badRequest(`map: ${JSON.stringify(change)} does not contain declared merge key: ${by}`);
    const key = identityOf(change, by);
    const found = items.get(key);
    if (change["$patch"] === "delete") items.delete(key);
    else items.set(key, mergeMap(isObject(found) ? found : {}, change, schema));
  }
  return [...items.values()];
}

/**
 * A merged list as the API server orders it: what the patch names in the patch's order, what it does not name in the order that
 * was there, and before a named item only if it was so before.
 */
function inOrder(
  merged: readonly unknown[],
  named: readonly unknown[],
  before: readonly unknown[],
  by: string | undefined,
): readonly unknown[] {
  const wanted = named.map((item) => identityOf(item, by));
  const had = before.map((item) => identityOf(item, by));
  const placeOf = (order: readonly string[]) => (item: unknown) => order.indexOf(identityOf(item, by));
  const isNamed = (item: unknown): boolean => wanted.includes(identityOf(item, by));
  const patched = merged.filter(isNamed).toSorted((a, b) => placeOf(wanted)(a) - placeOf(wanted)(b));
  const others = merged.filter((item) => !isNamed(item));
  const ordered: unknown[] = [];
  while (others.length > 0 && patched.length > 0) {
    const [other, own] = [placeOf(had)(others[0]), placeOf(had)(patched[0])];
    ordered.push(own !== -1 && other < own ? others.shift() : patched.shift());
  }
  return [...ordered, ...others, ...patched];
}

function identityOf(item: unknown, by: string | undefined): string {
  return canonicalJSON(by !== undefined && isObject(item) ? item[by] : item);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * The value after a JSON patch.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6902 (verified 2026-11)
 */
function jsonPatched(current: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch) || !patch.every(isObject)) throw badRequest("a JSON patch must be a list of operations");
  return patch.reduce<unknown>((value, step) => applyStep(value, step), current);
}

function applyStep(root: unknown, { op, path, from, value }: JSONObject): unknown {
  const at = pointer(path);
  switch (op) {
    case "add":
      return edited(root, at, { value, isNew: true });
    case "replace":
      return edited(root, at, { value, isNew: false });
    case "remove":
      return edited(root, at, { isNew: false });
    case "move": {
      const moved = find(root, pointer(from));
      return edited(edited(root, pointer(from), { isNew: false }), at, { value: moved, isNew: true });
    }
    case "copy":
      return edited(root, at, { value: find(root, pointer(from)), isNew: true });
    case "test":
      if (isDeepStrictEqual(find(root, at), value)) return root;
  }
  throw unprocessable();
}

function pointer(path: unknown): readonly string[] {
  if (typeof path !== "string" || !/^(\/|$)/.test(path)) throw unprocessable();
  const keys = path.split("/").slice(1);
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function find(root: unknown, path: readonly string[]): unknown {
  let found = root;
  for (const key of path) found = Array.isArray(found) ? found[Number(key)] : valueAt(found, key);
  if (found === undefined) throw unprocessable();
  return found;
}

/** One member: its new value, absent = it goes; and whether it is to be made. */
interface Edit {
  readonly value?: unknown;
  readonly isNew: boolean;
}

/** A copy in which the member at a path is another one. */
function edited(root: unknown, path: readonly string[], edit: Edit): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return edit.value;
  if (deeper.length > 0) {
    const inner = edited(find(root, [key]), deeper, edit);
    return Array.isArray(root) ? root.with(Number(key), inner) : { ...(root as JSONObject), [key]: inner };
  }
  if (!edit.isNew) find(root, [key]);
  if (Array.isArray(root)) return editedList(root, key, edit);
  if (!isObject(root)) throw unprocessable();
  return "value" in edit ? { ...root, [key]: edit.value } : omit(root, key);
}

function editedList(list: readonly unknown[], key: string, edit: Edit): readonly unknown[] {
  const place = key === "-" ? list.length : Number(key);
  if (!Number.isInteger(place) || place < 0 || place > list.length) throw unprocessable();
  return list.toSpliced(place, edit.isNew ? 0 : 1, ...("value" in edit ? [edit.value] : []));
}

function unprocessable(): StatusError {
  return new StatusError(422, "Invalid", "the server rejected our request due to an error in our request");
}
