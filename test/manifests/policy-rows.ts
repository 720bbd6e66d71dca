/** What a namespace is granted, by the last part of the annotation. */
export type Granted = Readonly<
  Partial<Record<"names" | "firewalls" | "addresses" | "purchases" | "take-over", string>>
>;

/** A spec in a namespace, for the planner and the admission policy to judge. */
export interface ClaimRow {
  readonly kind: "FloatingIPPool" | "NodeDNSRecordSet" | "RoutedIP" | "RoutedIPIssuer";
  readonly spec: Readonly<Record<string, unknown>>;
  readonly granted: Granted;
}

type Spec = ClaimRow["spec"];

const ALL: Granted = {
  names: "*.example.com,example.com,*.edge.example.com",
  firewalls: "edge",
  addresses: "203.0.113.0/24",
  purchases: "1000",
  "take-over": "true",
};

function pool(spec: Spec): Pick<ClaimRow, "kind" | "spec"> {
  return { kind: "FloatingIPPool", spec: { provider: "digitalocean", ips: ["203.0.113.1"], ...spec } };
}

function recordSet(dnsRecordSet: Spec, spec: Spec = {}): Pick<ClaimRow, "kind" | "spec"> {
  return { kind: "NodeDNSRecordSet", spec: { ...spec, dnsRecordSet } };
}

function routedIP(spec: Spec): Pick<ClaimRow, "kind" | "spec"> {
  return { kind: "RoutedIP", spec: { issuer: "public", serviceName: "web", address: "203.0.113.1", ...spec } };
}

function issuer(spec: Spec): Pick<ClaimRow, "kind" | "spec"> {
  return { kind: "RoutedIPIssuer", spec: { provider: "digitalocean", ...spec } };
}

/** The same name written in every way that a manifest can write it, and its neighbours. */
const NAMES: readonly Spec[] = [
  { zone: "example.com", recordName: "www" },
  { zone: "example.com", recordName: "www.example.com" },
  { zone: "Example.COM.", recordName: "WWW" },
  { zone: "example.com", recordName: "WWW.example.com." },
  { zone: "www.example.com", recordName: "@" },
  { zone: "www.example.com", recordName: "www.example.com" },
  { zone: "example.com", recordName: "@" },
  { zone: "example.com", recordName: "*" },
  { zone: "example.com", recordName: "a.edge" },
  { zone: "edge.example.com", recordName: "a" },
  { zone: "edge.example.com", recordName: "a.b" },
  { zone: "edge.example.com", recordName: "*.a" },
  { zone: "example.com", recordName: "www.example.org" },
  { zone: "example.com", recordName: "wwwexample.com" },
  { zone: "badexample.com", recordName: "www" },
  { zone: "com", recordName: "example" },
  { zone: "localhost", recordName: "@" },
  { zone: "0123456789abcdef0123456789abcdef", recordName: "www.example.com" },
];

const NAME_GRANTS: readonly string[] = [
  "",
  "www.example.com",
  "*.example.com",
  "example.com",
  "*.edge.example.com\n\twww.example.com,,",
  "WWW.example.com",
  "www.example.com.",
  "com localhost example *.com",
  "*.*.example.com",
  "*",
  `${"a.example.org,".repeat(1000)}www.example.com`,
  `${"a.example.org,".repeat(999)}www.example.com`,
];

const names = NAMES.flatMap((record) =>
  NAME_GRANTS.flatMap((text): readonly ClaimRow[] => {
    const granted = { ...ALL, names: text };
    return [
      { ...pool({ dnsRecordSet: record }), granted },
      { ...recordSet(record, { provider: "cloudflare" }), granted },
    ];
  }),
);

const otherProviders: readonly ClaimRow[] = ["", "cloudflare", "digitalocean"].flatMap((provider) => {
  const record = { zone: "0123456789abcdef0123456789abcdef", recordName: "www.example.com", provider };
  const granted = { ...ALL, names: "" };
  return [
    { ...pool({ dnsRecordSet: record }), granted },
    { ...recordSet(record), granted },
    { ...routedIP({ dnsRecordSet: record }), granted },
    { ...pool({ dnsRecordSet: { ...record, zone: "example.com" } }), granted: ALL },
    { ...recordSet({ ...record, zone: "example.com" }), granted: ALL },
    { ...routedIP({ dnsRecordSet: { ...record, zone: "example.com" } }), granted },
    { ...routedIP({ dnsRecordSet: { ...record, zone: "example.com" } }), granted: ALL },
  ];
});

const ADDRESS_GRANTS: readonly string[] = [
  "",
  "203.0.113.7",
  "203.0.113.0/24",
  "203.0.113.4/30",
  "203.0.113.5/30",
  "203.0.113.0/33 203.0.113.0/024 203.0.113.0/-1 203.0.113.0/ /24",
  "0.0.0.0/0",
  "203.0.113.7/32,198.51.100.0/31",
  "2001:db8::/32 ::ffff:203.0.113.0/120 203.0.113.007",
  "not an address",
];

