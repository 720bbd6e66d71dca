import { FIREWALL_LABEL } from "../../src/model/firewall.ts";
import { firstAddressOf, ipv6NetworkOf } from "../../src/model/ipv6-network.ts";
import type { CloudState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { FirewallState as DropletFirewall } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import type { HetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type {
  FirewallState,
  FloatingIPState,
  ProjectState,
  RuleState,
  ServerState,
} from "../../src/sandbox/hetzner/project-state.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { idOf, ruleParts, WorldCloud } from "./world-cloud.ts";

/**
 * A project of Hetzner Cloud as people and other programs of it see and change it. What a scenario calls a droplet is a server here, and a region is a location. An IPv6
 * floating IP is a network here, and to a scenario the address in it that it was given as, else the first one.
 */
export class HetznerCloud extends WorldCloud {
  readonly #project: HetznerSandbox;
  readonly #other: DigitalOceanSandbox;
  readonly #own = new Set<string>();
  /** The address that scenarios call a network by. */
  readonly #inNetwork = new Map<string, string>();

  constructor(project: HetznerSandbox, account: DigitalOceanSandbox, clock: Pick<VirtualClock, "nowMs">) {
    super(account, clock);
    this.#project = project;
    this.#other = account;
  }

  override droplet(node: string | number, options: { readonly region?: string } = {}): void {
    const id = idOf(node);
    this.#project.edit((state) => {
      const server = { id, location: options.region ?? "nyc3" } as ServerState;
      state.servers = [...state.servers.filter((one) => one.id !== id), server];
      const base = state.firewalls.find(({ name }) => name === BASE);
      if (base === undefined) state.firewalls.push({ name: BASE, servers: [id] } as FirewallState);
      else base.servers = [...new Set([...base.servers, id])];
    });
  }

  override removeDroplet(node: string | number): void {
    const id = idOf(node);
    this.#project.edit((state) => {
      state.servers = state.servers.filter((one) => one.id !== id);
    });
  }

  override address(ip: string, options: { readonly on?: string | number; readonly region?: string } = {}): void {
    const server = options.on === undefined ? null : idOf(options.on);
    this.#project.edit((state) => {
      const own = textOf(ip);
      state.floating_ips.push({ ip: own, home_location: options.region ?? "nyc3", server } as FloatingIPState);
    });
    this.#inNetwork.set(textOf(ip), ip);
    this.#own.add(ip);
  }

  override put(ip: string, node: string | number | undefined): void {
    this.#edit(ip, (address) => {
      address.server = node === undefined ? null : idOf(node);
    });
  }

  override removeAddress(ip: string): void {
    this.#project.edit((state) => {
      state.floating_ips = state.floating_ips.filter((one) => one.ip !== textOf(ip));
    });
    this.#own.delete(ip);
  }

  override lock(ip: string, isLocked = true): void {
    this.#edit(ip, (address) => {
      address.locked = isLocked;
    });
  }

  override block(ip: string, isBlocked = true): void {
    this.#edit(ip, (address) => {
      address.blocked = isBlocked;
    });
  }

  /** From now on scenarios call the network of an address by this address. */
  called(ip: string): void {
    if (this.#own.delete(this.#shown(textOf(ip)))) this.#own.add(ip);
    this.#inNetwork.set(textOf(ip), ip);
  }

  /** Keeps a floating IP from being deleted, or no longer. */
  protect(ip: string, isProtected = true): void {
    this.#edit(ip, (address) => {
      address.protected = isProtected;
    });
  }

  /** One of that name that is there already goes; a project has each name once. Rules are those of a person. */
  override firewall(
    name = "web",
    {
      open = [],
      nodes = [],
      tags = [],
      labels = { [FIREWALL_LABEL]: "true" },
    }: {
      readonly open?: readonly string[];
      readonly nodes?: readonly string[];
      readonly tags?: readonly string[];
      readonly labels?: Readonly<Record<string, string>>;
    } = {},
  ): string {
    this.#project.edit((state) => {
      const servers = nodes.map(idOf);
      const rules = open.map(ruleOf);
      const made = { name, rules, servers, selectors: [...tags], labels: { ...labels } } as FirewallState;
      state.firewalls = [...state.firewalls.filter((one) => one.name !== name), made];
    });
    return String(this.firewallState(name).id);
  }

  /** The firewall itself, to be changed in place as a person does. @throws Error without it */
  firewallState(name = "web"): FirewallState {
    const found = this.#project.project().state.firewalls.find((one) => one.name === name);
    if (found === undefined) throw new Error(`the project has no firewall ${name}`);
    return found;
  }

  /** The firewall that each server is behind from the beginning. */
  get base(): FirewallState {
    return this.firewallState(BASE);
  }

  /** The server of a node itself, to be changed in place. @throws Error without it */
  server(node: string): ServerState {
    const found = this.#project.project().state.servers.find(({ id }) => id === idOf(node));
    if (found === undefined) throw new Error(`the project has no server of ${node}`);
    return found;
  }

  override isOpen(machine: number): boolean {
    const { servers, firewalls } = this.#project.project().state;
    const server = servers.find(({ id }) => id === machine);
    return (
      server?.ipv4 === null || firewalls.every((one) => !one.servers.includes(machine) && one.selectors.length === 0)
    );
  }

  /** The settings of the project. Changed in place. */
  get settings(): ProjectState["settings"] {
    return this.#project.project().state.settings;
  }

  override removeFirewall(name = "web"): void {
    this.#project.edit((state) => {
      state.firewalls = state.firewalls.filter((one) => one.name !== name);
    });
  }

  /** The project in the words of the account that scenarios know. */
  override get state(): CloudState {
    const { state } = this.#project.project();
    const view = {
      settings: state.settings,
      tokens: {},
      byoip: [],
      domains: [],
      firewalls: state.firewalls.filter(({ name }) => name !== BASE).map(inOtherWords),
      account: limitOf(state),
      droplets: state.servers.map((server) => ({
        ...server,
        set tags(tags: readonly string[]) {
          server.labels = Object.fromEntries(tags.map((tag) => [tag, ""]));
        },
      })),
      reserved_ips: state.floating_ips.map(({ ip, server, home_location: region }) => ({
        ip: this.#shown(ip),
        droplet_id: server,
        region,
      })),
    };
    return view as unknown as CloudState;
  }

  /** Every address of a network is where the network is. */
  override holderOf(address: string): number | null | undefined {
    return this.#project.project().state.floating_ips.find(({ ip }) => ip === textOf(address))?.server;
  }

  override settle(): void {
    this.#project.settle();
  }

  override boughtNow(): readonly string[] {
    return this.state.reserved_ips.map(({ ip }) => ip).filter((ip) => !this.#own.has(ip));
  }

  /** What was bought in the other account, for an object that came to name its provider. */
  boughtElsewhere(): readonly string[] {
    return this.#other.cloud().state.reserved_ips.map(({ ip }) => ip);
  }

  override missing(): readonly string[] {
    const present = new Set(this.state.reserved_ips.map(({ ip }) => ip));
    return [...this.#own].filter((ip) => !present.has(ip));
  }

  #shown(text: string): string {
    return text.includes("/") ? (this.#inNetwork.get(text) ?? firstAddressOf(text)) : text;
  }

  #edit(ip: string, change: (address: FloatingIPState) => void): void {
    this.#project.edit((state) => {
      const address = state.floating_ips.find((one) => one.ip === textOf(ip));
      if (address === undefined) throw new Error(`the project has no floating IP ${ip}`);
      change(address);
    });
  }
}

