import { presentObject } from "./admit-object.ts";
import { isObject, type JSONObject, omit } from "./json-object.ts";
import { type KubeObject, keyOf } from "./kube-object.ts";
import type { KubernetesAPI } from "./kubernetes-api.ts";
import { objectFilter } from "./object-filter.ts";
import { storeKey } from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-type.ts";
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
  const limit = readNumber(query.get("limit") ?? "", (text) => badRequest(notANumber("ParseInt", text)));
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
  const version = readNumber(asked, (text) => badRequest(`invalid resource version: ${notAVersion(text)}`));
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

function notANumber(parser: string, text: string): string {
  return `strconv.${parser}: parsing ${JSON.stringify(text)}: invalid syntax`;
}

/** Why a text is no resource version, in the words of the API server. */
export function notAVersion(text: string): string {
  return `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${notANumber("ParseUint", text)}`;
}

function encode({ resourceVersion, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: resourceVersion, start: after })).toString("base64url");
}

function decode(token: string): Continuation {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (isObject(value) && value["v"] === "meta.k8s.io/v1" && typeof value["rv"] === "number") {
      return { resourceVersion: value["rv"], after: String(value["start"] ?? "") };
    }
  } catch {
    // Falls through to the refusal: whatever is wrong with a token, the answer is the same.
  }
  throw badRequest("invalid continue token: continue key is not valid: it was not issued by this server");
}

const TOKEN_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";

function refuseOld(query: URLSearchParams, after: string): never {
  if ((query.get("continue") ?? "") === "") {
    throw new StatusError(410, "Expired", `The resourceVersion for the provided list is too old.`);
  }
  throw expired(TOKEN_EXPIRED, { continue: encode({ resourceVersion: -1, after }) });
}
