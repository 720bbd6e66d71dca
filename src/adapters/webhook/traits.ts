// What is known of webhooks before one is loaded.

/** What a webhook of external-dns is called where there is only one. */
export const WEBHOOK = "webhook";

/** Returns what people call the webhook with this name, within a sentence. */
export function webhookLabel(name: string): string {
  return name === WEBHOOK ? "the DNS webhook" : `the DNS webhook ${name}`;
}

/**
 * How many calls flipop makes to a webhook. Nobody knows how many its provider takes, and one call may cost a hundred there. So this is flipop's own limit. It leaves room to
 * fill 400 names in one run.
 */
export const ALLOWANCE = { calls: 1200, ms: 300_000 } as const;
