/**
 * Every metric, in the order in which they are written. The manual's table is made from it. Names, types and labels never change their meaning: the Pushgateway
 * refuses a name whose type is another one in any group. Those of the Go operator have its names and labels, so that its dashboards go on working.
 */
export const METRICS = {
  flipop_build_info: { type: "gauge", labels: "version", help: "The version of flipop that ran last; always 1." },
  flipop_leader: {
    type: "gauge",
    labels: "",
    help: "With --watch: 1 while this process holds the lock and passes, 0 while it stands by.",
  },
  flipop_cluster_current: {
    type: "gauge",
    labels: "",
    help: "With --watch: 1 while the lists in memory are known to be those of the cluster, else 0; nothing is changed meanwhile.",
  },
  flipop_last_run_timestamp_seconds: { type: "gauge", labels: "", help: "When the last run ended." },
  flipop_last_success_timestamp_seconds: {
    type: "gauge",
    labels: "",
    help: "When the last run ended that looked at everything; objects in error beside served ones are no failure of the run.",
  },
  flipop_last_run_result: {
    type: "gauge",
    labels: "result",
    help: "1 for the result of the last run (done, partly, temporary, not-permitted, invalid-configuration, interrupted, unexpected), 0 for the others.",
  },
  flipop_last_run_duration_seconds: {
    type: "gauge",
    labels: "phase",
    help: "How long the parts of the last run took: observe, plan, apply, report, and other (the lock, waits between passes).",
  },
  flipop_planned_changes: {
    type: "gauge",
    labels: "action reason",
    help: "Changes that the last run found to make, before it made any.",
  },
  flipop_remaining_changes: {
    type: "gauge",
    labels: "action reason",
    help: "Changes that the last run left to be made.",
  },
  flipop_applied_changes_total: {
    type: "counter",
    labels: "action outcome",
    help: "Changes tried, by what came of them: applied, unconfirmed, skipped, failed.",
  },
  flipop_blocked: {
    type: "gauge",
    labels: "kind namespace name reason",
    help: "Things held until a person acts.",
  },
  flipop_deferred: {
    type: "gauge",
    labels: "kind namespace name reason",
    help: "Things held that end by themselves or are as wished.",
  },
  flipop_condition: {
    type: "gauge",
    labels: "kind namespace name condition",
    help: "1 while the object's condition (Ready, Reconciling, Stalled) is True, else 0.",
  },
  flipop_suspended: {
    type: "gauge",
    labels: "kind namespace name",
    help: "1 while spec.suspend is true or flipop suspend holds, else 0.",
  },
  flipop_suspension_end_timestamp_seconds: {
    type: "gauge",
    labels: "kind namespace name",
    help: "When flipop suspend --for ends, seconds since 1970; absent for an object that only a person resumes.",
  },
  flipop_not_granted: {
    type: "gauge",
    labels: "kind namespace name grant effect",
    help: "What the object asks for and its namespace is not granted: held, would-be-held (with --grants warn) or kept (it is on record); absent where all is granted.",
  },
  flipop_grants_readable: {
    type: "gauge",
    labels: "mode",
    help: "How grants of namespaces count (warn, require): 1 while flipop may list namespaces, else 0; absent with --grants off.",
  },
  flipop_unusable_grants: {
    type: "gauge",
    labels: "namespace",
    help: "Entries of the namespace's grants that cannot be read and grant nothing, at most 5; absent without any.",
  },
  flipop_nodes: {
    type: "gauge",
    labels: "kind namespace name gate",
    help: "Nodes by how far they get: matching (those in grace included), waiting for an address (of a RoutedIP: that could have it, too), or the reason why not.",
  },
  flipop_desired_ips: {
    type: "gauge",
    labels: "namespace name",
    help: "Addresses that the pool should hold.",
  },
  flipop_pool_assignments_total: {
    type: "counter",
    labels: "namespace name",
    help: "Assignments that the provider accepted for the pool, from its status.",
  },
  flipop_grace_end_timestamp_seconds: {
    type: "gauge",
    labels: "kind namespace name",
    help: "When the first grace period of the object's nodes ends; absent without one.",
  },
  flipop_cool_off_end_timestamp_seconds: {
    type: "gauge",
    labels: "namespace name",
    help: "When the pool's cool-off ends; absent while nothing waits for it.",
  },
  flipop_dns_drift: {
    type: "gauge",
    labels: "kind namespace name provider dns",
    help: "Records that differ from what they should be after the last run; absent when they could not be read.",
  },
  flipop_dns_foreign_changes_total: {
    type: "counter",
    labels: "kind namespace name provider dns",
    help: "How often somebody else had changed the records of the name, and flipop put them right.",
  },
  flipop_dns_foreign_records: {
    type: "gauge",
    labels: "kind namespace name provider dns",
    help: "Records of the name that no object has on record, after the last run; absent when they could not be read.",
  },
  flipop_dns_foreign_records_replaced_total: {
    type: "counter",
    labels: "kind namespace name provider dns",
    help: "Records of the name that flipop had not written, and replaced or removed (foreignRecords: Adopt).",
  },
  flipop_failover_duration_seconds: {
    type: "histogram",
    labels: "",
    help: "From the first sight of an address's node as unready until the address was verified on another.",
  },
  flipop_provider_ratelimit_remaining: {
    type: "gauge",
    labels: "provider",
    help: "Calls that the provider's rate limit leaves; absent when it did not say.",
  },
  flipop_provider_ratelimit_limit: {
    type: "gauge",
    labels: "provider",
    help: "The provider's rate limit; absent when it did not say.",
  },
  flipop_provider_quota: {
    type: "gauge",
    labels: "provider type",
    help: "Addresses that the account has (used) and may have (limit).",
  },
  flipop_dns_put_off: {
    type: "gauge",
    help: "Names of DNS that the last run did not look at, because the calls that were left are kept for what is more urgent.",
    labels: "provider",
  },
  flipop_unreadable: {
    type: "gauge",
    labels: "provider",
    help: "Addresses, zones, names and firewalls that the last run could not read.",
  },
  flipop_floatingippoolcontroller_node_status: {
    type: "gauge",
    labels: "namespace name provider dns status",
    help: "Nodes that wait for an address (available), and addresses with a holder (assigned).",
  },
  flipop_floatingippoolcontroller_ip_assignments: {
    type: "counter",
    labels: "namespace name ip provider dns",
    help: "Assignments of the address that the provider accepted.",
    isInherited: true,
  },
  flipop_floatingippoolcontroller_ip_assignment_errors: {
    type: "counter",
    labels: "namespace name ip provider dns",
    help: "Assignments of the address that failed.",
    isInherited: true,
  },
  flipop_floatingippoolcontroller_ip_node: {
    type: "gauge",
    labels: "namespace name ip provider dns provider_id node",
    help: "Where an address is: its holder, and the holder's node where there is one; always 1.",
  },
  flipop_floatingippoolcontroller_ip_state: {
    type: "gauge",
    labels: "namespace name ip provider dns state",
    help: "The present state of an address (active, in-progress, error, no-match, unassigned, disabled); always 1.",
  },
  flipop_floatingippoolcontroller_unfulfilled_ips: {
    type: "gauge",
    labels: "namespace name provider dns",
    help: "Addresses that the pool should hold and does not have yet.",
  },
  flipop_routedip_address_state: {
    type: "gauge",
    labels: "namespace name ip provider dns state",
    help: "The present state of a RoutedIP's address (active, in-progress, error, no-match, unassigned, disabled); always 1.",
  },
  flipop_routedip_address_node: {
    type: "gauge",
    labels: "namespace name ip provider dns provider_id node",
    help: "Where a RoutedIP's address is: its holder, and the holder's node where there is one; always 1.",
  },
  flipop_routedip_missing_addresses: {
    type: "gauge",
    labels: "namespace name provider dns",
    help: "1 while the RoutedIP should have an address and has none, else 0.",
  },
  flipop_routedip_assignments_total: {
    type: "counter",
    labels: "namespace name ip provider dns",
    help: "Assignments of a RoutedIP's address that the provider accepted.",
  },
  flipop_routedip_assignment_errors_total: {
    type: "counter",
    labels: "namespace name ip provider dns",
    help: "Assignments of a RoutedIP's address that failed.",
  },
  flipop_nodednsrecordset_records: {
    type: "gauge",
    labels: "namespace name provider dns",
    help: "Address records of a record set's name; absent when they could not be read.",
  },
  flipop_providers_calls_total: {
    type: "counter",
    labels: "provider call outcome kind namespace name",
    help: "Calls to providers; kind, namespace and name are empty, since one call serves many objects.",
  },
  flipop_providers_call_duration_seconds: {
    type: "histogram",
    labels: "provider call kind namespace name",
    help: "How long calls to providers took; kind, namespace and name are empty.",
  },
} as const;

/** The name of a metric. */
export type MetricName = keyof typeof METRICS;

type Words<T extends string> = T extends `${infer First} ${infer Rest}`
  ? First | Words<Rest>
  : T extends ""
    ? never
    : T;

/** The labels of a metric. */
export type LabelName<N extends MetricName> = Words<(typeof METRICS)[N]["labels"]>;

/** What is known about a metric. */
export interface MetricFacts {
  readonly type: "gauge" | "counter" | "histogram";
  /** Separated by spaces. */
  readonly labels: string;
  readonly help: string;
  /** True for a name of the Go operator that does not follow Prometheus' rules and stays all the same. */
  readonly isInherited?: boolean;
}

/** Returns what is known about a metric. */
export function metricFacts(name: MetricName): MetricFacts {
  return METRICS[name];
}
