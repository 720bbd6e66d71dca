import { ProviderError } from "../model/errors.ts";
import type { IPProviderReader } from "../ports/ip-provider.ts";
import { type Listing, readAllPages } from "../ports/listing.ts";
import type { WantedAddresses } from "./wanted-addresses.ts";
import { concernsWholeProvider } from "./whole-provider-failure.ts";

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
