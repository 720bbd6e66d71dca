import { createHash } from "node:crypto";
import { Ajv } from "ajv";
import { schemaErrorText } from "../schema-error.ts";
import { accountSchema } from "./account-schema.ts";
import type { AccountState, RecordState, ZoneState } from "./account-state.ts";
import { fullName } from "./full-name.ts";

const validate = new Ajv({ useDefaults: true, strictTypes: false }).compile(accountSchema);

/**
 * The whole state for what a person wrote: `{zones: [{name: example.com}]}` is enough. A zone's missing id comes from its
 * name, a record's from the counter; relative record names are completed. Records may be what the API would refuse (twice
 * the same, a low TTL): somebody may have made them long ago. The input is not changed.
 * @throws Error whose message begins with the path of the bad value: `zones[0].name must be string`.
 */
export function completeAccount(input: unknown): AccountState {
  const raw: unknown = structuredClone(input ?? {});
  if (!validate(raw)) throw new Error(schemaErrorText(validate.errors?.[0], "the file"));
  const state = raw as AccountState;
  state.zones = state.zones.map((zone) => completeZone(zone));
  refuseTwins("zones", state.zones, "id");
  const used = new Set(state.zones.flatMap((zone) => zone.dns_records.map((record) => record.id)));
  for (const [position, zone] of state.zones.entries()) {
    zone.dns_records = zone.dns_records.map((record) => completeRecord(state, zone, record, used));
    refuseTwins(`zones[${position}].dns_records`, zone.dns_records, "id");
  }
  return state;
}

/** A new record id: 32 hexadecimal digits that no record has had. Counts on in the state. */
export function newRecordID(state: AccountState): string {
  const id = state.next.record.toString(16).padStart(32, "0");
  state.next.record += 1;
  return id;
}

function completeZone({ id, name, ...rest }: Partial<ZoneState> & Omit<ZoneState, "id">): ZoneState {
  const bare = name.toLowerCase().replace(/\.$/, "");
  return { id: id ?? createHash("sha256").update(bare).digest("hex").slice(0, 32), name: bare, ...rest };
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

function refuseTwins(where: string, items: readonly { readonly id: string }[], field: "id"): void {
  const seen = new Set<string>();
  for (const item of items) {
    if (seen.has(item[field])) throw new Error(`${where} must not have ${field} ${item[field]} twice`);
    seen.add(item[field]);
  }
}