const BASE = "base";

/** How the project has the floating IP of an address. */
function textOf(ip: string): string {
  return ip.includes(":") ? ipv6NetworkOf(ip, 64) : ip;
}

function ruleOf(text: string): RuleState {
  const { protocol, ports: port = null, addresses } = ruleParts(text);
  return {
    direction: "in",
    protocol: protocol as RuleState["protocol"],
    port,
    source_ips: [...addresses],
    destination_ips: [],
    description: null,
  };
}

/** A firewall in the words of the account that scenarios know; its rules and machines can be set there. */
function inOtherWords(
  firewall: FirewallState,
): Pick<DropletFirewall, "id" | "name" | "inbound_rules" | "droplet_ids" | "tags"> {
  return {
    id: String(firewall.id),
    name: firewall.name,
    tags: firewall.selectors,
    get inbound_rules() {
      return firewall.rules.map(({ protocol, port, source_ips: addresses }) => ({
        protocol: protocol as "tcp",
        ports: port ?? "0",
        sources: { addresses },
      }));
    },
    set inbound_rules(rules) {
      firewall.rules = rules.map(({ protocol, ports }) => ruleOf(`${protocol}/${ports}`));
    },
    get droplet_ids() {
      return firewall.servers;
    },
    set droplet_ids(ids) {
      firewall.servers = ids;
    },
  };
}

function limitOf({ settings }: ProjectState): object {
  return {
    get reserved_ip_limit(): number {
      return settings.floating_ip_limit;
    },
    set reserved_ip_limit(count: number) {
      settings.floating_ip_limit = count;
    },
  };
}
