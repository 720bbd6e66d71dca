import type { Observation } from "../../src/model/observation.ts";
import { REASONS } from "../../src/model/reason.ts";
import type { StoredFacts } from "../../src/report/overview.ts";
import { afterFailureWithDNS, beforePurchase } from "./dns-world.ts";
import { afterRoutedFailure, ROUTED_FACTS } from "./routed-world.ts";
import { afterFailure, aLease, NOW_MS } from "./world.ts";

/** Worlds in which much is to be told. */
export const WORLDS: Readonly<Record<string, () => Observation>> = {
  afterFailure,
  afterFailureWithDNS,
  afterRoutedFailure,
  beforePurchase,
};

/** Texts that the code looks up, and no API can put there: everything else may be anything. */
const LOOKED_UP: ReadonlySet<string> = new Set([
  "kind",
  "state",
  "outcome",
  "what",
  "status",
  "type",
  "provider",
  "dnsProvider",
]);

/** Returns the value with a text behind every text of it, the names of fields that are addresses included. */
export function poisoned<T>(value: T, poison: string): T {
  return poisonedPart(value, "", poison) as T;
}

function poisonedPart(part: unknown, key: string, poison: string): unknown {
  if (typeof part === "string") return LOOKED_UP.has(key) || part in REASONS ? part : part + poison;
  if (Array.isArray(part)) return part.map((inner) => poisonedPart(inner, key, poison));
  if (typeof part !== "object" || part === null || part instanceof Error) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, inner]) => [
      /^\d/.test(name) ? name + poison : name,
      poisonedPart(inner, name, poison),
    ]),
  );
}

/** Returns what status reads, with a text behind every text of it. */
export function storedFacts(poison: string): StoredFacts {
  const { pools, recordSets } = afterFailureWithDNS();
  const { routedIPs } = ROUTED_FACTS;
  const lease = aLease({ holder: "laptop" });
  const facts = { cluster: "https://k", nowMs: NOW_MS, pools, recordSets, routedIPs, leaseKey: "flipop/flipop", lease };
  return poisoned(facts, poison);
}
