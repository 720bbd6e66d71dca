import { isDeepStrictEqual } from "node:util";
import type { KubeError } from "../../model/errors.ts";
import { type AcquisitionNote, EMPTY_NOTE } from "../../model/lease-notes.ts";
import { ACQUIRED_ANNOTATION, FINALIZER, type ObjectMeta, objectKey } from "../../model/resource.ts";
import { type Answer, type Call, type Connection, type Resource, resourcePath } from "./call.ts";
import type { WriteAccess } from "./cluster-writer.ts";
import type { CustomResource } from "./custom-resources.ts";
import { answerJSON, kubeError, malformed } from "./failures.ts";
import { asRecord, jsonText } from "./json.ts";
import { encodeNote } from "./metadata.ts";

type Decoded<Status> = { readonly meta: ObjectMeta; readonly status: Status };

/**
 * Replaces flipop's fields of an object's status: one merge patch with the resourceVersion of `meta`, after a GET when `meta`
 * is not the one that was read. Takes secrets out of the texts it sends; the returned object has the texts as they were given. Idempotent: when a repeat meets a
 * conflict and the status is already as sent, that is success.
 */
export async function patchStatus<T extends Decoded<Status>, Status>(
  access: WriteAccess,
  kind: CustomResource<T, Status>,
  meta: ObjectMeta,
  status: Status,
): Promise<T> {
  const shown = withoutSecrets(status, access.connection.secrets);
  const stored = access.seen.objectOf(meta) ?? (await readAt(access, kind, meta));
  const before = asRecord(stored)?.["status"];
  const patch = withoutEqual(kind.status.patch(shown, before), asRecord(before) ?? {});
  const body = { metadata: { resourceVersion: meta.resourceVersion }, status: patch };
  const sent = kind.status.read(shown);
  // The server has these texts without the secrets already: nothing is left to send.
  const isSame = shown !== status && isDeepStrictEqual(kind.status.read(before), sent);
  const same = isSame ? kind.decode(stored) : undefined;
  if (same !== undefined) {
    access.seen.add(same.meta, stored);
    return asWanted(same, status, sent);
  }
  const call = callOn(kind.resource, meta, { method: "PATCH", verb: "patch", subresource: "status", body });
  const answer = await access.write(call, async (refusal) => {
    if (refusal.failure !== "conflict") return undefined;
    return await storedIf(access, kind, meta, (object) => isDeepStrictEqual(object.status, sent));
  });
  const written = decoded(access, kind, call, answer);
  return shown === status ? written : asWanted(written, status, sent);
}

/** The fields of a status that hold sentences. */
const TEXTS: ReadonlySet<string> = new Set(["error", "message", "nodeErrors"]);

/** Returns a status without secrets in its sentences; the same object if it has none. */
function withoutSecrets<Status>(status: Status, secrets: Connection["secrets"]): Status {
  if (secrets === undefined) return status;
  const shown = (value: unknown, isText: boolean): unknown => {
    if (typeof value === "string") return isText ? secrets.redact(value) : value;
    if (Array.isArray(value)) return value.map((item) => shown(item, isText));
    const members = asRecord(value);
    if (members === undefined) return value;
    return Object.fromEntries(Object.entries(members).map(([name, inner]) => [name, shown(inner, TEXTS.has(name))]));
  };
  const result = shown(status, false) as Status;
  return isDeepStrictEqual(result, status) ? status : result;
}

/** Returns the object with the wanted status in place of the sent one: the caller compares the two, and must not take a redacted text for a lost field. */
function asWanted<T extends Decoded<Status>, Status>(object: T, wanted: Status, sent: Status): T {
  return isDeepStrictEqual(object.status, sent) ? { ...object, status: wanted } : object;
}

/**
 * Adds or removes flipop's finalizer, keeping those of others: one merge patch with resourceVersion. Idempotent. When the
 * removal let the object go, it is returned as it last was.
 */
export async function setFinalizer<T extends Decoded<Status>, Status>(
  access: WriteAccess,
  kind: CustomResource<T, Status>,
  meta: ObjectMeta,
  isPresent: boolean,
): Promise<T> {
  const others = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const finalizers = isPresent ? [...others, FINALIZER] : others;
  return await patchMetadata(access, kind, meta, {
    fields: { finalizers },
    isAsSent: (stored) => isDeepStrictEqual(stored.finalizers, finalizers),
    otherwise: (refusal) => (isPresent ? undefined : lastSeen(access, meta, refusal, finalizers)),
  });
}

