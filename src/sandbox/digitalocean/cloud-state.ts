import { canonicalIPv4, canonicalIPv6 } from "../../model/address.ts";
import type { IPFamily } from "../../model/address-source.ts";
import { BadValue, checked, fileSchema } from "../yaml-file.ts";
import { CLOUD_SCHEMA, type recordTypes } from "./cloud-schema.ts";
import { type FirewallState, keptRule } from "./firewall-rules.ts";

const validate = fileSchema(CLOUD_SCHEMA);

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
  /** False = IPv6 is not enabled; such a droplet cannot take a reserved IPv6 address. Absent = it has an address, made from its id. */
  ipv6?: boolean;
  /** RFC 3339: until then the droplet has a pending event and refuses assignments. */
  pending_event_until?: string;
  /** Written by hand: changes of firewalls stay pending for it. */
  unreachable?: boolean;
  /** Absent = none. */
  tags?: string[];
}

/** A reserved address of either family, or an address of a BYOIP prefix. */
export interface AddressState {
  ip: string;
  region: string;
  droplet_id: number | null;
  /** `""` for BYOIP addresses, and for IPv6 ones. */
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
  /** How answers show reserved IPv6 addresses: as documented, or bare and in a list `reserved_ips`, as they were seen (2024-11). Absent = as documented. */
  ipv6_answers?: "documented" | "bare";
}

/** The emulated account: plain, serialisable, and exactly what `digitalocean.yaml` holds. */
export interface CloudState {
  account: {
    reserved_ip_limit: number;
    /** Absent = as many as `reserved_ip_limit`, counted on their own. */
    reserved_ipv6_limit?: number;
    droplet_limit: number;
    email: string;
    uuid: string;
  };
  /** Token → its scopes (`*` = all). Empty: every token is accepted and has all scopes. */
  tokens: Record<string, string[]>;
  settings: CloudSettings;
  droplets: DropletState[];
  reserved_ips: AddressState[];
  reserved_ipv6: AddressState[];
  byoip: AddressState[];
  domains: DomainState[];
  firewalls: FirewallState[];
  /** In the order they were accepted; of the finished ones only the newest are kept. */
  actions: ActionState[];
  /** Times of the creations of the last minute. */
  creations: string[];
  /** The same of IPv6 addresses. */
  creations_ipv6: string[];
  history: HistoryState[];
  /** Counters from which ids and addresses are made. */
  next: { action_id: number; address: number; ipv6?: number; record_id: number; firewall_id: number };
}

/** A record of an emulated domain. */
export interface RecordState {
  id: number;
  type: RecordType;
  /** Relative to the domain, `@` for the domain itself: `www.example.com` in `example.com` is `www.example.com.example.com`. */
  name: string;
  data: string;
  ttl: number;
  /** Of an MX record. */
  priority?: number;
}

/** A domain of the emulated account, with exactly the records that are written in it. */
export interface DomainState {
  name: string;
  ttl: number;
  records: RecordState[];
}

/** One of {@link recordTypes}. */
export type RecordType = (typeof recordTypes)[number];

/** The whole name of a record, in lower case. */
export function recordFQDN(domain: Pick<DomainState, "name">, record: Pick<RecordState, "name">): string {
  const zone = domain.name.toLowerCase();
  return record.name === "@" ? zone : `${record.name.toLowerCase()}.${zone}`;
}

/** The project new addresses belong to when none is named. */
export const defaultProjectID = "746c6152-2fa2-11ed-92d3-27aaa54e4988";

/**
 * The whole state for what a person wrote: `{droplets: [{id: 101}]}` is enough. Missing regions are those of the holder
 * or the first of the list; a holder that is not among the droplets (its droplet was removed) means unassigned.
 * The input is not changed.
 * @throws Error whose message begins with the path of the bad value: `droplets[0].id must be integer`.
 */
export function completeState(input: unknown): CloudState {
  const state = checked<CloudState>(validate, input ?? {});
  for (const list of ["droplets", ...ADDRESS_LISTS] as const) refuseUnknownRegions(state, list);
  state.droplets = state.droplets.map((droplet) => completeDroplet(droplet, state.settings.regions[0] ?? ""));
  refuseTwice(
    "droplets",
    "id",
    state.droplets.map((droplet) => droplet.id),
  );
  for (const list of ADDRESS_LISTS) {
    state[list] = state[list].map((address, position) => completeAddress(state, address, [list, position]));
  }
  for (const [where, addresses] of [
    ["reserved_ips and byoip", [...state.reserved_ips, ...state.byoip]],
    ["reserved_ipv6", state.reserved_ipv6],
  ] as const) {
    refuseTwice(
      where,
      "ip",
      addresses.map((address) => address.ip),
    );
    const holders = addresses.flatMap((address) => address.droplet_id ?? []);
    refuseTwice(where, "droplet_id", holders);
  }
  completeDomains(state);
  completeFirewalls(state);
  return state;
}

