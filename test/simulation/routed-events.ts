import { SERVICE_NAME_LABEL } from "../../src/adapters/kube/service.ts";
import { parsePortText } from "../../src/model/firewall.ts";
import { GROUP, VERSION } from "../../src/model/resource.ts";
import { completeFirewalls } from "../../src/sandbox/digitalocean/cloud-state.ts";
import type { FirewallState, InboundState } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import { storeKey } from "../../src/sandbox/kubernetes/object-store.ts";
import type { FirewallEdit, RoutedEvent } from "./routed-event.ts";
import type { World } from "./world.ts";

type Of<K extends RoutedEvent["kind"]> = Extract<RoutedEvent, { kind: K }>;
type Effects = { readonly [K in RoutedEvent["kind"]]: (world: World, event: Of<K>) => void };

const ANYBODY = ["0.0.0.0/0", "::/0"];

/** What every event about RoutedIPs, what they refer to, and firewalls does to the world. */
export const ROUTED_EFFECTS: Effects = {
  issuer: (world, { name, spec }) => create(world, "issuers", "RoutedIPIssuer", name, { spec }),
  "edit-issuer": (world, { name, spec }) => {
    world.kubernetes.api.patch(world.type("issuers"), `shop/${name}`, { spec });
  },
  "delete-issuer": (world, { name }) => {
    world.kubernetes.api.remove(world.type("issuers"), `shop/${name}`);
  },
  "routed-ip": (world, { name, spec }) => create(world, "routedIPs", "RoutedIP", name, { spec }),
  "edit-routed-ip": (world, { name, spec }) => {
    world.kubernetes.api.patch(world.type("routedIPs"), `shop/${name}`, { spec });
  },
  "delete-routed-ip": (world, { name }) => {
    world.kubernetes.api.remove(world.type("routedIPs"), `shop/${name}`);
  },
  "wipe-routed-ip": (world, { name }) => {
    const type = world.type("routedIPs");
    const stored = world.kubernetes.api.get(type, `shop/${name}`)["status"] ?? {};
    const status = Object.fromEntries(Object.keys(stored).map((field) => [field, null]));
    world.kubernetes.api.patch(type, `shop/${name}`, { status }, { subresource: "status" });
  },
  service: (world, { name, app, ports }) => {
    const type = world.type("services");
    const spec = { selector: app === null ? null : { app }, ports: ports.map(portOf) };
    const isThere = world.kubernetes.api.store.get(storeKey(type), `shop/${name}`) !== undefined;
    if (isThere) world.kubernetes.api.patch(type, `shop/${name}`, { spec });
    else
      world.kubernetes.api.create(type, "shop", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name },
        spec: { type: "NodePort", ...(app === null ? {} : { selector: { app } }), ports: ports.map(portOf) },
      });
  },
  "delete-service": (world, { name }) => {
    world.kubernetes.api.remove(world.type("services"), `shop/${name}`);
  },
  endpoints: (world, { service, nodes }) => {
    const type = world.type("endpointSlices");
    const endpoints = Object.entries(nodes).map(([nodeName, ready], at) => ({
      addresses: [`10.0.0.${at + 1}`],
      conditions: { ready },
      nodeName,
    }));
    const isThere = world.kubernetes.api.store.get(storeKey(type), `shop/${service}`) !== undefined;
    if (isThere) world.kubernetes.api.patch(type, `shop/${service}`, { endpoints });
    else
      world.kubernetes.api.create(type, "shop", {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name: service, labels: { [SERVICE_NAME_LABEL]: service } },
        addressType: "IPv4",
        ports: [],
        endpoints,
      });
  },
  firewall: (world, { name, open, droplets }) => {
    const { state } = world.cloud;
    if (state.firewalls.some((firewall) => firewall.name === name)) return;
    const written = { name, inbound_rules: open.map((text) => ruleOf(text)), outbound_rules: [], tags: [] };
    state.firewalls.push({ ...written, droplet_ids: [...droplets] } as unknown as FirewallState);
    completeFirewalls(state);
  },
  "hand-firewall": handEdit,
};

function create(world: World, plural: "issuers" | "routedIPs", kind: string, name: string, body: object): void {
  const apiVersion = `${GROUP}/${VERSION}`;
  world.kubernetes.api.create(world.type(plural), "shop", { apiVersion, kind, metadata: { name }, ...body });
}

function portOf(nodePort: number): object {
  return { name: `p${nodePort}`, protocol: nodePort % 10 === 3 ? "UDP" : "TCP", port: nodePort - 30_000, nodePort };
}

/** The rule for everybody, or for some, that a person writes for ports as status names them. */
function ruleOf(text: string, addresses: readonly string[] = ANYBODY): InboundState {
  const { protocol, from, to } = parsePortText(text) ?? { protocol: "tcp", from: 1, to: 65_535 };
  const ports = protocol === "icmp" ? "0" : from === to ? `${from}` : `${from}-${to}`;
  return { protocol, ports, sources: { addresses: [...addresses] } };
}

function handEdit(world: World, { name, edit, ports, droplet }: Of<"hand-firewall">): void {
  const { state } = world.cloud;
  const firewall = state.firewalls.find((one) => one.name === name);
  if (firewall === undefined) return;
  const rule = ruleOf(ports);
  const isThat = (other: InboundState): boolean => other.protocol === rule.protocol && other.ports === rule.ports;
  const add = (other: InboundState): void => {
    if (!firewall.inbound_rules.some((known) => JSON.stringify(known) === JSON.stringify(other)))
      firewall.inbound_rules.push(other);
  };
  const droplets = new Set(firewall.droplet_ids);
  const edits: Readonly<Record<FirewallEdit, () => void>> = {
    open: () => add(rule),
    close: () => {
      firewall.inbound_rules = firewall.inbound_rules.filter((other) => !isThat(other));
    },
    widen: () => add({ ...rule, ports: rule.protocol === "icmp" ? "0" : "1-65535" }),
    narrow: () => add(ruleOf(ports, ["192.0.2.0/24"])),
    attach: () => {
      if (state.droplets.some(({ id }) => id === droplet) && droplets.size < 10) droplets.add(droplet);
      firewall.droplet_ids = [...droplets];
    },
    detach: () => {
      firewall.droplet_ids = firewall.droplet_ids.filter((id) => id !== droplet);
    },
    tag: () => {
      firewall.tags = firewall.tags.length === 0 ? ["edge"] : [];
      for (const one of state.droplets) one.tags = one.id % 2 === droplet % 2 ? ["edge"] : [];
    },
    fill: () => {
      for (let port = 1; firewall.inbound_rules.length < 49; port += 1) add(ruleOf(`udp/${port}`));
    },
    clear: () => {
      firewall.inbound_rules = firewall.inbound_rules.filter(
        ({ protocol, ports: text }) => protocol !== "udp" || Number(text) > 99,
      );
    },
    "cut-off": () => {
      for (const one of state.droplets) if (one.id === droplet) one.unreachable = true;
    },
    delete: () => {
      state.firewalls = state.firewalls.filter((other) => other !== firewall);
    },
  };
  edits[edit]();
}
