import type { IPStatus, PoolStatus } from "../model/resource.ts";

/** Returns the address that a RoutedIP has in use, by its status; undefined while it has none. One that it had before, and that is still managed, is disabled. */
export function routedAddress({
  ips,
}: Pick<PoolStatus, "ips">): { readonly ip: string; readonly entry: IPStatus } | undefined {
  const used = Object.entries(ips).find(([, { state }]) => state !== "disabled");
  return used === undefined ? undefined : { ip: used[0], entry: used[1] };
}
