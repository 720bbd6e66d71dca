import type { PoolStatus, RoutedIPStatus } from "../../model/resource.ts";
import { unlessEmpty } from "./encode-common-status.ts";
import { encodePoolStatus } from "./encode-pool-status.ts";

/** The `status` of a JSON merge patch that turns the stored status of a RoutedIP into this one, see {@link encodePoolStatus}. */
export function encodeRoutedIPStatus(status: RoutedIPStatus, stored: unknown): Readonly<Record<string, unknown>> {
  const own = {
    address: status.address ?? null,
    nodeName: status.nodeName ?? null,
    firewalls: unlessEmpty(status.firewalls ?? []),
    pendingFirewalls: unlessEmpty(status.pendingFirewalls ?? []),
    issuer: status.issuer ?? null,
  } satisfies Record<Exclude<keyof RoutedIPStatus, keyof PoolStatus>, unknown>;
  return { ...encodePoolStatus(status, stored), ...own };
}
