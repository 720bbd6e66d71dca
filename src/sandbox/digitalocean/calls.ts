import { type APIObject, pageOf, Refusal } from "../provider.ts";
import type { Cloud } from "./cloud.ts";

/** 404, the same for every kind of thing. */
export function notFound(): Refusal {
  return new Refusal(404, "not_found", "The resource you requested could not be found.");
}

/** 422 with its one machine-readable word; only the message says why. */
export function unprocessable(message: string): Refusal {
  return new Refusal(422, "unprocessable_entity", message);
}

/** 422 for an address or droplet that another action or event has not let go of yet. */
export function pendingEvent(subject: "Droplet" | "The reserved IP"): Refusal {
  return unprocessable(`${subject} already has a pending event.`);
}

/** Who calls, and when. */
export interface Caller {
  readonly nowMs: number;
  /** `*` = every scope. */
  readonly scopes: ReadonlySet<string>;
}

/** True when the caller's token has this scope. */
export function hasScope(caller: Caller, scope: string): boolean {
  return caller.scopes.has("*") || caller.scopes.has(scope);
}

/** @throws Refusal 403 when the caller's token has none of these scopes, each of which is enough. */
export function need(caller: Caller, ...scopes: readonly string[]): void {
  if (!scopes.some((scope) => hasScope(caller, scope)))
    throw new Refusal(403, "Forbidden", "You are not authorized to perform this operation");
}

/** What a route is given. */
export interface RouteCall {
  readonly cloud: Cloud;
  readonly caller: Caller;
  readonly body: unknown;
  readonly query: URLSearchParams;
  /** The whole address of the request, without query. */
  readonly url: string;
}

/** What a route answers when nothing is wrong. */
export interface RouteAnswer {
  readonly status: number;
  readonly body?: APIObject;
}

/** One page of a list as the API sends it: `KEY`, `links` with absolute addresses, `meta.total`; 20 items, 200 at most. */
export function listAnswer(
  key: string,
  items: readonly APIObject[],
  { url, query }: Pick<RouteCall, "url" | "query">,
): RouteAnswer {
  const { page, size, pages, total, items: shown } = pageOf(items, query, { usual: 20, most: 200 });
  const last = Math.max(1, pages);
  const at = (number: number): string => `${url}?page=${number}&per_page=${size}`;
  const back = page > 1 ? { first: at(1), prev: at(Math.min(page - 1, last)) } : {};
  const forward = page < last ? { next: at(page + 1), last: at(last) } : {};
  const links = page > 1 || page < last ? { pages: { ...back, ...forward } } : {};
  return { status: 200, body: { [key]: shown, links, meta: { total } } };
}
