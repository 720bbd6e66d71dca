import { withProvider } from "../../model/acquisition-memory.ts";
import { canonicalIPv6 } from "../../model/address.ts";
import { type IPFamily, sourceNamed, sourceText } from "../../model/address-source.ts";
import type { ApprovalPolicy } from "../../model/approval.ts";
import { IP_FAMILIES } from "../../model/node-annotations.ts";
import {
  type DNSRecordSetSpec,
  FINALIZER,
  type ForeignHolderPolicy,
  HOST_ADDRESS,
  type HostAddressPolicy,
  ipFamilyOf,
  type MatchSpec,
  type MaxUnavailable,
  type ObjectMeta,
  type Pool,
  type PoolSpec,
  type PoolStatus,
  type ReclaimPolicy,
  type RecordSet,
  type RecordSetSpec,
  type RecordSetStatus,
  type RoutedIPStatus,
  type Toleration,
} from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer, RoutedIPIssuerSpec, RoutedIPSpec, RoutedPort } from "../../model/routed-ip.ts";
import { formatTime } from "../../model/time.ts";
import { RESOURCES } from "./call.ts";
import {
  defaulted,
  type Field,
  type FieldsOf,
  flag,
  list,
  named,
  optional,
  orElse,
  problemsOf,
  storedObject,
  text,
  textOrEmpty,
  type Wrong,
  within,
  word,
} from "./fields.ts";
import { asInteger, asRecord, jsonText } from "./json.ts";
import type { ListRequest } from "./lists.ts";
import { decodeMeta } from "./metadata.ts";
import { POOL_STATUS, RECORD_SET_STATUS, ROUTED_IP_STATUS, type StatusFormat } from "./status.ts";
import type { StoreRules } from "./watch/watched-store.ts";

/** How one kind of flipop's custom resources is read. */
export interface ReadableResource<T extends { readonly meta: ObjectMeta }>
  extends Pick<ListRequest<T>, "kind" | "resource" | "rules"> {
  /** Undefined only for something without a name. Never throws. */
  readonly decode: (object: unknown) => T | undefined;
  /** Returns metadata and spec of an object as they are stored: `decode` reads them again. Annotations, and what is wrong with the spec, are not among them. */
  readonly encode: (object: T) => EncodedObject;
}

