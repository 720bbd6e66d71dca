import type { Address, AddressFact } from "../model/address.ts";
import type { PastEvent } from "../model/change.ts";
import type {
  DNSFacts,
  MissingZone,
  OwnerFact,
  RecordContent,
  RecordSetState,
  RecordsFact,
  TTLRules,
  UnreadDNS,
  Zone,
  ZoneFact,
} from "../model/dns.ts";
import type { Refusal } from "../model/errors.ts";
import type { ExternalOwner } from "../model/external-dns.ts";
import type {
  Firewall,
  FirewallFact,
  FirewallFacts,
  FirewallLimits,
  FirewallRule,
  OtherFirewalls,
} from "../model/firewall.ts";
import type { GrantFacts, GrantProblem, NamespaceGrants } from "../model/grants.ts";
import type { NodeFacts, NodeMarks, Readiness, Rest, RestingLabel, Taint } from "../model/node.ts";
import type { LeaseFacts, Observation, PodReading, PodSummary, ProviderFacts } from "../model/observation.ts";
import { dnsName, firewallName, POOL, PORT_RANGE, RECORD_SET, SUSPENSION, texts } from "./object-shapes.ts";
import {
  fields,
  flag,
  list,
  mapOf,
  mark,
  names,
  number,
  oneOf,
  type Shape,
  sentence,
  setOf,
  term,
  text,
  word,
} from "./shape.ts";

