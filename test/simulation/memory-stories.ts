import type { WorldEvent } from "./history.ts";
import { address, node, type Story, story } from "./story.ts";

const provider = "digitalocean";
const www = { provider, zone: "example.com", recordName: "www", ttl: 60 } as const;

const BOUGHT_ONE = { provider, region: "nyc3", desiredIPs: 1 } as const;

function buying(name: string, atMs = 0): WorldEvent {
  return { atMs, kind: "pool", name, spec: BOUGHT_ONE };
}

/** What is about answers that are lost and what runs leave for one another, each as short as it can be. */
export function memoryStories(): readonly Story[] {
  return [
    story("times of purchases on the Lease are far in the future", 4000, [
      ...node(1),
      { atMs: 1000, kind: "spoil-lease", how: "future" },
      { atMs: 1000, kind: "spoil-lease", how: "garbage" },
      { atMs: 1001, kind: "spoil-lease", how: "future" },
      buying("p0", 1900),
    ]),
    story("two pools want one node while an answer is lost", 9000, [
      { atMs: 0, kind: "cloud", delayMs: 0, failActions: 1 },
      ...node(1),
      buying("p0"),
      buying("p1", 1000),
      { atMs: 0, kind: "fault", how: "500-after", times: 2, side: "cloud", operation: "create" },
    ]),
    ...["digitalocean", "digitalocaen"].map((heirProvider) =>
      story(`a pool goes, and one of provider ${heirProvider} names what it bought`, 6500, [
        ...node(1),
        { atMs: 0, kind: "pool", name: "p0", spec: { ...BOUGHT_ONE, reclaimPolicy: "Delete" } },
        { atMs: 2600, kind: "pool", name: "p1", spec: { provider: heirProvider, ips: ["198.51.100.1"] } },
        { atMs: 3600, kind: "delete-pool", name: "p0" },
      ]),
    ),
    story("a creation is refused", 3000, [
      buying("p0"),
      { atMs: 0, kind: "fault", how: "422", times: 1, side: "cloud", operation: "create" },
    ]),
    story("two creations get no answer, and one was carried out", 3000, [
      buying("p0"),
      buying("p1"),
      { atMs: 0, kind: "fault", how: "500-after", times: 1, side: "cloud", operation: "create" },
      { atMs: 0, kind: "fault", how: "500", times: 1, side: "cloud", operation: "create" },
    ]),
    story("a name is taken over, what stood in it cannot be taken out, and it is left", 10_000, [
      ...node(1),
      address(1),
      { atMs: 0, kind: "pool", name: "p0", spec: { provider, ips: ["203.0.113.1"], reclaimPolicy: "Delete" } },
      { atMs: 0, kind: "record-set", name: "r0", spec: { reclaimPolicy: "Delete", dnsRecordSet: www } },
      { atMs: 1900, kind: "edit", name: "p0", spec: { dnsRecordSet: www } },
      { atMs: 1900, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "nodes" } } },
      { atMs: 1900, kind: "fault", how: "timeout", times: 1, side: "dns", operation: "remove-record" },
      { atMs: 3500, kind: "edit", name: "p0", spec: { dnsRecordSet: null } },
    ]),
  ];
}
