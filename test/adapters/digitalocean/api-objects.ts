function regionJSON(slug: string): object {
  return { name: "New York 3", slug, features: ["backups"], available: true, sizes: ["s-1vcpu-1gb"] };
}

/** `reserved_ip` as the API shows it. */
export function addressJSON(ip: string, more: object = {}): object {
  return { ip, droplet: null, region: regionJSON("nyc3"), locked: false, ...more };
}

/** `action` of a reserved IP as the API shows it. */
export function actionJSON(id: number, status = "in-progress"): object {
  return {
    id,
    status,
    type: "assign_ip",
    started_at: "2026-01-02T03:04:05Z",
    completed_at: null,
    resource_id: 758_604_968,
    resource_type: "reserved_ip",
    region: regionJSON("nyc3"),
    region_slug: "nyc3",
  };
}

/** `droplet` as the API shows it, with these IPv4 addresses. */
export function dropletJSON(id: number, addresses: readonly string[]): object {
  return {
    id,
    name: "worker-1",
    memory: 1024,
    vcpus: 1,
    disk: 25,
    locked: false,
    status: "active",
    created_at: "2026-01-01T00:00:00Z",
    features: [],
    backup_ids: [],
    next_backup_window: null,
    snapshot_ids: [],
    image: {},
    volume_ids: [],
    size: sizeJSON,
    size_slug: "s-1vcpu-1gb",
    networks: { v4: addresses.map((ip, at) => networkJSON(ip, at === 0 ? "private" : "public")), v6: [] },
    region: regionJSON("nyc3"),
    tags: [],
  };
}

/** `account` as the API shows it. */
export function accountJSON(more: object = {}): object {
  return {
    droplet_limit: 25,
    floating_ip_limit: 5,
    email: "sammy@example.com",
    uuid: "b6fr89dbf6d9156cace5f3c78dc9851d957381ef",
    email_verified: true,
    status: "active",
    status_message: "",
    ...more,
  };
}

/** An error answer of the API. */
export function errorJSON(id: string, message: string, requestID?: string): object {
  return { id, message, ...(requestID === undefined ? {} : { request_id: requestID }) };
}

const sizeJSON: object = {
  slug: "s-1vcpu-1gb",
  memory: 1024,
  vcpus: 1,
  disk: 25,
  transfer: 1,
  price_monthly: 6,
  price_hourly: 0.00893,
  regions: ["nyc3"],
  available: true,
  description: "Basic",
};

function networkJSON(ip: string, type: "private" | "public"): object {
  return { ip_address: ip, netmask: "255.255.240.0", gateway: "10.0.0.1", type };
}
