import type { SandboxRequest } from "../http-exchange.ts";
import type { FieldValidation } from "./admit-object.ts";
import { arrayAt, textAt, valueAt } from "./json-object.ts";
import type { DeleteOptions, WriteOptions } from "./kubernetes-api.ts";
import type { ResourceType } from "./resource-type.ts";
import { StatusError, unsupportedMediaType } from "./status-error.ts";

const UNKNOWN_FORMAT = "the body of the request was in an unknown format - accepted media types include";

function mediaType(request: SandboxRequest): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
}

/** Refuses a body that is not JSON. @throws StatusError 415 */
export function requireJSON(request: SandboxRequest): void {
  const type = mediaType(request);
  if (type === "" || type === "application/json") return;
  const accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  throw unsupportedMediaType(`${UNKNOWN_FORMAT}: ${accepted}`);
}

/** Refuses every patch but a JSON merge patch; of the kinds the real server knows, it says so. @throws StatusError 415 */
export function requireMergePatch(request: SandboxRequest, resource: ResourceType): void {
  const type = mediaType(request);
  if (type === "application/merge-patch+json") return;
  const strategic = resource.schema === undefined ? ["application/strategic-merge-patch+json"] : [];
  const real = [
    "application/json-patch+json",
    "application/merge-patch+json",
    ...strategic,
    "application/apply-patch+yaml",
  ];
  if (!real.includes(type)) throw unsupportedMediaType(`${UNKNOWN_FORMAT}: ${real.join(", ")}`);
  throw unsupportedMediaType(
    `the sandbox applies merge patches only: send application/merge-patch+json instead of ${type}`,
  );
}

/** Reads `fieldValidation` and `dryRun`. @throws StatusError 400 */
export function writeOptions({ method, query }: SandboxRequest): WriteOptions {
  const fieldValidation = query.get("fieldValidation") ?? "";
  return { fieldValidation: readFieldValidation(fieldValidation, method), isDryRun: query.get("dryRun") === "All" };
}

const OPTIONS: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({
    POST: "CreateOptions",
    PUT: "UpdateOptions",
    PATCH: "PatchOptions",
  }),
);

function readFieldValidation(text: string, method: string): FieldValidation {
  if (text === "") return "Warn";
  if (text === "Ignore" || text === "Warn" || text === "Strict") return text;
  const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "", "Ignore", "Strict", "Warn"`;
  const cause = { reason: "FieldValueNotSupported", message, field: "fieldValidation" };
  throw new StatusError(
    422,
    "Invalid",
    `${OPTIONS.get(method)}.meta.k8s.io "" is invalid: fieldValidation: ${message}`,
    {
      group: "meta.k8s.io",
      kind: OPTIONS.get(method),
      causes: [cause],
    },
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
