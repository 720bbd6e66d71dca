import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { readAllPages, readList } from "../../src/ports/listing.ts";
import type { AddressPage, IPProviderReader } from "../../src/ports/providers.ts";

/** One page in short: the items, and how many the list has by what the page says. */
type Page = readonly [items: string, total: number | undefined];

/** Reads a list of one-letter items, two to a page; `pages` are the answers in the order of the calls. */
async function read(...pages: readonly Page[]): Promise<{ readonly list: string; readonly calls: readonly number[] }> {
  const calls: number[] = [];
  const { items, problem, total } = await readList(
    async (page) => {
      const [text, count] = pages[calls.length] ?? ["", 0];
      calls.push(page);
      const hasMore = count === undefined ? text.length >= 2 : page * 2 < count;
      return { items: [...text], hasMore, ...(count === undefined ? {} : { total: count }) };
    },
    { keyOf: (item) => item, noun: "letters", totalField: "total_count" },
  );
  const told = problem === undefined ? "whole" : problem;
  return { list: `${items.join("")} of ${total}: ${told}`, calls };
}

describe("a list over several pages", () => {
  test.each<readonly [string, readonly Page[], string, number]>([
    ["of one page", [["ab", 2]], "ab of 2: whole", 1],
    ["of none", [["", 0]], " of 0: whole", 1],
    [
      "of full pages",
      [
        ["ab", 4],
        ["cd", 4],
      ],
      "abcd of 4: whole",
      2,
    ],
    [
      "with a short last page",
      [
        ["ab", 3],
        ["c", 3],
      ],
      "abc of 3: whole",
      2,
    ],
    [
      "that says no total",
      [
        ["ab", undefined],
        ["c", undefined],
      ],
      "abc of undefined: whole",
      2,
    ],
  ])("%s is whole", async (_, pages, expected, calls) => {
    const { list, calls: made } = await read(...pages);
    expect(list).toBe(expected);
    expect(made).toHaveLength(calls);
  });

  test.each<readonly [string, readonly Page[], string]>([
    [
      "whose total sinks to what was seen",
      [
        ["ab", 5],
        ["cd", 4],
      ],
      "total_count changed from 5 to 4 between pages",
    ],
    [
      "whose total grows to what is seen",
      [
        ["ab", 3],
        ["cd", 4],
      ],
      "total_count changed from 3 to 4 between pages",
    ],
    [
      "whose total changes and changes back",
      [
        ["ab", 6],
        ["cd", 5],
        ["ef", 6],
      ],
      "total_count changed from 6 to 5 between pages",
    ],
    [
      "whose total appears later",
      [
        ["ab", undefined],
        ["c", 3],
      ],
      "total_count changed from nothing to 3 between pages",
    ],
    [
      "that shows an item twice, and as many as it says",
      [
        ["ab", 3],
        ["bc", 3],
      ],
      "b is shown twice",
    ],
    [
      "that shows an item twice, and one not at all",
      [
        ["ab", 4],
        ["bd", 4],
      ],
      "the pages hold 3 letters although total_count is 4",
    ],
    ["that shows an item twice on one page", [["aa", 1]], "a is shown twice"],
    [
      "that shows fewer than it says",
      [
        ["ab", 4],
        ["c", 4],
      ],
      "the pages hold 3 letters although total_count is 4",
    ],
    [
      "that shows fewer than it says on its only page",
      [["a", 2]],
      "the pages hold 1 letters although total_count is 2",
    ],
    ["that shows more than it says", [["ab", 1]], "the pages hold 2 letters although total_count is 1"],
    ["that says it has nothing", [["a", 0]], "the pages hold 1 letters although total_count is 0"],
    [
      "with an empty page too early",
      [
        ["ab", 6],
        ["", 6],
      ],
      "the pages hold 2 letters although total_count is 6",
    ],
    [
      "that repeats itself for ever",
      [
        ["ab", 9],
        ["ab", 9],
        ["ab", 9],
      ],
      "the pages hold 2 letters although total_count is 9",
    ],
    [
      "that repeats itself without a total",
      [
        ["ab", undefined],
        ["ab", undefined],
      ],
      "page 2 shows nothing new although more pages follow",
    ],
  ])("%s is never whole", async (_, pages, problem) => {
    const { list } = await read(...pages);
    expect(list.slice(list.indexOf(": ") + 2)).toBe(problem);
  });

  test("that grows for ever is not read for ever", async () => {
    let calls = 0;
    const { problem } = await readList(
      async (page) => {
        calls += 1;
        return { items: [`${page}`], hasMore: true, total: page * 1000 };
      },
      { keyOf: (item) => item, noun: "letters", totalField: "total_count" },
    );
    expect([problem, calls]).toEqual(["total_count changed from 1000 to 2000 between pages", 2]);
  });
});

