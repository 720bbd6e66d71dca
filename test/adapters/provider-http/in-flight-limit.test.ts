import { expect, test } from "vitest";
import { inFlightLimit } from "../../../src/adapters/provider-http/in-flight-limit.ts";

test("a place that is handed over stays taken, so that later tasks wait as well", async () => {
  const withinLimit = inFlightLimit(1);
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string): Promise<void> =>
    withinLimit(() => {
      log.push(`${name} begins`);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
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
  });
  await expect(failing).rejects.toThrow("no");
  expect(await withinLimit(async () => "yes")).toBe("yes");
});

test("a task that gives way begins when no other waits, whoever came first", async () => {
  const withinLimit = inFlightLimit(1);
  const log: string[] = [];
  const run = (name: string, givesWay: boolean): Promise<void> =>
    withinLimit(async () => {
      log.push(name);
    }, givesWay);
  await Promise.all([
    run("under way", true),
    run("name 1", true),
    run("name 2", true),
    run("address 1", false),
    run("address 2", false),
  ]);
  expect(log).toEqual(["under way", "address 1", "address 2", "name 1", "name 2"]);
});
