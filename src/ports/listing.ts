import type { Address } from "../model/address.ts";
import type { IPProviderReader } from "./ip-provider.ts";

/** As much of the account's list as a pass needs. */
export interface Listing {
  readonly addresses: readonly Address[];
  /** True when every page was read and the pages agree with the account's total. */
  readonly isComplete: boolean;
  /** How many addresses the account has; absent when the list was not read. */
  readonly total?: number;
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
