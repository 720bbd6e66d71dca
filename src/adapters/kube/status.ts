import type { AcquiredIP, PendingAcquisition, ReleasedIP } from "../../model/address.ts";
import { addressesOf, faultOf } from "../../model/fault-reason.ts";
import type { FirewallMemory, PendingFirewall } from "../../model/firewall.ts";
import type {
  Condition,
  DNSMemory,
  IPStatus,
  IssuerMemory,
  LeftAddress,
  NameFight,
  PoolStatus,
  PoolSummary,
  PublishedName,
  RecordSetStatus,
  RecordSetSummary,
  RecordSince,
  RetryStatus,
  RoutedIPStatus,
  UnreadyNode,
} from "../../model/resource.ts";
import { RETRY_REASONS } from "../../model/resource.ts";
import {
  defaulted,
  derived,
  type Field,
  type FieldsOf,
  flag,
  integer,
  list,
  object,
  optional,
  orElse,
  patchOf,
  text,
  textOrEmpty,
  texts,
  type Wrong,
  word,
} from "./fields.ts";
import { asInteger, asRecord } from "./json.ts";

// The status of flipop's custom resources. It is what earlier runs left, perhaps the Go operator's, perhaps edited by hand: whatever has the wrong shape is dropped,
// entry by entry, and absent means empty.

/** The status of one kind of object, as it is stored. */
export interface StatusFormat<Status> {
  /** Reads a stored status. Never throws. */
  readonly read: (stored: unknown) => Status;
  /**
   * Returns the `status` of a JSON merge patch (RFC 7396) that turns the stored status into this one. Every field flipop owns is in it, `null` where it is absent
   * or empty, so that the server removes it. Fields of others are not mentioned and stay.
   *
   * @param stored - `status` as the server has it, at the resourceVersion the patch will carry.
   */
  readonly patch: (status: Status, stored: unknown) => Readonly<Record<string, unknown>>;
}

/** Nobody is told of what is dropped. */
const UNTOLD: Wrong = () => undefined;

/** One whose time is lost is as it is since now. */
const RECORD_SINCE = object<RecordSince>({ address: text, since: textOrEmpty });

const NAME = object<PublishedName>({
  // A name whose place is not whole cannot be found again, so it is dropped.
  provider: text,
  zone: text,
  name: text,
  addresses: texts,
  foreign: optional(list(RECORD_SINCE)),
  unseen: optional(list(RECORD_SINCE)),
});

/** A merge patch only adds to an object, so what is absent is `null` in it. */
const PUBLISHED_NAME: Field<PublishedName> = {
  ...NAME,
  write: (name) => ({ ...name, foreign: name.foreign ?? null, unseen: name.unseen ?? null }),
};

/** One whose time is lost is over. */
const LEFT = object<LeftAddress>({ address: text, drainingUntil: textOrEmpty });

/** A fight whose times are lost is over. */
const FIGHT = object<NameFight>({
  provider: text,
  name: text,
  addresses: texts,
  ttlSeconds: orElse(integer, 0),
  seen: texts,
  since: textOrEmpty,
  times: texts,
  count: orElse(integer, 0),
});

const CONDITION = derived<Condition, "hasAddresses">(
  object({
    type: text,
    status: word(["True", "False", "Unknown"]),
    observedGeneration: orElse(integer, 0),
    lastTransitionTime: textOrEmpty,
    reason: textOrEmpty,
    message: textOrEmpty,
  }),
  ({ type, reason }) => addressesOf(type, reason),
);

const RETRY = object<RetryStatus>({
  subject: text,
  attempts: { read: (value) => Math.max(1, asInteger(value) ?? 1) },
  nextAttemptTime: textOrEmpty,
  error: textOrEmpty,
  reason: optional(word(RETRY_REASONS)),
});

const POOL_SUMMARY = object<PoolSummary>({ addresses: text, nodes: textOrEmpty });
const RECORD_SET_SUMMARY = object<RecordSetSummary>({ addresses: text });

/** What all kinds have in `status`, with the same meaning. */
const COMMON: FieldsOf<Pick<PoolStatus, Exclude<keyof PoolStatus & keyof RecordSetStatus, "summary">>> = {
  observedGeneration: optional(integer),
  conditions: list(CONDITION),
  error: optional(text),
  publishedDNS: optional(PUBLISHED_NAME),
  formerDNS: list(NAME),
  leftDNS: optional(list(LEFT)),
  fight: optional(FIGHT),
  retries: list(RETRY),
};

const IP_FIELDS: FieldsOf<Omit<IPStatus, "fault">> = {
  state: word(["active", "in-progress", "error", "no-match", "unassigned", "disabled"]),
  nodeName: optional(text),
  providerID: optional(text),
  previousProviderID: optional(text),
  error: optional(text),
  reason: optional(text),
  notMatchingSince: optional(text),
  drainingUntil: optional(text),
  drainsForSeconds: optional(integer),
  inherited: optional(flag),
};

