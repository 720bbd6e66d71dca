/** One item of the `ratelimit` header. */
export interface RateLimitItem {
  /** Requests left. */
  readonly remaining: number;
  /** Seconds until there are more; absent when the header does not say. */
  readonly resetSeconds?: number;
}

/**
 * The items of a header like `"default";r=50;t=30`, in order; what makes no sense is left out.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ (verified 2026-11-21)
 */
export function rateLimitItems(header: string | null): readonly RateLimitItem[] {
  return (header ?? "").split(",").flatMap((item) => {
    const remaining = parameter(item, "r");
    const resetSeconds = parameter(item, "t");
    return remaining === undefined ? [] : [{ remaining, ...(resetSeconds === undefined ? {} : { resetSeconds }) }];
  });
}

/** The quota of the first item of a header like `"default";q=1200;w=300`; undefined when there is none. */
export function quotaOf(header: string | null): number | undefined {
  return parameter((header ?? "").split(",")[0] ?? "", "q");
}

function parameter(item: string, name: string): number | undefined {
  const value = new RegExp(`;\\s*${name}\\s*=\\s*(\\d{1,15})\\s*(?:;|$)`).exec(item)?.[1];
  return value === undefined ? undefined : Number(value);
}
