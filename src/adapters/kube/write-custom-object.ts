import { isDeepStrictEqual } from "node:util";
import { type AcquisitionNote, EMPTY_NOTE } from "../../model/acquisition-memory.ts";
import type { KubeError } from "../../model/errors.ts";
import { ACQUIRED_ANNOTATION, FINALIZER, type ObjectMeta, objectKey } from "../../model/resource.ts";
import type { WriteAccess } from "./access.ts";
import { type Answer, type Call, type Connection, resourcePath } from "./call.ts";
import type { CustomResource } from "./custom-resources.ts";
import { answerJSON, kubeError, malformed } from "./failures.ts";
import { asRecord, jsonText } from "./json.ts";
import { encodeNote } from "./metadata.ts";

/**
 * Writes to one of flipop's own objects as it was read: each write is one merge patch with the resourceVersion of its `meta`, and returns the object as stored.
 * Each is idempotent: when a repeat meets a conflict and the object is already as sent, that is success.
 */
export class CustomObjectWriter<T extends { readonly meta: ObjectMeta; readonly status: Status }, Status> {
  readonly #access: WriteAccess;
  readonly #kind: CustomResource<T, Status>;
  readonly #meta: ObjectMeta;

  constructor(access: WriteAccess, kind: CustomResource<T, Status>, meta: ObjectMeta) {
    this.#access = access;
    this.#kind = kind;
    this.#meta = meta;
  }

  /**
   * Replaces flipop's fields of the status, after a GET when `meta` is not the one that was read. Takes secrets out of the texts it sends; the returned object has
   * the texts as they were given.
   */
  async patchStatus(status: Status): Promise<T> {
    const { seen, connection } = this.#access;
    const { decode, status: format } = this.#kind;
    const shown = withoutSecrets(status, connection.secrets);
    const stored = seen.objectOf(this.#meta) ?? (await this.#readAsKnown());
    const before = asRecord(stored)?.["status"];
    const sent = format.read(shown);
    // The server has these texts without the secrets already: nothing is left to send.
    const isSame = shown !== status && isDeepStrictEqual(format.read(before), sent);
    const same = isSame ? decode(stored) : undefined;
    if (same !== undefined) {
      seen.add(same.meta, stored);
      return asDesired(same, status, sent);
    }
    const patch = withoutEqual(format.patch(shown, before), asRecord(before) ?? {});
    const body = { metadata: { resourceVersion: this.#meta.resourceVersion }, status: patch };
    const call = this.#call({ method: "PATCH", verb: "patch", subresource: "status", body });
    const written = await this.#write(call, (object) => isDeepStrictEqual(object.status, sent));
    return shown === status ? written : asDesired(written, status, sent);
  }

  /** Adds or removes flipop's finalizer, keeping those of others. When the removal let the object go, it is returned as it last was. */
  async setFinalizer(isPresent: boolean): Promise<T> {
    const others = this.#meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    const finalizers = isPresent ? [...others, FINALIZER] : others;
    return await this.#write(
      this.#metadataPatch({ finalizers }),
      ({ meta }) => isDeepStrictEqual(meta.finalizers, finalizers),
      (refusal) => (isPresent ? undefined : this.#lastSeen(refusal, finalizers)),
    );
  }

  /** Writes flipop's annotation, or removes it where there is nothing to tell. */
  async noteAcquisitions(note: AcquisitionNote): Promise<T> {
    const text = encodeNote(this.#meta.uid, note);
    return await this.#write(
      this.#metadataPatch({ annotations: { [ACQUIRED_ANNOTATION]: text } }),
      ({ meta }) => encodeNote(meta.uid, meta.note ?? EMPTY_NOTE) === text,
    );
  }

  #metadataPatch(fields: Readonly<Record<string, unknown>>): Call {
    const body = { metadata: { resourceVersion: this.#meta.resourceVersion, ...fields } };
    return this.#call({ method: "PATCH", verb: "patch", body });
  }

  /**
   * Sends a patch.
   * @param isAsSent - true of an object that has the change already.
   * @param otherwise - what stands for the answer after another refusal than a conflict; undefined lets it count.
   */
  async #write(
    call: Call,
    isAsSent: (object: T) => boolean,
    otherwise?: (refusal: KubeError) => Answer | undefined,
  ): Promise<T> {
    const answer = await this.#access.write(call, async (refusal) =>
      refusal.failure === "conflict" ? await this.#storedIf(isAsSent) : otherwise?.(refusal),
    );
    const object = answerJSON(call, answer, this.#access.connection);
    const value = this.#kind.decode(object);
    if (value === undefined) {
      const why = `the answer is not the ${this.#kind.resource.noun}`;
      throw malformed(call, this.#access.connection, { status: answer.status, why });
    }
    this.#access.seen.add(value.meta, object);
    return value;
  }

  /** The stored object when the condition holds for it; a failing read proves nothing. */
  async #storedIf(isAsSent: (object: T) => boolean): Promise<Answer | undefined> {
    const call = this.#call({ method: "GET", verb: "get" });
    try {
      const answer = await this.#access.send(call);
      const object = this.#kind.decode(answerJSON(call, answer, this.#access.connection));
      return object !== undefined && object.meta.uid === this.#meta.uid && isAsSent(object) ? answer : undefined;
    } catch {
      return undefined;
    }
  }

  /** The object as it is now. @throws KubeError `conflict` when it is no longer at the resourceVersion of `meta`. */
  async #readAsKnown(): Promise<unknown> {
    const call = this.#call({ method: "GET", verb: "get" });
    const object = answerJSON(call, await this.#access.send(call), this.#access.connection);
    if (this.#kind.decode(object)?.meta.resourceVersion === this.#meta.resourceVersion) return object;
    const why = "the object has been modified since it was read";
    const patch = this.#call({ method: "PATCH", verb: "patch", subresource: "status" });
    throw kubeError(patch, "conflict", { status: 409, why, fix: "Read it again." });
  }

  /** The object whose last finalizer the lost try removed: it is gone, as it was meant to be. */
  #lastSeen(refusal: KubeError, finalizers: readonly string[]): Answer | undefined {
    const object = asRecord(this.#access.seen.objectOf(this.#meta));
    if (refusal.failure !== "not-found" || object === undefined) return undefined;
    const last = jsonText({ ...object, metadata: { ...asRecord(object["metadata"]), finalizers } });
    return last === undefined ? undefined : { status: 200, headers: {}, body: Buffer.from(last) };
  }

  #call(rest: Pick<Call, "method" | "verb" | "subresource" | "body">): Call {
    const { resource } = this.#kind;
    const { namespace, name } = this.#meta;
    const place = { namespace, name };
    const path = resourcePath(resource, rest.subresource === undefined ? place : { ...place, subresource: "status" });
    return { ...rest, path, resource, subject: objectKey(this.#meta) };
  }
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

/** Returns the object with the desired status in place of the sent one: the caller compares the two, and must not take a redacted text for a lost field. */
function asDesired<T extends { readonly status: Status }, Status>(object: T, desired: Status, sent: Status): T {
  return isDeepStrictEqual(object.status, sent) ? { ...object, status: desired } : object;
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