const ADDRESS_LISTS = ["reserved_ips", "reserved_ipv6", "byoip"] as const;

type AddressList = (typeof ADDRESS_LISTS)[number];

/** A droplet with its missing fields made up from its id. */
function completeDroplet(droplet: Partial<DropletState> & { id: number }, region: string): DropletState {
  const low = `${(droplet.id >> 8) & 255}.${droplet.id & 255}`;
  const { id, ...rest } = droplet;
  return {
    id,
    name: `droplet-${id}`,
    region,
    status: "active",
    public_ip: `198.18.${low}`,
    private_ip: `10.132.${low}`,
    anchor_ip: `10.17.${low}`,
    ...rest,
  };
}

function completeAddress(
  state: CloudState,
  address: Partial<AddressState> & { ip: string },
  at: readonly [list: AddressList, position: number],
): AddressState {
  const family: IPFamily = at[0] === "reserved_ipv6" ? "IPv6" : "IPv4";
  const canonical = family === "IPv4" ? canonicalIPv4(address.ip) : canonicalIPv6(address.ip);
  if (canonical === undefined) throw new BadValue([...at, "ip"], `must be an ${family} address, not ${address.ip}`);
  const holder = state.droplets.find((droplet) => droplet.id === address.droplet_id);
  const region = address.region ?? holder?.region ?? state.settings.regions[0] ?? "";
  if (holder !== undefined && holder.region !== region) {
    throw new BadValue([...at, "region"], `is ${region}, but its droplet ${holder.id} is in ${holder.region}`);
  }
  const projectID = at[0] === "reserved_ips" ? defaultProjectID : "";
  const { ip: _ip, region: _region, droplet_id: _dropletID, ...rest } = address;
  return { ip: canonical, region, droplet_id: holder?.id ?? null, project_id: projectID, ...rest };
}

function refuseUnknownRegions(state: CloudState, list: "droplets" | AddressList): void {
  const known = state.settings.regions;
  for (const [position, { region }] of state[list].entries()) {
    if (region === undefined || known.includes(region)) continue;
    throw new BadValue(
      [list, position, "region"],
      `is ${region}, which is not in settings.regions: ${known.join(", ")}`,
    );
  }
}

/** @param where one list or several, joined by `and`. @throws BadValue when two items have the same value of a field */
function refuseTwice(where: string, field: string, values: readonly (string | number)[]): void {
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  if (twice !== undefined)
    throw new BadValue([where.split(" ")[0] ?? ""], `must not have ${field} ${twice} twice`, [where]);
}

/** A record that a person wrote may have no id yet. */
type WrittenRecord = Omit<RecordState, "id"> & { readonly id?: number };

/**
 * Gives the records of a state that have no id the next free ones. Changes the state.
 * @throws Error whose message begins with the path of the bad value: `domains[0].records[1].data must be an IPv4 address, not x`.
 */
function completeDomains(state: CloudState): void {
  for (const [at, domain] of state.domains.entries()) refuseBadData(domain, at);
  const names = state.domains.map((domain) => domain.name.toLowerCase());
  refuseTwice("domains", "name", names);
  const written = state.domains.flatMap((domain): readonly WrittenRecord[] => domain.records);
  const ids = written.flatMap((record) => record.id ?? []);
  refuseTwice("domains", "record id", ids);
  for (const domain of state.domains) {
    domain.records = domain.records.map(({ id, ...record }: WrittenRecord) => ({
      id: id ?? nextRecordID(state, ids),
      ...record,
    }));
  }
}

function refuseBadData({ records }: DomainState, at: number): void {
  for (const [position, { type, data }] of records.entries()) {
    if (type !== "A" || canonicalIPv4(data) !== undefined) continue;
    throw new BadValue(["domains", at, "records", position, "data"], `must be an IPv4 address, not ${data}`);
  }
}

/** An id that no record has; each is given once. */
function nextRecordID(state: CloudState, taken: readonly number[]): number {
  while (taken.includes(state.next.record_id)) state.next.record_id += 1;
  const id = state.next.record_id;
  state.next.record_id += 1;
  return id;
}

