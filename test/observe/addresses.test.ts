import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { ProviderFacts } from "../../src/model/observation.ts";
import type { IPStatus, Pool } from "../../src/model/resource.ts";
import { askedOfAddresses, readAddresses, readAddressLimit } from "../../src/observe/addresses.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import { completeState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { anObservation, aPool, NOW, nodes } from "../plan/builders.ts";

const ips = (count: number): string[] => Array.from({ length: count }, (_, n) => `203.0.${n >> 8}.${n & 255}`);

/** An account of so many unattached addresses beside droplets 101–103; `held` ones are on droplet 101 (the first). */
function account(count: number, held = false): MemoryIPProvider {
  const reserved = ips(count).map((ip, n) => ({ ip, region: "nyc3", droplet_id: held && n === 0 ? 101 : null }));
  return new MemoryIPProvider({
    cloud: new Cloud({
      state: completeState({ droplets: [101, 102, 103].map((id) => ({ id, region: "nyc3" })), reserved_ips: reserved }),
    }),
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
  reusable?: ReusableFacts,
  seen = nodes(3),
): Promise<{ facts: ProviderFacts | undefined; calls: string[] }> {
  provider.recorded.length = 0;
  const asking = { name: "digitalocean", access: { kind: "usable", provider }, skewMs: () => 0 } as const;
  const facts = await readAddresses({
    ...asking,
    pools: [pool],
    nodes: seen,
    notBeforeMs,
    nowMs: NOW,
    registry: PROVIDERS,
    reusable,
    readLimit: () => readAddressLimit(asking),
    clock: new FakeClock(),
  });
  if (facts !== undefined)
    reusable?.keep({ ...anObservation({ pools: [pool], nodes: seen }), providers: new Map([["digitalocean", facts]]) });
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

test("an address that list and single reading show on no machine is a gap while the machine of its status has it", async () => {
  const provider = account(2, true);
  const [held = "", other = ""] = ips(2);
  const entry = { state: "active", providerID: "digitalocean://101" } as const;
  const pool = aPool({ spec: { ips: [held, other] }, status: { ips: { [held]: entry } } });
  const free = { region: "nyc3", isLocked: false };
  provider.listPage = async () => ({
    addresses: [held, other].map((ip) => ({ ip, ...free })),
    hasMore: false,
    total: 2,
  });
  provider.getAddress = async (ip) => ({ ip, ...free });
  const { facts, calls } = await read(provider, pool);
  expect(calls).toContain("machine");
  expect(facts?.addresses.get(held)?.kind).toBe("gap");
  expect(facts?.addresses.get(other)?.kind).toBe("known");
});

test("a token that may not read droplets makes the provider unusable", async () => {
  const provider = account(2);
  provider.beforeCall = (operation) => (operation === "machine" ? failure("forbidden") : undefined);
  expect((await read(provider, poolOf(2))).facts?.unusable).toMatchObject({ kind: "no-access" });
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

test("a gap without any answer is told by its error alone, so that a snapshot holds all of it", async () => {
  const provider = account(1, true);
  provider.beforeCall = () => failure("timeout");
  const { facts } = await read(provider, poolOf(1));
  expect([...(facts?.addresses.values() ?? [])]).toEqual([{ kind: "gap", error: "timeout!" }]);
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
    kind: "rate-limited",
    message: "rate-limited!",
    notBeforeMs: NOW + 20_000,
  });
});

test("what an earlier run was told is obeyed without a call", async () => {
  const { facts, calls } = await read(account(2), poolOf(2), NOW + 5000);
  expect(calls).toEqual([]);
  expect(facts?.unusable).toMatchObject({ kind: "rate-limited", notBeforeMs: NOW + 5000 });
});

/** The facts of a process, by a clock that the test moves. */
function aProcess(): { readonly clock: FakeClock; readonly reusable: ReusableFacts } {
  const clock = new FakeClock();
  return { clock, reusable: new ReusableFacts(clock) };
}

describe("a process that goes on", () => {
  test("asks for nothing that is settled, whatever changes in the cluster", async () => {
    const { reusable } = aProcess();
    const provider = account(3, true);
    const { facts } = await read(provider, poolOf(3), undefined, reusable);
    expect(await read(provider, poolOf(3), undefined, reusable, nodes(2))).toEqual({ facts, calls: [] });
    expect(reusable.nextDueInMs()).toBeUndefined();
  });

  test("asks for an address that is new to it, and for that alone", async () => {
    const { reusable } = aProcess();
    const provider = account(3, true);
    const { facts } = await read(provider, poolOf(1, "active"), undefined, reusable);
    expect(facts?.addresses.size).toBe(1);
    expect((await read(provider, poolOf(2, "active"), undefined, reusable)).calls).toEqual(["get"]);
  });

  test("reads an address at once when the cluster says that it is elsewhere, or says it no more: another process may have moved it", async () => {
    const { reusable } = aProcess();
    const provider = account(1, true);
    const shownOn = (place?: number) =>
      nodes(3).map((node, at) =>
        at === place ? { ...node, addressAnnotation: "203.0.0.0", poolAnnotation: "ingress/web" } : node,
      );
    const callsFor = async (place?: number): Promise<readonly string[]> =>
      (await read(provider, poolOf(1), undefined, reusable, shownOn(place))).calls;
    await callsFor(0);
    expect([await callsFor(0), await callsFor(1), await callsFor(1)]).toEqual([[], ["get"], []]);
    expect([await callsFor(), await callsFor()]).toEqual([["get"], []]);
    expect([await callsFor(0), await callsFor(0)]).toEqual([[], []]);
  });

  test("reads an address at once when its move is said to have ended: it was read while another process moved it", async () => {
    const { reusable } = aProcess();
    const provider = account(1, true);
    const callsWhile = async (state: IPStatus["state"]): Promise<readonly string[]> => {
      const status = { ips: { "203.0.0.0": { state, providerID: "digitalocean://102" } } };
      return (await read(provider, aPool({ spec: { ips: ips(1) }, status }), undefined, reusable)).calls;
    };
    await callsWhile("in-progress");
    expect([await callsWhile("in-progress"), await callsWhile("active"), await callsWhile("active")]).toEqual([
      [],
      ["get"],
      [],
    ]);
  });

  test("asks for something else once the cluster says that an address is elsewhere: what was read before that is not waited for", () => {
    const askedWhere = (place?: number): string | undefined => {
      const shown = nodes(3).map((node, at) =>
        at === place ? { ...node, addressAnnotation: "203.0.0.0", poolAnnotation: "ingress/web" } : node,
      );
      return askedOfAddresses({ name: "digitalocean", pools: [poolOf(2)], nodes: shown, registry: PROVIDERS });
    };
    expect(new Set([askedWhere(), askedWhere(0), askedWhere(1), askedWhere(0)]).size).toBe(3);
  });

  test.each([
    ["an address that the account does not have", aPool({ spec: { ips: ["203.0.113.9", ...ips(2)] } }), undefined],
    ["a full account", aPool({ spec: { ips: ips(2), desiredIPs: 9 } }), undefined],
  ] as const)("takes %s for what it is until the next full look", async (_, pool, fault) => {
    const { clock, reusable } = aProcess();
    const provider = account(2, true);
    provider.beforeCall = () => fault;
    await read(provider, pool, undefined, reusable);
    await clock.advance(600_000);
    expect((await read(provider, pool, undefined, reusable)).calls).toEqual([]);
    reusable.forget();
    expect((await read(provider, pool, undefined, reusable)).calls).not.toEqual([]);
  });

  test("looks at an address that is locked again and again, less and less often, and at nothing else", async () => {
    const { clock, reusable } = aProcess();
    const provider = account(452, true);
    provider.cloud.state.reserved_ips[1] = { ...provider.cloud.state.reserved_ips[1], locked: true } as never;
    await read(provider, poolOf(3), undefined, reusable);
    const waits: number[] = [];
    for (let look = 0; look < 10; look += 1) {
      const inMs = reusable.nextDueInMs() ?? Number.NaN;
      waits.push(inMs);
      await clock.advance(inMs - 1);
      expect((await read(provider, poolOf(3), undefined, reusable)).calls).toEqual([]);
      await clock.advance(1);
      expect((await read(provider, poolOf(3), undefined, reusable)).calls).toEqual(["get"]);
    }
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000, 60_000]);
  });

  test.each([
    ["could not be read", "unavailable"],
    ["refused the token", "unauthorized"],
  ] as const)("reads what %s again after waits that grow, and forgets them once it could", async (_, fault) => {
    const { clock, reusable } = aProcess();
    const provider = account(3, true);
    provider.beforeCall = () => failure(fault);
    await read(provider, poolOf(3), undefined, reusable);
    const waits: number[] = [];
    for (let look = 0; look < 7; look += 1) {
      waits.push(reusable.nextDueInMs() ?? Number.NaN);
      await clock.advance(waits.at(-1) ?? 0);
      await read(provider, poolOf(3), undefined, reusable);
    }
    expect(waits).toEqual([1000, 2000, 5000, 10_000, 30_000, 60_000, 60_000]);
    provider.beforeCall = undefined;
    await clock.advance(60_000);
    await read(provider, poolOf(3), undefined, reusable);
    expect(reusable.nextDueInMs()).toBeUndefined();
    provider.beforeCall = () => failure(fault);
    reusable.forget();
    await read(provider, poolOf(3), undefined, reusable);
    expect(reusable.nextDueInMs()).toBe(1000);
  });

  test("looks again at an address that is elsewhere than status has it", async () => {
    const { clock, reusable } = aProcess();
    const provider = account(3, true);
    await read(provider, poolOf(2), undefined, reusable);
    const status = { ips: { "203.0.0.1": { state: "active" as const, providerID: "digitalocean://103" } } };
    const elsewhere = aPool({ spec: { ips: ips(2) }, status });
    await read(provider, elsewhere, undefined, reusable);
    expect(reusable.nextDueInMs()).toBe(250);
    await clock.advance(250);
    expect((await read(provider, elsewhere, undefined, reusable)).calls).toEqual(["get"]);
  });

  test("reads the account once when an address is to be bought, and again while it waits for an answer", async () => {
    const { clock, reusable } = aProcess();
    const provider = account(3, true);
    const wanting = aPool({ spec: { ips: ips(2), desiredIPs: 3 } });
    await read(provider, poolOf(2, "active"), undefined, reusable);
    expect((await read(provider, wanting, undefined, reusable)).calls).toContain("list");
    expect((await read(provider, wanting, undefined, reusable)).calls).toEqual([]);
    const pendingAcquisitions = [{ startedAt: new Date(NOW).toISOString(), region: "nyc3", knownIPs: ips(3) }];
    const asking = aPool({ spec: { ips: ips(2), desiredIPs: 3 }, status: { pendingAcquisitions } });
    await read(provider, asking, undefined, reusable);
    await clock.advance(250);
    expect((await read(provider, asking, undefined, reusable)).calls).toContain("list");
  });

  test("sees an address that vanishes in a list, also where none was read before", async () => {
    const { clock, reusable } = aProcess();
    const provider = account(3, true);
    provider.cloud.state.reserved_ips[0] = { ...provider.cloud.state.reserved_ips[0], locked: true } as never;
    expect((await read(provider, poolOf(1, "active"), undefined, reusable)).calls).toEqual(["get"]);
    provider.cloud.state.reserved_ips.splice(0, 1);
    await clock.advance(250);
    const { calls, facts } = await read(provider, poolOf(1, "active"), undefined, reusable);
    expect(calls.slice(0, 2)).toEqual(["get", "list"]);
    expect(facts).toMatchObject({ isComplete: true });
    expect(facts?.addresses.get(ips(1)[0] ?? "")).toEqual({ kind: "gone" });
  });

  test("sees an address that vanishes in a whole list before it counts as gone", async () => {
    const { clock, reusable } = aProcess();
    const provider = account(3, true);
    const wanting = aPool({ spec: { ips: ips(3), desiredIPs: 4 } });
    provider.cloud.state.reserved_ips[1] = { ...provider.cloud.state.reserved_ips[1], locked: true } as never;
    await read(provider, wanting, undefined, reusable);
    provider.cloud.state.reserved_ips.splice(1, 1);
    await clock.advance(250);
    expect((await read(provider, wanting, undefined, reusable)).calls.slice(0, 2)).toEqual(["get", "list"]);
  });

  test("asks a provider anew once the time of its rate limit is over", async () => {
    const { reusable } = aProcess();
    const provider = account(2);
    provider.beforeCall = () => failure("rate-limited", NOW + 20_000);
    await read(provider, poolOf(2), undefined, reusable);
    expect((await read(provider, poolOf(2), NOW + 20_000, reusable)).calls).toEqual([]);
    provider.beforeCall = undefined;
    expect((await read(provider, poolOf(2), undefined, reusable)).facts?.unusable).toBeUndefined();
  });
});

test("no call is made before the provider allows one, whatever is known", async () => {
  const { reusable } = aProcess();
  const provider = account(3, true);
  await read(provider, poolOf(3), undefined, reusable);
  const { facts, calls } = await read(provider, poolOf(3), NOW + 1000, reusable);
  expect([calls, facts?.unusable?.kind]).toEqual([[], "rate-limited"]);
});

test.each([
  ["fewer addresses than it says", 0, 3],
  ["more addresses than it says", 3, 2],
])("a list of one page with %s is not complete, however steady everything is", async (_, shown, total) => {
  const provider = account(3, true);
  provider.listPage = async () => ({
    addresses: ips(shown).map((ip) => ({ ip, region: "nyc3", isLocked: false })),
    hasMore: false,
    total,
  });
  expect((await read(provider, poolOf(3, "active"))).facts).toMatchObject({ isComplete: false });
});

describe("an address that neither the list nor a single read shows", () => {
  const missing = (droplet: number): { provider: MemoryIPProvider; pool: Pool } => {
    const provider = account(3, true);
    provider.listPage = async () => ({ addresses: [], hasMore: false, total: 0 });
    provider.getAddress = async () => undefined;
    const status = { ips: { "203.0.0.0": { state: "active" as const, providerID: `digitalocean://${droplet}` } } };
    return { provider, pool: aPool({ spec: { ips: ips(1) }, status }) };
  };

  test("is not gone while the machine that has it by status shows it", async () => {
    const { provider, pool } = missing(101);
    const { facts } = await read(provider, pool);
    expect(facts).toMatchObject({ isComplete: false });
    expect(facts?.addresses.get("203.0.0.0")).toMatchObject({
      kind: "gap",
      error: "digitalocean shows no address 203.0.0.0, and machine 101 has it.",
    });
  });

  test("is known where a single read shows it once that machine was read", async () => {
    const { provider, pool } = missing(101);
    const address = { ip: "203.0.0.0", region: "nyc3", holderID: "101", isLocked: false };
    let isSeen = false;
    provider.machineAddresses = async () => {
      isSeen = true;
      return [address.ip];
    };
    provider.getAddress = async () => (isSeen ? address : undefined);
    const { facts } = await read(provider, pool);
    expect(facts?.addresses.get("203.0.0.0")).toEqual({ kind: "known", address });
    expect(facts).toMatchObject({ isComplete: false });
  });

  test.each([
    ["has other addresses", 102],
    ["is gone, too", 999],
  ])("is gone when that machine %s", async (_, droplet) => {
    const { provider, pool } = missing(droplet);
    expect((await read(provider, pool)).facts?.addresses.get("203.0.0.0")).toMatchObject({ kind: "gone" });
  });
});

test("a list of one page with an address twice is not complete", async () => {
  const provider = account(3, true);
  provider.listPage = async () => ({
    addresses: [0, 1, 1].map((n) => ({ ip: ips(3)[n] ?? "", region: "nyc3", isLocked: false })),
    hasMore: false,
    total: 3,
  });
  expect((await read(provider, poolOf(3))).facts).toMatchObject({ isComplete: false });
});

test.for([
  ["one page", 3, ["list"]],
  ["three pages", 450, ["list", "list", "list", "list", "list"]],
] as const)("a list of %s that tells no total ends with the page that says so", async ([, count, expected]) => {
  const provider = account(count, true);
  const listPage = provider.listPage.bind(provider);
  provider.listPage = async (page) => {
    const { total: _, ...answer } = await listPage(page);
    return answer;
  };
  const { facts, calls } = await read(provider, poolOf(count));
  expect(facts).toMatchObject({ isComplete: true, addressCount: count });
  expect(calls.filter((call) => call === "list")).toEqual(expected);
});

test("where an address is to be bought the earlier pages are read twice", async () => {
  const lacking = aPool({ spec: { ips: ips(450), desiredIPs: 451 } });
  expect((await read(account(450, true), lacking)).calls.filter((call) => call === "list")).toHaveLength(5);
});
