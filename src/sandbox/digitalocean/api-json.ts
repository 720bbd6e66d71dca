import type { AddressView } from "./address-view.ts";
import type { DropletView } from "./cloud.ts";
import type { ActionState, CloudState } from "./cloud-state.ts";
import { type DropletAddress, dropletAddresses } from "./droplet-addresses.ts";

/** JSON as the API sends it. */
export type APIObject = Readonly<Record<string, unknown>>;

const sizes = ["s-1vcpu-1gb", "s-1vcpu-2gb", "s-2vcpu-2gb", "s-2vcpu-4gb", "s-4vcpu-8gb"];
const createdAt = "2026-01-01T00:00:00Z";

/** `account` of `GET /v2/account`. */
export function accountJSON(account: CloudState["account"]): APIObject {
  return {
    droplet_limit: account.droplet_limit,
    floating_ip_limit: account.reserved_ip_limit,
    reserved_ip_limit: account.reserved_ip_limit,
    volume_limit: 100,
    email: account.email,
    name: "Sandbox",
    uuid: account.uuid,
    email_verified: true,
    status: "active",
    status_message: "",
    team: { uuid: account.uuid, name: "Sandbox" },
  };
}

/** `reserved_ip`, with its droplet in full; BYOIP addresses have no project. */
export function addressJSON(view: AddressView): APIObject {
  const droplet = view.droplet;
  return {
    ip: view.ip,
    region: regionJSON(view.region),
    droplet: droplet === null ? null : dropletJSON({ droplet, isBusy: view.locked, reservedIP: view.ip }),
    locked: view.locked,
    ...(view.projectID === "" ? {} : { project_id: view.projectID }),
  };
}

/** `action` of an address: the resource is the address, as a number. */
export function actionJSON(action: ActionState): APIObject {
  return {
    id: action.id,
    status: action.status,
    type: action.type,
    started_at: action.started_at,
    completed_at: action.completed_at,
    resource_id: action.ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0),
    resource_type: "reserved_ip",
    region: regionJSON(action.region),
    region_slug: action.region,
  };
}

/** `actions[]` of a droplet: the address actions it takes part in, then the event it has of its own. */
export function dropletActionsJSON(view: DropletView, actions: readonly ActionState[], nowMs: number): APIObject[] {
  const { droplet } = view;
  const list = actions.map((action) => ({ ...actionJSON(action), resource_id: droplet.id, resource_type: "droplet" }));
  const until = droplet.pending_event_until;
  if (until === undefined) return list;
  const isOver = Date.parse(until) <= nowMs;
  const event = {
    id: 1_000_000_000 + droplet.id,
    status: isOver ? "completed" : "in-progress",
    type: "power_cycle",
    started_at: createdAt,
    completed_at: isOver ? until : null,
    resource_id: droplet.id,
    resource_type: "droplet",
    region: regionJSON(droplet.region),
    region_slug: droplet.region,
  };
  return [...list, event];
}

/** `droplet`; its reserved address is one of `networks.v4`, in no documented order. */
export function dropletJSON(view: DropletView): APIObject {
  const { droplet } = view;
  return {
    id: droplet.id,
    name: droplet.name,
    memory: 1024,
    vcpus: 1,
    disk: 25,
    disk_info: [{ type: "local", size: { amount: 25, unit: "gib" } }],
    locked: view.isBusy,
    status: droplet.status,
    kernel: null,
    created_at: createdAt,
    features: ["droplet_agent", "private_networking"],
    backup_ids: [],
    next_backup_window: null,
    snapshot_ids: [],
    image: imageJSON(droplet.region),
    volume_ids: [],
    size: sizeJSON(droplet.region),
    size_slug: "s-1vcpu-1gb",
    networks: { v4: dropletAddresses(view).map(networkJSON), v6: [] },
    region: regionJSON(droplet.region),
    tags: droplet.tags ?? [],
    vpc_uuid: "760e09ef-dc84-11e8-981e-3cfdfeaae000",
  };
}

function networkJSON({ ip, type }: DropletAddress): APIObject {
  const netmask = type === "private" ? "255.255.0.0" : "255.255.240.0";
  return { ip_address: ip, netmask, gateway: ip.replace(/\d+$/, "1"), type };
}

function regionJSON(slug: string): APIObject {
  const [, city = "", number = ""] = /^([a-z]+)(\d*)$/.exec(slug) ?? [];
  const name = `${city.toUpperCase()} ${number}`.trim();
  return { name, slug, features: ["backups", "ipv6", "metadata"], available: true, sizes };
}

function sizeJSON(region: string): APIObject {
  return {
    slug: "s-1vcpu-1gb",
    memory: 1024,
    vcpus: 1,
    disk: 25,
    transfer: 1,
    price_monthly: 6,
    price_hourly: 0.00893,
    regions: [region],
    available: true,
    description: "Basic",
  };
}

function imageJSON(region: string): APIObject {
  return {
    id: 7_555_620,
    name: "24.04 (LTS) x64",
    type: "base",
    distribution: "Ubuntu",
    slug: "ubuntu-24-04-x64",
    public: true,
    regions: [region],
    created_at: createdAt,
    min_disk_size: 7,
    size_gigabytes: 2.34,
    description: "",
    tags: [],
    status: "available",
  };
}
