import type { SandboxReply } from "../http-server.ts";
import type { JSONObject } from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";

const AGGREGATED =
  /^application\/json;(?=.*\bas=APIGroupDiscoveryList\b)(?=.*\bv=v2\b)(?=.*\bg=apidiscovery\.k8s\.io\b)/;
/** Where documents may be: any other path is not looked up. */
const DISCOVERY = /^\/(apis?(\/[^/]+)?|apis\/[^/]+\/[^/]+|openapi\/v3(\/.*)?)\/?$/;
const READ_VERBS = ["get", "list", "watch"];
const VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];
const STATUS_VERBS = ["get", "patch", "update"];

/**
 * Answers what a client asks of an API server before it speaks of objects: its groups, their resources (each by itself or, as
 * kubectl asks for it, all at once) and the OpenAPI v3 documents with the schemas of custom resources. Undefined for any other path.
 */
export function discover(
  types: readonly ResourceType[],
  path: string,
  accept: string | undefined,
): SandboxReply | undefined {
  if (!DISCOVERY.test(path)) return undefined;
  const isAggregated = (accept ?? "").split(",").some((one) => AGGREGATED.test(one.replaceAll(" ", "")));
  const body = documentAt(types, path.replace(/(?<=.)\/$/, ""), isAggregated);
  if (body === undefined) return undefined;
  return body["kind"] === "APIGroupDiscoveryList"
    ? { status: 200, body, contentType: AGGREGATED_TYPE }
    : { status: 200, body };
}

const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

function documentAt(types: readonly ResourceType[], path: string, isAggregated: boolean): JSONObject | undefined {
  if (path === "/api" || path === "/apis") {
    const here = types.filter((type) => (type.group === "") === (path === "/api"));
    if (isAggregated) return aggregated(here);
    return path === "/api"
      ? { kind: "APIVersions", versions: ["v1"] }
      : { kind: "APIGroupList", apiVersion: "v1", groups: groupsOf(here) };
  }
  if (path === "/openapi/v3")
    return {
      paths: Object.fromEntries(
        versionsOf(types).map((version) => [
          prefixOf(version),
          { serverRelativeURL: `/openapi/v3/${prefixOf(version)}` },
        ]),
      ),
    };
  const version = versionsOf(types).find((one) => path.endsWith(`/${prefixOf(one)}`));
  if (version !== undefined) {
    const here = types.filter((type) => apiVersionOf(type) === version);
    if (path === `/${prefixOf(version)}`) return resourceList(version, here);
    if (path === `/openapi/v3/${prefixOf(version)}`) return openAPI(here);
  }
  return groupsOf(types.filter(({ group }) => group !== ""))
    .map((group) => ({ kind: "APIGroup", apiVersion: "v1", ...group }))
    .find(({ name }) => path === `/apis/${name}`);
}

/** `api/v1`, `apis/apps/v1`. */
function prefixOf(version: string): string {
  return version.includes("/") ? `apis/${version}` : `api/${version}`;
}

function versionsOf(types: readonly ResourceType[]): readonly string[] {
  return [...new Set(types.map(apiVersionOf))];
}

function groupsOf(types: readonly ResourceType[]): readonly { readonly name: string }[] {
  return [...new Set(types.map(({ group }) => group))].map((name) => {
    const versions = [...new Set(types.filter(({ group }) => group === name).map(({ version }) => version))];
    const all = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: all, preferredVersion: all[0] };
  });
}

function verbsOf(type: ResourceType): readonly string[] {
  return type.view === undefined ? VERBS : READ_VERBS;
}

function resourceList(groupVersion: string, types: readonly ResourceType[]): JSONObject {
  const resources = types.flatMap((type) => {
    const { plural: name, singular: singularName, isNamespaced: namespaced, kind } = type;
    const own = { name, singularName, namespaced, kind, verbs: verbsOf(type), ...wordsOf(type) };
    const parts = partsOf(type).map(({ subresource, responseKind, verbs }) => {
      const { group, version } = responseKind;
      const home = responseKind.kind === kind ? {} : { group, version };
      return { name: `${name}/${subresource}`, singularName: "", namespaced, ...home, kind: responseKind.kind, verbs };
    });
    return [own, ...parts];
  });
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
}