/** An object as it is stored. */
export interface EncodedObject {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** How one kind of flipop's custom resources goes over the wire, both ways. */
export interface CustomResource<T extends { readonly meta: ObjectMeta; readonly status: Status }, Status>
  extends ReadableResource<T> {
  readonly status: StatusFormat<Status>;
}

/** Of pools, record sets and routed IPs flipop writes their status, its finalizer and its annotation. */
const RULES: StoreRules<{ readonly meta: ObjectMeta; readonly status: unknown }> = {
  visible: withoutVersion,
  foreign: (object) => {
    const { note: _note, ...meta } = object.meta;
    const finalizers = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    return { ...object, meta: { ...meta, resourceVersion: "", finalizers }, status: undefined };
  },
};

function withoutVersion<T extends { readonly meta: ObjectMeta }>(object: T): T {
  return { ...object, meta: { ...object.meta, resourceVersion: "" } };
}

/** The custom resources flipop serves; of issuers it writes nothing. */
export const CUSTOM_RESOURCES: {
  readonly pools: CustomResource<Pool, PoolStatus>;
  readonly recordSets: CustomResource<RecordSet, RecordSetStatus>;
  readonly routedIPs: CustomResource<RoutedIP, RoutedIPStatus>;
  readonly issuers: ReadableResource<RoutedIPIssuer>;
} = {
  pools: {
    kind: "pool",
    resource: RESOURCES.pools,
    decode: decodePool,
    encode: (pool) => encodeObject(POOL_SPEC, { ...pool, spec: asWritten(pool.spec) }),
    status: POOL_STATUS,
    rules: RULES,
  },
  recordSets: {
    kind: "record-set",
    resource: RESOURCES.recordSets,
    decode: decodeRecordSet,
    encode: (object) => encodeObject(RECORD_SET_SPEC, object),
    status: RECORD_SET_STATUS,
    rules: RULES,
  },
  routedIPs: {
    kind: "routed-ip",
    resource: RESOURCES.routedIPs,
    decode: decodeRoutedIP,
    encode: (object) => encodeObject(ROUTED_IP_SPEC, object),
    status: ROUTED_IP_STATUS,
    rules: RULES,
  },
  issuers: {
    kind: "issuer",
    resource: RESOURCES.issuers,
    decode: decodeRoutedIPIssuer,
    encode: (object) => encodeObject(ISSUER_SPEC, { ...object, spec: asWritten(object.spec) }),
    rules: { visible: withoutVersion, foreign: withoutVersion },
  },
};

/** A hundred years. RFC 3339 ends with the year 9999, a JSON number does not. */
const LONGEST_SECONDS = 100 * 365 * 86_400;

/** A length of time of at least 0 seconds; 0 for absent. Longer than a hundred years counts as that, so that a time counted from it can always be written down. */
const seconds: Field<number> = {
  read: (value, wrong) => {
    const read = value ?? 0;
    if (typeof read === "number" && read > 0) return Math.min(read, LONGEST_SECONDS);
    if (read !== 0) wrong("a number of at least 0", value);
    return 0;
  },
};

/** An integer of at least 0; the default for absent and 0. */
function count(otherwise = 0): Field<number> {
  return {
    read: (value, wrong) => {
      const read = asInteger(value ?? 0);
      if (read !== undefined && read >= 0) return read === 0 ? otherwise : read;
      wrong(read === undefined ? "an integer of at least 0" : "a number of at least 0", value);
      return read === undefined ? otherwise : 0;
    },
  };
}

/** A number of addresses of at least 1, or a percentage from 1% to 100%. What stopped every drain would be written by mistake only. */
const maxUnavailable: Field<MaxUnavailable> = {
  read: (value, wrong) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= 1) return { count: value };
    const percent = typeof value === "string" ? Number(/^(\d{1,3})%$/.exec(value)?.[1]) : Number.NaN;
    if (percent >= 1 && percent <= 100) return { percent };
    return void wrong("an integer of at least 1, or a percentage from 1% to 100%", value);
  },
  write: (value) => ("count" in value ? value.count : `${value.percent}%`),
};

/** The longest time an address may be kept longer than the TTL, seconds. */
const LONGEST_DRAIN_SECONDS = 600;

const drainSeconds: Field<number> = {
  read: (value, wrong) => {
    if (typeof value === "number" && value >= 0 && value <= LONGEST_DRAIN_SECONDS) return value;
    return void wrong(`a number from 0 to ${LONGEST_DRAIN_SECONDS}`, value);
  },
};

const maxPerNode: Field<number> = {
  read: (value, wrong) => {
    const read = asInteger(value);
    return read !== undefined && read >= 1 ? read : void wrong("an integer of at least 1", value);
  },
};

/** What is absent or empty is left out. */
const TOLERATION: FieldsOf<Toleration> = {
  key: optional(text),
  operator: optional(text),
  value: optional(text),
  effect: optional(text),
  tolerationSeconds: optional({
    read: (value, wrong) => (typeof value === "number" ? value : void wrong("a number", value)),
  }),
};

/** What is absent restricts nothing. */
const MATCH: FieldsOf<MatchSpec> = {
  nodeLabel: textOrEmpty,
  podNamespace: textOrEmpty,
  podLabel: textOrEmpty,
  tolerations: list(defaulted(TOLERATION)),
};

/** @param provider - stands for an absent one. */
function dnsRecordSet(provider: string): Field<DNSRecordSetSpec> {
  return defaulted({
    provider: orElse(text, provider),
    zone: textOrEmpty,
    recordName: textOrEmpty,
    ttlSeconds: named("ttl", count(60)),
    // Any other text is an error of the DNS part alone, which the planner finds.
    foreignRecords: optional(text),
  });
}

const reclaimPolicy = orElse<ReclaimPolicy>(word(["Retain", "Delete"]), "Retain");
const foreignHolder = orElse<ForeignHolderPolicy>(word(["Hold", "TakeOver"]), "Hold");
const suspend = orElse(flag, false);
const hostAddress = optional<HostAddressPolicy>(word(HOST_ADDRESS));
const approval = optional<ApprovalPolicy>(word(["None", "Voluntary"]));

