import { zoneIDOf } from "../../src/sandbox/cloudflare/account-state.ts";
import { generate } from "./generate.ts";
import type { History } from "./history.ts";

const ZONES = ["example.com", "example.org"];

/** Returns the history of {@link generate} with a webhook in the place of Cloudflare. A webhook knows no ids of zones. */
export function webhookHistory(seed: number): History {
  const text = JSON.stringify(generate(seed)).replaceAll('"cloudflare"', '"webhook"');
  return JSON.parse(ZONES.reduce((result, zone) => result.replaceAll(zoneIDOf(zone), zone), text));
}
