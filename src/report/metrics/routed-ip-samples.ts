import type { PoolAssessment } from "../../model/plan.ts";
import { type Sample, sample } from "./sample.ts";
import { addressKey, type Totals } from "./totals.ts";

/** Returns what is told of a RoutedIP and its address: the same as of a pool's, under names of its own. Pure. */
export function routedIPSamples(routedIP: PoolAssessment, totals: Totals): readonly Sample[] {
  const { object, desired, status, provider, dns } = routedIP;
  const { namespace, name } = object;
  const labels = { namespace, name, provider, dns: dns?.fqdn ?? "" };
  const ips = Object.entries(status.ips);
  const usable = ips.filter(([, { reason }]) => reason !== "InvalidIP").length;
  return [
    sample("flipop_routedip_missing_addresses", labels, usable < desired ? 1 : 0),
    ...ips.flatMap(([ip, { state, nodeName, providerID }]) => {
      const key = addressKey(object, ip);
      const place = { ...labels, ip, provider_id: providerID ?? "", node: nodeName ?? "" };
      return [
        sample("flipop_routedip_address_state", { ...labels, ip, state }, 1),
        ...(providerID === undefined ? [] : [sample("flipop_routedip_address_node", place, 1)]),
        sample("flipop_routedip_assignments_total", { ...labels, ip }, totals.assignments[key] ?? 0),
        sample("flipop_routedip_assignment_errors_total", { ...labels, ip }, totals.assignmentErrors[key] ?? 0),
      ];
    }),
  ];
}
