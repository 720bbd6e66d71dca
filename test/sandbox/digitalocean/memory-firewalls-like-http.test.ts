import { describe, expect, test } from "vitest";
import { createClient } from "../../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import type { ProviderError } from "../../../src/model/errors.ts";
import type { PortRange } from "../../../src/model/firewall.ts";
import type { FirewallProvider, IPProvider } from "../../../src/ports/providers.ts";
import type { Clock } from "../../../src/ports/system.ts";
import { digitaloceanSandbox } from "../../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { MemoryFirewallProvider } from "../../fake/memory-firewall-provider.ts";
import { MemoryIPProvider } from "../../fake/memory-ip-provider.ts";
import { pick, type Random, randomFrom, resultOf } from "./random-history.ts";

const web = "bb4b2611-3d72-467b-8602-000000000001";
const ids = [web, web, web.toUpperCase(), "bb4b2611-3d72-467b-8602-00000000000f", "web"];
const machines = ["101", "102", "103", "999", "x"];
const range = (protocol: PortRange["protocol"], from: number, to: number = from): PortRange => ({ protocol, from, to });
const ranges = [range("tcp", 80), range("tcp", 1, 65_535), range("udp", 8000, 9000), range("icmp", 0)];

const account = {
  droplets: [{ id: 101 }, { id: 102, tags: ["k8s"] }, { id: 103, tags: ["K8s", "web"] }],
  firewalls: [
    {
      name: "web",
      inbound_rules: [{ protocol: "tcp", ports: 22, sources: { addresses: ["192.0.2.0/24"] } }],
      outbound_rules: Array.from({ length: 46 }, (_, at) => ({
        protocol: "tcp",
        ports: at + 1,
        destinations: { addresses: ["::/0"] },
      })),
      tags: ["k8s"],
    },
    { name: "other" },
  ],
  settings: { action_delay_ms: 15_000, rate_limit: { per_hour: 5000, per_minute: 18 } },
};

interface Providers {
  readonly firewalls: FirewallProvider;
  readonly addresses: IPProvider;
}

/** One call with random arguments, to be made of several providers. */
function randomCall(random: Random): (providers: Providers) => Promise<unknown> {
  const id = pick(random, ids);
  const some = [pick(random, machines), pick(random, machines)].slice(random(3));
  const ports = [pick(random, ranges), pick(random, ranges)].slice(random(3));
  const tag = pick(random, ["k8s", "web", "none", ""]);
  return pick<(providers: Providers) => Promise<unknown>>(random, [
    ({ firewalls }) => firewalls.listFirewalls(),
    ({ firewalls }) => firewalls.getFirewall(id),
    ({ firewalls }) => firewalls.machinesWithTag(tag),
    ({ firewalls }) => firewalls.openPorts(id, ports),
    ({ firewalls }) => firewalls.openPorts(id, ports),
    ({ firewalls }) => firewalls.closePorts(id, ports),
    ({ firewalls }) => firewalls.addMachines(id, some),
    ({ firewalls }) => firewalls.removeMachines(id, some),
    ({ addresses }) => addresses.listPage(1),
  ]);
}

describe("the memory firewall provider", () => {
  test.for([1, 2])("gives the answers of the adapter over HTTP in random history %i", async (seed) => {
    const time = { ms: Date.UTC(2026, 0, 2, 3, 4, 5) };
    const clock: Clock = { monotonicMs: () => time.ms, wallMs: () => time.ms, sleep: () => Promise.resolve() };
    const now = (): number => time.ms;
    const served = digitaloceanSandbox({ state: account, now });
    const local = digitaloceanSandbox({ state: account, now });
    const server = await served.serve();
    try {
      const options = { token: "token", baseURL: server.url, userAgent: "flipop-test", clock };
      const caller = createClient(options);
      const remote = {
        firewalls: openDigitalOcean(options, caller).firewalls,
        addresses: openDigitalOcean(options, caller).addresses,
      };
      const addresses = new MemoryIPProvider({ cloud: local.cloud(), clock });
      const memory = {
        firewalls: new MemoryFirewallProvider({ cloud: local.cloud(), clock, sharing: addresses }),
        addresses,
      };
      const random = randomFrom(seed);
      const seen = new Set<string>();
      for (let count = 0; count < 150; count += 1) {
        const call = randomCall(random);
        const expected = await resultOf(call(remote));
        expect(await resultOf(call(memory))).toEqual(expected);
        expect(local.cloud().state).toEqual(served.cloud().state);
        expect(memory.firewalls.rateLimit()).toEqual(remote.firewalls.rateLimit());
        seen.add((expected as { error?: ProviderError }).error?.failure ?? "ok");
        time.ms += random(4000);
      }
      expect(memory.firewalls.calls()).toEqual(remote.firewalls.calls());
      expect(memory.addresses.calls()).toEqual(remote.firewalls.calls());
      expect([...seen].sort()).toEqual(["not-found", "ok", "rate-limited", "refused"]);
    } finally {
      await server.close();
    }
  });
});
