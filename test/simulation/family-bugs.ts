import type { SharedNameBug } from "./shared-name-bugs.ts";

/** Bugs that histories of pools of both families must find, each by itself. */
export const FAMILY_BUGS: readonly SharedNameBug[] = [
  {
    seed: 1,
    name: "What is written of IPv6 stands in the annotations of IPv4.",
    file: "src/plan/addresses/annotations.ts",
    find: 'return family === "IPv4" ? {} : { ipFamily: family };',
    replace: "return family === undefined ? { ipFamily: family } : {};",
  },
  {
    seed: 2,
    name: "IPv6 addresses of a pool are published in A records.",
    file: "src/plan/names/name-target.ts",
    find: "const recordType = recordTypeOf(ipFamilyOf(spec));",
    replace: 'const recordType = recordTypeOf(ipFamilyOf({ ...spec, provider: "digitalocean" }));',
  },
  {
    seed: 1,
    name: "A droplet with an IPv4 address takes no IPv6 address.",
    file: "src/plan/addresses/decide-pools.ts",
    find: "addresses: new Map([...addresses].filter(([ip]) => claims.rivalOf(ip) === undefined)),",
    replace: "addresses: new Map([...providers.values()].flatMap((facts) => [...facts.addresses])),",
  },
];

/** The same for pools of both families at Hetzner. */
export const HETZNER_FAMILY_BUGS: readonly SharedNameBug[] = [
  {
    seed: 8,
    name: "Two addresses of one network are both to be used.",
    file: "src/plan/addresses/claims.ts",
    find: "return winner === undefined || winner.ip === ip ?",
    replace: "return winner === undefined || winner.ip !== '' ?",
  },
  {
    seed: 64,
    name: "A network takes a place on its node for each of its addresses.",
    file: "src/plan/addresses/decide-pools.ts",
    find: "claims.rivalOf(ip) === undefined",
    replace: "claims.rivalOf(ip)?.ip !== ip",
  },
  {
    seed: 1,
    name: "Only the first address of a network is found.",
    file: "src/adapters/hetzner/floating-ip.ts",
    find: "return [...this.#bits].flatMap((bits) => this.#byText.get(ipv6NetworkOf(ip, bits)) ?? [])[0];",
    replace:
      'return [...this.#bits].flatMap((bits) => (ip.endsWith("::1") ? this.#byText.get(ipv6NetworkOf(ip, bits)) : undefined) ?? [])[0];',
  },
];
