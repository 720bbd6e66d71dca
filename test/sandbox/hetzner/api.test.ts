import { describe, expect, test } from "vitest";
import { type HetznerSandbox, hetznerSandbox } from "../../../src/sandbox/hetzner/hetzner-sandbox.ts";
import { openAPIValidator } from "../../openapi/validator.ts";

const validator = openAPIValidator("hetzner");
const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** The answer to one request. */
interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client that checks each answer against the description of the API. */
class Client {
  nowMs: number = START_MS;
  readonly sandbox: HetznerSandbox;

  constructor(state: object) {
    this.sandbox = hetznerSandbox({ state, now: () => this.nowMs });
  }

  ask(method: string, path: string, body?: unknown, token = "token"): Reply {
    const url = new URL(`http://localhost/v1${path}`);
    const reply = this.sandbox.handle({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
      body,
    });
    if ("stream" in reply) throw new Error("a stream");
    const isKnown = reply.status !== 404 || !JSON.stringify(reply.body).includes("route");
    if (isKnown)
      expect(validator.checkResponse(method, `/v1${path}`, reply.status, reply.body), `${method} ${path}`).toEqual([]);
    return { status: reply.status, body: (reply.body ?? {}) as Reply["body"], headers: reply.headers ?? {} };
  }

  /** Status and code of a refusal: `423 locked`. */
  refusal(method: string, path: string, body?: unknown, token?: string): string {
    const { status, body: answer } = this.ask(method, path, body, token);
    return `${status} ${(answer["error"] as { readonly code?: string } | undefined)?.code ?? "none"}`;
  }
}

interface ServerJSON {
  readonly public_net: { readonly ipv6: object | null };
}

const STATE = {
  servers: [{ id: 42 }, { id: 43, location: "ash", ipv4: null }],
  floating_ips: [
    { id: 1, ip: "203.0.113.1", name: "web", labels: { pool: "a" }, server: 42 },
    { id: 2, ip: "203.0.113.2", protected: true },
  ],
  settings: { action_delay_ms: 1000, floating_ip_limit: 4 },
};

