import { includesPorts, type PortRange, portRange, portText } from "../../src/model/firewall.ts";
import type { Pool } from "../../src/model/resource.ts";
import type { FirewallState, InboundState } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import { isBlocked, managedBy } from "./truth.ts";
import type { World } from "./world.ts";

/** A rule of a firewall that lets everybody in. */
interface OpenPorts {
  readonly ports: PortRange;
  /** True for the very rule that the program writes for these ports. */
  readonly isPlain: boolean;
}

/** A firewall of the account as it is. */
export interface FirewallView {
  readonly id: string;
  readonly name: string;
  readonly open: readonly OpenPorts[];
  /** `portText` of its plain rules, and ids of the machines attached one by one. */
  readonly parts: ReadonlySet<string>;
  /** Ids of the machines it covers, by tags, too. */
  readonly covered: ReadonlySet<string>;
  readonly ruleCount: number;
  readonly machineCount: number;
}

/** How many rules, and how many machines attached one by one, a firewall may have. */
export const MOST_RULES = 50;
export const MOST_MACHINES = 10;

/** Every firewall of the account, in its order. */
export function viewFirewalls({ cloud }: World): readonly FirewallView[] {
  const { firewalls, droplets } = cloud.state;
  return firewalls.map((firewall) => {
    const tagged = droplets.filter(({ tags = [] }) => tags.some((tag) => firewall.tags.includes(tag)));
    return viewOf(
      firewall,
      tagged.map(({ id }) => id),
    );
  });
}

function viewOf(firewall: FirewallState, tagged: readonly number[]): FirewallView {
  const { id, name, inbound_rules, outbound_rules, droplet_ids } = firewall;
  const open = inbound_rules.flatMap((rule) => openBy(rule) ?? []);
  const plain = open.flatMap(({ ports, isPlain }) => (isPlain ? [portText(ports)] : []));
  return {
    id,
    name,
    open,
    parts: new Set([...plain, ...droplet_ids.map(String)]),
    covered: new Set([...droplet_ids, ...tagged].map(String)),
    ruleCount: inbound_rules.length + outbound_rules.length,
    machineCount: droplet_ids.length,
  };
}

function openBy({ protocol, ports: text, sources }: InboundState): OpenPorts | undefined {
  const ports = portRange(protocol, text);
  const addresses = [...(sources.addresses ?? [])].sort().join(" ");
  if (ports === undefined || !addresses.includes("0.0.0.0/0")) return undefined;
  return { ports, isPlain: addresses === "0.0.0.0/0 ::/0" && (text !== "0" || protocol === "icmp") };
}

/** True when everybody may come in on these ports. */
export function isOpen({ open }: FirewallView, ports: PortRange): boolean {
  return open.some((rule) => includesPorts(rule.ports, ports));
}

/** The firewall that an object is to be kept in step with: none asked for, one that cannot be used, or the one. */
export function targetOf(
  { firewall: wish }: Pool,
  all: readonly FirewallView[],
): { readonly ports: readonly PortRange[]; readonly firewall: FirewallView } | "none" | "unusable" {
  if (wish === undefined) return "none";
  const [byName, ...others] = all.filter(({ name }) => name === wish.firewall);
  const firewall = all.find(({ id }) => id === wish.firewall) ?? (others.length === 0 ? byName : undefined);
  if (firewall === undefined || firewall.name.startsWith("k8s-")) return "unusable";
  return { ports: wish.ports, firewall };
}

/** True where a firewall that cannot be used, or has no room, may keep an object from its address. */
export function isHeldByFirewall(world: World, pool: Pool): boolean {
  const target = targetOf(pool, viewFirewalls(world));
  if (target === "none") return false;
  if (target === "unusable") return true;
  const { firewall, ports } = target;
  const missing = ports.filter((one) => !isOpen(firewall, one));
  return firewall.ruleCount + missing.length > MOST_RULES || firewall.machineCount >= MOST_MACHINES;
}

/** Every RoutedIP that is not being deleted. */
export function liveRoutedIPs(world: World): readonly Pool[] {
  return world.pools().filter(({ kind, meta }) => kind === "routedip" && !meta.isDeleting);
}

/** What an object has on record at firewalls, as `ID PORTS` and `ID MACHINE`. */
export function onRecord({ status }: Pick<Pool, "status">): readonly string[] {
  return (status.firewalls ?? []).flatMap(({ id, ports, machineIDs }) =>
    [...ports, ...machineIDs].map((part) => `${id} ${part}`),
  );
}

/** The machine of an object's address that serves by its status and in truth; undefined when there is none. */
export function servingMachine(world: World, { status }: Pool): string | undefined {
  const [found] = Object.entries(status.ips).flatMap(([ip, { state, providerID }]) => {
    const machine = `${world.address(ip)?.droplet_id ?? ""}`;
    return state === "active" && providerID === `digitalocean://${machine}` ? [machine] : [];
  });
  return found;
}

/** The machine that has an object's only address; undefined when it is on none, the object has several, or another object asks for it, too: then it may be that one's. */
export function holdingMachine(world: World, pool: Pool): string | undefined {
  const [ip = "", ...others] = managedBy(pool);
  const isAskedElsewhere = world.pools().some((other) => other.meta.uid !== pool.meta.uid && managedBy(other).has(ip));
  const holder = others.length > 0 || isAskedElsewhere ? undefined : world.address(ip)?.droplet_id;
  return typeof holder === "number" ? String(holder) : undefined;
}

/** True when nothing is taken away for an object: it cannot be worked on, or its firewall cannot. */
export function keepsAll(pool: Pool, all: readonly FirewallView[]): boolean {
  return isBlocked(pool) || targetOf(pool, all) === "unusable";
}
