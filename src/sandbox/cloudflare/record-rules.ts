import { isIPv6 } from "node:net";
import { canonicalIPv4 } from "../../model/address.ts";
import type { AccountSettings, RecordState, RecordType, ZoneState } from "./account-state.ts";
import { invalidRecord, refusal } from "./api-refusal.ts";
import { fullName } from "./full-name.ts";
import { invalidTTL, type RecordDraft } from "./record-draft.ts";

const proxiableTypes: readonly string[] = ["A", "AAAA", "CNAME"] satisfies readonly RecordType[];
const types: readonly string[] = ["A", "AAAA", "CNAME", "MX", "NS", "TXT"] satisfies readonly RecordType[];

/** The fields of a record that requests set, complete and valid by themselves. */
export type RecordFields = Omit<RecordState, "id" | "created_on" | "modified_on">;

/**
 * The record that a draft makes, its name completed; a proxied one has an automatic TTL. Codes 9021, 9005 and 9041 are
 * Cloudflare's; those of the other complaints are made up.
 * @throws APIRefusal 400 (1004 with a chain)
 */
export function checkedFields(draft: RecordDraft, zone: ZoneState, settings: AccountSettings): RecordFields {
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
export function checkNeighbours(fields: RecordFields, others: readonly RecordState[]): void {
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
