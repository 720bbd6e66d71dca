import { type DNSFacts, type RecordsFact, recordsKey } from "../../model/dns.ts";
import { ProviderError } from "../../model/errors.ts";
import type { RetryStatus } from "../../model/resource.ts";
import type { Outcome } from "../../model/run.ts";
import { rateLimitIn } from "../rate-limit-in.ts";
import { retryClassOf } from "../retry-class.ts";
import { withoutRetries, withRetry } from "../retry-list.ts";
import { dnsSubject } from "./publisher.ts";

/** What is known of the DNS providers after these outcomes. Pure. */
export function foldDNS(
  dns: ReadonlyMap<string, DNSFacts>,
  outcomes: readonly Outcome[],
  skewMs: number,
): ReadonlyMap<string, DNSFacts> {
  return new Map([...dns].map(([name, facts]) => [name, foldFacts(facts, outcomes.filter(isAt(name)), skewMs)]));
}

function isAt(name: string): (outcome: Outcome) => boolean {
  return ({ action }) => "dnsProvider" in action && action.dnsProvider === name;
}

function foldFacts(facts: DNSFacts, outcomes: readonly Outcome[], skewMs: number): DNSFacts {
  const records = new Map<string, RecordsFact>(facts.records);
  for (const { action, records: fact } of outcomes) {
    if ("dnsProvider" in action && fact !== undefined) records.set(recordsKey(action.zone, action.fqdn), fact);
  }
  const limit = rateLimitIn(outcomes, skewMs);
  return limit === undefined ? { ...facts, records } : { ...facts, records, unusable: limit };
}

/** The retries of an object with the outcomes of its DNS writes entered; the same list when there are none. Pure. */
export function foldDNSRetries(
  retries: readonly RetryStatus[],
  outcomes: readonly Outcome[],
  nowMs: number,
): readonly RetryStatus[] {
  return outcomes.reduce((list, outcome) => {
    const { action } = outcome;
    if (!("dnsProvider" in action)) return list;
    const subject = dnsSubject(action.fqdn);
    if (outcome.outcome === "applied") return withoutRetries(list, [subject]);
    if (outcome.outcome !== "failed") return list;
    const { error } = outcome;
    if (error instanceof ProviderError && error.failure === "rate-limited") return list;
    return withRetry(list, { subject, retryClass: retryClassOf(error), error: error.message }, nowMs);
  }, retries);
}
