import { canonicalIPv4 } from "../../model/address.ts";
import { BadValue, checked, fileSchema } from "../yaml-file.ts";
import { type FirewallState, keptRule } from "./firewall-rules.ts";

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

/** The types a record may have. */
export const recordTypes = ["A", "AAAA", "CNAME", "MX", "NS", "TXT"] as const;

/** One of {@link recordTypes}. */
export type RecordType = (typeof recordTypes)[number];

/** The whole name of a record, in lower case. */
export function recordFQDN(domain: Pick<DomainState, "name">, record: Pick<RecordState, "name">): string {
  const zone = domain.name.toLowerCase();
  return record.name === "@" ? zone : `${record.name.toLowerCase()}.${zone}`;
}

const ip = { type: "string" } as const;
const time = {
  type: "string",
  pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$",
} as const;
const count = { type: "integer", minimum: 0 } as const;
const id = { type: "integer", minimum: 1 } as const;
const idOrNull = { type: "integer", minimum: 1, nullable: true } as const;
const texts = { type: "array", items: { type: "string" }, default: [] } as const;

/** Data centres an account may use. @see https://docs.digitalocean.com/platform/regional-availability/ verified 2026-08-07 */
const regions = [
  ...["nyc3", "nyc1", "nyc2", "ams2", "ams3", "blr1", "fra1", "lon1"],
  ...["sfo1", "sfo2", "sfo3", "sgp1", "syd1", "tor1"],
];

function object(properties: Readonly<Record<string, unknown>>, required: readonly string[] = []): object {
  return { type: "object", additionalProperties: false, properties, required };
}

function list(items: object): object {
  return { type: "array", items, default: [] };
}

const account = {
  reserved_ip_limit: { ...count, default: 3 },
  droplet_limit: { ...count, default: 25 },
  email: { type: "string", default: "sandbox@example.com" },
  uuid: { type: "string", default: "b6fr89dbf6d9156cace5f3c78dc9851d957381ef" },
};

const settings = {
  action_delay_ms: { ...count, default: 0 },
  list_lag_ms: { ...count, default: 0 },
  rate_limit: {
    ...object({ per_hour: { ...count, default: 5000 }, per_minute: { ...count, default: 250 } }),
    default: {},
  },
  creations_per_minute: { ...count, default: 12 },
  regions: { ...texts, minItems: 1, default: regions },
  fail_next_actions: { ...count, default: 0 },
  fail_actions_of: texts,
};

const droplet = {
  id,
  region: { type: "string" },
  name: { type: "string" },
  status: { type: "string", enum: ["new", "active", "off", "archive"], default: "active" },
  public_ip: ip,
  private_ip: ip,
  anchor_ip: { ...ip, nullable: true },
  pending_event_until: time,
  unreachable: { type: "boolean" },
  tags: { type: "array", items: { type: "string", minLength: 1 } },
};

const address = {
  ip,
  region: { type: "string" },
  droplet_id: { ...idOrNull, default: null },
  project_id: { type: "string" },
  locked: { type: "boolean" },
};

const action = {
  id,
  type: { type: "string", enum: ["assign_ip", "unassign_ip"] },
  ip,
  region: { type: "string" },
  status: { type: "string", enum: ["in-progress", "completed", "errored"] },
  droplet_id: idOrNull,
  from_droplet_id: idOrNull,
  started_at: time,
  completes_at: time,
  completed_at: { ...time, nullable: true },
  outcome: { type: "string", enum: ["completed", "errored"] },
};

const record = {
  id,
  type: { type: "string", enum: recordTypes },
  name: { type: "string", minLength: 1, pattern: "[^.]$" },
  data: { type: "string", minLength: 1 },
  priority: count,
  ttl: { type: "integer", minimum: 30, default: 1800 },
};

const domain = {
  name: { type: "string", minLength: 1, pattern: "[^.]$" },
  ttl: { type: "integer", minimum: 30, default: 1800 },
  records: list(object(record, ["type", "name", "data"])),
};

const target = object({
  addresses: { type: "array", items: { type: "string" } },
  droplet_ids: { type: "array", items: id },
  load_balancer_uids: { type: "array", items: { type: "string" } },
  kubernetes_ids: { type: "array", items: { type: "string" } },
  tags: { type: "array", items: { type: "string" } },
});

const rule = {
  protocol: { type: "string", enum: ["tcp", "udp", "icmp"] },
  // YAML makes a number of 80.
  ports: {
    type: ["string", "integer"],
    pattern: "^(all|\\d{1,5}(-\\d{1,5})?)$",
    minimum: 0,
    maximum: 65_535,
    default: "0",
  },
  action: { type: "string", enum: ["allow", "deny"] },
};

