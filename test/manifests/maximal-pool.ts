import type { PoolSpec, PoolStatus } from "../../src/model/resource.ts";
import type { Full } from "./full.ts";

const time = "2026-01-02T03:04:05Z";

/** A status of a pool with a value in every field that the model knows, as it is on the wire. */
export const MAXIMAL_STATUS: Full<PoolStatus> = {
  observedGeneration: 7,
  conditions: [
    {
      type: "Ready",
      status: "False",
      observedGeneration: 7,
      lastTransitionTime: time,
      reason: "NoActiveIP",
      message: "m",
    },
    {
      type: "Stalled",
      status: "True",
      observedGeneration: 7,
      lastTransitionTime: time,
      reason: "Conflict",
      message: "",
    },
  ],
  summary: { addresses: "2/3", nodes: "worker-1 +1" },
  error: "Error parsing node selector: x",
  ips: {
    "192.0.2.1": {
      state: "in-progress",
      nodeName: "n1",
      providerID: "digitalocean://1",
      previousProviderID: "digitalocean://2",
      error: "e",
      reason: "InProgress",
      notMatchingSince: time,
      drainingUntil: time,
      drainsForSeconds: 60,
      inherited: true,
    },
  },
  assignableNodes: ["n2"],
  nodeErrors: ["n3: no"],
  acquired: [{ ip: "192.0.2.2", acquiredAt: time, adopted: true, provider: "digitalocean" }],
  pendingAcquisitions: [
    {
      startedAt: time,
      region: "ams3",
      provider: "digitalocean",
      providerID: "digitalocean://3",
      nodeName: "n3",
      knownIPs: ["192.0.2.2"],
      restored: true,
      candidates: ["192.0.2.4"],
    },
  ],
  released: [
    {
      ip: "192.0.2.3",
      providerID: "digitalocean://4",
      nodeName: "n4",
      acquired: true,
      drainingUntil: time,
      drainsForSeconds: 60,
      releasedAt: time,
    },
  ],
  publishedDNS: {
    provider: "digitalocean",
    zone: "example.com",
    name: "www.example.com",
    addresses: ["192.0.2.1"],
    foreign: [{ address: "192.0.2.1", since: time }],
    unseen: [{ address: "192.0.2.3", since: time }],
  },
  fight: {
    provider: "digitalocean",
    name: "www.example.com",
    addresses: ["192.0.2.1"],
    ttlSeconds: 60,
    seen: ["192.0.2.9"],
    since: time,
    times: [time],
    count: 2,
  },
  leftDNS: [{ address: "192.0.2.5", drainingUntil: time }],
  formerDNS: [
    {
      provider: "cloudflare",
      zone: "example.net",
      name: "old.example.net",
      addresses: ["192.0.2.2"],
      foreign: [{ address: "192.0.2.2", since: time }],
      unseen: [{ address: "192.0.2.4", since: time }],
    },
  ],
  retries: [{ subject: "ip/192.0.2.1", attempts: 3, nextAttemptTime: time, error: "e", reason: "PermissionMissing" }],
  lastAssignmentTime: time,
  assignments: 12,
};

const spec: Full<Omit<PoolSpec, "dnsRecordSet" | "maxUnavailable">> = {
  provider: "digitalocean",
  region: "ams3",
  ips: ["192.0.2.1"],
  desiredIPs: 2,
  assignmentCoolOffSeconds: 0.5,
  gracePeriodSeconds: 1.5,
  drainSeconds: 30.5,
  maxPerNode: 2,
  hostAddress: "Managed",
  match: {
    nodeLabel: "a",
    podNamespace: "b",
    podLabel: "c",
    tolerations: [{ key: "k", operator: "Equal", value: "v", effect: "NoExecute", tolerationSeconds: 60 }],
  },
  reclaimPolicy: "Delete",
  foreignHolder: "TakeOver",
  suspend: true,
  approval: "Voluntary",
};

/** A spec of a pool with a value in every field that the model knows, as it is on the wire. */
export const MAXIMAL_SPEC: Readonly<Record<string, unknown>> = {
  ...spec,
  ipFamily: "IPv4",
  maxUnavailable: "40%",
  dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "www", ttl: 60, foreignRecords: "Share" },
};
