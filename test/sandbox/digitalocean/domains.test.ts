import { describe, expect, test } from "vitest";
import { type APIAnswer, type APIClient, apiClient } from "./api-client.ts";

const records = "/v2/domains/example.com/records";
const www = { type: "A", name: "www", data: "203.0.113.1", ttl: 60 };

function client(...list: readonly object[]): APIClient {
  return apiClient({ domains: [{ name: "example.com", records: list }, { name: "example.org" }] });
}

/** `name type data ttl` of the records that a list shows. */
function listed(api: APIClient, query = ""): readonly string[] {
  const items = api.get(`${records}${query}`).body["domain_records"] as unknown as (typeof www)[];
  return items.map(({ name, type, data, ttl }) => `${name} ${type} ${data} ${ttl}`);
}

function made({ body }: APIAnswer): { readonly id: number } {
  return body["domain_record"] as unknown as { id: number };
}

describe("domains", () => {
  test("are read by name, in any case", () => {
    const { body } = client(www).get("/v2/domains/Example.com");
    expect(body["domain"]).toMatchObject({ name: "example.com", ttl: 1800 });
  });

  test.for([
    ["GET", "/v2/domains/example.net"],
    ["GET", "/v2/domains/example.net/records"],
    ["GET", `${records}/999`],
    ["PATCH", `${records}/999`],
    ["DELETE", `${records}/999`],
    ["POST", "/v2/domains/example.net/records"],
  ] as const)("that are not there are 404: %s %s", ([method, path]) => {
    const answer = client().send(method, path, method === "GET" || method === "DELETE" ? undefined : www);
    expect(answer).toMatchObject({ status: 404, body: { id: "not_found" } });
  });
});

describe("a list of records", () => {
  const all = [
    www,
    { ...www, data: "203.0.113.2" },
    { type: "AAAA", name: "www", data: "2001:db8::1", ttl: 60 },
    { type: "A", name: "@", data: "203.0.113.3" },
    { type: "A", name: "www.example.com", data: "203.0.113.4" },
  ];

  test.for([
    ["", 5],
    ["?type=A", 4],
    ["?name=www.example.com", 3],
    ["?name=WWW.example.com&type=A", 2],
    ["?name=example.com", 1],
    ["?name=www.example.com.example.com", 1],
    ["?name=www", 0],
    ["?name=www.example.com.", 0],
    ["?type=MX", 0],
  ] as const)("with %j has %i of 5, because the filter wants the whole name", ([query, count]) => {
    const { body } = client(...all).get(`${records}${query}`);
    expect(body["domain_records"]).toHaveLength(count);
    expect(body["meta"]).toEqual({ total: count });
  });

  test("is paged, the filtered ones as well", () => {
    const many = Array.from({ length: 45 }, (_, at) => ({ ...www, data: `203.0.113.${at}` }));
    const api = client(...many, { type: "TXT", name: "www", data: "x" });
    expect(listed(api, "?type=A")).toHaveLength(20);
    expect(listed(api, "?name=www.example.com&type=A&page=3")).toHaveLength(5);
    expect(listed(api, "?per_page=200")).toHaveLength(46);
  });
});

describe("a new record", () => {
  test("has an id of its own, every field, and is found", () => {
    const api = client(www);
    const answer = api.send("POST", records, { ...www, data: "203.0.113.2" });
    const none = { priority: null, port: null, weight: null, flags: null, tag: null };
    expect(answer.status).toBe(201);
    expect(answer.body["domain_record"]).toEqual({ ...www, ...none, id: expect.any(Number), data: "203.0.113.2" });
    const { id } = made(answer);
    expect(listed(api)).toContain("www A 203.0.113.2 60");
    expect(made(api.send("POST", records, www)).id).not.toBe(id);
  });

  test("may be there already, and is then there twice", () => {
    const api = client(www);
    api.send("POST", records, www);
    expect(listed(api)).toEqual(["www A 203.0.113.1 60", "www A 203.0.113.1 60"]);
  });

  test("named by its whole name ends up under it once more", () => {
    const api = client();
    api.send("POST", records, { ...www, name: "www.example.com" });
    expect(listed(api, "?name=www.example.com")).toEqual([]);
    expect(listed(api, "?name=www.example.com.example.com")).toEqual(["www.example.com A 203.0.113.1 60"]);
  });

  test("takes null for what its type has no use for, and 1800 s for no TTL", () => {
    const api = client();
    api.send("POST", records, { type: "A", name: "@", data: "203.0.113.1", priority: null, port: null });
    expect(listed(api)).toEqual(["@ A 203.0.113.1 1800"]);
  });

  test("rewrites the TTL of every record of its name without a word", () => {
    const api = client(www, { ...www, type: "TXT", data: "x" }, { ...www, name: "other" });
    api.send("POST", records, { ...www, data: "203.0.113.2", ttl: 300 });
    expect(listed(api).map((line) => line.split(" ").at(-1))).toEqual(["300", "300", "60", "300"]);
  });

  test.for([
    [{ ttl: 29 }, "record ttl must be greater than 30"],
    [{ ttl: 0 }, "record ttl must be greater than 30"],
    [{ ttl: "60" }, "record ttl must be greater than 30"],
    [{ type: "PTR" }, "Type is not included in the list"],
    [{ type: undefined }, "Type is not included in the list"],
    [{ name: undefined }, "Name can't be blank"],
    [{ name: "www." }, "Name must not end with a dot (.)"],
    [{ name: "w w w" }, "Only valid hostname characters are allowed. (a-z, A-Z, 0-9, - and _)"],
    [{ data: "" }, "Data can't be blank"],
    [{ data: "2001:db8::1" }, "IP address did not match IPv4 format (e.g. 127.0.0.1)."],
    [{ type: "CNAME", name: "new", data: "example.org" }, "Data needs to end with a dot (.)"],
    [{ type: "CNAME", data: "example.org." }, "CNAME records cannot share a name with other records"],
    [{ type: "CNAME", name: "@", data: "example.org." }, "CNAME records cannot share a name with other records"],
    [{ name: "alias" }, "CNAME records cannot share a name with other records"],
  ] as const)("with %j is 422 and changes nothing: %s", ([change, message]) => {
    const api = client(www, { type: "CNAME", name: "alias", data: "example.org." });
    const before = listed(api);
    const answer = api.send("POST", records, { ...www, ...change }, true);
    expect(answer).toMatchObject({ status: 422, body: { id: "unprocessable_entity", message } });
    expect(listed(api)).toEqual(before);
  });

  test("may have a TTL of 30", () => {
    expect(client().send("POST", records, { ...www, ttl: 30 }).status).toBe(201);
  });
});

