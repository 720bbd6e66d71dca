import type { IPFamily } from "./address-source.ts";
import type { Refusal } from "./errors.ts";
import { IP_FAMILIES } from "./node-annotations.ts";

/** An inbound rule of a cloud firewall, as far as flipop cares. */
export interface FirewallRule {
  readonly ports: PortRange;
  /** The families of which every address may come in, IPv4 first; other sources may stand beside that. */
  readonly openTo: readonly IPFamily[];
  /** True when its sources are exactly those flipop writes (0.0.0.0/0 and ::/0), so that what flipop asks to remove is this rule. */
  readonly isPlain: boolean;
}

/** A cloud firewall as the provider shows it, in canonical form. */
export interface Firewall {
  readonly id: string;
  readonly name: string;
  /** Inbound rules, sorted by {@link compareRules}. */
  readonly rules: readonly FirewallRule[];
  /** How many rules it has, outbound ones included. */
  readonly ruleCount: number;
  /** Machines attached one by one, as the provider's ids in decimal; sorted as texts. */
  readonly machineIDs: readonly string[];
  /** Tags whose machines it covers as well; sorted. */
  readonly tags: readonly string[];
  /** True while the provider is at work on the firewall and does not say for which machines. */
  readonly isWaiting: boolean;
  /** Machines that a change is still carried out to, attached or not; ids sorted as texts. */
  readonly pendingMachineIDs: readonly string[];
  /** Machines where the provider gave a change up; ids sorted as texts, none of them in `pendingMachineIDs`. */
  readonly failedMachineIDs: readonly string[];
  /** Set where the provider replaces the rules of a firewall as a whole, and this one has not the label {@link FIREWALL_LABEL}: it may not be changed. */
  readonly isUnlabelled?: true;
  /** Set where it has rules for what machines send. A machine that is put behind it may lose what it could send before. */
  readonly limitsOutgoing?: true;
  /** By machine id, of every machine of the account: the other firewalls that it is behind. Absent = the provider does not show it, and nothing depends on it. */
  readonly othersAt?: ReadonlyMap<string, OtherFirewalls>;
}

/** How many other firewalls a machine is behind. */
export interface OtherFirewalls {
  readonly inForce: number;
  /** The machine is being put behind them, or taken from them. */
  readonly pending: number;
}

/** The label, with the value `true`, of a firewall whose rules nothing but flipop writes. */
export const FIREWALL_LABEL = "flipop.digitalocean.com/owned";

/** A change that is pending at a firewall for so long asks for a person, milliseconds. */
export const FIREWALL_PATIENCE_MS: number = 5 * 60_000;

/** How far a firewall is in force at one machine. A change that is pending for another machine does not count. Pure. */
export function progressAt(firewall: Firewall, machineID: string): "in-force" | "pending" | "failed" {
  if (firewall.isWaiting || firewall.pendingMachineIDs.includes(machineID)) return "pending";
  return firewall.failedMachineIDs.includes(machineID) ? "failed" : "in-force";
}

/** What one pass knows of the firewall that an issuer names, by name or id. */
export type FirewallFact =
  | {
      readonly kind: "known";
      readonly firewall: Firewall;
      /** Ids of the machines that its tags cover. */
      readonly taggedMachineIDs: ReadonlySet<string>;
    }
  | { readonly kind: "gone" }
  /** Several firewalls have that name; their ids, sorted. */
  | { readonly kind: "ambiguous"; readonly ids: readonly string[] }
  | { readonly kind: "gap"; readonly error: string };

/** What could be read of one provider's firewalls in this pass. */
export interface FirewallFacts {
  readonly name: string;
  /** Absent = usable. Else nothing was or could be read, and nothing may be changed. */
  readonly unusable?: Refusal;
  readonly limits: FirewallLimits;
  /** By the name or id that an object, or its status, has for it. */
  readonly firewalls: ReadonlyMap<string, FirewallFact>;
}

/** How much one firewall may hold. */
export interface FirewallLimits {
  /** Inbound and outbound together. */
  readonly rules: number;
  /** Machines attached one by one; infinite where the provider names no limit. */
  readonly machines: number;
  /** Firewalls that one machine can be behind. Absent = it does not matter. */
  readonly perMachine?: number;
}

/** `status.firewalls[]`: what flipop added to one firewall for an object, or is just adding; only that is ever removed. Sorted by provider and id. */
export interface FirewallMemory {
  readonly provider: string;
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** {@link portText}, sorted. */
  readonly ports: readonly string[];
  /** Provider's machine ids in decimal, sorted as texts. */
  readonly machineIDs: readonly string[];
}

