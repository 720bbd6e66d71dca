// What is known of Hetzner Cloud before its adapter is loaded.

import type { TTLRules } from "../../model/dns.ts";

/** How many calls Hetzner allows a project in an hour; one comes back each second (documented, read 2026-11-22). */
export const ALLOWANCE = { calls: 3600, ms: 3_600_000 } as const;

/** The TTLs that Hetzner takes (documented, read 2026-11-22). */
export const TTL_RULES: TTLRules = { minimumSeconds: 60, maximumSeconds: 2_147_483_647 };

/**
 * Location → network zone (documented, read 2026-11-22). A floating IP "can be assigned to a server in any location later on"; no test of Hetzner shows one in another network
 * zone, so flipop sends none there. A location that is not here is taken for a network zone of its own.
 */
export const NETWORK_ZONES: ReadonlyMap<string, string> = new Map([
  ["fsn1", "eu-central"],
  ["nbg1", "eu-central"],
  ["hel1", "eu-central"],
  ["ash", "us-east"],
  ["hil", "us-west"],
  ["sin", "ap-southeast"],
]);
