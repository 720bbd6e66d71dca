import { describe, expect, test } from "vitest";
import { Confirmer, MachineTurns } from "../../src/apply/confirmer.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import { completeState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { FakeClock } from "../fake/fake-clock.ts";
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

test("addresses accepted together are looked for on every page of a list that tells no total", async () => {
  const provider = new MemoryIPProvider({ cloud: new Cloud({ state: completeState({}) }) });
  const pages: number[] = [];
  provider.listPage = async (page) => {
    pages.push(page);
    const ip = IPS[page - 1] ?? "";
    return { addresses: [{ ip, region: "fsn1", holderID: String(page), isLocked: false }], hasMore: page < IPS.length };
  };
  const confirmer = new Confirmer(provider, provider.clock, 60_000, new AbortController().signal);
  const confirmations = await Promise.all(
    IPS.map((ip) => confirmer.confirm({ ip, actionID: "" }, ({ holderID }) => holderID !== undefined)),
  );
  expect(confirmations.map(({ kind }) => kind)).toEqual(["confirmed", "confirmed", "confirmed"]);
  expect(pages).toEqual([1, 2, 3]);
});

test("a list that never ends is not read for longer than the confirmation may take", async () => {
  const clock = new FakeClock();
  const provider = new MemoryIPProvider({ clock, cloud: new Cloud({ state: completeState({}) }) });
  provider.listPage = async () => {
    await clock.sleep(1000);
    return { addresses: [], hasMore: true };
  };
  const confirmer = new Confirmer(provider, clock, 5000, new AbortController().signal);
  const ended = Promise.all(
    IPS.map((ip) => confirmer.confirm({ ip, actionID: "" }, ({ holderID }) => holderID !== undefined)),
  );
  await clock.advance(6000);
  const confirmations = await ended;
  expect(confirmations.map(({ kind }) => kind)).toEqual(["pending", "pending", "pending"]);
});

test("a list whose pages lead in a circle is read until one shows nothing new, and each address by itself then", async () => {
  const clock = new FakeClock();
  const provider = new MemoryIPProvider({ clock, cloud: new Cloud({ state: completeState({}) }) });
  const calls: string[] = [];
  provider.listPage = async (page) => {
    calls.push(`list ${page}`);
    return { addresses: [{ ip: "203.0.113.9", region: "fsn1", isLocked: false }], hasMore: true };
  };
  provider.getAddress = async (ip) => {
    calls.push(`get ${ip}`);
    return { ip, region: "fsn1", holderID: "1", isLocked: false };
  };
  const confirmer = new Confirmer(provider, clock, 5000, new AbortController().signal);
  const ended = Promise.all(
    IPS.map((ip) => confirmer.confirm({ ip, actionID: "" }, ({ holderID }) => holderID !== undefined)),
  );
  await clock.advance(6000);
  expect((await ended).map(({ kind }) => kind)).toEqual(["confirmed", "confirmed", "confirmed"]);
  expect(calls).toEqual(["list 1", "list 2", ...IPS.map((ip) => `get ${ip}`)]);
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

describe("changes of the same machine", () => {
  /** Begins changes of these machines, one after the other, each of which takes so long, milliseconds; for ever where that is absent. Returns when each began. */
  async function begins(
    changes: readonly { readonly on: readonly string[]; readonly takesMs?: number; readonly fails?: boolean }[],
    stopAtMs?: number,
  ): Promise<readonly (number | undefined)[]> {
    const clock = new FakeClock();
    const stop = new AbortController();
    const turns = new MachineTurns(clock, stop.signal);
    const began: (number | undefined)[] = changes.map(() => undefined);
    for (const [at, { on, takesMs, fails }] of changes.entries()) {
      const change = async (): Promise<void> => {
        began[at] = clock.monotonicMs();
        await (takesMs === undefined ? new Promise(() => undefined) : clock.sleep(takesMs));
        if (fails === true) throw new Error("refused");
      };
      turns.run(on, change).catch(() => undefined);
    }
    await clock.advance(stopAtMs ?? 0);
    if (stopAtMs !== undefined) stop.abort();
    await clock.advance(10_000);
    return began;
  }

  test.for([
    [
      "one after the other",
      [
        { on: ["1"], takesMs: 300 },
        { on: ["1"], takesMs: 200 },
        { on: ["1"], takesMs: 1 },
      ],
      [0, 300, 500],
    ],
    [
      "those of other machines do not wait",
      [
        { on: ["1"], takesMs: 300 },
        { on: ["2"], takesMs: 1 },
      ],
      [0, 0],
    ],
    [
      "one that fails lets the next begin",
      [
        { on: ["1"], takesMs: 300, fails: true },
        { on: ["1"], takesMs: 1 },
      ],
      [0, 300],
    ],
    [
      "one that hangs holds up the next for two seconds",
      [{ on: ["1"] }, { on: ["1"] }, { on: ["1"], takesMs: 1 }],
      [0, 2000, 2000],
    ],
    [
      "a move waits for the machine that it leaves, and for the one that it goes to",
      [
        { on: ["1"], takesMs: 300 },
        { on: ["2"], takesMs: 700 },
        { on: ["1", "2"], takesMs: 100 },
        { on: ["1"], takesMs: 1 },
      ],
      [0, 0, 700, 800],
    ],
  ] as const)("%s", async ([, changes, expected]) => {
    expect(await begins(changes)).toEqual(expected);
  });

  test("wait no longer once waits are to end", async () => {
    expect(await begins([{ on: ["1"] }, { on: ["1"], takesMs: 1 }], 500)).toEqual([0, 500]);
  });
});