/** `status.pendingFirewalls[]`: since when flipop sees a change of the object's firewall pending where its address is or could go. Sorted by id and machine. */
export interface PendingFirewall {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Provider's machine id in decimal; absent = the firewall as a whole. */
  readonly machineID?: string;
  /** RFC 3339. */
  readonly since: string;
}

/** What an object wants of a firewall. */
export interface FirewallWish {
  readonly provider: string;
  /** Name or id, as its issuer has it. */
  readonly firewall: string;
  /** Sorted by {@link portText}, unique. */
  readonly ports: readonly PortRange[];
  /** Ports that no cloud firewall can open, as written (`SCTP/5000`); sorted. */
  readonly unusable: readonly string[];
}

/** What a firewall lets through, in lower case. */
type FirewallProtocol = "tcp" | "udp" | "icmp";

/** Ports of one protocol, canonical: 1 ≤ `from` ≤ `to` ≤ 65535; all ports are 1 to 65535; icmp has none and says 0 to 0. */
export interface PortRange {
  readonly protocol: FirewallProtocol;
  readonly from: number;
  readonly to: number;
}

/** The highest port there is. */
export const LAST_PORT = 65_535;

const PROTOCOLS: readonly FirewallProtocol[] = ["tcp", "udp", "icmp"];

/** `tcp/80`, `udp/8000-9000` or `icmp`: the one way a range is written in status, plans and texts. */
export function portText({ protocol, from, to }: PortRange): string {
  if (protocol === "icmp") return protocol;
  return from === to ? `${protocol}/${from}` : `${protocol}/${from}-${to}`;
}

/**
 * The range that a protocol and a port, a range of ports (`8000-9000`), or all of them (`all`, `0`, `""`) mean; undefined when it is none. The protocol in any
 * case; icmp has no ports, whatever is written.
 */
export function portRange(protocol: string, ports: string): PortRange | undefined {
  const lower = protocol.toLowerCase();
  const known = PROTOCOLS.find((name) => name === lower);
  if (known === undefined) return undefined;
  if (known === "icmp") return { protocol: known, from: 0, to: 0 };
  if (ports === "all" || ports === "0" || ports === "") return { protocol: known, from: 1, to: LAST_PORT };
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(ports);
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return from >= 1 && from <= to && to <= LAST_PORT ? { protocol: known, from, to } : undefined;
}

/** Reads what {@link portText} wrote; undefined when it is something else. */
export function parsePortText(text: string): PortRange | undefined {
  const [protocol = "", ports, ...rest] = text.split("/");
  const range = rest.length > 0 ? undefined : portRange(protocol, ports ?? "");
  return range !== undefined && portText(range) === text ? range : undefined;
}

/** Every address of a family, in CIDR notation. */
const EVERY_ADDRESS: Readonly<Record<IPFamily, string>> = { IPv4: "0.0.0.0/0", IPv6: "::/0" };

/** The sources of the rules that flipop writes, in CIDR notation: every IPv4 and every IPv6 address. */
export const EVERYBODY: readonly string[] = Object.values(EVERY_ADDRESS);

/** Returns the families of which every address is among the sources of a rule, IPv4 first. Pure. */
export function familiesIn(sources: ReadonlySet<string>): readonly IPFamily[] {
  return IP_FAMILIES.filter((family) => sources.has(EVERY_ADDRESS[family]));
}

/** True when a rule lets every address of a family in on all of these ports: clients of an IPv6 address come from IPv6 addresses. Pure. */
export function letsIn(rule: FirewallRule, { ports, family }: ServedPorts): boolean {
  return rule.openTo.includes(family) && includesPorts(rule.ports, ports);
}

/** Ports that an address of a family serves. */
export interface ServedPorts {
  readonly ports: PortRange;
  readonly family: IPFamily;
}

/** Puts rules in one order, whatever order they came in: by {@link portText}, then what flipop writes, then what is open to more. Pure. */
export function compareRules(a: FirewallRule, b: FirewallRule): number {
  const [one, other] = [portText(a.ports), portText(b.ports)];
  if (one !== other) return one < other ? -1 : 1;
  const [families, others] = [a.openTo.join(), b.openTo.join()];
  return (
    Number(b.isPlain) - Number(a.isPlain) ||
    b.openTo.length - a.openTo.length ||
    Number(families > others) - Number(families < others)
  );
}

/** True when everything in `inner` is also in `outer`. */
export function includesPorts(outer: PortRange, inner: PortRange): boolean {
  return outer.protocol === inner.protocol && outer.from <= inner.from && inner.to <= outer.to;
}

/** Returns the ports for which a firewall has the very rule that flipop makes, as `portText`. Pure. */
export function shownPorts({ rules }: Firewall): ReadonlySet<string> {
  return new Set(rules.flatMap(({ ports, isPlain }) => (isPlain ? [portText(ports)] : [])));
}
