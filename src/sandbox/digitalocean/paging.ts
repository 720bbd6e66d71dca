import type { APIObject } from "./api-json.ts";

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
