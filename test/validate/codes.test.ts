import { describe, expect, test } from "vitest";
import { FINDING_CODES, FINDINGS, type FindingCode } from "../../src/model/finding.ts";
import { toldOf } from "./check.ts";

const POOL = "apiVersion: flipop.digitalocean.com/v1alpha1\nkind: FloatingIPPool\nmetadata:\n  name: web\n";
const DNS = "apiVersion: flipop.digitalocean.com/v1alpha1\nkind: NodeDNSRecordSet\nmetadata:\n  name: nodes\n";
const ROUTED = "apiVersion: flipop.digitalocean.com/v1alpha1\nkind: RoutedIP\nmetadata:\n  name: vip\n";
const ISSUER =
  "apiVersion: flipop.digitalocean.com/v1alpha1\nkind: RoutedIPIssuer\nmetadata:\n  name: public\nspec:\n  provider: digitalocean\n---\n";

function pool(...lines: readonly string[]): string {
  return `${POOL}spec:\n  provider: digitalocean\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function recordSet(...lines: readonly string[]): string {
  return `${DNS}spec:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function routedIP(...lines: readonly string[]): string {
  return `${ISSUER}${ROUTED}spec:\n  issuer: public\n  serviceName: web\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

/** What a text alone does not show has its cases with the cluster. */
const OFFLINE = FINDING_CODES.filter((code): code is OfflineCode => code !== "FLP240" && code !== "FLP241");
type OfflineCode = Exclude<FindingCode, "FLP240" | "FLP241">;

/** For each code texts, and all that is said of each: `LINE:COLUMN CODE PATH`. */
const CASES: Readonly<Record<OfflineCode, readonly (readonly [text: string, ...told: readonly string[]])[]>> = {
  FLP200: [
    ["a: [1\nb: 2\n", "2:1 FLP200"],
    ["a: 1\nb: 2\na: 3\nb: 4\n", "3:1 FLP200", "4:1 FLP200"],
    ["a:\n\tb: 1\n", "2:1 FLP200"],
    ["a: *nobody\n", "1:1 FLP200"],
    ["only a text\n", "1:1 FLP200"],
    ['{"a": 1} nonsense', "1:10 FLP200"],
  ],
  FLP201: [
    [pool('desiredIPs: "three"'), "7:15 FLP201 spec.desiredIPs"],
    [pool("ips: 203.0.113.10"), "7:8 FLP201 spec.ips"],
    [pool("ips: [203.0.113.10, 5]"), "7:23 FLP201 spec.ips[1]"],
    [pool("ips: [203.0.113.10]", "suspend: 'yes'"), "8:12 FLP201 spec.suspend"],
    [`${POOL}spec: all\n`, "5:7 FLP201 spec"],
    [
      `${POOL}  labels: {tier: 1}\nspec: {provider: digitalocean, desiredIPs: 1, region: a}\n`,
      "5:18 FLP201 metadata.labels.tier",
    ],
  ],
  FLP202: [
    [pool("desiredIPs: -1", "ips: [203.0.113.10]"), "7:15 FLP202 spec.desiredIPs"],
    [
      pool("ips: [203.0.113.10]", "match:", "  tolerations:", "    - {key: ded, operator: exists}"),
      "10:30 FLP202 spec.match.tolerations[0].operator",
    ],
    [
      `${ISSUER.replace("---\n", "")}  tolerations: [{key: ded, effect: Noschedule}]\n`,
      "7:36 FLP202 spec.tolerations[0].effect",
    ],
    [pool("ips: [203.0.113.10]", "reclaimPolicy: delete"), "8:18 FLP202 spec.reclaimPolicy"],
    [pool("ips: [203.0.113.10]", "gracePeriodSeconds: .inf"), "8:23 FLP202 spec.gracePeriodSeconds"],
    [pool("ips: [203.0.113.10]", "maxUnavailable: 0%"), "8:19 FLP202 spec.maxUnavailable"],
    [
      recordSet("addressType: Hostname", "dnsRecordSet: {zone: example.com, recordName: www}"),
      "6:16 FLP202 spec.addressType",
    ],
    [pool("ips: [203.0.113.10]").replace("name: web", "name: Web"), "4:9 FLP202 metadata.name"],
  ],
  FLP203: [
    [`${POOL}spec:\n  desiredIPs: 1\n  region: ams3\n`, "5:1 FLP203 spec.provider"],
    [POOL, "1:1 FLP203 spec"],
    [`${ROUTED}spec:\n  issuer: public\n`, "5:1 FLP203 spec.serviceName", "6:11 FLP225~ spec.issuer"],
    [pool("ips: [203.0.113.10]").replace("  name: web\n", "  labels: {}\n"), "3:1 FLP203 metadata.name"],
    [pool("ips: [203.0.113.10]").replace(/^apiVersion.*\n/, ""), "1:1 FLP203 apiVersion"],
    [pool("ips: [203.0.113.10]").replace("kind: FloatingIPPool\n", ""), "1:1 FLP203 kind"],
  ],
  FLP204: [
    [pool("ips: [203.0.113.10]", "match:", "  podLable: app=web"), "9:5 FLP204 spec.match.podLable"],
    [pool("ips: [203.0.113.10]").replace("  name", "  lables: {}\n  name"), "4:3 FLP204 metadata.lables"],
    [`${pool("ips: [203.0.113.10]")}sepc: {}\n`, "8:1 FLP204 sepc"],
  ],
  FLP205: [
    [pool("ips: []").replace("FloatingIPPool", "FloatingIpPool"), "2:7 FLP205 kind"],
    [pool("ips: []").replace("v1alpha1", "v1"), "1:13 FLP205 apiVersion"],
    [pool("ips: []").replace("digitalocean.com/", "digitalocean.co/"), "1:13 FLP205 apiVersion"],
  ],
  FLP211: [
    [`${POOL}spec:\n  provider: hetznr\n  ips: [203.0.113.10]\n`, "6:13 FLP211 spec.provider"],
    [`${POOL}spec:\n  provider: cloudflare\n  ips: [203.0.113.10]\n`, "6:13 FLP211 spec.provider"],
    [
      recordSet("provider: digitalocean", "dnsRecordSet: {provider: cloudflare, zone: example.com, recordName: www}"),
      "6:13 FLP211 spec.provider",
    ],
    [
      recordSet("dnsRecordSet: {provider: route53, zone: example.com, recordName: www}"),
      "6:28 FLP211 spec.dnsRecordSet.provider",
    ],
  ],
  FLP212: [
    [pool("region: ams3"), "5:1 FLP212 spec"],
    [pool("ips: []", "desiredIPs: 0"), "5:1 FLP212 spec"],
    // An unknown field does not hide it, a value that cannot be read does.
    [pool("desiredIP: 3"), "5:1 FLP212 spec", "7:3 FLP204 spec.desiredIP"],
  ],
  FLP213: [
    [pool("ips: [203.0.113.10]", "match: {nodeLabel: pool in ingress}"), "8:30 FLP213 spec.match.nodeLabel"],
    [pool("ips: [203.0.113.10]", "match:", '  nodeLabel: "a=b,c in ("'), "9:27 FLP213 spec.match.nodeLabel"],
    [
      pool("ips: [203.0.113.10]", "match: {podNamespace: Shop, podLabel: app=web}"),
      "8:25 FLP213 spec.match.podNamespace",
    ],
    [
      pool("ips: [203.0.113.10]", "match:", "  podNamespace: shop", "  podLabel: app=w b"),
      "10:21 FLP213 spec.match.podLabel",
    ],
    [`${ISSUER.replace("---\n", "")}  nodeLabel: a=b=c\n`, "7:17 FLP213 spec.nodeLabel"],
  ],
  FLP214: [
    [pool("ips:", "  - 203.0.113.010"), "8:7 FLP214 spec.ips[0]"],
    [routedIP("address: 2001:db8::1"), "15:12 FLP214 spec.address"],
    [routedIP("address: 2001:db8::1").replace("provider: digitalocean", "provider: digitalocean\n  ipFamily: IPv6")],
    [pool("ips: [203.0.113.10, '2001:db8::1']"), "7:23 FLP214 spec.ips[1]"],
    [pool("ips: ['2001:DB8::0:1', 203.0.113.10]", "ipFamily: IPv6"), "7:26 FLP214 spec.ips[1]"],
    [pool("ips: ['2001:db8::1']", "ipFamily: IPv6")],
    [routedIP('address: ""'), "15:12 FLP214 spec.address"],
  ],
  FLP215: [
    [pool("ips: ['2001:db8::1', '2001:DB8:0::1']", "ipFamily: IPv6"), "7:24 FLP215 spec.ips[1]"],
    [pool("ips: [203.0.113.10, 203.0.113.11, 203.0.113.10]"), "7:37 FLP215 spec.ips[2]"],
  ],
  FLP216: [
    [
      `${pool("ips: [203.0.113.10]")}---\n${pool("ips:", "  - 203.0.113.9", "  - 203.0.113.10").replace("web", "api")}`,
      "17:7 FLP216 spec.ips[1]",
    ],
    [`${routedIP("address: 203.0.113.10")}---\n${pool("ips: [203.0.113.10]")}`, "23:9 FLP216 spec.ips[0]"],
    // The same object in two documents, as in a base and its overlay, is one object.
    [`${pool("ips: [203.0.113.10]")}---\n${pool("ips: [203.0.113.10]")}`],
  ],
  FLP217: [[pool("ips: [203.0.113.10, 203.0.113.11]", "desiredIPs: 1"), "8:15 FLP217~ spec.desiredIPs"]],
  FLP218: [[pool("desiredIPs: 2"), "7:15 FLP218~ spec.desiredIPs"], [pool("desiredIPs: 2", "region: ams3")]],
  FLP219: [
    [pool("ips: [203.0.113.10]", "dnsRecordSet: {zone: example.com}"), "8:3 FLP219 spec.dnsRecordSet"],
    [pool("ips: [203.0.113.10]", 'dnsRecordSet: {zone: "", recordName: ""}'), "8:3 FLP219 spec.dnsRecordSet"],
    [`${DNS}spec: {}\n`, "5:1 FLP219 spec.dnsRecordSet"],
    [recordSet("dnsRecordSet:"), "6:3 FLP219 spec.dnsRecordSet"],
  ],
  FLP220: [
    [recordSet("dnsRecordSet:", "  zone: example com", "  recordName: www"), "7:11 FLP220 spec.dnsRecordSet.zone"],
    [
      recordSet("dnsRecordSet:", "  zone: example.com", "  recordName: w w"),
      "8:17 FLP220 spec.dnsRecordSet.recordName",
    ],
    [
      recordSet("dnsRecordSet:", "  zone: exmaple.net", "  recordName: nodes.example.net"),
      "8:17 FLP220~ spec.dnsRecordSet.recordName",
    ],
    [
      recordSet("dnsRecordSet:", "  zone: example.com", "  recordName: www.example.net."),
      "8:17 FLP220 spec.dnsRecordSet.recordName",
    ],
    [recordSet("dnsRecordSet:", "  zone: example.com", "  recordName: a.b")],
    [recordSet("dnsRecordSet:", "  zone: example.com", "  recordName: www.example.com")],
  ],
  FLP221: [
    [recordSet("dnsRecordSet: {zone: example.com, recordName: www, ttl: 5}"), "6:59 FLP221~ spec.dnsRecordSet.ttl"],
    [
      recordSet("provider: cloudflare", "dnsRecordSet: {zone: example.com, recordName: www, ttl: 100000}"),
      "7:59 FLP221~ spec.dnsRecordSet.ttl",
    ],
    [recordSet("dnsRecordSet: {zone: example.com, recordName: www, ttl: 0}")],
  ],
  FLP222: [
    [
      `${recordSet("dnsRecordSet: {zone: example.com, recordName: www}")}---\n${recordSet(
        "dnsRecordSet: {zone: Example.com., recordName: www.example.com}",
      ).replace("nodes", "other")}`,
      "13:50 FLP222 spec.dnsRecordSet.recordName",
    ],
  ],
  FLP223: [[pool("ips: [203.0.113.10]", "match: {podLabel: app=web}"), "8:21 FLP223~ spec.match.podLabel"]],
  FLP224: [
    [pool("ips: [203.0.113.10]", "assignmentCoolOffSeconds: 60"), "8:29 FLP224~ spec.assignmentCoolOffSeconds"],
    [pool("ips: [203.0.113.10]", "assignmentCoolOffSeconds: 59.5")],
  ],
  FLP225: [[routedIP().replace("name: public", "name: privat"), "13:11 FLP225~ spec.issuer"], [routedIP()]],
  FLP226: [
    [routedIP("ports: [{protocol: tcp, port: 99999-1}]"), "15:33 FLP226 spec.ports[0].port"],
    [routedIP("ports: [{protocol: tcp, port: 0}]"), "15:33 FLP226 spec.ports[0].port"],
    [routedIP("ports: [{protocol: tcp}]"), "15:11 FLP226 spec.ports[0].port"],
    [routedIP("ports: [{protocol: TCP, port: 8000-9000}, {protocol: icmp}, {protocol: udp, port: all}]")],
  ],
  FLP227: [
    [pool("ips: [203.0.113.10]", "maxPerNode: 2"), "8:15 FLP227~ spec.maxPerNode"],
    [pool("ips: [203.0.113.10]", "maxPerNode: 1")],
    [pool("ips: [203.0.113.10]", "maxPerNode: 2").replace("provider: digitalocean", "provider: hetzner")],
  ],
  FLP228: [
    [pool("ips: [203.0.113.10]", "hostAddress: Managed"), "8:16 FLP228~ spec.hostAddress"],
    [pool("ips: [203.0.113.10]", "hostAddress: External")],
    [pool("ips: [203.0.113.10]", "hostAddress: Managed").replace("provider: digitalocean", "provider: hetzner")],
    [
      `${ISSUER.replace("provider: digitalocean", "provider: digitalocean\n  hostAddress: Managed")}`,
      "7:16 FLP228~ spec.hostAddress",
    ],
  ],
};

describe("flipop validate says the code and the very place", () => {
  test.for(OFFLINE.flatMap((code) => CASES[code].map((row) => [code, ...row] as const)))(
    "%s in %j",
    ([, text, ...told]) => {
      expect(toldOf(text)).toEqual(told);
    },
  );

  test.for(OFFLINE)("%s has a case, with its usual severity", (code) => {
    const mark = FINDINGS[code].severity === "warning" ? `${code}~ ` : `${code}`;
    const told = CASES[code].flatMap(([, ...all]) => all).filter((one) => one.includes(mark));
    expect(told).not.toEqual([]);
  });
});
