import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/model/errors.ts";
import {
  type DigitalOceanSandbox,
  digitaloceanSandbox,
} from "../../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FaultList } from "../../../src/sandbox/faults.ts";

let file = "";
let directory = "";
let nowMs = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flipop-do-"));
  file = join(directory, "digitalocean.yaml");
  nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
});

afterEach(() => rmSync(directory, { recursive: true }));

function open(state?: unknown): DigitalOceanSandbox {
  return digitaloceanSandbox({ file, now: () => nowMs, ...(state === undefined ? {} : { state }) });
}

function send(sandbox: DigitalOceanSandbox, method: string, path: string, body?: unknown): Record<string, unknown> {
  const headers = { authorization: "Bearer t" };
  const reply = sandbox.handle({ method, path, query: new URLSearchParams(), headers, body });
  return { status: reply.status, ...("body" in reply ? (reply.body as object) : {}) };
}

function holder(sandbox: DigitalOceanSandbox, ip: string): unknown {
  const { reserved_ip: address } = send(sandbox, "GET", `/v2/reserved_ips/${ip}`) as {
    reserved_ip: { droplet: { id: number } | null };
  };
  return address.droplet?.id ?? null;
}

const short = `droplets: [{id: 101, region: nyc3}, {id: 102, region: nyc3}]
reserved_ips: [{ip: 203.0.113.1, region: nyc3, droplet_id: 101}]
`;

