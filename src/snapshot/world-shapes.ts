import type { Address, AddressFact } from "../model/address.ts";
import type {
  DNSFacts,
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
import type { Firewall, FirewallFact, FirewallFacts, FirewallLimits, FirewallRule } from "../model/firewall.ts";
import type { GrantFacts, GrantProblem, NamespaceGrants } from "../model/grants.ts";
import type { NodeFacts, Readiness, Taint } from "../model/node.ts";
import type { LeaseFacts, Observation, PodReading, PodSummary, ProviderFacts } from "../model/observation.ts";
import { POOL, PORT_RANGE, RECORD_SET, SUSPENSION, texts } from "./object-shapes.ts";
import { fields, flag, list, mapOf, mark, number, oneOf, type Shape, setOf, text, word } from "./shape.ts";

/** What a server said: without the queries of URLs, which may hold anything. */
const said: Shape<string> = {
  write: (value) => value.replace(/(https?:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/g, "$1"),
  read: text.read,
};

const TAINT: Shape<Taint> = fields<Taint>({ key: text, value: text, effect: text, timeAddedMs: number }, "timeAddedMs");

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
    addresses: list(fields<NodeFacts["addresses"][number]>({ type: text, address: text })),
    addressAnnotation: text,
    poolAnnotation: text,
    unreadable: text,
  },
  "addressAnnotation",
  "poolAnnotation",
  "unreadable",
);

const POD_SUMMARY: Shape<PodSummary> = fields<PodSummary>(
  { ready: number, notReady: number, unreadySinceMs: number, unreadable: text },
  "unreadySinceMs",
  "unreadable",
);

const POD_READING: Shape<PodReading> = oneOf<PodReading>({
  read: fields({ kind: word("read"), byNode: mapOf(POD_SUMMARY) }),
  refused: fields({ kind: word("refused"), error: said }),
});

const REFUSAL: Shape<Refusal> = fields<Refusal>(
  { kind: word("no-access", "rate-limited", "unanswered"), message: said, notBeforeMs: number },
  "notBeforeMs",
);

const ADDRESS_FACT: Shape<AddressFact> = oneOf<AddressFact>({
  known: fields({
    kind: word("known"),
    address: fields<Address>({ ip: text, region: text, holderID: text, isLocked: flag }, "holderID"),
  }),
  gone: fields({ kind: word("gone") }),
  gap: fields({ kind: word("gap"), error: said }),
});

const PROVIDER: Shape<ProviderFacts> = fields<ProviderFacts>(
  {
    name: text,
    unusable: REFUSAL,
    addresses: mapOf(ADDRESS_FACT),
    isComplete: flag,
    readAtMs: number,
    addressCount: number,
    addressLimit: number,
  },
  "unusable",
  "addressCount",
  "addressLimit",
);

const UNREAD: Shape<UnreadDNS> = fields<UnreadDNS>(
  { kind: word("gap"), error: said, isRefused: flag, isUnanswered: flag, putOffUntilMs: number },
  "isUnanswered",
  "putOffUntilMs",
);

const ZONE_FACT: Shape<ZoneFact> = oneOf<ZoneFact>({
  known: fields({ kind: word("known"), zone: fields<Zone>({ id: text, name: text }, "name") }),
  missing: fields({ kind: word("missing") }),
  gap: UNREAD,
});

const RECORD_SET_STATE: Shape<RecordSetState> = fields<RecordSetState>(
  {
    fqdn: text,
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
    name: text,
    unusable: REFUSAL,
    ttlRules: fields<TTLRules>(
      { minimumSeconds: number, maximumSeconds: number, automaticSeconds: number },
      "automaticSeconds",
    ),
    isBatched: flag,
    zones: mapOf(ZONE_FACT),
    records: mapOf(RECORDS_FACT),
    owners: mapOf(OWNER_FACT),
    isOwnerLate: mark,
    isRehearsed: mark,
    lookFrom: text,
  },
  "unusable",
  "owners",
  "isOwnerLate",
  "isRehearsed",
  "lookFrom",
);

const FIREWALL: Shape<Firewall> = fields<Firewall>({
  id: text,
  name: text,
  rules: list(fields<FirewallRule>({ ports: PORT_RANGE, isOpenToAll: flag, isPlain: flag })),
  ruleCount: number,
  machineIDs: list(text),
  tags: list(text),
  isWaiting: flag,
  pendingMachineIDs: list(text),
  failedMachineIDs: list(text),
});

const FIREWALL_FACT: Shape<FirewallFact> = oneOf<FirewallFact>({
  known: fields({ kind: word("known"), firewall: FIREWALL, taggedMachineIDs: setOf(text) }),
  gone: fields({ kind: word("gone") }),
  ambiguous: fields({ kind: word("ambiguous"), ids: list(text) }),
  gap: fields({ kind: word("gap"), error: said }),
});

const FIREWALLS: Shape<FirewallFacts> = fields<FirewallFacts>(
  {
    name: text,
    unusable: REFUSAL,
    limits: fields<FirewallLimits>({ rules: number, machines: number }),
    firewalls: mapOf(FIREWALL_FACT),
  },
  "unusable",
);

const LEASE: Shape<LeaseFacts> = fields<LeaseFacts>(
  {
    acquisitionTimesMs: list(number),
    providerNotBeforeMs: mapOf(number),
    lookFrom: mapOf(text),
    suspension: SUSPENSION,
  },
  "suspension",
);

const GRANTS: Shape<GrantFacts> = fields<GrantFacts>(
  {
    mode: word("warn", "require"),
    namespaces: mapOf(
      fields<NamespaceGrants>({
        namespace: text,
        names: setOf(text),
        firewalls: setOf(text),
        addresses: setOf(text),
        prefixLengths: list(number),
        purchases: number,
        mayTakeOver: flag,
        problems: list(fields<GrantProblem>({ annotation: text, entry: text, why: text })),
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
    missingKinds: list(fields<Observation["missingKinds"][number]>({ resource: text, error: said })),
    nodes: list(NODE),
    pods: mapOf(POD_READING),
    providers: mapOf(PROVIDER),
    dns: mapOf(DNS),
    firewalls: mapOf(FIREWALLS),
    lease: LEASE,
    grants: GRANTS,
  },
  "grants",
);
