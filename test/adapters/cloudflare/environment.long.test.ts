import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { batchJSON, fqdn, listJSON, recordJSON, recordsPath, zoneID } from "./api-objects.ts";
import { startScriptedServer } from "./scripted-server.ts";

const run = promisify(execFile);
const adapter = new URL("../../../src/adapters/cloudflare/cloudflare.ts", import.meta.url).href;
const systemClock = new URL("../../../src/cli/system-clock.ts", import.meta.url).href;

/** Everything that cloudflare 7.3.0 reads from the environment, in the worst way. */
const hostile = {
  CLOUDFLARE_API_TOKEN: "token-of-the-environment",
  CLOUDFLARE_API_KEY: "key-of-the-environment",
  CLOUDFLARE_EMAIL: "somebody@example.com",
  CLOUDFLARE_API_USER_SERVICE_KEY: "service-key-of-the-environment",
  CLOUDFLARE_LOG: "debug",
  CLOUDFLARE_CUSTOM_HEADERS: [
    "Authorization: Bearer header-of-the-environment",
    "Content-Type: application/x-www-form-urlencoded",
    "User-Agent: agent-of-the-environment",
    "X-Of-The-Environment: 1",
    "no header name: 1",
    "X-Bad-Value: \u0001",
  ].join("\n"),
};

describe("the SDK's variables in the environment", () => {
  test("change nothing: neither place, headers nor body of a request, and nothing is printed", async () => {
    const elsewhere = await startScriptedServer(() => ({ json: listJSON([]) }));
    const server = await startScriptedServer(({ method }) =>
      method === "GET" ? { json: listJSON([]) } : { json: batchJSON({ posts: [recordJSON("a", "203.0.113.1")] }) },
    );
    try {
      const program = `
        const { createCloudflare } = await import(${JSON.stringify(adapter)});
        const { SYSTEM_CLOCK: clock } = await import(${JSON.stringify(systemClock)});
        const baseURL = "${server.url}/client/v4";
        const provider = createCloudflare({ token: "ours", baseURL, userAgent: "flipop/0", clock });
        const zone = { id: "${zoneID}" };
        const change = { before: [], after: { addresses: ["203.0.113.1"], ttlSeconds: 60 } };
        const { kind, records } = await provider.writeRecords(zone, "${fqdn}", change);
        process.stdout.write([kind, ...records.addresses].join());
      `;
      const env = { ...hostile, CLOUDFLARE_BASE_URL: `${elsewhere.url}/client/v4`, PATH: process.env["PATH"] };
      const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", program], { env });
      expect([stdout, stderr]).toEqual(["written,203.0.113.1", ""]);
      expect(elsewhere.requests).toEqual([]);
      expect(server.requests.map(({ method, path }) => [method, path])).toEqual([
        ["GET", recordsPath],
        ["POST", `${recordsPath}/batch`],
      ]);
      const names = ["accept", "authorization", "connection", "host", "user-agent"];
      const added = ["accept-encoding", "accept-language", "content-length", "content-type", "sec-fetch-mode"];
      for (const { headers } of server.requests) {
        expect(headers).toMatchObject({ authorization: "Bearer ours", "user-agent": "flipop/0" });
        expect(Object.keys(headers)).toEqual(expect.arrayContaining(names));
        expect(Object.keys(headers).filter((name) => ![...names, ...added].includes(name))).toEqual([]);
        expect(JSON.stringify(headers)).not.toContain("environment");
      }
      expect(server.requests[1]?.headers["content-type"]).toBe("application/json");
      expect(server.requests[1]?.body).toMatchObject({ posts: [{ content: "203.0.113.1" }] });
    } finally {
      await server.close();
      await elsewhere.close();
    }
  });

  test("would have changed a client that is made without care", async () => {
    const server = await startScriptedServer(() => ({ json: listJSON([]) }));
    try {
      const program = `
        const { createClient } = await import("cloudflare/tree-shakable");
        const { BaseZones } = await import("cloudflare/resources/zones/zones");
        const client = createClient({ apiToken: "ours", logLevel: "off", maxRetries: 0, resources: [BaseZones] });
        await client.zones.list({ name: "example.com" });
      `;
      const headers = "X-Of-The-Environment: 1\nAuthorization: Bearer header-of-the-environment";
      const env = { CLOUDFLARE_BASE_URL: server.url, CLOUDFLARE_CUSTOM_HEADERS: headers, CLOUDFLARE_API_KEY: "key" };
      await run(process.execPath, ["--input-type=module", "--eval", program], { env, cwd: process.cwd() });
      expect(server.requests[0]?.headers).toMatchObject({
        authorization: "Bearer header-of-the-environment",
        "x-auth-key": "key",
        "x-of-the-environment": "1",
      });
    } finally {
      await server.close();
    }
  });
});

test("importing and making the adapter loads no package", async () => {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { createCloudflare } = await import(${JSON.stringify(adapter)});
    const { SYSTEM_CLOCK: clock } = await import(${JSON.stringify(systemClock)});
    createCloudflare({ token: "x", userAgent: "flipop/0", clock });
    process.stdout.write([loaded.filter((name) => /node_modules\\/(?!valibot)/.test(name)).length, loaded.length > 5].join());
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
  expect(stdout).toBe("0,true");
});
