import { expect, test } from "vitest";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { ProviderFacts } from "../../src/model/observation.ts";
import type { IPStatus, Pool } from "../../src/model/resource.ts";
import { readProvider } from "../../src/observe/read-provider.ts";
import { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import { completeState } from "../../src/sandbox/digitalocean/complete-state.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { aPool, NOW, nodes } from "../plan/builders.ts";

const ips = (count: number): string[] => Array.from({ length: count }, (_, n) => `203.0.${n >> 8}.${n & 255}`);

/** An account of so many unattached addresses beside droplets 101–103; `held` ones are on droplet 101 (the first). */
function account(count: number, held = false): MemoryIPProvider {
  const reserved = ips(count).map((ip, n) => ({ ip, region: "nyc3", droplet_id: held && n === 0 ? 101 : null }));
  return new MemoryIPProvider({
    cloud: new Cloud(
      completeState({ droplets: [101, 102, 103].map((id) => ({ id, region: "nyc3" })), reserved_ips: reserved }),
    ),
  });
}

function poolOf(count: number, state?: IPStatus["state"]): Pool {
  const status = state === undefined ? {} : { ips: Object.fromEntries(ips(count).map((ip) => [ip, { state }])) };
  return aPool({ spec: { ips: ips(count) }, status });
}

async function read(
  provider: MemoryIPProvider,
  pool: Pool,
  notBeforeMs?: number,
  known?: ProviderFacts,
  seen = nodes(3),
): Promise<{ facts: ProviderFacts | undefined; calls: string[] }> {
  const facts = await readProvider({
    name: "digitalocean",
    access: { kind: "usable", provider },
    pools: [pool],
    nodes: seen,
    notBeforeMs,
    nowMs: NOW,
    skewMs: () => 0,
    known,
  });
  return { facts, calls: provider.recorded.map(({ operation }) => operation) };
}

function failure(kind: ProviderFailure, notBeforeMs?: number): { throw: ProviderError } {
  const facts = {
    provider: "digitalocean",
    failure: kind,
    operation: "x",
    subject: "",
    status: 0,
    message: `${kind}!`,
  };
  return { throw: new ProviderError(notBeforeMs === undefined ? facts : { ...facts, notBeforeMs }) };
}

test("one steady address costs one call", async () => {
  expect((await read(account(1, true), poolOf(1, "active"))).calls).toEqual(["get"]);
});

test("an address that the list shows elsewhere than on the node that is annotated with it is looked at by itself", async () => {
  const annotated = nodes(3).map((node, n) =>
    n === 1 ? { ...node, addressAnnotation: "203.0.0.1", poolAnnotation: "ingress/web" } : node,
  );
  const { calls } = await read(account(3), poolOf(3), undefined, undefined, annotated);
  expect(calls).toContain("get");
  expect((await read(account(3), poolOf(3))).calls).not.toContain("get");
});

test("200 addresses cost one call, 450 three", async () => {
  expect((await read(account(200, true), poolOf(200, "active"))).calls).toEqual(["list"]);
  expect((await read(account(450, true), poolOf(450, "active"))).calls).toEqual(["list", "list", "list"]);
});

test("three steady addresses of an account with 1,000 cost the first page and single reads of the rest", async () => {
  const provider = account(1000, true);
  const far = aPool({
    spec: { ips: [ips(1000)[999] ?? "", ips(1000)[0] ?? ""] },
    status: { ips: Object.fromEntries([999, 0].map((n) => [ips(1000)[n] ?? "", { state: "active" as const }])) },
  });
  expect((await read(provider, far)).calls).toEqual(["list", "get"]);
});

test("without any holder in sight one droplet is asked for, to see that the token may read them", async () => {
  expect((await read(account(2), poolOf(2))).calls).toEqual(["list", "machine"]);
});

test("a token that may not read droplets makes the provider unusable", async () => {
  const provider = account(2);
  provider.beforeCall = (operation) => (operation === "machine" ? failure("forbidden") : undefined);
  expect((await read(provider, poolOf(2))).facts?.unusable).toMatchObject({ reason: "ProviderUnavailable" });
});

test("a list that fails leaves single reads", async () => {
  const provider = account(3, true);
  provider.beforeCall = (operation) => (operation === "list" ? failure("unavailable") : undefined);
  const { facts, calls } = await read(provider, poolOf(3));
  expect(calls).toEqual(["list", "get", "get", "get"]);
  expect(facts).toMatchObject({ isComplete: false });
  expect([...(facts?.addresses.values() ?? [])].map(({ kind }) => kind)).toEqual(["known", "known", "known"]);
});

test("one address that cannot be read is a gap, and the others are known", async () => {
  const provider = account(3, true);
  provider.beforeCall = (operation, subject) =>
    operation === "list" || subject === ips(3)[1] ? failure("unavailable") : undefined;
  const kinds = [...((await read(provider, poolOf(3))).facts?.addresses.values() ?? [])].map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(["gap", "known", "known"]);
});

test("a provider that is away is not asked for every address: each call would wait for its deadline", async () => {
  const provider = account(100, true);
  provider.beforeCall = () => failure("timeout");
  const { facts, calls } = await read(provider, poolOf(100));
  expect(calls.length).toBeLessThanOrEqual(5);
  expect([...(facts?.addresses.values() ?? [])].filter(({ kind }) => kind === "gap")).toHaveLength(100);
});

test("a rate limit is the provider's, and its time is turned to the server's clock", async () => {
  const provider = account(2);
  provider.beforeCall = () => failure("rate-limited", NOW + 20_000);
  expect((await read(provider, poolOf(2))).facts?.unusable).toEqual({
    reason: "RateLimited",
    message: "rate-limited!",
    notBeforeMs: NOW + 20_000,
  });
});

test("what an earlier run was told is obeyed without a call", async () => {
  const { facts, calls } = await read(account(2), poolOf(2), NOW + 5000);
  expect(calls).toEqual([]);
  expect(facts?.unusable).toMatchObject({ reason: "RateLimited", notBeforeMs: NOW + 5000 });
});

/** What a pass that read everything would leave. */
async function knowledge(provider: MemoryIPProvider, pool: Pool): Promise<ProviderFacts> {
  const { facts } = await read(provider, pool);
  provider.recorded.length = 0;
  if (facts === undefined) throw new Error("nothing was read");
  return facts;
}

test("what the last pass left spares every call", async () => {
  const provider = account(3, true);
  const known = await knowledge(provider, poolOf(3));
  const { facts, calls } = await read(provider, poolOf(3), undefined, known);
  expect(calls).toEqual([]);
  expect(facts).toBe(known);
});

test("an address that it does not know, or that is being worked on, or that is not where status has it, is asked for", async () => {
  const provider = account(3, true);
  const known = await knowledge(provider, poolOf(2));
  const busy = new Map(known.addresses);
  busy.set("203.0.0.0", {
    kind: "known",
    address: { ip: "203.0.0.0", region: "nyc3", holderID: "101", isLocked: true },
  });
  const elsewhere = aPool({
    spec: { ips: ips(2) },
    status: { ips: { "203.0.0.1": { state: "active", providerID: "digitalocean://103" } } },
  });
  for (const [pool, facts] of [
    [poolOf(4), known],
    [poolOf(2), { ...known, addresses: busy }],
    [elsewhere, known],
    [poolOf(2), { ...known, unusable: { reason: "RateLimited", message: "later" } }],
  ] as const) {
    provider.recorded.length = 0;
    expect((await read(provider, pool, undefined, facts)).calls).not.toEqual([]);
  }
});

test("where an address is to be bought, the whole account is read, whatever is known", async () => {
  const provider = account(3, true);
  const pool = aPool({ spec: { ips: ips(2), desiredIPs: 3 } });
  const known = await knowledge(provider, pool);
  expect((await read(provider, pool, undefined, known)).calls).toContain("list");
});

test("no call is made before the provider allows one, whatever is known", async () => {
  const provider = account(3, true);
  const known = await knowledge(provider, poolOf(3));
  const { facts, calls } = await read(provider, poolOf(3), NOW + 1000, known);
  expect([calls, facts?.unusable?.reason]).toEqual([[], "RateLimited"]);
});

test.each([
  ["fewer addresses than it says", 0, 3],
  ["more addresses than it says", 3, 2],
])("a list of one page with %s is not complete, however steady everything is", async (_, shown, total) => {
  const provider = account(3, true);
  provider.listPage = async () => ({
    addresses: ips(shown).map((ip) => ({ ip, region: "nyc3", isLocked: false })),
    total,
  });
  expect((await read(provider, poolOf(3, "active"))).facts).toMatchObject({ isComplete: false });
});

test("a list of one page with an address twice is not complete", async () => {
  const provider = account(3, true);
  provider.listPage = async () => ({
    addresses: [0, 1, 1].map((n) => ({ ip: ips(3)[n] ?? "", region: "nyc3", isLocked: false })),
    total: 3,
  });
  expect((await read(provider, poolOf(3))).facts).toMatchObject({ isComplete: false });
});

test("where an address is to be bought the earlier pages are read twice", async () => {
  const lacking = aPool({ spec: { ips: ips(450), desiredIPs: 451 } });
  expect((await read(account(450, true), lacking)).calls.filter((call) => call === "list")).toHaveLength(5);
});
