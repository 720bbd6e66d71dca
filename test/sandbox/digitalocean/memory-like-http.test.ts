import { describe, expect, test } from "vitest";
import { openDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import type { ProviderError } from "../../../src/model/errors.ts";
import type { AcceptedAction, IPProvider, ProviderMeter } from "../../../src/ports/providers.ts";
import type { Clock } from "../../../src/ports/system.ts";
import { digitaloceanSandbox } from "../../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { MemoryIPProvider } from "../../fake/memory-ip-provider.ts";
import { pick, type Random, randomFrom, resultOf } from "./random-history.ts";

const ipv4s = ["203.0.113.1", "203.0.113.2", "192.0.2.10", "198.51.100.1", "198.51.100.2", "203.0.113.99", "bad"];
const ipv6s = [
  "2001:db8:1::1",
  "2001:db8:1::2",
  "2001:db8:d0::1",
  "2001:db8:d0::2",
  "2001:db8::99",
  "bad",
  "203.0.113.1",
];
const IPS = { IPv4: ipv4s, IPv6: ipv6s };
const machines = ["101", "102", "103", "201", "999", "x"];

const account = {
  account: { reserved_ip_limit: 4 },
  droplets: [{ id: 101 }, { id: 102 }, { id: 103, anchor_ip: null }, { id: 201, region: "ams3" }],
  reserved_ips: [{ ip: "203.0.113.1", droplet_id: 101 }, { ip: "203.0.113.2" }],
  byoip: [{ ip: "192.0.2.10" }],
  reserved_ipv6: [{ ip: "2001:db8:1::1", droplet_id: 101 }, { ip: "2001:db8:1::2" }],
  settings: { action_delay_ms: 15_000, creations_per_minute: 2, rate_limit: { per_hour: 5000, per_minute: 24 } },
};

/** One call with random arguments, to be made of several providers. */
function randomCall(
  random: Random,
  ips: readonly string[],
  accepted: readonly AcceptedAction[],
): (provider: IPProvider) => Promise<unknown> {
  const ip = pick(random, ips);
  const machineID = pick(random, machines);
  const action = pick(random, [...accepted, { ip, actionID: "1" }, { ip, actionID: "" }]);
  const region = pick(random, ["nyc3", "ams3", "moon1"]);
  const place = random(2) === 0 ? { machineID } : { region };
  return pick<(provider: IPProvider) => Promise<unknown>>(random, [
    (provider) => provider.listPage(1 + (ip === "bad" ? 1 : 0)),
    (provider) => provider.getAddress(ip),
    (provider) => provider.machineAddresses(machineID),
    (provider) => provider.addressLimit(),
    (provider) => provider.assign(ip, machineID),
    (provider) => provider.assign(ip, machineID),
    (provider) => provider.unassign(ip),
    (provider) => provider.actionState(action),
    (provider) => provider.create(place, { uid: "uid", knownIPs: [] }),
    (provider) => provider.delete(ip),
  ]);
}

describe("the memory provider", () => {
  test.for([
    [1, "IPv4"],
    [2, "IPv4"],
    [3, "IPv4"],
    [4, "IPv4"],
    [5, "IPv6"],
    [6, "IPv6"],
  ] as const)("gives the answers of the adapter over HTTP in random history %i of %s", async ([seed, family]) => {
    const time = { ms: Date.UTC(2026, 0, 2, 3, 4, 5) };
    const clock: Clock = { monotonicMs: () => time.ms, wallMs: () => time.ms, sleep: () => Promise.resolve() };
    const now = (): number => time.ms;
    const served = digitaloceanSandbox({ state: account, now });
    const local = digitaloceanSandbox({ state: account, now });
    const server = await served.serve();
    try {
      const { addresses, addressesIPv6 } = openDigitalOcean({
        token: "token",
        baseURL: server.url,
        userAgent: "flipop-test",
        clock,
      });
      const remote: IPProvider & ProviderMeter = { IPv4: addresses, IPv6: addressesIPv6 }[family];
      const memory = new MemoryIPProvider({ cloud: local.cloud(), clock, family });
      const random = randomFrom(seed);
      const accepted: AcceptedAction[] = [];
      const seen = new Set<string>();
      for (let count = 0; count < 150; count += 1) {
        const call = randomCall(random, IPS[family], accepted);
        const expected = await resultOf(call(remote));
        expect(await resultOf(call(memory))).toEqual(expected);
        expect(local.cloud().state).toEqual(served.cloud().state);
        expect(memory.rateLimit()).toEqual(remote.rateLimit());
        const { value, error } = expected as { value?: Partial<AcceptedAction>; error?: ProviderError };
        if (value?.actionID !== undefined) accepted.push(value as AcceptedAction);
        seen.add(error === undefined ? "ok" : error.failure);
        time.ms += random(4000);
      }
      expect(memory.calls()).toEqual(remote.calls());
      expect([...seen].sort()).toEqual(expect.arrayContaining(["busy", "not-found", "ok", "rate-limited", "refused"]));
    } finally {
      await server.close();
    }
  });
});