/** Writes flipop's annotation of an object, or removes it where there is nothing to tell: one merge patch with resourceVersion. Idempotent. */
export async function noteAcquisitions<T extends Decoded<Status>, Status>(
  access: WriteAccess,
  kind: CustomResource<T, Status>,
  meta: ObjectMeta,
  note: AcquisitionNote,
): Promise<T> {
  const text = encodeNote(meta.uid, note);
  return await patchMetadata(access, kind, meta, {
    fields: { annotations: { [ACQUIRED_ANNOTATION]: text } },
    isAsSent: (stored) => encodeNote(stored.uid, stored.note ?? EMPTY_NOTE) === text,
  });
}

interface MetadataChange {
  readonly fields: Readonly<Record<string, unknown>>;
  /** True of the metadata of an object that has the change already. */
  readonly isAsSent: (stored: ObjectMeta) => boolean;
  /** What stands for the answer after another refusal than a conflict; undefined lets it count. */
  readonly otherwise?: (refusal: KubeError) => Answer | undefined;
}

async function patchMetadata<T extends Decoded<Status>, Status>(
  access: WriteAccess,
  kind: CustomResource<T, Status>,
  meta: ObjectMeta,
  { fields, isAsSent, otherwise }: MetadataChange,
): Promise<T> {
  const body = { metadata: { resourceVersion: meta.resourceVersion, ...fields } };
  const call = callOn(kind.resource, meta, { method: "PATCH", verb: "patch", body });
  const answer = await access.write(call, async (refusal) =>
    refusal.failure === "conflict"
      ? await storedIf(access, kind, meta, (object) => isAsSent(object.meta))
      : otherwise?.(refusal),
  );
  return decoded(access, kind, call, answer);
}

/** The fields of a patch that change what is stored: a list of a thousand nodes is not sent again and again. */
function withoutEqual(
  patch: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(patch).filter(([field, value]) => !isDeepStrictEqual(value, stored[field] ?? null)),
  );
}

function callOn(
  resource: Resource,
  meta: ObjectMeta,
  rest: Pick<Call, "method" | "verb" | "subresource" | "body">,
): Call {
  const place = { namespace: meta.namespace, name: meta.name };
  const path = resourcePath(resource, rest.subresource === undefined ? place : { ...place, subresource: "status" });
  return { ...rest, path, resource, subject: objectKey(meta) };
}

/** The object as it is now. @throws KubeError `conflict` when it is no longer at the resourceVersion of `meta`. */
async function readAt<T extends Decoded<Status>, Status>(
  access: WriteAccess,
  kind: CustomResource<T, Status>,
  meta: ObjectMeta,
): Promise<unknown> {
  const call = callOn(kind.resource, meta, { method: "GET", verb: "get" });
  const object = answerJSON(call, await access.send(call), access.connection);
  if (kind.decode(object)?.meta.resourceVersion === meta.resourceVersion) return object;
  const why = "the object has been modified since it was read";
  const patch = callOn(kind.resource, meta, { method: "PATCH", verb: "patch", subresource: "status" });
  throw kubeError(patch, "conflict", { status: 409, why, fix: "Read it again." });
}

/** The stored object when the condition holds for it; a failing read proves nothing. */
async function storedIf<T extends Decoded<Status>, Status>(
  access: WriteAccess,
  kind: CustomResource<T, Status>,
  meta: ObjectMeta,
  isAsSent: (object: T) => boolean,
): Promise<Answer | undefined> {
  const call = callOn(kind.resource, meta, { method: "GET", verb: "get" });
  try {
    const answer = await access.send(call);
    const object = kind.decode(answerJSON(call, answer, access.connection));
    return object !== undefined && object.meta.uid === meta.uid && isAsSent(object) ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** The object whose last finalizer the lost try removed: it is gone, as it was meant to be. */
function lastSeen(
  access: WriteAccess,
  meta: ObjectMeta,
  refusal: KubeError,
  finalizers: readonly string[],
): Answer | undefined {
  const object = asRecord(access.seen.objectOf(meta));
  if (refusal.failure !== "not-found" || object === undefined) return undefined;
  const last = jsonText({ ...object, metadata: { ...asRecord(object["metadata"]), finalizers } });
  return last === undefined ? undefined : { status: 200, headers: {}, body: Buffer.from(last) };
}

function decoded<T extends Decoded<Status>, Status>(
  access: WriteAccess,
  kind: CustomResource<T, Status>,
  call: Call,
  answer: Answer,
): T {
  const object = answerJSON(call, answer, access.connection);
  const value = kind.decode(object);
  if (value === undefined) {
    const why = `the answer is not the ${kind.resource.noun}`;
    throw malformed(call, access.connection, { status: answer.status, why });
  }
  access.seen.add(value.meta, object);
  return value;
}
