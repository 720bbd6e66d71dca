import type { IPFamily } from "../../src/model/address-source.ts";
import { NODE_ANNOTATIONS } from "../../src/model/node-annotations.ts";
import { GROUP, VERSION } from "../../src/model/resource.ts";
import { familyOf, remember, setHolder } from "../../src/sandbox/digitalocean/actions.ts";
import { type AddressState, completeState, defaultProjectID } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { writeDocument } from "../../src/sandbox/kubernetes/complete-document.ts";
import { timeText } from "../../src/sandbox/provider.ts";
import type { DNSEvent } from "./dns-event.ts";
import { DNS_EFFECTS } from "./dns-events.ts";
import type { Expectation } from "./expectation.ts";
import type { WorldEvent } from "./history.ts";
import type { ProcessEvent } from "./process-event.ts";
import type { RoutedEvent } from "./routed-event.ts";
import { ROUTED_EFFECTS } from "./routed-events.ts";
import type { ShardEvent } from "./shard-event.ts";
import { SHARD_EFFECTS } from "./shard-events.ts";
import type { StateEvent } from "./state-event.ts";
import { STATE_EFFECTS } from "./state-events.ts";
import { dropletOf } from "./truth.ts";
import type { World } from "./world.ts";

type Of<K extends WorldEvent["kind"]> = Extract<WorldEvent, { kind: K }>;
type Effects = {
  readonly [K in Exclude<
    WorldEvent["kind"],
    | "fault"
    | "crash"
    | "freeze"
    | "stale"
    | "terminate"
    | Expectation["kind"]
    | ProcessEvent["kind"]
    | StateEvent["kind"]
    | ShardEvent["kind"]
    | DNSEvent["kind"]
    | RoutedEvent["kind"]
  >]: (world: World, event: Of<K>) => void;
};

/** Lets one event happen to the cluster or the account; one that makes no sense any more does nothing. Faults, crashes and signals are not for here. */
export function happen(world: World, event: WorldEvent): void {
  if (["fault", "crash", "freeze", "stale", "terminate"].includes(event.kind)) return;
  try {
    const effects = { ...EFFECTS, ...DNS_EFFECTS, ...STATE_EFFECTS, ...ROUTED_EFFECTS, ...SHARD_EFFECTS };
    (effects[event.kind as keyof typeof effects] as (world: World, event: WorldEvent) => void)(world, event);
  } catch (error) {
    // The object is gone, or the API refuses: a person would shrug.
    if (!(error instanceof Error) || error.name !== "StatusError") throw error;
  }
}

