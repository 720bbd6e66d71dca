/** A spec that both the shipped schema and the planner refuse. */
export interface RefusedSpec {
  readonly kind: "FloatingIPPool" | "NodeDNSRecordSet" | "RoutedIP";
  /** Absent = the object has none. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** What both say. */
  readonly sentence: string;
}

const DNS = { zone: "example.com", recordName: "www" };
const ADDRESS_TYPE = "it must be ExternalIP, InternalIP, flipop.digitalocean.com/ipv4-reserved-ip";
const NAMESPACE_RULE = "at most 63 lower-case letters, digits and '-', with a letter or digit at both ends";
const LONG = `${"a".repeat(63)}.`.repeat(4);

function pool(spec: RefusedSpec["spec"], sentence: string): RefusedSpec {
  return { kind: "FloatingIPPool", spec: { provider: "digitalocean", ips: ["192.0.2.200"], ...spec }, sentence };
}

function recordSet(spec: RefusedSpec["spec"], sentence: string): RefusedSpec {
  return { kind: "NodeDNSRecordSet", spec: { dnsRecordSet: DNS, ...spec }, sentence };
}

function routedIP(spec: RefusedSpec["spec"], sentence: string): RefusedSpec {
  return { kind: "RoutedIP", spec: { issuer: "public", serviceName: "web", ...spec }, sentence };
}

/** Every rule of the schema with a sentence of the planner, at its edges. */
export const REFUSED_SPECS: readonly RefusedSpec[] = [
  { kind: "FloatingIPPool", sentence: 'unknown provider ""' },
  pool({ provider: "" }, 'unknown provider ""'),
  pool({ provider: "nowhere" }, 'unknown provider "nowhere"'),
  pool({ provider: "DigitalOcean" }, 'unknown provider "DigitalOcean"'),
  pool({ provider: "cloudflare" }, 'provider "cloudflare" does not provide floating IPs'),
  pool({ ips: [] }, "ips or desiredIPs must be provided"),
  pool({ ips: null }, "ips or desiredIPs must be provided"),
  pool({ ips: undefined, desiredIPs: 0 }, "ips or desiredIPs must be provided"),
  ...["192.0.2.010", "192.0.2.256", "192.0.2", " 192.0.2.1", "192.0.2.1/32", "an address", ""].map((entry) =>
    pool({ ips: ["192.0.2.201", entry] }, `"${entry}" is not a canonical IPv4 address`),
  ),
  ...["2001:db8::g", ":::", "1::2::3"].map((entry) =>
    pool({ ips: ["2001:db8::201", entry], ipFamily: "IPv6" }, `"${entry}" is not an IPv6 address`),
  ),
  pool(
    { ips: ["192.0.2.201", "2001:db8::1"] },
    '"2001:db8::1" is an IPv6 address: spec.ipFamily would have to be IPv6',
  ),
  pool(
    { ips: ["2001:db8::1", "192.0.2.201"], ipFamily: "IPv6" },
    '"192.0.2.201" is an IPv4 address: spec.ipFamily would have to be IPv4',
  ),
  pool(
    { match: { podNamespace: "Shop" } },
    `Error parsing pod selector: namespace "Shop" is not a valid name: ${NAMESPACE_RULE}`,
  ),
  pool(
    { match: { podNamespace: "a.b" } },
    `Error parsing pod selector: namespace "a.b" is not a valid name: ${NAMESPACE_RULE}`,
  ),
  pool(
    { match: { podNamespace: "a".repeat(64) } },
    `Error parsing pod selector: namespace "${"a".repeat(64)}" is not a valid name`,
  ),
  pool({ dnsRecordSet: { ...DNS, provider: "route53" } }, 'unknown provider "route53"'),
  pool({ dnsRecordSet: { zone: "example.com" } }, "invalid dnsRecordSet specification"),
  pool({ dnsRecordSet: { recordName: "www", zone: "" } }, "invalid dnsRecordSet specification"),
  pool(
    { dnsRecordSet: { ...DNS, zone: "example com" } },
    'invalid dnsRecordSet specification: zone "example com" is not a DNS name',
  ),
  pool(
    { dnsRecordSet: { ...DNS, zone: LONG } },
    `invalid dnsRecordSet specification: zone "${LONG}" is not a DNS name`,
  ),
  pool({ dnsRecordSet: { ...DNS, recordName: "a..b" } }, 'recordName "a..b" is not a DNS name'),
  pool({ dnsRecordSet: { ...DNS, recordName: "a.*" } }, 'recordName "a.*" is not a DNS name'),
  pool({ dnsRecordSet: { ...DNS, recordName: "-a" } }, 'recordName "-a" is not a DNS name'),
  { kind: "NodeDNSRecordSet", sentence: "invalid dnsRecordSet specification" },
  recordSet({ dnsRecordSet: null }, "invalid dnsRecordSet specification"),
  recordSet(
    { dnsRecordSet: { provider: "digitalocean", zone: "", recordName: "" } },
    "invalid dnsRecordSet specification",
  ),
  recordSet({ dnsRecordSet: { zone: "example.com" } }, "invalid dnsRecordSet specification"),
  recordSet({ provider: "nowhere" }, 'unknown provider "nowhere"'),
  recordSet({ dnsRecordSet: { ...DNS, provider: "nowhere" } }, 'unknown provider "nowhere"'),
  recordSet(
    { provider: "digitalocean", dnsRecordSet: { ...DNS, provider: "cloudflare" } },
    'provider "digitalocean" and dnsRecordSet.provider "cloudflare" differ',
  ),
  recordSet({ addressType: "Hostname" }, `invalid addressType "Hostname": ${ADDRESS_TYPE}`),
  recordSet({ ipFamilies: ["IPv4", "ipv6"] }, 'ipFamilies "ipv6" must be IPv4 or IPv6'),
  recordSet({ ipFamilies: ["IPv6", "IPv6"] }, "ipFamilies names a family twice"),
  recordSet(
    { ipFamilies: ["IPv6"], addressType: "flipop.digitalocean.com/ipv4-reserved-ip" },
    "ipFamilies IPv6 needs addressType ExternalIP or InternalIP: flipop.digitalocean.com/ipv4-reserved-ip is an IPv4 address",
  ),
  recordSet(
    { ipFamilies: ["IPv6", "IPv4"], addressType: "flipop.digitalocean.com/ipv6-reserved-ip" },
    "ipFamilies IPv4 needs addressType ExternalIP or InternalIP: flipop.digitalocean.com/ipv6-reserved-ip is an IPv6 address",
  ),
  recordSet({ dnsRecordSet: { ...DNS, zone: "exa_mple..com" } }, 'zone "exa_mple..com" is not a DNS name'),
  recordSet({ dnsRecordSet: { ...DNS, recordName: "w w" } }, 'recordName "w w" is not a DNS name'),
  recordSet(
    { match: { podNamespace: "-" } },
    `Error parsing pod selector: namespace "-" is not a valid name: ${NAMESPACE_RULE}`,
  ),
  routedIP({ address: "2001:db8::g" }, 'address "2001:db8::g" is not an IPv6 address'),
  ...["192.0.2.010", "192.0.2.256", "192.0.2.1.", "any"].map((address) =>
    routedIP({ address }, `address "${address}" is not a canonical IPv4 address`),
  ),
  routedIP({ dnsRecordSet: { ...DNS, provider: "nowhere" } }, 'unknown provider "nowhere"'),
  routedIP({ dnsRecordSet: { ...DNS, zone: "-" } }, 'zone "-" is not a DNS name'),
  routedIP({ dnsRecordSet: { ...DNS, recordName: "a b" } }, 'recordName "a b" is not a DNS name'),
];

