import type { DomainState } from "./domain-state.ts";
import type { FirewallState } from "./firewall-state.ts";

/** A droplet of the emulated account. */
export interface DropletState {
  id: number;
  name: string;
  region: string;
  status: "new" | "active" | "off" | "archive";
  public_ip: string;
  private_ip: string;
  /** null = none; such a droplet cannot take a reserved address. */
  anchor_ip: string | null;
  /** RFC 3339: until then the droplet has a pending event and refuses assignments. */
  pending_event_until?: string;
  /** Written by hand: changes of firewalls stay pending for it. */
  unreachable?: boolean;
  /** Absent = none. */
  tags?: string[];
}

/** A reserved address, or an address of a BYOIP prefix. */
export interface AddressState {
  ip: string;
  region: string;
  droplet_id: number | null;
  /** `""` for BYOIP addresses. */
  project_id: string;
  /** Locked by something other than the actions here, until it is taken away again. */
  locked?: boolean;
}

/** One assignment or unassignment, accepted and possibly not carried out yet. */
export interface ActionState {
  id: number;
  type: "assign_ip" | "unassign_ip";
  ip: string;
  region: string;
  status: "in-progress" | "completed" | "errored";
  /** The target of an assignment. */
  droplet_id: number | null;
  /** The holder when the action was accepted. */
  from_droplet_id: number | null;
  /** RFC 3339, like every time here. */
  started_at: string;
  /** When it ends; it has its effect then and not before. */
  completes_at: string;
  completed_at: string | null;
  /** How it will end. */
  outcome: "completed" | "errored";
}

/** What an address looked like before a change; lets lists lag behind. */
interface HistoryState {
  at: string;
  ip: string;
  /** null = it did not exist. */
  before: AddressState | null;
}

/** How the emulated API behaves. */
interface CloudSettings {
  /** How long an accepted action takes, milliseconds; 0 = done before the next call. */
  action_delay_ms: number;
  /** How far the list of addresses lags behind single reads, milliseconds. */
  list_lag_ms: number;
  rate_limit: { per_hour: number; per_minute: number };
  creations_per_minute: number;
  regions: string[];
  /** How many of the next accepted actions end `errored`, without effect. */
  fail_next_actions: number;
  /** Addresses whose actions all end `errored`. */
  fail_actions_of: string[];
}

/** The emulated account: plain, serialisable, and exactly what `digitalocean.yaml` holds. */
export interface CloudState {
  account: { reserved_ip_limit: number; droplet_limit: number; email: string; uuid: string };
  /** Token → its scopes (`*` = all). Empty: every token is accepted and has all scopes. */
  tokens: Record<string, string[]>;
  settings: CloudSettings;
  droplets: DropletState[];
  reserved_ips: AddressState[];
  byoip: AddressState[];
  domains: DomainState[];
  firewalls: FirewallState[];
  /** In the order they were accepted; of the finished ones only the newest are kept. */
  actions: ActionState[];
  /** Times of the creations of the last minute. */
  creations: string[];
  history: HistoryState[];
  /** Counters from which ids and addresses are made. */
  next: { action_id: number; address: number; record_id: number; firewall_id: number };
}
