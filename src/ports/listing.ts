import type { Address } from "../model/address.ts";
import type { AddressPage, IPProviderReader } from "./providers.ts";

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** True when there is a page after this one. */
  readonly hasMore: boolean;
  /** How many items the list has over all pages; absent where the API does not say. */
  readonly total?: number;
  /** How many pages the list has; absent where the API does not say. */
  readonly pages?: number;
}

/** What was read of a list. */
export interface ListReading<T> {
  /** Every item that was shown, once each, in the order they came. */
  readonly items: readonly T[];
  /** Why this is not the whole list; absent when it is, as far as its pages tell. */
  readonly problem?: string;
  /** As the last page has it. */
  readonly total?: number;
}

/** How the items of a list are told apart, and what problems call them. */
export interface ListWords<T> {
  readonly keyOf: (item: T) => string;
  /** `records`. */
  readonly noun: string;
  /** The field of an answer that has the total: `meta.total`. */
  readonly totalField: string;
}

/**
 * Reads a list page after page. Others may change the list meanwhile, and then items shift between pages, so that one is shown
 * twice or not at all. The list is whole only if all of this holds:
 * 1. Every page has the same total, or none has one; and so with the number of pages.
 * 2. As many items were shown as the total says, and the last page is the last one.
 * 3. No item was shown twice.
 *
 * Stops at the first page whose total differs, and at one that shows nothing new.
 */
export async function readList<T>(
  readPage: (page: number) => Promise<ListPage<T>>,
  words: ListWords<T>,
): Promise<ListReading<T>> {
  const pages = [await readPage(1)];
  const seen = new Map<string, T>();
  const isWorthMore = (last: ListPage<T>): boolean => {
    const known = seen.size;
    for (const item of last.items) seen.set(words.keyOf(item), item);
    return last.hasMore && seen.size > known && last.total === pages[0]?.total && last.pages === pages[0]?.pages;
  };
  for (let last = pages[0]; last !== undefined && isWorthMore(last); last = pages.at(-1))
    pages.push(await readPage(pages.length + 1));
  const { total } = pages.at(-1) ?? {};
  const problem = problemOf(pages, seen, words);
  return {
    items: [...seen.values()],
    ...(problem === undefined ? {} : { problem }),
    ...(total === undefined ? {} : { total }),
  };
}

function problemOf<T>(
  pages: readonly ListPage<T>[],
  seen: ReadonlyMap<string, T>,
  { keyOf, noun, totalField }: ListWords<T>,
): string | undefined {
  const [first, last] = [pages[0], pages.at(-1)];
  const total = last?.total;
  if (first?.total !== total)
    return `${totalField} changed from ${first?.total ?? "nothing"} to ${total ?? "nothing"} between pages`;
  if (total !== undefined && total !== seen.size)
    return `the pages hold ${seen.size} ${noun} although ${totalField} is ${total}`;
  if (first?.pages !== last?.pages) return "the number of pages changed while they were read";
  if (last?.hasMore === true) return `page ${pages.length} shows nothing new although more pages follow`;
  const shown = pages.flatMap(({ items }) => items.map(keyOf));
  if (shown.length === seen.size) return undefined;
  return `${shown.find((key, at) => shown.indexOf(key) !== at)} is shown twice`;
}

/** As much of the account's list as a pass needs. */
export interface Listing {
  readonly addresses: readonly Address[];
  /** True when every page was read, every entry was understood, and nothing shows that the list changed meanwhile; see {@link readList}. */
  readonly isComplete: boolean;
  /** How many addresses the account has; absent when the list was not read, or is not complete and tells no total. */
  readonly total?: number;
}

/**
 * Reads the whole list of the account. With `isVerified` every page but the last is read a second time, and must show the same
 * addresses: else one that was deleted and one that was made meanwhile could hide a third. That is for decisions that rest on an
 * address which is not in the list, such as to buy one. A list that tells no total is always read so: its pages may have shifted, and no total shows it.
 *
 * @param firstPage - the answer to `listPage(1)`, where it was read already.
 */
export async function readAllPages(
  provider: IPProviderReader,
  options: { readonly isVerified?: boolean; readonly firstPage?: AddressPage } = {},
): Promise<Listing> {
  const pages: string[] = [];
  let isClear = true;
  const readPage = async (page: number): Promise<ListPage<Entry>> => {
    const answer = page === 1 && options.firstPage !== undefined ? options.firstPage : await provider.listPage(page);
    const { addresses, others = [], unclear = [], hasMore, total } = answer;
    pages.push(pageText(answer));
    isClear &&= unclear.length === 0;
    const rest = [...others, ...unclear].map((key) => ({ key }));
    const items = [...addresses.map((address) => ({ key: address.ip, address })), ...rest];
    return { items, hasMore, ...(total === undefined ? {} : { total }) };
  };
  const words = { keyOf: ({ key }: Entry) => key, noun: "addresses", totalField: "the total" };
  const { items, problem, total: told } = await readList(readPage, words);
  const isWhole = problem === undefined && isClear;
  const needsProof = options.isVerified === true || told === undefined;
  const isComplete = isWhole && needsProof ? await showsAgain(provider, pages.slice(0, -1)) : isWhole;
  const total = told ?? (isComplete ? items.length : undefined);
  return {
    addresses: items.flatMap(({ address }) => address ?? []),
    isComplete,
    ...(total === undefined ? {} : { total }),
  };
}

/** An entry of the account's list; without an address it is something else, such as an IPv6 network. */
interface Entry {
  readonly key: string;
  readonly address?: Address;
}

/** True when the first pages still show what they showed. */
async function showsAgain(provider: IPProviderReader, pages: readonly string[]): Promise<boolean> {
  for (const [at, text] of pages.entries()) if (pageText(await provider.listPage(at + 1)) !== text) return false;
  return true;
}

/** What tells the entries of a page apart. */
export function entryKeys({ addresses, others = [], unclear = [] }: AddressPage): readonly string[] {
  return [...addresses.map(({ ip }) => ip), ...others, ...unclear];
}

/** The entries of a page, in whatever order they came, and the total. */
function pageText(page: AddressPage): string {
  return `${page.total ?? "no total"} ${entryKeys(page).toSorted()}`;
}
