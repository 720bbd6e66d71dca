import { expect, test } from "vitest";
import type { Purpose } from "../../../src/adapters/http/limits.ts";
import { inFlightLimit } from "../../../src/adapters/http/limits.ts";

test("a place that is handed over stays taken, so that later tasks wait as well", async () => {
  const withinLimit = inFlightLimit(1);
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string): Promise<void> =>
    withinLimit(() => {
      log.push(`${name} begins`);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    }, "look");
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
  }, "look");
  await expect(failing).rejects.toThrow("no");
  expect(await withinLimit(async () => "yes", "look")).toBe("yes");
});

test("the most urgent task goes next, whoever came first", async () => {
  const withinLimit = inFlightLimit(1);
  const log: string[] = [];
  const run = (name: string, purpose: Purpose): Promise<void> =>
    withinLimit(async () => {
      log.push(name);
    }, purpose);
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
