import { canonicalIPv4 } from "../../model/address.ts";
import { type AcquisitionNote, EMPTY_NOTE } from "../../model/lease-notes.ts";
import type { NodeFacts, PodFacts, Readiness, Taint } from "../../model/node.ts";
import type { PodSummary } from "../../model/observation.ts";
import { ACQUIRED_ANNOTATION, ADDRESS_ANNOTATION, type ObjectMeta, POOL_ANNOTATION } from "../../model/resource.ts";
import { type EndpointSliceFacts, NO_NODE, type ServiceFacts, type ServicePort } from "../../model/service.ts";
import {
  asFlag,
  asInteger,
  asList,
  asNumber,
  asRecord,
  asText,
  asTextMap,
  asTexts,
  asTimeMs,
  asWholeTextMap,
  isCutOff,
  isOdd,
  isPresent,
} from "./json.ts";

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

type PodPart = Readonly<Record<string, unknown>> | undefined;

/** The longest `deletionGracePeriodSeconds` that flipop believes: a hundred years. */
const LONGEST_GRACE_SECONDS = 100 * 365 * 86_400;

/**
 * Returns what flipop needs of a `v1` Pod. `isUnreadable` is set if a part that matters cannot be read. Undefined for a pod without a node, and for something without a name.
 * A pod with an unreadable `deletionTimestamp` is not ready. Never throws.
 */
export function decodePod(object: unknown): PodFacts | undefined {
  const pod = asRecord(object);
  const metadata = asRecord(pod?.["metadata"]);
  const spec = asRecord(pod?.["spec"]);
  const name = asText(metadata?.["name"]);
  const nodeName = asText(spec?.["nodeName"]);
  if (metadata === undefined || name === undefined) return undefined;
  // A pod that is being deleted serves nowhere, so its node does not matter.
  const isEnding = isPresent(metadata["deletionTimestamp"]);
  if (nodeName === undefined && (isEnding || !isPlaceOdd(pod, spec))) return undefined;
  const status = asRecord(pod?.["status"]);
  return {
    namespace: asText(metadata["namespace"]) ?? "",
    name,
    nodeName: nodeName ?? "",
    phase: asText(status?.["phase"]) ?? "",
    ...(isEnding ? endOf(metadata, status) : lifeOf(pod, metadata, status, nodeName === undefined)),
  };
}

function lifeOf(
  pod: PodPart,
  metadata: PodPart,
  status: PodPart,
  isPlaceUnknown: boolean,
): Pick<PodFacts, "ready" | "isUnreadable"> {
  const ready = decodeReadiness(status?.["conditions"]);
  const isUnreadable = isPlaceUnknown || ready === undefined || isOddElsewhere(pod, metadata, status);
  return isUnreadable ? { ready: ready ?? NOT_READY, isUnreadable } : { ready };
}

function endOf(metadata: PodPart, status: PodPart): Pick<PodFacts, "ready" | "deletedAtMs"> {
  const ready = decodeReadiness(status?.["conditions"]) ?? NOT_READY;
  const deletedAtMs = deletionMs(metadata);
  if (deletedAtMs !== undefined) return { ready, deletedAtMs };
  return { ready: ready.isReady ? NOT_READY : ready };
}

const NOT_READY: Readiness = { isReady: false };

/** True if a pod that shows no node may have one: its node name, or what holds it, cannot be read. */
function isPlaceOdd(pod: PodPart, spec: PodPart): boolean {
  return isCutOff(pod) || isOdd(pod?.["spec"], asRecord) || isOdd(spec?.["nodeName"], asText);
}

/** True if an unreadable part may say that the pod is being deleted or does not run. */
function isOddElsewhere(pod: PodPart, metadata: PodPart, status: PodPart): boolean {
  return isCutOff(pod) || isCutOff(metadata) || isOdd(pod?.["status"], asRecord) || isOdd(status?.["phase"], asText);
}

/** `deletionTimestamp` lies in the future by the grace period: it is when the pod must be gone, not when it was deleted. */
function deletionMs(metadata: PodPart): number | undefined {
  const goneByMs = asTimeMs(metadata?.["deletionTimestamp"]);
  const seconds = asNumber(metadata?.["deletionGracePeriodSeconds"]) ?? 0;
  const isBelievable = seconds >= 0 && seconds <= LONGEST_GRACE_SECONDS;
  return goneByMs === undefined ? undefined : goneByMs - (isBelievable ? seconds : 0) * 1000;
}

