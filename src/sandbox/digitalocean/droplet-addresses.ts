import type { DropletView } from "./cloud.ts";

/** One IPv4 address a droplet carries. */
export interface DropletAddress {
  readonly ip: string;
  readonly type: "public" | "private";
}

/** The IPv4 addresses a droplet shows, its reserved one among them; the anchor address is not shown. In no documented order. */
export function dropletAddresses({ droplet, reservedIP }: DropletView): readonly DropletAddress[] {
  const reserved: readonly DropletAddress[] = reservedIP === undefined ? [] : [{ ip: reservedIP, type: "public" }];
  return [{ ip: droplet.private_ip, type: "private" }, ...reserved, { ip: droplet.public_ip, type: "public" }];
}
