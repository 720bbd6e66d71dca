/** How many calls DigitalOcean takes from a token: 250 a minute, beside 5,000 an hour. @see https://docs.digitalocean.com/reference/api/ (verified 2026-11-21) */
export const ALLOWANCE = { calls: 250, ms: 60_000 } as const;
