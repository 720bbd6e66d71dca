import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCloudflare } from "../../../src/adapters/cloudflare/cloudflare.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { ConfigError } from "../../../src/model/errors.ts";
import { type CloudflareSandbox, cloudflareSandbox } from "../../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { FaultList } from "../../../src/sandbox/faults.ts";
import type { RecordedCall } from "../../../src/sandbox/http-server.ts";

let file = "";
let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flipop-cf-"));
  file = join(directory, "cloudflare.yaml");
});

afterEach(() => rmSync(directory, { recursive: true }));

function open(state?: unknown): CloudflareSandbox {
  return cloudflareSandbox({ file, now: () => 0, ...(state === undefined ? {} : { state }) });
}

function zones(sandbox: CloudflareSandbox): readonly string[] {
  const headers = { authorization: "Bearer t" };
  const reply = sandbox.handle({
    method: "GET",
    path: "/client/v4/zones",
    query: new URLSearchParams(),
    headers,
    body: undefined,
  });
  const { result } = ("body" in reply ? reply.body : {}) as { result: readonly { name: string }[] };
  return result.map(({ name }) => name);
}

const short =
  "zones: [{name: Example.com., dns_records: [{name: www, content: 203.0.113.1}, {name: '@', content: 203.0.113.2}]}]\n";

describe("cloudflare.yaml", () => {
  test("may be as short as a person writes it, and is completed", () => {
    writeFileSync(file, short);
    const { state } = open().account();
    expect(state).toMatchObject({
      zones: [
        {
          id: expect.stringMatching(/^[0-9a-f]{32}$/),
          name: "example.com",
          status: "active",
          dns_records: [
            { name: "www.example.com", type: "A", ttl: 1, proxied: false, comment: "", tags: [] },
            { name: "example.com", content: "203.0.113.2" },
          ],
        },
      ],
      settings: {
        requests_per_5_minutes: 1200,
        records_per_zone: 200,
        changes_per_batch: 200,
        comment_characters: 100,
      },
      tokens: {},
    });
    const ids = state.zones.flatMap((zone) => zone.dns_records.map(({ id }) => id));
    expect(new Set(ids).size).toBe(2);
    expect(readFileSync(file, "utf8")).toMatch(/^# The Cloudflare account of this sandbox\./);
  });

  test("gives the same ids after a restart", () => {
    writeFileSync(file, short);
    const first = structuredClone(open().account().state);
    expect(open().account().state).toEqual(first);
  });

  test("is made from the given state when it does not exist, and the state is ignored when it does", () => {
    open({ zones: [{ name: "example.com" }] });
    expect(zones(open({ zones: [{ name: "example.org" }] }))).toEqual(["example.com"]);
  });

  test("that is empty is an account with nothing in it", () => {
    writeFileSync(file, "");
    expect(zones(open())).toEqual([]);
  });

  test("is read again when a person changed it", () => {
    const sandbox = open({ zones: [{ name: "example.com" }] });
    writeFileSync(file, "zones: [{name: example.net}]");
    expect(zones(sandbox)).toEqual(["example.net"]);
  });

  test.for([
    ["zones: [{id: abc, name: example.com}]", "zones[0].id must match pattern"],
    ["zones: [{}]", "zones[0] must have required property 'name'"],
    [
      "zones: [{name: a.example, dns_records: [{name: www}]}]",
      "zones[0].dns_records[0] must have required property 'content'",
    ],
    [
      "zones: [{name: a.example, dns_records: [{name: www, content: x, type: B}]}]",
      "dns_records[0].type must be equal to one of",
    ],
    ["zones: [{name: a.example}, {name: A.example}]", "zones must not have id"],
    ["tokens: {t: {'*': [dns:write]}}", "must be equal to one of the allowed values: zone:read, dns:read, dns:edit"],
    ["surprise: 1", "the file must NOT have additional properties: surprise"],
  ] as const)("with %s is an error that names the file and the place", ([text, reason]) => {
    writeFileSync(file, text);
    expect(() => open()).toThrow(ConfigError);
    expect(() => open()).toThrow(`cannot read ${file}:1:`);
    expect(() => open()).toThrow(reason);
  });

  test("holds what the API changed", async () => {
    const sandbox = open({ zones: [{ name: "example.com" }] });
    const server = await sandbox.serve();
    try {
      const baseURL = `${server.url}/client/v4`;
      const provider = createCloudflare({ token: "t", baseURL, userAgent: "flipop-test", clock: SYSTEM_CLOCK });
      const zone = await provider.findZone("example.com");
      if (zone === undefined) throw new Error("no zone");
      const after = { addresses: ["203.0.113.1"], ttlSeconds: 60 };
      await provider.writeRecords(zone, "www.example.com", { before: [], after });
    } finally {
      await server.close();
    }
    expect(readFileSync(file, "utf8")).toContain("content: 203.0.113.1");
  });
});

describe("the sandbox's own handles", () => {
  test("add and remove zones and records, those the API would refuse too", () => {
    const sandbox = open();
    sandbox.addZone({ name: "example.com" });
    const twin = { name: "www", content: "203.0.113.1", ttl: 5 };
    const ids = [sandbox.addRecord("example.com", twin).id, sandbox.addRecord("example.com", twin).id];
    expect(new Set(ids).size).toBe(2);
    sandbox.removeRecords("example.com", "WWW.example.com", ({ id }) => id === ids[0]);
    expect(sandbox.account().state.zones[0]?.dns_records.map(({ id }) => id)).toEqual([ids[1]]);
    sandbox.removeRecords("example.com", "www");
    expect(sandbox.account().state.zones[0]?.dns_records).toEqual([]);
    sandbox.removeZone("example.com");
    expect(zones(sandbox)).toEqual([]);
    expect(() => sandbox.addRecord("example.com", twin)).toThrow("the sandbox has no zone example.com");
  });

  test("serve the API with the faults, and record each call", async () => {
    const calls: RecordedCall[] = [];
    const faults = new FaultList([{ server: "cloudflare", method: "GET", status: 502, times: 2 }]);
    const state = { zones: [{ name: "example.com" }] };
    const sandbox = cloudflareSandbox({ state, faults, now: () => 0, onCall: (call) => calls.push(call) });
    const server = await sandbox.serve();
    try {
      const baseURL = `${server.url}/client/v4`;
      const provider = createCloudflare({ token: "t", baseURL, userAgent: "flipop-test", clock: SYSTEM_CLOCK });
      await expect(provider.findZone("example.com")).rejects.toMatchObject({ failure: "unavailable", status: 502 });
      expect((await provider.findZone("example.com"))?.name).toBe("example.com");
      expect(provider.rateLimit()).toMatchObject({ limit: 1200, remaining: 1199 });
    } finally {
      await server.close();
    }
    expect(calls.map(({ server: name, status, path }) => [name, status, path])).toEqual([
      ["cloudflare", 502, "/client/v4/zones"],
      ["cloudflare", 502, "/client/v4/zones"],
      ["cloudflare", 200, "/client/v4/zones"],
    ]);
  });
});
