import type { AcquisitionNote } from "../model/acquisition-memory.ts";
import type { AcquiredIP, PendingAcquisition, ReleasedIP } from "../model/address.ts";
import type { Approval, ApprovalPolicy } from "../model/approval.ts";
import type { FirewallMemory, FirewallWish, PendingFirewall, PortRange } from "../model/firewall.ts";
import type {
  Condition,
  DNSMemory,
  DNSRecordSetSpec,
  HostAddressPolicy,
  IPFault,
  IPState,
  IPStatus,
  IssuerMemory,
  LeftAddress,
  MatchSpec,
  MaxUnavailable,
  NameFight,
  ObjectMeta,
  Pool,
  PoolSpec,
  PoolSummary,
  PublishedName,
  ReclaimPolicy,
  RecordSet,
  RecordSetSpec,
  RecordSetStatus,
  RecordSetSummary,
  RecordSince,
  RetryStatus,
  RoutedIPStatus,
  Toleration,
  UnreadyNode,
} from "../model/resource.ts";
import { RETRY_REASONS } from "../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer, RoutedIPIssuerSpec, RoutedIPSpec, RoutedPort } from "../model/routed-ip.ts";
import type { ServiceFacts, ServicePort } from "../model/service.ts";
import type { Suspension } from "../model/suspension.ts";
import {
  fields,
  flag,
  list,
  mark,
  number,
  recordOf,
  type Shape,
  sentence,
  setOf,
  term,
  text,
  textOf,
  word,
} from "./shape.ts";

/** A name of DNS, a zone, or a part of one. */
export const dnsName: Shape<string> = textOf("dns");
/** The name or the id of a firewall. */
export const firewallName: Shape<string> = textOf("firewall");
const figure: Shape<string> = textOf("figure");

/** Labels, selectors and the like. */
export const texts: Shape<Readonly<Record<string, string>>> = recordOf(text);

/** What an annotation says of standing still. */
export const SUSPENSION: Shape<Suspension> = fields<Suspension>(
  { by: text, why: sentence, sinceMs: number, untilMs: number, problem: sentence },
  "sinceMs",
  "untilMs",
  "problem",
);

const META: Shape<ObjectMeta> = fields<ObjectMeta>(
  {
    namespace: text,
    name: text,
    uid: text,
    resourceVersion: text,
    generation: number,
    createdAtMs: number,
    isDeleting: flag,
    finalizers: list(term),
    // One of them says whose the object is.
    labels: recordOf(text, term),
    note: fields<AcquisitionNote>({ ips: list(text), pending: list(text), provider: term }, "provider"),
    suspension: SUSPENSION,
    approval: fields<Approval>(
      { plan: setOf(text), by: text, untilMs: number, problem: sentence },
      "untilMs",
      "problem",
    ),
  },
  "note",
  "suspension",
  "approval",
);

const TOLERATIONS: Shape<readonly Toleration[]> = list(
  fields<Toleration>(
    { key: text, operator: term, value: text, effect: term, tolerationSeconds: number },
    "key",
    "operator",
    "value",
    "effect",
    "tolerationSeconds",
  ),
);

const MATCH: Shape<MatchSpec> = fields<MatchSpec>({
  nodeLabel: text,
  podNamespace: text,
  podLabel: text,
  tolerations: TOLERATIONS,
});

const DNS_SPEC: Shape<DNSRecordSetSpec> = fields<DNSRecordSetSpec>(
  { provider: term, zone: dnsName, recordName: dnsName, ttlSeconds: number, foreignRecords: term },
  "foreignRecords",
);

/** Either of the two. */
const MAX_UNAVAILABLE = fields<{ readonly count?: number; readonly percent?: number }>(
  { count: number, percent: number },
  "count",
  "percent",
) as Shape<MaxUnavailable>;

const RECLAIM = word<ReclaimPolicy>("Retain", "Delete");
const HOST_ADDRESS = word<HostAddressPolicy>("External", "Managed");
const APPROVAL = word<ApprovalPolicy>("None", "Voluntary");
const FOREIGN_HOLDER = word<PoolSpec["foreignHolder"]>("Hold", "TakeOver");

const POOL_SPEC: Shape<PoolSpec> = fields<PoolSpec>(
  {
    provider: term,
    region: text,
    ips: list(text),
    desiredIPs: number,
    assignmentCoolOffSeconds: number,
    gracePeriodSeconds: number,
    maxUnavailable: MAX_UNAVAILABLE,
    drainSeconds: number,
    maxPerNode: number,
    hostAddress: HOST_ADDRESS,
    match: MATCH,
    dnsRecordSet: DNS_SPEC,
    reclaimPolicy: RECLAIM,
    foreignHolder: FOREIGN_HOLDER,
    suspend: flag,
    approval: APPROVAL,
  },
  "maxUnavailable",
  "drainSeconds",
  "maxPerNode",
  "hostAddress",
  "dnsRecordSet",
  "approval",
);

