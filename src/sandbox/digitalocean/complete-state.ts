import { Ajv } from "ajv";
import { canonicalIPv4 } from "../../model/address.ts";
import { schemaErrorText } from "../schema-error.ts";
import { cloudSchema } from "./cloud-schema.ts";
import type { AddressState, CloudState, DropletState } from "./cloud-state.ts";
import { completeDomains } from "./complete-domains.ts";
import { completeFirewalls } from "./complete-firewalls.ts";

const validate = new Ajv({ useDefaults: true, strictTypes: false }).compile(cloudSchema);

/** The project new addresses belong to when none is named. */
export const defaultProjectID = "746c6152-2fa2-11ed-92d3-27aaa54e4988";

/**
 * The whole state for what a person wrote: `{droplets: [{id: 101}]}` is enough. Missing regions are those of the holder
 * or the first of the list; a holder that is not among the droplets (its droplet was removed) means unassigned.
 * The input is not changed.
 * @throws Error whose message begins with the path of the bad value: `droplets[0].id must be integer`.
 */
export function completeState(input: unknown): CloudState {
  const raw: unknown = structuredClone(input ?? {});
  if (!validate(raw)) throw new Error(schemaErrorText(validate.errors?.[0], "the file"));
  const state = raw as CloudState;
  for (const list of ["droplets", "reserved_ips", "byoip"] as const) refuseUnknownRegions(state, list);
  state.droplets = state.droplets.map((droplet) => completeDroplet(droplet, state.settings.regions[0] ?? ""));
  refuseDuplicates("droplets", state.droplets, (droplet) => String(droplet.id), "id");
  for (const list of ["reserved_ips", "byoip"] as const) {
    state[list] = state[list].map((address, position) => completeAddress(state, address, `${list}[${position}]`));
  }
  const addresses = [...state.reserved_ips, ...state.byoip];
  refuseDuplicates("reserved_ips and byoip", addresses, (address) => address.ip, "ip");
  const attached = addresses.filter((address) => address.droplet_id !== null);
  refuseDuplicates("reserved_ips and byoip", attached, (address) => String(address.droplet_id), "droplet_id");
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

function completeAddress(state: CloudState, address: Partial<AddressState> & { ip: string }, at: string): AddressState {
  if (canonicalIPv4(address.ip) === undefined) throw new Error(`${at}.ip must be an IPv4 address, not ${address.ip}`);
  const holder = state.droplets.find((droplet) => droplet.id === address.droplet_id);
  const region = address.region ?? holder?.region ?? state.settings.regions[0] ?? "";
  if (holder !== undefined && holder.region !== region) {
    throw new Error(`${at}.region is ${region}, but its droplet ${holder.id} is in ${holder.region}`);
  }
  const projectID = at.startsWith("byoip") ? "" : defaultProjectID;
  const { ip, region: _region, droplet_id: _dropletID, ...rest } = address;
  return { ip, region, droplet_id: holder?.id ?? null, project_id: projectID, ...rest };
}

function refuseUnknownRegions(state: CloudState, list: "droplets" | "reserved_ips" | "byoip"): void {
  const known = state.settings.regions;
  for (const [position, { region }] of state[list].entries()) {
    if (region === undefined || known.includes(region)) continue;
    throw new Error(`${list}[${position}].region is ${region}, which is not in settings.regions: ${known.join(", ")}`);
  }
}

function refuseDuplicates<T>(where: string, items: readonly T[], keyOf: (item: T) => string, field: string): void {
  const seen = new Set<string>();
  for (const item of items) {
    const key = keyOf(item);
    if (seen.has(key)) throw new Error(`${where} must not have ${field} ${key} twice`);
    seen.add(key);
  }
}