/**
 * The `Ready` condition among a node's or a pod's `status.conditions`. Ready is exactly the text `True`; without the
 * condition it is not ready, since an unknown time. Undefined if that condition, or a condition of unreadable type, cannot be read.
 */
function decodeReadiness(conditions: unknown): Readiness | undefined {
  if (!isPresent(conditions)) return { isReady: false };
  if (!Array.isArray(conditions)) return undefined;
  for (const entry of conditions) {
    const condition = asRecord(entry);
    if (condition?.["type"] !== "Ready") continue;
    const status = condition["status"];
    if (typeof status !== "string" && (isPresent(status) || isCutOff(condition))) return undefined;
    const sinceMs = asTimeMs(condition["lastTransitionTime"]);
    return { isReady: status === "True", ...(sinceMs === undefined ? {} : { sinceMs }) };
  }
  return conditions.some(mayBeReady) ? undefined : { isReady: false };
}

/** True for an entry whose type cannot be read. */
function mayBeReady(entry: unknown): boolean {
  const condition = asRecord(entry);
  const type = condition?.["type"];
  return condition === undefined || (typeof type !== "string" && (isPresent(type) || isCutOff(condition)));
}

const MAX_PORT = 65_535;

/**
 * Returns what flipop needs of a `v1` Service, with the API's defaults. `unreadable` names the first part that cannot be read. Undefined for something without a name.
 * Never throws.
 */
export function decodeService(object: unknown): ServiceFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const service = asRecord(object);
  const spec = asRecord(service?.["spec"]);
  const unreadable = isCutOff(service) || isOdd(service?.["spec"], asRecord) ? "spec" : oddServiceSpec(spec);
  return {
    namespace: meta.namespace,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    type: asText(spec?.["type"]) ?? "ClusterIP",
    selector: asTextMap(spec?.["selector"]),
    ports: asList(spec?.["ports"]).flatMap((port) => decodePort(port) ?? []),
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

function oddServiceSpec(spec: Readonly<Record<string, unknown>> | undefined): ServiceFacts["unreadable"] {
  if (isOdd(spec?.["type"], asText)) return "spec.type";
  if (isOdd(spec?.["selector"], asWholeTextMap)) return "spec.selector";
  const ports = spec?.["ports"];
  const isReadable =
    !isPresent(ports) || (Array.isArray(ports) && ports.every((port) => decodePort(port) !== undefined));
  return isReadable ? undefined : "spec.ports";
}

/** Returns a port; undefined for anything that is no port. A firewall would take 0 for all ports. */
function decodePort(value: unknown): ServicePort | undefined {
  const entry = asRecord(value);
  const port = asNumber(entry?.["port"]);
  const nodePort = asNumber(entry?.["nodePort"]) ?? 0;
  const isWhole = !isCutOff(entry) && !isOdd(entry?.["nodePort"], asNumber) && !isOdd(entry?.["protocol"], asText);
  if (!isWhole || port === undefined || port === 0 || !isPort(port) || !isPort(nodePort)) return undefined;
  return { protocol: asText(entry?.["protocol"]) ?? "TCP", port, nodePort };
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= MAX_PORT;
}

/** Label of an EndpointSlice: the Service it belongs to (discovery.k8s.io/v1, verified 2026-08). */
export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/**
 * A `discovery.k8s.io/v1` EndpointSlice summed up by node, whatever family its addresses are of: a node that serves in one serves. Undefined for something without a
 * name. Never throws.
 */
export function decodeEndpointSlice(object: unknown): EndpointSliceFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const { namespace, name, resourceVersion, labels } = meta;
  return {
    namespace,
    name,
    resourceVersion,
    serviceName: labels[SERVICE_NAME_LABEL] ?? "",
    endpointsByNode: sumUp(asRecord(object), `EndpointSlice ${namespace}/${name}`),
  };
}

type SlicePart = Readonly<Record<string, unknown>> | undefined;