const CONDITION: Shape<Condition> = fields<Condition>(
  {
    type: term,
    status: word("True", "False", "Unknown"),
    observedGeneration: number,
    lastTransitionTime: text,
    reason: term,
    message: sentence,
    hasAddresses: mark,
  },
  "hasAddresses",
);

const SINCE: Shape<RecordSince> = fields<RecordSince>({ address: text, since: text });

const PUBLISHED: Shape<PublishedName> = fields<PublishedName>(
  { provider: term, zone: dnsName, name: dnsName, addresses: list(text), foreign: list(SINCE), unseen: list(SINCE) },
  "foreign",
  "unseen",
);

const LEFT: Shape<LeftAddress> = fields<LeftAddress>({ address: text, drainingUntil: text });

const RETRY: Shape<RetryStatus> = fields<RetryStatus>(
  {
    subject: textOf("subject"),
    attempts: number,
    nextAttemptTime: text,
    error: sentence,
    reason: word(...RETRY_REASONS),
  },
  "reason",
);

const IP_STATUS: Shape<IPStatus> = fields<IPStatus>(
  {
    state: word<IPState>("active", "in-progress", "error", "no-match", "unassigned", "disabled"),
    nodeName: text,
    providerID: text,
    previousProviderID: text,
    error: sentence,
    reason: term,
    fault: word<IPFault>("conflict", "ungranted", "unknown", "invalid", "blocked", "gone", "foreign", "unread"),
    notMatchingSince: text,
    drainingUntil: text,
    drainsForSeconds: number,
    inherited: flag,
  },
  "nodeName",
  "providerID",
  "previousProviderID",
  "error",
  "reason",
  "fault",
  "notMatchingSince",
  "drainingUntil",
  "drainsForSeconds",
  "inherited",
);

const ACQUIRED: Shape<AcquiredIP> = fields<AcquiredIP>(
  { ip: text, acquiredAt: text, adopted: flag, provider: term },
  "adopted",
  "provider",
);

const PENDING: Shape<PendingAcquisition> = fields<PendingAcquisition>(
  {
    startedAt: text,
    region: text,
    provider: term,
    providerID: text,
    nodeName: text,
    knownIPs: list(text),
    restored: flag,
    candidates: list(text),
  },
  "region",
  "provider",
  "providerID",
  "nodeName",
  "restored",
  "candidates",
);

const RELEASED: Shape<ReleasedIP> = fields<ReleasedIP>(
  {
    ip: text,
    providerID: text,
    nodeName: text,
    acquired: flag,
    drainingUntil: text,
    drainsForSeconds: number,
    releasedAt: text,
  },
  "providerID",
  "nodeName",
  "acquired",
  "drainingUntil",
  "drainsForSeconds",
  "releasedAt",
);

const FIREWALL_MEMORY: Shape<FirewallMemory> = fields<FirewallMemory>({
  provider: term,
  id: firewallName,
  name: firewallName,
  ports: list(figure),
  machineIDs: list(text),
});

const PENDING_FIREWALL: Shape<PendingFirewall> = fields<PendingFirewall>(
  { id: firewallName, name: firewallName, machineID: text, since: text },
  "machineID",
);

const ISSUER: Shape<IssuerMemory> = fields<IssuerMemory>({ provider: term, reclaimPolicy: RECLAIM });

const FIGHT: Shape<NameFight> = fields<NameFight>({
  provider: term,
  name: dnsName,
  addresses: list(text),
  ttlSeconds: number,
  seen: list(text),
  since: text,
  times: list(text),
  count: number,
});

const POOL_STATUS: Shape<RoutedIPStatus> = fields<RoutedIPStatus>(
  {
    observedGeneration: number,
    conditions: list(CONDITION),
    summary: fields<PoolSummary>({ addresses: figure, nodes: figure }),
    error: sentence,
    ips: recordOf(IP_STATUS),
    assignableNodes: list(text),
    nodeErrors: list(sentence),
    acquired: list(ACQUIRED),
    pendingAcquisitions: list(PENDING),
    released: list(RELEASED),
    retries: list(RETRY),
    lastAssignmentTime: text,
    assignments: number,
    publishedDNS: PUBLISHED,
    fight: FIGHT,
    formerDNS: list(PUBLISHED),
    leftDNS: list(LEFT),
    address: text,
    nodeName: text,
    firewalls: list(FIREWALL_MEMORY),
    pendingFirewalls: list(PENDING_FIREWALL),
    issuer: ISSUER,
  },
  "observedGeneration",
  "summary",
  "error",
  "lastAssignmentTime",
  "assignments",
  "publishedDNS",
  "fight",
  "leftDNS",
  "address",
  "nodeName",
  "firewalls",
  "pendingFirewalls",
  "issuer",
);

