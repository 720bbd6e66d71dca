import { canonicalAddress } from "../../model/address.ts";
import type { IPFamily } from "../../model/address-source.ts";
import type { NodeFacts, NodeMarks, Taint } from "../../model/node.ts";
import { NODE_ANNOTATIONS } from "../../model/node-annotations.ts";
import { compareText } from "../../model/resource.ts";
import { optional, RESOURCES, resourcePath } from "./call.ts";
import { asList, asRecord, asText, asTextMap, asTimeMs, asWholeTextMap, isCutOff, isOdd, isPresent } from "./json.ts";
import type { ListRequest } from "./lists.ts";
import { CONDITION_FIELDS, decodeMeta, decodeReadiness, metadataField } from "./metadata.ts";
import type { Fields } from "./protobuf.ts";

const TAINT: Fields = {
  1: { name: "key", kind: "text" },
  2: { name: "value", kind: "text" },
  3: { name: "effect", kind: "text" },
  4: { name: "timeAdded", kind: "time" },
};

/** What is read of a Node. */
export const NODE_FIELDS: Fields = {
  1: metadataField("deletionTimestamp", "labels", "annotations"),
  2: {
    name: "spec",
    kind: "message",
    fields: {
      3: { name: "providerID", kind: "text" },
      5: { name: "taints", kind: "messages", fields: TAINT },
    },
  },
  3: {
    name: "status",
    kind: "message",
    fields: {
      4: { name: "conditions", kind: "messages", fields: CONDITION_FIELDS },
      5: {
        name: "addresses",
        kind: "messages",
        fields: { 1: { name: "type", kind: "text" }, 2: { name: "address", kind: "text" } },
      },
    },
  },
};

/** The list of all nodes, sorted by name. */
export const NODES_REQUEST: ListRequest<NodeFacts> = {
  kind: "node",
  resource: RESOURCES.nodes,
  path: resourcePath(RESOURCES.nodes),
  fields: NODE_FIELDS,
  project: decodeNode,
  // Every five minutes each node reports that all is as it was.
  atVersion: (node, resourceVersion) => ({ ...node, resourceVersion }),
  order: (a, b) => compareText(a.name, b.name),
  rules: {
    visible: (node) => ({ ...node, resourceVersion: "" }),
    foreign: (node) => ({
      ...node,
      resourceVersion: "",
      addressAnnotation: "",
      poolAnnotation: "",
      hostAnnotation: "",
      ipv6: {},
    }),
  },
};

/**
 * Returns what flipop needs of a `v1` Node. `unreadable` names the first part that matters and cannot be read; then nothing about the node is changed.
 * An unreadable time is absent. Undefined only for something without a name. Never throws.
 */
export function decodeNode(object: unknown): NodeFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const node = asRecord(object);
  const metadata = asRecord(node?.["metadata"]);
  const spec = asRecord(node?.["spec"]);
  const status = asRecord(node?.["status"]);
  const annotations = asTextMap(metadata?.["annotations"]);
  const ipv6 = marksIn(annotations, "IPv6");
  const ready = decodeReadiness(status?.["conditions"]);
  const odd: readonly (readonly [isOdd: boolean, part: string])[] = [
    [isCutOff(node), "the end of the object"],
    [isCutOff(metadata), "metadata"],
    [isOdd(metadata?.["labels"], asWholeTextMap), "metadata.labels"],
    [isOdd(metadata?.["annotations"], asOwnAnnotations), "metadata.annotations"],
    [isOdd(node?.["spec"], asRecord), "spec"],
    [isOdd(spec?.["providerID"], asText), "spec.providerID"],
    [isOddList(spec?.["taints"], isTaint), "spec.taints"],
    [isOdd(node?.["status"], asRecord), "status"],
    [ready === undefined, "status.conditions"],
    [isOddList(status?.["addresses"], isAddress), "status.addresses"],
  ];
  const unreadable = odd.find(([isPartOdd]) => isPartOdd)?.[1];
  return {
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    providerID: asText(spec?.["providerID"]) ?? "",
    labels: meta.labels,
    taints: asList(spec?.["taints"]).flatMap(decodeTaint),
    ready: ready ?? { isReady: false },
    isDeleting: meta.isDeleting,
    addresses: asList(status?.["addresses"]).flatMap(decodeAddress),
    ...marksIn(annotations, "IPv4"),
    ...(hasAny(ipv6) ? { ipv6 } : {}),
    ...optional("unreadable", unreadable),
  };
}

/** What the annotations say of a family. */
function marksIn(annotations: Readonly<Record<string, string>>, family: IPFamily): NodeMarks {
  const { address, pool, host } = NODE_ANNOTATIONS[family];
  return {
    ...optional("addressAnnotation", annotations[address]),
    ...optional("poolAnnotation", annotations[pool]),
    ...optional("hostAnnotation", annotations[host]),
  };
}

function hasAny(marks: NodeMarks): boolean {
  return Object.keys(marks).length > 0;
}

function decodeTaint(entry: unknown): readonly Taint[] {
  const taint = asRecord(entry);
  const key = asText(taint?.["key"]);
  if (key === undefined) return [];
  const timeAddedMs = asTimeMs(taint?.["timeAdded"]);
  const value = asText(taint?.["value"]) ?? "";
  const effect = asText(taint?.["effect"]) ?? "";
  return [{ key, value, effect, ...optional("timeAddedMs", timeAddedMs) }];
}

function decodeAddress(entry: unknown): NodeFacts["addresses"] {
  const record = asRecord(entry);
  const type = asText(record?.["type"]);
  const address = asText(record?.["address"]);
  const isWanted = type === "ExternalIP" || type === "InternalIP";
  return isWanted && address !== undefined ? [{ type, address: canonicalAddress(address) ?? address }] : [];
}

const OWN_ANNOTATIONS = Object.values(NODE_ANNOTATIONS).flatMap((names): readonly string[] => Object.values(names));

/** Returns the value if flipop's own annotations in it are text. Other annotations do not matter. */
function asOwnAnnotations(value: unknown): unknown {
  const map = asRecord(value);
  const isOwnOdd = OWN_ANNOTATIONS.some((name) => isOdd(map?.[name], asText));
  return isOwnOdd ? undefined : map;
}

function isOddList(value: unknown, isSound: (entry: unknown) => boolean): boolean {
  return isPresent(value) && !(Array.isArray(value) && value.every(isSound));
}

/** True for a taint with a readable key, value and effect. Its time does not matter: without one a toleration has no end. */
function isTaint(entry: unknown): boolean {
  const taint = asRecord(entry);
  const isWhole = !isCutOff(taint) || isPresent(taint?.["effect"]);
  return (
    isWhole &&
    asText(taint?.["key"]) !== undefined &&
    !isOdd(taint?.["value"], asText) &&
    !isOdd(taint?.["effect"], asText)
  );
}

/** True for an address that flipop can read, or does not use because of its type. */
function isAddress(entry: unknown): boolean {
  const record = asRecord(entry);
  const type = record?.["type"];
  if (typeof type !== "string") return record !== undefined && !isPresent(type) && !isCutOff(record);
  if (type !== "ExternalIP" && type !== "InternalIP") return true;
  return !isOdd(record?.["address"], asText) && (isPresent(record?.["address"]) || !isCutOff(record));
}
