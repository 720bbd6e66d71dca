import { actionID, type ObjectRef, type WriteDNS } from "../../src/model/action.ts";
import type { Hold, Plan, PoolAssessment, RecordSetAssessment } from "../../src/model/plan.ts";
import type { Condition, RecordSetStatus } from "../../src/model/resource.ts";
import { aPool, aRecordSet, NOW_MS } from "./world.ts";

/** The pool of {@link aDNSPlan}: two addresses, the second active on worker-2. */
export const WEB: ObjectRef = { kind: "pool", namespace: "ingress", name: "web" };
/** The record set of {@link aDNSPlan}. */
export const NODES: ObjectRef = { kind: "dns", namespace: "ingress", name: "nodes" };

/** A change of `www.example.com` at Cloudflare: one address comes, one goes, one stays, the TTL is raised. */
export function aDNSWrite(changes: Partial<WriteDNS> = {}): WriteDNS {
  const action: WriteDNS = {
    kind: "update-dns",
    id: "",
    object: WEB,
    reason: "RecordsDiffer",
    requires: [],
    follows: [],
    dnsProvider: "cloudflare",
    zoneText: "example.com",
    zone: { id: "023e105f4ecef8ad9ca31a8372d0c353", name: "example.com" },
    fqdn: "www.example.com",
    before: { addresses: ["203.0.113.10", "203.0.113.11"], ttlSeconds: 30 },
    after: { addresses: ["203.0.113.11", "203.0.113.12"], ttlSeconds: 60 },
    ...changes,
  };
  return { ...action, id: actionID(action.kind, action.object, action.fqdn) };
}

/** A hold on the name of the record set. */
export function aDNSHold(changes: Partial<Hold> & Pick<Hold, "reason">): Hold {
  return {
    kind: "update-dns",
    object: NODES,
    subject: "nodes.example.com",
    detail: "",
    needsPerson: false,
    ...changes,
  };
}

/** Ready or not, for this spec. */
export function aReadyCondition(status: Condition["status"], reason = "Ready", message = "All is well."): Condition {
  return {
    type: "Ready",
    status,
    observedGeneration: 1,
    lastTransitionTime: "2026-08-01T11:00:00Z",
    reason,
    message,
  };
}

/** The status of a record set that publishes two addresses of nodes. */
export const PUBLISHED: RecordSetStatus = {
  ...aRecordSet("nodes").status,
  conditions: [aReadyCondition("True")],
  state: "active",
  publishedDNS: {
    provider: "digitalocean",
    zone: "example.com",
    name: "nodes.example.com",
    addresses: ["192.0.2.1", "192.0.2.2"],
  },
};

/** What the planner finds out about the record set. */
export function aRecordSetAssessment(changes: Partial<RecordSetAssessment> = {}): RecordSetAssessment {
  return {
    object: NODES,
    written: { provider: "digitalocean", zone: "example.com", recordName: "nodes" },
    fqdn: "nodes.example.com",
    published: ["192.0.2.1", "192.0.2.2"],
    matching: ["worker-1", "worker-2"],
    notMatching: [{ nodeName: "worker-3", reason: "NodeNotReady", detail: "" }],
    status: PUBLISHED,
    ...changes,
  };
}

/** What the planner finds out about the pool. */
export function aPoolAssessment(changes: Partial<PoolAssessment> = {}): PoolAssessment {
  return {
    object: WEB,
    provider: "digitalocean",
    matching: ["worker-2"],
    notMatching: [],
    waiting: [],
    skipped: [],
    desired: 1,
    status: {
      ...aPool("web", []).status,
      ips: { "203.0.113.11": { state: "active", nodeName: "worker-2", providerID: "digitalocean://2" } },
      publishedDNS: {
        provider: "cloudflare",
        zone: "example.com",
        name: "www.example.com",
        addresses: ["203.0.113.10", "203.0.113.11"],
      },
    },
    ...changes,
  };
}

/** A plan by hand: one pool, one record set, and what is given. */
export function aDNSPlan(changes: Partial<Plan> = {}): Plan {
  return {
    planID: "00000000000001",
    observedAtMs: NOW_MS,
    cluster: "https://kubernetes.example:6443",
    actions: [],
    holds: [],
    followUps: [],
    names: [],
    gaps: [],
    pools: [aPoolAssessment()],
    recordSets: [aRecordSetAssessment()],
    budget: [
      { provider: "digitalocean", calls: 0, addressCount: 1, addressLimit: 3 },
      { provider: "cloudflare", calls: 2 },
    ],
    ...changes,
  };
}
