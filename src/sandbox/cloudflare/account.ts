import type { AccountState, Permission, RecordState, ZoneState } from "./account-state.ts";
import { noRecord, noRoute, refusal } from "./api-refusal.ts";
import type { Caller } from "./caller.ts";
import { newRecordID } from "./complete-account.ts";
import { type BatchRequest, runBatch } from "./batch.ts";
import type { RecordDraft } from "./record-draft.ts";

