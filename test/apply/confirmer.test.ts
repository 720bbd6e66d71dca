import { expect, test } from "vitest";
import { Confirmer } from "../../src/apply/confirmer.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import { completeState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";

const IPS: readonly string[] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];

test.for<[number, readonly string[]]>([
  [2, ["get", "get"]],
  [3, ["list"]],
])("%i addresses accepted together are confirmed with as few calls as possible", async ([count, operations]) => {
  const droplets = IPS.map((_, index) => ({ id: index + 1 }));
  const provider = new MemoryIPProvider({
    cloud: new Cloud({ state: completeState({ droplets, reserved_ips: IPS.map((ip) => ({ ip })) }) }),
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

test.for(["rate-limited", "unauthorized", "forbidden"] as const)(
  "a confirmation is left to a later run as soon as a reading is refused as %s",
  async (failure) => {
    const provider: MemoryIPProvider = new MemoryIPProvider({
      cloud: new Cloud({ state: completeState({ droplets: [{ id: 1 }], reserved_ips: [{ ip: "203.0.113.1" }] }) }),
      beforeCall: (operation, subject) =>
        operation === "get"
          ? {
              throw: new ProviderError({
                provider: "digitalocean",
                failure,
                operation,
                subject,
                status: 401,
                message: "No.",
              }),
            }
          : undefined,
    });
    const confirmer = new Confirmer(provider, provider.clock, 60_000, new AbortController().signal);
    const accepted = await provider.assign("203.0.113.1", "1");
    const confirmation = await confirmer.confirm(accepted, ({ holderID }) => holderID === "1");
    expect(confirmation).toEqual({ kind: "pending", endedBy: expect.objectContaining({ failure, message: "No." }) });
    expect(provider.recorded.filter(({ operation }) => operation === "get")).toHaveLength(1);
  },
);
