import type { AccountState, Permission, RecordState, ZoneState } from "./account-state.ts";
import { fieldsOf, type RecordDraft, RecordEdits, readDraft } from "./records.ts";
import { type Caller, noRecord, noRoute, refusal } from "./routes.ts";

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

/** The kinds of changes of a batch, in the order in which they are carried out. */
const kinds = ["deletes", "patches", "puts", "posts"] as const;

/** The records of a batch's answer, in the order of the request: those deleted as they were, the others as they are. */
export type BatchResult = Readonly<Record<(typeof kinds)[number], readonly RecordState[]>>;

/**
 * Carries out a batch: deletes, patches, puts, posts, in that order. The caller commits the edits.
 * @throws APIRefusal of the first change that is not allowed, or 400 when there are too many
 * @see https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes/ verified 2026-11-21
 */
function runBatch(edits: RecordEdits, body: unknown, most: number): BatchResult {
  const fields = fieldsOf(body);
  const lists = kinds.map((kind) => itemsIn(fields, kind));
  const count = lists.flat().length;
  if (count > most) throw refusal(400, 81_070, `A batch may have at most ${most} changes.`);
  const [deletes = [], patches = [], puts = [], posts = []] = kinds.map((kind, at) =>
    (lists[at] ?? []).map((item) => change(edits, kind, item)),
  );
  return { deletes, patches, puts, posts };
}

function change(edits: RecordEdits, kind: (typeof kinds)[number], item: unknown): RecordState {
  if (kind === "posts") return edits.create(readDraft(item));
  const id = fieldsOf(item)["id"];
  if (typeof id !== "string") throw noRecord();
  if (kind === "deletes") return edits.remove(id);
  const draft: RecordDraft = readDraft(item);
  return kind === "patches" ? edits.patch(id, draft) : edits.put(id, draft);
}

function itemsIn(fields: Readonly<Record<string, unknown>>, kind: string): readonly unknown[] {
  const items = fields[kind] ?? [];
  if (!Array.isArray(items)) throw refusal(400, 6007, `Malformed request body: ${kind} must be a list`);
  return items;
}
