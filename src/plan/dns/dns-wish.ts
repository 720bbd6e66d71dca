import { canonicalDNSName, canonicalZone } from "../../model/dns.ts";
import type { DNSRecordSetSpec, Pool, RecordSet } from "../../model/resource.ts";
import { capabilitiesOf } from "../provider-capabilities.ts";

/** Where an object asks to be published, as far as the spec alone tells. */
export type DNSWish = { readonly kind: "none" } | { readonly kind: "invalid"; readonly error: string } | NamedWish;

/** A wish whose provider is known and whose zone could be one. */
export interface NamedWish {
  readonly kind: "named";
  readonly provider: string;
  /** Lower case without trailing dot: a zone's name, or at Cloudflare its id. */
  readonly zone: string;
  /** As written. */
  readonly recordName: string;
  readonly ttlSeconds: number;
}

/** Where a pool asks to be published; nowhere once it is being deleted. The texts are the Go operator's. Pure. */
export function poolWish({ meta, spec }: Pick<Pool, "meta" | "spec">): DNSWish {
  if (spec.dnsRecordSet === undefined || meta.isDeleting) return { kind: "none" };
  return checkedWish(spec.dnsRecordSet.provider || DEFAULT_PROVIDER, spec.dnsRecordSet);
}

/** Where a record set asks to be published; nowhere once it is being deleted. Pure. */
export function recordSetWish({ meta, spec }: Pick<RecordSet, "meta" | "spec">): DNSWish {
  if (meta.isDeleting) return { kind: "none" };
  const { provider: inner } = spec.dnsRecordSet;
  if (spec.provider !== "" && inner !== "" && spec.provider !== inner)
    return { kind: "invalid", error: `provider "${spec.provider}" and dnsRecordSet.provider "${inner}" differ` };
  return checkedWish(spec.provider || inner || DEFAULT_PROVIDER, spec.dnsRecordSet);
}

const DEFAULT_PROVIDER = "digitalocean";

function checkedWish(provider: string, { zone, recordName, ttlSeconds }: DNSRecordSetSpec): DNSWish {
  const capabilities = capabilitiesOf(provider);
  if (capabilities === undefined) return { kind: "invalid", error: `unknown provider "${provider}"` };
  if (!capabilities.providesDNS) return { kind: "invalid", error: `provider "${provider}" does not provide DNS` };
  if (zone === "" || recordName === "") return { kind: "invalid", error: "invalid dnsRecordSet specification" };
  if (canonicalDNSName(zone) === undefined)
    return { kind: "invalid", error: `invalid dnsRecordSet specification: zone "${zone}" is not a DNS name` };
  return { kind: "named", provider, zone: canonicalZone(zone), recordName, ttlSeconds };
}
