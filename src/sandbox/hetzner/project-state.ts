import { addressText, canonicalIPv4 } from "../../model/address.ts";
import { canonicalIPv6Network } from "../../model/ipv6-network.ts";
import { BadValue, checked, fileSchema } from "../yaml-file.ts";

/** A server of the emulated project. */
export interface ServerState {
  id: number;
  name: string;
  /** `fsn1`. */
  location: string;
  status:
    | "running"
    | "initializing"
    | "starting"
    | "stopping"
    | "off"
    | "deleting"
    | "migrating"
    | "rebuilding"
    | "unknown";
  /** null = it was made without a public address. */
  ipv4: string | null;
  /** Its own IPv6 network; null = it was made without, absent = one made from its id. */
  ipv6?: string | null;
  labels: Record<string, string>;
}

/** A floating IP. */
export interface FloatingIPState {
  id: number;
  name: string;
  type: "ipv4" | "ipv6";
  /** An address, or an IPv6 network: `2001:db8:1:2::/64`. */
  ip: string;
  server: number | null;
  home_location: string;
  blocked: boolean;
  /** Cannot be deleted. */
  protected: boolean;
  labels: Record<string, string>;
  /** Written by hand: something else works on it, and no action is taken. */
  locked?: boolean;
}

/** A rule of a firewall, as the API takes and shows it. */
export interface RuleState {
  direction: "in" | "out";
  protocol: "tcp" | "udp" | "icmp" | "esp" | "gre";
  /** `80`, `8000-9000`; null for a protocol without ports. */
  port: string | null;
  source_ips: string[];
  destination_ips: string[];
  description: string | null;
}

/** A firewall. */
export interface FirewallState {
  id: number;
  name: string;
  labels: Record<string, string>;
  rules: RuleState[];
  /** Servers that it is applied to one by one. */
  servers: number[];
  /** Label selectors whose servers it is applied to as well: `role=web`. */
  selectors: string[];
  /** Servers where the last change ended in an error: they stay `pending`. */
  failed: number[];
  /** Written by hand: something else works on it, and no change is taken. */
  locked?: boolean;
}

/** All records of one name and type. */
export interface RRsetState {
  /** Relative to the zone; `@` is the zone itself. */
  name: string;
  type: string;
  /** Seconds; null = that of the zone. */
  ttl: number | null;
  labels: Record<string, string>;
  /** Cannot be changed. */
  protected: boolean;
  records: { value: string; comment?: string }[];
}

/** A DNS zone. */
export interface ZoneState {
  id: number;
  name: string;
  mode: "primary" | "secondary";
  status: "ok" | "updating" | "error";
  ttl: number;
  rrsets: RRsetState[];
}

/** Something that was accepted, and may not have been carried out yet. */
export interface ActionState {
  id: number;
  command: string;
  status: "running" | "success" | "error";
  /** Set for an action of a floating IP: which one, and where it goes. */
  floating_ip?: number;
  server?: number | null;
  /** The server that had it when the action was accepted. */
  from_server?: number | null;
  zone?: number;
  /** Set for an action of a firewall; `server` is then where it is carried out, if it is about one. */
  firewall?: number;
  /** RFC 3339, like every time here. */
  started: string;
  /** When it ends; it has its effect then and not before. */
  ends: string;
  outcome: "success" | "error";
}

/** How the emulated API behaves. */
interface ProjectSettings {
  /** How long an accepted action takes, milliseconds; 0 = done before the next call. */
  action_delay_ms: number;
  /** How many of the next accepted actions end in an error, without effect. */
  fail_next_actions: number;
  /** Addresses whose actions all end so. */
  fail_actions_of: string[];
  /** True if a floating IP reads the new server while its action still runs: nobody has verified how the real one is. */
  shows_target_early: boolean;
  /** How many floating IPs the project may have. */
  floating_ip_limit: number;
  /** True if a firewall takes no change while another one of it runs: nobody has verified how the real one is. */
  locks_firewalls: boolean;
  /** Calls in a row, before each has to wait for the next second. */
  rate_limit: number;
  /** False if lists say nothing of their totals. */
  tells_totals: boolean;
  /** Location → network zone. */
  locations: Record<string, string>;
}

