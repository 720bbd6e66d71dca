import {
  type DNSRecordSetSpec,
  FINALIZER,
  type MatchSpec,
  type ObjectMeta,
  type Pool,
  type PoolSpec,
  type PoolStatus,
  type RecordSet,
  type RecordSetSpec,
  type RecordSetStatus,
  type RoutedIPStatus,
  type Toleration,
} from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer, RoutedIPIssuerSpec, RoutedIPSpec, RoutedPort } from "../../model/routed-ip.ts";
import { RESOURCES } from "./call.ts";
import { asRecord, jsonText } from "./json.ts";
import type { ListRequest } from "./lists.ts";
import { decodeMeta } from "./metadata.ts";
import { POOL_STATUS, RECORD_SET_STATUS, ROUTED_IP_STATUS, type StatusFormat } from "./status.ts";
import type { StoreRules } from "./watch/watched-store.ts";

/** How one kind of flipop's custom resources is read. */
export interface ReadableResource<T extends { readonly meta: ObjectMeta }>
  extends Pick<ListRequest<T>, "kind" | "resource" | "rules"> {
  /** Undefined only for something without a name. Never throws. */
  readonly decode: (object: unknown) => T | undefined;
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
  pools: { kind: "pool", resource: RESOURCES.pools, decode: decodePool, status: POOL_STATUS, rules: RULES },
  recordSets: {
    kind: "record-set",
    resource: RESOURCES.recordSets,
    decode: decodeRecordSet,
    status: RECORD_SET_STATUS,
    rules: RULES,
  },
  routedIPs: {
    kind: "routed-ip",
    resource: RESOURCES.routedIPs,
    decode: decodeRoutedIP,
    status: ROUTED_IP_STATUS,
    rules: RULES,
  },
  issuers: {
    kind: "issuer",
    resource: RESOURCES.issuers,
    decode: decodeRoutedIPIssuer,
    rules: { visible: withoutVersion, foreign: withoutVersion },
  },
};

/** A FloatingIPPool, see {@link decodeObject}. Never throws. */
export function decodePool(object: unknown): Pool | undefined {
  const pool = decodeObject(object, { spec: decodePoolSpec, status: POOL_STATUS.read });
  return pool && { kind: "pool", ...pool };
}

function decodePoolSpec(spec: SpecReader): PoolSpec {
  return {
    provider: spec.text("provider"),
    region: spec.text("region"),
    // Anything that is no text stays, as JSON, so that it is refused as an entry and the other entries are served.
    ips: spec.list("ips").map((entry) => (typeof entry === "string" ? entry : (jsonText(entry) ?? "[…]"))),
    desiredIPs: spec.integer("desiredIPs"),
    assignmentCoolOffSeconds: spec.seconds("assignmentCoolOffSeconds"),
    gracePeriodSeconds: spec.seconds("gracePeriodSeconds"),
    match: decodeMatch(spec.object("match")),
    ...(spec.has("dnsRecordSet") ? { dnsRecordSet: decodeDNSSpec(spec.object("dnsRecordSet"), "digitalocean") } : {}),
    reclaimPolicy: spec.word("reclaimPolicy", ["Retain", "Delete"], "Retain"),
    foreignHolder: spec.word("foreignHolder", ["Hold", "TakeOver"], "Hold"),
    suspend: spec.flag("suspend"),
  };
}

/**
 * A NodeDNSRecordSet, see {@link decodeObject}. A provider may stand in two places, so neither gets a default here, and an
 * absent `dnsRecordSet` is one without zone and name: both are the planner's to judge. Never throws.
 */
export function decodeRecordSet(object: unknown): RecordSet | undefined {
  return decodeObject(object, { spec: decodeRecordSetSpec, status: RECORD_SET_STATUS.read });
}

function decodeRecordSetSpec(spec: SpecReader): RecordSetSpec {
  return {
    provider: spec.text("provider"),
    dnsRecordSet: decodeDNSSpec(spec.object("dnsRecordSet"), ""),
    addressType: spec.text("addressType", "ExternalIP"),
    gracePeriodSeconds: spec.seconds("gracePeriodSeconds"),
    match: decodeMatch(spec.object("match")),
    whenEmpty: spec.word("whenEmpty", ["Keep", "Delete"], "Keep"),
    reclaimPolicy: spec.word("reclaimPolicy", ["Retain", "Delete"], "Retain"),
    suspend: spec.flag("suspend"),
  };
}

