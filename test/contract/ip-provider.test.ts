import { openDigitalOcean } from "../../src/adapters/digitalocean/digitalocean.ts";
import { openHetzner } from "../../src/adapters/hetzner/hetzner.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import type { IPProvider } from "../../src/ports/providers.ts";
import { type DigitalOceanSandbox, digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { type HetznerSandbox, hetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { FloatingIPState, ServerState } from "../../src/sandbox/hetzner/project-state.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { networkOf } from "./example-addresses.ts";
import { type IPProviderWorld, ipProviderContract } from "./ip-provider-contract.ts";
import type { ProviderDifferences } from "./ip-provider-world.ts";

const DIGITALOCEAN: ProviderDifferences = {
  family: "IPv4",
  isNetwork: false,
  buysForMachine: true,
  showsLocks: true,
  locksOwnChanges: true,
  hasPrefixes: true,
  tellsLimit: true,
  namesLimit: false,
  isBound: true,
  deletingReleases: true,
  showsTargetEarly: false,
};

const DIGITALOCEAN_IPV6: ProviderDifferences = {
  ...DIGITALOCEAN,
  family: "IPv6",
  buysForMachine: false,
  showsLocks: false,
  hasPrefixes: false,
  tellsLimit: false,
  deletingReleases: false,
};

const HETZNER: ProviderDifferences = {
  family: "IPv4",
  isNetwork: false,
  buysForMachine: true,
  showsLocks: false,
  locksOwnChanges: true,
  hasPrefixes: false,
  tellsLimit: false,
  namesLimit: true,
  isBound: false,
  deletingReleases: false,
  showsTargetEarly: false,
};

const account = { account: { reserved_ip_limit: 250 }, settings: { action_delay_ms: 20_000 } };

for (const differs of [DIGITALOCEAN, DIGITALOCEAN_IPV6]) {
  const { family } = differs;
  ipProviderContract(`the memory provider of ${family} addresses`, differs, () => {
    const clock = new FakeClock();
    const sandbox = digitaloceanSandbox({ state: account, now: () => clock.wallMs() });
    const provider = new MemoryIPProvider({ cloud: sandbox.cloud(), clock, family });
    return { provider, seed: seedOf(sandbox, (ms) => clock.advance(ms)), dispose: () => undefined };
  });
}

for (const [title, differs, settings] of [
  ["the DigitalOcean adapter on the sandbox", DIGITALOCEAN, {}],
  ["the DigitalOcean adapter of IPv6 addresses on the sandbox", DIGITALOCEAN_IPV6, {}],
  ["the same, where answers are bare", DIGITALOCEAN_IPV6, { ipv6_answers: "bare" }],
] as const) {
  ipProviderContract(title, differs, async () => {
    const world = { nowMs: Date.UTC(2026, 0, 2, 3, 4, 5) };
    const state = { ...account, settings: { ...account.settings, ...settings } };
    const sandbox = digitaloceanSandbox({ state, now: () => world.nowMs });
    const server = await sandbox.serve();
    const { addresses, addressesIPv6 } = openDigitalOcean({
      token: "token",
      baseURL: server.url,
      userAgent: "flipop-test",
      clock: SYSTEM_CLOCK,
    });
    const provider: IPProvider = differs.family === "IPv6" ? addressesIPv6 : addresses;
    const seed = seedOf(sandbox, (ms) => {
      world.nowMs += ms;
    });
    return { provider, seed, dispose: () => server.close() };
  });
}

const HETZNER_IPV6: ProviderDifferences = { ...HETZNER, family: "IPv6", isNetwork: true };

for (const differs of [HETZNER, HETZNER_IPV6])
  for (const showsTargetEarly of [false, true])
    ipProviderContract(
      `the Hetzner adapter of ${differs.family} addresses on the sandbox${showsTargetEarly ? ", where an address shows its target early" : ""}`,
      { ...differs, showsTargetEarly },
      async () => {
        const world = { nowMs: Date.UTC(2026, 0, 2, 3, 4, 5) };
        const settings = {
          action_delay_ms: 20_000,
          floating_ip_limit: 250,
          locations: { nyc3: "us-east", fra1: "eu-central" },
          shows_target_early: showsTargetEarly,
        };
        const sandbox = hetznerSandbox({ state: { settings }, now: () => world.nowMs });
        const server = await sandbox.serve();
        const { addresses, addressesIPv6 } = openHetzner({
          token: "token",
          baseURL: `${server.url}/v1`,
          userAgent: "flipop-test",
          clock: SYSTEM_CLOCK,
        });
        const provider = differs.family === "IPv6" ? addressesIPv6 : addresses;
        return { provider, seed: hetznerSeedOf(sandbox, world), dispose: () => server.close() };
      },
    );

function hetznerSeedOf(sandbox: HetznerSandbox, world: { nowMs: number }): IPProviderWorld["seed"] {
  return {
    advance: (ms) => {
      world.nowMs += ms;
    },
    droplet: (id, location) => sandbox.edit(({ servers }) => servers.push({ id: Number(id), location } as ServerState)),
    address: (ip, { region, droplet, locked = false }) =>
      sandbox.edit(({ floating_ips: all }) => {
        const server = droplet === undefined ? null : Number(droplet);
        all.push({
          ip: ip.includes(":") ? networkOf(ip) : ip,
          home_location: region,
          server,
          locked,
        } as FloatingIPState);
      }),
    limit: (count) =>
      sandbox.edit(({ settings }) => {
        settings.floating_ip_limit = count;
      }),
  };
}

function seedOf(sandbox: DigitalOceanSandbox, advance: (ms: number) => void | Promise<void>): IPProviderWorld["seed"] {
  return {
    advance,
    droplet: (id, region) => sandbox.addDroplet({ id: Number(id), region }),
    address: (ip, { region, droplet, locked = false, byoip = false }) =>
      sandbox.addAddress(
        { ip, region, locked, ...(droplet === undefined ? {} : { droplet_id: Number(droplet) }) },
        byoip ? "byoip" : "reserved",
      ),
    limit: (count) => {
      sandbox.cloud().state.account.reserved_ip_limit = count;
    },
  };
}
