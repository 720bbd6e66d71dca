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
export function invalidTTL(): Error {
  return invalidRecord(9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.");
}

function textOf(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw invalidRecord(9000, `Invalid ${field}. Must be a string.`);
}
