import type { ErrorObject } from "ajv";

/** What ajv found first, for people: `droplets[0].id must be integer`. `whole` names the value itself. */
export function schemaErrorText(error: ErrorObject | undefined, whole: string): string {
  const path = (error?.instancePath ?? "")
    .replace(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".")
    .replace(/^\./, "");
  const unknown: unknown = error?.params["additionalProperty"];
  const allowed: unknown = error?.params["allowedValues"];
  const detail = typeof unknown === "string" ? `: ${unknown}` : Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
  return `${path === "" ? whole : path} ${error?.message ?? "is invalid"}${detail}`;
}
