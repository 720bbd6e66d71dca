/** A DNS record of a zone. */
export interface RecordState {
  id: string;
  /** The full name: lower case, without trailing dot. */
  name: string;
  type: RecordType;
  content: string;
  /** Seconds; 1 = automatic. */
  ttl: number;
  proxied: boolean;
  /** `""` = none. */
  comment: string;
  tags: string[];
  /** RFC 3339, like every time here. */
  created_on: string;
  modified_on: string;
}

/** The types of records that the emulated API knows. */
export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT";

/** A zone with its records. */
export interface ZoneState {
  /** 32 hexadecimal digits. */
  id: string;
  name: string;
  status: "initializing" | "pending" | "active" | "moved";
  /** In the order they were made. */
  dns_records: RecordState[];
}

/** What a token may do in a zone; `dns:edit` lets it read records too. */
export type Permission = "zone:read" | "dns:read" | "dns:edit";

/** The limits of the account, those of the Free plan by default. */
export interface AccountSettings {
  requests_per_5_minutes: number;
  records_per_zone: number;
  changes_per_batch: number;
  comment_characters: number;
  /** 0 = the plan has no tags. */
  tags_per_record: number;
}

/** The emulated account: plain, serialisable, and exactly what `cloudflare.yaml` holds. */
export interface AccountState {
  zones: ZoneState[];
  /** Token → zone (its name, its id, or `*`) → permissions. Empty: every token is accepted and may do everything. */
  tokens: Record<string, Record<string, Permission[]>>;
  settings: AccountSettings;
  /** The counter from which record ids are made. */
  next: { record: number };
}
