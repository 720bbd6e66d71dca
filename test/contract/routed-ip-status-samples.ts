import type { FirewallMemory, PendingFirewall } from "../../src/model/firewall.ts";
import type { IssuerMemory, RoutedIPStatus } from "../../src/model/resource.ts";
import { FULL_STATUS } from "./pool-status-samples.ts";

/** A status with every field: a new one does not compile until it is here. */
export const FULL_ROUTED_IP_STATUS: Required<RoutedIPStatus> = {
  ...FULL_STATUS,
  address: "192.0.2.5",
  nodeName: "worker-1",
  firewalls: [
    {
      provider: "digitalocean",
      id: "fw-1",
      name: "edge",
      ports: ["icmp", "tcp/80", "udp/8000-9000"],
      machineIDs: ["1", "2"],
    } satisfies Required<FirewallMemory>,
    { provider: "digitalocean", id: "fw-2", name: "", ports: [], machineIDs: ["2"] },
  ],
  pendingFirewalls: [
    { id: "fw-1", name: "edge", since: "2026-01-02T03:04:05Z" },
    { id: "fw-1", name: "edge", machineID: "2", since: "2026-01-02T03:04:06Z" } satisfies Required<PendingFirewall>,
  ],
  issuer: { provider: "digitalocean", reclaimPolicy: "Delete" } satisfies Required<IssuerMemory>,
};
