import type { DNSRecordSetSpec, MatchSpec, Pool, PoolSpec, Toleration } from "../../model/resource.ts";
import { decodeMeta } from "./decode-meta.ts";
import { decodePoolStatus } from "./decode-pool-status.ts";
import { asRecord } from "./json-value.ts";
import { SpecReader } from "./spec-reader.ts";

/**
 * A FloatingIPPool with its spec defaulted and its status read leniently. Wrong parts of the spec take their defaults and
 * are named in `decodeError`, all of them in one line; the planner then leaves the pool alone. Undefined only for something
 * without a name. Never throws.
 */
export function decodePool(object: unknown): Pool | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const pool = asRecord(object);
  const problems: string[] = [];
  const spec = decodeSpec(new SpecReader(pool?.["spec"], "spec", problems));
  const decoded = { meta, spec, status: decodePoolStatus(pool?.["status"]) };
  return problems.length === 0 ? decoded : { ...decoded, decodeError: problems.join("; ") };
}

function decodeSpec(spec: SpecReader): PoolSpec {
  return {
    provider: spec.text("provider"),
    region: spec.text("region"),
    // Anything that is no text stays, as JSON, so that it is refused as an entry and the other entries are served.
    ips: spec.list("ips").map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry))),
    desiredIPs: spec.integer("desiredIPs"),
    assignmentCoolOffSeconds: spec.number("assignmentCoolOffSeconds"),
    gracePeriodSeconds: spec.number("gracePeriodSeconds"),
    match: decodeMatch(spec.object("match")),
    ...(spec.has("dnsRecordSet") ? { dnsRecordSet: decodeDNSRecordSet(spec.object("dnsRecordSet")) } : {}),
    reclaimPolicy: spec.word("reclaimPolicy", ["Retain", "Delete"], "Retain"),
    foreignHolder: spec.word("foreignHolder", ["Hold", "TakeOver"], "Hold"),
    suspend: spec.flag("suspend"),
  };
}

function decodeMatch(match: SpecReader): MatchSpec {
  return {
    nodeLabel: match.text("nodeLabel"),
    podNamespace: match.text("podNamespace"),
    podLabel: match.text("podLabel"),
    tolerations: match.objects("tolerations").map(decodeToleration),
  };
}

function decodeToleration(toleration: SpecReader): Toleration {
  const key = toleration.text("key");
  const operator = toleration.text("operator");
  const value = toleration.text("value");
  const effect = toleration.text("effect");
  const tolerationSeconds = toleration.signedNumber("tolerationSeconds");
  return {
    ...(key === "" ? {} : { key }),
    ...(operator === "" ? {} : { operator }),
    ...(value === "" ? {} : { value }),
    ...(effect === "" ? {} : { effect }),
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  };
}

function decodeDNSRecordSet(dns: SpecReader): DNSRecordSetSpec {
  return {
    provider: dns.text("provider", "digitalocean"),
    zone: dns.text("zone"),
    recordName: dns.text("recordName"),
    ttlSeconds: dns.integer("ttl", 60),
  };
}