/** Specs that only the schema refuses: their numbers and texts are beyond everything that means something. */
export const BEYOND_BOUNDS: readonly (readonly [kind: RefusedSpec["kind"], field: string, spec: object])[] = [
  ["FloatingIPPool", "spec.desiredIPs", { provider: "digitalocean", desiredIPs: 1001 }],
  [
    "FloatingIPPool",
    "spec.ips",
    { provider: "digitalocean", ips: Array.from({ length: 1001 }, (_, i) => `10.0.${i >> 8}.${i & 255}`) },
  ],
  [
    "FloatingIPPool",
    "spec.assignmentCoolOffSeconds",
    { provider: "digitalocean", desiredIPs: 1, assignmentCoolOffSeconds: 1e12 },
  ],
  ["FloatingIPPool", "spec.gracePeriodSeconds", { provider: "digitalocean", desiredIPs: 1, gracePeriodSeconds: 1e12 }],
  [
    "FloatingIPPool",
    "spec.match.nodeLabel",
    { provider: "digitalocean", desiredIPs: 1, match: { nodeLabel: "a".repeat(8193) } },
  ],
  [
    "FloatingIPPool",
    "spec.dnsRecordSet.ttl",
    { provider: "digitalocean", desiredIPs: 1, dnsRecordSet: { ...DNS, ttl: -1 } },
  ],
  ["NodeDNSRecordSet", "spec.dnsRecordSet.ttl", { dnsRecordSet: { ...DNS, ttl: 2 ** 31 } }],
  ["NodeDNSRecordSet", "spec.match.podLabel", { dnsRecordSet: DNS, match: { podLabel: "a".repeat(8193) } }],
  ["RoutedIP", "spec.gracePeriodSeconds", { issuer: "a", serviceName: "b", gracePeriodSeconds: 1e12 }],
];

/** Specs that do something today, however odd, and those at the edge of a rule. */
export const ADMITTED_SPECS: readonly (readonly [kind: RefusedSpec["kind"], spec: object])[] = [
  [
    "FloatingIPPool",
    { provider: "digitalocean", desiredIPs: 1000, ips: null, region: "", match: null, dnsRecordSet: null },
  ],
  [
    "FloatingIPPool",
    { provider: "digitalocean", ips: ["0.0.0.0", "255.255.255.255", "192.0.2.1", "192.0.2.1"], desiredIPs: 0 },
  ],
  [
    "FloatingIPPool",
    { provider: "digitalocean", desiredIPs: 1, dnsRecordSet: { provider: "", zone: "", recordName: "", ttl: 0 } },
  ],
  [
    "FloatingIPPool",
    {
      provider: "digitalocean",
      desiredIPs: 1,
      dnsRecordSet: { zone: "Example.COM.", recordName: "*.a_b.WWW.example.com.", ttl: 2 ** 31 - 1 },
    },
  ],
  [
    "FloatingIPPool",
    { provider: "digitalocean", desiredIPs: 1, match: { podNamespace: "a".repeat(63), nodeLabel: "a".repeat(8192) } },
  ],
  ["NodeDNSRecordSet", { provider: "cloudflare", dnsRecordSet: { ...DNS, provider: "cloudflare", recordName: "@" } }],
  [
    "NodeDNSRecordSet",
    { provider: "", addressType: "", dnsRecordSet: { ...DNS, provider: "", zone: "0123456789abcdef0123456789abcdef" } },
  ],
  [
    "RoutedIP",
    { issuer: "a", serviceName: "b", address: "203.0.113.1", dnsRecordSet: { ...DNS, provider: "cloudflare" } },
  ],
];
