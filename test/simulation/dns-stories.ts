import type { WorldEvent } from "./history.ts";
import type { DNSSpecText, RecordSetSpecText } from "./pool-spec-text.ts";
import { address, node, type Story, story } from "./story.ts";

const provider = "digitalocean";
const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";

function name(where: "digitalocean" | "cloudflare", recordName = "www"): DNSSpecText {
  return { provider: where, zone: "example.com", recordName, ttl: 60 };
}

function recordSet(spec: RecordSetSpecText): WorldEvent {
  return { atMs: 0, kind: "record-set", name: "r0", spec };
}

const AT_WWW = { provider, zone: "example.com", fqdn: "www.example.com" } as const;

/** What is about names, each as short as it can be. */
export function dnsStories(): readonly Story[] {
  const listed = { provider, ips: ["203.0.113.1", "203.0.113.2"] };
  return [
    story("a name follows a failover, at DigitalOcean", 5000, [
      ...node(1),
      ...node(2),
      ...node(3),
      address(1, 101),
      address(2, 102),
      { atMs: 0, kind: "pool", name: "p0", spec: { ...listed, dnsRecordSet: name("digitalocean") } },
      { atMs: 1900, kind: "ready", name: "n1", value: false },
      { atMs: 1900, kind: "ready", name: "n3", value: false },
    ]),
    story("all nodes of a name are cordoned at once", 7000, [
      ...[1, 2, 3, 4].flatMap((number) => node(number)),
      address(1, 101),
      address(2, 102),
      { atMs: 0, kind: "pool", name: "p0", spec: { ...listed, dnsRecordSet: name("digitalocean") } },
      { atMs: 4000, kind: "cordon", name: "n1", value: true },
      { atMs: 4000, kind: "cordon", name: "n2", value: true },
    ]),
    story("a pool is renamed and cleans the old name", 5000, [
      ...node(1),
      ...node(2),
      address(1, 101),
      address(2, 102),
      {
        atMs: 0,
        kind: "pool",
        name: "p0",
        spec: { ...listed, reclaimPolicy: "Delete", dnsRecordSet: name("digitalocean") },
      },
      { atMs: 1900, kind: "edit", name: "p0", spec: { dnsRecordSet: { recordName: "nodes" } } },
    ]),
    story("a record set moves from DigitalOcean to Cloudflare and cleans up", 5000, [
      ...node(1),
      ...node(2),
      recordSet({ reclaimPolicy: "Delete", dnsRecordSet: name("digitalocean") }),
      { atMs: 1900, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { provider: "cloudflare" } } },
    ]),
    story("a record set follows its nodes, at Cloudflare", 6500, [
      ...node(1),
      ...node(2),
      recordSet({ dnsRecordSet: name("cloudflare") }),
      { atMs: 1900, kind: "ready", name: "n1", value: false },
      { atMs: 3800, kind: "ready", name: "n2", value: false },
    ]),
    story("a record set that is emptied on purpose, and deleted", 6500, [
      ...node(1),
      recordSet({ reclaimPolicy: "Delete", whenEmpty: "Delete", dnsRecordSet: name("digitalocean") }),
      { atMs: 1900, kind: "ready", name: "n1", value: false },
      { atMs: 3400, kind: "ready", name: "n1", value: true },
      { atMs: 4900, kind: "delete-record-set", name: "r0" },
    ]),
    story("a record set of annotations follows a failover", 5000, [
      ...node(1),
      ...node(2),
      address(1, 101),
      { atMs: 0, kind: "pool", name: "p0", spec: { provider, ips: ["203.0.113.1"] } },
      recordSet({ addressType: ANNOTATION, dnsRecordSet: name("digitalocean") }),
      { atMs: 1900, kind: "ready", name: "n1", value: false },
    ]),
    story("a name follows a failover, at Cloudflare", 5000, [
      ...node(1),
      ...node(2),
      ...node(3),
      address(1, 101),
      {
        atMs: 0,
        kind: "pool",
        name: "p0",
        spec: { provider, ips: ["203.0.113.1"], dnsRecordSet: { ...name("cloudflare"), ttl: 5 } },
      },
      { atMs: 1900, kind: "ready", name: "n1", value: false },
      { atMs: 4000, kind: "hand-record", ...AT_WWW, provider: "cloudflare", edit: "double", pick: 0 },
    ]),
    story("a pool's name moves from Cloudflare to a zone at DigitalOcean, and its records stay", 5000, [
      ...node(1),
      address(1, 101),
      { atMs: 0, kind: "pool", name: "p0", spec: { provider, ips: ["203.0.113.1"], dnsRecordSet: name("cloudflare") } },
      {
        atMs: 1900,
        kind: "edit",
        name: "p0",
        spec: { dnsRecordSet: { provider: "digitalocean", zone: "example.org" } },
      },
    ]),
    story("a pool that retains is deleted, with its name", 5500, [
      ...node(1),
      {
        atMs: 0,
        kind: "pool",
        name: "p0",
        spec: { provider, region: "nyc3", desiredIPs: 1, dnsRecordSet: name("digitalocean") },
      },
      { atMs: 2600, kind: "delete-pool", name: "p0" },
    ]),
    story("a pool that gives back is deleted, with its name", 5500, [
      ...node(1),
      {
        atMs: 0,
        kind: "pool",
        name: "p0",
        spec: { provider, region: "nyc3", desiredIPs: 1, reclaimPolicy: "Delete", dnsRecordSet: name("cloudflare") },
      },
      { atMs: 2600, kind: "delete-pool", name: "p0" },
    ]),
    story("a record set grows, and is renamed", 5000, [
      ...node(1),
      ...node(2, false),
      recordSet({ reclaimPolicy: "Delete", dnsRecordSet: name("digitalocean") }),
      { atMs: 1900, kind: "ready", name: "n2", value: true },
      { atMs: 2100, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "nodes" } } },
    ]),
    story("a record set that may be empty is renamed while its nodes are in grace", 5500, [
      ...node(1),
      recordSet({
        reclaimPolicy: "Delete",
        whenEmpty: "Delete",
        gracePeriodSeconds: 30,
        dnsRecordSet: name("digitalocean"),
      }),
      { atMs: 1900, kind: "ready", name: "n1", value: false },
      { atMs: 1900, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "nodes" } } },
    ]),
    story("somebody adds to a name, and it is renamed", 4000, [
      ...node(1),
      recordSet({ reclaimPolicy: "Delete", dnsRecordSet: name("digitalocean") }),
      { atMs: 1900, kind: "hand-record", ...AT_WWW, edit: "add", pick: 0 },
      { atMs: 1900, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "nodes" } } },
    ]),
    story("a provider that asks for no calls is named by nobody, and then by another object", 7000, [
      ...node(1),
      recordSet({ dnsRecordSet: name("cloudflare") }),
      { atMs: 0, kind: "fault", how: "429", times: 1, side: "dns", operation: "records" },
      { atMs: 1000, kind: "delete-record-set", name: "r0" },
      { atMs: 4000, kind: "record-set", name: "r1", spec: { dnsRecordSet: name("cloudflare", "nodes") } },
    ]),
    story("a name goes to another object that never publishes there, and leaves it", 5500, [
      ...node(1),
      address(1, 101),
      {
        atMs: 0,
        kind: "pool",
        name: "p0",
        spec: { provider, ips: ["203.0.113.1"], reclaimPolicy: "Delete", dnsRecordSet: name("digitalocean") },
      },
      {
        atMs: 100,
        kind: "pool",
        name: "p1",
        spec: { provider, ips: ["203.0.113.5"], dnsRecordSet: name("digitalocean") },
      },
      { atMs: 1900, kind: "edit", name: "p0", spec: { dnsRecordSet: { recordName: "nodes" } } },
      { atMs: 3400, kind: "edit", name: "p1", spec: { dnsRecordSet: null } },
    ]),
    story(
      "a record set that retains is deleted, and one whose name another asks for that has nothing to publish",
      5500,
      [
        ...node(1),
        recordSet({ dnsRecordSet: name("cloudflare") }),
        {
          atMs: 0,
          kind: "record-set",
          name: "r1",
          spec: { reclaimPolicy: "Delete", dnsRecordSet: name("digitalocean") },
        },
        {
          atMs: 100,
          kind: "record-set",
          name: "r2",
          spec: { reclaimPolicy: "Delete", match: { nodeLabel: "role=nobody" }, dnsRecordSet: name("digitalocean") },
        },
        { atMs: 1900, kind: "delete-record-set", name: "r0" },
        { atMs: 1900, kind: "delete-record-set", name: "r1" },
      ],
    ),
    story("one address replaced by another under its name", 5500, [
      ...node(1),
      ...node(2),
      address(1, 101),
      address(2, 102),
      { atMs: 0, kind: "pool", name: "p0", spec: { provider, ips: ["203.0.113.1"], dnsRecordSet: name("cloudflare") } },
      { atMs: 2200, kind: "edit", name: "p0", spec: { ips: ["203.0.113.2"] } },
    ]),
  ];
}
