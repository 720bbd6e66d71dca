import { errorGroup, qualifiedKind, qualifiedResource, type ResourceType } from "./resource-types.ts";
import type { Cause } from "./schema.ts";

/** A refusal of the API in Kubernetes' own words; answered as a `v1` Status. */
export class StatusError extends Error {
  override readonly name: string = "StatusError";
  readonly code: number;
  /** `""` for the refusals that have none. */
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** `metadata` of the Status; holds the fresh `continue` token of an expired one. */
  readonly metadata: Readonly<Record<string, unknown>>;
  constructor(
    code: number,
    reason: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    metadata: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = metadata;
  }

  /** The Status object as it goes over the wire. */
  toJSON(): Readonly<Record<string, unknown>> {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.metadata,
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(Object.keys(this.details).length === 0 ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

function detailsOf(type: ResourceType, name: string): Readonly<Record<string, unknown>> {
  return { name, ...(type.group === "" ? {} : { group: type.group }), kind: type.plural };
}

/** 404 for one object. */
export function notFound(type: ResourceType, name: string): StatusError {
  return new StatusError(404, "NotFound", `${qualifiedResource(type)} "${name}" not found`, detailsOf(type, name));
}

/** 409 for a name that is taken. */
export function alreadyExists(type: ResourceType, name: string): StatusError {
  const message = `${qualifiedResource(type)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, detailsOf(type, name));
}

/** 409 for a resourceVersion or precondition that no longer holds. */
export function conflict(type: ResourceType, name: string, why: string = MODIFIED): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(type)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message, detailsOf(type, name));
}

const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 422 with every cause. */
export function invalid(type: ResourceType, name: string, causes: readonly Cause[]): StatusError {
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const all = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const details = { ...kindDetails(type, name), causes };
  return new StatusError(422, "Invalid", `${qualifiedKind(type)} "${name}" is invalid: ${all}`, details);
}

function kindDetails(type: ResourceType, name: string): Readonly<Record<string, unknown>> {
  const group = errorGroup(type);
  return { name, ...(group === "" ? {} : { group }), kind: type.kind };
}

/** 422 for a PUT that must say which version it replaces; named after the resource, unlike other invalid objects. */
export function missingResourceVersion(type: ResourceType, name: string): StatusError {
  const cause = {
    reason: "FieldValueInvalid",
    message: "Invalid value: 0: must be specified for an update",
    field: "metadata.resourceVersion",
  };
  const message = `${qualifiedResource(type)} "${name}" is invalid: ${cause.field}: ${cause.message}`;
  return new StatusError(422, "Invalid", message, { ...detailsOf(type, name), causes: [cause] });
}

/** 409 for a DELETE whose precondition does not hold. */
export function preconditionFailed(
  type: ResourceType,
  name: string,
  failed: { readonly what: "UID" | "ResourceVersion"; readonly wanted: string; readonly found: string },
): StatusError {
  const { what, wanted, found } = failed;
  const guess = what === "UID" ? "deleted and then recreated" : "modified";
  const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found})`;
  const message = `Operation cannot be fulfilled on ${qualifiedKind(type)} "${name}": ${why}. The object might have been ${guess}`;
  return new StatusError(409, "Conflict", message, kindDetails(type, name));
}

/** 400. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

/** 403 for a reason that is no permission: a namespace being deleted. */
export function forbidden(type: ResourceType, name: string, why: string, causes: readonly Cause[]): StatusError {
  const message = `${qualifiedResource(type)} "${name}" is forbidden: ${why}`;
  return new StatusError(403, "Forbidden", message, { ...detailsOf(type, name), causes });
}

/** 405. */
export function methodNotAllowed(): StatusError {
  return new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

/** 410 for a resourceVersion whose history is no longer kept. */
export function expired(message: string, metadata: Readonly<Record<string, unknown>> = {}): StatusError {
  return new StatusError(410, "Expired", message, {}, metadata);
}

/** 504 for a resourceVersion that is not there yet. */
export function tooLargeResourceVersion(wanted: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new StatusError(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
}

/** 415. */
export function unsupportedMediaType(message: string): StatusError {
  return new StatusError(415, "UnsupportedMediaType", message);
}
