import type { RoutedIPStatus } from "../../src/model/resource.ts";
import type { RoutedIPIssuerSpec, RoutedIPSpec } from "../../src/model/routed-ip.ts";
import type { Full } from "./full.ts";
import { MAXIMAL_SPEC, MAXIMAL_STATUS } from "./maximal-pool.ts";

/** A status of a RoutedIP with a value in every field that the model knows, as it is on the wire. */
export const MAXIMAL_ROUTED_IP_STATUS: Full<RoutedIPStatus> = {
  ...MAXIMAL_STATUS,
  address: "192.0.2.5",
  nodeName: "worker-1",
  firewalls: [{ provider: "digitalocean", id: "fw-1", name: "edge", ports: ["tcp/80"], machineIDs: ["1"] }],
  pendingFirewalls: [{ id: "fw-1", name: "edge", machineID: "1", since: "2026-01-02T03:04:05Z" }],
  issuer: { provider: "digitalocean", reclaimPolicy: "Delete" },
};

const spec: Full<Omit<RoutedIPSpec, "dnsRecordSet" | "ports">> = {
  issuer: "public",
  address: "192.0.2.1",
  serviceName: "web",
  gracePeriodSeconds: 1.5,
  foreignHolder: "TakeOver",
  suspend: true,
};

/** A spec of a RoutedIP with a value in every field that the model knows, as it is on the wire. */
export const MAXIMAL_ROUTED_IP_SPEC: Readonly<Record<string, unknown>> = {
  ...spec,
  ports: [{ protocol: "tcp", port: 80 }, { protocol: "UDP", port: "8000-9000" }, { protocol: "icmp" }],
  dnsRecordSet: MAXIMAL_SPEC["dnsRecordSet"],
};

const issuer: Full<
  Pick<RoutedIPIssuerSpec, "provider" | "region" | "nodeLabel" | "tolerations" | "approval" | "drainSeconds">
> = {
  provider: "digitalocean",
  region: "ams3",
  nodeLabel: "a",
  approval: "Voluntary",
  tolerations: [{ key: "k", operator: "Equal", value: "v", effect: "NoExecute", tolerationSeconds: 60 }],
  drainSeconds: 30.5,
};

/** A spec of a RoutedIPIssuer with a value in every field that the model knows, as it is on the wire. */
export const MAXIMAL_ISSUER_SPEC: Readonly<Record<string, unknown>> = {
  ipFamily: "IPv4",
  ...issuer,
  maxUnavailable: 2,
  hostAddress: "Managed",
  routedIPReclaimPolicy: "Delete",
  routedIPFirewallName: "edge",
};
