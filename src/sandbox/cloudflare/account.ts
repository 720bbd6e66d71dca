import type { AccountState, Permission, RecordState, ZoneState } from "./account-state.ts";
import { noRecord, noRoute, refusal } from "./api-refusal.ts";
import { type BatchResult, runBatch } from "./batch.ts";
import type { Caller } from "./caller.ts";
import { readDraft } from "./record-draft.ts";
import { RecordEdits } from "./record-edits.ts";

/** The operations of the emulated account. Each throws APIRefusal as Cloudflare would answer, and then changes nothing. */
export class Account {
  /** May be exchanged as a whole. */
  state: AccountState;

  constructor(state: AccountState) {
    this.state = state;
  }

  /** The zones that the caller may read, in order. Others are not in the list; they are no error. */
  zones(caller: Caller): readonly ZoneState[] {
    return this.state.zones.filter((zone) => caller.may("zone:read", zone));
  }

  /** One zone by id. */
  zone(caller: Caller, id: string): ZoneState {
    const zone = this.known(id);
    if (!caller.may("zone:read", zone)) throw refusal(403, 9109, "Unauthorized to access requested resource");
    return zone;
  }

  /** The records of a zone, in order. */
  records(caller: Caller, zoneID: string): readonly RecordState[] {
    return this.open(caller, zoneID, "dns:read").dns_records;
  }

  /** One record by id. */
  record(caller: Caller, zoneID: string, id: string): RecordState {
    const record = this.records(caller, zoneID).find((item) => item.id === id);
    if (record === undefined) throw noRecord();
    return record;
  }

  create(caller: Caller, zoneID: string, body: unknown): RecordState {
    return this.edit(caller, zoneID, (edits) => edits.create(readDraft(body)));
  }

  patch(caller: Caller, zoneID: string, id: string, body: unknown): RecordState {
    return this.edit(caller, zoneID, (edits) => edits.patch(id, readDraft(body)));
  }

  put(caller: Caller, zoneID: string, id: string, body: unknown): RecordState {
    return this.edit(caller, zoneID, (edits) => edits.put(id, readDraft(body)));
  }

  remove(caller: Caller, zoneID: string, id: string): RecordState {
    return this.edit(caller, zoneID, (edits) => edits.remove(id));
  }

  batch(caller: Caller, zoneID: string, body: unknown): BatchResult {
    return this.edit(caller, zoneID, (edits) => runBatch(edits, body, this.state.settings.changes_per_batch));
  }

  private edit<T>(caller: Caller, zoneID: string, change: (edits: RecordEdits) => T): T {
    const zone = this.open(caller, zoneID, "dns:edit");
    const edits = new RecordEdits(this.state, zone, caller.nowMs);
    const result = change(edits);
    edits.commit();
    return result;
  }

  private open(caller: Caller, id: string, permission: Permission): ZoneState {
    const zone = this.known(id);
    if (!caller.may(permission, zone)) throw refusal(403, 10_000, "Authentication error");
    return zone;
  }

  private known(id: string): ZoneState {
    const zone = this.state.zones.find((item) => item.id === id);
    if (zone === undefined) throw noRoute(`/zones/${id}`);
    return zone;
  }
}
