import type { SandboxReply, SandboxRequest, SandboxServer } from "../http-server.ts";
import { Account, type ProviderOptions, serveProvider } from "../provider.ts";
import { familyOf, findAddress } from "./actions.ts";
import { Cloud } from "./cloud.ts";
import {
  type AddressState,
  CLOUD_FORM,
  type CloudState,
  type DomainState,
  type DropletState,
  type RecordState,
} from "./cloud-state.ts";
import type { FirewallState } from "./firewall-rules.ts";
import { answerRequest } from "./routes.ts";

/** The emulated DigitalOcean: its API, and the account behind it. */
export interface DigitalOceanSandbox {
  /** Answers one request. @throws ConfigError when the file was edited into something invalid. */
  handle(request: SandboxRequest): SandboxReply;
  /** Serves the API on loopback, with the faults. */
  serve(): Promise<SandboxServer>;
  /** The account as it is now, the file's newest edit included; changes to its state are saved with the next request or {@link save}. */
  cloud(): Cloud;
  /** Writes the account to its file. */
  save(): void;
  /** Adds a droplet, or replaces the one with this id. */
  addDroplet(droplet: Partial<DropletState> & { readonly id: number }): void;
  /** Deletes a droplet; its addresses become unassigned. */
  removeDroplet(id: number): void;
  /** Adds a reserved address of either family, or one of a BYOIP prefix. */
  addAddress(address: Partial<AddressState> & { readonly ip: string }, kind?: "reserved" | "byoip"): void;
  /** Changes fields of an address behind everybody's back. @throws Error when there is none. */
  setAddress(ip: string, change: Partial<Omit<AddressState, "ip">>): void;
  /** Takes an address out of the account. */
  removeAddress(ip: string): void;
  /** Adds a domain, or replaces the one of this name. */
  setDomain(domain: Partial<DomainState> & { readonly name: string }): void;
  /** Adds a record behind everybody's back; records of its name keep their TTL. @throws Error without the domain */
  addRecord(domain: string, record: Omit<RecordState, "id">): void;
  /** Takes the records of a domain that fit away. @throws Error without the domain */
  removeRecords(domain: string, fits: (record: RecordState) => boolean): void;
  /** Adds a firewall, or replaces the one with this id; returns its id. */
  setFirewall(firewall: Partial<FirewallState> & { readonly name: string }): string;
  /** Takes a firewall out of the account. */
  removeFirewall(id: string): void;
}

/**
 * Opens or makes an emulated account. The file is read again before a request when a person changed it, and written
 * after each request that changed something.
 * @throws ConfigError naming the file when it cannot be read; BadValue when `state` is invalid.
 */
export function digitaloceanSandbox(options: ProviderOptions): DigitalOceanSandbox {
  const account = new Account<CloudState>(options, CLOUD_FORM);
  const cloud = new Cloud(account);
  let requests = 0;

  function handle(request: SandboxRequest): SandboxReply {
    requests += 1;
    const requestID = `00000000-0000-4000-8000-${requests.toString(16).padStart(12, "0")}`;
    account.refresh();
    const reply = answerRequest(cloud, request, { nowMs: options.now(), requestID });
    account.save();
    return reply;
  }

  return {
    handle,
    serve: () => serveProvider("digitalocean", options, handle),
    cloud: () => {
      account.refresh();
      return cloud;
    },
    save: () => account.save(),
    removeDroplet: (id) => {
      account.refresh();
      cloud.removeDroplet(id, options.now());
      account.save();
    },
    ...editsOf(account),
  };
}

type Edits = Omit<DigitalOceanSandbox, "handle" | "serve" | "cloud" | "save" | "removeDroplet">;

/** What other programs and people of the account do. */
function editsOf(account: Account<CloudState>): Edits {
  return {
    addDroplet: (droplet) =>
      account.edit((state) => {
        state.droplets = [...without(state.droplets, "id", droplet.id), droplet as DropletState];
      }),
    addAddress: (address, kind = "reserved") =>
      account.edit((state) => {
        const reserved = familyOf(address.ip) === "IPv6" ? "reserved_ipv6" : "reserved_ips";
        state[kind === "byoip" ? "byoip" : reserved].push(address as AddressState);
      }),
    setAddress: (ip, changes) =>
      account.edit((state) => {
        const address = findAddress(state, ip);
        if (address === undefined) throw new Error(`the sandbox has no address ${ip}`);
        Object.assign(address, changes);
      }),
    removeAddress: (ip) =>
      account.edit((state) => {
        state.reserved_ips = without(state.reserved_ips, "ip", ip);
        state.reserved_ipv6 = without(state.reserved_ipv6, "ip", ip);
        state.byoip = without(state.byoip, "ip", ip);
      }),
    setDomain: (domain) =>
      account.edit((state) => {
        state.domains = [...without(state.domains, "name", domain.name), domain as DomainState];
      }),
    addRecord: (name, record) =>
      account.edit((state) => {
        domainOf(state, name).records.push(record as RecordState);
      }),
    removeRecords: (name, fits) =>
      account.edit((state) => {
        const domain = domainOf(state, name);
        domain.records = domain.records.filter((record) => !fits(record));
      }),
    setFirewall: (firewall) => {
      account.edit((state) => {
        state.firewalls = [...without(state.firewalls, "id", firewall.id), firewall as FirewallState];
      });
      return account.state.firewalls.at(-1)?.id ?? "";
    },
    removeFirewall: (id) =>
      account.edit((state) => {
        state.firewalls = without(state.firewalls, "id", id);
      }),
  };
}

function without<T, K extends keyof T>(items: readonly T[], key: K, value: T[K] | undefined): T[] {
  return items.filter((item) => item[key] !== value);
}

function domainOf(state: CloudState, name: string): DomainState {
  const domain = state.domains.find((item) => item.name === name);
  if (domain === undefined) throw new Error(`the sandbox has no domain ${name}`);
  return domain;
}
