import type { RecordSet, RecordSetSpec } from "../../model/resource.ts";
import { decodeDNSSpec } from "./decode-dns-spec.ts";
import { decodeMatch } from "./decode-match.ts";
import { decodeObject } from "./decode-object.ts";
import { decodeRecordSetStatus } from "./decode-record-set-status.ts";
import type { SpecReader } from "./spec-reader.ts";

/**
 * A NodeDNSRecordSet, see {@link decodeObject}. A provider may stand in two places, so neither gets a default here, and an
 * absent `dnsRecordSet` is one without zone and name: both are the planner's to judge. Never throws.
 */
export function decodeRecordSet(object: unknown): RecordSet | undefined {
  return decodeObject(object, { spec: decodeSpec, status: decodeRecordSetStatus });
}

function decodeSpec(spec: SpecReader): RecordSetSpec {
  return {
    provider: spec.text("provider"),
    dnsRecordSet: decodeDNSSpec(spec.object("dnsRecordSet"), ""),
    addressType: spec.text("addressType", "ExternalIP"),
    gracePeriodSeconds: spec.seconds("gracePeriodSeconds"),
    match: decodeMatch(spec.object("match")),
    whenEmpty: spec.word("whenEmpty", ["Keep", "Delete"], "Keep"),
    reclaimPolicy: spec.word("reclaimPolicy", ["Retain", "Delete"], "Retain"),
    suspend: spec.flag("suspend"),
  };
}
