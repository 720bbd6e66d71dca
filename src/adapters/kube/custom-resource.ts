import type { ObjectMeta, Pool, PoolStatus, RecordSet, RecordSetStatus } from "../../model/resource.ts";
import { RESOURCES, type Resource } from "./call.ts";
import { decodePool } from "./decode-pool.ts";
import { decodePoolStatus } from "./decode-pool-status.ts";
import { decodeRecordSet } from "./decode-record-set.ts";
import { decodeRecordSetStatus } from "./decode-record-set-status.ts";
import { encodePoolStatus } from "./encode-pool-status.ts";
import { encodeRecordSetStatus } from "./encode-record-set-status.ts";

/** How one kind of flipop's custom resources goes over the wire. */
export interface CustomResource<T extends { readonly meta: ObjectMeta; readonly status: Status }, Status> {
  readonly resource: Resource;
  /** Undefined only for something without a name. Never throws. */
  readonly decode: (object: unknown) => T | undefined;
  /** What a status reads back as. Never throws. */
  readonly decodeStatus: (status: unknown) => Status;
  /** The `status` of a merge patch; `stored` is the status the patch changes, as the server has it. */
  readonly encodeStatus: (status: Status, stored: unknown) => Readonly<Record<string, unknown>>;
}

/** The custom resources flipop serves. */
export const CUSTOM_RESOURCES: {
  readonly pools: CustomResource<Pool, PoolStatus>;
  readonly recordSets: CustomResource<RecordSet, RecordSetStatus>;
} = {
  pools: {
    resource: RESOURCES.pools,
    decode: decodePool,
    decodeStatus: decodePoolStatus,
    encodeStatus: encodePoolStatus,
  },
  recordSets: {
    resource: RESOURCES.recordSets,
    decode: decodeRecordSet,
    decodeStatus: decodeRecordSetStatus,
    encodeStatus: encodeRecordSetStatus,
  },
};
