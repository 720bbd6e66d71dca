import { presentObject } from "./admit-object.ts";
import type { JSONObject } from "./json-object.ts";
import type { KubeObject } from "./kube-object.ts";
import type { KubernetesAPI } from "./kubernetes-api.ts";
import { notAVersion } from "./list-objects.ts";
import { objectFilter } from "./object-filter.ts";
import { type Change, storeKey } from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-type.ts";
import { expired, StatusError, tooLargeResourceVersion } from "./status-error.ts";

/** What a watch is about, and its clockwork. */
export interface WatchRequest {
  readonly type: ResourceType;
  /** Absent = every namespace. */
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
}

/** Writes the events of one watch, one JSON document per line; resolves when the watch is over. */
export type WatchStream = (write: (chunk: string) => void, ended: AbortSignal) => Promise<void>;

const DEFAULT_TIMEOUT_SECONDS = 1800;

/**
 * Prepares a watch that lasts until the timeout of the request or `ended`. Without a resource version, or with 0, the
 * objects that are there come first. Bookmarks come regularly and at the end. A version that is too old is an ERROR event.
 *
 * @throws StatusError 400 or 500 for parameters that cannot be read, 504 for a version of the future.
 */
export function watchObjects(api: KubernetesAPI, request: WatchRequest): WatchStream {
  const { type, query } = request;
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
      if (event !== undefined) send(event, presentObject(type, change.object));
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
    for (const object of present) send("ADDED", presentObject(type, object));
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
  if (!/^\d*$/.test(version)) throw new StatusError(500, "", notAVersion(version));
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
