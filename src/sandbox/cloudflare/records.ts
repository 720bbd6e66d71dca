import { isIPv6 } from "node:net";
import { canonicalIPv4 } from "../../model/address.ts";
import { formatTime } from "../../model/time.ts";
import {
  type AccountSettings,
  type AccountState,
  fullName,
  newRecordID,
  type RecordState,
  type RecordType,
  type ZoneState,
} from "./account-state.ts";
import { invalidRecord, noRecord, refusal } from "./routes.ts";

/** Changes of a zone's records that take effect together, with {@link commit}, or not at all. Every change throws APIRefusal when it is not allowed. */
export class RecordEdits {
  private readonly state: AccountState;
  private readonly zone: ZoneState;
  private readonly time: string;
  private records: readonly RecordState[];

  constructor(state: AccountState, zone: ZoneState, nowMs: number) {
    this.state = state;
    this.zone = zone;
    this.records = zone.dns_records;
    // Cloudflare's times have microseconds.
    this.time = formatTime(nowMs).replace("Z", "000Z");
  }

  /** Adds a record and returns it. */
  create(draft: RecordDraft): RecordState {
    const { settings } = this.state;
    if (this.records.length >= settings.records_per_zone) throw refusal(400, 81_045, "Record quota exceeded.");
    const fields = checkedFields(draft, this.zone, settings);
    checkNeighbours(fields, this.records);
    const record = { id: newRecordID(this.state), ...fields, created_on: this.time, modified_on: this.time };
    this.records = [...this.records, record];
    return record;
  }

  /** Changes the fields that the draft mentions. */
  patch(id: string, draft: RecordDraft): RecordState {
    return this.replace(id, { ...this.known(id), ...draft });
  }

  /** Sets every field; what the draft does not mention goes back to its default, comment and tags too. */
  put(id: string, draft: RecordDraft): RecordState {
    this.known(id);
    return this.replace(id, draft);
  }

  /** Takes a record away and returns it as it was. */
  remove(id: string): RecordState {
    const record = this.known(id);
    this.records = this.records.filter((other) => other.id !== id);
    return record;
  }

  /** Makes the changes those of the zone. */
  commit(): void {
    this.zone.dns_records = [...this.records];
  }

  private replace(id: string, draft: RecordDraft): RecordState {
    const before = this.known(id);
    const others = this.records.filter((other) => other.id !== id);
    const fields = checkedFields(draft, this.zone, this.state.settings);
    checkNeighbours(fields, others);
    const record = { id, ...fields, created_on: before.created_on, modified_on: this.time };
    this.records = this.records.map((other) => (other.id === id ? record : other));
    return record;
  }

  private known(id: string): RecordState {
    const record = this.records.find((other) => other.id === id);
    if (record === undefined) throw noRecord();
    return record;
  }
}

/** The fields of a record that a request may set; absent = not mentioned. */
export type RecordDraft = Partial<Pick<RecordState, "name" | "content" | "ttl" | "proxied" | "comment" | "tags">> & {
  readonly type?: string;
};

/** The object in a request body. @throws APIRefusal 400 when it is none */
export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw refusal(400, 6007, "Malformed JSON in request body");
  }
  return body as Readonly<Record<string, unknown>>;
}

/** What a request body says about a record; read-only and unknown fields are ignored. @throws APIRefusal 400 for a wrong type */
export function readDraft(body: unknown): RecordDraft {
  const given = Object.entries(fieldsOf(body)).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.flatMap(([field, value]) => {
      const read = readers.get(field);
      return read === undefined ? [] : [[field, read(value, field)]];
    }),
  );
}

const readers: ReadonlyMap<string, (value: unknown, field: string) => unknown> = new Map<
  string,
  (value: unknown, field: string) => unknown
>(
  Object.entries({
    name: textOf,
    type: textOf,
    content: textOf,
    // null takes the comment away.
    comment: (value, field) => (value === null ? "" : textOf(value, field)),
    ttl(value) {
      if (!Number.isInteger(value)) throw invalidTTL();
      return value;
    },
    proxied(value) {
      if (typeof value !== "boolean") throw invalidRecord(9003, "Invalid proxied value.");
      return value;
    },
    tags(value) {
      if (Array.isArray(value) && value.every((tag) => typeof tag === "string")) return value;
      throw invalidRecord(9300, "Invalid tags. Must be a list of strings.");
    },
  }),
);

