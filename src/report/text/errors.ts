import {
  ConfigError,
  HostError,
  KubeError,
  type KubeFailure,
  ProviderError,
  type ProviderFailure,
} from "../../model/errors.ts";
import { plain } from "../../model/text.ts";

/** How much is told: 0 = the sentence, 1 (`-v`) = and the ids of the call, 2 (`-vv`) = and the stack. */
export type Verbosity = 0 | 1 | 2;

/**
 * Returns a failure for people, without a line end: what failed, on what, why and what to do, as its author wrote it. The
 * ids of the call follow with `-v`, the stack with `-vv` or when it is a bug.
 */
export function errorText(error: unknown, verbosity: Verbosity): string {
  const ids = verbosity === 0 ? [] : callIDs(error);
  if (categoryOf(error) !== "bug") {
    const lines = [messageOf(error), ...ids];
    return [...lines, ...(verbosity === 2 ? stackOf(error) : [])].join("\n");
  }
  const what = `This is a bug in flipop: ${messageOf(error)}`;
  return [what, ...stackOf(error), "Nothing more was done. Please report it with the lines above."].join("\n");
}

/** Returns what anything thrown says, on one line without control characters: much of it comes from outside. */
export function messageOf(error: unknown): string {
  return plain(error instanceof Error ? error.message : String(error));
}

function callIDs(error: unknown): string[] {
  if (!(error instanceof ProviderError || error instanceof KubeError)) return [];
  const parts = [`operation: ${error.operation}`, ...(error.status > 0 ? [`HTTP status: ${error.status}`] : [])];
  if (error instanceof ProviderError && error.requestID !== undefined) parts.push(`request id: ${error.requestID}`);
  return [`  (${plain(parts.join(", "))})`];
}

function stackOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { cause } = error;
  return [...frames(error), ...(cause instanceof Error ? [`  caused by: ${messageOf(cause)}`, ...frames(cause)] : [])];
}

/** The calls of a stack; before them the message stands once more, as it came. */
function frames({ stack = "" }: Error): string[] {
  return stack.split("\n").filter((line) => /^ {4}at /.test(line));
}

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
  // A rule of the cluster, as a permission is: nobody but its administrators can change it.
  denied: "permission",
  terminating: "temporary",
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
  "over-quota": "refused",
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
  if (error instanceof HostError) return "refused";
  if (error instanceof ProviderError) {
    // An unusable token is a wrong setting: the provider was not asked.
    return error.cause instanceof ConfigError ? CONFIG[error.cause.kind] : PROVIDER[error.failure];
  }
  return "bug";
}
