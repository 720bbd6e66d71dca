import type { RecordSetStatus } from "../../model/resource.ts";
import { encodeCommonStatus, unlessEmpty } from "./encode-common-status.ts";

/**
 * The `status` of a JSON merge patch that turns the stored status of a record set into this one, see
 * {@link encodeCommonStatus}. It has no maps, so what is stored does not matter.
 */
export function encodeRecordSetStatus(status: RecordSetStatus): Readonly<Record<string, unknown>> {
  return {
    ...encodeCommonStatus(status),
    state: status.state ?? null,
    unreadyNodes: unlessEmpty(status.unreadyNodes),
  } satisfies Record<keyof RecordSetStatus, unknown>;
}
