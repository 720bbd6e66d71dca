import { expect, test } from "vitest";
import { HostHealth } from "../../src/cli/host.ts";
import { FakeClock } from "../fake/fake-clock.ts";

const READY = { isOK: true, why: "the host is as its node says" };

test("a host is ready once it has what its node asks for, and not while an address could not be put there", () => {
  const health = new HostHealth(new FakeClock());
  expect(health.readiness()).toEqual({ isOK: false, why: "the node has not been read yet" });
  health.heard();
  health.beat(undefined);
  expect(health.readiness()).toEqual(READY);
  health.beat("an address could not be put on the host");
  expect(health.readiness()).toEqual({ isOK: false, why: "an address could not be put on the host" });
});

test("a host whose node cannot be read stays ready for five minutes, and is ready again once it is read", async () => {
  const clock = new FakeClock();
  const health = new HostHealth(clock);
  health.heard();
  health.beat(undefined);
  const silent = async (ms: number): Promise<void> => {
    health.beatWithoutReading("no answer");
    await clock.advance(ms);
    // The host is looked at all the while, and has what was asked for when the node was read last.
    health.beat(undefined);
  };
  await silent(60_000);
  await silent(239_000);
  expect(health.readiness()).toEqual(READY);
  await silent(1000);
  const why = "the node could not be read for 300 s; the host keeps what it has";
  expect(health.readiness()).toEqual({ isOK: false, why });
  expect(health.health().isOK).toBe(true);
  health.heard();
  expect(health.readiness()).toEqual(READY);
  await silent(299_000);
  expect(health.readiness()).toEqual(READY);
});

test("a host that was not in order says why its node could not be read", () => {
  const health = new HostHealth(new FakeClock());
  health.beatWithoutReading("no answer");
  expect(health.readiness()).toEqual({ isOK: false, why: "no answer" });
});