/** A firewall that a person wrote may have no id yet, and ports that YAML takes for numbers. */
type WrittenFirewall = Omit<FirewallState, "id"> & { readonly id?: string };

/**
 * Gives the firewalls of a state that have no id the next free ones, makes texts of their ports, and forgets droplets that are not
 * there any more. Changes the state.
 * @throws Error whose message begins with the path of the bad value
 */
export function completeFirewalls(state: CloudState): void {
  const written: readonly WrittenFirewall[] = state.firewalls;
  const ids = written.flatMap(({ id }) => id ?? []);
  refuseTwice("firewalls", "id", ids);
  const isThere = (id: number): boolean => state.droplets.some((droplet) => droplet.id === id);
  const isLeft = (change: NonNullable<FirewallState["pending_changes"]>[number]): boolean =>
    isThere(change.droplet_id) || change.removing || change.completes_at === undefined;
  state.firewalls = written.map(({ id, name, pending_changes: pending, ...rest }) => {
    const left = (pending ?? []).filter((change) => isLeft(change));
    return {
      id: id ?? nextFirewallID(state, ids),
      name,
      ...rest,
      inbound_rules: rest.inbound_rules.map((rule) => keptRule({ ...rule, ports: String(rule.ports) })),
      outbound_rules: rest.outbound_rules.map((rule) => keptRule({ ...rule, ports: String(rule.ports) })),
      droplet_ids: rest.droplet_ids.filter(isThere),
      ...(left.length === 0 ? {} : { pending_changes: left }),
    };
  });
}

/** An id that no firewall has; each is given once. */
function nextFirewallID(state: CloudState, taken: readonly string[]): string {
  for (;;) {
    const id = `bb4b2611-3d72-467b-8602-${state.next.firewall_id.toString(16).padStart(12, "0")}`;
    state.next.firewall_id += 1;
    if (!taken.includes(id)) return id;
  }
}

const header = `The DigitalOcean account of this sandbox. Edit it at any time: it is read again before the next request.
Try: remove a droplet (its reserved IPs become unassigned) · set a droplet_id to null · locked: true on an address ·
pending_event_until: "2026-12-31T00:00:00Z" on a droplet · account.reserved_ip_limit: 1 ·
settings.action_delay_ms: 20000 (assignments take 20 s) · settings.fail_next_actions: 2 (they end errored) ·
settings.list_lag_ms: 5000 · tokens: {my-token: [account:read, reserved_ip:read, ...]} ("*" = every scope; none at all =
any token is accepted) · byoip: [{ip: 203.0.113.200, region: nyc3}] · anchor_ip: null ·
reserved_ipv6: [{ip: "2001:db8::1", region: nyc3}] (ipv6: false on a droplet = it cannot take one; settings.ipv6_answers: bare) ·
domains: [{name: example.com, records: [{type: A, name: www, data: 203.0.113.1, ttl: 60}]}] ("@" is the domain itself) ·
firewalls: [{name: web, inbound_rules: [{protocol: tcp, ports: 22, sources: {addresses: [192.0.2.0/24]}}], droplet_ids: [101], tags: [k8s]}]
(without an id it gets one; status: failed, or waiting; tags: [k8s] on a droplet) ·
pending_changes: [{droplet_id: 102}] on a firewall (never carried out; with status: failed it was given up there) ·
unreachable: true on a droplet (whatever changes at its firewalls stays pending for it).
Missing fields get defaults: "droplets: [{id: 101}]" is enough. Comments further down are lost when it is written.`;

/** How `digitalocean.yaml` is read and written. */
export const CLOUD_FORM: {
  readonly header: string;
  readonly complete: (input: unknown) => CloudState;
  readonly encode: (state: CloudState) => object;
} = { header, complete: completeState, encode };

/** What people look for comes first; what is empty and they have no use for is left out. */
function encode(state: CloudState): object {
  const { account, droplets, reserved_ips, reserved_ipv6, byoip, domains, firewalls, settings, tokens } = state;
  const { actions, creations, creations_ipv6, history, next } = state;
  return {
    account,
    droplets,
    reserved_ips,
    ...(reserved_ipv6.length === 0 ? {} : { reserved_ipv6 }),
    byoip,
    domains,
    firewalls,
    settings,
    tokens,
    ...(actions.length === 0 ? {} : { actions }),
    ...(creations.length === 0 ? {} : { creations }),
    ...(creations_ipv6.length === 0 ? {} : { creations_ipv6 }),
    ...(history.length === 0 ? {} : { history }),
    next,
  };
}
