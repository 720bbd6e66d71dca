/** An answer of the emulated API that is not a success: status, `id` and `message` as DigitalOcean words them. */
export class CloudRefusal extends Error {
  override readonly name: string = "CloudRefusal";
  readonly status: number;
  readonly id: string;
  /** Seconds, for the `retry-after` header; absent when DigitalOcean sends none. */
  readonly retryAfterSeconds?: number;

  constructor(status: number, id: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.id = id;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 404, the same for every kind of thing. */
export function notFound(): CloudRefusal {
  return new CloudRefusal(404, "not_found", "The resource you requested could not be found.");
}

/** 422 with its one machine-readable word; only the message says why. */
export function unprocessable(message: string): CloudRefusal {
  return new CloudRefusal(422, "unprocessable_entity", message);
}

/** 422 for an address or droplet that another action or event has not let go of yet. */
export function pendingEvent(subject: "Droplet" | "The reserved IP"): CloudRefusal {
  return unprocessable(`${subject} already has a pending event.`);
}

/** Who calls, and when. */
export interface Caller {
  readonly nowMs: number;
  /** `*` = every scope. */
  readonly scopes: ReadonlySet<string>;
}

/** True when the caller's token has this scope. */
export function hasScope(caller: Caller, scope: string): boolean {
  return caller.scopes.has("*") || caller.scopes.has(scope);
}

/** @throws CloudRefusal 403 when the caller's token lacks this scope. */
export function need(caller: Caller, scope: string): void {
  needOneOf(caller, [scope]);
}

/** @throws CloudRefusal 403 when the caller's token has none of these scopes, each of which is enough. */
export function needOneOf(caller: Caller, scopes: readonly string[]): void {
  if (!scopes.some((scope) => hasScope(caller, scope))) {
    throw new CloudRefusal(403, "Forbidden", "You are not authorized to perform this operation");
  }
}
