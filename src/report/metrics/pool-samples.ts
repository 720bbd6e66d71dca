import type { PoolAssessment } from "../../model/plan.ts";
import type { IPStatus } from "../../model/resource.ts";
import { type Sample, sample } from "./sample.ts";
import { addressKey, type Totals } from "./totals.ts";

/** Returns what is told of a FloatingIPPool and its addresses: the Go operator's metrics and a few more. Pure. */
export function poolSamples(pool: PoolAssessment, totals: Totals): readonly Sample[] {
  const { object, desired, waiting, status } = pool;
  const { namespace, name } = object;
  const labels = { namespace, name, provider: pool.provider, dns: pool.dns?.fqdn ?? "" };
  const ips = Object.entries(status.ips);
  const held = ips.filter(([, { providerID }]) => providerID !== undefined).length;
  const usable = ips.filter(([, { reason }]) => reason !== "InvalidIP").length;
  return [
    sample("flipop_desired_ips", { namespace, name }, desired),
    sample("flipop_pool_assignments_total", { namespace, name }, status.assignments ?? 0),
    sample("flipop_floatingippoolcontroller_node_status", { ...labels, status: "available" }, waiting.length),
    sample("flipop_floatingippoolcontroller_node_status", { ...labels, status: "assigned" }, held),
    sample("flipop_floatingippoolcontroller_unfulfilled_ips", labels, Math.max(0, desired - usable)),
    ...ips.flatMap(([ip, entry]) => [
      ...addressSamples({ ...labels, ip }, entry),
      sample(
        "flipop_floatingippoolcontroller_ip_assignments",
        { ...labels, ip },
        totals.assignments[addressKey(object, ip)] ?? 0,
      ),
      sample(
        "flipop_floatingippoolcontroller_ip_assignment_errors",
        { ...labels, ip },
        totals.assignmentErrors[addressKey(object, ip)] ?? 0,
      ),
    ]),
  ];
}

interface AddressLabels {
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
  readonly provider: string;
  readonly dns: string;
}

function addressSamples(labels: AddressLabels, { state, nodeName, providerID }: IPStatus): readonly Sample[] {
  const place = { ...labels, provider_id: providerID ?? "", node: nodeName ?? "" };
  return [
    sample("flipop_floatingippoolcontroller_ip_state", { ...labels, state }, 1),
    ...(providerID === undefined ? [] : [sample("flipop_floatingippoolcontroller_ip_node", place, 1)]),
  ];
}
