import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { RealWorld } from "./real-world.ts";
import type { Strike, WireCall } from "./wire.ts";

/** Short enough to wait for, and long enough for a machine that stands still for seconds. */
const SHORT_LOCK = ["--lease-duration", "10s", "--renew-deadline", "8s", "--retry-period", "500ms"];
const LOCK_MS = 10_000;
/** For what is on its way when the Lease ends, and for the end of a run, on a busy machine. */
const LATE_MS = 2000;
/** A run that was held up has not ended by then. */
const HELD_UP_MS = 120_000;
const PATIENT = ["--settle", "--timeout", "60s", "--on-locked", "wait"];
const MINUTE_MS = 60_000;

/** Does something at the first request whose key contains the text. */
function at(text: string, strike: (call: WireCall) => Strike): (call: WireCall) => Strike | undefined {
  let isOver = false;
  return (call) => {
    if (isOver || !call.key.includes(text)) return undefined;
    isOver = true;
    return strike(call);
  };
}

describeCluster("real processes on a real API server", () => {
  let world: RealWorld;
  beforeAll(async () => {
    world = await RealWorld.open();
  });
  afterAll(async () => {
    await world?.close();
  });

  /** A clean run makes it right, and the next has nothing to do. */
  async function expectRepair(addresses: number): Promise<void> {
    world.guard(() => undefined);
    const clean = await world.start(PATIENT).ended;
    expect(clean, clean.text).toMatchObject({ code: 0 });
    const { held, www } = world.truth();
    expect({ count: held.length, www }).toEqual({ count: addresses, www: held });
    const silent = await world.start().ended;
    expect(silent.text).toMatch(`Nothing to do: 1 pool, ${addresses} of ${addresses} address`);
    expect(world.intruders).toEqual([]);
  }

  describe("one after the other", { shuffle: false }, () => {
    test.for([-10, 10, 120])(
      "with a clock wrong by %i minutes a run does all there is to do, and the next nothing",
      async (minutes) => {
        await world.change(minutes === -10 ? 1 : 2, minutes === 120 ? 1 : 0);
        world.guard(() => undefined);
        const run = await world.start([...PATIENT], minutes * MINUTE_MS).ended;
        expect(run, run.text).toMatchObject({ code: 0 });
        const silent = await world.start([], -minutes * MINUTE_MS).ended;
        expect(silent.text).toContain("Nothing to do: 1 pool");
        expect(world.intruders).toEqual([]);
      },
    );

    test("two processes with clocks twenty minutes apart never write at the same time", async () => {
      await world.change(3);
      world.guard(({ server }) => (server === "digitalocean" ? { before: () => sleep(100) } : undefined));
      const runs = [world.start(PATIENT, -10 * MINUTE_MS), world.start(PATIENT, 10 * MINUTE_MS)];
      for (const { code, text } of await Promise.all(runs.map(({ ended }) => ended))) expect(code, text).toBe(0);
      await expectRepair(3);
    });

    test("a Lease renewed in the future by nobody is taken after its duration, by a clock that is wrong as well", async () => {
      const path = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";
      const renewTime = new Date(Date.now() + 10 * MINUTE_MS).toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: "dead", leaseDurationSeconds: 2, renewTime, acquireTime: renewTime };
      await world.api.call("PATCH", path, { spec }, "application/merge-patch+json");
      const run = await world.start([], -5 * MINUTE_MS).ended;
      expect(run, run.text).toMatchObject({ code: 0 });
    });

    test("a process stopped in the middle of a purchase until another has taken over does nothing more", async () => {
      await world.change(4);
      let resume: () => void = () => undefined;
      const answered = new Promise<void>((resolve) => {
        resume = resolve;
      });
      let stop: () => void = () => undefined;
      const isStopped = new Promise<void>((resolve) => {
        stop = resolve;
      });
      world.guard(
        at("POST /v2/reserved_ips", () => ({
          after: async () => {
            first.child.kill("SIGSTOP");
            stop();
            await answered;
          },
        })),
      );
      const first = world.start(SHORT_LOCK);
      await isStopped;
      const second = await world.start(PATIENT).ended;
      expect(second.text).not.toContain("Another run works now");
      resume();
      first.child.kill("SIGCONT");
      const { code, text } = await first.ended;
      expect([3, 75], text).toContain(code);
      await expectRepair(4);
    });

    test("an API server restarted between a purchase and its record loses nothing", async () => {
      await world.change(5);
      world.guard(at("POST /v2/reserved_ips #1", () => ({ after: () => world.cluster.restartAPIServer() })));
      const { code, text } = await world.start(["--settle", "--timeout", "40s"]).ended;
      expect([0, 3, 75], text).toContain(code);
      await expectRepair(5);
    });

    test("a provider that sends its answers byte by byte cannot hold up a run with default settings", async () => {
      await world.change(5, 1);
      world.guard(() => ({ answer: "a body byte by byte" }));
      const { code, text, ms } = await world.start().ended;
      expect([3, 75], text).toContain(code);
      expect(text).toContain("nothing complete within 15 s");
      expect(ms).toBeLessThan(HELD_UP_MS);
      await expectRepair(5);
    });

    test("with etcd frozen in the middle of a run nothing is written to a provider once the Lease cannot be renewed, and the run ends in time", async () => {
      await world.change(6, 2);
      let frozenAtMs = Number.POSITIVE_INFINITY;
      world.guard(
        ({ server, method }) => {
          if (server !== "digitalocean" || method === "GET") return undefined;
          if (frozenAtMs === Number.POSITIVE_INFINITY) {
            frozenAtMs = performance.now();
            world.cluster.pauseEtcd();
          }
          return { after: () => sleep(3000) };
        },
        () => frozenAtMs === Number.POSITIVE_INFINITY,
      );
      try {
        const { code, text, ms } = await world.start([...SHORT_LOCK, "--timeout", "25s"]).ended;
        expect([3, 75], text).toContain(code);
        expect(ms).toBeLessThan(HELD_UP_MS);
        const late = world.wire
          .calls()
          .filter(({ method, atMs }) => method !== "GET" && atMs > frozenAtMs + LOCK_MS + LATE_MS);
        expect(late).toEqual([]);
      } finally {
        world.cluster.resumeEtcd();
      }
      await expectRepair(6);
    });
  });
});
