import type { SandboxRequest } from "../http-server.ts";
import type { FieldValidation } from "./admit-object.ts";
import { arrayAt, textAt, valueAt } from "./json-object.ts";
import type { DeleteOptions, WriteOptions } from "./kubernetes-api.ts";
import { badRequest, unsupportedMediaType } from "./status-error.ts";

function mediaType(request: SandboxRequest): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
}

/** Refuses a body that is not JSON. @throws StatusError 415 */
export function requireJSON(request: SandboxRequest): void {
  const type = mediaType(request);
  if (type === "" || type === "application/json") return;
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: application/json (the sandbox reads no ${type})`,
  );
}

/** Refuses every patch but a JSON merge patch; the real server knows more kinds. @throws StatusError 415 */
export function requireMergePatch(request: SandboxRequest): void {
  const type = mediaType(request);
  if (type === "application/merge-patch+json") return;
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: application/merge-patch+json (the sandbox applies no ${type || "patch without a content type"})`,
  );
}

/** Reads `fieldValidation` and `dryRun`. @throws StatusError 400 */
export function writeOptions(query: URLSearchParams): WriteOptions {
  const fieldValidation = query.get("fieldValidation") ?? "";
  return { fieldValidation: readFieldValidation(fieldValidation), isDryRun: query.get("dryRun") === "All" };
}

function readFieldValidation(text: string): FieldValidation {
  if (text === "") return "Warn";
  if (text === "Ignore" || text === "Warn" || text === "Strict") return text;
  throw badRequest(
    `fieldValidation: Unsupported value: ${JSON.stringify(text)}: supported values: "", "Ignore", "Strict", "Warn"`,
  );
}

/** Reads the parameters of a DELETE from the query and the body. */
export function deleteOptions({ query, body }: SandboxRequest): DeleteOptions {
  const grace = query.get("gracePeriodSeconds") ?? valueAt(body, "gracePeriodSeconds") ?? undefined;
  const uid = textAt(body, "preconditions", "uid");
  const resourceVersion = textAt(body, "preconditions", "resourceVersion");
  const isDryRun = query.get("dryRun") === "All" || arrayAt(body, "dryRun").includes("All");
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    preconditions: { ...(uid === "" ? {} : { uid }), ...(resourceVersion === "" ? {} : { resourceVersion }) },
    isDryRun,
  };
}
