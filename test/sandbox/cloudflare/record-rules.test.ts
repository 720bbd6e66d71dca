import { describe, expect, test } from "vitest";
import type { RecordState } from "../../../src/sandbox/cloudflare/account-state.ts";
import { type APIClient, apiClient, codes, recordsPath } from "./api-client.ts";

const a = { type: "A", name: "www.example.com", content: "203.0.113.1", ttl: 60 };

describe("creating a record", () => {
  test("answers the whole record with its defaults", () => {
    const client = apiClient();
    const answer = client.create({ type: "A", name: "www", content: "203.0.113.1" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      errors: [],
      messages: [],
      result: expect.objectContaining({
        posts: [
          {
            id: expect.stringMatching(/^[0-9a-f]{32}$/),
            name: "www.example.com",
            type: "A",
            content: "203.0.113.1",
            proxiable: true,
            proxied: false,
            ttl: 1,
            comment: null,
            tags: [],
            created_on: "2026-01-02T03:04:05.000000Z",
            modified_on: "2026-01-02T03:04:05.000000Z",
          },
        ],
      }),
    });
  });

  test.for<readonly [string, object, object]>([
    ["a TTL of 60", { ttl: 60 }, { ttl: 60 }],
    ["a TTL of 86400", { ttl: 86_400 }, { ttl: 86_400 }],
    ["an automatic TTL", { ttl: 1 }, { ttl: 1 }],
    [
      "the automatic TTL of a proxied record, whatever is asked for",
      { ttl: 300, proxied: true },
      { ttl: 1, proxied: true },
    ],
    ["a relative name", { name: "a.b" }, { name: "a.b.example.com" }],
    ["the zone's name for @", { name: "@" }, { name: "example.com" }],
    ["a name in capitals with a last dot", { name: "WWW.Example.com." }, { name: "www.example.com" }],
    ["a name outside the zone below the zone", { name: "www.example.org" }, { name: "www.example.org.example.com" }],
    ["a wildcard", { name: "*.example.com" }, { name: "*.example.com" }],
    ["a comment of 100 characters", { comment: "x".repeat(100) }, { comment: "x".repeat(100) }],
    ["an IPv6 address", { type: "AAAA", content: "2001:db8::1" }, { content: "2001:db8::1" }],
    ["what is read-only ignored", { id: "x", modified_on: "y", meta: 1, surprise: true }, {}],
  ])("takes %s", ([, more, expected]) => {
    const answer = apiClient().create({ ...a, ...more });
    expect(codes(answer)).toBe("");
    expect(answer.body.result).toMatchObject({ posts: [expected] });
  });

  test.for<readonly [string, object | string, string]>([
    ["a TTL of 59", { ttl: 59 }, "1004>9021"],
    ["a TTL of 0", { ttl: 0 }, "1004>9021"],
    ["a TTL of 86401", { ttl: 86_401 }, "1004>9021"],
    ["a TTL that is text", { ttl: "60" }, "1004>9021"],
    ["a low TTL that says it is not proxied", { ttl: 30, proxied: false }, "1004>9021"],
    ["an A record with an IPv6 address", { content: "2001:db8::1" }, "1004>9005"],
    ["an A record without content", { content: undefined }, "1004>9005"],
    ["an AAAA record with an IPv4 address", { type: "AAAA" }, "1004>9006"],
    ["a proxied TXT record", { type: "TXT", content: "x", proxied: true }, "1004>9041"],
    ["an unknown type", { type: "B" }, "1004>9002"],
    ["no type", { type: undefined }, "1004>9002"],
    ["no name", { name: undefined }, "1004>9000"],
    ["a bad name", { name: "a b.example.com" }, "1004>9000"],
    ["a comment of 101 characters", { comment: "x".repeat(101) }, "1004>9301"],
    ["a comment of two lines", { comment: "a\nb" }, "1004>9301"],
    ["a tag, which the Free plan has not", { tags: ["team:web"] }, "1004>9302"],
    ["a list in the record's place", [], "6007"],
  ])("refuses %s, and changes nothing", ([, more, expected]) => {
    const client = apiClient();
    const answer = client.create(Array.isArray(more) ? more : { ...a, ...(more as object) });
    expect([answer.status, codes(answer), answer.body.success, answer.body.result]).toEqual([
      400,
      expected,
      false,
      null,
    ]);
    expect(client.stored()).toEqual([]);
  });

  test.for<readonly [string, Partial<RecordState>, object, string]>([
    ["the identical record", { content: "203.0.113.1", ttl: 60 }, a, "81058"],
    ["the same record with another TTL", { content: "203.0.113.1", ttl: 300 }, a, "81057"],
    ["the same record proxied", { content: "203.0.113.1", ttl: 60 }, { ...a, proxied: true }, "81057"],
    ["the same address for another name", { content: "203.0.113.1" }, { ...a, name: "api" }, ""],
    ["another address", { content: "203.0.113.2" }, a, ""],
    ["an address beside a CNAME", { type: "CNAME", content: "example.org" }, a, "81053"],
    ["a CNAME beside an address", { content: "203.0.113.1" }, { ...a, type: "CNAME", content: "example.org" }, "81053"],
    ["a TXT record beside a CNAME", { type: "CNAME", content: "example.org" }, { ...a, type: "TXT", content: "x" }, ""],
  ])("beside what is there: %s", ([, there, asked, expected]) => {
    const client = apiClient([there]);
    const answer = client.create(asked);
    expect([answer.status, codes(answer)]).toEqual([expected === "" ? 200 : 400, expected]);
    expect(client.stored()).toHaveLength(expected === "" ? 2 : 1);
  });

  test("is refused with 81045 when the zone is full", () => {
    const client = apiClient([{ content: "203.0.113.1" }], { settings: { records_per_zone: 2 } });
    expect(client.create({ ...a, content: "203.0.113.2" }).status).toBe(200);
    expect(codes(client.create({ ...a, content: "203.0.113.3" }))).toBe("81045");
    expect(client.stored()).toHaveLength(2);
  });
});

