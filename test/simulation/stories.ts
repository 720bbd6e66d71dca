import { dnsStories } from "./dns-stories.ts";
import { memoryStories } from "./memory-stories.ts";
import { routedStories } from "./routed-stories.ts";
import { address, node, type Story, story } from "./story.ts";

const provider = "digitalocean";
const region = "nyc3";

/** The main stories, each as short as it can be. */
export function stories(): readonly Story[] {
  const listed = { provider, ips: ["203.0.113.1", "203.0.113.2"] };
  const acquiring = { provider, region, desiredIPs: 2, reclaimPolicy: "Delete" } as const;
  const coolOff = { assignmentCoolOffSeconds: 5 };
  return [
    story("first fill", 2500, [
      ...node(1),
      ...node(2),
      address(1),
      address(2),
      { atMs: 0, kind: "pool", name: "p0", spec: { ...listed, ...coolOff } },
    ]),
    story("failover", 5000, [
      ...node(1),
      ...node(2),
      ...node(3),
      address(1, 101),
      address(2, 102),
      { atMs: 0, kind: "pool", name: "p0", spec: { ...listed, match: { podLabel: "app=web" } } },
      { atMs: 1900, kind: "ready", name: "n1", value: false },
    ]),
    story("acquire", 3000, [...node(1), { atMs: 0, kind: "pool", name: "p0", spec: acquiring }]),
    story("desired lowered", 5500, [
      ...node(1),
      ...node(2),
      { atMs: 0, kind: "pool", name: "p0", spec: acquiring },
      { atMs: 2600, kind: "edit", name: "p0", spec: { desiredIPs: 1 } },
    ]),
    story("pool deleted", 5500, [
      ...node(1),
      { atMs: 0, kind: "pool", name: "p0", spec: acquiring },
      { atMs: 2600, kind: "delete-pool", name: "p0" },
    ]),
    story("pool deleted while the provider is slow", 9000, [
      ...node(1),
      { atMs: 0, kind: "cloud", delayMs: 9000 },
      { atMs: 0, kind: "pool", name: "p0", spec: { ...acquiring, desiredIPs: 1 } },
      { atMs: 2600, kind: "delete-pool", name: "p0" },
    ]),
    story("swap on one droplet", 5000, [
      ...node(1),
      address(1),
      address(2),
      { atMs: 0, kind: "pool", name: "p0", spec: { provider, ips: ["203.0.113.1"] } },
      { atMs: 2200, kind: "edit", name: "p0", spec: { ips: ["203.0.113.2"] } },
    ]),
    ...dnsStories(),
    ...memoryStories(),
    ...routedStories(),
  ];
}
