import type { RecordState, ZoneState } from "./account-state.ts";

/** What an answer's `result` holds. */
export type APIObject = Readonly<Record<string, unknown>>;

/** A zone as the API shows it, as far as anybody here needs it. */
export function zoneJSON(zone: ZoneState): APIObject {
  const { id, name, status } = zone;
  return {
    id,
    name,
    status,
    paused: false,
    type: "full",
    development_mode: 0,
    name_servers: ["ada.ns.cloudflare.example", "bob.ns.cloudflare.example"],
    account: { id: "00000000000000000000000000000001", name: "Sandbox" },
    created_on: "2026-01-01T00:00:00.000000Z",
    modified_on: "2026-01-01T00:00:00.000000Z",
    activated_on: status === "active" ? "2026-01-01T00:00:00.000000Z" : null,
  };
}

/** A record as the API shows it. */
export function recordJSON(record: RecordState): APIObject {
  const { id, name, type, content, ttl, proxied, comment, tags, created_on, modified_on } = record;
  return {
    id,
    name,
    type,
    content,
    proxiable: type === "A" || type === "AAAA" || type === "CNAME",
    proxied,
    ttl,
    settings: {},
    meta: {},
    comment: comment === "" ? null : comment,
    tags,
    created_on,
    modified_on,
    ...(comment === "" ? {} : { comment_modified_on: modified_on }),
  };
}
