import { zoneIDOf } from "../../src/sandbox/cloudflare/account-state.ts";
import type { DNSName } from "../fake/dns-account.ts";
import { generate } from "./generate.ts";
import type { History } from "./history.ts";

const ZONES = ["example.com", "example.org"];

/** Returns the history of {@link generate} with another provider of names in the place of Cloudflare, at which zones have no ids. */
export function historyElsewhere(seed: number, provider: Exclude<DNSName, "cloudflare">): History {
  const text = JSON.stringify(generate(seed)).replaceAll('"cloudflare"', `"${provider}"`);
  return JSON.parse(ZONES.reduce((result, zone) => result.replaceAll(zoneIDOf(zone), zone), text));
}
