import { ProviderError } from "../model/errors.ts";
import type { IPProviderReader } from "../ports/ip-provider.ts";
import { type Listing, readAllPages } from "../ports/listing.ts";
import type { WantedAddresses } from "./wanted-addresses.ts";
import { concernsWholeProvider } from "./whole-provider-failure.ts";

/** What was read of the list; `hasFailed` when that is less than was asked for. */
export interface PartialListing extends Listing {
  readonly hasFailed: boolean;
}

const NOT_ASKED: PartialListing = { addresses: [], isComplete: false, hasFailed: false };

/**
 * Reads the account's list, or nothing where single reads are cheaper and nothing seems to have changed. Of a list that fails, the pages that were read are
 * kept; the other addresses are then read one by one.
 *
 * @throws ProviderError when the token is refused or calls are limited.
 */
export async function readListing(provider: IPProviderReader, wanted: WantedAddresses): Promise<PartialListing> {
  const isCheapLook = wanted.isSteady && !wanted.mayAcquire;
  if (wanted.ips.size <= 1 && isCheapLook) return NOT_ASKED;
  let read: Listing = NOT_ASKED;
  try {
    const firstPage = await provider.listPage(1);
    const { addresses, total } = firstPage;
    const pages = Math.ceil(total / provider.pageSize);
    read = { addresses, total, isComplete: false };
    const found = new Set(addresses.map(({ ip }) => ip));
    const missing = [...wanted.ips].filter((ip) => !found.has(ip)).length;
    const isOnFirst = isCheapLook && missing < pages - 1;
    if (!isOnFirst) read = await readAllPages(provider, { firstPage, isVerified: wanted.mayAcquire });
    return { ...read, hasFailed: false };
  } catch (error) {
    if (error instanceof ProviderError && !concernsWholeProvider(error))
      return { ...read, isComplete: false, hasFailed: true };
    throw error;
  }
}
