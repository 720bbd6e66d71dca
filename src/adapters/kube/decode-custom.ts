import type {
  DNSRecordSetSpec,
  MatchSpec,
  ObjectMeta,
  Pool,
  PoolSpec,
  PoolStatus,
  RecordSet,
  RecordSetSpec,
  RecordSetStatus,
  RoutedIPStatus,
  Toleration,
} from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer, RoutedIPIssuerSpec, RoutedIPSpec, RoutedPort } from "../../model/routed-ip.ts";
import { RESOURCES, type Resource } from "./call.ts";
import { decodeMeta } from "./decode-builtin.ts";
import { asRecord, jsonText, SpecReader } from "./json.ts";
import { POOL_STATUS, RECORD_SET_STATUS, ROUTED_IP_STATUS, type StatusFormat } from "./status.ts";

/** How one kind of flipop's custom resources is read. */
export interface ReadableResource<T extends { readonly meta: ObjectMeta }> {
  readonly resource: Resource;
  /** Undefined only for something without a name. Never throws. */
  readonly decode: (object: unknown) => T | undefined;
}

/** How one kind of flipop's custom resources goes over the wire, both ways. */
export interface CustomResource<T extends { readonly meta: ObjectMeta; readonly status: Status }, Status>
  extends ReadableResource<T> {
  readonly status: StatusFormat<Status>;
}

/** The custom resources flipop serves; of issuers it writes nothing. */
export const CUSTOM_RESOURCES: {
  readonly pools: CustomResource<Pool, PoolStatus>;
  readonly recordSets: CustomResource<RecordSet, RecordSetStatus>;
  readonly routedIPs: CustomResource<RoutedIP, RoutedIPStatus>;
  readonly issuers: ReadableResource<RoutedIPIssuer>;
} = {
  pools: { resource: RESOURCES.pools, decode: decodePool, status: POOL_STATUS },
  recordSets: { resource: RESOURCES.recordSets, decode: decodeRecordSet, status: RECORD_SET_STATUS },
  routedIPs: { resource: RESOURCES.routedIPs, decode: decodeRoutedIP, status: ROUTED_IP_STATUS },
  issuers: { resource: RESOURCES.issuers, decode: decodeRoutedIPIssuer },
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
