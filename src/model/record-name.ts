import { canonicalDNSName } from "./dns-name.ts";

/** The name a record set has, or why there is none. */
export type RecordName =
  | { readonly kind: "name"; readonly fqdn: string }
  | { readonly kind: "invalid"; readonly error: string };

/**
 * The FQDN that `recordName` means in a zone, the same at every provider: `@` is the zone itself, a name under the zone is taken as it is, any other is relative
 * to the zone. Without the zone's name (a Cloudflare id whose zone the token may not read) a dotted name is taken as full. Pure.
 */
export function recordFQDN(recordName: string, zoneName: string | undefined): RecordName {
  const isAbsolute = recordName.endsWith(".");
  const name = recordName === "@" ? "@" : canonicalDNSName(recordName);
  if (name === undefined) return { kind: "invalid", error: `recordName "${recordName}" is not a DNS name` };
  if (zoneName === undefined) {
    if (name.includes(".")) return { kind: "name", fqdn: name };
    return {
      kind: "invalid",
      error: `recordName "${recordName}" must be written in full, because the token may not read the zone's name`,
    };
  }
  if (name === "@" || name === zoneName) return { kind: "name", fqdn: zoneName };
  if (name.endsWith(`.${zoneName}`)) return { kind: "name", fqdn: name };
  if (isAbsolute) return { kind: "invalid", error: `recordName "${recordName}" is outside the zone ${zoneName}` };
  const fqdn = canonicalDNSName(`${name}.${zoneName}`);
  return fqdn === undefined
    ? { kind: "invalid", error: `recordName "${recordName}" is too long for the zone ${zoneName}` }
    : { kind: "name", fqdn };
}
