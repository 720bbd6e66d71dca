import type { RecordState } from "./account-state.ts";
import { noRecord, refusal } from "./api-refusal.ts";
import { fieldsOf, type RecordDraft, readDraft } from "./record-draft.ts";
import type { RecordEdits } from "./record-edits.ts";

/** The kinds of changes of a batch, in the order in which they are carried out. */
const kinds = ["deletes", "patches", "puts", "posts"] as const;

/** The records of a batch's answer, in the order of the request: those deleted as they were, the others as they are. */
export type BatchResult = Readonly<Record<(typeof kinds)[number], readonly RecordState[]>>;

/**
 * Carries out a batch: deletes, patches, puts, posts, in that order. The caller commits the edits.
 * @throws APIRefusal of the first change that is not allowed, or 400 when there are too many
 * @see https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes/ verified 2026-11-21
 */
export function runBatch(edits: RecordEdits, body: unknown, most: number): BatchResult {
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
