import { ANY_TTL, type TTLRules } from "../../model/dns.ts";

/** The TTLs that DigitalOcean takes (documented, verified 2026-08-07). */
export const TTL_RULES: TTLRules = { ...ANY_TTL, minimumSeconds: 30 };
