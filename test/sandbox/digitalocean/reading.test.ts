import { describe, expect, test } from "vitest";
import { type APIClient, apiClient } from "./api-client.ts";

function addresses(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ ip: `203.0.113.${index + 1}` }));
}

function ips(client: APIClient, query: string): unknown[] {
  const list = client.get(`/v2/reserved_ips${query}`).body["reserved_ips"] as unknown as { ip: string }[];
  return list.map((address) => address.ip.slice("203.0.113.".length));
}

describe("lists", () => {
  test.for([
    ["", 20, "1"],
    ["?per_page=200", 45, "1"],
    ["?page=3", 5, "41"],
    ["?page=2&per_page=30", 15, "31"],
    ["?page=9", 0, undefined],
  ] as const)("of 45 addresses with %j hold %i from %s", ([query, length, first]) => {
    const page = ips(apiClient({ reserved_ips: addresses(45) }), query);
    expect([page.length, page[0]]).toEqual([length, first]);
  });

  test("have no page links when there is one page", () => {
    const { body } = apiClient({ reserved_ips: addresses(3) }).get("/v2/reserved_ips");
    expect([body["links"], body["meta"]]).toEqual([{}, { total: 3 }]);
  });

  test("have absolute links to the pages around a middle one", () => {
    const { body } = apiClient({ reserved_ips: addresses(45) }).get("/v2/reserved_ips?page=2&per_page=20");
    const at = (page: number): string => `http://sandbox/v2/reserved_ips?page=${page}&per_page=20`;
    expect(body["links"]).toEqual({ pages: { first: at(1), prev: at(1), next: at(3), last: at(3) } });
  });

  test("of droplets are paged too", () => {
    const client = apiClient({ droplets: [{ id: 102 }, { id: 101 }] });
    const { body } = client.get("/v2/droplets?per_page=1");
    expect(body["droplets"]).toMatchObject([{ id: 101 }]);
    expect(body["meta"]).toEqual({ total: 2 });
  });

  test("do not hold BYOIP addresses, which are read by address", () => {
    const client = apiClient({ byoip: [{ ip: "192.0.2.10", region: "ams3" }] });
    expect(client.get("/v2/reserved_ips").body["meta"]).toEqual({ total: 0 });
    expect(client.get("/v2/reserved_ips/192.0.2.10").body["reserved_ip"]).toMatchObject({ region: { slug: "ams3" } });
  });
});

describe("a list that lags by 5 s", () => {
  const account = {
    droplets: [{ id: 101 }, { id: 102 }],
    reserved_ips: [{ ip: "203.0.113.1", droplet_id: 101 }],
    byoip: [{ ip: "192.0.2.10" }],
    settings: { list_lag_ms: 5000 },
  };

  function listed(client: APIClient): unknown {
    const list = client.get("/v2/reserved_ips").body["reserved_ips"] as unknown as {
      ip: string;
      droplet: { id: number } | null;
    }[];
    return list.map((address) => [address.ip, address.droplet?.id ?? null]);
  }

  test("shows a move 5 s after single reads do", () => {
    const client = apiClient(account);
    client.assign("203.0.113.1", 102);
    expect(client.holder("203.0.113.1")).toBe(102);
    client.nowMs += 4999;
    expect(listed(client)).toEqual([["203.0.113.1", 101]]);
    client.nowMs += 1;
    expect(listed(client)).toEqual([["203.0.113.1", 102]]);
  });

  test("shows a new address 5 s late", () => {
    const client = apiClient(account);
    client.send("POST", "/v2/reserved_ips", { region: "nyc3" });
    expect(listed(client)).toEqual([["203.0.113.1", 101]]);
    client.nowMs += 5000;
    expect(listed(client)).toEqual([
      ["203.0.113.1", 101],
      ["198.51.100.1", null],
    ]);
  });

  test("shows a deleted address for 5 s more, as it was", () => {
    const client = apiClient({ ...account, reserved_ips: [{ ip: "203.0.113.9" }] });
    client.send("DELETE", "/v2/reserved_ips/203.0.113.9");
    expect(client.get("/v2/reserved_ips/203.0.113.9").status).toBe(404);
    expect(listed(client)).toEqual([["203.0.113.9", null]]);
    client.nowMs += 5000;
    expect(listed(client)).toEqual([]);
  });

  test("never shows a BYOIP address", () => {
    const client = apiClient(account);
    client.assign("192.0.2.10", 102);
    expect(listed(client)).toEqual([["203.0.113.1", 101]]);
  });
});

describe("single reads", () => {
  test("an address shows its whole droplet, region and project", () => {
    const client = apiClient({
      droplets: [{ id: 101, name: "worker-1" }],
      reserved_ips: [{ ip: "203.0.113.1", droplet_id: 101 }],
    });
    expect(client.get("/v2/reserved_ips/203.0.113.1").body["reserved_ip"]).toMatchObject({
      ip: "203.0.113.1",
      locked: false,
      droplet: { id: 101, name: "worker-1", region: { slug: "nyc3" } },
      region: { slug: "nyc3" },
      project_id: "746c6152-2fa2-11ed-92d3-27aaa54e4988",
    });
  });

  test("a droplet shows its private, reserved and public addresses", () => {
    const client = apiClient({ droplets: [{ id: 101 }], reserved_ips: [{ ip: "203.0.113.1", droplet_id: 101 }] });
    const v4 = client.get("/v2/droplets/101").body["droplet"]?.["networks"]?.["v4"] as unknown;
    expect(v4).toMatchObject([
      { ip_address: "10.132.0.101", type: "private" },
      { ip_address: "203.0.113.1", type: "public" },
      { ip_address: "198.18.0.101", type: "public" },
    ]);
  });

  test("the account tells its limit under both names", () => {
    const client = apiClient({ account: { reserved_ip_limit: 7 } });
    expect(client.get("/v2/account").body["account"]).toMatchObject({ floating_ip_limit: 7, reserved_ip_limit: 7 });
  });

  test.for([
    "/v2/reserved_ips/203.0.113.99",
    "/v2/droplets/999",
    "/v2/droplets/999/actions",
    "/v2/actions/5",
    "/v2/reserved_ips/203.0.113.99/actions",
  ])("%s of something unknown is 404 in the API's words", (path) => {
    const answer = apiClient().get(path);
    expect(answer).toMatchObject({
      status: 404,
      body: { id: "not_found", request_id: answer.headers["x-request-id"] },
    });
  });

  test.for([
    ["GET", "/v2/volumes"],
    ["PUT", "/v2/reserved_ips"],
    ["GET", "/v2/reserved_ips/nonsense"],
    ["GET", "/v1/account"],
    ["GET", "/"],
  ] as const)("%s %s is 404", ([method, path]) => {
    expect(apiClient().send(method, path, undefined, true)).toMatchObject({ status: 404, body: { id: "not_found" } });
  });
});