describe("changing a record", () => {
  const held = { id: `${"0".repeat(31)}a`, content: "203.0.113.1", ttl: 300, comment: "by hand", tags: ["team:web"] };
  const paid = { settings: { tags_per_record: 20 } };
  const patched = (client: APIClient, change: object): unknown => {
    const answer = client.send("POST", recordsPath("/batch"), { patches: [{ id: held.id, ...change }] });
    return codes(answer) || (answer.body.result as { readonly patches: readonly unknown[] }).patches[0];
  };

  test("keeps what it does not mention", () => {
    const record = patched(apiClient([held], paid), { content: "203.0.113.2" });
    expect(record).toMatchObject({ ...held, name: "www.example.com", content: "203.0.113.2" });
    expect(record).toMatchObject({ modified_on: "2026-01-02T03:04:05.000000Z" });
  });

  test("with null takes the comment away", () => {
    expect(patched(apiClient([held], paid), { comment: null })).toMatchObject({ comment: null, ttl: 300 });
  });

  test("to proxied makes its TTL automatic", () => {
    expect(patched(apiClient([held], paid), { proxied: true })).toMatchObject({ proxied: true, ttl: 1 });
  });

  test("to what it is already is no duplicate of itself", () => {
    expect(patched(apiClient([held], paid), { content: "203.0.113.1" })).toMatchObject({ id: held.id });
  });

  test("to what another record is, is refused", () => {
    const client = apiClient([held, { content: "203.0.113.2", ttl: 300 }], paid);
    expect(patched(client, { content: "203.0.113.2" })).toBe("81058");
    expect(patched(client, { content: "203.0.113.2", ttl: 60 })).toBe("81057");
    expect(patched(client, { ttl: 59 })).toBe("1004>9021");
    expect(client.stored()[0]).toBe("www.example.com A 203.0.113.1");
  });
});
