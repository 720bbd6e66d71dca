import { createHash } from "node:crypto";
import { BadValue, checked, fileSchema } from "../yaml-file.ts";

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
  /** Whose every token is; absent = a user's. */
  token_of?: "user" | "account";
  /** When every token ends; absent = never. */
  token_expires_on?: string;
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

const count = { type: "integer", minimum: 0 } as const;
const text = { type: "string" } as const;
const id = { type: "string", pattern: "^[0-9a-f]{32}$" } as const;
const time = { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" } as const;
/** For records that a person wrote without saying when. */
const longAgo = "2026-01-01T00:00:00.000000Z";

function object(properties: Readonly<Record<string, unknown>>, required: readonly string[] = []): object {
  return { type: "object", additionalProperties: false, properties, required };
}

const record = {
  id,
  name: text,
  type: { type: "string", enum: ["A", "AAAA", "CNAME", "MX", "NS", "TXT"], default: "A" },
  content: text,
  ttl: { ...count, minimum: 1, default: 1 },
  proxied: { type: "boolean", default: false },
  comment: { ...text, default: "" },
  tags: { type: "array", items: text, default: [] },
  created_on: { ...time, default: longAgo },
  modified_on: { ...time, default: longAgo },
};

const zone = {
  id,
  name: text,
  status: { type: "string", enum: ["initializing", "pending", "active", "moved"], default: "active" },
  dns_records: { type: "array", items: object(record, ["name", "content"]), default: [] },
};

const permissions = { type: "array", items: { type: "string", enum: ["zone:read", "dns:read", "dns:edit"] } } as const;
const grants = { type: "object", additionalProperties: permissions } as const;

/**
 * The limits of the Free plan.
 * @see https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes/ verified 2026-11-21
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ verified 2026-11-21
 */
const settings = {
  requests_per_5_minutes: { ...count, default: 1200 },
  records_per_zone: { ...count, default: 200 },
  changes_per_batch: { ...count, default: 200 },
  comment_characters: { ...count, default: 100 },
  tags_per_record: { ...count, default: 0 },
  token_of: { type: "string", enum: ["user", "account"] },
  token_expires_on: time,
};

/** JSON Schema of `cloudflare.yaml`, with every default that does not depend on something else in the file. Required are only the names of zones, and name and content of records. */
const validate = fileSchema(
  object({
    zones: { type: "array", items: object(zone, ["name"]), default: [] },
    tokens: { type: "object", additionalProperties: grants, default: {} },
    settings: { ...object(settings), default: {} },
    next: { ...object({ record: { ...count, minimum: 1, default: 1 } }), default: {} },
  }),
);

/**
 * The whole state for what a person wrote: `{zones: [{name: example.com}]}` is enough. A zone's missing id comes from its
 * name, a record's from the counter; relative record names are completed. Records may be what the API would refuse (twice
 * the same, a low TTL): somebody may have made them long ago. The input is not changed.
 * @throws BadValue
 */
export function completeAccount(input: unknown): AccountState {
  const state = checked<AccountState>(validate, input ?? {});
  state.zones = state.zones.map(completeZone);
  refuseTwins(["zones"], state.zones);
  const used = new Set(state.zones.flatMap((zone) => zone.dns_records.map((record) => record.id)));
  for (const [position, zone] of state.zones.entries()) {
    zone.dns_records = zone.dns_records.map((record) => completeRecord(state, zone, record, used));
    refuseTwins(["zones", position, "dns_records"], zone.dns_records);
  }
  return state;
}

/** A new record id: 32 hexadecimal digits that no record has had. Counts on in the state. */
export function newRecordID(state: AccountState): string {
  const id = state.next.record.toString(16).padStart(32, "0");
  state.next.record += 1;
  return id;
}

/** Returns the id that a zone gets where none is given, from its name in lower case without trailing dot: 32 hexadecimal digits. */
export function zoneIDOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}

function completeZone({ id, name, ...rest }: Partial<ZoneState> & Omit<ZoneState, "id">): ZoneState {
  const bare = name.toLowerCase().replace(/\.$/, "");
  return { id: id ?? zoneIDOf(bare), name: bare, ...rest };
}

function completeRecord(
  state: AccountState,
  zone: ZoneState,
  { id, name, ...rest }: Partial<RecordState> & Omit<RecordState, "id">,
  used: ReadonlySet<string | undefined>,
): RecordState {
  let known = id ?? newRecordID(state);
  while (id === undefined && used.has(known)) known = newRecordID(state);
  return { id: known, name: fullName(name, zone.name), ...rest };
}

function refuseTwins(where: readonly (string | number)[], items: readonly { readonly id: string }[]): void {
  const twin = items.find(({ id }, at) => items.findIndex((other) => other.id === id) !== at);
  if (twin !== undefined) throw new BadValue(where, `must not have id ${twin.id} twice`);
}

/** The full name of a record, lower case, without trailing dot: `@`, relative names and names outside the zone are completed by the zone's name. */
export function fullName(name: string, zone: string): string {
  const bare = name.toLowerCase().replace(/\.$/, "");
  if (bare === "@" || bare === "" || bare === zone) return zone;
  return bare.endsWith(`.${zone}`) ? bare : `${bare}.${zone}`;
}

/** Head of a new `cloudflare.yaml`. */
export const ACCOUNT_HEADER: string = `The Cloudflare account of this sandbox. Edit it at any time: it is read again before the next request.
Try: change the content or ttl of a record · proxied: true · comment: "kept by people" · remove a record or a zone ·
settings.records_per_zone: 3 · settings.requests_per_5_minutes: 10 (then 429 for five minutes) ·
tokens: {my-token: {example.com: [zone:read, dns:edit]}} ("*" = every zone; permissions zone:read, dns:read, dns:edit; no
token at all = any token is accepted). Missing fields get defaults: "zones: [{name: example.com}]" is enough.
Comments further down are lost when it is written.`;