const IP = derived<IPStatus, "fault">(object(IP_FIELDS), ({ reason }) => {
  const fault = faultOf(reason);
  return fault === undefined ? {} : { fault };
});

/** A merge patch only adds to a map, so addresses that are stored and no longer wanted are `null` in it. */
const IPS: Field<PoolStatus["ips"]> = {
  read: (value) => {
    const entries = Object.entries(asRecord(value) ?? {});
    return Object.fromEntries(
      entries.flatMap(([ip, entry]) => {
        const read = IP.read(entry, UNTOLD);
        return read === undefined ? [] : [[ip, read]];
      }),
    );
  },
  write: (ips, stored) => {
    const wanted = Object.entries(ips).map(([ip, entry]) => [ip, patchOf(IP_FIELDS, entry, {})]);
    const removed = Object.keys(asRecord(stored) ?? {}).map((ip) => [ip, null]);
    return wanted.length === 0 ? undefined : Object.fromEntries([...removed, ...wanted]);
  },
};

const ACQUIRED = object<AcquiredIP>({
  ip: text,
  acquiredAt: textOrEmpty,
  adopted: optional(flag),
  provider: optional(text),
});

/** An intent without its time still stands for a call that may have bought something, so it is kept. */
const PENDING = object<PendingAcquisition>({
  startedAt: textOrEmpty,
  region: optional(text),
  provider: optional(text),
  providerID: optional(text),
  nodeName: optional(text),
  knownIPs: texts,
  restored: optional(flag),
  candidates: optional(texts),
});

const RELEASED = object<ReleasedIP>({
  ip: text,
  providerID: optional(text),
  nodeName: optional(text),
  acquired: optional(flag),
  drainingUntil: optional(text),
  drainsForSeconds: optional(integer),
  releasedAt: optional(text),
});

const POOL_FIELDS: FieldsOf<PoolStatus> = {
  ...COMMON,
  summary: optional(POOL_SUMMARY),
  ips: IPS,
  assignableNodes: texts,
  nodeErrors: texts,
  acquired: list(ACQUIRED),
  pendingAcquisitions: list(PENDING),
  released: list(RELEASED),
  lastAssignmentTime: optional(text),
  assignments: optional(integer),
};

/** `status` of a FloatingIPPool. */
export const POOL_STATUS: StatusFormat<PoolStatus> = statusFormat(POOL_FIELDS);

/** A firewall that cannot be found again is dropped. */
const FIREWALL = object<FirewallMemory>({
  provider: text,
  id: text,
  name: textOrEmpty,
  ports: texts,
  machineIDs: texts,
});

/** An entry without its time means nothing: the change counts as pending from when it is seen again. */
const PENDING_FIREWALL = object<PendingFirewall>({
  id: text,
  name: textOrEmpty,
  machineID: optional(text),
  since: text,
});

/** Half of it would be worse than none: nothing is deleted on a policy that was not read. */
const ISSUER = object<IssuerMemory>({ provider: text, reclaimPolicy: word(["Retain", "Delete"]) });

/** `status` of a RoutedIP. */
export const ROUTED_IP_STATUS: StatusFormat<RoutedIPStatus> = statusFormat<RoutedIPStatus>({
  ...POOL_FIELDS,
  address: optional(text),
  nodeName: optional(text),
  firewalls: optional(list(FIREWALL)),
  pendingFirewalls: optional(list(PENDING_FIREWALL)),
  issuer: optional(ISSUER),
});

/** A grace period that lost its beginning starts afresh. */
const UNREADY = object<UnreadyNode>({ nodeName: text, since: text });

/** What is remembered of AAAA records; a merge patch only adds to it. */
const IPV6_FIELDS: FieldsOf<DNSMemory> = {
  publishedDNS: optional(PUBLISHED_NAME),
  formerDNS: list(NAME),
  leftDNS: optional(list(LEFT)),
  fight: optional(FIGHT),
};

const IPV6: Field<DNSMemory> = {
  read: (value, wrong) => {
    const stored = asRecord(value);
    return stored === undefined ? undefined : (defaulted(IPV6_FIELDS).read(stored, wrong) as DNSMemory);
  },
  write: (memory, stored) => patchOf(IPV6_FIELDS, memory, stored),
};

/** `status` of a NodeDNSRecordSet. */
export const RECORD_SET_STATUS: StatusFormat<RecordSetStatus> = statusFormat<RecordSetStatus>({
  ...COMMON,
  summary: optional(RECORD_SET_SUMMARY),
  state: optional(word(["active", "in-progress", "error"])),
  ipv6: optional(IPV6),
  unreadyNodes: list(UNREADY),
});

function statusFormat<Status extends object>(fields: FieldsOf<Status>): StatusFormat<Status> {
  const status = defaulted(fields);
  return {
    read: (stored) => status.read(stored, UNTOLD) as Status,
    patch: (value, stored) => patchOf(fields, value, stored),
  };
}
