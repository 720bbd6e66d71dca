// How the API shows droplets, regions and actions.

import { addressNumber, canonicalIPv6 } from "../../model/address.ts";
import { type APIObject, membersOf } from "../provider.ts";
import { familyOf } from "./actions.ts";
import { type RouteAnswer, type RouteCall, unprocessable } from "./calls.ts";
import type { DropletView } from "./cloud.ts";
import type { ActionState } from "./cloud-state.ts";

/** Starts the action of an address that the body asks for. @throws Refusal */
export function startedAction({ cloud, caller, body }: RouteCall, ip = ""): RouteAnswer {
  const { type, droplet_id: dropletID } = membersOf(body) ?? {};
  if (type !== "assign" && type !== "unassign") throw unprocessable("Type must be assign or unassign.");
  if (type === "assign" && !Number.isSafeInteger(dropletID)) throw unprocessable("Droplet id must be given.");
  const started = type === "assign" ? cloud.assign(caller, ip, Number(dropletID)) : cloud.unassign(caller, ip);
  return { status: 201, body: { action: actionJSON(started) } };
}

/** `action` of an address: the resource is an IPv4 address, as a number. Nobody knows which number an IPv6 address has. */
export function actionJSON({ id, status, type, started_at, completed_at, ip, region }: ActionState): APIObject {
  const resource =
    familyOf(ip) === "IPv6"
      ? { resource_id: id, resource_type: "reserved_ipv6" }
      : { resource_id: addressNumber(ip), resource_type: "reserved_ip" };
  return { id, status, type, started_at, completed_at, ...resource, region: regionJSON(region), region_slug: region };
}

/** Every droplet has an image, and doctl ends in a panic without one (1.100.0, seen 2026-11-25). */
const IMAGE = { id: 155_133_621, name: "24.04 (LTS) x64", distribution: "Ubuntu", type: "base", public: true };

/** `droplet`, as far as flipop and people look at it; its reserved addresses are among `networks`. Whether they are for IPv6, too, nobody has verified. */
export function dropletJSON(view: DropletView): APIObject {
  const { id, name, status, region, tags = [] } = view.droplet;
  const networks = {
    v4: dropletAddresses(view).map(({ ip, type }) => ({ ip_address: ip, type })),
    v6: dropletAddressesIPv6(view).map((ip) => ({ ip_address: ip, netmask: 64, type: "public" })),
  };
  return { id, name, locked: view.isBusy, status, networks, region: regionJSON(region), image: IMAGE, tags };
}

/** `region`, as far as flipop looks at it. */
export function regionJSON(slug: string): APIObject {
  return { name: slug.toUpperCase(), slug, available: true };
}

/** One IPv4 address a droplet carries. */
interface DropletAddress {
  readonly ip: string;
  readonly type: "public" | "private";
}

/** The IPv4 addresses a droplet shows, its reserved one among them; the anchor address is not shown. In no documented order. */
export function dropletAddresses({ droplet, reservedIP }: DropletView): readonly DropletAddress[] {
  const reserved: readonly DropletAddress[] = reservedIP === undefined ? [] : [{ ip: reservedIP, type: "public" }];
  return [{ ip: droplet.private_ip, type: "private" }, ...reserved, { ip: droplet.public_ip, type: "public" }];
}

/** The IPv6 addresses a droplet shows. */
export function dropletAddressesIPv6({ droplet, reservedIPv6 }: DropletView): readonly string[] {
  if (droplet.ipv6 === false) return [];
  const own = canonicalIPv6(
    `2001:db8:d1:${((droplet.id >> 16) & 0xffff).toString(16)}::${(droplet.id & 0xffff).toString(16)}`,
  );
  return [own ?? [], reservedIPv6 ?? []].flat();
}
