import type { DNSRecordSetSpec } from "../../model/resource.ts";
import type { SpecReader } from "./spec-reader.ts";

/** `spec.dnsRecordSet`, all of it defaulted; `defaultProvider` stands for an absent one. */
export function decodeDNSSpec(dns: SpecReader, defaultProvider: string): DNSRecordSetSpec {
  return {
    provider: dns.text("provider", defaultProvider),
    zone: dns.text("zone"),
    recordName: dns.text("recordName"),
    ttlSeconds: dns.integer("ttl", 60),
  };
}
