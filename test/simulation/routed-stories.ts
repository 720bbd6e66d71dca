import type { WorldEvent } from "./history.ts";
import type { RoutedIPSpecText } from "./routed-event.ts";
import { address, node, type Story, story } from "./story.ts";

const provider = "digitalocean";
const region = "nyc3";
const atMs = 0;

/** An issuer that gives back, its firewall `fw0` that lets SSH in, another one, and the Service `web` on port 30080. */
const SCENE: readonly WorldEvent[] = [
  { atMs, kind: "firewall", name: "fw0", open: ["tcp/22"], droplets: [901] },
  { atMs, kind: "firewall", name: "fw1", open: ["tcp/22"], droplets: [] },
  { atMs, kind: "service", name: "web", app: "web", ports: [30_080] },
  {
    atMs,
    kind: "issuer",
    name: "cloud",
    spec: { provider, region, routedIPReclaimPolicy: "Delete", routedIPFirewallName: "fw0" },
  },
];

function routedIP(name: string, spec: Partial<RoutedIPSpecText> = {}): WorldEvent {
  return { atMs, kind: "routed-ip", name, spec: { issuer: "cloud", serviceName: "web", ...spec } };
}

/** An address that was there before. */
const GIVEN = { address: "203.0.113.1" } as const;

const WWW = { zone: "example.com", recordName: "www" } as const;

/** What is about RoutedIPs and their firewalls, each as short as it can be. */
export function routedStories(): readonly Story[] {
  return [
    story("a RoutedIP is made", 4500, [...node(1), ...SCENE, routedIP("v0")]),
    story("a RoutedIP fails over, with its name", 7500, [
      ...node(1),
      ...node(2),
      address(1),
      ...SCENE,
      routedIP("v0", { ...GIVEN, dnsRecordSet: WWW }),
      { atMs: 3900, kind: "pod", node: "n1", isReady: false },
    ]),
    story("a RoutedIP gets other ports", 6500, [
      ...node(1),
      address(1),
      ...SCENE,
      routedIP("v0", GIVEN),
      { atMs: 2900, kind: "service", name: "web", app: "web", ports: [30_443] },
    ]),
    story("an issuer names another firewall", 6500, [
      ...node(1),
      address(1),
      ...SCENE,
      routedIP("v0", GIVEN),
      { atMs: 2900, kind: "edit-issuer", name: "cloud", spec: { routedIPFirewallName: "fw1" } },
    ]),
    story("an issuer names a firewall where there was none, and the address gets a name", 6500, [
      ...node(1),
      address(1),
      ...SCENE,
      { atMs, kind: "edit-issuer", name: "cloud", spec: { routedIPFirewallName: "" } },
      routedIP("v0", GIVEN),
      { atMs: 2900, kind: "edit-issuer", name: "cloud", spec: { routedIPFirewallName: "fw0" } },
      { atMs: 2900, kind: "edit-routed-ip", name: "v0", spec: { dnsRecordSet: WWW } },
    ]),
    story("of two RoutedIPs that share a port one is deleted", 8500, [
      ...node(1),
      ...node(2),
      address(1),
      address(2),
      ...SCENE,
      routedIP("v0", GIVEN),
      routedIP("v1", {
        address: "203.0.113.2",
        ports: [
          { protocol: "TCP", port: "30080" },
          { protocol: "UDP", port: "30053" },
        ],
      }),
      { atMs: 4900, kind: "delete-routed-ip", name: "v0" },
    ]),
    story("somebody opens more than the port that two RoutedIPs share, in its place", 6500, [
      ...node(1),
      ...node(2),
      address(1),
      address(2),
      ...SCENE,
      routedIP("v0", GIVEN),
      { ...routedIP("v1", { address: "203.0.113.2" }), atMs: 4900 },
      { atMs: 4900, kind: "hand-firewall", name: "fw0", edit: "widen", ports: "tcp/30080", droplet: 101 },
      { atMs: 4900, kind: "hand-firewall", name: "fw0", edit: "close", ports: "tcp/30080", droplet: 101 },
    ]),
    story("a RoutedIP is deleted with its Service and its issuer", 7500, [
      ...node(1),
      ...SCENE,
      routedIP("v0"),
      { atMs: 3900, kind: "delete-service", name: "web" },
      { atMs: 3900, kind: "delete-issuer", name: "cloud" },
      { atMs: 3900, kind: "delete-routed-ip", name: "v0" },
    ]),
    story("a RoutedIP on a wide port of another one keeps its own", 8500, [
      ...node(1),
      ...node(2),
      address(1),
      address(2),
      ...SCENE,
      routedIP("v0", { ...GIVEN, ports: [{ protocol: "TCP", port: "30000-30999" }] }),
      { ...routedIP("v1", { address: "203.0.113.2" }), atMs: 2900 },
      { atMs: 4900, kind: "delete-routed-ip", name: "v0" },
    ]),
    story("a RoutedIP leaves a droplet that no change of its firewall reaches", 7500, [
      ...node(1),
      ...node(2),
      address(1),
      ...SCENE,
      routedIP("v0", GIVEN),
      { atMs: 2900, kind: "hand-firewall", name: "fw0", edit: "cut-off", ports: "tcp/30080", droplet: 101 },
      { atMs: 2900, kind: "service", name: "web", app: "web", ports: [30_443] },
      { atMs: 3900, kind: "pod", node: "n1", isReady: false },
    ]),
    story("somebody opened a port and attached a node before a RoutedIP needs both, and it goes", 6500, [
      ...node(1),
      address(1),
      ...SCENE,
      { atMs: 1, kind: "hand-firewall", name: "fw0", edit: "open", ports: "tcp/30080", droplet: 101 },
      { atMs: 1, kind: "hand-firewall", name: "fw0", edit: "attach", ports: "tcp/30080", droplet: 101 },
      routedIP("v0", GIVEN),
      { atMs: 2900, kind: "delete-routed-ip", name: "v0" },
    ]),
  ];
}
