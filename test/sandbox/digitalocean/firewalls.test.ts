import { describe, expect, test } from "vitest";
import { type APIAnswer, type APIClient, apiClient } from "./api-client.ts";

const id = "bb4b2611-3d72-467b-8602-000000000001";
const path = `/v2/firewalls/${id}`;
const anybody = { addresses: ["0.0.0.0/0", "::/0"] };
const office = { addresses: ["192.0.2.0/24"] };
const http = { protocol: "tcp", ports: "80", sources: anybody };
const ssh = { protocol: "tcp", ports: "22", sources: office };

const account = {
  droplets: [{ id: 101 }, { id: 102 }, { id: 103, tags: ["K8s"] }],
  firewalls: [{ name: "web", inbound_rules: [{ ...ssh, ports: 22 }], droplet_ids: [101], tags: ["k8s"] }],
};

function firewall(client: APIClient): APIAnswer["body"] {
  return client.get(path).body["firewall"] as APIAnswer["body"];
}

function inbound(client: APIClient): unknown {
  return firewall(client)["inbound_rules"];
}

describe("reading firewalls", () => {
  test("shows what a person wrote, with an id, and ports as text", () => {
    const client = apiClient(account);
    const shown = {
      id,
      name: "web",
      status: "succeeded",
      inbound_rules: [ssh],
      outbound_rules: [],
      created_at: "2026-01-01T00:00:00Z",
      droplet_ids: [101],
      tags: ["k8s"],
      pending_changes: [],
    };
    expect(client.get(path)).toMatchObject({ status: 200, body: { firewall: shown } });
    expect(client.get("/v2/firewalls").body).toEqual({ firewalls: [shown], links: {}, meta: { total: 1 } });
  });

  test("has pages", () => {
    const client = apiClient({ firewalls: Array.from({ length: 205 }, (_, at) => ({ name: `f${at}` })) });
    const page = client.get("/v2/firewalls?page=2&per_page=200").body;
    expect([page["firewalls"], page["meta"]]).toMatchObject([{ length: 5 }, { total: 205 }]);
  });

  test("hides droplets without droplet:read and tags without tag:read", () => {
    const client = apiClient({ ...account, tokens: { "secret-token": ["firewall:read"] } });
    expect(firewall(client)).toMatchObject({ droplet_ids: [], tags: [] });
    const other = apiClient({ ...account, tokens: { "secret-token": ["firewall:read", "droplet:read", "tag:read"] } });
    expect(firewall(other)).toMatchObject({ droplet_ids: [101], tags: ["k8s"] });
  });

  test("is 404 for an unknown firewall", () => {
    const other = "/v2/firewalls/bb4b2611-3d72-467b-8602-00000000000f";
    expect(apiClient(account).get(other)).toMatchObject({ status: 404, body: { id: "not_found" } });
  });

  test("is not needed to replace or make a firewall, which is not served", () => {
    const client = apiClient(account);
    expect(client.send("PUT", path, { name: "web", inbound_rules: [] }).status).toBe(404);
    expect(client.send("POST", "/v2/firewalls", { name: "other", inbound_rules: [http] }).status).toBe(404);
  });
});

