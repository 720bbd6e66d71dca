import { formatTime } from "./time.ts";

/** The operator's mistake: what failed, on what, why, what to do. Ends the command; never retried. */
export class ConfigError extends Error {
  override readonly name: string = "ConfigError";
  /** `usage` = 64, `invalid` = 78, `permission` = 77. */
  readonly kind: "usage" | "invalid" | "permission";
  constructor(kind: "usage" | "invalid" | "permission", message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The cluster's CRD drops what has to be stored: nothing that depends on it is done before a person applies the present one. */
export class CRDTooOld extends ConfigError {
  override readonly name: string = "CRDTooOld";
  constructor(message: string) {
    super("invalid", message);
  }
}

/** What a Kubernetes API server refused, in the terms the program decides on. */
export type KubeFailure =
  | "unauthorized"
  /** A permission is missing: every call of the kind is refused. */
  | "forbidden"
  /** A policy, a webhook or a quota of the cluster refuses this one object; the permission is there. */
  | "denied"
  /** Nothing can be created in the namespace any more: it is being deleted. */
  | "terminating"
  | "not-found"
  | "missing-resource"
  | "conflict"
  | "already-exists"
  | "gone"
  | "invalid"
  | "rate-limited"
  | "unavailable"
  | "timeout"
  | "malformed";

/** The Kubernetes API's refusal, or the lack of any answer. */
export class KubeError extends Error {
  override readonly name: string = "KubeError";
  readonly failure: KubeFailure;
  /** Verb and resource, as RBAC names them: `list floatingippools.flipop.digitalocean.com`. */
  readonly operation: string;
  /** What the call was about: `NAMESPACE/NAME`, a node name, or `""` for a whole list. */
  readonly subject: string;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  constructor(
    facts: { failure: KubeFailure; operation: string; subject: string; status: number; message: string },
    options?: ErrorOptions,
  ) {
    super(facts.message, options);
    this.failure = facts.failure;
    this.operation = facts.operation;
    this.subject = facts.subject;
    this.status = facts.status;
  }
}

/** Bad, with a URL that is too long, that cannot be processed, with a head that is too long; 0 = flipop itself does not send it. */
const REQUEST_REFUSALS: readonly number[] = [400, 414, 422, 431, 0];

/**
 * True if a list is refused because of what it asks for: its selector, or its namespace. Other lists are still answered, and
 * the same one is refused again until somebody acts. Two failures count for a list in one namespace only:
 * 1. A 404. Elsewhere it means that the server lacks the resource, or is no API server.
 * 2. A missing permission. flipop may have it in some namespaces only, by RoleBindings. Elsewhere it concerns everybody.
 */
export function isRequestRefusal(error: unknown, isNamespaced: boolean): error is KubeError {
  if (!(error instanceof KubeError)) return false;
  if (error.failure === "not-found" || error.failure === "forbidden") return isNamespaced;
  return error.failure === "invalid" && REQUEST_REFUSALS.includes(error.status);
}

/** What a provider refused, in the terms the program decides on. */
export type ProviderFailure =
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "refused"
  /** The account has as many of a kind as it may have. */
  | "over-quota"
  | "busy"
  | "rate-limited"
  /** Not sent: the rest of the provider's limit is kept for more urgent calls. */
  | "put-off"
  | "unavailable"
  | "timeout"
  | "malformed";

/** A provider's refusal, or the lack of a usable answer. */
export class ProviderError extends Error {
  override readonly name: string = "ProviderError";
  readonly provider: string;
  readonly failure: ProviderFailure;
  /** The port's operation: `list`, `get`, `assign`, … */
  readonly operation: string;
  /** The address or machine the call was about; `""` for a whole list. */
  readonly subject: string;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** True when the call may have taken effect although it failed: no answer, a 5xx, or an answer that could not be read. */
  readonly isAmbiguous: boolean;
  /** Local milliseconds before which the provider asked for no further call (`Retry-After`, rate-limit reset). */
  readonly notBeforeMs?: number;
  readonly requestID?: string;
  constructor(
    facts: {
      provider: string;
      failure: ProviderFailure;
      operation: string;
      subject: string;
      status: number;
      message: string;
      isAmbiguous?: boolean;
      notBeforeMs?: number;
      requestID?: string;
    },
    options?: ErrorOptions,
  ) {
    super(facts.message, options);
    this.provider = facts.provider;
    this.failure = facts.failure;
    this.operation = facts.operation;
    this.subject = facts.subject;
    this.status = facts.status;
    this.isAmbiguous = facts.isAmbiguous ?? false;
    if (facts.notBeforeMs !== undefined) this.notBeforeMs = facts.notBeforeMs;
    if (facts.requestID !== undefined) this.requestID = facts.requestID;
  }

  /** True where the token may not read machines: then a provider hides which addresses are on which, and which machines are behind a firewall. */
  get hidesMachines(): boolean {
    return this.failure === "forbidden" && this.operation === "machine";
  }

  /** True where one address could not be read: nothing was asked of a machine. */
  get isOfReading(): boolean {
    return this.operation === "get";
  }

  /** True for a refusal of the token or of its rights, and for a rate limit: what else is asked of the provider meets it, too. */
  get concernsProvider(): boolean {
    return this.failure === "unauthorized" || this.failure === "forbidden" || this.failure === "rate-limited";
  }
}

/** A write to a provider that was not sent: the Lease is no longer this process's, so another one may be writing. */
export class NotSent extends Error {
  override readonly name: string = "NotSent";
}

/** What the system of the host refused: an address that cannot be put on an interface, a program that fails or does not end. */
export class HostError extends Error {
  override readonly name: string = "HostError";
}

/** A state that cannot be: a bug in flipop, shown with its stack. */
export class InternalError extends Error {
  override readonly name: string = "InternalError";
}

/** Why a provider cannot be used in this pass: nothing more is read of it, and nothing may be changed. */
export interface Refusal {
  /** `no-access`: no token, or one that is not allowed. `rate-limited`: it asked for no calls until later. `unanswered`: it could not be read. */
  readonly kind: "no-access" | "rate-limited" | "unanswered";
  readonly message: string;
  /** When it may be asked again, milliseconds of the API server's clock; absent when it did not say. */
  readonly notBeforeMs?: number;
  /** Set where a change was refused: what can be read says nothing of that. */
  readonly isOfChange?: true;
  /** Set while it is being asked: this pass may know more in a moment. */
  readonly isAwaited?: true;
}

/** Returns what errors say where a provider wants no call for a while: a sentence of its own. Pure. */
export function noCallBefore(ms: number): string {
  return `No call before ${formatTime(ms)}.`;
}

/** Finds those sentences, each with the blank before it; its group is the time. */
export const CALL_TIME: RegExp = / No call before (\S+Z)\./g;