describe("a change of a record", () => {
  test("changes what is named, and the TTL of its whole name", () => {
    const api = client({ ...www, id: 7 }, { ...www, id: 8, data: "203.0.113.2" }, { ...www, id: 9, name: "other" });
    const answer = api.send("PATCH", `${records}/7`, { type: "A", ttl: 300 });
    expect(answer).toMatchObject({ status: 200, body: { domain_record: { ...www, id: 7, ttl: 300 } } });
    expect(listed(api)).toEqual(["www A 203.0.113.1 300", "www A 203.0.113.2 300", "other A 203.0.113.1 60"]);
  });

  test("that cannot be is 422 and changes nothing", () => {
    const api = client({ ...www, id: 7 });
    expect(api.send("PATCH", `${records}/7`, { type: "A", ttl: 5 }).status).toBe(422);
    expect(api.send("PATCH", `${records}/7`, { type: "A", data: "x" }).status).toBe(422);
    expect(listed(api)).toEqual(["www A 203.0.113.1 60"]);
  });
});

describe("a removal of a record", () => {
  test("takes it and no other, and is 404 the second time", () => {
    const api = client({ ...www, id: 7 }, { ...www, id: 8 });
    expect(api.send("DELETE", `${records}/7`).status).toBe(204);
    expect(api.send("DELETE", `${records}/7`).status).toBe(404);
    expect(listed(api)).toHaveLength(1);
  });
});

describe("scopes of domains", () => {
  test.for([
    ["domain:read", [200, 403, 403, 403]],
    ["domain:create", [403, 201, 403, 403]],
    ["domain:update", [403, 201, 200, 204]],
    ["domain:delete", [403, 403, 403, 204]],
    ["reserved_ip:read", [403, 403, 403, 403]],
  ] as const)("%s alone allows %j for list, create, change, removal", ([scope, statuses]) => {
    const state = { domains: [{ name: "example.com", records: [{ ...www, id: 7 }] }] };
    const api = apiClient({ ...state, tokens: { "secret-token": [scope] } });
    expect([
      api.get(records).status,
      api.send("POST", records, www).status,
      api.send("PATCH", `${records}/7`, { type: "A", ttl: 90 }).status,
      api.send("DELETE", `${records}/7`).status,
    ]).toEqual(statuses);
  });

  test("a domain counts against the same rate limit as an address", () => {
    const api = apiClient({ settings: { rate_limit: { per_minute: 2 } } });
    api.get("/v2/domains/example.com");
    api.get("/v2/reserved_ips");
    expect(api.get("/v2/domains/example.com")).toMatchObject({ status: 429, body: { id: "too_many_requests" } });
  });
});

describe("a record that a person wrote", () => {
  test("needs no id and no TTL, and gets the next free id", () => {
    const api = client({ ...www, id: 28_448_429 }, { type: "A", name: "b", data: "203.0.113.2" });
    const [, second] = api.sandbox.cloud().state.domains[0]?.records ?? [];
    expect(second).toEqual({ id: 28_448_430, type: "A", name: "b", data: "203.0.113.2", ttl: 1800 });
    expect(made(api.send("POST", records, www)).id).toBe(28_448_431);
  });

  test.for([
    [{ domains: [{}] }, "domains[0] must have required property 'name'"],
    [{ domains: [{ name: "a.com" }, { name: "A.com" }] }, "domains must not have name a.com twice"],
    [{ domains: [{ name: "a.com." }] }, "domains[0].name must match pattern"],
    [{ domains: [{ name: "a.com", records: [{ type: "A", name: "@" }] }] }, "must have required property 'data'"],
    [
      { domains: [{ name: "a.com", records: [{ ...www, data: "x" }] }] },
      "domains[0].records[0].data must be an IPv4 address, not x",
    ],
    [{ domains: [{ name: "a.com", records: [{ ...www, ttl: 5 }] }] }, "domains[0].records[0].ttl must be >= 30"],
    [{ domains: [{ name: "a.com", records: [{ ...www, type: "PTR" }] }] }, "domains[0].records[0].type must be equal"],
    [
      {
        domains: [
          { name: "a.com", records: [{ ...www, id: 1 }] },
          { name: "b.com", records: [{ ...www, id: 1 }] },
        ],
      },
      "domains must not have record id 1 twice",
    ],
  ] as const)("is told by path when it is wrong: %j", ([state, message]) => {
    expect(() => apiClient(state)).toThrow(message);
  });
});