function wordsOf({ shortNames, categories }: ResourceType): JSONObject {
  return { ...(shortNames.length > 0 ? { shortNames } : {}), ...(categories.length > 0 ? { categories } : {}) };
}

function aggregated(types: readonly ResourceType[]): JSONObject {
  const items = [...new Set(types.map(({ group }) => group))].map((name) => {
    const own = types.filter(({ group }) => group === name);
    const versions = [...new Set(own.map(({ version }) => version))].map((version) => ({
      version,
      resources: own.filter((type) => type.version === version).map(discovered),
      freshness: "Current",
    }));
    return { metadata: name === "" ? {} : { name }, versions };
  });
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function discovered(type: ResourceType): JSONObject {
  const { group, version, kind, plural: resource, singular: singularResource } = type;
  const responseKind = { group, version, kind };
  const subresources = partsOf(type);
  return {
    resource,
    responseKind,
    scope: type.isNamespaced ? "Namespaced" : "Cluster",
    singularResource,
    verbs: verbsOf(type),
    ...wordsOf(type),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

interface Subresource {
  readonly subresource: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

const EVICTION = { group: "policy", version: "v1", kind: "Eviction" };

function partsOf(type: ResourceType): readonly Subresource[] {
  const { group, version, kind, hasStatus, hasEviction = false } = type;
  return [
    ...(hasStatus ? [{ subresource: "status", responseKind: { group, version, kind }, verbs: STATUS_VERBS }] : []),
    ...(hasEviction ? [{ subresource: "eviction", responseKind: EVICTION, verbs: ["create"] }] : []),
  ];
}

/** What `kubectl apply` and `kubectl explain` read: that the server checks fields, and the schemas of custom resources. Of built-in kinds it has the names only. */
function openAPI(types: readonly ResourceType[]): JSONObject {
  const paths = types.map((type) => [pathOf(type), operations(type)] as const);
  const schemas = types.map(
    (type) => [schemaName(type), { ...(type.schema ?? NOT_DESCRIBED), [GVK]: [gvkOf(type)] }] as const,
  );
  const info = { title: "flipop sandbox", version: "v1.35.4" };
  return {
    openapi: "3.0.0",
    info,
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(schemas) },
  };
}

const OPEN = { type: "object", description: "The sandbox does not describe the built-in kinds." };
const NOT_DESCRIBED = { ...OPEN, properties: { metadata: OPEN, spec: OPEN, status: OPEN } };

const GVK = "x-kubernetes-group-version-kind";

function gvkOf({ group, version, kind }: ResourceType): JSONObject {
  return { group, version, kind };
}

function schemaName({ group, version, kind }: ResourceType): string {
  const reversed = group === "" ? "io.k8s.api.core" : group.split(".").toReversed().join(".");
  return `${reversed}.${version}.${kind}`;
}

function pathOf(type: ResourceType): string {
  const namespace = type.isNamespaced ? "/namespaces/{namespace}" : "";
  return `/${prefixOf(apiVersionOf(type))}${namespace}/${type.plural}/{name}`;
}

function operations(type: ResourceType): JSONObject {
  const parameters = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
    name,
    in: "query",
    schema: { type: "string" },
  }));
  const content = { "application/json": { schema: { $ref: `#/components/schemas/${schemaName(type)}` } } };
  const responses = { 200: { description: "OK", content } };
  const operation = (action: string): JSONObject => ({
    [GVK]: gvkOf(type),
    "x-kubernetes-action": action,
    parameters,
    responses,
  });
  return { get: operation("get"), put: operation("put"), patch: operation("patch") };
}
