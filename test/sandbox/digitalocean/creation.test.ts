import { describe, expect, test } from "vitest";
import { type APIAnswer, apiClient } from "./api-client.ts";

const path = "/v2/reserved_ips";

function account(more: object = {}): object {
  return {
    droplets: [{ id: 101 }, { id: 102 }, { id: 103, anchor_ip: null }],
    reserved_ips: [{ ip: "203.0.113.1", droplet_id: 102 }],
    settings: { regions: ["nyc3", "ams3"] },
    ...more,
  };
}

describe("creating an address", () => {
  test("in a region answers 202 with an unassigned, unlocked address and no links", () => {
    const client = apiClient(account());
    const { status, body } = client.send("POST", path, { region: "ams3" });
    expect(status).toBe(202);
    expect(body["reserved_ip"]).toMatchObject({ droplet: null, locked: false, region: { slug: "ams3" } });
    expect(body["links"]).toEqual({});
    expect(client.get(path).body["meta"]).toEqual({ total: 2 });
  });

  test("in a region keeps the project it is given", () => {
    const project = "746c6152-2fa2-11ed-92d3-27aaa54e4999";
    const { body } = apiClient(account()).send("POST", path, { region: "nyc3", project_id: project });
    expect(body["reserved_ip"]).toMatchObject({ project_id: project });
  });

  test("for a droplet answers a locked, unassigned address with the action's link; it is attached when that is over", () => {
    const client = apiClient(account({ settings: { regions: ["nyc3"], action_delay_ms: 5000 } }));
    const { status, body } = client.send("POST", path, { droplet_id: 101 });
    expect(status).toBe(202);
    expect(body["reserved_ip"]).toMatchObject({ droplet: null, locked: true });
    const link = body["links"]?.["actions"]?.[0 as never] as { id: number; href: string; rel: string } | undefined;
    const made = `${path}/${body["reserved_ip"]?.["ip"]}/actions/${link?.id}`;
    expect(link).toMatchObject({ rel: "assign_ip", href: `http://sandbox${made}` });
    client.nowMs += 5000;
    expect(client.holder(String(body["reserved_ip"]?.["ip"]))).toBe(101);
    expect(client.get(made).body["action"]).toMatchObject({ status: "completed" });
  });

  test("for a droplet whose assignment errs leaves the address unassigned in the account", () => {
    const client = apiClient(account({ settings: { fail_next_actions: 1 } }));
    const { body } = client.send("POST", path, { droplet_id: 101 });
    expect(client.holder(String(body["reserved_ip"]?.["ip"]))).toBeNull();
  });

  test("is not idempotent: the same request twice makes two addresses", () => {
    const client = apiClient(account());
    const made = [1, 2].map(() => client.send("POST", path, { region: "nyc3" }).body["reserved_ip"]?.["ip"]);
    expect(new Set(made).size).toBe(2);
  });

  test("never makes an address again that was deleted, nor one the account has", () => {
    const client = apiClient({ reserved_ips: [{ ip: "198.51.100.1" }] });
    const make = (): string => String(client.send("POST", path, { region: "nyc3" }).body["reserved_ip"]?.["ip"]);
    const first = make();
    client.send("DELETE", `${path}/${first}`);
    expect([first, make()]).toEqual(["198.51.100.2", "198.51.100.3"]);
  });

  test.for([
    ["a droplet and a region", { droplet_id: 101, region: "nyc3" }, 422, "not both"],
    ["a droplet and a project", { droplet_id: 101, project_id: "x" }, 422, "not both"],
    ["nothing", {}, 422, "Either a Droplet or a region must be given."],
    ["an unknown region", { region: "moon1" }, 422, "Region is not available."],
    ["an unknown droplet", { droplet_id: 999 }, 404, "could not be found"],
    ["a droplet that has an address", { droplet_id: 102 }, 422, "Droplet already has a reserved IP."],
    ["a droplet without an anchor address", { droplet_id: 103 }, 422, "Droplet has no anchor IP."],
    ["a region that is no text", { region: 3 }, 422, "region must be a string."],
    ["a body that is no object", "nyc3", 422, "The request body must be a JSON object."],
  ] as const)("with %s is refused and makes nothing", ([, body, status, message]) => {
    const client = apiClient(account());
    const answer = client.send("POST", path, body, true);
    expect(answer.status).toBe(status);
    expect(answer.body["message"]).toContain(message);
    expect(client.sandbox.cloud().state.reserved_ips).toHaveLength(1);
  });

  test("beyond the account's limit is refused with 422, and BYOIP addresses do not count", () => {
    const client = apiClient({ byoip: [{ ip: "192.0.2.10" }], account: { reserved_ip_limit: 1 } });
    expect(client.send("POST", path, { region: "nyc3" }).status).toBe(202);
    const answer = client.send("POST", path, { region: "nyc3" });
    expect(answer).toMatchObject({ status: 422, body: { message: expect.stringContaining("limit exceeded") } });
  });

  test("an account has three reserved addresses at most when it does not say otherwise", () => {
    const client = apiClient();
    const statuses = [1, 2, 3, 4].map(() => client.send("POST", path, { region: "nyc3" }).status);
    expect(statuses).toEqual([202, 202, 202, 422]);
  });

  test("more than 12 times within a minute is answered 429 until the first is a minute old", () => {
    const client = apiClient({ account: { reserved_ip_limit: 100 } });
    const make = (): APIAnswer => client.send("POST", path, { region: "nyc3" });
    for (let count = 0; count < 12; count += 1) {
      expect(make().status).toBe(202);
      client.nowMs += 1000;
    }
    expect(make()).toMatchObject({ status: 429, headers: { "retry-after": "48" }, body: { id: "too_many_requests" } });
    client.nowMs += 48_000;
    expect(make().status).toBe(202);
    expect(make().status).toBe(429);
  });
});

describe("deleting an address", () => {
  test("answers 204 without a body, then 404", () => {
    const client = apiClient({ reserved_ips: [{ ip: "203.0.113.1" }] });
    expect(client.send("DELETE", `${path}/203.0.113.1`)).toMatchObject({ status: 204, body: {} });
    expect(client.send("DELETE", `${path}/203.0.113.1`).status).toBe(404);
    expect(client.get(`${path}/203.0.113.1`).status).toBe(404);
  });

  test("right after an unassign is refused while the unassign is under way, and works after it", () => {
    const client = apiClient(account({ settings: { regions: ["nyc3"], action_delay_ms: 1000 } }));
    client.unassign("203.0.113.1");
    expect(client.send("DELETE", `${path}/203.0.113.1`)).toMatchObject({
      status: 422,
      body: { message: "The reserved IP already has a pending event." },
    });
    client.nowMs += 1000;
    expect(client.send("DELETE", `${path}/203.0.113.1`).status).toBe(204);
  });

  test("while it is assigned only releases it", () => {
    const client = apiClient(account());
    expect(client.send("DELETE", `${path}/203.0.113.1`).status).toBe(204);
    expect(client.holder("203.0.113.1")).toBeNull();
    expect(client.send("DELETE", `${path}/203.0.113.1`).status).toBe(204);
    expect(client.get(`${path}/203.0.113.1`).status).toBe(404);
  });

  test("of a BYOIP prefix is refused", () => {
    const client = apiClient({ byoip: [{ ip: "192.0.2.10" }] });
    expect(client.send("DELETE", `${path}/192.0.2.10`).status).toBe(422);
    expect(client.get(`${path}/192.0.2.10`).status).toBe(200);
  });
});
