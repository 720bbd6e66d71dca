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

/** What a Kubernetes API server refused, in the terms the program decides on. */
export type KubeFailure =
  | "unauthorized"
  | "forbidden"
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

/** What a provider refused, in the terms the program decides on. */
export type ProviderFailure =
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "refused"
  | "busy"
  | "rate-limited"
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
}

/** A state that cannot be: a bug in flipop, shown with its stack. */
export class InternalError extends Error {
  override readonly name: string = "InternalError";
}
