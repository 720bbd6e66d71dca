import type { ObjectMeta, Pool, PoolStatus, RecordSet, RecordSetStatus, RoutedIPStatus } from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../model/routed-ip.ts";
import { RESOURCES, type Resource } from "./call.ts";
import { decodePool } from "./decode-pool.ts";
import { decodePoolStatus } from "./decode-pool-status.ts";
import { decodeRecordSet } from "./decode-record-set.ts";
import { decodeRecordSetStatus } from "./decode-record-set-status.ts";
import { decodeRoutedIP } from "./decode-routed-ip.ts";
import { decodeRoutedIPIssuer } from "./decode-routed-ip-issuer.ts";
import { decodeRoutedIPStatus } from "./decode-routed-ip-status.ts";
import { encodePoolStatus } from "./encode-pool-status.ts";
import { encodeRecordSetStatus } from "./encode-record-set-status.ts";
import { encodeRoutedIPStatus } from "./encode-routed-ip-status.ts";

/** How one kind of flipop's custom resources is read. */
export interface ReadableResource<T extends { readonly meta: ObjectMeta }> {
  readonly resource: Resource;
  /** Undefined only for something without a name. Never throws. */
  readonly decode: (object: unknown) => T | undefined;
}

/** How one kind of flipop's custom resources goes over the wire, both ways. */
export interface CustomResource<T extends { readonly meta: ObjectMeta; readonly status: Status }, Status>
  extends ReadableResource<T> {
  /** What a status reads back as. Never throws. */
  readonly decodeStatus: (status: unknown) => Status;
  /** The `status` of a merge patch; `stored` is the status the patch changes, as the server has it. */
  readonly encodeStatus: (status: Status, stored: unknown) => Readonly<Record<string, unknown>>;
}

/** The custom resources flipop serves; of issuers it writes nothing. */
export const CUSTOM_RESOURCES: {
  readonly pools: CustomResource<Pool, PoolStatus>;
  readonly recordSets: CustomResource<RecordSet, RecordSetStatus>;
  readonly routedIPs: CustomResource<RoutedIP, RoutedIPStatus>;
  readonly issuers: ReadableResource<RoutedIPIssuer>;
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
  routedIPs: {
    resource: RESOURCES.routedIPs,
    decode: decodeRoutedIP,
    decodeStatus: decodeRoutedIPStatus,
    encodeStatus: encodeRoutedIPStatus,
  },
  issuers: { resource: RESOURCES.issuers, decode: decodeRoutedIPIssuer },
};