describe("floating IPs", () => {
  test("are listed by name, by label and in pages, whose last one names no next one", () => {
    const client = new Client(STATE);
    expect(client.ask("GET", "/floating_ips?name=web").body["floating_ips"]).toMatchObject([{ id: 1, server: 42 }]);
    expect(client.ask("GET", "/floating_ips?label_selector=pool%3Da").body["floating_ips"]).toHaveLength(1);
    expect(client.ask("GET", "/floating_ips?label_selector=other").body["floating_ips"]).toHaveLength(0);
    const pages = [1, 2].map((page) => client.ask("GET", `/floating_ips?page=${page}&per_page=1`).body["meta"]);
    expect(pages).toMatchObject([
      { pagination: { next_page: 2, total_entries: 2 } },
      { pagination: { next_page: null } },
    ]);
  });

  test("move by an action, which locks them and their servers while it runs", () => {
    const client = new Client(STATE);
    const { status, body } = client.ask("POST", "/floating_ips/1/actions/assign", { server: 43 });
    expect([status, body["action"]]).toMatchObject([201, { status: "running", command: "assign_floating_ip" }]);
    const { id } = body["action"] as { readonly id: number };
    expect(client.refusal("POST", "/floating_ips/1/actions/unassign")).toBe("423 locked");
    expect(client.refusal("POST", "/floating_ips/2/actions/assign", { server: 43 })).toBe("423 locked");
    expect(client.refusal("DELETE", "/floating_ips/1")).toBe("423 locked");
    expect(client.ask("GET", "/floating_ips/1/actions?status=running").body["actions"]).toHaveLength(1);
    client.nowMs += 1000;
    expect(client.ask("GET", `/actions?id=${id}&id=999`).body["actions"]).toMatchObject([{ id, status: "success" }]);
    expect(client.ask("GET", `/actions/${id}`).body["action"]).toMatchObject({ status: "success" });
    expect(client.ask("GET", "/floating_ips/1").body["floating_ip"]).toMatchObject({ server: 43 });
    expect(client.ask("GET", "/servers/43").body["server"]).toMatchObject({
      public_net: { ipv4: null, floating_ips: [1] },
    });
    expect(client.ask("GET", "/floating_ips/1/actions?status=running").body["actions"]).toEqual([]);
  });

  test("are made for a server or in a location, and have each name once", () => {
    const client = new Client(STATE);
    const made = client.ask("POST", "/floating_ips", {
      type: "ipv4",
      server: 42,
      name: "new",
      labels: { "a.b/c": "d" },
    });
    expect([made.status, made.body]).toMatchObject([
      201,
      { floating_ip: { server: null }, action: { status: "running" } },
    ]);
    const inLocation = client.ask("POST", "/floating_ips", { type: "ipv6", home_location: "hel1" });
    expect(inLocation.body).toMatchObject({
      floating_ip: { type: "ipv6", home_location: { network_zone: "eu-central" } },
    });
    expect(inLocation.body["action"]).toBeUndefined();
    for (const [body, refusal] of [
      [{ type: "ipv4", home_location: "fsn1", name: "new" }, "409 uniqueness_error"],
      [{ type: "ipv4", home_location: "fsn1" }, "403 resource_limit_exceeded"],
      [{ type: "ipv4" }, "422 invalid_input"],
      [{ type: "ipv4", home_location: "moon" }, "422 invalid_input"],
      [{ type: "ipv4", home_location: "fsn1", colour: "red" }, "422 invalid_input"],
      [{ type: "ipv4", server: 44 }, "404 not_found"],
    ] as const)
      expect(client.refusal("POST", "/floating_ips", body), JSON.stringify(body)).toBe(refusal);
  });

  test("of IPv6 are networks, whose family a file need not say", () => {
    const client = new Client({ ...STATE, floating_ips: [{ id: 1, ip: "2001:DB8:1:2:0::/64", server: 42 }] });
    const shown = { ip: "2001:db8:1:2::/64", type: "ipv6" };
    expect(client.ask("GET", "/floating_ips/1").body["floating_ip"]).toMatchObject({ ...shown, server: 42 });
    const made = client.ask("POST", "/floating_ips", { type: "ipv6", home_location: "fsn1" }).body["floating_ip"];
    expect(made).toMatchObject({ type: "ipv6", ip: "2001:db8:d0:1::/64" });
  });

  test("of a server are beside its own network, where it has one", () => {
    const client = new Client({ servers: [{ id: 42 }, { id: 43, ipv6: null }] });
    const networks = [42, 43].map(
      (id) => (client.ask("GET", `/servers/${id}`).body["server"] as ServerJSON).public_net.ipv6,
    );
    expect(networks).toMatchObject([{ ip: "2001:db8:5e:2a::/64" }, null]);
  });

  test("go away only when nothing has them and nobody protects them", () => {
    const client = new Client({ ...STATE, settings: {} });
    expect(client.refusal("DELETE", "/floating_ips/1")).toBe("422 must_be_unassigned");
    expect(client.refusal("DELETE", "/floating_ips/2")).toBe("423 protected");
    expect(client.refusal("POST", "/floating_ips/1/actions/assign", { server: 42 })).toBe("422 floating_ip_assigned");
    expect(client.ask("POST", "/floating_ips/1/actions/unassign").status).toBe(201);
    expect(client.refusal("POST", "/floating_ips/1/actions/unassign")).toBe("422 service_error");
    expect(client.ask("DELETE", "/floating_ips/1").status).toBe(204);
    expect(client.refusal("GET", "/floating_ips/1")).toBe("404 not_found");
  });

  test("have their labels replaced as a whole, and lose a server that is deleted", () => {
    const client = new Client(STATE);
    expect(client.ask("PUT", "/floating_ips/1", { labels: { b: "c" } }).body).toMatchObject({
      floating_ip: { labels: { b: "c" }, name: "web" },
    });
    client.sandbox.edit((state) => {
      state.servers = [];
    });
    expect(client.ask("GET", "/floating_ips/1").body["floating_ip"]).toMatchObject({ server: null });
    expect(client.ask("GET", "/servers").body["servers"]).toEqual([]);
  });
});

