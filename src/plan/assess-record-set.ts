import type { RecordSetAssessment } from "../model/plan.ts";
import type { OwnPlan } from "./assess-pool.ts";
import { recordSetStatus } from "./record-set-status.ts";
import type { RecordSetView } from "./record-set-view.ts";

/** What was found out about a record set, its status included. Pure. */
export function assessRecordSet(
  view: RecordSetView,
  { names, actions, holds }: OwnPlan,
  nowMs: number,
): RecordSetAssessment {
  const { target, drift } = names.present;
  const { spec } = view.recordSet;
  const { zone, recordName } = spec.dnsRecordSet;
  const provider = view.publisher.wish.kind === "named" ? view.publisher.wish.provider : spec.provider;
  return {
    object: view.ref,
    written: { provider, zone, recordName },
    isSuspended: spec.suspend,
    ...(target.kind === "none" || target.name === undefined ? {} : { fqdn: target.name.fqdn }),
    ...(target.kind === "ready" ? { published: target.records.addresses } : {}),
    ...(drift === undefined ? {} : { drift }),
    matching: view.matching,
    notMatching: view.notMatching,
    status: recordSetStatus({
      view,
      names,
      holds,
      pendingActions: actions.length,
      nowMs,
    }),
  };
}
