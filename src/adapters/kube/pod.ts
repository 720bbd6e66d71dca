import { isRequestRefusal } from "../../model/errors.ts";
import type { PodFacts, PodSelector, Readiness } from "../../model/node.ts";
import { RESOURCES, resourcePath } from "./call.ts";
import { asNumber, asRecord, asText, asTextMap, asTimeMs, isCutOff, isOdd, isPresent } from "./json.ts";
import type { ListRequest, PagedRequest } from "./lists.ts";
import { CONDITION_FIELDS, decodeReadiness, metadataField } from "./metadata.ts";
import type { Fields } from "./protobuf.ts";

type Part = Readonly<Record<string, unknown>> | undefined;

/** What is read of a Pod. */
export const POD_FIELDS: Fields = {
  1: metadataField("namespace", "deletionTimestamp", "deletionGracePeriodSeconds"),
  2: { name: "spec", kind: "message", fields: { 10: { name: "nodeName", kind: "text" } } },
  3: {
    name: "status",
    kind: "message",
    fields: {
      1: { name: "phase", kind: "text" },
      2: { name: "conditions", kind: "messages", fields: CONDITION_FIELDS },
    },
  },
};

/** Finished pods run nothing and explain nothing; the server leaves them out. */
const UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed";

/** The list of a selector's pods that are bound to a node (or to this one) and not finished, in no order. */
export function podsRequest(selector: PodSelector, nodeName?: string): ListRequest<PodFacts> {
  const { namespace, label } = selector;
  const fieldSelector = nodeName === undefined ? UNFINISHED : `${UNFINISHED},spec.nodeName=${nodeName}`;
  return {
    kind: "pod",
    resource: RESOURCES.pods,
    path: resourcePath(RESOURCES.pods, { namespace }),
    query: { fieldSelector, ...(label === "" ? {} : { labelSelector: label }) },
    fields: POD_FIELDS,
    project: smallPods(),
    rules: { visible: (pod) => pod, foreign: (pod) => pod },
    isRefused: (error) => isRequestRefusal(error, namespace !== ""),
  };
}

/** The labels of pods of a namespace that are not finished: of one page of them, in no order. */
export function podLabelsRequest(namespace: string): PagedRequest<Readonly<Record<string, string>>> {
  return {
    resource: RESOURCES.pods,
    path: resourcePath(RESOURCES.pods, { namespace }),
    query: { fieldSelector: UNFINISHED },
    fields: { 1: metadataField("namespace", "labels") },
    isFirstPage: true,
    project: (object) => asTextMap(asRecord(asRecord(object)?.["metadata"])?.["labels"]),
  };
}

/** Decodes pods whose facts share the texts that repeat: tens of thousands of pods have few namespaces, nodes and phases. */
function smallPods(): (object: unknown) => PodFacts | undefined {
  const texts = new Map<string, string>();
  const shared = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  return (object) => {
    const pod = decodePod(object);
    if (pod === undefined) return undefined;
    return { ...pod, namespace: shared(pod.namespace), nodeName: shared(pod.nodeName), phase: shared(pod.phase) };
  };
}

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
  pod: Part,
  metadata: Part,
  status: Part,
  isPlaceUnknown: boolean,
): Pick<PodFacts, "ready" | "isUnreadable"> {
  const ready = decodeReadiness(status?.["conditions"]);
  const isUnreadable = isPlaceUnknown || ready === undefined || isOddElsewhere(pod, metadata, status);
  return isUnreadable ? { ready: ready ?? NOT_READY, isUnreadable } : { ready };
}

function endOf(metadata: Part, status: Part): Pick<PodFacts, "ready" | "deletedAtMs"> {
  const ready = decodeReadiness(status?.["conditions"]) ?? NOT_READY;
  const deletedAtMs = deletionMs(metadata);
  if (deletedAtMs !== undefined) return { ready, deletedAtMs };
  return { ready: ready.isReady ? NOT_READY : ready };
}

const NOT_READY: Readiness = { isReady: false };

/** True if a pod that shows no node may have one: its node name, or what holds it, cannot be read. */
function isPlaceOdd(pod: Part, spec: Part): boolean {
  return isCutOff(pod) || isOdd(pod?.["spec"], asRecord) || isOdd(spec?.["nodeName"], asText);
}

/** True if an unreadable part may say that the pod is being deleted or does not run. */
function isOddElsewhere(pod: Part, metadata: Part, status: Part): boolean {
  return isCutOff(pod) || isCutOff(metadata) || isOdd(pod?.["status"], asRecord) || isOdd(status?.["phase"], asText);
}

/** `deletionTimestamp` lies in the future by the grace period: it is when the pod must be gone, not when it was deleted. */
function deletionMs(metadata: Part): number | undefined {
  const goneByMs = asTimeMs(metadata?.["deletionTimestamp"]);
  const seconds = asNumber(metadata?.["deletionGracePeriodSeconds"]) ?? 0;
  const isBelievable = seconds >= 0 && seconds <= LONGEST_GRACE_SECONDS;
  return goneByMs === undefined ? undefined : goneByMs - (isBelievable ? seconds : 0) * 1000;
}
