import { formatTime } from "../../model/time.ts";
import type { AccountState, RecordState, ZoneState } from "./account-state.ts";
import { noRecord, refusal } from "./api-refusal.ts";
import { newRecordID } from "./complete-account.ts";
import type { RecordDraft } from "./record-draft.ts";
import { checkedFields, checkNeighbours } from "./record-rules.ts";

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
