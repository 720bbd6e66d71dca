import { canonicalIPv6 } from "./address.ts";
import type { IPFamily } from "./address-source.ts";
import type { ApprovalPolicy } from "./approval.ts";
import {
  type DNSRecordSetSpec,
  type ForeignHolderPolicy,
  type HostAddressPolicy,
  ipFamilyOf,
  type MaxUnavailable,
  type ObjectMeta,
  type ReclaimPolicy,
  type RoutedIPStatus,
  type Toleration,
} from "./resource.ts";

/** `spec.ports[]` of a RoutedIP, as written. */
export interface RoutedPort {
  readonly protocol: string;
  /** `80`, `8000-9000`, `all`; `""` with icmp. */
  readonly port: string;
}

/** `spec` of a RoutedIP after defaulting. */
export interface RoutedIPSpec {
  /** Name of a RoutedIPIssuer in the same namespace; `""` when it has none. */
  readonly issuer: string;
  /** `""` = one is created. */
  readonly address: string;
  readonly serviceName: string;
  /** Absent or empty = those of the Service. */
  readonly ports: readonly RoutedPort[];
  readonly gracePeriodSeconds: number;
  readonly foreignHolder: ForeignHolderPolicy;
  readonly dnsRecordSet?: DNSRecordSetSpec;
  readonly suspend: boolean;
}

/** A RoutedIP: identity, defaulted spec and the status another run left. */
export interface RoutedIP {
  readonly meta: ObjectMeta;
  readonly spec: RoutedIPSpec;
  readonly status: RoutedIPStatus;
  /** Set when part of the object is not of the expected type (an older CRD let it in): the path and what is wrong. */
  readonly decodeError?: string;
}

/**
 * Returns the family of the addresses of a RoutedIP by itself: that of the issuer on record, else that of the address that it names. Whoever knows its issuer asks that. Pure.
 */
export function routedFamily({ spec, status }: Pick<RoutedIP, "spec" | "status">): IPFamily {
  if (status.issuer !== undefined) return ipFamilyOf(status.issuer);
  return canonicalIPv6(spec.address) === undefined ? "IPv4" : "IPv6";
}

/** `spec` of a RoutedIPIssuer after defaulting. */
export interface RoutedIPIssuerSpec {
  /** As of a pool. */
  readonly provider: string;
  readonly region: string;
  readonly reclaimPolicy: ReclaimPolicy;
  /** Name or id of a cloud firewall; `""` = no firewall work. */
  readonly firewallName: string;
  readonly nodeLabel: string;
  readonly tolerations: readonly Toleration[];
  /** Of its RoutedIPs; absent = `None`. */
  readonly approval?: ApprovalPolicy;
  /** As of a pool, for its routed IPs. */
  readonly maxUnavailable?: MaxUnavailable;
  /** As of a pool, for its routed IPs. */
  readonly drainSeconds?: number;
  /** As of a pool, for its routed IPs. */
  readonly hostAddress?: HostAddressPolicy;
}

/** A RoutedIPIssuer. flipop never writes one. */
export interface RoutedIPIssuer {
  readonly meta: ObjectMeta;
  readonly spec: RoutedIPIssuerSpec;
  /** Set when part of the object is not of the expected type (an older CRD let it in): the path and what is wrong. */
  readonly decodeError?: string;
}
