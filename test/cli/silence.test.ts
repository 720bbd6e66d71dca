import { describe, expect, test } from "vitest";
import { Silence } from "../../src/cli/silence.ts";
import type { Action } from "../../src/model/action.ts";
import type { Hold } from "../../src/model/plan.ts";
import { FakeClock } from "../fake/fake-clock.ts";

const pool = { kind: "pool", namespace: "ingress", name: "web" } as const;
const moving: Action = {
  kind: "move-ip",
  id: "move-ip pool/ingress/web 203.0.113.10",
  object: pool,
  reason: "HolderLost",
  requires: [],
  follows: [],
  provider: "digitalocean",
  ip: "203.0.113.10",
  before: { machineID: "1", nodeName: "worker-1" },
  after: { machineID: "5", nodeName: "worker-5" },
  mustNotCarry: [],
  isHolderJudged: true,
};
const coolOff: Hold = {
  kind: "assign-ip",
  object: pool,
  subject: "203.0.113.10",
  reason: "CoolOff",
  detail: "",
  needsPerson: false,
};

function silence(): { readonly clock: FakeClock; readonly silence: Silence; readonly told: string[] } {
  const told: string[] = [];
  const clock = new FakeClock();
  const one = new Silence((text) => told.push(text));
  return { clock, silence: one, told };
}

describe("a command that is silent", () => {
  test("says after 2 s whom it waits for, and every 10 s from then on", async () => {
    const { clock, silence: one, told } = silence();
    one.watch(clock);
    one.begin({ kind: "provider", name: "digitalocean" });
    one.begin({ kind: "action", action: moving });
    await clock.advance(1999);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(["waiting 2 s for digitalocean (203.0.113.10 on its way to worker-5)"]);
    await clock.advance(20_000);
    expect(told.slice(1)).toEqual([
      "waiting 12 s for digitalocean (203.0.113.10 on its way to worker-5)",
      "waiting 22 s for digitalocean (203.0.113.10 on its way to worker-5)",
    ]);
  });

  test("says which file it reads", async () => {
    const { clock, silence: one, told } = silence();
    one.watch(clock);
    one.begin({ kind: "file", name: "stdin" });
    await clock.advance(2000);
    expect(told).toEqual(["waiting 2 s for the rest of stdin"]);
  });

  test("says which hold it waits for", async () => {
    const { clock, silence: one, told } = silence();
    one.watch(clock);
    one.begin({ kind: "hold", hold: coolOff });
    await clock.advance(12_000);
    expect(told).toEqual(["waiting 2 s: CoolOff of pool/ingress/web", "waiting 12 s: CoolOff of pool/ingress/web"]);
  });

  test("says sooner what it waits for instead, and that it is at work where it waits for nobody", async () => {
    const { clock, silence: one, told } = silence();
    one.watch(clock);
    const end = one.begin({ kind: "cluster" });
    await clock.advance(3000);
    end();
    const endBoth = [
      one.begin({ kind: "provider", name: "digitalocean" }),
      one.begin({ kind: "provider", name: "cloudflare" }),
    ];
    await clock.advance(3000);
    for (const endOne of endBoth) endOne();
    await clock.advance(10_000);
    expect(told).toEqual([
      "waiting 2 s for the cluster",
      "waiting 4 s for cloudflare and digitalocean",
      "at work for 14 s",
    ]);
  });

  test("says who has the Lease, where that is known", async () => {
    const { clock, silence: one, told } = silence();
    one.watch(clock);
    const end = one.begin({ kind: "lease", lease: "flipop/flipop", holder: "flipop-29384756-x2x9k" });
    await clock.advance(2000);
    end();
    one.begin({ kind: "lease", lease: "flipop/flipop", holder: "" });
    await clock.advance(2000);
    expect(told).toEqual([
      "waiting 2 s for the Lease flipop/flipop, which flipop-29384756-x2x9k holds",
      "waiting 4 s for the Lease flipop/flipop",
    ]);
  });

  test("says nothing for 2 s after whatever it wrote, nothing while a person is asked, and nothing at its end", async () => {
    const { clock, silence: one, told } = silence();
    one.begin({ kind: "provider", name: "digitalocean" });
    await clock.advance(60_000);
    one.watch(clock);
    await clock.advance(1500);
    const written: string[] = [];
    one.heard({ isTTY: true, write: (text) => written.push(text) }).write("a line\n");
    await clock.advance(1500);
    expect([told, written]).toEqual([[], ["a line\n"]]);
    const answer = Promise.withResolvers<boolean>();
    const asked = one.paused(() => answer.promise);
    await clock.advance(30_000);
    answer.resolve(true);
    expect(await asked).toBe(true);
    await clock.advance(1900);
    expect(told).toEqual([]);
    await clock.advance(200);
    expect(told).toEqual(["waiting 2 s for digitalocean"]);
    one.end();
    await clock.advance(60_000);
    expect(told).toHaveLength(1);
    expect(clock.sleeping()).toBe(0);
  });
});