describe("firewalls", () => {
  const ssh = { direction: "in", protocol: "tcp", port: "22", source_ips: ["192.0.2.0/24"] };
  const FIREWALLS = {
    servers: [{ id: 42, labels: { role: "web" } }, { id: 43 }, { id: 44, ipv4: null }],
    firewalls: [
      { id: 38, name: "web", rules: [ssh], servers: [43] },
      { id: 39, name: "base", selectors: ["role=web"], labels: { "flipop.digitalocean.com/owned": "true" } },
    ],
    settings: { action_delay_ms: 1000 },
  };
  const on = (client: Client, server: number): unknown =>
    (client.ask("GET", `/servers/${server}`).body["server"] as { readonly public_net: Record<string, unknown> })
      .public_net["firewalls"];
  const to = (server: number) => [{ type: "server", server: { id: server } }];

  test("show their rules, their servers and whom a selector selects; servers show them, too", () => {
    const client = new Client(FIREWALLS);
    const shown = { ...ssh, destination_ips: [], description: null };
    expect(client.ask("GET", "/firewalls/38").body["firewall"]).toMatchObject({ rules: [shown], applied_to: to(43) });
    expect(client.ask("GET", "/firewalls/39").body["firewall"]).toMatchObject({
      applied_to: [{ type: "label_selector", label_selector: { selector: "role=web" }, applied_to_resources: to(42) }],
    });
    expect(client.ask("GET", "/firewalls?name=web").body["firewalls"]).toMatchObject([{ id: 38 }]);
    expect(
      client.ask("GET", "/firewalls?label_selector=flipop.digitalocean.com%2Fowned%3Dtrue").body["firewalls"],
    ).toMatchObject([{ id: 39 }]);
    expect([on(client, 42), on(client, 43), on(client, 44)]).toEqual([
      [{ id: 39, status: "applied" }],
      [{ id: 38, status: "applied" }],
      [],
    ]);
    expect(client.ask("GET", "/servers?label_selector=role%3Dweb").body["servers"]).toMatchObject([{ id: 42 }]);
  });

  test("have all their rules replaced at once, which reaches each server by an action", () => {
    const client = new Client(FIREWALLS);
    const http = {
      direction: "in",
      protocol: "tcp",
      port: "80",
      source_ips: ["0.0.0.0/0", "::/0"],
      description: "flipop",
    };
    const { status, body } = client.ask("POST", "/firewalls/38/actions/set_rules", { rules: [http] });
    expect([status, body["actions"]]).toMatchObject([
      201,
      [
        { command: "set_firewall_rules", status: "success" },
        { command: "apply_firewall", status: "running", resources: [{ id: 43 }, { id: 38, type: "firewall" }] },
      ],
    ]);
    expect(client.ask("GET", "/firewalls/38").body["firewall"]).toMatchObject({ rules: [{ port: "80" }] });
    expect(on(client, 43)).toEqual([{ id: 38, status: "pending" }]);
    expect(client.refusal("POST", "/firewalls/38/actions/set_rules", { rules: [] })).toBe("423 locked");
    client.nowMs += 1000;
    expect(on(client, 43)).toEqual([{ id: 38, status: "applied" }]);
    expect(client.ask("POST", "/firewalls/38/actions/set_rules", { rules: [] }).status).toBe(201);
    expect(client.ask("GET", "/firewalls/38").body["firewall"]).toMatchObject({ rules: [] });
  });

  test("are applied to servers and taken from them, each by an action", () => {
    const client = new Client(FIREWALLS);
    const apply = "/firewalls/38/actions/apply_to_resources";
    const remove = "/firewalls/38/actions/remove_from_resources";
    expect(client.ask("POST", apply, { apply_to: to(42) }).status).toBe(201);
    expect(on(client, 42)).toEqual([
      { id: 38, status: "pending" },
      { id: 39, status: "applied" },
    ]);
    client.nowMs += 1000;
    expect(client.refusal("POST", apply, { apply_to: to(42) })).toBe("422 firewall_already_applied");
    expect(client.refusal("POST", apply, { apply_to: to(44) })).toBe("422 private_net_only_server");
    expect(client.refusal("POST", apply, { apply_to: to(99) })).toBe("404 firewall_resource_not_found");
    expect(client.refusal("POST", apply, { apply_to: [] })).toBe("422 invalid_input");
    expect(client.refusal("DELETE", "/firewalls/38")).toBe("422 resource_in_use");
    expect(client.ask("POST", remove, { remove_from: [...to(42), ...to(43)] }).status).toBe(201);
    expect(on(client, 43)).toEqual([{ id: 38, status: "pending" }]);
    client.nowMs += 1000;
    expect(on(client, 43)).toEqual([]);
    expect(client.refusal("POST", remove, { remove_from: to(43) })).toBe("404 firewall_resource_not_found");
    expect(client.refusal("POST", "/firewalls/39/actions/remove_from_resources", { remove_from: to(42) })).toBe(
      "422 firewall_managed_by_label_selector",
    );
    expect(client.ask("DELETE", "/firewalls/38").status).toBe(204);
  });

  test("stay pending at a server where an action ended in an error, until the next one", () => {
    const client = new Client({ ...FIREWALLS, settings: { action_delay_ms: 0, fail_next_actions: 1 } });
    client.ask("POST", "/firewalls/38/actions/apply_to_resources", { apply_to: to(42) });
    expect(on(client, 42)).toContainEqual({ id: 38, status: "pending" });
    client.ask("POST", "/firewalls/38/actions/set_rules", { rules: [] });
    expect(on(client, 42)).toContainEqual({ id: 38, status: "applied" });
  });

  test("are made with a name of their own, and at most five are on a server", () => {
    const client = new Client({
      ...FIREWALLS,
      firewalls: [
        ...FIREWALLS.firewalls,
        ...[1, 2, 3, 4, 5].map((id) => ({ id, name: `f${id}`, servers: id > 3 ? [43] : [42, 43] })),
      ],
    });
    expect(client.ask("POST", "/firewalls", { name: "new", labels: { "a.b/c": "d" } }).status).toBe(201);
    expect(client.refusal("POST", "/firewalls", { name: "new" })).toBe("409 uniqueness_error");
    expect(client.ask("PUT", "/firewalls/38", { labels: {} }).body).toMatchObject({ firewall: { labels: {} } });
    const limit = client.refusal("POST", "/firewalls/39/actions/apply_to_resources", { apply_to: to(43) });
    expect(limit).toBe("403 resource_limit_exceeded");
    client.sandbox.edit((state) => {
      for (const firewall of state.firewalls) firewall.locked = true;
    });
    expect(client.refusal("POST", "/firewalls/38/actions/set_rules", { rules: [] })).toBe("423 locked");
  });

  test.each([
    [{ ...ssh, port: null }, "a port that is missing"],
    [{ direction: "in", protocol: "icmp", port: "80", source_ips: ["::/0"] }, "a port that icmp has not"],
    [{ ...ssh, source_ips: [] }, "no sources"],
    [{ ...ssh, destination_ips: ["0.0.0.0/0"] }, "targets of what comes in"],
    [{ ...ssh, colour: "red" }, "a field that is unknown"],
    [{ ...ssh, description: "x".repeat(256) }, "a description that is too long"],
  ] as const)("refuse the rule %j: %s", (rule, _why) => {
    expect(new Client(FIREWALLS).refusal("POST", "/firewalls/38/actions/set_rules", { rules: [rule] })).toBe(
      "422 invalid_input",
    );
  });

  test("refuse more than 50 rules", () => {
    const rules = Array.from({ length: 51 }, (_, at) => ({ ...ssh, port: String(at + 1) }));
    expect(new Client(FIREWALLS).refusal("POST", "/firewalls/38/actions/set_rules", { rules })).toBe(
      "422 invalid_input",
    );
  });
});

