import { describe, expect, test } from "vitest";
import { type ARecord, readZoneListing, type ZoneItem } from "../../../src/adapters/dns/record-sets.ts";
import type { ListPage } from "../../../src/ports/listing.ts";
import type { ZoneListing } from "../../../src/ports/providers.ts";

type Page = ListPage<ZoneItem<ARecord>>;

/** Reads pages of records `id name`, with the totals they have. */
async function listing(
  mostCalls: number,
  ...pages: readonly Omit<Page, "hasMore">[]
): Promise<ZoneListing | undefined> {
  return readZoneListing({
    readPage: async (page) => ({ items: [], ...pages[page - 1], hasMore: page < pages.length }),
    mostCalls,
  });
}

const items = (...texts: readonly string[]): readonly ZoneItem<ARecord>[] =>
  texts.map((text) => {
    const [id = "", fqdn = ""] = text.split(" ");
    return { id, fqdn, record: { address: id, ttlSeconds: 60 } };
  });

describe("the list of a zone", () => {
  test("on one page is one answer, with the names of its records", async () => {
    const read = await listing(1, { items: items("1 a", "2 b", "3 a"), total: 3 });
    expect(read?.isOneAnswer).toBe(true);
    expect([...(read?.names ?? [])].map(([name, { addresses }]) => `${name}: ${addresses}`)).toEqual([
      "a: 1,3",
      "b: 2",
    ]);
  });

  test("is not one answer where the only page shows fewer records than its total says", async () => {
    expect((await listing(1, { items: items("1 a"), total: 2 }))?.isOneAnswer).toBe(false);
  });

  test("is not one answer on two pages", async () => {
    expect((await listing(2, { items: items("1 a"), total: 2 }, { items: items("2 b"), total: 2 }))?.isOneAnswer).toBe(
      false,
    );
  });

  test("ends at a page whose total differs", async () => {
    const read = await listing(
      3,
      { items: items("1 a"), total: 3 },
      { items: items("2 b"), total: 2 },
      { items: items("3 c"), total: 2 },
    );
    expect([...(read?.names.keys() ?? [])]).toEqual(["a", "b"]);
    expect(read?.isOneAnswer).toBe(false);
  });

  test.for([
    ["by its count of pages", { pages: 2 }],
    ["by what follows", {}],
  ] as const)("is given up where it takes more calls than allowed, %s", async ([, counts]) => {
    const pages = [
      { items: items("1 a"), ...counts },
      { items: items("2 b"), ...counts },
    ];
    expect(await listing(1, ...pages)).toBeUndefined();
    expect((await listing(2, ...pages))?.names.size).toBe(2);
  });

  test("tells names with a record that cannot be understood from items that belong to no name", async () => {
    const read = await listing(1, { items: [...items("1 a"), { id: "2", fqdn: "b" }, { id: "3" }], total: 3 });
    expect(read).toMatchObject({ isOneAnswer: true, unclear: new Set(["b"]) });
    expect(read?.names.size).toBe(2);
  });
});