const pendingChange = {
  droplet_id: id,
  removing: { type: "boolean", default: false },
  status: { type: "string", enum: ["waiting", "failed"] },
  completes_at: time,
};

const firewall = {
  id: { type: "string", pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" },
  name: { type: "string", pattern: "^[a-zA-Z0-9][a-zA-Z0-9.-]+$" },
  inbound_rules: list(object({ ...rule, sources: target }, ["protocol", "sources"])),
  outbound_rules: list(object({ ...rule, destinations: target }, ["protocol", "destinations"])),
  droplet_ids: { type: "array", items: id, default: [] },
  tags: texts,
  status: { type: "string", enum: ["waiting", "failed"] },
  pending_changes: { type: "array", items: object(pendingChange, ["droplet_id"]) },
};

const history = object({ at: time, ip, before: { ...object(address), nullable: true } }, ["at", "ip", "before"]);

const counters = {
  action_id: { ...id, default: 36_804_636 },
  address: { ...count, default: 0 },
  record_id: { ...id, default: 28_448_429 },
  firewall_id: { ...id, default: 1 },
};

/**
 * JSON Schema of `digitalocean.yaml`, with every default that does not depend on something else in the file. Only `id`
 * of a droplet, `ip` of an address, `name` of a domain or firewall, `type`, `name`, `data` of a record, and `protocol`
 * with `sources` or `destinations` of a rule are required.
 */
const validate = fileSchema(
  object({
    account: { ...object(account), default: {} },
    tokens: { type: "object", additionalProperties: { type: "array", items: { type: "string" } }, default: {} },
    settings: { ...object(settings), default: {} },
    droplets: list(object(droplet, ["id"])),
    reserved_ips: list(object(address, ["ip"])),
    byoip: list(object(address, ["ip"])),
    domains: list(object(domain, ["name"])),
    firewalls: list(object(firewall, ["name"])),
    actions: list(object(action, Object.keys(action))),
    creations: { type: "array", items: time, default: [] },
    history: list(history),
    next: { ...object(counters), default: {} },
  }),
);

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
  for (const list of ["droplets", "reserved_ips", "byoip"] as const) refuseUnknownRegions(state, list);
  state.droplets = state.droplets.map((droplet) => completeDroplet(droplet, state.settings.regions[0] ?? ""));
  refuseTwice(
    "droplets",
    "id",
    state.droplets.map((droplet) => droplet.id),
  );
  for (const list of ["reserved_ips", "byoip"] as const) {
    state[list] = state[list].map((address, position) => completeAddress(state, address, [list, position]));
  }
  const addresses = [...state.reserved_ips, ...state.byoip];
  refuseTwice(
    "reserved_ips and byoip",
    "ip",
    addresses.map((address) => address.ip),
  );
  const holders = addresses.flatMap((address) => address.droplet_id ?? []);
  refuseTwice("reserved_ips and byoip", "droplet_id", holders);
  completeDomains(state);
  completeFirewalls(state);
  return state;
}

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
  at: readonly [list: string, position: number],
): AddressState {
  if (canonicalIPv4(address.ip) === undefined)
    throw new BadValue([...at, "ip"], `must be an IPv4 address, not ${address.ip}`);
  const holder = state.droplets.find((droplet) => droplet.id === address.droplet_id);
  const region = address.region ?? holder?.region ?? state.settings.regions[0] ?? "";
  if (holder !== undefined && holder.region !== region) {
    throw new BadValue([...at, "region"], `is ${region}, but its droplet ${holder.id} is in ${holder.region}`);
  }
  const projectID = at[0] === "byoip" ? "" : defaultProjectID;
  const { ip, region: _region, droplet_id: _dropletID, ...rest } = address;
  return { ip, region, droplet_id: holder?.id ?? null, project_id: projectID, ...rest };
}

function refuseUnknownRegions(state: CloudState, list: "droplets" | "reserved_ips" | "byoip"): void {
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
  const { account, droplets, reserved_ips, byoip, domains, firewalls, settings, tokens } = state;
  const { actions, creations, history, next } = state;
  return {
    account,
    droplets,
    reserved_ips,
    byoip,
    domains,
    firewalls,
    settings,
    tokens,
    ...(actions.length === 0 ? {} : { actions }),
    ...(creations.length === 0 ? {} : { creations }),
    ...(history.length === 0 ? {} : { history }),
    next,
  };
}
