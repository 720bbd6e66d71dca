import type { CloudState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { dropletOf, nodeOf, short } from "./scenario-names.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** The account as people and other programs of it see and change it. */
export class WorldCloud {
  readonly #account: DigitalOceanSandbox;
  readonly #clock: Pick<VirtualClock, "nowMs">;
  readonly #given = new Set<string>();

  constructor(account: DigitalOceanSandbox, clock: Pick<VirtualClock, "nowMs">) {
    this.#account = account;
    this.#clock = clock;
  }

  /** Adds a droplet; n1 is droplet 101. */
  droplet(node: string | number, options: { readonly region?: string } = {}): void {
    this.#account.addDroplet({ id: idOf(node), region: options.region ?? "nyc3" });
  }

  /** Deletes a droplet; its addresses become unassigned. */
  removeDroplet(node: string | number): void {
    this.#account.removeDroplet(idOf(node));
  }

  /** Adds an address that flipop did not buy, on a node's droplet or unassigned. */
  address(
    ip: string,
    options: { readonly on?: string | number; readonly region?: string; readonly isBYOIP?: boolean } = {},
  ): void {
    const holder = options.on === undefined ? {} : { droplet_id: idOf(options.on) };
    this.#account.addAddress(
      { ip, region: options.region ?? "nyc3", ...holder },
      options.isBYOIP ? "byoip" : "reserved",
    );
    this.#given.add(ip);
  }

  /** Attaches, moves or (`undefined`) detaches an address by hand. */
  put(ip: string, node: string | number | undefined): void {
    this.settle();
    this.#account.setAddress(ip, { droplet_id: node === undefined ? null : idOf(node) });
  }

  /** Takes an address out of the account by hand. */
  removeAddress(ip: string): void {
    this.#account.removeAddress(ip);
    this.#given.delete(ip);
  }

  /** Locks an address by something else than flipop's own actions, or unlocks it. */
  lock(ip: string, isLocked = true): void {
    this.#account.setAddress(ip, { locked: isLocked });
  }

  /** Lets nothing through to an address, or again, as Hetzner does after abuse. */
  block(_ip: string, _isBlocked = true): void {
    throw new Error("DigitalOcean blocks no addresses");
  }

  /** Makes the firewall `web`, or another, with rules for everybody (`tcp/22`) or for one source (`tcp/22 from ::/0`) and droplets of nodes, and returns its id. */
  firewall(
    name = "web",
    {
      open = [],
      nodes = [],
      tags = [],
    }: {
      readonly open?: readonly string[];
      readonly nodes?: readonly string[];
      readonly tags?: readonly string[];
    } = {},
  ): string {
    const inbound_rules = open.map((text) => {
      const { protocol, ports = "0", addresses } = ruleParts(text);
      return { protocol: protocol as "tcp", ports, sources: { addresses: [...addresses] } };
    });
    return this.#account.setFirewall({ name, inbound_rules, droplet_ids: nodes.map(dropletOf), tags: [...tags] });
  }

  /** Deletes a firewall, as a person does. */
  removeFirewall(name = "web"): void {
    const at = this.state.firewalls.findIndex((one) => one.name === name);
    if (at >= 0) this.state.firewalls.splice(at, 1);
  }

  /** What a firewall lets in, and whom it covers: `tcp/22 from ::/0 tcp/80 | n1 n2`, without the source where that is everybody. */
  showFirewall(name = "web"): string {
    this.settle();
    const firewall = this.state.firewalls.find((one) => one.name === name);
    const rules = (firewall?.inbound_rules ?? []).map(
      ({ protocol, ports, sources: { addresses = [] } }) => `${protocol}/${ports}${sourceText(addresses)}`,
    );
    const nodes = (firewall?.droplet_ids ?? []).map(nodeOf);
    return firewall === undefined ? "gone" : `${rules.toSorted().join(" ")} | ${nodes.toSorted().join(" ")}`.trim();
  }

  /** True for a machine that is behind no firewall, and is therefore put behind none. */
  isOpen(_machine: number): boolean {
    return false;
  }

  /** The account's state itself: settings, tokens, limits. Changed in place. */
  get state(): CloudState {
    return this.#account.cloud().state;
  }

  /** Sets the limit of an hour so that this part of it is left, after so many calls of other programs of the account. */
  leaveOfTheHour(part: number, otherCalls: number): void {
    const cloud = this.#account.cloud();
    const nowMs = this.#clock.nowMs();
    for (let count = 0; count < otherCalls; count += 1) cloud.admit("token", nowMs);
    const headers = cloud.rateHeaders("token", nowMs);
    const used = Number(headers["ratelimit-limit"]) - Number(headers["ratelimit-remaining"]);
    cloud.state.settings.rate_limit = { per_hour: Math.ceil(used / (1 - part)), per_minute: 1_000_000 };
  }

  /** Carries out the actions that are due. */
  settle(): void {
    this.#account.cloud().settle(this.#clock.nowMs());
  }

  /** Every address by its short name, with the node (`n1`), droplet (`d900`) or `-` that has it. */
  addresses(): Readonly<Record<string, string>> {
    this.settle();
    const sorted = this.allAddresses().map(({ ip, droplet_id }): [string, string] => [
      short(ip),
      droplet_id === null ? "-" : nodeOf(droplet_id),
    ]);
    return Object.fromEntries(sorted.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** All addresses, of both families. */
  allAddresses(): readonly { readonly ip: string; readonly droplet_id: number | null }[] {
    const { reserved_ips, byoip, reserved_ipv6 = [] } = this.state;
    return [...reserved_ips, ...byoip, ...reserved_ipv6];
  }

  /** The droplet that an address is on; null for none, undefined where it is no address of the account. */
  holderOf(address: string): number | null | undefined {
    return this.allAddresses().find(({ ip }) => ip === address)?.droplet_id;
  }

  /** Addresses that flipop, or somebody by `create`, bought since the world began. */
  boughtNow(): readonly string[] {
    const { reserved_ips, reserved_ipv6 = [] } = this.state;
    return [...reserved_ips, ...reserved_ipv6].map(({ ip }) => ip).filter((ip) => !this.#given.has(ip));
  }

  /** Given addresses that somebody deleted. */
  missing(): readonly string[] {
    const present = new Set(this.allAddresses().map(({ ip }) => ip));
    return [...this.#given].filter((ip) => !present.has(ip));
  }
}

/** The machine of a node, or one of nobody's. */
export function idOf(node: string | number): number {
  return typeof node === "number" ? node : dropletOf(node);
}

const EVERYBODY = ["0.0.0.0/0", "::/0"];

/** Reads a rule of a firewall as scenarios write it: `tcp/80` for everybody, `tcp/80 from ::/0` for one source. */
export function ruleParts(text: string): {
  readonly protocol: string;
  readonly ports: string | undefined;
  readonly addresses: readonly string[];
} {
  const [rule = "", source] = text.split(" from ");
  const [protocol = "", ports] = rule.split("/");
  return { protocol, ports, addresses: source === undefined ? EVERYBODY : [source] };
}

function sourceText(addresses: readonly string[]): string {
  return EVERYBODY.every((one) => addresses.includes(one)) ? "" : ` from ${addresses.join(",")}`;
}
