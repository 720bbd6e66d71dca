import { isIPv6 } from "node:net";
import { canonicalIPv4 } from "../../model/address.ts";
import { formatTime } from "../../model/time.ts";
import { type APIObject, membersOf, Refusal } from "../provider.ts";
import {
  type AccountSettings,
  type AccountState,
  fullName,
  newRecordID,
  type RecordState,
  type RecordType,
  type ZoneState,
} from "./account-state.ts";

/** The records of a batch's answer, in the order of the request: those deleted as they were, the others as they are. */
export type BatchResult = Readonly<Record<"deletes" | "patches" | "posts", readonly RecordState[]>>;

/**
 * Carries a batch out: deletes, patches, posts, in that order, all of it or nothing. Replacements (`puts`) are not emulated.
 * @throws Refusal of the first change that is not allowed, or 400 when there are too many
 * @see https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes/ verified 2026-11-21
 */
export function runBatch(state: AccountState, zone: ZoneState, body: unknown, nowMs: number): BatchResult {
  const fields = fieldsOf(body);
  const [deletes, patches, posts] = [listIn(fields, "deletes"), listIn(fields, "patches"), listIn(fields, "posts")];
  const most = state.settings.changes_per_batch;
  if (deletes.length + patches.length + posts.length > most)
    throw new Refusal(400, 81_070, `A batch may have at most ${most} changes.`);
  const edits = new RecordEdits(state, zone, nowMs);
  const result = {
    deletes: deletes.map((item) => edits.remove(idIn(item))),
    patches: patches.map((item) => edits.patch(idIn(item), readDraft(item))),
    posts: posts.map((item) => edits.create(readDraft(item))),
  };
  zone.dns_records = [...edits.records];
  return result;
}

/** 400 for a record that is not valid; `code` and `message` are the link of the chain that says why. */
export class InvalidRecord extends Refusal {
  readonly chain: readonly APIObject[];

  constructor(code: number, message: string) {
    super(400, 1004, "DNS Validation Error");
    this.chain = [{ code, message }];
  }
}

/** Changes of a zone's records on a copy of the list. Each throws a Refusal when it is not allowed. */
class RecordEdits {
  records: readonly RecordState[];
  readonly #state: AccountState;
  readonly #zone: ZoneState;
  readonly #time: string;

  constructor(state: AccountState, zone: ZoneState, nowMs: number) {
    this.#state = state;
    this.#zone = zone;
    this.records = zone.dns_records;
    // Cloudflare's times have microseconds.
    this.#time = formatTime(nowMs).replace("Z", "000Z");
  }

