// What may stand in `digitalocean.yaml`.

/** The types a record may have. */
export const recordTypes = ["A", "AAAA", "CNAME", "MX", "NS", "TXT"] as const;

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
  reserved_ipv6_limit: count,
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
  ipv6_answers: { type: "string", enum: ["documented", "bare"] },
};

const droplet = {
  id,
  region: { type: "string" },
  name: { type: "string" },
  status: { type: "string", enum: ["new", "active", "off", "archive"], default: "active" },
  public_ip: ip,
  private_ip: ip,
  anchor_ip: { ...ip, nullable: true },
  ipv6: { type: "boolean" },
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
  ipv6: count,
  record_id: { ...id, default: 28_448_429 },
  firewall_id: { ...id, default: 1 },
};

/**
 * JSON Schema of `digitalocean.yaml`, with every default that does not depend on something else in the file. Only `id`
 * of a droplet, `ip` of an address, `name` of a domain or firewall, `type`, `name`, `data` of a record, and `protocol`
 * with `sources` or `destinations` of a rule are required.
 */
export const CLOUD_SCHEMA: object = object({
  account: { ...object(account), default: {} },
  tokens: { type: "object", additionalProperties: { type: "array", items: { type: "string" } }, default: {} },
  settings: { ...object(settings), default: {} },
  droplets: list(object(droplet, ["id"])),
  reserved_ips: list(object(address, ["ip"])),
  reserved_ipv6: list(object(address, ["ip"])),
  byoip: list(object(address, ["ip"])),
  domains: list(object(domain, ["name"])),
  firewalls: list(object(firewall, ["name"])),
  actions: list(object(action, Object.keys(action))),
  creations: { type: "array", items: time, default: [] },
  creations_ipv6: { type: "array", items: time, default: [] },
  history: list(history),
  next: { ...object(counters), default: {} },
});
