import type { Address } from "../model/address.ts";
import { ProviderError } from "../model/errors.ts";
import type { IPProviderReader } from "../ports/ip-provider.ts";
import type { WantedAddresses } from "./wanted-addresses.ts";
import { concernsWholeProvider } from "./whole-provider-failure.ts";

/** As much of the account's list as a pass needs. */
export interface Listing {
  readonly addresses: readonly Address[];
  /** True when every page was read and the pages agree with the account's total. */
  readonly isComplete: boolean;
  /** How many addresses the account has; absent when the list was not read. */
  readonly total?: number;
}

const NOTHING: Listing = { addresses: [], isComplete: false };

/**
 * Reads the account's list, or nothing where single reads are cheaper and nothing seems to have changed. A list that fails is no listing: the addresses are
 * then read one by one.
 *
 * @throws ProviderError when the token is refused or calls are limited.
 */
export async function readListing(provider: IPProviderReader, wanted: WantedAddresses): Promise<Listing> {
  const isCheapLook = wanted.isSteady && !wanted.mayAcquire;
  if (wanted.ips.size <= 1 && isCheapLook) return NOTHING;
  try {
    const first = await provider.listPage(1);
    const pages = Math.ceil(first.total / provider.pageSize);
    const found = new Set(first.addresses.map(({ ip }) => ip));
    const missing = [...wanted.ips].filter((ip) => !found.has(ip)).length;
    if (isCheapLook && missing < pages - 1)
      return { addresses: first.addresses, isComplete: pages <= 1, total: first.total };
    return await readAllPages(provider, first.addresses, first.total);
  } catch (error) {
    if (error instanceof ProviderError && !concernsWholeProvider(error)) return NOTHING;
    throw error;
  }
}

/**
 * The whole list, from page 2 on when page 1 is given. Pages shift while others change the account: addresses are taken once each, and a count that
 * differs from the total means the list is not complete.
 */
export async function readAllPages(
  provider: IPProviderReader,
  firstPage?: readonly Address[],
  firstTotal?: number,
): Promise<Listing> {
  const byIP = new Map<string, Address>();
  for (const address of firstPage ?? []) byIP.set(address.ip, address);
  let total = firstTotal ?? Number.POSITIVE_INFINITY;
  for (let page = firstPage === undefined ? 1 : 2; (page - 1) * provider.pageSize < total; page += 1) {
    const answer = await provider.listPage(page);
    for (const address of answer.addresses) byIP.set(address.ip, address);
    total = answer.total;
    if (answer.addresses.length === 0) break;
  }
  return { addresses: [...byIP.values()], isComplete: byIP.size === total, total };
}
