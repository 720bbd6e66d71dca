/** How many calls Cloudflare takes from a user. @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ (verified 2026-11-21) */
export const ALLOWANCE = { calls: 1200, ms: 300_000 } as const;
