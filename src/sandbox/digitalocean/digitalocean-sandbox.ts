import { FaultList, type FaultSource } from "../faults.ts";
import {
  type RecordedCall,
  type SandboxReply,
  type SandboxRequest,
  type SandboxServer,
  serve,
} from "../http-server.ts";
import { Cloud } from "./cloud.ts";
import {
  type AddressState,
  type CloudState,
  completeState,
  type DomainState,
  type DropletState,
  type RecordState,
  worldFile,
} from "./cloud-state.ts";
import type { FirewallState } from "./firewall-rules.ts";
import { answerRequest } from "./routes.ts";

/** Where the account is kept, and its surroundings. */
export interface DigitalOceanSandboxOptions {
  /** Path of `digitalocean.yaml`; made when it does not exist. Without it the account lives in memory. */
  readonly file?: string;
  /** What a new account holds; as short as a person would write it. Ignored when the file exists. */
  readonly state?: unknown;
  /** Default: none. */
  readonly faults?: FaultSource;
  /** Milliseconds since the epoch; the account's only clock. */
  readonly now: () => number;
  readonly onCall?: (call: RecordedCall) => void;
  readonly onError?: (error: unknown) => void;
}

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
  /** Adds a reserved address, or one of a BYOIP prefix. */
  addAddress(address: Partial<AddressState> & { readonly ip: string }, kind?: "reserved" | "byoip"): void;
  /** Changes fields of an address behind everybody's back. @throws Error when there is none. */
  setAddress(ip: string, change: Partial<Omit<AddressState, "ip">>): void;
  /** Adds a domain, or replaces the one of this name. */
  setDomain(domain: Partial<DomainState> & { readonly name: string }): void;
  /** Adds a record behind everybody's back; records of its name keep their TTL. @throws Error without the domain */
  addRecord(domain: string, record: Omit<RecordState, "id">): void;
  /** Takes the records of a domain that fit away. @throws Error without the domain */
  removeRecords(domain: string, fits: (record: RecordState) => boolean): void;
  /** Takes an address out of the account. */
  removeAddress(ip: string): void;
  /** Adds a firewall, or replaces the one with this id; returns its id. */
  setFirewall(firewall: Partial<FirewallState> & { readonly name: string }): string;
  /** Takes a firewall out of the account. */
  removeFirewall(id: string): void;
}

/**
 * Opens or makes an emulated account. The file is read again before a request when a person changed it, and written
 * after each request that changed something.
 * @throws ConfigError naming the file when it cannot be read; Error when `state` is invalid.
 */
export function digitaloceanSandbox(options: DigitalOceanSandboxOptions): DigitalOceanSandbox {
  const file = options.file === undefined ? undefined : worldFile(options.file);
  const cloud = new Cloud(file?.load() ?? completeState(options.state));
  let requests = 0;

  function save(): void {
    file?.save(cloud.state);
  }

  function current(): Cloud {
    if (file?.changedSinceLoad() === true) cloud.state = file.load() ?? completeState(options.state);
    return cloud;
  }

  function change(edit: (state: CloudState) => void): void {
    const state = structuredClone(current().state);
    edit(state);
    cloud.state = completeState(state);
    save();
  }

  function handle(request: SandboxRequest): SandboxReply {
    requests += 1;
    const requestID = `00000000-0000-4000-8000-${requests.toString(16).padStart(12, "0")}`;
    const reply = answerRequest(current(), request, { nowMs: options.now(), requestID });
    save();
    return reply;
  }

  save();
  return {
    handle,
    serve: () => serve(serveOptions(options, handle)),
    cloud: current,
    save,
    addDroplet: (droplet) =>
      change((state) => {
        const others = state.droplets.filter((item) => item.id !== droplet.id);
        state.droplets = [...others, droplet as DropletState];
      }),
    removeDroplet: (id) => {
      current().removeDroplet(id, options.now());
      save();
    },
    addAddress: (address, kind = "reserved") =>
      change((state) => {
        state[kind === "byoip" ? "byoip" : "reserved_ips"].push(address as AddressState);
      }),
    setAddress: (ip, changes) =>
      change((state) => {
        const address = [...state.reserved_ips, ...state.byoip].find((item) => item.ip === ip);
        if (address === undefined) throw new Error(`the sandbox has no address ${ip}`);
        Object.assign(address, changes);
      }),
    setDomain: (domain) =>
      change((state) => {
        const others = state.domains.filter((item) => item.name !== domain.name);
        state.domains = [...others, domain as DomainState];
      }),
    addRecord: (name, record) =>
      change((state) => {
        domainOf(state, name).records.push(record as RecordState);
      }),
    removeRecords: (name, fits) =>
      change((state) => {
        const domain = domainOf(state, name);
        domain.records = domain.records.filter((record) => !fits(record));
      }),
    removeAddress: (ip) =>
      change((state) => {
        state.reserved_ips = state.reserved_ips.filter((item) => item.ip !== ip);
        state.byoip = state.byoip.filter((item) => item.ip !== ip);
      }),
    ...firewallEdits(change, cloud),
  };
}

function firewallEdits(
  change: (edit: (state: CloudState) => void) => void,
  cloud: Cloud,
): Pick<DigitalOceanSandbox, "setFirewall" | "removeFirewall"> {
  return {
    setFirewall: (firewall) => {
      change((state) => {
        const others = state.firewalls.filter((item) => item.id !== firewall.id);
        state.firewalls = [...others, firewall as FirewallState];
      });
      return cloud.state.firewalls.at(-1)?.id ?? "";
    },
    removeFirewall: (id) =>
      change((state) => {
        state.firewalls = state.firewalls.filter((item) => item.id !== id);
      }),
  };
}

function domainOf(state: CloudState, name: string): DomainState {
  const domain = state.domains.find((item) => item.name === name);
  if (domain === undefined) throw new Error(`the sandbox has no domain ${name}`);
  return domain;
}

function serveOptions(
  options: DigitalOceanSandboxOptions,
  handle: (request: SandboxRequest) => SandboxReply,
): Parameters<typeof serve>[0] {
  return {
    server: "digitalocean",
    handle,
    faults: options.faults ?? new FaultList(),
    now: options.now,
    ...(options.onCall === undefined ? {} : { onCall: options.onCall }),
    ...(options.onError === undefined ? {} : { onError: options.onError }),
  };
}
