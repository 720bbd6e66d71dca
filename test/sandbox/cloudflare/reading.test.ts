import { describe, expect, test } from "vitest";
import type { RecordState } from "../../../src/sandbox/cloudflare/account-state.ts";
import { type APIClient, apiClient, codes, recordsPath, zoneID } from "./api-client.ts";

const many = Array.from({ length: 230 }, (_, at) => ({ content: `198.18.0.${at}` }));

function contents(client: APIClient, query: string): readonly string[] {
  const result = client.send("GET", recordsPath(query)).body.result as readonly { content: string }[];
  return result.map(({ content }) => content);
}

describe("the list of records", () => {
  test.for([
    ["", 100, "198.18.0.0", { page: 1, per_page: 100, count: 100, total_count: 230, total_pages: 3 }],
    ["?page=3", 30, "198.18.0.200", { page: 3, per_page: 100, count: 30, total_count: 230, total_pages: 3 }],
    [
      "?per_page=5000000",
      230,
      "198.18.0.0",
      { page: 1, per_page: 5_000_000, count: 230, total_count: 230, total_pages: 1 },
    ],
    ["?page=9&per_page=50", 0, undefined, { page: 9, per_page: 50, count: 0, total_count: 230, total_pages: 5 }],
    ["?page=x&per_page=0", 1, "198.18.0.0", { page: 1, per_page: 1, count: 1, total_count: 230, total_pages: 230 }],
  ] as const)("with %j has %i of 230 from %s", ([query, length, first, info]) => {
    const client = apiClient(many);
    const found = contents(client, query);
    expect([found.length, found[0]]).toEqual([length, first]);
    expect(client.send("GET", recordsPath(query)).body.result_info).toEqual(info);
  });

  test.for<readonly [string, string]>([
    ["?name.exact=www.example.com&type=A", "1 2"],
    ["?name.exact=WWW.example.com&type=A", "1 2"],
    ["?name=www.example.com&type=A", "1 2"],
    ["?name.exact=www", ""],
    ["?type=TXT", "4"],
    ["?include_shadow_metadata=true&search=zzz", "1 2 3 4 5"],
  ])("is filtered by %s", ([query, expected]) => {
    const records: readonly Partial<RecordState>[] = [
      { content: "203.0.113.1", comment: "by hand", tags: ["team:web"] },
      { content: "203.0.113.2", comment: "Flipop default/p" },
      { type: "AAAA", content: "2001:db8::1" },
      { type: "TXT", content: "203.0.113.9" },
      { name: "a.www", content: "203.0.113.2", proxied: true },
    ];
    const client = apiClient(records.map((record, at) => ({ ...record, id: String(at + 1).repeat(32) })));
    const result = client.send("GET", recordsPath(query)).body.result as readonly { id: string }[];
    expect(result.map((record) => record.id[0]).join(" ")).toBe(expected);
  });
});

describe("zones", () => {
  const more = {
    zones: [
      { id: zoneID, name: "example.com" },
      { name: "example.org", status: "pending" },
    ],
  };

  test.for([
    ["?name=example.com", ["example.com"]],
    ["?name=EXAMPLE.com", ["example.com"]],
    ["?name=example", []],
    ["?name=www.example.com", []],
    ["", ["example.com", "example.org"]],
    ["?per_page=1&page=2", ["example.org"]],
  ] as const)("are listed by %j", ([query, expected]) => {
    const { body } = apiClient([], more).send("GET", `/zones${query}`);
    expect((body.result as readonly { name: string }[]).map(({ name }) => name)).toEqual(expected);
  });

  test("of one page are 20, and 50 at most", () => {
    const zones = Array.from({ length: 60 }, (_, at) => ({ name: `z${at}.example` }));
    const client = apiClient([], { zones });
    const sizes = ["", "?per_page=50", "?per_page=200"].map(
      (query) => client.send("GET", `/zones${query}`).body.result_info?.["count"],
    );
    expect(sizes).toEqual([20, 50, 50]);
  });

  test("are read by id", () => {
    const { body } = apiClient([], more).send("GET", `/zones/${zoneID}`);
    expect(body.result).toMatchObject({ id: zoneID, name: "example.com", status: "active" });
  });

  test.for([
    ["GET", "/zones/00000000000000000000000000000000"],
    ["GET", "/zones/example.com"],
    ["GET", "/zones/00000000000000000000000000000000/dns_records"],
    ["POST", "/zones/00000000000000000000000000000000/dns_records/batch"],
    ["GET", "/zones//dns_records"],
    ["DELETE", `/zones/${zoneID}`],
    ["POST", `/zones/${zoneID}/dns_records`],
    ["GET", "/nonsense"],
  ] as const)("%s %s is 404 with 7003", ([method, path]) => {
    const answer = apiClient().send(method, path, method === "POST" ? {} : undefined);
    expect([answer.status, codes(answer), answer.body.success]).toEqual([404, "7003 7000", false]);
  });
});
