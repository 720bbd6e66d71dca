import { describe, expect, test } from "vitest";
import { completeState } from "../../../src/sandbox/digitalocean/cloud-state.ts";
import { type APIClient, apiClient } from "./api-client.ts";

const path = "/v2/reserved_ipv6";
const ip1 = "2001:db8:1::1";
const ip2 = "2001:db8:1::2";

function account(more: object = {}): object {
  return {
    droplets: [{ id: 101 }, { id: 102 }, { id: 103, ipv6: false }, { id: 201, region: "ams3" }],
    reserved_ips: [{ ip: "203.0.113.1", droplet_id: 101 }],
    reserved_ipv6: [{ ip: ip1, droplet_id: 101 }, { ip: "2001:DB8:1:0::2" }],
    settings: { regions: ["nyc3", "ams3"] },
    ...more,
  };
}

function assign(client: APIClient, ip: string, droplet: number): { readonly status: number; readonly body: object } {
  return client.send("POST", `${path}/${ip}/actions`, { type: "assign", droplet_id: droplet });
}

describe("reserved IPv6 addresses", () => {
  test("are listed beside those of IPv4, without lock and project, and without a droplet where they have none", () => {
    const client = apiClient(account());
    const { reserved_ipv6s: shown, meta } = client.get(path).body;
    expect(meta).toEqual({ total: 2 });
    expect(shown).toMatchObject([{ ip: ip1, region_slug: "nyc3", droplet: { id: 101 } }, { ip: ip2 }]);
    for (const name of ["locked", "project_id", "region"]) expect(shown?.[0]).not.toHaveProperty(name);
    expect(shown?.[1]).not.toHaveProperty("droplet");
    expect(client.get("/v2/reserved_ips").body["meta"]).toEqual({ total: 1 });
  });

  test("show no droplet to a token that may not read droplets", () => {
    const client = apiClient(account({ tokens: { "secret-token": ["reserved_ip:read"] } }));
    expect(client.get(`${path}/${ip1}`).body["reserved_ipv6"]).not.toHaveProperty("droplet");
  });

  test("are found however they are written", () => {
    const client = apiClient(account());
    for (const text of ["2001:DB8:1::1", "2001:db8:1:0:0:0:0:1"])
      expect(client.get(`${path}/${text}`).body["reserved_ipv6"]).toMatchObject({ ip: ip1 });
    expect(client.get(`${path}/2001:db8::99`).status).toBe(404);
    expect(client.send("GET", `${path}/203.0.113.1`, undefined, true).status).toBe(404);
    expect(client.send("GET", `/v2/reserved_ips/${ip1}`, undefined, true).status).toBe(404);
  });

  test("are bare, and in a list of another name, where the settings say so", () => {
    const client = apiClient(account({ settings: { regions: ["nyc3", "ams3"], ipv6_answers: "bare" } }));
    expect(client.get(`${path}/${ip1}`).body).toMatchObject({ ip: ip1 });
    expect(client.get(path).body["reserved_ips"]).toHaveLength(2);
    expect(client.send("POST", path, { region_slug: "nyc3" }).body).toMatchObject({ region_slug: "nyc3" });
  });

  test("are bought for a region, 201, each time another one", () => {
    const client = apiClient(account({ account: { reserved_ip_limit: 10 } }));
    const made = [1, 2].map(() => client.send("POST", path, { region_slug: "ams3" }));
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    const ips = made.map(({ body }) => String(body["reserved_ipv6"]?.["ip"]));
    expect(new Set(ips).size).toBe(2);
    expect(client.get(`${path}/${ips[0]}`).body["reserved_ipv6"]).toMatchObject({ region_slug: "ams3" });
  });

  test.for([
    ["a droplet", { region_slug: "nyc3", droplet_id: 102 }, "droplet_id is not expected."],
    ["no region", {}, "region_slug must be a string."],
    ["an unknown region", { region_slug: "moon1" }, "Region is not available."],
  ] as const)("are not bought with %s", ([, body, message]) => {
    const client = apiClient(account());
    expect(client.send("POST", path, body, true)).toMatchObject({ status: 422, body: { message } });
    expect(client.sandbox.cloud().state.reserved_ipv6).toHaveLength(2);
  });

  test("have a limit and a rate of purchases of their own", () => {
    const client = apiClient(account({ account: { reserved_ip_limit: 2, reserved_ipv6_limit: 3 } }));
    expect(client.send("POST", path, { region_slug: "nyc3" }).status).toBe(201);
    expect(client.send("POST", path, { region_slug: "nyc3" })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("limit exceeded") },
    });
    expect(client.send("POST", "/v2/reserved_ips", { region: "nyc3" }).status).toBe(202);
    const quick = apiClient({ settings: { creations_per_minute: 1 } });
    expect(quick.send("POST", path, { region_slug: "nyc3" }).status).toBe(201);
    expect(quick.send("POST", path, { region_slug: "nyc3" })).toMatchObject({ status: 429 });
    expect(quick.send("POST", "/v2/reserved_ips", { region: "nyc3" }).status).toBe(202);
  });

  test.for([
    ["to a droplet that has one", ip2, 101, "Droplet already has a reserved IP."],
    ["to the droplet it is on", ip1, 101, "Droplet already has a reserved IP."],
    ["to a droplet without IPv6", ip2, 103, "Droplet has no IPv6 address."],
    ["to a droplet of another region", ip2, 201, "The Droplet must be in the same region as the reserved IP."],
  ] as const)("are not assigned %s", ([, ip, droplet, message]) => {
    const client = apiClient(account());
    const before = structuredClone(client.sandbox.cloud().state);
    expect(assign(client, ip, droplet)).toMatchObject({ status: 422, body: { message } });
    expect(client.sandbox.cloud().state).toEqual(before);
  });

  test("go to a droplet that has an IPv4 address, show no lock meanwhile, and are among its networks then", () => {
    const client = apiClient(account({ settings: { regions: ["nyc3", "ams3"], action_delay_ms: 1000 } }));
    client.sandbox.setAddress("203.0.113.1", { droplet_id: 102 });
    const answer = assign(client, ip2, 102);
    expect(answer).toMatchObject({
      status: 201,
      body: { action: { status: "in-progress", resource_type: "reserved_ipv6" } },
    });
    expect(client.get(`${path}/${ip2}`).body["reserved_ipv6"]).not.toHaveProperty("droplet");
    expect(assign(client, ip2, 102)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("pending") },
    });
    client.nowMs += 1000;
    expect(client.get(`${path}/${ip2}`).body["reserved_ipv6"]).toMatchObject({ droplet: { id: 102 } });
    const { v4, v6 } = client.get("/v2/droplets/102").body["droplet"]?.["networks"] ?? {};
    expect(v4).toMatchObject(expect.arrayContaining([expect.objectContaining({ ip_address: "203.0.113.1" })]));
    expect(v6).toMatchObject([{ ip_address: "2001:db8:d1::66" }, { ip_address: ip2 }]);
  });

  test("move from droplet to droplet in one call, and have no action below them", () => {
    const client = apiClient(account());
    const { body } = client.send("POST", `${path}/${ip1}/actions`, { type: "assign", droplet_id: 102 });
    expect(client.get(`${path}/${ip1}`).body["reserved_ipv6"]).toMatchObject({ droplet: { id: 102 } });
    const id = body["action"]?.["id"];
    expect(client.send("GET", `${path}/${ip1}/actions/${id}`, undefined, true).status).toBe(404);
    expect(client.get(`/v2/actions/${id}`).body["action"]).toMatchObject({ id, status: "completed" });
    expect(client.get("/v2/actions/999").status).toBe(404);
  });

  test("have actions that only a token with the scope for actions may read", () => {
    const scopes = ["reserved_ip:read", "reserved_ip:update", "droplet:read"];
    const client = apiClient(account({ tokens: { "secret-token": scopes } }));
    const { body } = client.send("POST", `${path}/${ip1}/actions`, { type: "unassign" });
    expect(client.get(`/v2/actions/${body["action"]?.["id"]}`).status).toBe(403);
  });

  test("are unassigned with their droplet, or by a call, which is refused where they have none", () => {
    const client = apiClient(account());
    client.sandbox.removeDroplet(101);
    expect(client.get(`${path}/${ip1}`).body["reserved_ipv6"]).not.toHaveProperty("droplet");
    expect(client.send("POST", `${path}/${ip1}/actions`, { type: "unassign" }).status).toBe(422);
  });

  test("are given back once they are unassigned; an assigned one is refused with 400, and stays", () => {
    const client = apiClient(account());
    expect(client.send("DELETE", `${path}/${ip1}`)).toMatchObject({ status: 400, body: { id: "bad_request" } });
    client.send("POST", `${path}/${ip1}/actions`, { type: "unassign" });
    expect(client.send("DELETE", `${path}/${ip1}`).status).toBe(204);
    expect(client.send("DELETE", `${path}/${ip1}`).status).toBe(404);
  });

  test("right after an unassignment are not given back yet", () => {
    const client = apiClient(account({ settings: { regions: ["nyc3", "ams3"], action_delay_ms: 1000 } }));
    client.send("POST", `${path}/${ip1}/actions`, { type: "unassign" });
    expect(client.send("DELETE", `${path}/${ip1}`)).toMatchObject({
      status: 422,
      body: { message: "The reserved IP already has a pending event." },
    });
  });

  test("are as old in a list as its lag, those of IPv4 as well", () => {
    const client = apiClient(account({ settings: { regions: ["nyc3", "ams3"], list_lag_ms: 5000 } }));
    assign(client, ip2, 102);
    client.unassign("203.0.113.1");
    expect(client.get(path).body["reserved_ipv6s"]?.[1]).not.toHaveProperty("droplet");
    expect(client.get("/v2/reserved_ips").body["reserved_ips"]).toMatchObject([{ droplet: { id: 101 } }]);
    client.nowMs += 5000;
    expect(client.get(path).body["reserved_ipv6s"]).toMatchObject([{}, { droplet: { id: 102 } }]);
  });

  test.for([
    ["an address of the other family", [{ ip: "203.0.113.1" }], "reserved_ipv6[0].ip must be an IPv6 address"],
    ["an address twice", [{ ip: ip1 }, { ip: "2001:DB8:1::1" }], `reserved_ipv6 must not have ip ${ip1} twice`],
    [
      "two addresses on a droplet",
      [
        { ip: ip1, droplet_id: 101 },
        { ip: ip2, droplet_id: 101 },
      ],
      "reserved_ipv6 must not have droplet_id 101 twice",
    ],
  ] as const)("cannot be written with %s", ([, reserved, message]) => {
    expect(() => completeState({ droplets: [{ id: 101 }], reserved_ipv6: reserved })).toThrow(message);
  });
});