/** A spec as it is written: the provider and the family of its addresses, which are one source, stand in two fields. */
type Written<Spec extends { readonly provider: string }> = Spec & { readonly ipFamily?: IPFamily };

/** The name of a provider. What would be read as a source of IPv6 addresses is none: their family has a field of its own. */
const providerName: Field<string> = {
  read: (value, wrong) => {
    const name = textOrEmpty.read(value, wrong) ?? "";
    if (sourceNamed(name).family === "IPv4") return name;
    wrong("the name of a provider", value);
    return "";
  },
};

const ipFamily = optional<IPFamily>(word(IP_FAMILIES));

/** Joins provider and family. Nothing but this and {@link asWritten} knows that they are two. */
function withSource<Spec extends { readonly provider: string }>({
  ipFamily: family = "IPv4",
  ...spec
}: Written<Spec>): Omit<Written<Spec>, "ipFamily"> & { readonly provider: string } {
  return { ...spec, provider: sourceText({ provider: spec.provider, family }) };
}

function asWritten<Spec extends { readonly provider: string }>(spec: Spec): Written<Spec> {
  const { provider, family } = sourceNamed(spec.provider);
  return { ...spec, provider, ...(family === "IPv4" ? {} : { ipFamily: family }) };
}

/** A FloatingIPPool, see {@link decodeObject}. Never throws. */
export function decodePool(object: unknown): Pool | undefined {
  const pool = decodeObject(object, POOL_SPEC, POOL_STATUS.read);
  if (pool === undefined) return undefined;
  const spec: PoolSpec = withSource<PoolSpec>(pool.spec);
  return { kind: "pool", ...pool, spec: { ...spec, ips: canonicalEntries(spec) }, status: withNoted(pool) };
}

/** The status with what an older definition drops of it, and the annotation keeps. So it counts as written. */
function withNoted<S extends PoolStatus>({ meta, status }: { readonly meta: ObjectMeta; readonly status: S }): S {
  return withProvider(status, meta.note?.provider);
}

/** What people may write in many ways is one address from here on. */
function canonicalEntries(spec: PoolSpec): readonly string[] {
  return ipFamilyOf(spec) === "IPv4" ? spec.ips : spec.ips.map(inOneForm);
}

/** An IPv6 address in canonical form; any other text as it is. */
function inOneForm<T extends string | undefined>(written: T): T | string {
  return (written === undefined ? undefined : canonicalIPv6(written)) ?? written;
}

const POOL_SPEC: FieldsOf<Written<PoolSpec>> = {
  provider: providerName,
  ipFamily,
  region: textOrEmpty,
  // Anything that is no text stays, as JSON, so that it is refused as an entry and the other entries are served.
  ips: list({ read: (entry) => (typeof entry === "string" ? entry : (jsonText(entry) ?? "[…]")) }),
  desiredIPs: count(),
  assignmentCoolOffSeconds: seconds,
  gracePeriodSeconds: seconds,
  maxUnavailable: optional(maxUnavailable),
  drainSeconds: optional(drainSeconds),
  maxPerNode: optional(maxPerNode),
  hostAddress,
  match: defaulted(MATCH),
  dnsRecordSet: optional(dnsRecordSet("digitalocean")),
  reclaimPolicy,
  foreignHolder,
  suspend,
  approval,
};

/**
 * A NodeDNSRecordSet, see {@link decodeObject}. A provider may stand in two places, so neither gets a default here, and an
 * absent `dnsRecordSet` is one without zone and name: both are the planner's to judge. Never throws.
 */
export function decodeRecordSet(object: unknown): RecordSet | undefined {
  return decodeObject(object, RECORD_SET_SPEC, RECORD_SET_STATUS.read);
}

const RECORD_SET_SPEC: FieldsOf<RecordSetSpec> = {
  provider: textOrEmpty,
  dnsRecordSet: dnsRecordSet(""),
  addressType: orElse(text, "ExternalIP"),
  ipFamilies: optional(list(text)),
  gracePeriodSeconds: seconds,
  match: defaulted(MATCH),
  whenEmpty: orElse(word(["Keep", "Delete"]), "Keep"),
  reclaimPolicy,
  suspend,
  approval,
};

