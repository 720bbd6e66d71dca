import type { Hold } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import { FINALIZER, objectKey } from "../model/resource.ts";
import type { RecordSetView } from "./record-set-view.ts";

/** What is held for a record set for a reason of its own: invalid, suspended, nodes in grace, annotations that are no addresses. Pure. */
export function recordSetHolds(view: RecordSetView, nowMs: number): readonly Hold[] {
  const { recordSet, validation, unready, badAnnotations } = view;
  const { meta, spec } = recordSet;
  const whole = (kind: Hold["kind"], reason: Reason, detail: string, needsPerson: boolean): Hold => ({
    kind,
    object: view.ref,
    subject: objectKey(meta),
    reason,
    detail,
    needsPerson,
  });
  const reason = validation.kind === "blocked" ? validation.reason : spec.suspend ? "Suspended" : undefined;
  const isWaitedFor = meta.isDeleting && meta.finalizers.includes(FINALIZER);
  const deletion =
    reason !== undefined && isWaitedFor ? [whole("remove-finalizer", reason, "the deletion waits for it", true)] : [];
  if (validation.kind === "blocked")
    return [whole("reconcile", validation.reason, validation.error, true), ...deletion];
  return [
    ...(spec.suspend ? [whole("reconcile", "Suspended", "", false)] : []),
    ...deletion,
    ...unready
      .filter(({ graceUntilMs }) => graceUntilMs > nowMs)
      .map(({ node, graceUntilMs }): Hold => ({ ...onNode(view, node.name, "Grace"), notBeforeMs: graceUntilMs })),
    ...badAnnotations.map(({ name, addressAnnotation = "" }) => ({
      ...onNode(view, name, "InvalidAddress"),
      detail: `"${addressAnnotation}"`,
    })),
  ];
}

function onNode({ ref }: RecordSetView, nodeName: string, reason: Reason): Hold {
  return { kind: "update-dns", object: ref, subject: nodeName, reason, detail: "", needsPerson: false };
}