  create(draft: RecordDraft): RecordState {
    const { settings } = this.#state;
    if (this.records.length >= settings.records_per_zone) throw new Refusal(400, 81_045, "Record quota exceeded.");
    const fields = checkedFields(draft, this.#zone, settings);
    refuseNeighbours(fields, this.records);
    const record = { id: newRecordID(this.#state), ...fields, created_on: this.#time, modified_on: this.#time };
    this.records = [...this.records, record];
    return record;
  }

  /** Changes the fields that the draft mentions. */
  patch(id: string, draft: RecordDraft): RecordState {
    const before = this.#known(id);
    const fields = checkedFields({ ...before, ...draft }, this.#zone, this.#state.settings);
    refuseNeighbours(
      fields,
      this.records.filter((other) => other.id !== id),
    );
    const record = { id, ...fields, created_on: before.created_on, modified_on: this.#time };
    this.records = this.records.map((other) => (other.id === id ? record : other));
    return record;
  }

  /** Takes a record away and returns it as it was. */
  remove(id: string): RecordState {
    const record = this.#known(id);
    this.records = this.records.filter((other) => other.id !== id);
    return record;
  }

  #known(id: string): RecordState {
    const record = this.records.find((other) => other.id === id);
    if (record === undefined) throw new Refusal(404, 81_044, "Record does not exist.");
    return record;
  }
}

/** The fields of a record that a request may set; absent = not mentioned. */
type RecordDraft = Partial<Pick<RecordState, "name" | "content" | "ttl" | "proxied" | "comment" | "tags">> & {
  readonly type?: string;
};

function fieldsOf(body: unknown): APIObject {
  const fields = membersOf(body);
  if (fields === undefined) throw new Refusal(400, 6007, "Malformed JSON in request body");
  return fields;
}

function listIn(fields: APIObject, kind: string): readonly unknown[] {
  const items = fields[kind] ?? [];
  if (!Array.isArray(items)) throw new Refusal(400, 6007, `Malformed request body: ${kind} must be a list`);
  return items;
}

/** An id that names no record when there is none. */
function idIn(item: unknown): string {
  return String(fieldsOf(item)["id"]);
}

/** What a request says about a record; read-only and unknown fields are ignored. @throws Refusal 400 for a wrong type */
function readDraft(body: unknown): RecordDraft {
  const given = Object.entries(fieldsOf(body)).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.flatMap(([field, value]) => {
      const read = readers.get(field);
      return read === undefined ? [] : [[field, read(value, field)]];
    }),
  );
}

type Reader = (value: unknown, field: string) => unknown;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["name", textOf],
  ["type", textOf],
  ["content", textOf],
  // null takes the comment away.
  ["comment", (value, field) => (value === null ? "" : textOf(value, field))],
  ["ttl", (value) => (Number.isInteger(value) ? value : 0)],
  ["proxied", (value) => value === true],
  ["tags", (value) => (Array.isArray(value) ? value.map(String) : [])],
]);

function textOf(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw new InvalidRecord(9000, `Invalid ${field}. Must be a string.`);
}

const proxiableTypes: readonly string[] = ["A", "AAAA", "CNAME"] satisfies readonly RecordType[];

/** True for a type of records that can be proxied. */
export function isProxiable(type: RecordType): boolean {
  return proxiableTypes.includes(type);
}

/** The fields of a record that requests set, complete and valid by themselves. */
type RecordFields = Omit<RecordState, "id" | "created_on" | "modified_on">;

/**
 * The record that a draft makes, its name completed; a proxied one has an automatic TTL. Codes 9021, 9005 and 9041 are
 * Cloudflare's; those of the other complaints are made up.
 * @throws InvalidRecord
 */
function checkedFields(draft: RecordDraft, zone: ZoneState, settings: AccountSettings): RecordFields {
  const { name = "", content = "", proxied = false, comment = "", tags = [] } = draft;
  const type = recordTypes.find((item) => item === draft.type);
  if (type === undefined) throw new InvalidRecord(9002, "Invalid DNS record type.");
  const full = fullName(name, zone.name);
  if (name === "" || !isName(full)) throw new InvalidRecord(9000, "DNS name is invalid.");
  refuseContent(type, content);
  const ttl = proxied ? 1 : (draft.ttl ?? 1);
  // The range is not that of Enterprise zones.
  if (ttl !== 1 && (ttl < 60 || ttl > 86_400))
    throw new InvalidRecord(9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.");
  if (proxied && !isProxiable(type)) throw new InvalidRecord(9041, "Invalid proxied mode. Record cannot be proxied");
  refuseNotes(comment, tags, settings);
  return { name: full, type, content, ttl, proxied, comment, tags: [...tags] };
}

const recordTypes: readonly RecordType[] = ["A", "AAAA", "CNAME", "MX", "NS", "TXT"];

function isName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => /^(?:\*|[a-z0-9_-]{1,63})$/.test(label));
}

function refuseContent(type: RecordType, content: string): void {
  if (type === "A" && canonicalIPv4(content) === undefined)
    throw new InvalidRecord(9005, "Content for A record is invalid. Must be a valid IPv4 address.");
  if (type === "AAAA" && !isIPv6(content))
    throw new InvalidRecord(9006, "Content for AAAA record is invalid. Must be a valid IPv6 address.");
  if (content === "") throw new InvalidRecord(9007, `Content for ${type} record is invalid.`);
}

function refuseNotes(comment: string, tags: readonly string[], settings: AccountSettings): void {
  const { comment_characters: longest, tags_per_record: most } = settings;
  if (comment.length > longest || /[\r\n]/.test(comment))
    throw new InvalidRecord(9301, `Invalid comment. At most ${longest} characters in one line.`);
  if (tags.length > most) throw new InvalidRecord(9302, `At most ${most} tags are allowed on this plan.`);
}

/**
 * Checks that a record can stand beside the others of its zone.
 * @throws Refusal 400: 81053 where a CNAME meets other records, 81058 for an identical record, 81057 for one that differs only in TTL or proxying
 */
function refuseNeighbours(fields: RecordFields, others: readonly RecordState[]): void {
  const sameName = others.filter((other) => other.name === fields.name);
  const clashes = sameName.some(
    ({ type }) => isProxiable(type) && isProxiable(fields.type) && (type === "CNAME" || fields.type === "CNAME"),
  );
  if (clashes) throw new Refusal(400, 81_053, "An A, AAAA, or CNAME record with that host already exists.");
  const twin = sameName.find((other) => other.type === fields.type && other.content === fields.content);
  if (twin === undefined) return;
  const isIdentical = twin.ttl === fields.ttl && twin.proxied === fields.proxied;
  throw isIdentical
    ? new Refusal(400, 81_058, "An identical record already exists.")
    : new Refusal(400, 81_057, "The record already exists.");
}
