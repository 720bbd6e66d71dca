import { ConfigError, KubeError, type KubeFailure, ProviderError, type ProviderFailure } from "../model/errors.ts";

/** What a failure means for whoever started the run; each has one exit code. */
export type ErrorCategory = "usage" | "config" | "permission" | "refused" | "temporary" | "bug";

const CONFIG: Readonly<Record<ConfigError["kind"], ErrorCategory>> = {
  usage: "usage",
  invalid: "config",
  permission: "permission",
};

const KUBE: Readonly<Record<KubeFailure, ErrorCategory>> = {
  unauthorized: "permission",
  forbidden: "permission",
  "missing-resource": "config",
  "not-found": "refused",
  invalid: "refused",
  // An answer that was cut off, or that a gateway gave in the server's place.
  malformed: "temporary",
  conflict: "temporary",
  "already-exists": "temporary",
  gone: "temporary",
  "rate-limited": "temporary",
  unavailable: "temporary",
  timeout: "temporary",
};

const PROVIDER: Readonly<Record<ProviderFailure, ErrorCategory>> = {
  unauthorized: "permission",
  forbidden: "permission",
  "not-found": "refused",
  refused: "refused",
  malformed: "refused",
  busy: "temporary",
  "rate-limited": "temporary",
  "put-off": "temporary",
  unavailable: "temporary",
  timeout: "temporary",
};

/** Returns the category of anything that was thrown; what is of no known family is a bug. */
export function categoryOf(error: unknown): ErrorCategory {
  if (error instanceof ConfigError) return CONFIG[error.kind];
  if (error instanceof KubeError) return KUBE[error.failure];
  if (error instanceof ProviderError) {
    // An unusable token is a wrong setting: the provider was not asked.
    return error.cause instanceof ConfigError ? CONFIG[error.cause.kind] : PROVIDER[error.failure];
  }
  return "bug";
}
