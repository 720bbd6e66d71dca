import type { Address } from "../../src/model/address.ts";
import { type IPFamily, sourceNamed } from "../../src/model/address-source.ts";
import type { IPProvider } from "../../src/ports/providers.ts";

/** Addresses of one family, for the contract of address providers. */
export interface ExampleAddresses {
  readonly ip1: string;
  readonly ip2: string;
  /** One that no account has. */
  readonly unknownIP: string;
  /** So many others. */
  many(count: number): readonly string[];
  /** An address as the provider shows it. */
  shown(ip: string, facts: Omit<Address, "ip" | "network">): Address;
}

/** Returns the example addresses of a family; `isNetwork` = the provider has IPv6 networks in the place of addresses. */
export function exampleAddresses(family: IPFamily, isNetwork: boolean): ExampleAddresses {
  const isIPv4 = family === "IPv4";
  return {
    ip1: isIPv4 ? "203.0.113.1" : "2001:db8:1:1::1",
    ip2: isIPv4 ? "203.0.113.2" : "2001:db8:1:2::1",
    unknownIP: isIPv4 ? "203.0.113.99" : "2001:db8:1:99::1",
    many: (count) =>
      Array.from({ length: count }, (_, at) =>
        isIPv4 ? `10.1.${Math.floor(at / 250)}.${at % 250}` : `2001:db8:2:${(at + 1).toString(16)}::1`,
      ),
    shown: (ip, facts) => ({ ip, ...facts, ...(isNetwork ? { network: networkOf(ip) } : {}) }),
  };
}

/** The network of an example address. */
export function networkOf(ip: string): string {
  return ip.replace(/::1$/, "::/64");
}

/** The name of the provider whose account the port is of: errors name it, whatever family they are about. */
export function accountOf({ name }: Pick<IPProvider, "name">): string {
  return sourceNamed(name).provider;
}
