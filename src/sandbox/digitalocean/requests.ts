import type { CreationRequest } from "./address-rules.ts";
import type { Cloud } from "./cloud.ts";
import type { RecordRequest } from "./domains.ts";
import { type Caller, unprocessable } from "./refusals.ts";
import type { APIObject } from "./routes.ts";

/** An asked-for action of an address. */
type ActionRequest = { readonly type: "assign"; readonly droplet_id: number } | { readonly type: "unassign" };

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

/** What a route is given. */
export interface RouteCall {
  readonly cloud: Cloud;
  readonly caller: Caller;
  /** The variable parts of the path, in order. */
  readonly parts: readonly string[];
  readonly body: unknown;
  readonly query: URLSearchParams;
  /** `http://HOST`, for the links of the answer. */
  readonly origin: string;
  /** The whole address of the request, without query. */
  readonly url: string;
}

/** What a route answers when nothing is wrong. */
export interface RouteAnswer {
  readonly status: number;
  readonly body?: APIObject;
}

/** One operation of the API: the path's groups become the parts of the call. */
export type Route = readonly [method: string, path: RegExp, answer: (call: RouteCall) => RouteAnswer];

/** 200 with this body. */
export function ok(body: APIObject): RouteAnswer {
  return { status: 200, body };
}

/**
 * One page of a list as the API sends it: `KEY`, `links` with absolute addresses, `meta.total`. `page` from 1 (default 1), `per_page` from
 * 1 to 200 (default 20); what lies outside is brought inside. A page after the last is empty.
 */
export function pageOf(
  key: string,
  items: readonly APIObject[],
  request: { readonly url: string; readonly query: URLSearchParams },
): APIObject {
  const size = within(request.query.get("per_page"), 20, 200);
  const page = within(request.query.get("page"), 1, Number.MAX_SAFE_INTEGER);
  const last = Math.max(1, Math.ceil(items.length / size));
  const at = (number: number): string => `${request.url}?page=${number}&per_page=${size}`;
  const back = page > 1 ? { first: at(1), prev: at(Math.min(page - 1, last)) } : {};
  const forward = page < last ? { next: at(page + 1), last: at(last) } : {};
  const pages = { ...back, ...forward };
  return {
    [key]: items.slice((page - 1) * size, page * size),
    links: Object.keys(pages).length === 0 ? {} : { pages },
    meta: { total: items.length },
  };
}

function within(text: string | null, fallback: number, most: number): number {
  const number = text === null || !/^\d+$/.test(text) ? fallback : Number(text);
  return Math.min(most, Math.max(1, number));
}
