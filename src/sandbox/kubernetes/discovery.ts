import type { JSONObject } from "./json-object.ts";
import { apiVersionOf, type ResourceType } from "./resource-type.ts";

const VERSION = {
  major: "1",
  minor: "35",
  gitVersion: "v1.35.4+flipop-sandbox",
  platform: "sandbox",
};

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The document of a discovery or health path; text for health; undefined for every other path. Pure. */
export function discoveryDocument(path: string, types: readonly ResourceType[]): JSONObject | string | undefined {
  switch (path) {
    case "/version":
      return VERSION;
    case "/healthz":
    case "/livez":
    case "/readyz":
      return "ok";
    case "/api":
      return { kind: "APIVersions", versions: ["v1"] };
    case "/apis":
      return {
        kind: "APIGroupList",
        apiVersion: "v1",
        groups: groupNames(types).map((group) => groupOf(group, types)),
      };
    default:
      return groupDocument(path, types);
  }
}

function groupNames(types: readonly ResourceType[]): readonly string[] {
  return [...new Set(types.map((type) => type.group).filter((group) => group !== ""))];
}

function groupOf(name: string, types: readonly ResourceType[]): JSONObject {
  const names = [...new Set(types.filter(({ group }) => group === name).map((type) => type.version))];
  const versions = names.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

/** `/apis/GROUP`, `/apis/GROUP/VERSION` and `/api/v1`. */
function groupDocument(path: string, types: readonly ResourceType[]): JSONObject | undefined {
  const name = /^\/apis\/([^/]+)$/.exec(path)?.[1];
  if (name !== undefined && groupNames(types).includes(name)) {
    return { kind: "APIGroup", apiVersion: "v1", ...groupOf(name, types) };
  }
  const groupVersion = /^\/apis?\/([^/]+\/[^/]+|v1)$/.exec(path)?.[1];
  const served = types.filter((type) => apiVersionOf(type) === groupVersion);
  if (groupVersion === undefined || served.length === 0) return undefined;
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: served.flatMap(resourcesOf) };
}

function resourcesOf(type: ResourceType): readonly JSONObject[] {
  const { plural, singular, kind, shortNames, isNamespaced } = type;
  const main = { name: plural, singularName: singular, namespaced: isNamespaced, kind, verbs: VERBS, shortNames };
  if (!type.hasStatus) return [main];
  const status = {
    name: `${plural}/status`,
    singularName: "",
    namespaced: isNamespaced,
    kind,
    verbs: ["get", "patch", "update"],
  };
  return [main, status];
}
