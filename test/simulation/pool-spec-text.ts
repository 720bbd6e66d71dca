/** `spec.dnsRecordSet` as a manifest has it. */
export interface DNSSpecText {
  readonly provider?: string;
  readonly zone: string;
  readonly recordName: string;
  readonly ttl?: number;
}

/** The spec of a pool as a manifest has it, with the fields the simulator plays with. */
export interface PoolSpecText {
  readonly provider: string;
  readonly ipFamily?: "IPv4" | "IPv6";
  readonly region?: string;
  readonly ips?: readonly string[];
  readonly desiredIPs?: number;
  readonly assignmentCoolOffSeconds?: number;
  readonly gracePeriodSeconds?: number;
  readonly reclaimPolicy?: "Retain" | "Delete";
  readonly foreignHolder?: "Hold" | "TakeOver";
  readonly suspend?: boolean;
  readonly dnsRecordSet?: DNSSpecText;
  readonly match?: { readonly nodeLabel?: string; readonly podLabel?: string };
}

/** The spec of a record set as a manifest has it, with the fields the simulator plays with. */
export interface RecordSetSpecText {
  readonly provider?: string;
  readonly dnsRecordSet: DNSSpecText;
  readonly addressType?: string;
  readonly ipFamilies?: readonly string[];
  readonly whenEmpty?: "Keep" | "Delete";
  readonly gracePeriodSeconds?: number;
  readonly reclaimPolicy?: "Retain" | "Delete";
  readonly suspend?: boolean;
  readonly match?: { readonly nodeLabel?: string; readonly podLabel?: string };
}