const addresses = ADDRESS_GRANTS.flatMap((text): readonly ClaimRow[] => {
  const granted = { ...ALL, addresses: text };
  return [
    { ...pool({ ips: ["203.0.113.7"] }), granted },
    { ...pool({ ips: ["203.0.113.7", "198.51.100.1", "203.0.113.7"] }), granted },
    { ...pool({ ips: ["198.51.100.1", "203.0.113.7"] }), granted },
    { ...pool({ ips: null, desiredIPs: 1 }), granted },
    { ...routedIP({ address: "203.0.113.7" }), granted },
    { ...routedIP({ address: undefined }), granted },
  ];
});

const IPV6_GRANTS: readonly string[] = [
  "",
  "2001:db8:7::1",
  "2001:DB8:7:0:0:0:0:1",
  "2001:db8:7::/64",
  "2001:0DB8:7::0/64,203.0.113.0/24",
  "2001:db8:7::1/64 2001:db8:7::/129 2001:db8:7::/064 2001:db8:7::/",
  "::/0",
  "0.0.0.0/0",
  "::ffff:203.0.113.0/120 fe80::1%eth0 [2001:db8:7::1] 2001:db8:7::1::",
];

const longAddresses = IPV6_GRANTS.flatMap((text): readonly ClaimRow[] => {
  const granted = { ...ALL, addresses: text };
  const six = { ipFamily: "IPv6" };
  return [
    { ...pool({ ...six, ips: ["2001:db8:7::1"] }), granted },
    { ...pool({ ...six, ips: ["2001:DB8:0007::0001"] }), granted },
    { ...pool({ ...six, ips: ["2001:db8:7::1", "2001:db8:8::1", "2001:DB8:7::1"], desiredIPs: 3 }), granted },
    { ...pool({ ips: ["203.0.113.7"] }), granted },
    { ...routedIP({ address: "2001:db8:7:0::1" }), granted },
  ];
});

const PURCHASE_GRANTS: readonly string[] = [
  "",
  "0",
  "1",
  " 2\n",
  "3",
  "03",
  "-1",
  "1.5",
  "many",
  "1000000",
  "999999",
  "1 2",
];

const purchases = PURCHASE_GRANTS.flatMap((text): readonly ClaimRow[] => {
  const granted = { ...ALL, purchases: text };
  return [
    { ...pool({ desiredIPs: 1 }), granted },
    { ...pool({ desiredIPs: 3 }), granted },
    { ...pool({ desiredIPs: 3, ips: ["203.0.113.1", "203.0.113.1", "203.0.113.2"] }), granted },
    {
      ...pool({ desiredIPs: 4, ips: ["203.0.113.1", "203.0.113.1", "203.0.113.2", "203.0.113.2", "203.0.113.2"] }),
      granted,
    },
    {
      ...pool({ ipFamily: "IPv6", desiredIPs: 3, ips: ["2001:db8::1", "2001:DB8::1", "2001:db8::0:2"] }),
      granted: { ...granted, addresses: "::/0" },
    },
    { ...pool({ desiredIPs: 1000, ips: [] }), granted },
    { ...pool({ desiredIPs: 0 }), granted },
    { ...routedIP({}), granted },
    { ...routedIP({ address: undefined }), granted },
  ];
});

const takeOvers = ["", "true", " true ", "false", "True", "yes", "true,true"].flatMap((text): readonly ClaimRow[] =>
  [undefined, "Hold", "TakeOver"].flatMap((foreignHolder) => {
    const granted = { ...ALL, "take-over": text };
    return [
      { ...pool({ foreignHolder }), granted },
      { ...routedIP({ foreignHolder }), granted },
    ];
  }),
);

const firewalls = ["", "edge", "other, edge", "EDGE", "0d1e-4", "edge.0d1e-4"].flatMap((text): readonly ClaimRow[] =>
  [undefined, "", "edge", "0d1e-4"].map((routedIPFirewallName) => ({
    ...issuer({ routedIPFirewallName }),
    granted: { ...ALL, firewalls: text },
  })),
);

const together: readonly ClaimRow[] = [{}, ALL].flatMap((granted): readonly ClaimRow[] => [
  { ...pool({}), granted },
  {
    ...pool({ desiredIPs: 5, foreignHolder: "TakeOver", dnsRecordSet: { zone: "example.com", recordName: "@" } }),
    granted,
  },
  { ...pool({ desiredIPs: 5, foreignHolder: "TakeOver" }), granted },
  { ...recordSet({ zone: "example.com", recordName: "@" }), granted },
  { ...routedIP({ foreignHolder: "TakeOver" }), granted },
  { ...issuer({ routedIPFirewallName: "edge" }), granted },
  { ...issuer({}), granted },
]);

/** Every field of every kind that names something of the account, granted and not, with annotations of every quality. */
export const CLAIM_ROWS: readonly ClaimRow[] = [
  ...names,
  ...otherProviders,
  ...addresses,
  ...longAddresses,
  ...purchases,
  ...takeOvers,
  ...firewalls,
  ...together,
];