describe("adding and removing rules", () => {
  test("adds to what is there, and a second time changes nothing", () => {
    const client = apiClient(account);
    for (let count = 0; count < 2; count += 1) {
      expect(client.send("POST", `${path}/rules`, { inbound_rules: [http] })).toMatchObject({ status: 204, body: {} });
      expect(inbound(client)).toEqual([ssh, { ...http, sources: { addresses: ["::/0", "0.0.0.0/0"] } }]);
    }
  });

  test("shows all ports as 0, and those of icmp, and leaves a whole range as it is", () => {
    const client = apiClient({ firewalls: [{ name: "web" }] });
    const rules = [
      { protocol: "udp", ports: "all", sources: anybody },
      { protocol: "tcp", ports: "1-65535", sources: anybody },
      { protocol: "icmp", ports: "8", sources: anybody },
    ];
    client.send("POST", `${path}/rules`, { inbound_rules: rules });
    expect(inbound(client)).toMatchObject([
      { protocol: "icmp", ports: "0" },
      { protocol: "tcp", ports: "1-65535" },
      { protocol: "udp", ports: "0" },
    ]);
  });

  test("removes the rule whose every value fits, in whatever order its sources are", () => {
    const client = apiClient(account);
    client.send("POST", `${path}/rules`, { inbound_rules: [http, { ...http, sources: office }] });
    const turned = { ...http, sources: { addresses: ["::/0", "0.0.0.0/0"] } };
    expect(client.send("DELETE", `${path}/rules`, { inbound_rules: [turned] }).status).toBe(204);
    expect(inbound(client)).toEqual([ssh, { ...http, sources: office }]);
  });

  test("finds nothing to remove when one value differs, and does not mind", () => {
    const client = apiClient(account);
    client.send("POST", `${path}/rules`, { inbound_rules: [http, { ...http, ports: "all" }] });
    for (const rule of [
      { ...http, sources: { addresses: ["0.0.0.0/0"] } },
      { ...http, sources: { ...anybody, tags: ["k8s"] } },
      { ...http, ports: "80-80" },
      { ...http, ports: "all" },
      { ...http, protocol: "udp" },
      { ...http, action: "deny" },
    ]) {
      expect(client.send("DELETE", `${path}/rules`, { inbound_rules: [rule] }).status).toBe(204);
    }
    expect(inbound(client)).toHaveLength(3);
  });

  test("knows outbound rules, and counts them with the others up to 50", () => {
    const client = apiClient({ firewalls: [{ name: "web" }] });
    const rules = Array.from({ length: 49 }, (_, at) => ({ ...http, ports: String(at + 1) }));
    const out = { protocol: "tcp", ports: "443", destinations: anybody };
    expect(client.send("POST", `${path}/rules`, { inbound_rules: rules, outbound_rules: [out] }).status).toBe(204);
    const more = client.send("POST", `${path}/rules`, { inbound_rules: [{ ...http, ports: "50" }] });
    expect(more).toMatchObject({ status: 422, body: { message: "Firewall must have no more than 50 rules." } });
    expect(client.send("POST", `${path}/rules`, { inbound_rules: [rules[0]] }).status).toBe(204);
    expect(client.send("DELETE", `${path}/rules`, { outbound_rules: [out] }).status).toBe(204);
    expect([firewall(client)["outbound_rules"], firewall(client)["inbound_rules"]]).toMatchObject([[], { length: 49 }]);
  });

  test("may deny", () => {
    const client = apiClient({ firewalls: [{ name: "web" }] });
    client.send("POST", `${path}/rules`, { inbound_rules: [{ ...http, action: "deny" }] });
    expect(inbound(client)).toMatchObject([{ protocol: "tcp", ports: "80", action: "deny" }]);
  });

  test.for([
    [400, undefined],
    [400, []],
    [400, { inbound_rules: "80" }],
    [400, { inbound_rules: [{ ...http, ports: 80 }] }],
    [400, { inbound_rules: [{ protocol: "tcp", ports: "80" }] }],
    [422, { inbound_rules: [] }],
    [422, { inbound_rules: [{ ...http, protocol: "sctp" }] }],
    [422, { inbound_rules: [{ ...http, ports: "http" }] }],
    [422, { inbound_rules: [{ ...http, ports: "" }] }],
    [422, { inbound_rules: [{ ...http, ports: "70000" }] }],
    [422, { inbound_rules: [{ ...http, ports: "90-80" }] }],
    [422, { inbound_rules: [{ ...http, sources: {} }] }],
    [422, { inbound_rules: [{ ...http, sources: { addresses: ["nowhere"] } }] }],
    [422, { inbound_rules: [{ ...http, action: "log" }] }],
  ] as const)("is %i for %j, and changes nothing", ([status, body]) => {
    const client = apiClient(account);
    const before = structuredClone(client.sandbox.cloud().state);
    expect(client.send("POST", `${path}/rules`, body, true).status).toBe(status);
    expect(client.sandbox.cloud().state).toEqual(before);
  });
});

