import { describe, expect, test } from "vitest";
import { FakeClock } from "../fake/fake-clock.ts";
import { afterFailureWithDNS } from "../report/dns-world.ts";
import { schemaErrors } from "../report/schemas.ts";
import { invoke } from "./invoke.ts";

/** A clock on which so many milliseconds pass between two looks at it. */
class Ticking extends FakeClock {
  #nowMs = 0;
  readonly #stepMs: number;

  constructor(stepMs: number) {
    super();
    this.#stepMs = stepMs;
  }

  override monotonicMs(): number {
    this.#nowMs += this.#stepMs;
    return this.#nowMs;
  }
}

const observation = afterFailureWithDNS();

describe("simulate --n-1", () => {
  test("says on stderr how far it is, once a second has passed, and not each time", async () => {
    const quick = await invoke(["simulate", "--n-1"], { observation, clock: new Ticking(100) });
    expect(quick.stderr).toBe("");
    const slow = await invoke(["simulate", "--n-1"], { observation, clock: new Ticking(600) });
    expect(slow.stderr).toMatch(/^flipop: \d of 2 losses rehearsed\n$/);
    expect(slow.stdout).toBe(quick.stdout);
  });

  test("says it in no JSON log, and not where only errors are wanted", async () => {
    for (const more of [["-q"], ["--log-format", "json"]]) {
      const { stderr } = await invoke(["simulate", "--n-1", ...more], { observation, clock: new Ticking(10_000) });
      expect(stderr).toBe("");
    }
  });

  test("ends between two losses when a signal comes", async () => {
    const ending = new AbortController();
    ending.abort();
    const { stdout, exitCode } = await invoke(["simulate", "--n-1"], { observation, signal: ending.signal });
    expect([stdout, exitCode]).toEqual(["", 130]);
  });
});

describe("the document Simulation", () => {
  test.for([
    ["simulate"],
    ["simulate", "--if", "node/worker-2=NotReady", "--expect", "no-outage=1s"],
    ["simulate", "--n-1=region"],
    ["simulate", "--drain", "node/worker-2"],
    ["simulate", "--rolling-upgrade", "role=edge", "--surge", "2"],
  ])("of %o is as its schema says", async (argv) => {
    const { stdout } = await invoke([...argv, "-o", "json"], { observation });
    expect(schemaErrors(JSON.parse(stdout), "Simulation")).toEqual([]);
  });
});
