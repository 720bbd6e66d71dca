import { RECORD_SET_STATUS } from "../../src/adapters/kube/status.ts";
import type { RecordSetStatus } from "../../src/model/resource.ts";
import type { ObjectAccess } from "./object-access.ts";
import { WorldObjects } from "./world-objects.ts";

/** NodeDNSRecordSets. */
export class WorldRecordSets extends WorldObjects<RecordSetStatus> {
  constructor(access: ObjectAccess) {
    super(access, {
      kind: "NodeDNSRecordSet",
      plural: "nodednsrecordsets",
      defaults: {},
      decodeStatus: RECORD_SET_STATUS.read,
    });
  }
}