describe("digitalocean.yaml", () => {
  test("may be as short as a person writes it, and is completed", () => {
    writeFileSync(file, short);
    const sandbox = open();
    expect(holder(sandbox, "203.0.113.1")).toBe(101);
    expect(sandbox.cloud().state).toMatchObject({
      account: { reserved_ip_limit: 3 },
      settings: { action_delay_ms: 0, rate_limit: { per_hour: 5000, per_minute: 250 }, creations_per_minute: 12 },
      droplets: [{ name: "droplet-101", status: "active" }, { anchor_ip: "10.17.0.102" }],
    });
    expect(readFileSync(file, "utf8")).toMatch(/^# The DigitalOcean account of this sandbox\./);
  });

  test("is made from the given state when it does not exist, and the state is ignored when it does", () => {
    open({ droplets: [{ id: 7 }] });
    expect(open({ droplets: [{ id: 8 }] }).cloud().state.droplets).toMatchObject([{ id: 7 }]);
  });

  test("that is empty is an account with nothing in it", () => {
    writeFileSync(file, "");
    expect(send(open(), "GET", "/v2/reserved_ips")).toMatchObject({ status: 200, reserved_ips: [] });
  });

  test("keeps accepted actions over a restart, and they take effect in time", () => {
    writeFileSync(file, `${short}settings: {action_delay_ms: 10000}\n`);
    const { action } = send(open(), "POST", "/v2/reserved_ips/203.0.113.1/actions", {
      type: "assign",
      droplet_id: 102,
    }) as { action: { id: number } };
    nowMs += 5000;
    expect(holder(open(), "203.0.113.1")).toBe(101);
    expect(open().cloud().state.actions).toMatchObject([{ status: "in-progress" }]);
    nowMs += 5000;
    const restarted = open();
    expect(holder(restarted, "203.0.113.1")).toBe(102);
    expect(send(restarted, "GET", `/v2/reserved_ips/203.0.113.1/actions/${action.id}`)).toMatchObject({
      action: { status: "completed" },
    });
    expect(readFileSync(file, "utf8")).toMatch(/droplet_id: 102/);
  });

  test("keeps creations over a restart: limit, counters and the minute's count", () => {
    const state = { account: { reserved_ip_limit: 3 }, settings: { creations_per_minute: 2 } };
    const ips = [1, 2].map(() => send(open(state), "POST", "/v2/reserved_ips", { region: "nyc3" })["reserved_ip"]);
    expect(ips).toMatchObject([{ ip: "198.51.100.1" }, { ip: "198.51.100.2" }]);
    expect(send(open(), "POST", "/v2/reserved_ips", { region: "nyc3" })["status"]).toBe(429);
    nowMs += 60_000;
    expect(send(open(), "POST", "/v2/reserved_ips", { region: "nyc3" })["status"]).toBe(202);
    expect(send(open(), "POST", "/v2/reserved_ips", { region: "nyc3" })["status"]).toBe(422);
  });

  test("keeps firewalls over a restart: ids, rules, and changes that are not carried out yet", () => {
    const rule = "{protocol: tcp, ports: 22, sources: {addresses: [192.0.2.0/24]}}";
    writeFileSync(
      file,
      `${short}settings: {action_delay_ms: 10000}\nfirewalls: [{name: web, inbound_rules: [${rule}], droplet_ids: [101, 999]}]\n`,
    );
    const listed = (): unknown => send(open(), "GET", "/v2/firewalls")["firewalls"];
    expect(listed()).toMatchObject([{ name: "web", inbound_rules: [{ ports: "22" }], droplet_ids: [101] }]);
    const [{ id } = { id: "" }] = listed() as readonly { id: string }[];
    send(open(), "POST", `/v2/firewalls/${id}/droplets`, { droplet_ids: [102] });
    expect(listed()).toMatchObject([{ id, droplet_ids: [101, 102], pending_changes: [{ droplet_id: 102 }] }]);
    nowMs += 10_000;
    expect(listed()).toMatchObject([{ id, status: "succeeded", pending_changes: [] }]);
    expect(readFileSync(file, "utf8")).not.toMatch(/^ +pending_changes:/m);
  });

  test("edited between two requests is read again: a removed droplet leaves its address unassigned", () => {
    writeFileSync(file, short);
    const sandbox = open();
    expect(holder(sandbox, "203.0.113.1")).toBe(101);
    writeFileSync(file, "droplets: [{id: 102}]\nreserved_ips: [{ip: 203.0.113.1, droplet_id: 101}]\n");
    expect(holder(sandbox, "203.0.113.1")).toBeNull();
    expect(send(sandbox, "GET", "/v2/droplets/101")["status"]).toBe(404);
  });

  test("edited by hand to move an address shows it there", () => {
    writeFileSync(file, short);
    const sandbox = open();
    send(sandbox, "GET", "/v2/reserved_ips");
    writeFileSync(file, readFileSync(file, "utf8").replace("droplet_id: 101", "droplet_id: 102"));
    expect(holder(sandbox, "203.0.113.1")).toBe(102);
  });

  test("is not written by requests that change nothing", () => {
    writeFileSync(file, short);
    const sandbox = open();
    const text = readFileSync(file, "utf8");
    send(sandbox, "GET", "/v2/reserved_ips");
    send(sandbox, "POST", "/v2/reserved_ips/203.0.113.1/actions", { type: "assign", droplet_id: 101 });
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("broken while the sandbox runs fails requests with file and line until it is corrected, and is left alone", async () => {
    writeFileSync(file, short);
    const errors: unknown[] = [];
    const sandbox = digitaloceanSandbox({ file, now: () => nowMs, onError: (error) => errors.push(error) });
    const server = await sandbox.serve();
    try {
      const get = (): Promise<Response> =>
        fetch(`${server.url}/v2/account`, { headers: { authorization: "Bearer t" } });
      writeFileSync(file, "droplets: [{id: 101\n");
      const response = await get();
      expect(response.status).toBe(500);
      expect(await response.text()).toContain(`${file}:2:1`);
      expect(errors).toEqual([expect.any(ConfigError)]);
      expect(readFileSync(file, "utf8")).toBe("droplets: [{id: 101\n");
      writeFileSync(file, short);
      expect((await get()).status).toBe(200);
    } finally {
      await server.close();
    }
  });
});

describe("an invalid digitalocean.yaml names file and path", () => {
  test.for([
    ["droplets: [{region: nyc3}]", "droplets[0] must have required property 'id'"],
    ["droplets: [{id: abc}]", "droplets[0].id must be integer"],
    ["droplets: [{id: 1, regoin: nyc3}]", "droplets[0] must NOT have additional properties: regoin"],
    ["doplets: []", "the file must NOT have additional properties: doplets"],
    ["reserved_ips: [{ip: 203.0.113.999}]", "reserved_ips[0].ip must be an IPv4 address, not 203.0.113.999"],
    ["byoip: [{ip: nonsense}]", "byoip[0].ip must be an IPv4 address, not nonsense"],
    ["droplets: [{id: 1}, {id: 1}]", "droplets must not have id 1 twice"],
    ["reserved_ips: [{ip: 1.2.3.4}]\nbyoip: [{ip: 1.2.3.4}]", "reserved_ips and byoip must not have ip 1.2.3.4 twice"],
    [
      "droplets: [{id: 1}]\nreserved_ips: [{ip: 1.2.3.4, droplet_id: 1}, {ip: 1.2.3.5, droplet_id: 1}]",
      "reserved_ips and byoip must not have droplet_id 1 twice",
    ],
    [
      "reserved_ips: [{ip: 1.2.3.4, region: moon1}]",
      "reserved_ips[0].region is moon1, which is not in settings.regions: ",
    ],
    [
      "droplets: [{id: 1, region: ams3}]\nreserved_ips: [{ip: 1.2.3.4, region: nyc3, droplet_id: 1}]",
      "reserved_ips[0].region is nyc3, but its droplet 1 is in ams3",
    ],
    ["settings: {action_delay_ms: -1}", "settings.action_delay_ms must be >= 0"],
    ["droplets: [{id: 1, pending_event_until: tomorrow}]", "droplets[0].pending_event_until must match pattern"],
    ["firewalls: [{}]", "firewalls[0] must have required property 'name'"],
    ["firewalls: [{name: a b}]", "firewalls[0].name must match pattern"],
    [
      "firewalls: [{name: web, inbound_rules: [{protocol: tcp, ports: 80}]}]",
      "firewalls[0].inbound_rules[0] must have required property 'sources'",
    ],
    [
      "firewalls: [{name: web, inbound_rules: [{protocol: tcp, ports: http, sources: {}}]}]",
      "firewalls[0].inbound_rules[0].ports must match pattern",
    ],
    [
      "firewalls: [{name: one, id: &id bb4b2611-3d72-467b-8602-280330ecd65c}, {name: two, id: *id}]",
      "firewalls must not have id bb4b2611-3d72-467b-8602-280330ecd65c twice",
    ],
    ["- a", "the file must be object"],
  ] as const)("%s", ([text, message]) => {
    writeFileSync(file, `${text}\n`);
    expect(() => open()).toThrow(ConfigError);
    expect(() => open()).toThrow(`cannot read ${file}:`);
    expect(() => open()).toThrow(`: ${message}`);
  });
});

describe("the sandbox over HTTP", () => {
  test("serves the account, tells its calls, and applies faults", async () => {
    const calls: unknown[] = [];
    const faults = new FaultList([{ server: "digitalocean", method: "POST", cut: "after" }]);
    const sandbox = digitaloceanSandbox({
      state: { droplets: [{ id: 101 }], reserved_ips: [{ ip: "203.0.113.1" }] },
      faults,
      now: () => nowMs,
      onCall: ({ method, path, status }) => calls.push([method, path, status]),
    });
    const server = await sandbox.serve();
    try {
      const path = "/v2/reserved_ips/203.0.113.1";
      const headers = { authorization: "Bearer t" };
      const assign = { method: "POST", headers, body: '{"type":"assign","droplet_id":101,"type":"assign"}' };
      await expect(fetch(`${server.url}${path}/actions`, assign)).rejects.toThrow("fetch failed");
      const response = await fetch(`${server.url}${path}`, { headers });
      expect(response.headers.get("date")).toBe("Fri, 02 Jan 2026 03:04:05 GMT");
      expect(response.headers.get("ratelimit-remaining")).toBe("4998");
      expect(await response.json()).toMatchObject({ reserved_ip: { droplet: { id: 101 } } });
      expect(calls).toEqual([
        ["POST", `${path}/actions`, 0],
        ["GET", path, 200],
      ]);
    } finally {
      await server.close();
    }
  });

  test("changes made behind everybody's back are seen by the next request and kept in the file", () => {
    const sandbox = open({ droplets: [{ id: 101 }] });
    sandbox.addDroplet({ id: 102, name: "worker-2" });
    sandbox.addAddress({ ip: "203.0.113.1", droplet_id: 101 });
    sandbox.addAddress({ ip: "192.0.2.10" }, "byoip");
    sandbox.setAddress("203.0.113.1", { droplet_id: 102 });
    expect(holder(sandbox, "203.0.113.1")).toBe(102);
    sandbox.removeDroplet(102);
    expect(holder(open(), "203.0.113.1")).toBeNull();
    expect(holder(open(), "192.0.2.10")).toBeNull();
    const id = sandbox.setFirewall({ name: "web", droplet_ids: [101] });
    expect(send(open(), "GET", `/v2/firewalls/${id}`)).toMatchObject({ status: 200, firewall: { droplet_ids: [101] } });
    sandbox.removeFirewall(id);
    expect(send(open(), "GET", `/v2/firewalls/${id}`)["status"]).toBe(404);
    sandbox.removeAddress("203.0.113.1");
    expect(send(open(), "GET", "/v2/reserved_ips/203.0.113.1")["status"]).toBe(404);
    expect(() => sandbox.setAddress("203.0.113.1", {})).toThrow("the sandbox has no address 203.0.113.1");
  });
});