/** An account whose pages of two addresses are what `pages` says, call by call. Without a total a full page has one after it. */
function account(
  ...pages: readonly (readonly [text: string, total: number | undefined])[]
): IPProviderReader & { readonly asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    name: "digitalocean",
    pageSize: 2,
    listPage: async (page): Promise<AddressPage> => {
      const [text, total] = pages[asked.length] ?? ["", 0];
      asked.push(page);
      const hasMore = total === undefined ? text.length === 2 : page * 2 < total;
      return { addresses: [...text].map(addressOf), hasMore, ...(total === undefined ? {} : { total }) };
    },
    getAddress: async () => undefined,
    machineAddresses: async () => [],
    addressLimit: async () => undefined,
  };
}

function addressOf(letter: string): Address {
  return { ip: `203.0.113.${letter.charCodeAt(0)}`, region: "nyc3", isLocked: false };
}

describe("the account's list before an address is bought", () => {
  const steady = [
    ["ab", 5],
    ["cd", 5],
    ["e", 5],
  ] as const;

  test("is whole when its earlier pages, read again, show the same, in whatever order", async () => {
    const provider = account(...steady, ["ba", 5], ["cd", 5]);
    expect(await readAllPages(provider, { isVerified: true })).toMatchObject({ isComplete: true, total: 5 });
    expect(provider.asked).toEqual([1, 2, 3, 1, 2]);
  });

  test.each([
    [
      "one was deleted and another one made meanwhile, so that one was never shown",
      [
        ["ac", 5],
        ["de", 5],
      ],
    ],
    [
      "the second page is another one",
      [
        ["ab", 5],
        ["ce", 5],
      ],
    ],
    [
      "the total is another one",
      [
        ["ab", 6],
        ["cd", 6],
      ],
    ],
  ] as const)("is not whole when %s", async (_, again) => {
    const provider = account(...steady, ...again);
    expect(await readAllPages(provider, { isVerified: true })).toMatchObject({ isComplete: false });
  });

  test("costs one call where it has one page, and no more than its pages where nothing is bought", async () => {
    const one = account(["ab", 2]);
    expect(await readAllPages(one, { isVerified: true })).toMatchObject({ isComplete: true });
    expect(one.asked).toEqual([1]);
    const many = account(...steady);
    expect(await readAllPages(many)).toMatchObject({ isComplete: true });
    expect(many.asked).toEqual([1, 2, 3]);
  });

  test("is never whole without totals before its earlier pages have shown the same again", async () => {
    const untold = [
      ["ab", undefined],
      ["cd", undefined],
      ["e", undefined],
    ] as const;
    const same = account(...untold, ["ab", undefined], ["cd", undefined]);
    expect(await readAllPages(same)).toMatchObject({ isComplete: true, total: 5 });
    expect(same.asked).toEqual([1, 2, 3, 1, 2]);
    // Between the two pages b was deleted: d is on the first page now.
    const shifted = account(["ab", undefined], ["c", undefined], ["ad", undefined]);
    const { total, isComplete } = await readAllPages(shifted);
    expect([total, isComplete]).toEqual([undefined, false]);
  });

  test("keeps every address it was shown although it is not whole", async () => {
    const { addresses, isComplete } = await readAllPages(account(["ab", 5], ["bc", 4]));
    expect([addresses.length, isComplete]).toEqual([3, false]);
  });
});