/** A RoutedIP, see {@link decodeObject}. Never throws. */
export function decodeRoutedIP(object: unknown): RoutedIP | undefined {
  const routedIP = decodeObject(object, ROUTED_IP_SPEC, ROUTED_IP_STATUS.read);
  return routedIP && { ...routedIP, status: withNoted(routedIP) };
}

/** An entry without protocol opens nothing; with one, "no port" must not come to mean all of them. */
const PORT: Field<RoutedPort> = {
  read: (value, wrong) => {
    const { protocol } = defaulted({ protocol: textOrEmpty }).read(value, wrong) ?? { protocol: "" };
    const isRequired = protocol !== "" && protocol.toLowerCase() !== "icmp";
    return { protocol, port: readPort(asRecord(value)?.["port"] ?? "", isRequired, within(wrong, ".port")) };
  },
};

function readPort(value: unknown, isRequired: boolean, wrong: Wrong): string {
  if (value === "" && isRequired) wrong("an integer or a text that is not empty", value);
  if (typeof value === "string") return value;
  const port = asInteger(value);
  if (port !== undefined && port >= 0) return String(port);
  wrong("an integer of at least 0 or text", value);
  return "";
}

const ROUTED_IP_SPEC: FieldsOf<RoutedIPSpec> = {
  issuer: textOrEmpty,
  address: orElse({ read: (value, wrong) => inOneForm(text.read(value, wrong)) }, ""),
  serviceName: textOrEmpty,
  ports: list(PORT),
  gracePeriodSeconds: seconds,
  foreignHolder,
  dnsRecordSet: optional(dnsRecordSet("digitalocean")),
  suspend,
};

/** A RoutedIPIssuer, see {@link decodeObject}; it has no status. Never throws. */
export function decodeRoutedIPIssuer(object: unknown): RoutedIPIssuer | undefined {
  const decoded = decodeObject(object, ISSUER_SPEC, () => undefined);
  if (decoded === undefined) return undefined;
  const { status: _status, ...issuer } = decoded;
  return { ...issuer, spec: withSource<RoutedIPIssuerSpec>(issuer.spec) };
}

const ISSUER_SPEC: FieldsOf<Written<RoutedIPIssuerSpec>> = {
  provider: providerName,
  ipFamily,
  region: textOrEmpty,
  reclaimPolicy: named("routedIPReclaimPolicy", reclaimPolicy),
  firewallName: named("routedIPFirewallName", textOrEmpty),
  nodeLabel: textOrEmpty,
  tolerations: list(defaulted(TOLERATION)),
  approval,
  maxUnavailable: optional(maxUnavailable),
  drainSeconds: optional(drainSeconds),
  hostAddress,
};

/**
 * A custom object with its spec defaulted and its status read leniently. Wrong parts of the spec take their defaults and are
 * named in `decodeError`, all of them in one line; the planner then leaves the object alone. Undefined only for something
 * without a name. Never throws.
 */
function decodeObject<Spec extends object, Status>(
  value: unknown,
  fields: FieldsOf<Spec>,
  readStatus: (status: unknown) => Status,
):
  | { readonly meta: ObjectMeta; readonly spec: Spec; readonly status: Status; readonly decodeError?: string }
  | undefined {
  const meta = decodeMeta(value);
  if (meta === undefined) return undefined;
  const object = asRecord(value);
  const problems: string[] = [];
  const spec = defaulted(fields).read(object?.["spec"], problemsOf("spec", problems)) as Spec;
  const decoded = { meta, spec, status: readStatus(object?.["status"]) };
  return problems.length === 0 ? decoded : { ...decoded, decodeError: problems.join("; ") };
}

/** Writes metadata and spec of an object, by the description that its spec is read by. */
function encodeObject<Spec extends object>(
  fields: FieldsOf<Spec>,
  { meta, spec }: { readonly meta: ObjectMeta; readonly spec: Spec },
): EncodedObject {
  const { namespace, name, uid, resourceVersion, generation, createdAtMs, isDeleting, finalizers, labels } = meta;
  const creationTimestamp = formatTime(createdAtMs);
  return {
    metadata: {
      ...{ namespace, name, uid, resourceVersion, generation, creationTimestamp, finalizers, labels },
      // When the deletion was asked for nobody reads.
      ...(isDeleting ? { deletionTimestamp: creationTimestamp } : {}),
    },
    spec: storedObject(fields, spec),
  };
}
