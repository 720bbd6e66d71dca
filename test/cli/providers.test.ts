import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type Config, resolveConfig } from "../../src/cli/config.ts";
import { KnownSecrets } from "../../src/cli/output.ts";
import { openProviderReaders, openProviders } from "../../src/cli/providers.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { unusableWhy } from "../../src/observe/asking.ts";
import type { ProviderAccess } from "../../src/ports/providers.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";

const OUTLETS = { warn: () => undefined, secrets: new KnownSecrets() };
const dir = mkdtempSync(join(tmpdir(), "flipop-providers-"));
const running: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
});
afterAll(() => rmSync(dir, { recursive: true }));

function config(env: Readonly<Record<string, string>>): Config {
  const lists = { asGroup: [], dnsWebhook: [], dnsTokenFile: [] };
  const flags = { ...lists, output: "table", verbose: 0, color: "auto", logFormat: "auto" } as const;
  return resolveConfig({ ...flags, leaseNamespace: "flipop", leaseName: "flipop" }, env, OUTLETS);
}

function usable<P>(access: ProviderAccess<P> | undefined): P {
  if (access?.kind !== "usable") throw new Error("not usable");
  return access.provider;
}

/** A run that holds its Lease all the time. */
function openToWrite(...[own, runtime]: Parameters<typeof openProviderReaders>): ReturnType<typeof openProviders> {
  return openProviders(own, runtime, () => true);
}

describe("the providers of a run", () => {
  test.for([
    ["reads", openProviderReaders],
    ["may write", openToWrite],
  ] as const)("that %s are not available without a token, and say which variables to set", async ([, open]) => {
    const { providers, dnsProviders, firewallProviders } = await open(config({}), { clock: SYSTEM_CLOCK });
    const variables = ["DIGITALOCEAN_ACCESS_TOKEN", "DIGITALOCEAN_ACCESS_TOKEN_FILE"];
    const digitalocean = ["digitalocean", { kind: "no-token", name: "digitalocean", variables }];
    const hetzner = [
      "hetzner",
      { kind: "no-token", name: "hetzner", variables: ["HCLOUD_TOKEN", "HCLOUD_TOKEN_FILE"] },
    ];
    // The addresses of both families are the same token's.
    const both = [digitalocean, hetzner].flatMap(([name, access]) => [
      [name, access],
      [`${name} IPv6`, access],
    ]);
    expect(new Map(both as [])).toEqual(providers);
    expect([...firewallProviders]).toEqual([digitalocean, hetzner]);
    expect([...dnsProviders]).toEqual([
      digitalocean,
      [
        "cloudflare",
        { kind: "no-token", name: "cloudflare", variables: ["CLOUDFLARE_TOKEN", "CLOUDFLARE_TOKEN_FILE"] },
      ],
      hetzner,
    ]);
  });

  test.for([
    ["DIGITALOCEAN_ACCESS_TOKEN_FILE", "digitalocean", ""],
    ["CLOUDFLARE_TOKEN_FILE", "cloudflare", "\n"],
    ["HCLOUD_TOKEN_FILE", "hetzner", "\r\n\n"],
  ] as const)("are not available where the file of %s is empty, and say so", async ([variable, name, text]) => {
    const path = join(dir, "empty-token");
    writeFileSync(path, text);
    const { dnsProviders } = await openToWrite(config({ [variable]: path }), { clock: SYSTEM_CLOCK });
    const access = dnsProviders.get(name);
    if (access === undefined) throw new Error("no such provider");
    expect(unusableWhy({ name, access, notBeforeMs: undefined, nowMs: 0 })?.message).toBe(
      `provider "${name}" cannot be used: the token file ${path} that ${variable} names is empty`,
    );
  });

  test("that reads have no method that writes", async () => {
    const env = { DIGITALOCEAN_TOKEN: "t", CLOUDFLARE_TOKEN: "t", HCLOUD_TOKEN: "t" };
    const open = await openProviderReaders(config(env), { clock: SYSTEM_CLOCK });
    const kinds = [open.providers, open.dnsProviders, open.firewallProviders];
    const all = kinds.flatMap((kind) => [...kind.values()].map((access) => Object.keys(usable<object>(access))));
    const writing = /assign|create|delete|write|addMachines|remove|open|close/;
    expect(all.flat().filter((name) => writing.test(name))).toEqual([]);
    expect(all).toHaveLength(9);
  });

  test("speak to the addresses that the environment names", async () => {
    const sandbox = await startSandbox({ dir: join(dir, "a") });
    running.push(sandbox);
    const { dnsProviders, firewallProviders } = await openToWrite(
      config({
        DIGITALOCEAN_TOKEN: "t",
        DIGITALOCEAN_API_URL: sandbox.digitaloceanURL,
        CLOUDFLARE_API_TOKEN: "t",
        CLOUDFLARE_API_URL: sandbox.cloudflareURL,
      }),
      { clock: SYSTEM_CLOCK },
    );
    expect(await usable(dnsProviders.get("digitalocean")).findZone("example.com")).toMatchObject({ id: "example.com" });
    expect(await usable(dnsProviders.get("cloudflare")).findZone("example.net")).toMatchObject({ name: "example.net" });
    expect(await usable(firewallProviders.get("digitalocean")).listFirewalls()).toMatchObject([{ name: "web" }]);
  });

  test("stop every kind of calls to DigitalOcean once it has answered one of them with a 429", async () => {
    const calls: string[] = [];
    const faults = new FaultList([
      { server: "digitalocean", path: "/domains", status: 429, headers: { "retry-after": "20" } },
    ]);
    const sandbox = await startSandbox({ dir: join(dir, "b"), faults, onCall: ({ path }) => calls.push(path) });
    running.push(sandbox);
    const env = { DIGITALOCEAN_TOKEN: "t", DIGITALOCEAN_API_URL: sandbox.digitaloceanURL };
    const { providers, dnsProviders, firewallProviders } = await openToWrite(config(env), { clock: SYSTEM_CLOCK });
    const limited = { failure: "rate-limited" };
    await expect(usable(dnsProviders.get("digitalocean")).findZone("example.com")).rejects.toMatchObject(limited);
    await expect(usable(providers.get("digitalocean")).listPage(1)).rejects.toMatchObject(limited);
    await expect(usable(firewallProviders.get("digitalocean")).listFirewalls()).rejects.toMatchObject(limited);
    expect(calls).toHaveLength(1);
  });

  test("are not hurt by a token of the other that cannot be read, which its own calls tell", async () => {
    const missing = join(dir, "missing");
    const env = { DIGITALOCEAN_TOKEN: "t", CLOUDFLARE_TOKEN_FILE: missing };
    const { providers, dnsProviders } = await openToWrite(config(env), { clock: SYSTEM_CLOCK });
    expect(providers.get("digitalocean")?.kind).toBe("usable");
    await expect(usable(dnsProviders.get("cloudflare")).findZone("example.net")).rejects.toMatchObject({
      failure: "unauthorized",
      message: expect.stringContaining(missing),
    });
  });
});
