import { parseLabelSelector, selects } from "../../model/label-selector.ts";
import { presentObject } from "./admission.ts";
import type { KubernetesAPI } from "./kubernetes-api.ts";
import {
  type Change,
  isObject,
  type JSONObject,
  type KubeObject,
  keyOf,
  omit,
  parseJSON,
  storeKey,
  valueAt,
} from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";
import { badRequest, expired, StatusError, tooLargeResourceVersion } from "./status-error.ts";

/** Where a list goes on. */
interface Continuation {
  /** The version all pages show; -1 = whatever is there now. */
  readonly resourceVersion: number;
  /** The last key of the page before. */
  readonly after: string;
}

/**
 * A list document: sorted by key, filtered, one page of it when `limit` asks so. Pages show the version of the first page
 * for as long as its history is kept.
 *
 * @throws StatusError 400 for parameters that cannot be read, 410 for an expired token, 504 for a version of the future.
 */
export function listObjects(
  api: KubernetesAPI,
  type: ResourceType,
  namespace: string | undefined,
  query: URLSearchParams,
): JSONObject {
  const filter = objectFilter(type, namespace, query);
  const { resourceVersion, after, limit } = readPosition(api, query);
  const shown = resourceVersion === -1 ? api.store.resourceVersion : resourceVersion;
  const all = api.store.allAt(storeKey(type), shown) ?? refuseOld(query, after);
  const rest = all.filter((object) => keyOf(object.metadata) > after && filter.includes(object));
  const page = limit === 0 ? rest : rest.slice(0, limit);
  const isLast = page.length === rest.length;
  const last = page.at(-1);
  return {
    kind: `${type.kind}List`,
    apiVersion: apiVersionOf(type),
    metadata: {
      resourceVersion: String(shown),
      ...(isLast || last === undefined
        ? endOfList(type)
        : { continue: encode({ resourceVersion: shown, after: keyOf(last.metadata) }) }),
      ...(isLast || filter.isSelective ? {} : { remainingItemCount: rest.length - page.length }),
    },
    items: page.map((object) => listItem(type, object)),
  };
}

/** The last page of custom resources says so with an empty token. */
function endOfList(type: ResourceType): JSONObject {
  return type.schema === undefined ? {} : { continue: "" };
}

/** Items of built-in lists carry neither kind nor apiVersion; those of custom resources do. */
function listItem(type: ResourceType, object: KubeObject): JSONObject {
  const item = presentObject(type, object);
  return type.schema === undefined ? omit(item, "apiVersion", "kind") : item;
}

function readPosition(api: KubernetesAPI, query: URLSearchParams): Continuation & { readonly limit: number } {
  const limit = readNumber(query.get("limit") ?? "", (text) => badRequest(notANumber(text)));
  const token = query.get("continue") ?? "";
  const asked = query.get("resourceVersion") ?? "";
  if (token === "") return { ...readStart(api, asked, query.get("resourceVersionMatch") ?? "", limit), after: "" };
  if (asked !== "" && asked !== "0") throw badRequest("specifying resource version is not allowed when using continue");
  return { ...decode(token), limit };
}

function readStart(
  api: KubernetesAPI,
  asked: string,
  match: string,
  limit: number,
): { readonly resourceVersion: number; readonly limit: number } {
  const current = api.store.resourceVersion;
  const version = readNumber(asked, (text) => badRequest(`invalid resource version: ${notANumber(text)}`));
  if (version > current) throw tooLargeResourceVersion(version, current);
  const isExact = version > 0 && (match === "Exact" || (match === "" && limit > 0));
  // Version 0 is served from the watch cache, which knows no pages.
  return { resourceVersion: isExact ? version : current, limit: asked === "0" ? 0 : limit };
}

/** A parameter that is a number; 0 when it is empty. */
function readNumber(text: string, refuse: (text: string) => StatusError): number {
  if (!/^\d*$/.test(text)) throw refuse(text);
  return Number(text);
}

function notANumber(text: string): string {
  return `${JSON.stringify(text)} is no number`;
}

function encode({ resourceVersion, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: resourceVersion, start: after })).toString("base64url");
}

function decode(token: string): Continuation {
  const value = parseJSON(Buffer.from(token, "base64url").toString("utf8"));
  if (isObject(value) && value["v"] === "meta.k8s.io/v1" && typeof value["rv"] === "number")
    return { resourceVersion: value["rv"], after: String(value["start"] ?? "") };
  throw badRequest("invalid continue token: continue key is not valid: it was not issued by this server");
}

const TOKEN_EXPIRED = "The provided continue parameter is too old to display a consistent list result.";

function refuseOld(query: URLSearchParams, after: string): never {
  if ((query.get("continue") ?? "") === "") {
    throw new StatusError(410, "Expired", `The resourceVersion for the provided list is too old.`);
  }
  throw expired(TOKEN_EXPIRED, { continue: encode({ resourceVersion: -1, after }) });
}

/** Which objects of a resource a list or watch is about. */
interface ObjectFilter {
  readonly includes: (object: KubeObject) => boolean;
  /** True when a label or field selector narrows the list. */
  readonly isSelective: boolean;
}

