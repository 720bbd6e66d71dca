import { describe, expect, test } from "vitest";
import { apiClient, codes, recordsPath, zoneID } from "./api-client.ts";

const otherID = "f".repeat(32);
const zones = {
  zones: [
    { id: zoneID, name: "example.com", dns_records: [{ id: "a".repeat(32), name: "www", content: "203.0.113.1" }] },
    { id: otherID, name: "example.org" },
  ],
};

describe("tokens", () => {
  test.for<readonly [string, string | undefined, number, string]>([
    ["no header", undefined, 400, "9106"],
    ["no bearer", "Basic abc", 400, "6003"],
    ["an empty bearer", "Bearer ", 400, "6003"],
    ["a bearer of two words", "Bearer a b", 400, "6003"],
    ["an unknown token", "Bearer unknown", 403, "9109"],
    ["a token named like a field of every object", "Bearer constructor", 403, "9109"],
    ["a known token", "Bearer known", 200, ""],
  ])("%s", ([, authorization, status, expected]) => {
    const client = apiClient([], { ...zones, tokens: { known: { "*": ["zone:read"] } } });
    client.authorization = authorization;
    const answer = client.send("GET", "/zones");
    expect([answer.status, codes(answer)]).toEqual([status, expected]);
  });

  test("any token is accepted while none is configured", () => {
    expect(apiClient([], zones).send("GET", "/zones").status).toBe(200);
  });

  test.for<readonly [string, string, string | undefined, object | undefined, string]>([
    ["zone:read", "GET", "", undefined, "9109"],
    ["dns:read", "GET", "/dns_records", undefined, "10000"],
    ["dns:edit", "POST", "/dns_records/batch", {}, "10000"],
  ])("without %s, %s of the zone's %j is 403 and changes nothing; with it alone it is not", (row) => {
    const [permission, method, below, body, code] = row;
    const every = ["zone:read", "dns:read", "dns:edit"];
    // dns:edit includes dns:read.
    const less = every.filter((item) => item !== permission && !(permission === "dns:read" && item === "dns:edit"));
    const tokens = { less: { "example.com": less }, only: { [zoneID]: [permission] }, other: { [otherID]: every } };
    const client = apiClient([], { ...zones, tokens });
    const before = client.stored();
    for (const token of ["less", "other"]) {
      client.authorization = `Bearer ${token}`;
      const answer = client.send(method, `/zones/${zoneID}${below}`, body);
      expect([answer.status, codes(answer)]).toEqual([403, code]);
    }
    expect(client.stored()).toEqual(before);
    client.authorization = "Bearer only";
    expect(client.send(method, `/zones/${zoneID}${below}`, body).status).toBe(200);
  });

  test("see only the zones they may read in the list, without an error", () => {
    const tokens = { one: { "example.org": ["zone:read"] }, none: { "*": ["dns:edit"] } };
    const client = apiClient([], { ...zones, tokens });
    const names = (authorization: string): unknown => {
      client.authorization = authorization;
      const { status, body } = client.send("GET", "/zones");
      return [status, (body.result as readonly { name: string }[]).map(({ name }) => name)];
    };
    expect(names("Bearer one")).toEqual([200, ["example.org"]]);
    expect(names("Bearer none")).toEqual([200, []]);
    expect(client.send("GET", recordsPath()).status).toBe(200);
  });
});

describe("the rate limit", () => {
  const limits = { ...zones, settings: { requests_per_5_minutes: 3 } };

  test("is counted down in the headers, with the time until the oldest request is forgotten", () => {
    const client = apiClient([], zones);
    expect(client.send("GET", "/zones").headers).toMatchObject({
      ratelimit: '"default";r=1199;t=300',
      "ratelimit-policy": '"default";q=1200;w=300',
    });
    client.nowMs += 10_000;
    expect(client.send("GET", "/zones").headers["ratelimit"]).toBe('"default";r=1198;t=290');
  });

  test("blocks every token for five minutes after one request too many", () => {
    const client = apiClient([], limits);
    for (const token of ["a", "b", "c"]) {
      client.authorization = `Bearer ${token}`;
      expect(client.send("GET", "/zones").status).toBe(200);
      client.nowMs += 10_000;
    }
    const refused = client.create({ type: "A", name: "x", content: "203.0.113.9" });
    expect([refused.status, codes(refused)]).toEqual([429, "971"]);
    expect(refused.headers).toMatchObject({ "retry-after": "300", ratelimit: '"default";r=0;t=300' });
    expect(client.stored()).toHaveLength(1);
    client.nowMs += 299_000;
    expect(client.send("GET", "/zones").headers["retry-after"]).toBe("1");
    client.nowMs += 1000;
    expect(client.send("GET", "/zones").status).toBe(200);
  });

  test("says that nothing is left with the last request that it lets through", () => {
    const client = apiClient([], { ...zones, settings: { requests_per_5_minutes: 1 } });
    const last = client.send("GET", "/zones");
    expect([last.status, last.headers["ratelimit"]]).toEqual([200, '"default";r=0;t=300']);
    expect(last.headers).not.toHaveProperty("retry-after");
  });

  test("every answer carries a ray of its own", () => {
    const client = apiClient([], zones);
    const rays = ["/zones", "/nonsense"].map((path) => client.send("GET", path).headers["cf-ray"]);
    expect([new Set(rays).size, rays.every((ray) => ray !== undefined)]).toEqual([2, true]);
  });
});
