import type { APIObject } from "./api-json.ts";

/**
 * One page of a list: `result` and `result_info`. `page` from 1, `per_page` from 1 to `most`; what lies outside is brought
 * inside. A page after the last is empty.
 */
export function pageOf<T>(
  items: readonly T[],
  query: URLSearchParams,
  { usual, most }: { readonly usual: number; readonly most: number },
): { readonly items: readonly T[]; readonly info: APIObject } {
  const size = within(query.get("per_page"), usual, most);
  const page = within(query.get("page"), 1, Number.MAX_SAFE_INTEGER);
  const shown = items.slice((page - 1) * size, page * size);
  const info = {
    page,
    per_page: size,
    count: shown.length,
    total_count: items.length,
    total_pages: Math.ceil(items.length / size),
  };
  return { items: shown, info };
}

function within(text: string | null, fallback: number, most: number): number {
  const number = text === null || !/^\d+$/.test(text) ? fallback : Number(text);
  return Math.min(most, Math.max(1, number));
}