describe("attaching and detaching droplets", () => {
  test("adds to those that are there, up to ten, and removes the named ones alone", () => {
    const droplets = Array.from({ length: 12 }, (_, at) => ({ id: 101 + at }));
    const client = apiClient({ ...account, droplets });
    const ids = droplets.slice(0, 10).map((droplet) => droplet.id);
    expect(client.send("POST", `${path}/droplets`, { droplet_ids: ids }).status).toBe(204);
    expect(client.send("POST", `${path}/droplets`, { droplet_ids: [112] })).toMatchObject({
      status: 422,
      body: { message: "Firewall must have no more than 10 droplets." },
    });
    expect(client.send("DELETE", `${path}/droplets`, { droplet_ids: [...ids.slice(2), 112] }).status).toBe(204);
    expect(firewall(client)["droplet_ids"]).toEqual([101, 102]);
  });

  test("is 404 for an unknown droplet, and attaches none", () => {
    const client = apiClient(account);
    expect(client.send("POST", `${path}/droplets`, { droplet_ids: [102, 999] }).status).toBe(404);
    expect(firewall(client)["droplet_ids"]).toEqual([101]);
  });

  test.for([[{}], [{ droplet_ids: [] }], [{ droplet_ids: ["101"] }]] as const)("is 400 for %j", ([body]) => {
    expect(apiClient(account).send("POST", `${path}/droplets`, body, true).status).toBe(400);
  });

  test("is undone when the droplet is deleted", () => {
    const client = apiClient(account);
    client.sandbox.removeDroplet(101);
    expect(firewall(client)).toMatchObject({ droplet_ids: [], pending_changes: [] });
  });
});

describe("changes that take time", () => {
  const slow = { ...account, settings: { action_delay_ms: 20_000 } };
  const waiting = (dropletID: number, removing = false): object => ({
    droplet_id: dropletID,
    removing,
    status: "waiting",
  });

  test("rules are pending for every droplet that is covered, by id or by tag, until they are carried out", () => {
    const client = apiClient(slow);
    client.send("POST", `${path}/rules`, { inbound_rules: [http] });
    expect(firewall(client)).toMatchObject({ status: "waiting", pending_changes: [waiting(101), waiting(103)] });
    client.nowMs += 19_999;
    expect(firewall(client)["status"]).toBe("waiting");
    client.nowMs += 1;
    expect(firewall(client)).toMatchObject({ status: "succeeded", pending_changes: [] });
  });

  test("a droplet is attached at once and pending, and a removed one is pending as removed", () => {
    const client = apiClient(slow);
    client.send("POST", `${path}/droplets`, { droplet_ids: [101, 102] });
    expect(firewall(client)).toMatchObject({ droplet_ids: [101, 102], pending_changes: [waiting(102)] });
    client.send("DELETE", `${path}/droplets`, { droplet_ids: [102, 103] });
    expect(firewall(client)).toMatchObject({ droplet_ids: [101], pending_changes: [waiting(102, true)] });
  });

  test("rules of a firewall without droplets are done at once", () => {
    const client = apiClient({ ...slow, firewalls: [{ name: "web" }] });
    client.send("POST", `${path}/rules`, { inbound_rules: [http] });
    expect(firewall(client)).toMatchObject({ status: "succeeded", pending_changes: [] });
  });

  test("a firewall that failed says so until its next change", () => {
    const client = apiClient({ ...account, firewalls: [{ name: "web", status: "failed" }] });
    expect(firewall(client)["status"]).toBe("failed");
    client.send("POST", `${path}/rules`, { inbound_rules: [http] });
    expect(firewall(client)["status"]).toBe("succeeded");
  });
});

