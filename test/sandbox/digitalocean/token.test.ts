import { describe, expect, test } from "vitest";
import { apiClient } from "./api-client.ts";

const account = {
  droplets: [{ id: 101 }, { id: 102 }],
  reserved_ips: [{ ip: "203.0.113.1", droplet_id: 101 }],
};

const every = [
  "account:read",
  "droplet:read",
  "reserved_ip:create",
  "reserved_ip:delete",
  "reserved_ip:read",
  "reserved_ip:update",
];

describe("tokens", () => {
  test("any token is accepted while none is configured, but not none", () => {
    const client = apiClient(account);
    expect(client.get("/v2/account").status).toBe(200);
    client.token = undefined;
    expect(client.get("/v2/account")).toMatchObject({ status: 401, body: { id: "Unauthorized" } });
  });

  test("an unknown token is 401 once tokens are configured, before anything else", () => {
    const client = apiClient({ ...account, tokens: { good: ["*"] } });
    for (const wrong of ["bad", "constructor"]) {
      client.token = wrong;
      expect(client.get("/v2/reserved_ips/203.0.113.99").status).toBe(401);
    }
    client.token = "good";
    expect(client.get("/v2/reserved_ips/203.0.113.99").status).toBe(404);
  });

  test.for([
    ["account:read", "GET", "/v2/account", undefined],
    ["droplet:read", "GET", "/v2/droplets", undefined],
    ["droplet:read", "GET", "/v2/droplets/101", undefined],
    ["reserved_ip:read", "GET", "/v2/reserved_ips", undefined],
    ["reserved_ip:read", "GET", "/v2/reserved_ips/203.0.113.1", undefined],
    ["reserved_ip:read", "GET", "/v2/reserved_ips/203.0.113.1/actions/1", undefined],
    ["reserved_ip:create", "POST", "/v2/reserved_ips", { region: "nyc3" }],
    ["reserved_ip:delete", "DELETE", "/v2/reserved_ips/203.0.113.1", undefined],
    ["reserved_ip:update", "POST", "/v2/reserved_ips/203.0.113.1/actions", { type: "unassign" }],
  ] as const)(
    "without %s, %s %s is 403 and changes nothing; with it alone it is not",
    ([scope, method, path, body]) => {
      const client = apiClient({ ...account, tokens: { less: every.filter((item) => item !== scope), only: [scope] } });
      const state = structuredClone(client.sandbox.cloud().state);
      client.token = "less";
      expect(client.send(method, path, body)).toMatchObject({ status: 403, body: { id: "Forbidden" } });
      expect(client.sandbox.cloud().state).toEqual(state);
      client.token = "only";
      expect(client.send(method, path, body).status).not.toBe(403);
    },
  );

  test("a token without droplet:read sees every address unassigned, and still moves them", () => {
    const client = apiClient({
      ...account,
      tokens: { blind: every.filter((item) => item !== "droplet:read"), all: ["*"] },
    });
    client.token = "blind";
    expect(client.holder("203.0.113.1")).toBeNull();
    expect(client.get("/v2/reserved_ips").body["reserved_ips"]).toMatchObject([{ droplet: null }]);
    expect(client.assign("203.0.113.1", 102).status).toBe(201);
    expect(client.send("POST", "/v2/reserved_ips", { droplet_id: 101 }).status).toBe(202);
    client.token = "all";
    expect(client.holder("203.0.113.1")).toBe(102);
  });

  test("a token without reserved_ip:read reads a limit of 0", () => {
    const client = apiClient({ ...account, tokens: { "secret-token": ["account:read"] } });
    expect(client.get("/v2/account").body["account"]).toMatchObject({ floating_ip_limit: 0, reserved_ip_limit: 0 });
  });
});

describe("the rate limit", () => {
  const limits = { settings: { rate_limit: { per_hour: 5, per_minute: 3 } } };

  test("headers count down, and name when the oldest request expires", () => {
    const client = apiClient();
    const first = client.get("/v2/account").headers;
    expect(first).toMatchObject({ "ratelimit-limit": "5000", "ratelimit-remaining": "4999" });
    expect(first["ratelimit-reset"]).toBe(String(client.nowMs / 1000 + 3600));
    client.nowMs += 10_000;
    expect(client.get("/v2/account").headers).toMatchObject({
      "ratelimit-remaining": "4998",
      "ratelimit-reset": first["ratelimit-reset"],
    });
  });

  test("a burst is answered 429 with retry-after, and over when its first request is a minute old", () => {
    const client = apiClient(limits);
    client.get("/v2/account");
    client.nowMs += 20_000;
    client.get("/v2/account");
    expect(client.get("/v2/account").headers["ratelimit-remaining"]).toBe("0");
    expect(client.get("/v2/account")).toMatchObject({
      status: 429,
      headers: { "retry-after": "40", "ratelimit-remaining": "0" },
      body: { id: "too_many_requests", message: "API rate limit exceeded." },
    });
    client.nowMs += 39_999;
    expect(client.get("/v2/account").status).toBe(429);
    client.nowMs += 1;
    expect(client.get("/v2/account").status).toBe(200);
  });

  test("the hour's limit is answered 429 without retry-after until the oldest request expires", () => {
    const client = apiClient(limits);
    const startMs = client.nowMs;
    for (let count = 0; count < 5; count += 1) {
      expect(client.get("/v2/account").status).toBe(200);
      client.nowMs += 60_000;
    }
    const refused = client.get("/v2/account");
    expect(refused.status).toBe(429);
    expect(refused.headers).not.toHaveProperty("retry-after");
    expect(refused.headers["ratelimit-reset"]).toBe(String(startMs / 1000 + 3600));
    client.nowMs = startMs + 3_600_000;
    expect(client.get("/v2/account").status).toBe(200);
  });

  test("a refused request has no effect, and each token has its own limit", () => {
    const client = apiClient({ ...account, ...limits });
    for (let count = 0; count < 3; count += 1) client.get("/v2/account");
    expect(client.unassign("203.0.113.1").status).toBe(429);
    client.token = "another";
    expect(client.holder("203.0.113.1")).toBe(101);
  });

  test("every answer carries a request id of its own", () => {
    const client = apiClient();
    const ids = [1, 2].map(() => client.get("/v2/account").headers["x-request-id"]);
    expect(new Set(ids).size).toBe(2);
  });
});
