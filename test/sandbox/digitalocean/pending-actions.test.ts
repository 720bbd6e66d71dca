import { describe, expect, test } from "vitest";
import { apiClient } from "./api-client.ts";

const ip = "203.0.113.1";

function slowAccount(settings: object = {}): object {
  return {
    droplets: [{ id: 101 }, { id: 102 }],
    reserved_ips: [{ ip, droplet_id: 101 }],
    byoip: [{ ip: "192.0.2.10" }],
    settings: { regions: ["nyc3"], action_delay_ms: 10_000, ...settings },
  };
}

describe("an action that takes 10 s", () => {
  test("leaves the address locked where it was after 9.999 s, and moves it after 10 s", () => {
    const client = apiClient(slowAccount());
    const id = client.assign(ip, 102).body["action"]?.["id"];
    client.nowMs += 9_999;
    expect(client.get(`/v2/reserved_ips/${ip}`).body["reserved_ip"]).toMatchObject({
      locked: true,
      droplet: { id: 101 },
    });
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${id}`).body["action"]).toMatchObject({ status: "in-progress" });
    client.nowMs += 1;
    expect(client.get(`/v2/reserved_ips/${ip}`).body["reserved_ip"]).toMatchObject({
      locked: false,
      droplet: { id: 102 },
    });
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${id}`).body["action"]).toMatchObject({
      status: "completed",
      completed_at: "2026-01-02T03:04:15Z",
    });
  });

  test("shows as a pending event of both droplets until it is over", () => {
    const client = apiClient(slowAccount());
    client.assign(ip, 102);
    expect(client.get("/v2/droplets/102").body["droplet"]).toMatchObject({ locked: true });
    client.nowMs += 10_000;
    expect(client.get("/v2/droplets/102").body["droplet"]).toMatchObject({ locked: false });
  });

  test("ends errored when its droplet is deleted meanwhile", () => {
    const client = apiClient(slowAccount());
    const id = client.assign(ip, 102).body["action"]?.["id"];
    client.sandbox.removeDroplet(102);
    client.nowMs += 10_000;
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${id}`).body["action"]).toMatchObject({ status: "errored" });
    expect(client.holder(ip)).toBe(101);
  });

  test("ends errored when its droplet got another address by hand meanwhile", () => {
    const client = apiClient(slowAccount());
    const id = client.assign(ip, 102).body["action"]?.["id"];
    client.sandbox.setAddress("192.0.2.10", { droplet_id: 102 });
    client.nowMs += 10_000;
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${id}`).body["action"]).toMatchObject({ status: "errored" });
  });

  test("of an address that is taken out of the account ends errored", () => {
    const client = apiClient(slowAccount());
    const id = client.assign(ip, 102).body["action"]?.["id"];
    client.sandbox.removeAddress(ip);
    client.nowMs += 10_000;
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${id}`).body["action"]).toMatchObject({ status: "errored" });
    expect(client.get(`/v2/reserved_ips/${ip}`).status).toBe(404);
  });
});

describe("planned failures", () => {
  test("fail_next_actions: 1 lets one action end errored without effect and the next succeed", () => {
    const client = apiClient(slowAccount({ action_delay_ms: 0, fail_next_actions: 1 }));
    const first = client.assign(ip, 102).body["action"]?.["id"];
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${first}`).body["action"]).toMatchObject({ status: "errored" });
    expect(client.holder(ip)).toBe(101);
    client.assign(ip, 102);
    expect(client.holder(ip)).toBe(102);
  });

  test("fail_actions_of fails every action of that address and of no other", () => {
    const client = apiClient(slowAccount({ action_delay_ms: 0, fail_actions_of: [ip] }));
    client.assign(ip, 102);
    client.unassign(ip);
    client.assign("192.0.2.10", 102);
    expect(client.holder(ip)).toBe(101);
    expect(client.holder("192.0.2.10")).toBe(102);
  });
});

describe("reading actions", () => {
  test("the action of a BYOIP address is never found, although it takes effect", () => {
    const client = apiClient(slowAccount({ action_delay_ms: 0 }));
    const id = client.assign("192.0.2.10", 102).body["action"]?.["id"];
    expect(client.get(`/v2/reserved_ips/192.0.2.10/actions/${id}`).status).toBe(404);
    expect(client.holder("192.0.2.10")).toBe(102);
  });

  test("an action is found under its own address only", () => {
    const client = apiClient({ ...slowAccount(), reserved_ips: [{ ip }, { ip: "203.0.113.2" }] });
    const id = client.assign(ip, 102).body["action"]?.["id"];
    expect(client.get(`/v2/reserved_ips/203.0.113.2/actions/${id}`).status).toBe(404);
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${id}`).status).toBe(200);
  });

  test("only the newest 50 finished actions stay readable", () => {
    const client = apiClient(slowAccount({ action_delay_ms: 0 }));
    const first = client.unassign(ip).body["action"]?.["id"];
    for (let count = 0; count < 25; count += 1) {
      client.assign(ip, 101);
      client.unassign(ip);
    }
    expect(client.get(`/v2/reserved_ips/${ip}/actions/${first}`).status).toBe(404);
    expect(client.sandbox.cloud().state.actions).toHaveLength(50);
  });
});
