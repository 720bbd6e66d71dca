import type { TTLRules } from "../../model/dns.ts";

/**
 * The TTLs that Cloudflare takes: 1 is its "automatic", else 60 s to a day.
 * @see https://developers.cloudflare.com/dns/manage-dns-records/reference/ttl/ (verified 2026-11-21)
 */
export const TTL_RULES: TTLRules & { readonly automaticSeconds: number } = {
  minimumSeconds: 60,
  maximumSeconds: 86_400,
  automaticSeconds: 1,
};
