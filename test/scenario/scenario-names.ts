// Short names for the things of a scenario, the same on every world: node n1 is droplet 101, ip1 is 203.0.113.1, the
// first address that flipop buys is new1.

/** The address called `ipN`. */
export function ip(number: number): string {
  return number < 255 ? `203.0.113.${number}` : `192.0.2.${number - 254}`;
}

/** The movable IPv6 address called `ip6-N`. Each is in a /64 of its own: at Hetzner a whole network moves. */
export function ipv6(number: number): string {
  return `2001:db8:66:${number}::1`;
}

/** The address of type ExternalIP that node `nN` has where nothing else is said, `ext1` for short. */
export function externalIP(number: number): string {
  return `100.64.1.${number}`;
}

/** An IPv6 address for node `nN`, `six1` for short. */
export function externalIPv6(number: number): string {
  return `2001:db8:6::${number}`;
}

/** The address of type InternalIP that node `nN` has where nothing else is said, `int1` for short. */
export function internalIP(number: number): string {
  return `10.9.0.${number}`;
}

/** The address the emulated account makes as its N-th. */
export function bought(number: number): string {
  return `198.51.100.${number}`;
}

/** The droplet of the node called `nN`. @throws Error for any other name: such a node needs its droplet told. */
export function dropletOf(node: string): number {
  const [, number] = /^n(\d+)$/.exec(node) ?? [];
  if (number === undefined) throw new Error(`node ${node} needs a droplet`);
  return 100 + Number(number);
}

/** The node of a droplet made by {@link dropletOf}; droplets of nobody's are `d900`. */
export function nodeOf(droplet: number | string): string {
  const id = Number(droplet);
  return id > 100 && id < 900 ? `n${id - 100}` : `d${id}`;
}

/** A text with the addresses in it by their short names. */
export function short(text: string): string {
  return text
    .replace(/\b203\.0\.113\.(\d+)\b/g, (_, number) => `ip${number}`)
    .replace(/\b192\.0\.2\.(\d+)\b/g, (_, number) => `ip${Number(number) + 254}`)
    .replace(/\b198\.51\.100\.(\d+)\b/g, (_, number) => `new${number}`)
    .replace(/\b100\.64\.1\.(\d+)\b/g, (_, number) => `ext${number}`)
    .replace(/\b2001:db8:6::(\d+)\b/g, (_, number) => `six${number}`)
    .replace(/\b2001:db8:66:(\d+)::1\b/g, (_, number) => `ip6-${number}`)
    .replace(/\b2001:db8:d0::(\d+)\b/g, (_, number) => `new6-${number}`)
    .replace(/\b2001:db8:d0:(\d+)::1\b/g, (_, number) => `new6-${number}`)
    .replace(/\b10\.9\.0\.(\d+)\b/g, (_, number) => `int${number}`);
}