/** The emulated project: plain, serialisable, and exactly what `hetzner.yaml` holds. */
export interface ProjectState {
  servers: ServerState[];
  floating_ips: FloatingIPState[];
  firewalls: FirewallState[];
  zones: ZoneState[];
  settings: ProjectSettings;
  /** Token → what it may do. Empty: every token is accepted and may do everything. */
  tokens: Record<string, "read" | "read_write">;
  /** In the order they were accepted; of those that ended only the newest are kept. */
  actions: ActionState[];
  /** Counters from which ids and addresses are made. */
  next: { id: number; address: number; network?: number };
}

const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;
const id = { type: "integer", minimum: 1 } as const;
const idOrNull = { ...id, nullable: true } as const;
const flag = { type: "boolean", default: false } as const;
const time = { ...text, pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" } as const;
const labels = { type: "object", additionalProperties: text, default: {} } as const;
const nameOfZone = { ...text, minLength: 1, pattern: "^[a-z0-9.-]*[a-z0-9]$" } as const;

function object(properties: Readonly<Record<string, unknown>>, required: readonly string[] = []): object {
  return { type: "object", additionalProperties: false, properties, required };
}

function list(items: object): object {
  return { type: "array", items, default: [] };
}

const statuses = [
  ...["running", "initializing", "starting", "stopping", "off"],
  ...["deleting", "migrating", "rebuilding", "unknown"],
];

const server = {
  id,
  name: text,
  location: { ...text, default: "fsn1" },
  status: { ...text, enum: statuses, default: "running" },
  ipv4: { ...text, nullable: true },
  ipv6: { ...text, nullable: true },
  labels,
};

const floatingIP = {
  id,
  name: text,
  type: { ...text, enum: ["ipv4", "ipv6"] },
  ip: text,
  server: { ...idOrNull, default: null },
  home_location: text,
  blocked: flag,
  protected: flag,
  labels,
  locked: { type: "boolean" },
};

const cidrs = { type: "array", maxItems: 100, items: { ...text, pattern: "^[0-9a-f:.]+/\\d+$" }, default: [] } as const;

/** A rule as JSON Schema, in the file as in requests. */
export const RULE_SCHEMA: object = object(
  {
    direction: { ...text, enum: ["in", "out"] },
    protocol: { ...text, enum: ["tcp", "udp", "icmp", "esp", "gre"] },
    port: { ...text, pattern: "^\\d{1,5}(-\\d{1,5})?$", nullable: true, default: null },
    source_ips: cidrs,
    destination_ips: cidrs,
    description: { ...text, maxLength: 255, nullable: true, default: null },
  },
  ["direction", "protocol"],
);

const firewall = {
  id,
  name: { ...text, minLength: 1, maxLength: 128 },
  labels,
  rules: { type: "array", maxItems: 50, items: RULE_SCHEMA, default: [] },
  servers: list(id),
  selectors: list(text),
  failed: list(id),
  locked: { type: "boolean" },
};

const rrset = {
  name: { ...text, minLength: 1, pattern: "^[^.A-Z](.*[^.])?$" },
  type: { ...text, pattern: "^[A-Z]+$", default: "A" },
  ttl: { type: "integer", minimum: 60, nullable: true, default: null },
  labels,
  protected: flag,
  records: { type: "array", minItems: 1, items: object({ value: text, comment: text }, ["value"]) },
};

const zone = {
  id,
  name: nameOfZone,
  mode: { ...text, enum: ["primary", "secondary"], default: "primary" },
  status: { ...text, enum: ["ok", "updating", "error"], default: "ok" },
  ttl: { type: "integer", minimum: 60, default: 3600 },
  rrsets: list(object(rrset, ["name", "records"])),
};

const action = {
  id,
  command: text,
  status: { ...text, enum: ["running", "success", "error"] },
  floating_ip: id,
  server: idOrNull,
  from_server: idOrNull,
  zone: id,
  firewall: id,
  started: time,
  ends: time,
  outcome: { ...text, enum: ["success", "error"] },
};

const settings = {
  action_delay_ms: { ...count, default: 0 },
  fail_next_actions: { ...count, default: 0 },
  fail_actions_of: { type: "array", items: text, default: [] },
  shows_target_early: flag,
  floating_ip_limit: { ...count, default: 5 },
  locks_firewalls: { ...flag, default: true },
  rate_limit: { ...count, minimum: 1, default: 3600 },
  tells_totals: { ...flag, default: true },
  locations: {
    type: "object",
    additionalProperties: text,
    default: {
      ...{ fsn1: "eu-central", nbg1: "eu-central", hel1: "eu-central" },
      ...{ ash: "us-east", hil: "us-west", sin: "ap-southeast" },
    },
  },
};

/** JSON Schema of `hetzner.yaml`, with every default. */
const validate = fileSchema(
  object({
    servers: list(object(server, ["id"])),
    floating_ips: list(object(floatingIP, ["ip"])),
    firewalls: list(object(firewall, ["name"])),
    zones: list(object(zone, ["name"])),
    settings: { ...object(settings), default: {} },
    tokens: { type: "object", additionalProperties: { ...text, enum: ["read", "read_write"] }, default: {} },
    actions: list(object(action, ["id", "command", "status", "started", "ends", "outcome"])),
    next: {
      ...object({ id: { ...id, default: 5001 }, address: { ...count, default: 1 }, network: count }),
      default: {},
    },
  }),
);

/**
 * Returns the whole state for what a person wrote: `servers: [{id: 101}]` is enough. A server that is not there means unassigned. The input is not changed.
 * @throws BadValue naming the path of the bad value
 */
export function completeProject(input: unknown): ProjectState {
  const state = checked<ProjectState>(validate, input ?? {});
  const { locations } = state.settings;
  for (const [at, { location }] of state.servers.entries())
    refuseUnknown(locations, location, ["servers", at, "location"]);
  state.servers = state.servers.map(completeServer);
  refuseTwice("servers", "id", state.servers);
  const used = new Set(
    [...state.floating_ips, ...state.firewalls, ...state.zones].map((item: { readonly id?: number }) => item.id),
  );
  const newID = (): number => {
    do state.next.id += 1;
    while (used.has(state.next.id - 1));
    return state.next.id - 1;
  };
  state.floating_ips = state.floating_ips.map((one, at) => completeFloatingIP(state, one, at, newID));
  state.zones = state.zones.map((one: Partial<ZoneState>) => ({ ...one, id: one.id ?? newID() }) as ZoneState);
  const servers = new Set(state.servers.map((one) => one.id));
  state.firewalls = state.firewalls.map((one: Partial<FirewallState>) => ({
    ...(one as FirewallState),
    id: one.id ?? newID(),
    servers: (one.servers ?? []).filter((number) => servers.has(number)),
  }));
  for (const key of ["id", "name"] as const) refuseTwice("firewalls", key, state.firewalls);
  for (const key of ["id", "name", "ip"] as const) refuseTwice("floating_ips", key, state.floating_ips);
  for (const key of ["id", "name"] as const) refuseTwice("zones", key, state.zones);
  return state;
}

function completeServer({ id: number, name, ipv4, ...rest }: ServerState): ServerState {
  const own = ipv4 === undefined ? `198.18.${(number >> 8) & 255}.${number & 255}` : ipv4;
  return { id: number, name: name ?? `server-${number}`, ...rest, ipv4: own };
}

function completeFloatingIP(
  state: ProjectState,
  one: Partial<FloatingIPState> & Pick<FloatingIPState, "ip">,
  at: number,
  newID: () => number,
): FloatingIPState {
  const { ip, server: holder, home_location: home } = one;
  const type = one.type ?? (ip.includes(":") ? "ipv6" : "ipv4");
  const canonical = type === "ipv6" ? canonicalIPv6Network(ip) : canonicalIPv4(ip);
  if (canonical === undefined) {
    const what = type === "ipv6" ? "IPv6 network such as 2001:db8:1:2::/64" : "IPv4 address";
    throw new BadValue(["floating_ips", at, "ip"], `must be an ${what}, not ${ip}`);
  }
  const on = state.servers.find((known) => known.id === holder);
  const { locations } = state.settings;
  const location = home ?? on?.location ?? Object.keys(locations)[0] ?? "";
  refuseUnknown(locations, location, ["floating_ips", at, "home_location"]);
  const own = one.id ?? newID();
  const name = one.name ?? `floating-ip-${own}`;
  const known = { id: own, name, type, ip: canonical, server: on?.id ?? null, home_location: location };
  return { ...(one as FloatingIPState), ...known };
}

function refuseUnknown(
  locations: ProjectState["settings"]["locations"],
  location: string,
  at: (string | number)[],
): void {
  if (Object.hasOwn(locations, location)) return;
  const known = Object.keys(locations).join(", ");
  throw new BadValue(at, `is ${location}, which is not in settings.locations: ${known}`);
}

function refuseTwice<K extends string>(
  where: string,
  key: K,
  items: readonly { readonly [Key in K]?: string | number }[],
): void {
  const values = items.flatMap((item) => item[key] ?? []);
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  if (twice !== undefined) throw new BadValue([where], `must not have ${key} ${twice} twice`);
}

/** Returns the next address that nobody has. */
export function newAddress(state: ProjectState): string {
  for (;;) {
    const ip = addressText(FIRST_ADDRESS + state.next.address);
    state.next.address += 1;
    if (!state.floating_ips.some((one) => one.ip === ip)) return ip;
  }
}

/** Returns the next IPv6 network, of those for documentation (RFC 3849), that nobody has. */
export function newNetwork(state: ProjectState): string {
  for (;;) {
    const number = (state.next.network ?? 0) + 1;
    state.next.network = number;
    const ip = `2001:db8:d0:${number.toString(16)}::/64`;
    if (!state.floating_ips.some((one) => one.ip === ip)) return ip;
  }
}

/** 198.51.100.0, of the networks for documentation (RFC 5737). */
const FIRST_ADDRESS = 0xc6_33_64_00;

/** Head of a new `hetzner.yaml`. */
export const PROJECT_HEADER: string = `The project of Hetzner Cloud of this sandbox. Edit it at any time: it is read again before the next request.
Try: remove a server (its floating IPs become unassigned) · set the server of a floating IP to null · blocked: true · protected: true ·
settings.floating_ip_limit: 1 · settings.action_delay_ms: 20000 (assignments take 20 s) · settings.fail_next_actions: 2 (they end in an error) ·
floating_ips: [{ip: "2001:db8:1:2::/64"}] (a network) · settings.rate_limit: 10 (then one call each second) · tokens: {my-token: read} (read, read_write; none at all = any token is accepted) ·
firewalls: [{name: web, labels: {flipop.digitalocean.com/owned: "true"}, servers: [101], selectors: [role=web], rules: [{direction: in, protocol: tcp,
port: "22", source_ips: [0.0.0.0/0]}]}] (locked: true = no change is taken) · zones: [{name: example.com, rrsets: [{name: www, records: [{value: 203.0.113.1}]}]}] ("@" is the zone itself).
Missing fields get defaults: "servers: [{id: 101}]" is enough. Comments further down are lost when it is written.`;