/** 400 for a TTL out of range; the range is not that of Enterprise zones. */
function invalidTTL(): Error {
  return invalidRecord(9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.");
}

function textOf(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw invalidRecord(9000, `Invalid ${field}. Must be a string.`);
}

const proxiableTypes: readonly string[] = ["A", "AAAA", "CNAME"] satisfies readonly RecordType[];
const types: readonly string[] = ["A", "AAAA", "CNAME", "MX", "NS", "TXT"] satisfies readonly RecordType[];

/** The fields of a record that requests set, complete and valid by themselves. */
type RecordFields = Omit<RecordState, "id" | "created_on" | "modified_on">;

/**
 * The record that a draft makes, its name completed; a proxied one has an automatic TTL. Codes 9021, 9005 and 9041 are
 * Cloudflare's; those of the other complaints are made up.
 * @throws APIRefusal 400 (1004 with a chain)
 */
function checkedFields(draft: RecordDraft, zone: ZoneState, settings: AccountSettings): RecordFields {
  const { name = "", type = "", content = "", proxied = false, comment = "", tags = [] } = draft;
  if (!isType(type)) throw invalidRecord(9002, "Invalid DNS record type.");
  const full = fullName(name, zone.name);
  if (name === "" || !isName(full)) throw invalidRecord(9000, "DNS name is invalid.");
  checkContent(type, content);
  const ttl = proxied ? 1 : (draft.ttl ?? 1);
  if (ttl !== 1 && (ttl < 60 || ttl > 86_400)) throw invalidTTL();
  if (proxied && !proxiableTypes.includes(type)) {
    throw invalidRecord(9041, "Invalid proxied mode. Record cannot be proxied");
  }
  checkNotes(comment, tags, settings);
  return { name: full, type, content, ttl, proxied, comment, tags: [...tags] };
}

/**
 * Checks that a record can stand beside the others of its zone.
 * @throws APIRefusal 400: 81053 where a CNAME meets other records, 81058 for an identical record, 81057 for one that differs only in TTL or proxying
 */
function checkNeighbours(fields: RecordFields, others: readonly RecordState[]): void {
  const sameName = others.filter((other) => other.name === fields.name);
  const clash = sameName.some(
    (other) =>
      proxiableTypes.includes(other.type) &&
      proxiableTypes.includes(fields.type) &&
      (other.type === "CNAME" || fields.type === "CNAME"),
  );
  if (clash) throw refusal(400, 81_053, "An A, AAAA, or CNAME record with that host already exists.");
  const twin = sameName.find((other) => other.type === fields.type && other.content === fields.content);
  if (twin === undefined) return;
  const isIdentical = twin.ttl === fields.ttl && twin.proxied === fields.proxied;
  throw isIdentical
    ? refusal(400, 81_058, "An identical record already exists.")
    : refusal(400, 81_057, "The record already exists.");
}

function checkNotes(comment: string, tags: readonly string[], settings: AccountSettings): void {
  const { comment_characters: longest, tags_per_record: most } = settings;
  if (comment.length > longest || /[\r\n]/.test(comment)) {
    throw invalidRecord(9301, `Invalid comment. At most ${longest} characters in one line.`);
  }
  if (tags.length > most) throw invalidRecord(9302, `At most ${most} tags are allowed on this plan.`);
}

function checkContent(type: RecordType, content: string): void {
  if (type === "A" && canonicalIPv4(content) === undefined) {
    throw invalidRecord(9005, "Content for A record is invalid. Must be a valid IPv4 address.");
  }
  if (type === "AAAA" && !isIPv6(content)) {
    throw invalidRecord(9006, "Content for AAAA record is invalid. Must be a valid IPv6 address.");
  }
  if (content === "") throw invalidRecord(9007, `Content for ${type} record is invalid.`);
}

function isType(text: string): text is RecordType {
  return types.includes(text);
}

function isName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => /^(?:\*|[a-z0-9_-]{1,63})$/.test(label));
}
