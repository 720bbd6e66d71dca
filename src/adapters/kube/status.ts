import type { AcquiredIP, PendingAcquisition, ReleasedIP } from "../../model/address.ts";
import type { FirewallMemory, PendingFirewall } from "../../model/firewall.ts";
import { addressesOf, faultOf } from "../../model/reason.ts";
import type {
  Condition,
  IPStatus,
  IssuerMemory,
  PoolStatus,
  PublishedName,
  RecordSetStatus,
  RetryStatus,
  RoutedIPStatus,
  UnreadyNode,
} from "../../model/resource.ts";
import { asFlag, asInteger, asList, asRecord, asText, asTexts } from "./json.ts";

// The status of flipop's custom resources, each field described once for both ways. It is what earlier runs left, perhaps the Go operator's, perhaps edited by
// hand: whatever has the wrong shape is dropped, entry by entry, and absent means empty.

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

/** One value of a status. */
interface Field<T> {
  /** Undefined for what is absent or has another shape. An entry that lacks a field which is not optional is dropped. */
  read(value: unknown): T | undefined;
  /** How the value is stored; absent = as it is. */
  write?(value: T, stored: unknown): unknown;
}

type OptionalField<T> = Field<T> & { readonly isOptional: true };

/** A description of every field of an object. The compiler refuses one that is forgotten, or optional in only one of the two. */
type FieldsOf<T> = {
  readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K>
    ? OptionalField<Exclude<T[K], undefined>>
    : Field<T[K]>;
};

const text: Field<string> = { read: asText };
const integer: Field<number> = { read: asInteger };
const flag: Field<boolean> = { read: asFlag };
const texts: Field<readonly string[]> = { read: asTexts };
const textOrEmpty = orElse(text, "");

const NAME = object<PublishedName>({
  // A name whose place is not whole cannot be found again, so it is dropped.
  provider: text,
  zone: text,
  name: text,
  addresses: texts,
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
});

/** What all kinds have in `status`, with the same meaning. */
const COMMON: FieldsOf<Pick<PoolStatus, keyof PoolStatus & keyof RecordSetStatus>> = {
  observedGeneration: optional(integer),
  conditions: list(CONDITION),
  error: optional(text),
  publishedDNS: optional(NAME),
  formerDNS: list(NAME),
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
        const read = IP.read(entry);
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

const ACQUIRED = object<AcquiredIP>({ ip: text, acquiredAt: textOrEmpty, adopted: optional(flag) });

/** An intent without its time still stands for a call that may have bought something, so it is kept. */
const PENDING = object<PendingAcquisition>({
  startedAt: textOrEmpty,
  region: optional(text),
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
});

const POOL_FIELDS: FieldsOf<PoolStatus> = {
  ...COMMON,
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

/** `status` of a NodeDNSRecordSet. */
export const RECORD_SET_STATUS: StatusFormat<RecordSetStatus> = statusFormat<RecordSetStatus>({
  ...COMMON,
  state: optional(word(["active", "in-progress", "error"])),
  unreadyNodes: list(UNREADY),
});

/** A status none of whose fields makes it unreadable: each is optional, or empty by default. */
function statusFormat<Status extends object>(fields: FieldsOf<Status>): StatusFormat<Status> {
  return {
    read: (stored) => readFields(fields, asRecord(stored) ?? {}) as Status,
    patch: (status, stored) => patchOf(fields, status, asRecord(stored) ?? {}),
  };
}

function object<T extends object>(fields: FieldsOf<T>): Field<T> {
  return {
    read: (value) => {
      const record = asRecord(value);
      return record && readFields(fields, record);
    },
    write: (value) => {
      const described = Object.keys(fields).map((name) => [name, value[name as keyof T]] as const);
      return Object.fromEntries(described.filter(([, member]) => member !== undefined));
    },
  };
}

/** Adds to an object, when it is read, what follows from its other fields and is not stored. */
function derived<T, K extends keyof T>(stored: Field<Omit<T, K>>, more: (value: Omit<T, K>) => Partial<T>): Field<T> {
  return {
    ...stored,
    read: (value) => {
      const read = stored.read(value);
      return read && ({ ...read, ...more(read) } as T);
    },
  };
}

function readFields<T>(fields: FieldsOf<T>, record: Readonly<Record<string, unknown>>): T | undefined {
  const members: [string, unknown][] = [];
  for (const [name, field] of membersOf(fields)) {
    const value = field.read(record[name]);
    if (value !== undefined) members.push([name, value]);
    else if (!("isOptional" in field)) return undefined;
  }
  return Object.fromEntries(members) as T;
}

function patchOf<T extends object>(
  fields: FieldsOf<T>,
  value: T,
  stored: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const members = membersOf(fields).map(([name, { write }]) => {
    const member: unknown = value[name as keyof T];
    const isEmpty = member === undefined || member === "" || (Array.isArray(member) && member.length === 0);
    const written = isEmpty || write === undefined ? member : write(member, stored[name]);
    return [name, isEmpty ? null : (written ?? null)];
  });
  return Object.fromEntries(members);
}

function membersOf<T>(fields: FieldsOf<T>): readonly (readonly [string, Field<unknown>])[] {
  return Object.entries(fields as Readonly<Record<string, Field<unknown>>>);
}

function list<T>({ read, write }: Field<T>): Field<readonly T[]> {
  return {
    read: (value) => asList(value).flatMap((entry) => read(entry) ?? []),
    ...(write === undefined ? {} : { write: (values) => values.map((entry) => write(entry, undefined)) }),
  };
}

/** Absent where it cannot be read, and as an empty list. */
function optional<T>(field: Field<T>): OptionalField<T> {
  const read = (value: unknown): T | undefined => {
    const result = field.read(value);
    return Array.isArray(result) && result.length === 0 ? undefined : result;
  };
  return { ...field, read, isOptional: true };
}

function orElse<T>(field: Field<T>, otherwise: T): Field<T> {
  return { read: (value) => field.read(value) ?? otherwise };
}

function word<T extends string>(words: readonly T[]): Field<T> {
  return { read: (value) => words.find((candidate) => candidate === value) };
}
