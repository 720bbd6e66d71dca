import { randomInt } from "node:crypto";
import { arrayAt, compact, type JSONObject, objectAt, omit, textAt, valueAt } from "./json-object.ts";
import { timestamp } from "./kube-object.ts";
import { clientMetadata } from "./next-object.ts";
import type { ResourceType } from "./resource-type.ts";

/** Where the server's own values come from. */
export interface Origins {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new `metadata.uid` at every call. */
  readonly newUID: () => string;
}

/** Letters of generated names: without vowels and look-alikes, as in Kubernetes. */
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;

/**
 * What a POST asks to store: named, with the server's metadata, without a status where `/status` alone writes it, and with
 * what admission adds (the label of a namespace, the taint of a new node).
 */
export function newObject(
  type: ResourceType,
  body: JSONObject,
  namespace: string | undefined,
  origins: Origins,
): JSONObject {
  const given = objectAt(body, "metadata");
  const metadata = compact({
    ...clientMetadata(given),
    name: textAt(given, "name") || generateName(textAt(given, "generateName")),
    namespace,
    uid: origins.newUID(),
    creationTimestamp: timestamp(origins.now()),
    generation: type.hasGeneration ? 1 : undefined,
  });
  return addByAdmission(type, { ...body, metadata });
}

function generateName(prefix: string): string | undefined {
  if (prefix === "") return undefined;
  const letters = Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)]);
  return prefix + letters.join("");
}

function addByAdmission(type: ResourceType, object: JSONObject): JSONObject {
  switch (type.kind) {
    case "Namespace":
      return withNamespaceDefaults(omit(object, "status"));
    case "Node":
      return withNotReadyTaint(object);
    case "Pod":
      return { ...object, status: { phase: "Pending" } };
    case "CustomResourceDefinition":
      return object;
    default:
      return type.hasStatus ? omit(object, "status") : object;
  }
}

/** The label that holds the name of every namespace. */
export const NAME_LABEL = "kubernetes.io/metadata.name";

/** A namespace as the server completes it: labelled with its name, active. Pure. */
export function withNamespaceDefaults(object: JSONObject): JSONObject {
  const metadata = objectAt(object, "metadata");
  const labels = { ...objectAt(metadata, "labels"), [NAME_LABEL]: textAt(metadata, "name") };
  const status = { phase: "Active", ...objectAt(object, "status") };
  return { ...object, metadata: { ...metadata, labels }, spec: { finalizers: ["kubernetes"] }, status };
}

const NOT_READY = "node.kubernetes.io/not-ready";

/** A new node is tainted until something sees it ready. */
function withNotReadyTaint(node: JSONObject): JSONObject {
  const taints = arrayAt(node, "spec", "taints");
  if (taints.some((taint) => valueAt(taint, "key") === NOT_READY)) return node;
  return {
    ...node,
    spec: { ...objectAt(node, "spec"), taints: [...taints, { key: NOT_READY, effect: "NoSchedule" }] },
  };
}
