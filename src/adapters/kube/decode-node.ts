import type { NodeFacts, Taint } from "../../model/node.ts";
import { ADDRESS_ANNOTATION, POOL_ANNOTATION } from "../../model/resource.ts";
import { decodeMeta } from "./decode-meta.ts";
import { decodeReadiness } from "./decode-readiness.ts";
import { asList, asRecord, asText, asTextMap, asTimeMs } from "./json-value.ts";

/**
 * What flipop needs of a `v1` Node. Parts of a wrong type count as absent, so that one odd node hides no other; undefined
 * only for something without a name. Never throws.
 */
export function decodeNode(object: unknown): NodeFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const node = asRecord(object);
  const spec = asRecord(node?.["spec"]);
  const status = asRecord(node?.["status"]);
  const annotations = asTextMap(asRecord(node?.["metadata"])?.["annotations"]);
  const address = annotations[ADDRESS_ANNOTATION];
  const pool = annotations[POOL_ANNOTATION];
  return {
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    providerID: asText(spec?.["providerID"]) ?? "",
    labels: meta.labels,
    taints: asList(spec?.["taints"]).flatMap(decodeTaint),
    ready: decodeReadiness(status?.["conditions"]),
    isDeleting: meta.isDeleting,
    addresses: asList(status?.["addresses"]).flatMap(decodeAddress),
    ...(address === undefined ? {} : { addressAnnotation: address }),
    ...(pool === undefined ? {} : { poolAnnotation: pool }),
  };
}

function decodeTaint(entry: unknown): readonly Taint[] {
  const taint = asRecord(entry);
  const key = asText(taint?.["key"]);
  if (key === undefined) return [];
  const timeAddedMs = asTimeMs(taint?.["timeAdded"]);
  const value = asText(taint?.["value"]) ?? "";
  const effect = asText(taint?.["effect"]) ?? "";
  return [{ key, value, effect, ...(timeAddedMs === undefined ? {} : { timeAddedMs }) }];
}

function decodeAddress(entry: unknown): NodeFacts["addresses"] {
  const record = asRecord(entry);
  const type = asText(record?.["type"]);
  const address = asText(record?.["address"]);
  const isWanted = type === "ExternalIP" || type === "InternalIP";
  return isWanted && address !== undefined ? [{ type, address }] : [];
}