describe("zones and their sets", () => {
  const zones = [{ name: "example.com" }, { name: "example.net", mode: "secondary" }];
  const records = [{ value: "203.0.113.1" }];

  test("are made, replaced, given another TTL and deleted, each by an action", () => {
    const client = new Client({ zones });
    const path = "/zones/example.com/rrsets";
    expect(client.ask("POST", path, { name: "www", type: "A", ttl: 60, records }).status).toBe(201);
    expect(client.refusal("POST", path, { name: "www", type: "A", records })).toBe("409 uniqueness_error");
    expect(
      client.ask("POST", `${path}/www/A/actions/set_records`, { records: [{ value: "203.0.113.2" }] }).status,
    ).toBe(201);
    expect(client.ask("POST", `${path}/www/A/actions/change_ttl`, { ttl: null }).status).toBe(201);
    expect(client.ask("GET", `${path}?name=www&type=A`).body["rrsets"]).toMatchObject([
      { id: "www/A", ttl: null, records: [{ value: "203.0.113.2" }] },
    ]);
    expect(client.ask("GET", `${path}/www/A`).status).toBe(200);
    expect(client.ask("DELETE", `${path}/www/A`).status).toBe(201);
    expect(client.refusal("GET", `${path}/www/A`)).toBe("404 not_found");
    expect(client.ask("GET", "/zones?name=example.com").body["zones"]).toHaveLength(1);
    expect(client.ask("GET", "/zones?name=www.example.com").body["zones"]).toHaveLength(0);
  });

  test.each([
    ["POST", "/zones/example.com/rrsets/www/A/actions/set_records", { records: [] }, "404 not_found"],
    ["POST", "/zones/example.com/rrsets", { name: "www", type: "A", records: [] }, "422 invalid_input"],
    ["POST", "/zones/example.com/rrsets", { name: "www", type: "A", ttl: 30, records }, "422 invalid_input"],
    ["POST", "/zones/example.com/rrsets", { name: "WWW", type: "A", records }, "422 invalid_input"],
    ["POST", "/zones/example.com/rrsets", { name: "a", type: "A", records: [{ value: "x" }] }, "422 invalid_input"],
    ["POST", "/zones/example.net/rrsets", { name: "www", type: "A", records }, "422 incorrect_zone_mode"],
    ["POST", "/zones/example.org/rrsets", { name: "www", type: "A", records }, "404 not_found"],
  ] as const)("%s %s with %j is refused: %s", (method, path, body, refusal) => {
    expect(new Client({ zones }).refusal(method, path, body)).toBe(refusal);
  });
});

