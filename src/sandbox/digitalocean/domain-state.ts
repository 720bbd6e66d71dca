/** A record of an emulated domain. */
export interface RecordState {
  id: number;
  type: RecordType;
  /** Relative to the domain, `@` for the domain itself: `www.example.com` in `example.com` is `www.example.com.example.com`. */
  name: string;
  data: string;
  ttl: number;
  priority?: number | null;
  port?: number | null;
  weight?: number | null;
  flags?: number | null;
  tag?: string | null;
}

/** A domain of the emulated account, with exactly the records that are written in it. */
export interface DomainState {
  name: string;
  ttl: number;
  records: RecordState[];
}

/** The types a record may have; an SOA record is made with its domain and not by a request. */
export const recordTypes = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "SOA", "SRV", "TXT"] as const;

/** One of {@link recordTypes}. */
export type RecordType = (typeof recordTypes)[number];

/** The whole name of a record, in lower case. */
export function recordFQDN(domain: Pick<DomainState, "name">, record: Pick<RecordState, "name">): string {
  const zone = domain.name.toLowerCase();
  return record.name === "@" ? zone : `${record.name.toLowerCase()}.${zone}`;
}
