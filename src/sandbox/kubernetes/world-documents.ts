import { readFileSync } from "node:fs";
import { isMap, isNode, LineCounter, parseAllDocuments } from "yaml";
import { isObject, type JSONObject, objectAt, omit, textAt } from "./json-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { NAME_LABEL } from "./new-object.ts";

/** One file of the world: which objects it holds. */
export interface WorldFile {
  readonly name: string;
  /** Filled in where a document leaves them out; absent for the file that holds everything else. */
  readonly apiVersion?: string;
  readonly kind?: string;
  /** Head comment of a file that did not exist. */
  readonly header: string;
}

const FLIPOP = "flipop.digitalocean.com/v1alpha1";

/** The files in the order they are read: what defines resources and namespaces first. */
export const WORLD_FILES: readonly WorldFile[] = [
  {
    name: "cluster.yaml",
    header: "Everything in the cluster that has no file of its own: namespaces, leases, events, endpoint slices.",
  },
  { name: "nodes.yaml", apiVersion: "v1", kind: "Node", header: "The nodes of the cluster." },
  { name: "pods.yaml", apiVersion: "v1", kind: "Pod", header: "The pods of the cluster." },
  { name: "pools.yaml", apiVersion: FLIPOP, kind: "FloatingIPPool", header: "The address pools." },
  { name: "services.yaml", apiVersion: "v1", kind: "Service", header: "The Services of the cluster." },
  {
    name: "issuers.yaml",
    apiVersion: FLIPOP,
    kind: "RoutedIPIssuer",
    header: "How routed IPs are obtained and served.",
  },
  { name: "routed-ips.yaml", apiVersion: FLIPOP, kind: "RoutedIP", header: "The addresses that follow a Service." },
  { name: "dns.yaml", apiVersion: FLIPOP, kind: "NodeDNSRecordSet", header: "The DNS record sets of nodes." },
];

/** The name of the file that holds the objects of a kind. */
export function fileOfKind(apiVersion: string, kind: string): string {
  const own = WORLD_FILES.find(
    (file) => file.kind === kind && file.apiVersion?.split("/")[0] === apiVersion.split("/")[0],
  );
  return own?.name ?? "cluster.yaml";
}

/**
 * The documents of a file, with what the file's name says filled in.
 *
 * @throws Error naming the document when one is no object, has no name, or belongs into another file.
 */
export function decodeDocuments(file: WorldFile, value: unknown): readonly JSONObject[] {
  const documents: readonly unknown[] = Array.isArray(value) ? value : [];
  return documents.map((document, index) => {
    const place = `document ${index + 1}`;
    if (!isObject(document)) throw new Error(`${place} is not a Kubernetes object; begin it with "metadata:"`);
    const whole = {
      ...(file.kind === undefined ? {} : { apiVersion: file.apiVersion, kind: file.kind }),
      ...document,
    };
    const { apiVersion, kind } = whole as JSONObject;
    if (typeof apiVersion !== "string" || typeof kind !== "string")
      throw new Error(`${place} has no apiVersion or kind`);
    const home = fileOfKind(apiVersion, kind);
    if (home !== file.name) throw new Error(`${place} is a ${kind}, which belongs into ${home}; move it there`);
    if (textAt(whole, "metadata", "name") === "") throw new Error(`${place} (${kind}) has no metadata.name`);
    return whole;
  });
}

const METADATA_ORDER = ["name", "namespace", "labels", "annotations", "finalizers", "creationTimestamp"];
const HIDDEN = ["uid", "resourceVersion", "generation", "managedFields", "selfLink"];

/** An object as a person sees it in its file: kind first, status last, without what only the server needs. Pure. */
export function documentOf(object: KubeObject): JSONObject {
  const { apiVersion, kind, metadata, status, ...body } = object;
  const visible = omit(metadata, ...HIDDEN);
  const ordered = METADATA_ORDER.filter((key) => visible[key] !== undefined).map((key) => [key, visible[key]]);
  const head = { ...Object.fromEntries(ordered), ...omit(visible, ...METADATA_ORDER) };
  const document = { apiVersion, kind, metadata: head, ...body, ...(status === undefined ? {} : { status }) };
  return kind === "Namespace" ? withoutNamespaceDefaults(document) : document;
}

/** What {@link withNamespaceDefaults} adds to every namespace is left out. */
function withoutNamespaceDefaults(document: JSONObject): JSONObject {
  const metadata = objectAt(document, "metadata");
  const labels = omit(objectAt(metadata, "labels"), NAME_LABEL);
  const shown = Object.keys(labels).length === 0 ? omit(metadata, "labels") : { ...metadata, labels };
  const isActive = textAt(document, "status", "phase") === "Active";
  return { ...omit(document, "spec", ...(isActive ? ["status"] : [])), metadata: shown };
}

/** Orders the objects of one resource as a person looks for them: Events by time, everything else by key. */
export function byReadingOrder(a: KubeObject, b: KubeObject): number {
  if (a.kind !== "Event" || b.kind !== "Event") return 0;
  const [left, right] = [textAt(a, "eventTime"), textAt(b, "eventTime")];
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * `FILE:LINE:COLUMN` of a field of the n-th document (from 0, empty ones not counted); of the document when the field is
 * not there. Reads the file again, since only errors need it.
 */
export function positionOf(path: string, index: number, field: string): string {
  const lines = new LineCounter();
  const documents = [...parseAllDocuments(readFileSync(path, "utf8"), { lineCounter: lines })];
  const document = documents.filter((item) => isMap(item.contents))[index];
  const keys = [...field.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key));
  for (let depth = keys.length; depth >= 0; depth -= 1) {
    const node: unknown = depth === 0 ? document?.contents : document?.getIn(keys.slice(0, depth), true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    if (start === undefined) continue;
    const { line, col } = lines.linePos(start);
    return `${path}:${line}:${col}`;
  }
  return path;
}

/** True for documents that are the same but for their times and what a controller reports of them. Pure. */
export function definitionOf(document: JSONObject): JSONObject {
  const metadata = omit(objectAt(document, "metadata"), "creationTimestamp");
  const isDefinition = document["kind"] === "CustomResourceDefinition";
  return { ...(isDefinition ? omit(document, "status") : document), metadata };
}