function sumUp(slice: SlicePart, name: string): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  const endpoints = slice?.["endpoints"];
  if (isCutOff(slice) || (isPresent(endpoints) && !Array.isArray(endpoints)))
    byNode.set(NO_NODE, { ...NOTHING, unreadable: name });
  for (const endpoint of asList(endpoints)) {
    const entry = asRecord(endpoint);
    const nodeName = asText(entry?.["nodeName"]) ?? (isEndpointOdd(entry) ? NO_NODE : undefined);
    if (nodeName === undefined) continue;
    byNode.set(
      nodeName,
      withEndpoint(byNode.get(nodeName) ?? NOTHING, nodeName === NO_NODE ? "odd" : state(entry), name),
    );
  }
  return byNode;
}

const NOTHING: PodSummary = { ready: 0, notReady: 0 };

function withEndpoint(sum: PodSummary, endpoint: ReturnType<typeof state>, slice: string): PodSummary {
  if (endpoint === "odd") return { ...sum, unreadable: slice };
  return endpoint === "ready" ? { ...sum, ready: sum.ready + 1 } : { ...sum, notReady: sum.notReady + 1 };
}

/** True if an endpoint that shows no node may have one: its node name, or the entry itself, cannot be read. */
function isEndpointOdd(entry: SlicePart): boolean {
  return entry === undefined || isCutOff(entry) || isOdd(entry["nodeName"], asText);
}

/** Says whether an endpoint serves; `odd` if its conditions cannot be read. A Service that publishes addresses early has `ready: true` on terminating endpoints, too. */
function state(entry: SlicePart): "ready" | "not-ready" | "odd" {
  const conditions = asRecord(entry?.["conditions"]);
  const [ready, terminating] = [conditions?.["ready"], conditions?.["terminating"]];
  if (ready === false || terminating === true) return "not-ready";
  const isWhole = !isCutOff(entry) && !isOdd(entry?.["conditions"], asRecord);
  return isWhole && !isOdd(ready, asFlag) && !isOdd(terminating, asFlag) ? "ready" : "odd";
}

/** `metadata` of a Kubernetes object; undefined when the value is no object or has no name, which no API server answers. Any `deletionTimestamp` means that the object is being deleted, an unreadable one too. */
export function decodeMeta(object: unknown): ObjectMeta | undefined {
  const metadata = asRecord(asRecord(object)?.["metadata"]);
  const name = asText(metadata?.["name"]);
  if (metadata === undefined || name === undefined) return undefined;
  const uid = asText(metadata["uid"]) ?? "";
  const note = decodeNote(uid, asText(asRecord(metadata["annotations"])?.[ACQUIRED_ANNOTATION]));
  return {
    namespace: asText(metadata["namespace"]) ?? "",
    name,
    uid,
    resourceVersion: asText(metadata["resourceVersion"]) ?? "",
    generation: asInteger(metadata["generation"]) ?? 0,
    createdAtMs: asTimeMs(metadata["creationTimestamp"]) ?? 0,
    isDeleting: isPresent(metadata["deletionTimestamp"]),
    finalizers: asTexts(metadata["finalizers"]),
    labels: asTextMap(metadata["labels"]),
    ...(note.ips.length === 0 && note.pending.length === 0 ? {} : { note }),
  };
}

const PENDING = "pending=";

/** The text of the annotation `flipop.digitalocean.com/acquired`, for the object with this uid; null where there is nothing to tell. */
export function encodeNote(uid: string, { ips, pending }: AcquisitionNote): string | null {
  if (ips.length === 0 && pending.length === 0) return null;
  return [uid, ...ips, ...pending.map((place) => `${PENDING}${place}`)].join(" ");
}

/** What the annotation of the object with this uid tells; nothing for that of another object. What is neither address nor place is passed over. Never throws. */
export function decodeNote(uid: string, text: string | undefined): AcquisitionNote {
  const [owner, ...words] = (text ?? "").split(/\s+/);
  if (uid === "" || owner !== uid) return EMPTY_NOTE;
  return {
    ips: [...new Set(words.filter((word) => canonicalIPv4(word) === word))],
    pending: words.filter((word) => word.startsWith(PENDING)).map((word) => word.slice(PENDING.length)),
  };
}
