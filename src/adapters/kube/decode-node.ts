import type { NodeFacts, Taint } from "../../model/node.ts";
import { ADDRESS_ANNOTATION, POOL_ANNOTATION } from "../../model/resource.ts";
import { decodeMeta } from "./decode-meta.ts";
import { decodeReadiness } from "./decode-readiness.ts";
import {
  asList,
  asRecord,
  asText,
  asTextMap,
  asTimeMs,
  asWholeTextMap,
  isCutOff,
  isOdd,
  isPresent,
} from "./json-value.ts";

type Part = Readonly<Record<string, unknown>> | undefined;

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
  const address = annotations[ADDRESS_ANNOTATION];
  const pool = annotations[POOL_ANNOTATION];
  const ready = decodeReadiness(status?.["conditions"]);
  const unreadable = oddMetadata(node, metadata) ?? oddSpec(node, spec) ?? oddStatus(node, status, ready === undefined);
  return {
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    providerID: asText(spec?.["providerID"]) ?? "",
    labels: meta.labels,
    taints: asList(spec?.["taints"]).flatMap(decodeTaint),
    ready: ready ?? { isReady: false },
    isDeleting: meta.isDeleting,
    addresses: asList(status?.["addresses"]).flatMap(decodeAddress),
    ...(address === undefined ? {} : { addressAnnotation: address }),
    ...(pool === undefined ? {} : { poolAnnotation: pool }),
    ...(unreadable === undefined ? {} : { unreadable }),
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

function oddMetadata(node: Part, metadata: Part): string | undefined {
  if (isCutOff(node)) return "the end of the object";
  if (isCutOff(metadata)) return "metadata";
  if (isOdd(metadata?.["labels"], asWholeTextMap)) return "metadata.labels";
  return isOdd(metadata?.["annotations"], asOwnAnnotations) ? "metadata.annotations" : undefined;
}

function oddSpec(node: Part, spec: Part): string | undefined {
  if (isOdd(node?.["spec"], asRecord)) return "spec";
  if (isOdd(spec?.["providerID"], asText)) return "spec.providerID";
  return isOddList(spec?.["taints"], isTaint) ? "spec.taints" : undefined;
}

function oddStatus(node: Part, status: Part, isReadinessOdd: boolean): string | undefined {
  if (isOdd(node?.["status"], asRecord)) return "status";
  if (isReadinessOdd) return "status.conditions";
  return isOddList(status?.["addresses"], isAddress) ? "status.addresses" : undefined;
}

/** Returns the value if flipop's own annotations in it are text. Other annotations do not matter. */
function asOwnAnnotations(value: unknown): unknown {
  const map = asRecord(value);
  const isOwnOdd = [ADDRESS_ANNOTATION, POOL_ANNOTATION].some((name) => isOdd(map?.[name], asText));
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