describe("changes that are never carried out", () => {
  const written = (changes: readonly object[], more: object = {}): object => ({
    ...account,
    firewalls: [{ ...account.firewalls[0], pending_changes: changes, ...more }],
  });

  test("are written by hand, and stay although their droplet is deleted or was never there", () => {
    const client = apiClient(written([{ droplet_id: 101 }, { droplet_id: 999, removing: true }]));
    client.nowMs += 3_600_000;
    client.sandbox.removeDroplet(101);
    expect(firewall(client)).toMatchObject({
      status: "waiting",
      droplet_ids: [],
      pending_changes: [
        { droplet_id: 101, removing: false, status: "waiting" },
        { droplet_id: 999, removing: true, status: "waiting" },
      ],
    });
  });

  test("are what an unreachable droplet has, until it is reachable again; others have theirs in time", () => {
    const droplets = account.droplets.map((droplet) => ({ ...droplet, unreachable: droplet.id === 101 }));
    const client = apiClient({ ...account, droplets });
    client.send("POST", `${path}/rules`, { inbound_rules: [http] });
    expect(firewall(client)).toMatchObject({ status: "waiting", pending_changes: [{ droplet_id: 101 }] });
    for (const droplet of client.sandbox.cloud().state.droplets) delete droplet.unreachable;
    expect(firewall(client)).toMatchObject({ status: "succeeded", pending_changes: [] });
  });

  test("may have failed at a droplet, until that has its next one", () => {
    const client = apiClient(written([{ droplet_id: 101, status: "failed" }]));
    expect(firewall(client)).toMatchObject({
      status: "failed",
      pending_changes: [{ droplet_id: 101, removing: false, status: "failed" }],
    });
    client.send("POST", `${path}/droplets`, { droplet_ids: [102] });
    expect(firewall(client)).toMatchObject({ pending_changes: [{ droplet_id: 101, status: "failed" }] });
    client.send("POST", `${path}/rules`, { inbound_rules: [http] });
    expect(firewall(client)).toMatchObject({ status: "succeeded", pending_changes: [] });
  });

  test("may be at work on the firewall as a whole, without a droplet", () => {
    const client = apiClient(written([], { status: "waiting" }));
    expect(firewall(client)).toMatchObject({ status: "waiting", pending_changes: [] });
  });
});

describe("droplets with a tag", () => {
  test("are listed alone, in whatever case the tag is asked for, and none for an unknown tag", () => {
    const client = apiClient(account);
    const listed = (tag: string): unknown => client.get(`/v2/droplets?tag_name=${tag}`).body;
    expect(listed("k8s")).toMatchObject({ droplets: [{ id: 103, tags: ["K8s"] }], meta: { total: 1 } });
    expect(listed("other")).toMatchObject({ droplets: [], meta: { total: 0 } });
    expect(client.get("/v2/droplets").body["meta"]).toEqual({ total: 3 });
  });
});

describe("scopes", () => {
  test.for([
    ["firewall:read", "GET", "/v2/firewalls", undefined],
    ["firewall:read", "GET", path, undefined],
    ["firewall:update", "POST", `${path}/rules`, { inbound_rules: [http] }],
    ["firewall:update", "DELETE", `${path}/rules`, { inbound_rules: [ssh] }],
    ["firewall:update", "POST", `${path}/droplets`, { droplet_ids: [102] }],
    ["firewall:update", "DELETE", `${path}/droplets`, { droplet_ids: [101] }],
    ["tag:read", "GET", "/v2/droplets?tag_name=k8s", undefined],
  ] as const)("without %s, %s %s is 403 and changes nothing", ([scope, method, where, body]) => {
    const every = ["firewall:read", "firewall:update", "droplet:read", "tag:read"];
    const client = apiClient({ ...account, tokens: { less: every.filter((item) => item !== scope), all: every } });
    const before = structuredClone(client.sandbox.cloud().state);
    client.token = "less";
    expect(client.send(method, where, body)).toMatchObject({ status: 403, body: { id: "Forbidden" } });
    expect(client.sandbox.cloud().state).toEqual(before);
    client.token = "all";
    expect(client.send(method, where, body).status).toBeLessThan(300);
  });
});