/** Reads `labelSelector` and `fieldSelector`. @throws StatusError 400 for one that cannot be read */
export function objectFilter(type: ResourceType, namespace: string | undefined, query: URLSearchParams): ObjectFilter {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  const parsed = parseLabelSelector(labels);
  if ("error" in parsed) throw badRequest(parsed.error);
  const fits = fieldSelector(type, fields);
  return {
    includes: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      selects(parsed.selector, object.metadata.labels ?? {}) &&
      fits(object),
    isSelective: labels !== "" || fields !== "",
  };
}

interface Term {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/**
 * A test for a field selector: `=`, `==` and `!=`, joined by commas that mean AND.
 *
 * @throws StatusError 400 for a term that cannot be read or a field this resource cannot be selected by.
 */
function fieldSelector(type: ResourceType, text: string): (object: KubeObject) => boolean {
  const terms = text === "" ? [] : text.split(",").map(parseTerm);
  const fields = ["metadata.name", ...(type.isNamespaced ? ["metadata.namespace"] : []), ...type.selectableFields];
  for (const { field } of terms) {
    if (!fields.includes(field)) throw badRequest(`field label not supported: ${field}`);
  }
  return (object) => {
    const shown = type.view?.show(object) ?? object;
    return terms.every(({ field, isEqual, value }) => (textOf(shown, field) === value) === isEqual);
  };
}

function parseTerm(term: string): Term {
  const match = /^([^=!]+)(!=|==|=)(.*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = "", operator, value = ""] = match;
  return { field, isEqual: operator !== "!=", value };
}

function textOf(object: KubeObject, field: string): string {
  const value = valueAt(object, ...field.split(".")) ?? "";
  return String(value);
}

/** What a watch is about, and its clockwork. */
interface WatchRequest {
  readonly type: ResourceType;
  /** Absent = every namespace. */
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
  /** The form in which the client wants its objects. */
  readonly show: (object: JSONObject) => JSONObject;
}

/** Writes the events of one watch, one JSON document per line; resolves when the watch is over. */
type WatchStream = (write: (chunk: string) => void, ended: AbortSignal) => Promise<void>;

const DEFAULT_TIMEOUT_SECONDS = 1800;

/**
 * Prepares a watch that lasts until the timeout of the request or `ended`. Without a resource version, or with 0, the
 * objects that are there come first. Bookmarks come regularly and at the end. A version that is too old is an ERROR event.
 *
 * @throws StatusError 400 or 500 for parameters that cannot be read, 504 for a version of the future.
 */
export function watchObjects(api: KubernetesAPI, request: WatchRequest): WatchStream {
  const { type, query, show } = request;
  const { includes } = objectFilter(type, request.namespace, query);
  const since = readVersion(query);
  const current = api.store.resourceVersion;
  if (since > current) throw tooLargeResourceVersion(since, current);
  const hasInitialEvents = since === 0 || query.get("sendInitialEvents") === "true";
  const timeoutMs = Number(query.get("timeoutSeconds") || DEFAULT_TIMEOUT_SECONDS) * 1000;
  return async (write, ended) => {
    const send = (event: string, object: unknown): void => write(`${JSON.stringify({ type: event, object })}\n`);
    const sendChange = (change: Change): void => {
      const event = change.resource === storeKey(type) ? eventOf(change, includes) : undefined;
      if (event !== undefined) send(event, show(presentObject(type, change.object)));
    };
    const bookmark = (annotations?: JSONObject): void => {
      if (query.get("allowWatchBookmarks") === "true") send("BOOKMARK", bookmarkObject(api, type, annotations));
    };
    const missed = hasInitialEvents ? [] : api.store.changesAfter(since);
    if (missed === undefined) {
      send("ERROR", expired(`too old resource version: ${since} (${current})`));
      return;
    }
    const present = hasInitialEvents ? api.store.all(storeKey(type)).filter(includes) : [];
    for (const object of present) send("ADDED", show(presentObject(type, object)));
    if (query.get("sendInitialEvents") === "true") bookmark({ "k8s.io/initial-events-end": "true" });
    for (const change of missed) sendChange(change);
    const unsubscribe = api.store.subscribe(sendChange);
    const regular = setInterval(bookmark, request.bookmarkMs);
    await elapsed(timeoutMs, ended);
    clearInterval(regular);
    unsubscribe();
    bookmark();
  };
}

function readVersion(query: URLSearchParams): number {
  const version = query.get("resourceVersion") ?? "";
  if (!/^\d*$/.test(version)) throw new StatusError(500, "", `invalid resource version: ${notANumber(version)}`);
  return Number(version);
}

/** To a watch with a selector, an object that begins to fit is added, and one that no longer fits is deleted. */
function eventOf(change: Change, includes: (object: KubeObject) => boolean): Change["type"] | undefined {
  const was = change.previous !== undefined && includes(change.previous);
  const is = change.type !== "DELETED" && includes(change.object);
  if (was && is) return "MODIFIED";
  if (is) return "ADDED";
  return was ? "DELETED" : undefined;
}

function bookmarkObject(api: KubernetesAPI, type: ResourceType, annotations: JSONObject | undefined): JSONObject {
  const resourceVersion = String(api.store.resourceVersion);
  const metadata = { resourceVersion, creationTimestamp: null, ...(annotations === undefined ? {} : { annotations }) };
  return { kind: type.kind, apiVersion: apiVersionOf(type), metadata };
}

/** Resolves after the time, or when the signal is aborted. */
async function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
