/** A reserved or BYOIP address as the provider shows it, in canonical form. */
export interface Address {
  readonly ip: string;
  /** Region slug; `""` when the provider does not say. */
  readonly region: string;
  /** Droplet that holds it, as the provider's own id in decimal; absent = unassigned. */
  readonly holderID?: string;
  /** True while the provider works on it and refuses other actions. */
  readonly isLocked: boolean;
}

/** What one pass knows of one address: read, known to be absent, or not readable in this pass. */
export type AddressFact =
  | { readonly kind: "known"; readonly address: Address }
  | { readonly kind: "gone" }
  | { readonly kind: "gap"; readonly error: string };

/** Canonical dotted-decimal IPv4 (no leading zeros, no spaces), or undefined. */
export function canonicalIPv4(text: string): string | undefined {
  const parts = text.split(".");
  const isCanonical =
    parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
  return isCanonical ? text : undefined;
}

/** Orders IPv4 addresses by number, for lists that people read. */
export function compareIPv4(a: string, b: string): number {
  return toNumber(a) - toNumber(b) || (a < b ? -1 : a > b ? 1 : 0);
}

function toNumber(ip: string): number {
  return ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Returns what a status has for one address, in `status.ips`; undefined where it has nothing, whatever text the address is. Pure. */
export function entryOf<T>(byAddress: Readonly<Record<string, T>>, ip: string): T | undefined {
  return Object.hasOwn(byAddress, ip) ? byAddress[ip] : undefined;
}

/** `status.acquired[]`: an address flipop got for this pool from the provider. */
export interface AcquiredIP {
  readonly ip: string;
  /** RFC 3339. */
  readonly acquiredAt: string;
  /** True when it was found after a lost answer or by annotation: it is used, and never deleted. */
  readonly adopted?: boolean;
}

/** `status.pendingAcquisitions[]`: the intent of one creation whose answer is not known yet. */
export interface PendingAcquisition {
  /** RFC 3339, just before the call. */
  readonly startedAt: string;
  readonly region?: string;
  /** Target droplet, as a provider ID, when the address was asked for a droplet. */
  readonly providerID?: string;
  readonly nodeName?: string;
  /** Every address of the account just before the call, sorted. */
  readonly knownIPs: readonly string[];
  /** True when status had lost it and the pool's annotation still told of it: which addresses the account had is not known. */
  readonly restored?: boolean;
  /** The addresses it may have been, sorted, as a person was told; listing one of them in `spec.ips` is the answer. */
  readonly candidates?: readonly string[];
}

/** `status.released[]`: no longer managed, still attached where it was. */
export interface ReleasedIP {
  readonly ip: string;
  readonly providerID?: string;
  readonly nodeName?: string;
  /** True when flipop acquired it and may delete it. */
  readonly acquired?: boolean;
}
