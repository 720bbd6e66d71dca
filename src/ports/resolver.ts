import type { ZoneAnswer } from "../model/live.ts";

/** Asks DNS what clients are told. */
export interface NameResolver {
  /** The addresses that a set of records, named as `setText` does it, answers with, sorted; none where it has none. Never throws: where nobody answers, `error` says why. */
  addressesOf(fqdn: string): Promise<PublicAnswer>;
}

/** What came of asking. */
export type PublicAnswer = { readonly addresses: readonly string[] } | { readonly error: string };

/** Asks the servers that zones are delegated to. Finds the servers of each zone once, and asks each for a name once. */
export interface ZoneServers {
  /**
   * What each server of the zone says of a set of records, named as `setText` does it. Never throws.
   * @param zone - absent = the nearest name above `fqdn` that has servers
   */
  answerOf(fqdn: string, zone?: string): Promise<ZoneAnswer>;
}
