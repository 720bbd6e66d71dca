/**
 * A DNS name in lower case without its last dot; undefined when it is none: an empty label, one of more than 63 characters or
 * with others than letters, digits, `-` and `_`, more than 253 characters in all. `*` may be the first label. Pure.
 */
export function canonicalDNSName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, "");
  const labels = name.split(".");
  const isName = name.length <= 253 && labels.every((label, at) => (at === 0 && label === "*") || isLabel(label));
  return isName ? name : undefined;
}

/** The name that a record of this FQDN has inside the zone, `@` for the zone itself; undefined outside the zone. Both canonical. Pure. */
export function relativeName(zone: string, fqdn: string): string | undefined {
  if (fqdn === zone) return "@";
  return fqdn.endsWith(`.${zone}`) ? fqdn.slice(0, -zone.length - 1) : undefined;
}

function isLabel(text: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(text);
}
