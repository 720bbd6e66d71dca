import { ProviderError } from "../model/errors.ts";
import { API_VERSION, type JSONObject } from "./document.ts";
import { categoryOf } from "./error-category.ts";
import { messageOf } from "./error-text.ts";

/** Returns the document `Error`: why a command could not do its work. Schema: `schema/error.json`. */
export function errorDocument(error: unknown, exitCode: number): JSONObject {
  const requestID = error instanceof ProviderError ? error.requestID : undefined;
  return {
    apiVersion: API_VERSION,
    kind: "Error",
    exitCode,
    category: categoryOf(error),
    message: messageOf(error),
    requestId: requestID,
  };
}

/** Returns the document `Error` for a run that did not take place because someone else holds the lock. */
export function lockedDocument(message: string, exitCode: number): JSONObject {
  return { apiVersion: API_VERSION, kind: "Error", exitCode, category: "locked", message };
}