/** Ports of one protocol. */
export const PORT_RANGE: Shape<PortRange> = fields<PortRange>({
  protocol: word("tcp", "udp", "icmp"),
  from: number,
  to: number,
});

/** A FloatingIPPool, or a RoutedIP as a pool of one address. */
export const POOL: Shape<Pool> = fields<Pool>(
  {
    kind: word("pool", "routedip"),
    meta: META,
    spec: POOL_SPEC,
    status: POOL_STATUS,
    endpoints: fields<NonNullable<Pool["endpoints"]>>({ namespace: text, name: text }),
    restored: list(text),
    firewall: fields<FirewallWish>({
      provider: term,
      firewall: firewallName,
      ports: list(PORT_RANGE),
      unusable: list(figure),
    }),
    issuer: ISSUER,
    issuerName: text,
    decodeError: sentence,
  },
  "endpoints",
  "restored",
  "firewall",
  "issuer",
  "issuerName",
  "decodeError",
);

const RECORD_SET_SPEC: Shape<RecordSetSpec> = fields<RecordSetSpec>(
  {
    provider: term,
    dnsRecordSet: DNS_SPEC,
    addressType: term,
    ipFamilies: list(term),
    gracePeriodSeconds: number,
    match: MATCH,
    whenEmpty: word("Keep", "Delete"),
    reclaimPolicy: RECLAIM,
    suspend: flag,
    approval: APPROVAL,
  },
  "approval",
  "ipFamilies",
);

const RECORD_SET_STATUS: Shape<RecordSetStatus> = fields<RecordSetStatus>(
  {
    observedGeneration: number,
    conditions: list(CONDITION),
    summary: fields<RecordSetSummary>({ addresses: figure }),
    state: word("active", "in-progress", "error"),
    error: sentence,
    unreadyNodes: list(fields<UnreadyNode>({ nodeName: text, since: text })),
    retries: list(RETRY),
    publishedDNS: PUBLISHED,
    fight: FIGHT,
    formerDNS: list(PUBLISHED),
    leftDNS: list(LEFT),
    ipv6: fields<DNSMemory>(
      { publishedDNS: PUBLISHED, fight: FIGHT, formerDNS: list(PUBLISHED), leftDNS: list(LEFT) },
      "publishedDNS",
      "fight",
      "leftDNS",
    ),
  },
  "observedGeneration",
  "summary",
  "state",
  "error",
  "publishedDNS",
  "fight",
  "leftDNS",
  "ipv6",
);

/** A NodeDNSRecordSet. */
export const RECORD_SET: Shape<RecordSet> = fields<RecordSet>(
  { meta: META, spec: RECORD_SET_SPEC, status: RECORD_SET_STATUS, decodeError: sentence },
  "decodeError",
);

/** A RoutedIP as it is stored. */
export const ROUTED_IP: Shape<RoutedIP> = fields<RoutedIP>(
  {
    meta: META,
    spec: fields<RoutedIPSpec>(
      {
        issuer: text,
        address: text,
        serviceName: text,
        ports: list(fields<RoutedPort>({ protocol: term, port: figure })),
        gracePeriodSeconds: number,
        foreignHolder: FOREIGN_HOLDER,
        dnsRecordSet: DNS_SPEC,
        suspend: flag,
      },
      "dnsRecordSet",
    ),
    status: POOL_STATUS,
    decodeError: sentence,
  },
  "decodeError",
);

/** A RoutedIPIssuer. */
export const ROUTED_IP_ISSUER: Shape<RoutedIPIssuer> = fields<RoutedIPIssuer>(
  {
    meta: META,
    spec: fields<RoutedIPIssuerSpec>(
      {
        provider: term,
        region: text,
        reclaimPolicy: RECLAIM,
        firewallName,
        nodeLabel: text,
        tolerations: TOLERATIONS,
        approval: APPROVAL,
        maxUnavailable: MAX_UNAVAILABLE,
        drainSeconds: number,
        hostAddress: HOST_ADDRESS,
      },
      "approval",
      "maxUnavailable",
      "drainSeconds",
      "hostAddress",
    ),
    decodeError: sentence,
  },
  "decodeError",
);

/** A Service, as far as a RoutedIP is made of it. */
export const SERVICE: Shape<ServiceFacts> = fields<ServiceFacts>(
  {
    namespace: text,
    name: text,
    resourceVersion: text,
    type: term,
    selector: texts,
    ports: list(fields<ServicePort>({ protocol: term, port: number, nodePort: number })),
    unreadable: word("spec", "spec.type", "spec.selector", "spec.ports"),
  },
  "unreadable",
);
