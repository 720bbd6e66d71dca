import { Resolver } from "node:dns/promises";
import { canonicalAddress } from "../../model/address.ts";
import { setNamed } from "../../model/record-types.ts";
import type { NameResolver, PublicAnswer } from "../../ports/resolver.ts";

const TIMEOUT_MS = 1500;
const TRIES = 2;

/** Of a name that exists without such records, and of one that does not exist. */
const NOTHING: readonly string[] = ["ENODATA", "ENOTFOUND"];

/** True for the failure that says that a name has no such records: an answer like any other. */
export function meansNothing(error: unknown): boolean {
  return error instanceof Error && "code" in error && NOTHING.includes(String(error.code));
}

/** Returns the text of a failure. Node puts the name that was asked for at its end. That is left out: a server that is down fails alike for all names. */
export function dnsErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "hostname" in error ? error.message.replace(` ${String(error.hostname)}`, "") : error.message;
}

/**
 * Returns what asks a DNS server over UDP, over TCP where the answer is too long.
 * @param server - `ADDRESS` or `ADDRESS:PORT`; absent = the servers of the system
 */
export function createResolver(server?: string): NameResolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (server !== undefined) resolver.setServers([server]);
  return {
    addressesOf: async (text): Promise<PublicAnswer> => {
      const { fqdn, type } = setNamed(text);
      try {
        const found = type === "A" ? await resolver.resolve4(fqdn) : await resolver.resolve6(fqdn);
        return { addresses: found.map((address) => canonicalAddress(address) ?? address).toSorted() };
      } catch (error) {
        return meansNothing(error) ? { addresses: [] } : { error: dnsErrorText(error) };
      }
    },
  };
}

/** True for what {@link createResolver} takes as a server. */
export function isResolverAddress(text: string): boolean {
  // Node 22 takes any number for a port.
  const [, port = "53"] = /(?:\]|^[^:]*):(\d+)$/.exec(text) ?? [];
  if (Number(port) > 65_535) return false;
  try {
    new Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}
