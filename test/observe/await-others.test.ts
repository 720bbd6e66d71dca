import { expect, test } from "vitest";
import { factKey, ReusableFacts } from "../../src/observe/reusable-facts.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { anObservation, aPool, known } from "../plan/builders.ts";

const KEY = factKey("address", "digitalocean", "203.0.113.1");

test("while something waits for another shard what is settled is read again, after waits that grow; then no more", async () => {
  const clock = new FakeClock();
  const facts = new ReusableFacts(clock);
  const world = anObservation({
    pools: [aPool({ spec: { ips: ["203.0.113.1"] } })],
    addresses: [known("203.0.113.1")],
  });
  const pass = (isWaiting: boolean): void => {
    facts.keep(world);
    facts.awaitOthers(isWaiting);
  };
  pass(false);
  expect([facts.isDue(KEY), facts.nextDueInMs()]).toEqual([false, undefined]);
  const waits: (number | undefined)[] = [];
  for (let count = 0; count < 4; count += 1) {
    pass(true);
    expect(facts.isDue(KEY)).toBe(false);
    // A pass for another reason meanwhile makes the wait no longer.
    pass(true);
    const ms = facts.nextDueInMs();
    waits.push(ms);
    await clock.settle(clock.sleep(ms ?? 0));
    expect(facts.isDue(KEY)).toBe(true);
  }
  expect(waits).toEqual([250, 500, 1000, 2000]);
  pass(false);
  expect([facts.isDue(KEY), facts.nextDueInMs()]).toEqual([false, undefined]);
  expect(facts.isDue(factKey("address", "digitalocean", "203.0.113.9"))).toBe(true);
});