/** What a server said: without the queries of URLs, which may hold anything. */
const said: Shape<string> = {
  write: (value, by) => sentence.write(value.replace(/(https?:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/g, "$1"), by),
  read: sentence.read,
};

/** An Event of flipop. */
export const PAST_EVENT: Shape<PastEvent> = fields<PastEvent>({
  object: fields<PastEvent["object"]>({ kind: word("pool", "dns", "routedip"), namespace: text, name: text }),
  type: term,
  reason: term,
  action: term,
  note: said,
  firstMs: number,
  lastMs: number,
  count: number,
  controller: term,
  instance: text,
});

const TAINT: Shape<Taint> = fields<Taint>({ key: text, value: text, effect: term, timeAddedMs: number }, "timeAddedMs");

const RESTING_LABEL: Shape<RestingLabel> = fields<RestingLabel>({ name: term, value: text }, "value");

const MARKS: Shape<NodeMarks> = fields<NodeMarks>(
  { addressAnnotation: names, poolAnnotation: names, hostAnnotation: names },
  "addressAnnotation",
  "poolAnnotation",
  "hostAnnotation",
);

/** A node, with the labels that its caller leaves in. */
const NODE: Shape<NodeFacts> = fields<NodeFacts>(
  {
    name: text,
    resourceVersion: text,
    providerID: text,
    labels: texts,
    taints: list(TAINT),
    ready: fields<Readiness>({ isReady: flag, sinceMs: number }, "sinceMs"),
    isDeleting: flag,
    addresses: list(fields<NodeFacts["addresses"][number]>({ type: term, address: text })),
    addressAnnotation: names,
    poolAnnotation: names,
    hostAnnotation: names,
    ipv6: MARKS,
    unreadable: sentence,
    rest: fields<Rest>(
      { isUnready: flag, isGone: mark, taints: list(TAINT), labels: list(RESTING_LABEL), untilMs: number },
      "isGone",
      "labels",
      "untilMs",
    ),
  },
  "addressAnnotation",
  "poolAnnotation",
  "hostAnnotation",
  "ipv6",
  "unreadable",
  "rest",
);

type CountedPods = Omit<PodSummary, "ready" | "notReady"> & Partial<PodSummary>;

const COUNTED_PODS: Shape<CountedPods> = fields<CountedPods>(
  { ready: number, notReady: number, unreadySinceMs: number, restsUntilMs: number, unreadable: sentence },
  "ready",
  "notReady",
  "unreadySinceMs",
  "restsUntilMs",
  "unreadable",
);

/** There may be fifty thousand: a count that is absent is 0. */
const POD_SUMMARY: Shape<PodSummary> = {
  write: ({ ready, notReady, ...more }, by) =>
    COUNTED_PODS.write({ ...(ready === 0 ? {} : { ready }), ...(notReady === 0 ? {} : { notReady }), ...more }, by),
  read: (value, path) => ({ ready: 0, notReady: 0, ...COUNTED_PODS.read(value, path) }),
};

type Refused = Extract<PodReading, { readonly kind: "refused" }>;

const POD_READING: Shape<PodReading> = oneOf<PodReading>({
  read: fields({ kind: word("read"), byNode: mapOf(POD_SUMMARY) }),
  refused: fields<Refused>({ kind: word("refused"), error: said, isForbidden: mark }, "isForbidden"),
});

const REFUSAL: Shape<Refusal> = fields<Refusal>(
  {
    kind: word("no-access", "rate-limited", "unanswered"),
    message: said,
    notBeforeMs: number,
    isOfChange: mark,
    isAwaited: mark,
  },
  "notBeforeMs",
  "isOfChange",
  "isAwaited",
);

const ADDRESS_FACT: Shape<AddressFact> = oneOf<AddressFact>({
  known: fields({
    kind: word("known"),
    address: fields<Address>(
      {
        ip: text,
        region: text,
        holderID: text,
        isLocked: flag,
        isBlocked: mark,
        isProtected: mark,
        network: text,
        boughtFor: text,
      },
      "holderID",
      "isBlocked",
      "isProtected",
      "network",
      "boughtFor",
    ),
  }),
  gone: fields({ kind: word("gone") }),
  gap: fields({ kind: word("gap"), error: said }),
});

const PROVIDER: Shape<ProviderFacts> = fields<ProviderFacts>(
  {
    name: term,
    unusable: REFUSAL,
    addresses: mapOf(ADDRESS_FACT),
    isComplete: flag,
    readAtMs: number,
    addressCount: number,
    addressLimit: number,
    isLimitAwaited: mark,
  },
  "unusable",
  "addressCount",
  "addressLimit",
  "isLimitAwaited",
);

const UNREAD: Shape<UnreadDNS> = fields<UnreadDNS>(
  { kind: word("gap"), error: said, isRefused: flag, isUnanswered: flag, putOffUntilMs: number },
  "isUnanswered",
  "putOffUntilMs",
);

const ZONE_FACT: Shape<ZoneFact> = oneOf<ZoneFact>({
  known: fields({ kind: word("known"), zone: fields<Zone>({ id: dnsName, name: dnsName }, "name") }),
  missing: fields<MissingZone>({ kind: word("missing"), near: dnsName }, "near"),
  gap: UNREAD,
});

const RECORD_SET_STATE: Shape<RecordSetState> = fields<RecordSetState>(
  {
    fqdn: dnsName,
    addresses: list(text),
    ttlSeconds: number,
    isTTLAutomatic: flag,
    hasDuplicates: flag,
    records: list(fields<RecordContent>({ address: text, ttlSeconds: number })),
  },
  "ttlSeconds",
  "records",
);

const RECORDS_FACT: Shape<RecordsFact> = oneOf<RecordsFact>({
  known: fields<Extract<RecordsFact, { readonly kind: "known" }>>(
    { kind: word("known"), records: RECORD_SET_STATE, putOffUntilMs: number, removed: list(text) },
    "putOffUntilMs",
    "removed",
  ),
  gap: UNREAD,
});

const OWNER_FACT: Shape<OwnerFact> = oneOf<OwnerFact>({
  known: fields<Extract<OwnerFact, { readonly kind: "known" }>>(
    {
      kind: word("known"),
      owner: fields<ExternalOwner>({ id: text, mark: text, isEncrypted: mark }, "id", "isEncrypted"),
    },
    "owner",
  ),
  gap: UNREAD,
});

const DNS: Shape<DNSFacts> = fields<DNSFacts>(
  {
    name: term,
    unusable: REFUSAL,
    ttlRules: fields<TTLRules>(
      { minimumSeconds: number, maximumSeconds: number, automaticSeconds: number, isOfName: mark },
      "automaticSeconds",
      "isOfName",
    ),
    isBatched: flag,
    zones: mapOf(ZONE_FACT, dnsName),
    records: mapOf(RECORDS_FACT, dnsName),
    owners: mapOf(OWNER_FACT, dnsName),
    isOwnerLate: mark,
    isRehearsed: mark,
    lookFrom: dnsName,
  },
  "unusable",
  "owners",
  "isOwnerLate",
  "isRehearsed",
  "lookFrom",
);

const FIREWALL: Shape<Firewall> = fields<Firewall>(
  {
    id: firewallName,
    name: firewallName,
    rules: list(fields<FirewallRule>({ ports: PORT_RANGE, openTo: list(word("IPv4", "IPv6")), isPlain: flag })),
    ruleCount: number,
    machineIDs: list(text),
    tags: list(text),
    isWaiting: flag,
    pendingMachineIDs: list(text),
    failedMachineIDs: list(text),
    isUnlabelled: mark,
    limitsOutgoing: mark,
    othersAt: mapOf(fields<OtherFirewalls>({ inForce: number, pending: number })),
  },
  "isUnlabelled",
  "limitsOutgoing",
  "othersAt",
);

const FIREWALL_FACT: Shape<FirewallFact> = oneOf<FirewallFact>({
  known: fields({ kind: word("known"), firewall: FIREWALL, taggedMachineIDs: setOf(text) }),
  gone: fields({ kind: word("gone") }),
  ambiguous: fields({ kind: word("ambiguous"), ids: list(firewallName) }),
  gap: fields({ kind: word("gap"), error: said }),
});

const FIREWALLS: Shape<FirewallFacts> = fields<FirewallFacts>(
  {
    name: term,
    unusable: REFUSAL,
    limits: fields<FirewallLimits>({ rules: number, machines: number, perMachine: number }, "perMachine"),
    firewalls: mapOf(FIREWALL_FACT, firewallName),
  },
  "unusable",
);

const LEASE: Shape<LeaseFacts> = fields<LeaseFacts>(
  {
    acquisitionTimesMs: list(number),
    acquisitionTimesIPv6Ms: list(number),
    providerNotBeforeMs: mapOf(number, term),
    lookFrom: mapOf(dnsName, term),
    suspension: SUSPENSION,
  },
  "acquisitionTimesIPv6Ms",
  "suspension",
);

const GRANTS: Shape<GrantFacts> = fields<GrantFacts>(
  {
    mode: word("warn", "require"),
    namespaces: mapOf(
      fields<NamespaceGrants>({
        namespace: text,
        names: setOf(dnsName),
        firewalls: setOf(firewallName),
        addresses: setOf(text),
        prefixLengths: list(number),
        purchases: number,
        mayTakeOver: flag,
        problems: list(
          fields<GrantProblem>({ annotation: sentence, entry: text, why: sentence, count: number }, "count"),
        ),
      }),
    ),
    refusal: said,
  },
  "refusal",
);

/** What a snapshot holds of an observation. The cluster's URL, what a run may do and what flipop knows of providers by itself are not among it. */
export type ObservedPart = Omit<Observation, "cluster" | "registry" | "restraint" | "settling">;

/** An observation as a value. */
export const OBSERVED: Shape<ObservedPart> = fields<ObservedPart>(
  {
    observedAtMs: number,
    nodesReadAtMs: number,
    pools: list(POOL),
    recordSets: list(RECORD_SET),
    missingKinds: list(fields<Observation["missingKinds"][number]>({ resource: term, error: said })),
    nodes: list(NODE),
    pods: mapOf(POD_READING),
    providers: mapOf(PROVIDER, term),
    dns: mapOf(DNS, term),
    firewalls: mapOf(FIREWALLS, term),
    lease: LEASE,
    grants: GRANTS,
  },
  "grants",
);
