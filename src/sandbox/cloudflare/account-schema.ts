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
};

/** JSON Schema of `cloudflare.yaml`, with every default that does not depend on something else in the file. Required are only the names of zones, and name and content of records. */
export const accountSchema: object = object({
  zones: { type: "array", items: object(zone, ["name"]), default: [] },
  tokens: { type: "object", additionalProperties: grants, default: {} },
  settings: { ...object(settings), default: {} },
  next: { ...object({ record: { ...count, minimum: 1, default: 1 } }), default: {} },
});
