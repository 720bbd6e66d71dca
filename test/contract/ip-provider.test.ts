import { openDigitalOcean } from "../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import type { IPProvider } from "../../src/ports/providers.ts";
import { type DigitalOceanSandbox, digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { type IPProviderWorld, ipProviderContract } from "./ip-provider-contract.ts";

const account = { account: { reserved_ip_limit: 250 }, settings: { action_delay_ms: 20_000 } };

ipProviderContract("the memory provider", () => {
  const clock = new FakeClock();
  const sandbox = digitaloceanSandbox({ state: account, now: () => clock.wallMs() });
  const provider = new MemoryIPProvider({ cloud: sandbox.cloud(), clock });
  return { provider, seed: seedOf(sandbox, (ms) => clock.advance(ms)), dispose: () => undefined };
});

ipProviderContract("the DigitalOcean adapter on the sandbox", async () => {
  const world = { nowMs: Date.UTC(2026, 0, 2, 3, 4, 5) };
  const sandbox = digitaloceanSandbox({ state: account, now: () => world.nowMs });
  const server = await sandbox.serve();
  const provider: IPProvider = openDigitalOcean({
    token: "token",
    baseURL: server.url,
    userAgent: "flipop-test",
    clock: SYSTEM_CLOCK,
  }).addresses;
  const seed = seedOf(sandbox, (ms) => {
    world.nowMs += ms;
  });
  return { provider, seed, dispose: () => server.close() };
});

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
