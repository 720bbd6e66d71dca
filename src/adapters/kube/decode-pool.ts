import type { Pool, PoolSpec } from "../../model/resource.ts";
import { decodeDNSSpec } from "./decode-dns-spec.ts";
import { decodeMatch } from "./decode-match.ts";
import { decodeObject } from "./decode-object.ts";
import { decodePoolStatus } from "./decode-pool-status.ts";
import { jsonText } from "./json-value.ts";
import type { SpecReader } from "./spec-reader.ts";

/** A FloatingIPPool, see {@link decodeObject}. Never throws. */
export function decodePool(object: unknown): Pool | undefined {
  const pool = decodeObject(object, { spec: decodeSpec, status: decodePoolStatus });
  return pool && { kind: "pool", ...pool };
}

function decodeSpec(spec: SpecReader): PoolSpec {
  return {
    provider: spec.text("provider"),
    region: spec.text("region"),
    // Anything that is no text stays, as JSON, so that it is refused as an entry and the other entries are served.
    ips: spec.list("ips").map((entry) => (typeof entry === "string" ? entry : (jsonText(entry) ?? "[…]"))),
    desiredIPs: spec.integer("desiredIPs"),
    assignmentCoolOffSeconds: spec.seconds("assignmentCoolOffSeconds"),
    gracePeriodSeconds: spec.seconds("gracePeriodSeconds"),
    match: decodeMatch(spec.object("match")),
    ...(spec.has("dnsRecordSet") ? { dnsRecordSet: decodeDNSSpec(spec.object("dnsRecordSet"), "digitalocean") } : {}),
    reclaimPolicy: spec.word("reclaimPolicy", ["Retain", "Delete"], "Retain"),
    foreignHolder: spec.word("foreignHolder", ["Hold", "TakeOver"], "Hold"),
    suspend: spec.flag("suspend"),
  };
}
