import { type ListPage, readList } from "../../ports/listing.ts";

/** What was read of a list. */
export interface ShortList<T> {
  readonly items: readonly T[];
  /** True where one answer held the whole list, as its total says. */
  readonly isOneAnswer: boolean;
}

/** Reads a zone's list of records; undefined where that takes more than `mostCalls`. The first page tells where the API says how many pages there are. */
export async function readShortList<T extends { readonly id: string }>(
  readPage: (page: number) => Promise<ListPage<T>>,
  mostCalls: number,
): Promise<ShortList<T> | undefined> {
  let calls = 0;
  let isTooLong = false;
  const readUpTo = async (page: number): Promise<ListPage<T>> => {
    const answer = await readPage(page);
    calls += 1;
    isTooLong = (answer.pages ?? 0) > mostCalls || (answer.hasMore && calls >= mostCalls);
    return isTooLong ? { ...answer, hasMore: false } : answer;
  };
  const words = { keyOf: ({ id }: T) => id, noun: "records", totalField: "the total" };
  const { items, problem } = await readList(readUpTo, words);
  return isTooLong ? undefined : { items, isOneAnswer: calls === 1 && problem === undefined };
}
