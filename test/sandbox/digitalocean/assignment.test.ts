import { describe, expect, test } from "vitest";
import { type APIClient, apiClient } from "./api-client.ts";

const ip = "203.0.113.1";

function account(more: object = {}): object {
  return {
    droplets: [{ id: 101 }, { id: 102 }, { id: 103 }, { id: 201, region: "ams3" }, { id: 104, anchor_ip: null }],
    reserved_ips: [{ ip }, { ip: "203.0.113.2", droplet_id: 103 }],
    byoip: [{ ip: "192.0.2.10" }],
    settings: { regions: ["nyc3", "ams3"] },
    ...more,
  };
}

interface Refusal {
  readonly title: string;
  readonly before?: (client: APIClient) => void;
  readonly send: (client: APIClient) => { readonly status: number; readonly body: object };
  readonly status: number;
  readonly message: string;
}

const refusals: readonly Refusal[] = [
  {
    title: "an assign to a droplet that has a reserved address is refused",
    send: (client) => client.assign(ip, 103),
    status: 422,
    message: "Droplet already has a reserved IP.",
  },
  {
    title: "an assign to a droplet that has a BYOIP address is refused",
    before: (client) => client.assign("192.0.2.10", 101),
    send: (client) => client.assign(ip, 101),
    status: 422,
    message: "Droplet already has a reserved IP.",
  },
  {
    title: "an assign to the droplet the address is already on is refused",
    send: (client) => client.assign("203.0.113.2", 103),
    status: 422,
    message: "Droplet already has a reserved IP.",
  },
  {
    title: "an assign to a droplet of another region is refused",
    send: (client) => client.assign(ip, 201),
    status: 422,
    message: "The Droplet must be in the same region as the reserved IP.",
  },
  {
    title: "an assign to a droplet without an anchor address is refused",
    send: (client) => client.assign(ip, 104),
    status: 422,
    message: "Droplet has no anchor IP.",
  },
  {
    title: "an assign of an unknown address is not found",
    send: (client) => client.assign("203.0.113.99", 101),
    status: 404,
    message: "The resource you requested could not be found.",
  },
  {
    title: "an assign to an unknown droplet is not found",
    send: (client) => client.assign(ip, 999),
    status: 404,
    message: "The resource you requested could not be found.",
  },
  {
    title: "an assign of an address with an action under way is refused",
    before: (client) => {
      client.sandbox.cloud().state.settings.action_delay_ms = 1000;
      client.assign(ip, 101);
    },
    send: (client) => client.assign(ip, 102),
    status: 422,
    message: "The reserved IP already has a pending event.",
  },
  {
    title: "an assign to a droplet that another action is aimed at is refused",
    before: (client) => {
      client.sandbox.cloud().state.settings.action_delay_ms = 1000;
      client.assign("192.0.2.10", 101);
    },
    send: (client) => client.assign(ip, 101),
    status: 422,
    message: "Droplet already has a pending event.",
  },
  {
    title: "an assign to a droplet that an address is being moved away from is refused",
    before: (client) => {
      client.sandbox.cloud().state.settings.action_delay_ms = 1000;
      client.assign("203.0.113.2", 102);
    },
    send: (client) => client.assign(ip, 103),
    status: 422,
    message: "Droplet already has a pending event.",
  },
  {
    title: "an unassign of an address that is on no droplet is refused",
    send: (client) => client.unassign(ip),
    status: 422,
    message: "The reserved IP is not assigned to a Droplet.",
  },
  {
    title: "an unassign of an address whose droplet was deleted is refused",
    before: (client) => client.sandbox.removeDroplet(103),
    send: (client) => client.unassign("203.0.113.2"),
    status: 422,
    message: "The reserved IP is not assigned to a Droplet.",
  },
  {
    title: "an unassign of an address with an action under way is refused",
    before: (client) => {
      client.sandbox.cloud().state.settings.action_delay_ms = 1000;
      client.unassign("203.0.113.2");
    },
    send: (client) => client.unassign("203.0.113.2"),
    status: 422,
    message: "The reserved IP already has a pending event.",
  },
  {
    title: "an unassign of an unknown address is not found",
    send: (client) => client.unassign("203.0.113.99"),
    status: 404,
    message: "The resource you requested could not be found.",
  },
];

const actionsPath = `/v2/reserved_ips/${ip}/actions`;

describe("refused assignments", () => {
  test.for(refusals)("$title", ({ before, send, status, message }) => {
    const client = apiClient(account());
    before?.(client);
    const state = structuredClone(client.sandbox.cloud().state);
    const answer = send(client);
    expect(answer).toMatchObject({
      status,
      body: { id: status === 404 ? "not_found" : "unprocessable_entity", message },
    });
    expect(client.sandbox.cloud().state).toEqual(state);
  });

  test.for([
    ["an unknown type", { type: "move" }],
    ["an assign without a droplet", { type: "assign" }],
    ["a droplet id that is text", { type: "assign", droplet_id: "101" }],
    ["no object", []],
  ] as const)("a body with %s is refused", ([, body]) => {
    expect(apiClient(account()).send("POST", actionsPath, body, true)).toMatchObject({ status: 422 });
  });

  test("an assign to a droplet with an event of its own is refused until the event is over", () => {
    const client = apiClient(account({ droplets: [{ id: 101, pending_event_until: "2026-01-02T03:05:00Z" }] }));
    expect(client.assign(ip, 101).body).toMatchObject({ message: "Droplet already has a pending event." });
    client.nowMs = Date.UTC(2026, 0, 2, 3, 5, 0);
    expect(client.assign(ip, 101).status).toBe(201);
  });
});

describe("accepted assignments", () => {
  test("an assign attaches a free address, and the answer speaks of an action in progress", () => {
    const client = apiClient(account());
    const { status, body } = client.assign(ip, 101);
    expect(status).toBe(201);
    expect(body["action"]).toMatchObject({
      status: "in-progress",
      type: "assign_ip",
      resource_id: 3_405_803_777,
      region_slug: "nyc3",
      completed_at: null,
    });
    expect(client.holder(ip)).toBe(101);
  });

  test("a plain assign moves an address from the droplet it is on", () => {
    const client = apiClient(account());
    expect(client.assign("203.0.113.2", 102).status).toBe(201);
    expect(client.holder("203.0.113.2")).toBe(102);
    expect(client.assign(ip, 103).status).toBe(201);
  });

  test("a BYOIP address is assigned, moved and unassigned by its address", () => {
    const client = apiClient(account());
    expect(client.assign("192.0.2.10", 101).status).toBe(201);
    expect(client.assign("192.0.2.10", 102).status).toBe(201);
    expect(client.holder("192.0.2.10")).toBe(102);
    expect(client.unassign("192.0.2.10").status).toBe(201);
    expect(client.holder("192.0.2.10")).toBeNull();
  });

  test("an unassign detaches an address", () => {
    const client = apiClient(account());
    expect(client.unassign("203.0.113.2").body["action"]).toMatchObject({ type: "unassign_ip" });
    expect(client.holder("203.0.113.2")).toBeNull();
  });

  test("a deleted droplet leaves its address unassigned", () => {
    const client = apiClient(account());
    client.sandbox.removeDroplet(103);
    expect(client.holder("203.0.113.2")).toBeNull();
  });
});
