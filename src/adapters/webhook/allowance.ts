/** How many calls a webhook gets from flipop. Nobody knows how many its provider takes, and one may cost a hundred there: it is our own modesty. */
export const ALLOWANCE = { calls: 600, ms: 300_000 } as const;
