import { KubeError, ProviderError } from "../model/errors.ts";
import { plain } from "../model/text.ts";
import { categoryOf } from "./error-category.ts";

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
