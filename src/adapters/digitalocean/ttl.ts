import { ANY_TTL, type TTLRules } from "../../model/dns.ts";

/**
 * The TTLs that DigitalOcean takes (documented, verified 2026-08-07). Writing the TTL of a record rewrites those of all records of its name.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/issues/1012 (verified 2026-08-07)
 */
export const TTL_RULES: TTLRules = { ...ANY_TTL, minimumSeconds: 30, isOfName: true };