/** A RoutedIP, see {@link decodeObject}. Never throws. */
export function decodeRoutedIP(object: unknown): RoutedIP | undefined {
  return decodeObject(object, { spec: decodeRoutedIPSpec, status: ROUTED_IP_STATUS.read });
}

function decodeRoutedIPSpec(spec: SpecReader): RoutedIPSpec {
  return {
    issuer: spec.text("issuer"),
    address: spec.text("address"),
    serviceName: spec.text("serviceName"),
    ports: spec.objects("ports").map(decodePort),
    gracePeriodSeconds: spec.seconds("gracePeriodSeconds"),
    foreignHolder: spec.word("foreignHolder", ["Hold", "TakeOver"], "Hold"),
    ...(spec.has("dnsRecordSet") ? { dnsRecordSet: decodeDNSSpec(spec.object("dnsRecordSet"), "digitalocean") } : {}),
    suspend: spec.flag("suspend"),
  };
}

function decodePort(port: SpecReader): RoutedPort {
  const protocol = port.text("protocol");
  // An entry without protocol opens nothing; with one, "no port" must not come to mean all of them.
  const isRequired = protocol !== "" && protocol.toLowerCase() !== "icmp";
  return { protocol, port: port.integerOrText("port", isRequired) };
}

/** A RoutedIPIssuer, see {@link decodeObject}; it has no status. Never throws. */
export function decodeRoutedIPIssuer(object: unknown): RoutedIPIssuer | undefined {
  const decoded = decodeObject(object, { spec: decodeIssuerSpec, status: () => undefined });
  if (decoded === undefined) return undefined;
  const { status: _status, ...issuer } = decoded;
  return issuer;
}

function decodeIssuerSpec(spec: SpecReader): RoutedIPIssuerSpec {
  return {
    provider: spec.text("provider"),
    region: spec.text("region"),
    reclaimPolicy: spec.word("routedIPReclaimPolicy", ["Retain", "Delete"], "Retain"),
    firewallName: spec.text("routedIPFirewallName"),
    nodeLabel: spec.text("nodeLabel"),
    tolerations: spec.objects("tolerations").map(decodeToleration),
  };
}

/** What every custom resource of flipop is made of. */
interface DecodedObject<Spec, Status> {
  readonly meta: ObjectMeta;
  readonly spec: Spec;
  readonly status: Status;
  readonly decodeError?: string;
}

/**
 * A custom object with its spec defaulted and its status read leniently. Wrong parts of the spec take their defaults and are
 * named in `decodeError`, all of them in one line; the planner then leaves the object alone. Undefined only for something
 * without a name. Never throws.
 */
function decodeObject<Spec, Status>(
  value: unknown,
  part: { readonly spec: (spec: SpecReader) => Spec; readonly status: (status: unknown) => Status },
): DecodedObject<Spec, Status> | undefined {
  const meta = decodeMeta(value);
  if (meta === undefined) return undefined;
  const object = asRecord(value);
  const problems: string[] = [];
  const spec = part.spec(new SpecReader(object?.["spec"], "spec", problems));
  const decoded = { meta, spec, status: part.status(object?.["status"]) };
  return problems.length === 0 ? decoded : { ...decoded, decodeError: problems.join("; ") };
}

/** `spec.match` of an object; what is absent restricts nothing. */
function decodeMatch(match: SpecReader): MatchSpec {
  return {
    nodeLabel: match.text("nodeLabel"),
    podNamespace: match.text("podNamespace"),
    podLabel: match.text("podLabel"),
    tolerations: match.objects("tolerations").map(decodeToleration),
  };
}

/** One toleration of a spec; what is absent or empty is left out. */
function decodeToleration(toleration: SpecReader): Toleration {
  const key = toleration.text("key");
  const operator = toleration.text("operator");
  const value = toleration.text("value");
  const effect = toleration.text("effect");
  const tolerationSeconds = toleration.signedNumber("tolerationSeconds");
  return {
    ...(key === "" ? {} : { key }),
    ...(operator === "" ? {} : { operator }),
    ...(value === "" ? {} : { value }),
    ...(effect === "" ? {} : { effect }),
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  };
}

/** `spec.dnsRecordSet`, all of it defaulted; `defaultProvider` stands for an absent one. */
function decodeDNSSpec(dns: SpecReader, defaultProvider: string): DNSRecordSetSpec {
  return {
    provider: dns.text("provider", defaultProvider),
    zone: dns.text("zone"),
    recordName: dns.text("recordName"),
    ttlSeconds: dns.integer("ttl", 60),
  };
}

