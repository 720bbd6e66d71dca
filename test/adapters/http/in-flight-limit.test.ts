import { expect, test, vi } from "vitest";
import type { Purpose } from "../../../src/adapters/http/limits.ts";
import { inFlightLimit, SILENT_MS } from "../../../src/adapters/http/limits.ts";

interface Kind {
  readonly purpose: Purpose;
  readonly isWrite: boolean;
}

function reading(purpose: Purpose): Kind {
  return { purpose, isWrite: false };
}

test("a place that is handed over stays taken, so that later tasks wait as well", async () => {
  const withinLimit = inFlightLimit(1);
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string): Promise<void> =>
    withinLimit(() => {
      log.push(`${name} begins`);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    }, reading("look"));
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const all = [run("first"), run("second")];
  await end("first");
  all.push(run("third"));
  await end("nobody");
  expect(log).toEqual(["first begins", "second begins"]);
  await end("second");
  await end("third");
  await Promise.all(all);
  expect(log).toEqual(["first begins", "second begins", "third begins"]);
});

test("a task that fails gives its place back", async () => {
  const withinLimit = inFlightLimit(1);
  const failing = withinLimit(async () => {
    throw new Error("no");
  }, reading("look"));
  await expect(failing).rejects.toThrow("no");
  expect(await withinLimit(async () => "yes", reading("look"))).toBe("yes");
});

test("the most urgent task goes next, whoever came first", async () => {
  const withinLimit = inFlightLimit(1);
  const log: string[] = [];
  const run = (name: string, purpose: Purpose): Promise<void> =>
    withinLimit(async () => {
      log.push(name);
    }, reading(purpose));
  await Promise.all([
    run("under way", "look"),
    run("look", "look"),
    run("change", "change"),
    run("recovery 1", "recovery"),
    run("recovery 2", "recovery"),
    run("rest", "rest"),
    run("address 1", "address"),
    run("address 2", "address"),
  ]);
  expect(log).toEqual(["under way", "address 1", "address 2", "rest", "recovery 1", "recovery 2", "change", "look"]);
});

test("what was looked at is changed before more is looked at, so that a small rate limit makes some changes whole", async () => {
  const withinLimit = inFlightLimit(1);
  const log: string[] = [];
  let left = 5;
  const call = (name: string, isWrite: boolean): Promise<boolean> =>
    withinLimit(
      async () => {
        left -= 1;
        if (left >= 0) log.push(name);
        return left >= 0;
      },
      { purpose: "address", isWrite },
    );
  const move = async (ip: string): Promise<void> => {
    if (await call(`get ${ip}`, false)) await call(`assign ${ip}`, true);
  };
  const names = call("names", false);
  await Promise.all(["ip1", "ip2", "ip3", "ip4", "ip5", "ip6"].map(move));
  await names;
  expect(log.filter((line) => line.startsWith("assign"))).toEqual(["assign ip1"]);
});

test.for<Purpose>(["rest", "recovery", "change", "look"])(
  "beside tasks for %s that never end there is a place in which one address goes after the other",
  async (purpose) => {
    const withinLimit = inFlightLimit(3);
    const log: string[] = [];
    for (let number = 0; number < 9; number += 1)
      void withinLimit(() => {
        log.push("hangs");
        return new Promise<never>(() => undefined);
      }, reading(purpose));
    const address = async (name: string): Promise<void> =>
      withinLimit(async () => {
        log.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`${name} ends`);
      }, reading("address"));
    await Promise.all([address("first"), address("second")]);
    expect(log).toEqual(["hangs", "hangs", "hangs", "first begins", "first ends", "second begins", "second ends"]);
  },
);

test("addresses may have every place, and the one beside them", async () => {
  const withinLimit = inFlightLimit(4);
  let running = 0;
  for (let number = 0; number < 9; number += 1)
    void withinLimit(() => {
      running += 1;
      return new Promise<never>(() => undefined);
    }, reading("address"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(running).toBe(5);
});

test("addresses whose calls hang keep another one waiting no longer than a moment", async () => {
  vi.useFakeTimers();
  try {
    const withinLimit = inFlightLimit(4);
    let hanging = 0;
    for (let number = 0; number < 12; number += 1)
      void withinLimit(
        () => {
          hanging += 1;
          return new Promise<never>(() => undefined);
        },
        { purpose: "address", isWrite: true },
      );
    let other = "waits";
    void withinLimit(
      async () => {
        other = "begins";
      },
      { purpose: "address", isWrite: true },
    );
    const look = withinLimit(() => Promise.resolve("looked"), reading("look"));
    await vi.advanceTimersByTimeAsync(SILENT_MS - 1);
    expect([hanging, other]).toEqual([5, "waits"]);
    await vi.advanceTimersByTimeAsync(1);
    expect([hanging, other]).toEqual([10, "waits"]);
    await vi.advanceTimersByTimeAsync(SILENT_MS);
    expect([hanging, other]).toEqual([12, "begins"]);
    // What is less urgent waits for as many to end.
    expect(await Promise.race([look, Promise.resolve("waits")])).toBe("waits");
  } finally {
    vi.useRealTimers();
  }
});
