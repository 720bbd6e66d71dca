import type { PublishedName } from "../../model/resource.ts";
import type { CommonStatus } from "./decode-common-status.ts";

/**
 * What both kinds have in `status`, for a JSON merge patch (RFC 7396): every field is in it, `null` where it is absent or empty,
 * so that the server removes it.
 */
export function encodeCommonStatus(status: CommonStatus): Readonly<Record<keyof CommonStatus, unknown>> {
  return {
    observedGeneration: status.observedGeneration ?? null,
    conditions: unlessEmpty(status.conditions),
    error: status.error || null,
    publishedDNS: status.publishedDNS === undefined ? null : encodeName(status.publishedDNS),
    formerDNS: unlessEmpty(status.formerDNS.map(encodeName)),
    retries: unlessEmpty(status.retries),
  };
}

/** The list; `null` for an empty one. Pure. */
export function unlessEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

function encodeName({ provider, zone, name, addresses }: PublishedName): Required<PublishedName> {
  return { provider, zone, name, addresses };
}