/** A hundred years. RFC 3339 ends with the year 9999, a JSON number does not. */
const LONGEST_SECONDS = 100 * 365 * 86_400;

/**
 * Reads the members of one spec object and notes what is of the wrong type, with its path. `null`, `""` and absent give
 * the default. Problems of nested readers arrive in the same list, in reading order.
 */
class SpecReader {
  readonly #record: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #problems: string[];

  /** @param problems collects one sentence for each wrong part. */
  constructor(value: unknown, path: string, problems: string[]) {
    this.#path = path;
    this.#problems = problems;
    const record = asRecord(value);
    if (record === undefined && value !== undefined && value !== null) this.#wrong("", "an object", value);
    this.#record = record ?? {};
  }

  /** True when the member is there and not null. */
  has(name: string): boolean {
    return (this.#record[name] ?? undefined) !== undefined;
  }

  /** Text; the default for absent and `""`. */
  text(name: string, otherwise = ""): string {
    const value = this.#record[name] ?? "";
    if (typeof value !== "string") return this.#wrong(name, "text", value) ?? otherwise;
    return value === "" ? otherwise : value;
  }

  /** One of some words; the default for absent and `""`. */
  word<T extends string>(name: string, words: readonly T[], otherwise: T): T {
    const text = this.text(name, otherwise);
    const word = words.find((candidate) => candidate === text);
    return word ?? this.#wrong(name, words.join(" or "), text) ?? otherwise;
  }

  /** A number of at least 0; the default for absent and 0. */
  number(name: string, otherwise = 0): number {
    const value = this.#record[name] ?? 0;
    if (typeof value !== "number" || !(value >= 0)) return this.#wrong(name, "a number of at least 0", value) ?? 0;
    return value === 0 ? otherwise : value;
  }

  /** A length of time of at least 0 seconds; 0 for absent. Longer than a hundred years counts as that, so that a time counted from it can always be written down. */
  seconds(name: string): number {
    return Math.min(this.number(name), LONGEST_SECONDS);
  }

  /** An integer of at least 0; the default for absent and 0. */
  integer(name: string, otherwise = 0): number {
    const value = this.#record[name] ?? 0;
    if (Number.isSafeInteger(value)) return this.number(name, otherwise);
    return this.#wrong(name, "an integer of at least 0", value) ?? otherwise;
  }

  /** Text, or an integer of at least 0 as text; `""` for absent, which is a problem when it is required. */
  integerOrText(name: string, isRequired: boolean): string {
    const value = this.#record[name] ?? "";
    if (value === "" && isRequired) return this.#wrong(name, "an integer or a text that is not empty", value) ?? "";
    if (typeof value === "string") return value;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return String(value);
    return this.#wrong(name, "an integer of at least 0 or text", value) ?? "";
  }

  /** A number of either sign, 0 included; undefined for absent. */
  signedNumber(name: string): number | undefined {
    const value = this.#record[name] ?? undefined;
    return value === undefined || typeof value === "number" ? value : this.#wrong(name, "a number", value);
  }

  /** True or false; false for absent. */
  flag(name: string): boolean {
    const value = this.#record[name] ?? false;
    return typeof value === "boolean" ? value : (this.#wrong(name, "true or false", value) ?? false);
  }

  /** The entries of a list; empty for absent. */
  list(name: string): readonly unknown[] {
    const value = this.#record[name] ?? [];
    return Array.isArray(value) ? value : (this.#wrong(name, "a list", value) ?? []);
  }

  /** A reader for a member that is an object; reads defaults when it is absent. */
  object(name: string): SpecReader {
    return new SpecReader(this.#record[name], `${this.#path}.${name}`, this.#problems);
  }

  /** Readers for the entries of a list of objects; empty for absent. */
  objects(name: string): readonly SpecReader[] {
    return this.list(name).map(
      (entry, index) => new SpecReader(entry ?? {}, `${this.#path}.${name}[${index}]`, this.#problems),
    );
  }

  #wrong(name: string, expected: string, value: unknown): undefined {
    const path = name === "" ? this.#path : `${this.#path}.${name}`;
    this.#problems.push(`${path} must be ${expected}, not ${describe(value)}`);
  }
}

/** The value as JSON when it is short, else its type. */
function describe(value: unknown): string {
  const json = jsonText(value);
  if (json !== undefined && json.length <= 40) return json;
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a long ${typeof value}`;
}
