import type { CloudState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { HetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { FloatingIPState, ProjectState, ServerState } from "../../src/sandbox/hetzner/project-state.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { idOf, WorldCloud } from "./world-cloud.ts";

/** A project of Hetzner Cloud as people and other programs of it see and change it. What a scenario calls a droplet is a server here, and a region is a location. */
export class HetznerCloud extends WorldCloud {
  readonly #project: HetznerSandbox;
  readonly #own = new Set<string>();

  constructor(project: HetznerSandbox, account: DigitalOceanSandbox, clock: Pick<VirtualClock, "nowMs">) {
    super(account, clock);
    this.#project = project;
  }

  override droplet(node: string | number, options: { readonly region?: string } = {}): void {
    const id = idOf(node);
    this.#project.edit((state) => {
      const server = { id, location: options.region ?? "nyc3" } as ServerState;
      state.servers = [...state.servers.filter((one) => one.id !== id), server];
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
      state.floating_ips.push({ ip, home_location: options.region ?? "nyc3", server } as FloatingIPState);
    });
    this.#own.add(ip);
  }

  override put(ip: string, node: string | number | undefined): void {
    this.#edit(ip, (address) => {
      address.server = node === undefined ? null : idOf(node);
    });
  }

  override removeAddress(ip: string): void {
    this.#project.edit((state) => {
      state.floating_ips = state.floating_ips.filter((one) => one.ip !== ip);
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

  override firewall(): string {
    throw new Error("flipop changes no firewalls at Hetzner");
  }

  /** The project in the words of the account that scenarios know. */
  override get state(): CloudState {
    const { state } = this.#project.project();
    const view = {
      settings: state.settings,
      tokens: {},
      byoip: [],
      domains: [],
      firewalls: [],
      account: limitOf(state),
      droplets: state.servers,
      reserved_ips: state.floating_ips.map(({ ip, server }) => ({ ip, droplet_id: server })),
    };
    return view as unknown as CloudState;
  }

  override settle(): void {
    this.#project.settle();
  }

  override boughtNow(): readonly string[] {
    return this.state.reserved_ips.map(({ ip }) => ip).filter((ip) => !this.#own.has(ip));
  }

  override missing(): readonly string[] {
    const present = new Set(this.state.reserved_ips.map(({ ip }) => ip));
    return [...this.#own].filter((ip) => !present.has(ip));
  }

  #edit(ip: string, change: (address: FloatingIPState) => void): void {
    this.#project.edit((state) => {
      const address = state.floating_ips.find((one) => one.ip === ip);
      if (address === undefined) throw new Error(`the project has no floating IP ${ip}`);
      change(address);
    });
  }
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
