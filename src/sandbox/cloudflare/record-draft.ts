import type { RecordState } from "./account-state.ts";
import { invalidRecord, refusal } from "./api-refusal.ts";

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
  const fields = fieldsOf(body);
  const tags = fields["tags"];
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === "string"))) {
    throw invalidRecord(9300, "Invalid tags. Must be a list of strings.");
  }
  const [name, type] = [textIn(fields, "name"), textIn(fields, "type")];
  const content = textIn(fields, "content");
  // null takes the comment away.
  const comment = fields["comment"] === null ? "" : textIn(fields, "comment");
  const ttl = fields["ttl"];
  if (ttl !== undefined && !Number.isInteger(ttl)) throw invalidTTL();
  const proxied = fields["proxied"];
  if (proxied !== undefined && typeof proxied !== "boolean") throw invalidRecord(9003, "Invalid proxied value.");
  return {
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(content === undefined ? {} : { content }),
    ...(ttl === undefined ? {} : { ttl: Number(ttl) }),
    ...(proxied === undefined ? {} : { proxied }),
    ...(comment === undefined ? {} : { comment }),
    ...(tags === undefined ? {} : { tags }),
  };
}

/** 400 for a TTL out of range; the range is not that of Enterprise zones. */
export function invalidTTL(): Error {
  return invalidRecord(9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.");
}

function textIn(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === "string") return value;
  throw invalidRecord(9000, `Invalid ${name}. Must be a string.`);
}
