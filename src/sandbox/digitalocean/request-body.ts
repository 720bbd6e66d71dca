import type { CreationRequest } from "./address-rules.ts";
import { unprocessable } from "./cloud-refusal.ts";
import type { RecordRequest } from "./record-rules.ts";

/** An asked-for action of an address. */
export type ActionRequest = { readonly type: "assign"; readonly droplet_id: number } | { readonly type: "unassign" };

/** The body of an action request. @throws CloudRefusal 422 for anything but `assign` with a droplet, or `unassign`. */
export function readAction(body: unknown): ActionRequest {
  const fields = fieldsOf(body);
  if (fields["type"] === "unassign") return { type: "unassign" };
  if (fields["type"] !== "assign") throw unprocessable("Type must be assign or unassign.");
  const dropletID = integer(fields, "droplet_id");
  if (dropletID === undefined) throw unprocessable("Droplet id must be given.");
  return { type: "assign", droplet_id: dropletID };
}

/** The body of a creation; what goes together is decided by the account. @throws CloudRefusal 422 for a wrong type. */
export function readCreation(body: unknown): CreationRequest {
  const fields = fieldsOf(body);
  const dropletID = integer(fields, "droplet_id");
  const region = text(fields, "region");
  const projectID = text(fields, "project_id");
  return {
    ...(dropletID === undefined ? {} : { droplet_id: dropletID }),
    ...(region === undefined ? {} : { region }),
    ...(projectID === undefined ? {} : { project_id: projectID }),
  };
}

/** The body about a record, where null is as good as absent; what a record needs is decided by its domain. @throws CloudRefusal 422 for a wrong type. */
export function readRecordRequest(body: unknown): RecordRequest {
  const fields = Object.fromEntries(Object.entries(fieldsOf(body)).filter(([, value]) => value !== null));
  const texts = (["type", "name", "data", "tag"] as const).map((name) => [name, text(fields, name)]);
  const numbers = (["ttl", "priority", "port", "weight", "flags"] as const).map((name) => [
    name,
    integer(fields, name),
  ]);
  const given = [...texts, ...numbers].filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as RecordRequest;
}

function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw unprocessable("The request body must be a JSON object.");
  }
  return body as Readonly<Record<string, unknown>>;
}

function integer(fields: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw unprocessable(`${name} must be an integer.`);
  return value;
}

function text(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw unprocessable(`${name} must be a string.`);
  return value;
}