describe("callers", () => {
  const tokens = { reader: "read", writer: "read_write" };

  test("need a token, and one that may write to write", () => {
    const client = new Client({ ...STATE, tokens });
    expect(client.refusal("GET", "/floating_ips", undefined, "")).toBe("401 unauthorized");
    expect(client.refusal("GET", "/floating_ips", undefined, "stranger")).toBe("401 unauthorized");
    expect(client.refusal("DELETE", "/floating_ips/1", undefined, "reader")).toBe("401 token_readonly");
    expect(client.ask("GET", "/floating_ips", undefined, "reader").status).toBe(200);
    expect(client.refusal("DELETE", "/floating_ips/1", undefined, "writer")).toBe("422 must_be_unassigned");
  });

  test("get one call back each second, and the reset tells when they have all", () => {
    const client = new Client({ settings: { rate_limit: 2 } });
    expect(client.ask("GET", "/floating_ips").headers).toMatchObject({
      "ratelimit-limit": "2",
      "ratelimit-remaining": "1",
      "ratelimit-reset": String(START_MS / 1000 + 1),
    });
    client.ask("GET", "/floating_ips");
    expect(client.refusal("GET", "/floating_ips")).toBe("429 rate_limit_exceeded");
    client.nowMs += 1000;
    expect(client.ask("GET", "/floating_ips").status).toBe(200);
  });

  test("meet the router's own answer where there is no such path", () => {
    expect(new Client({}).ask("GET", "/nothing").body).toMatchObject({
      error: { code: "not_found", message: "api route not found" },
    });
    expect(new Client({}).refusal("GET", "/actions")).toBe("422 invalid_input");
  });
});

test("what a person wrote wrongly is named with its place", () => {
  for (const [state, problem] of [
    [{ floating_ips: [{ ip: "x" }] }, "floating_ips[0].ip must be an IPv4 address, not x"],
    [{ floating_ips: [{ ip: "203.0.113.1", type: "ipv6" }] }, "floating_ips[0].ip must be an IPv6 network such as"],
    [{ floating_ips: [{ ip: "2001:db8:1:2::1" }] }, "floating_ips[0].ip must be an IPv6 network such as"],
    [
      { floating_ips: [{ ip: "2001:db8:1:2::/64" }, { ip: "2001:DB8:1:2::/64" }] },
      "must not have ip 2001:db8:1:2::/64 twice",
    ],
    [{ servers: [{ id: 1, location: "moon" }] }, "servers[0].location is moon"],
    [{ servers: [{ id: 1 }, { id: 1 }] }, "servers must not have id 1 twice"],
    [{ floating_ips: [{ ip: "203.0.113.1" }, { ip: "203.0.113.1" }] }, "must not have ip 203.0.113.1 twice"],
    [{ zones: [{ name: "a.example" }, { name: "a.example" }] }, "must not have name a.example twice"],
    [{ colour: "red" }, "colour"],
  ] as const)
    expect(() => hetznerSandbox({ state, now: () => 0 }), JSON.stringify(state)).toThrow(problem);
});
