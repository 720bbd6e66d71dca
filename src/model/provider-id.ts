/** Scheme of `spec.providerID` per IP provider (DigitalOcean's cloud controller manager, verified 2026-08). */
const SCHEMES: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({ digitalocean: "digitalocean://" }),
);

/**
 * The provider's own id of a node's machine: the decimal droplet id of `digitalocean://123`.
 * Undefined when the text is empty, of another cloud, or not a plain positive number.
 */
export function machineID(provider: string, providerID: string): string | undefined {
  const scheme = SCHEMES.get(provider);
  if (scheme === undefined || !providerID.startsWith(scheme)) return undefined;
  const id = providerID.slice(scheme.length);
  return /^[1-9]\d{0,18}$/.test(id) ? id : undefined;
}

/** The `spec.providerID` that names this machine at this provider. */
export function providerIDOf(provider: string, id: string): string {
  return `${SCHEMES.get(provider) ?? `${provider}://`}${id}`;
}
