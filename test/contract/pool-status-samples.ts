import type { PoolStatus } from "../../src/model/resource.ts";

/** The status of a pool nobody has served yet. */
export const EMPTY_STATUS: PoolStatus = {
  conditions: [],
  ips: {},
  assignableNodes: [],
  nodeErrors: [],
  acquired: [],
  pendingAcquisitions: [],
  released: [],
  formerDNS: [],
  retries: [],
};

const TIME = "2026-01-02T03:04:05Z";

/** A status with every field: a new one does not compile until it is here. */
export const FULL_STATUS: Required<PoolStatus> = {
  observedGeneration: 1,
  conditions: [
    {
      type: "Ready",
      status: "False",
      observedGeneration: 1,
      lastTransitionTime: TIME,
      reason: "NoActiveIP",
      message: "No address is active.",
      hasAddresses: true,
    },
  ],
  summary: { addresses: "1/2", nodes: "node-1 +1" },
  error: "an error",
  ips: {
    "192.0.2.5": {
      state: "in-progress",
      nodeName: "node-1",
      providerID: "digitalocean://1",
      previousProviderID: "digitalocean://2",
      error: "locked",
      reason: "InProgress",
      notMatchingSince: TIME,
      drainingUntil: TIME,
      drainsForSeconds: 60,
      inherited: true,
    } satisfies Required<Omit<PoolStatus["ips"][string], "fault">>,
    "192.0.2.9": { state: "unassigned" },
  },
  assignableNodes: ["node-2"],
  nodeErrors: ["node-3: odd"],
  acquired: [{ ip: "192.0.2.9", acquiredAt: TIME, adopted: true, provider: "digitalocean" }],
  pendingAcquisitions: [
    {
      startedAt: TIME,
      region: "ams3",
      provider: "digitalocean",
      providerID: "digitalocean://1",
      nodeName: "node-1",
      knownIPs: ["192.0.2.9"],
      restored: true,
      candidates: ["192.0.2.4"],
    } satisfies Required<PoolStatus["pendingAcquisitions"][number]>,
  ],
  released: [{ ip: "192.0.2.11", providerID: "digitalocean://3", nodeName: "node-3", acquired: true }],
  fight: {
    provider: "digitalocean",
    name: "www.example.com",
    addresses: ["192.0.2.1"],
    ttlSeconds: 60,
    seen: ["192.0.2.9"],
    since: TIME,
    times: [TIME],
    count: 2,
  },
  publishedDNS: {
    provider: "digitalocean",
    zone: "Example.com",
    name: "www.example.com",
    addresses: ["192.0.2.5", "192.0.2.6"],
    foreign: [{ address: "192.0.2.6", since: TIME }],
    unseen: [{ address: "192.0.2.7", since: TIME }],
  },
  leftDNS: [{ address: "192.0.2.10", drainingUntil: TIME }],
  formerDNS: [
    { provider: "cloudflare", zone: "023e105f4ecef8ad9ca31a8372d0c353", name: "old.example.com", addresses: [] },
    {
      provider: "digitalocean",
      zone: "example.com",
      name: "former.example.com",
      addresses: ["192.0.2.8"],
      foreign: [{ address: "192.0.2.8", since: TIME }],
      unseen: [{ address: "192.0.2.9", since: TIME }],
    },
  ],
  retries: [{ subject: "ip/192.0.2.5", attempts: 2, nextAttemptTime: TIME, error: "403", reason: "PermissionMissing" }],
  lastAssignmentTime: TIME,
  assignments: 3,
};