const EFFECTS: Effects = {
  droplet: (world, { id, region }) => {
    const [droplet] = completeState({ droplets: [{ id, region }] }).droplets;
    const { state } = world.cloud;
    if (droplet !== undefined && !state.droplets.some((other) => other.id === id)) state.droplets.push(droplet);
  },
  "remove-droplet": (world, { id }) => world.cloud.removeDroplet(id, world.nowMs()),
  node: (world, { name, droplet, region, isReady, role }) => {
    removeNode(world, name);
    writeDocument(world.kubernetes.api, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "topology.kubernetes.io/region": region, role } },
      spec: specOf(name, droplet),
      status: { conditions: [readyCondition(world, isReady)], addresses: addressesOf(name, droplet) },
    });
  },
  ready: (world, { name, value }) => {
    const before = world.nodes().find((node) => node.name === name)?.ready.isReady;
    if (before === value) return;
    const status = { conditions: [readyCondition(world, value)] };
    world.kubernetes.api.patch(world.type("nodes"), name, { status }, { subresource: "status" });
  },
  cordon: (world, { name, value }) =>
    patchNode(world, name, {
      spec: value
        ? { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] }
        : { unschedulable: null, taints: null },
    }),
  role: (world, { name, value }) => patchNode(world, name, { metadata: { labels: { role: value } } }),
  "delete-node": (world, { name, isHeld }) => {
    if (!isHeld) return removeNode(world, name);
    patchNode(world, name, { metadata: { finalizers: ["example.com/hold"] } });
    world.kubernetes.api.remove(world.type("nodes"), name);
  },
  annotate: (world, { name, address, pool, family = "IPv4" }) => {
    const names = NODE_ANNOTATIONS[family];
    patchNode(world, name, { metadata: { annotations: { [names.address]: address, [names.pool]: pool } } });
  },
  pod: (world, { node, isReady }) => {
    const known = world.pods().find((pod) => pod.name === `web-${node}`);
    if (known?.ready.isReady === isReady && known.phase === "Running") return;
    writeDocument(world.kubernetes.api, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `web-${node}`, namespace: "shop", labels: { app: "web" } },
      spec: { nodeName: node, containers: [{ name: "web", image: "web" }] },
      status: { phase: "Running", conditions: [readyCondition(world, isReady)] },
    });
  },
  "delete-pod": (world, { node }) => {
    world.kubernetes.api.remove(world.type("pods"), `shop/web-${node}`, { gracePeriodSeconds: 0 });
  },
  "pod-label": (world, { node, app }) => {
    world.kubernetes.api.patch(world.type("pods"), `shop/web-${node}`, { metadata: { labels: { app } } });
  },
  pool: (world, { name, spec }) => {
    world.kubernetes.api.create(world.type("pools"), "shop", {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: "FloatingIPPool",
      metadata: { name, ...world.labelsOf(name) },
      spec,
    });
  },
  edit: (world, { name, spec }) => {
    world.kubernetes.api.patch(world.type("pools"), `shop/${name}`, { spec });
  },
  "delete-pool": (world, { name }) => {
    world.kubernetes.api.remove(world.type("pools"), `shop/${name}`);
  },
  "wipe-status": (world, { name }) => {
    const type = world.type("pools");
    const stored = world.kubernetes.api.get(type, `shop/${name}`)["status"] ?? {};
    const status = Object.fromEntries(Object.keys(stored).map((field) => [field, null]));
    world.kubernetes.api.patch(type, `shop/${name}`, { status }, { subresource: "status" });
  },
  "touch-status": (world, { name, lastAssignmentInMs }) => {
    const status = { lastAssignmentTime: timeText(world.nowMs() + lastAssignmentInMs) };
    world.kubernetes.api.patch(world.type("pools"), `shop/${name}`, { status }, { subresource: "status" });
  },
  address: (world, { ip, on, region, isBYOIP }) => {
    if (world.address(ip) !== undefined) return;
    const { state } = world.cloud;
    const family = familyOf(ip);
    const holder = canTake(world, on, { region, family }) ? on : null;
    const address = { ip, region, droplet_id: holder, project_id: isBYOIP ? "" : defaultProjectID };
    remember(state, ip, null, world.nowMs());
    (family === "IPv6" ? state.reserved_ipv6 : isBYOIP ? state.byoip : state.reserved_ips).push(address);
  },
  "hand-move": (world, { pick, to }) => {
    const address = picked(world, pick);
    if (address === undefined || (to !== null && !canTake(world, to, { ...address, family: familyOf(address.ip) })))
      return;
    setHolder(world.cloud.state, address, to, world.nowMs());
  },
  "hand-delete": (world, { pick }) => {
    const address = picked(world, pick);
    const { state } = world.cloud;
    if (address === undefined) return;
    remember(state, address.ip, { ...address }, world.nowMs());
    state.reserved_ips = state.reserved_ips.filter((other) => other !== address);
    state.reserved_ipv6 = state.reserved_ipv6.filter((other) => other !== address);
  },
  "other-buys": (world, { on, family = "IPv4" }) => {
    const { state } = world.cloud;
    const region = state.droplets.find(({ id }) => id === on)?.region ?? "nyc3";
    const isNode = world.nodes().some((node) => dropletOf(node) === on);
    const holder = !isNode && canTake(world, on, { region, family }) ? on : null;
    const bought = family === "IPv6" ? state.reserved_ipv6 : state.reserved_ips;
    const network = family === "IPv6" ? "2001:db8:99::" : "192.0.2.";
    const ip = `${network}${bought.filter((address) => address.ip.startsWith(network)).length + 1 + (world.nowMs() % 97) * 2}`;
    if (world.address(ip) !== undefined || bought.length >= state.account.reserved_ip_limit) return;
    remember(state, ip, null, world.nowMs());
    bought.push({ ip, region, droplet_id: holder, project_id: defaultProjectID });
  },
  lock: (world, { pick, value }) => {
    const address = picked(world, pick);
    if (address === undefined) return;
    if (value) address.locked = true;
    else delete address.locked;
  },
  "pending-event": (world, { droplet, ms }) => {
    const state = world.cloud.state.droplets.find(({ id }) => id === droplet);
    if (state !== undefined) state.pending_event_until = timeText(world.nowMs() + ms);
  },
  cloud: (world, { delayMs, lagMs, failActions, quota }) => {
    const { settings, account } = world.cloud.state;
    if (delayMs !== undefined) settings.action_delay_ms = delayMs;
    if (lagMs !== undefined) settings.list_lag_ms = lagMs;
    if (failActions !== undefined) settings.fail_next_actions = failActions;
    if (quota !== undefined) account.reserved_ip_limit = quota;
  },
};

/** A node without a droplet of ours has no machine at all yet, or one of another provider. */
function specOf(name: string, droplet: number | null): { readonly providerID?: string } {
  if (droplet !== null) return { providerID: `digitalocean://${droplet}` };
  return /[13579]$/.test(name) ? { providerID: `elsewhere://${name}` } : {};
}

/** Every machine has its own addresses; those of a node without one go by its name. */
function addressesOf(name: string, droplet: number | null): readonly object[] {
  const number = (droplet ?? Number(name.slice(1)) + 40) % 250;
  return [
    { type: "ExternalIP", address: `198.51.100.${number}` },
    { type: "InternalIP", address: `10.0.0.${number}` },
    { type: "ExternalIP", address: `2001:db8::${number}` },
    { type: "Hostname", address: name },
  ];
}

function readyCondition(world: World, isReady: boolean): Readonly<Record<string, string>> {
  const time = new Date(world.nowMs()).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    type: "Ready",
    status: isReady ? "True" : "False",
    reason: "Kubelet",
    message: "",
    lastTransitionTime: time,
  };
}

function patchNode(world: World, name: string, patch: unknown): void {
  world.kubernetes.api.patch(world.type("nodes"), name, patch);
}

function removeNode(world: World, name: string): void {
  const type = world.type("nodes");
  if (!world.nodes().some((node) => node.name === name)) return;
  world.kubernetes.api.patch(type, name, { metadata: { finalizers: null } });
  if (world.nodes().some((node) => node.name === name)) world.kubernetes.api.remove(type, name);
}

function canTake(
  world: World,
  droplet: number | null,
  { region, family }: { readonly region: string; readonly family: IPFamily },
): boolean {
  if (droplet === null) return true;
  const known = world.cloud.state.droplets.find(({ id }) => id === droplet);
  const isTaken = world.addressesOf(family).some((address) => address.droplet_id === droplet);
  return known !== undefined && known.region === region && !isTaken;
}

function picked(world: World, pick: number): AddressState | undefined {
  const addresses = world.addresses();
  return addresses[pick % Math.max(1, addresses.length)];
}
