import { expect, test } from "vitest";
import { Confirmer } from "../../src/apply/confirmer.ts";
import { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import { completeState } from "../../src/sandbox/digitalocean/complete-state.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";

const IPS: readonly string[] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];

test.for<[number, readonly string[]]>([
  [2, ["get", "get"]],
  [3, ["list"]],
])("%i addresses accepted together are confirmed with as few calls as possible", async ([count, operations]) => {
  const droplets = IPS.map((_, index) => ({ id: index + 1 }));
  const provider = new MemoryIPProvider({
    cloud: new Cloud(completeState({ droplets, reserved_ips: IPS.map((ip) => ({ ip })) })),
  });
  const confirmer = new Confirmer(provider, provider.clock, 60_000, new AbortController().signal);
  const accepted = await Promise.all(
    IPS.slice(0, count).map((ip, index) => confirmer.starting(() => provider.assign(ip, String(index + 1)))),
  );
  const before = provider.recorded.length;
  const confirmations = await Promise.all(
    accepted.map((action) => confirmer.confirm(action, ({ holderID }) => holderID !== undefined)),
  );
  expect(confirmations.map(({ kind }) => kind)).toEqual(accepted.map(() => "confirmed"));
  expect(provider.recorded.slice(before).map(({ operation }) => operation)).toEqual(operations);
});
