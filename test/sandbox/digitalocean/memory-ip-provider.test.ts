import { describe, expect, test } from "vitest";
import { ProviderError } from "../../../src/model/errors.ts";
import { Cloud } from "../../../src/sandbox/digitalocean/cloud.ts";
import { completeState } from "../../../src/sandbox/digitalocean/cloud-state.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { MemoryIPProvider } from "../../fake/memory-ip-provider.ts";

const ip = "203.0.113.1";

function provider(state: object = {}): MemoryIPProvider & { clock: FakeClock } {
  const whole = { droplets: [{ id: 101 }, { id: 102 }], reserved_ips: [{ ip, droplet_id: 101 }], ...state };
  const clock = new FakeClock();
  return new MemoryIPProvider({ cloud: new Cloud({ state: completeState(whole) }), clock }) as MemoryIPProvider & {
    clock: FakeClock;
  };
}

function lost(): ProviderError {
  const facts = { provider: "digitalocean", operation: "assign", subject: ip, status: 0 };
  return new ProviderError({ ...facts, failure: "timeout", message: "no answer", isAmbiguous: true });
}

async function failureOf(promise: Promise<unknown>): Promise<ProviderError> {
  const error = await promise.catch((reason: unknown) => reason);
  if (error instanceof ProviderError) return error;
  throw new Error("did not fail with ProviderError");
}

describe("faults of the memory provider", () => {
  test("throw happens in place of the call, which has no effect", async () => {
    const memory = provider();
    memory.beforeCall = (operation) => (operation === "assign" ? { throw: lost() } : undefined);
    expect(await failureOf(memory.assign(ip, "102"))).toMatchObject({ failure: "timeout", isAmbiguous: true });
    expect((await memory.getAddress(ip))?.holderID).toBe("101");
  });

  test("throwAfter happens after the call took effect", async () => {
    const memory = provider();
    memory.beforeCall = (operation, subject) =>
      operation === "assign" && subject === ip ? { throwAfter: lost() } : undefined;
    expect((await failureOf(memory.assign(ip, "102"))).failure).toBe("timeout");
    expect((await memory.getAddress(ip))?.holderID).toBe("102");
  });

  test("throwAfter of a call the account refuses is the refusal", async () => {
    const memory = provider();
    memory.beforeCall = () => ({ throwAfter: lost() });
    expect((await failureOf(memory.assign(ip, "101"))).failure).toBe("refused");
  });

  test("a not-found that is thrown means what the provider's would", async () => {
    const memory = provider();
    const facts = { provider: "digitalocean", operation: "get", subject: ip, status: 404, message: "gone" };
    memory.beforeCall = () => ({ throw: new ProviderError({ ...facts, failure: "not-found" }) });
    expect(await memory.getAddress(ip)).toBeUndefined();
  });
});

describe("the record of the memory provider", () => {
  test("lists every call that reached it, in order, and counts them by outcome", async () => {
    const memory = provider();
    await memory.listPage(1);
    await memory.assign(ip, "102");
    await failureOf(memory.assign(ip, "102"));
    await memory.create({ region: "nyc3" });
    await memory.delete("203.0.113.99");
    expect(memory.recorded).toEqual([
      { operation: "list", subject: "", detail: "list the reserved IPs (page 1)" },
      { operation: "assign", subject: ip, detail: `assign ${ip} to droplet 102` },
      { operation: "assign", subject: ip, detail: `assign ${ip} to droplet 102` },
      { operation: "create", subject: "", detail: 'create a reserved IP in region "nyc3"' },
      { operation: "delete", subject: "203.0.113.99", detail: "delete 203.0.113.99" },
    ]);
    expect(memory.calls()).toEqual([
      { operation: "assign", outcome: "error", count: 1 },
      { operation: "assign", outcome: "success", count: 1 },
      { operation: "create", outcome: "success", count: 1 },
      { operation: "delete", outcome: "success", count: 1 },
      { operation: "list", outcome: "success", count: 1 },
    ]);
  });

  test("does not list calls with arguments that no request could carry", async () => {
    const memory = provider();
    expect(await failureOf(memory.assign("nonsense", "101"))).toMatchObject({ failure: "refused", status: 0 });
    expect(await failureOf(memory.assign(ip, "x"))).toMatchObject({ failure: "refused", status: 0 });
    expect(memory.recorded).toEqual([]);
  });
});

describe("permission and rate limit of the memory provider", () => {
  test("a missing scope is forbidden and named", async () => {
    const memory = provider({ tokens: { token: ["reserved_ip:read"] } });
    const error = await failureOf(memory.machineAddresses("101"));
    expect(error).toMatchObject({ failure: "forbidden", status: 403, operation: "machine", subject: "101" });
    expect(error.message).toContain("droplet:read");
    expect(await memory.addressLimit()).toBeUndefined();
    expect(await memory.getAddress(ip)).toEqual({ ip, region: "nyc3", isLocked: false });
  });

  test("an unknown token is unauthorized", async () => {
    expect(await failureOf(provider({ tokens: { other: ["*"] } }).listPage(1))).toMatchObject({
      failure: "unauthorized",
      status: 401,
    });
  });

  test("after a 429 no call reaches the account until the time it named", async () => {
    const memory = provider({ settings: { creations_per_minute: 1 } });
    await memory.create({ region: "nyc3" });
    await memory.clock.advance(20_000);
    const error = await failureOf(memory.create({ region: "nyc3" }));
    expect(error).toMatchObject({ failure: "rate-limited", status: 429, notBeforeMs: memory.clock.wallMs() + 40_000 });
    expect(await failureOf(memory.getAddress(ip))).toMatchObject({ failure: "rate-limited", status: 0 });
    expect(memory.recorded).toHaveLength(2);
    await memory.clock.advance(40_000);
    expect((await memory.create({ region: "nyc3" })).region).toBe("nyc3");
  });

  test("the rate limit of the newest answer is shown", async () => {
    const memory = provider();
    await memory.listPage(1);
    expect(memory.rateLimit()).toEqual({ limit: 5000, remaining: 4999, resetMs: memory.clock.wallMs() + 3_600_000 });
  });
});
