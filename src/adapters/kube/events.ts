import type { ObjectRef } from "../../model/action.ts";
import type { PastEvent } from "../../model/change.ts";
import { GROUP, VERSION } from "../../model/resource.ts";
import { contentHash } from "../../model/text.ts";
import type { ClusterEvent } from "../../ports/cluster.ts";
import { RESOURCES, resourcePath } from "./call.ts";
import { asInteger, asRecord, asText, asTimeMs, microTime } from "./json.ts";
import type { PagedRequest } from "./lists.ts";

/** Bytes of `note` and characters of `reportingInstance` the API server takes (events.k8s.io/v1, verified 2026-08). */
const MAX_NOTE_BYTES = 1024;
const MAX_INSTANCE_LENGTH = 128;

/** What an Event carries beside what happened. */
interface EventStamp {
  readonly eventTimeMs: number;
  /** Who reports: a pod's or a host's name. */
  readonly reportingInstance: string;
  /** Lower-case letters and digits that make the name of an Event unique. Not used for a Warning. */
  readonly suffix: string;
}

/**
 * An events.k8s.io/v1 Event in the object's namespace. A longer note is cut at a character's end, with an ellipsis. The name of a Warning follows from what it says, so
 * that the same failure has one Event over all runs. Pure.
 */
export function encodeEvent(event: ClusterEvent, stamp: EventStamp): EncodedEvent {
  const { meta, kind } = event.regarding;
  const note = cutToBytes(event.note, MAX_NOTE_BYTES);
  const suffix = event.type === "Warning" ? contentHash(failureText(event)) : stamp.suffix;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { namespace: meta.namespace, name: eventName(meta.name, suffix) },
    eventTime: microTime(stamp.eventTimeMs),
    type: event.type,
    reason: event.reason,
    action: event.action,
    note,
    reportingController: `${GROUP}/flipop`,
    reportingInstance: stamp.reportingInstance.slice(0, MAX_INSTANCE_LENGTH),
    regarding: {
      apiVersion: `${GROUP}/${VERSION}`,
      kind,
      namespace: meta.namespace,
      name: meta.name,
      uid: meta.uid,
      resourceVersion: meta.resourceVersion,
    },
    ...(event.nodeName === undefined ? {} : { related: { apiVersion: "v1", kind: "Node", name: event.nodeName } }),
  };
}

/** An Event as the API takes it. */
interface EncodedEvent {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly [field: string]: unknown;
}

/**
 * The series of an Event that is seen once more: the API server lets nothing else of an Event change (verified 2026-11-22).
 * @param stored - the Event as it is in the cluster
 */
export function nextSeries(stored: unknown, nowMs: number): Record<string, unknown> {
  const count = asRecord(asRecord(stored)?.["series"])?.["count"];
  const seen = typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 1;
  return { series: { count: seen + 1, lastObservedTime: microTime(nowMs) } };
}

/**
 * Returns the list of the Events about objects of flipop's group, of one namespace or of all. The API server selects them (kube-apiserver v1.35.4, verified 2026-11-23): a
 * cluster may keep tens of thousands of others.
 */
export function eventsRequest(namespace: string | undefined): PagedRequest<PastEvent> {
  return {
    resource: RESOURCES.events,
    path: resourcePath(RESOURCES.events, namespace === undefined ? {} : { namespace }),
    query: { fieldSelector: `regarding.apiVersion=${GROUP}/${VERSION}` },
    project: decodeEvent,
  };
}

const KINDS: ReadonlyMap<string, ObjectRef["kind"]> = new Map([
  ["FloatingIPPool", "pool"],
  ["RoutedIP", "routedip"],
  ["NodeDNSRecordSet", "dns"],
]);

/** Returns an Event about one of the kinds that flipop acts for; undefined for any other, and for one without a time. Never throws. */
function decodeEvent(item: unknown): PastEvent | undefined {
  const event = asRecord(item) ?? {};
  const object = objectOf(asRecord(event["regarding"]) ?? {});
  const times = timesOf(event);
  if (object === undefined || times === undefined) return undefined;
  const source = asRecord(event["deprecatedSource"]) ?? {};
  const text = (name: string): string => asText(event[name]) ?? "";
  return {
    object,
    type: text("type"),
    reason: text("reason"),
    action: text("action"),
    note: text("note"),
    ...times,
    controller: text("reportingController") || (asText(source["component"]) ?? ""),
    instance: text("reportingInstance") || (asText(source["host"]) ?? ""),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function objectOf(regarding: Fields): ObjectRef | undefined {
  const kind = KINDS.get(asText(regarding["kind"]) ?? "");
  const [name, namespace] = [asText(regarding["name"]), asText(regarding["namespace"])];
  return kind === undefined || name === undefined || namespace === undefined ? undefined : { kind, namespace, name };
}

/** When it happened, and how often. Whoever writes Events the old way leaves `eventTime` and `series` empty. */
function timesOf(event: Fields): Pick<PastEvent, "firstMs" | "lastMs" | "count"> | undefined {
  const series = asRecord(event["series"]) ?? {};
  const created = asTimeMs(asRecord(event["metadata"])?.["creationTimestamp"]);
  const firstMs = asTimeMs(event["eventTime"]) ?? asTimeMs(event["deprecatedFirstTimestamp"]) ?? created;
  if (firstMs === undefined) return undefined;
  const lastMs = asTimeMs(series["lastObservedTime"]) ?? asTimeMs(event["deprecatedLastTimestamp"]) ?? firstMs;
  const count = asInteger(series["count"]) ?? asInteger(event["deprecatedCount"]) ?? 1;
  return { firstMs, lastMs: Math.max(firstMs, lastMs), count: Math.max(1, count) };
}

/** What makes two failures the same. Ids of requests are not part of it: they differ each time. */
function failureText({ regarding, reason, action, note }: ClusterEvent): string {
  const text = note.replaceAll(/\b[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\b/gi, "");
  return JSON.stringify([regarding.meta.uid, reason, action, text]);
}

/** A DNS subdomain of at most 253 characters, and a cut must not leave a dot or hyphen before the suffix. */
function eventName(objectName: string, suffix: string): string {
  return `${objectName.slice(0, 252 - suffix.length).replace(/[.-]+$/, "")}.${suffix}`;
}

function cutToBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const ellipsis = "…";
  const room = limit - Buffer.byteLength(ellipsis);
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return text.slice(0, read) + ellipsis;
}
