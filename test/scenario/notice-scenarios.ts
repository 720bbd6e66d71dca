import { expect } from "vitest";
import type { PassResult } from "../../src/model/run.ts";
import { cloudEvent } from "../../src/report/notices.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";

const SECOND = 1000;
const TELLER = { source: "/test", name: "test", runID: "0" };

/** What is new after a pass: `applied move-ip`, `failed assign-ip x2`, `blocked Conflict`. */
function news({ notices = [] }: PassResult): readonly string[] {
  return notices.map((notice) => {
    if (notice.kind === "blocked") return `blocked ${notice.reason}`;
    const times = notice.failures === 0 ? "" : ` x${notice.failures}`;
    return `${notice.outcome.outcome} ${notice.outcome.action.kind}${times}`;
  });
}

const idsOf = ({ notices = [] }: PassResult): readonly unknown[] =>
  notices.map((notice) => cloudEvent(notice, TELLER)["id"]);

/** What is told to whoever asked to be notified. */
export function noticeScenarios(scenario: Register): void {
  scenario("each change is told once, in the run that makes it", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    const first = await world.pass();
    expect(news(first)).toEqual(["applied assign-ip", "applied annotate-node"]);
    expect(news(await world.pass())).toEqual([]);
    await world.nodes.setReady("n1", false);
    const second = await world.pass();
    expect(news(second).toSorted()).toEqual(["applied annotate-node", "applied clear-annotation", "applied move-ip"]);
    expect(news(await world.pass())).toEqual([]);
    const ids = [...idsOf(first), ...idsOf(second)];
    expect(new Set(ids).size).toBe(ids.length);
  });

  scenario("a failure that repeats over runs is told the 1st, 2nd, 4th and 8th time", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cloud", operation: "assign", kind: "500", times: 9 });
    const told: string[] = [];
    for (let run = 0; run < 9; run += 1) {
      told.push(news(await world.pass()).join());
      world.advance(300 * SECOND);
    }
    const failed = (times: number): string => `failed assign-ip x${times}`;
    expect(told).toEqual([failed(1), failed(2), "", failed(4), "", "", "", failed(8), ""]);
    expect(news(await world.pass())).toEqual(["applied assign-ip", "applied annotate-node"]);
    await world.machines("n2");
    await world.nodes.setReady("n1", false);
    world.fail({ side: "cloud", operation: "assign", kind: "500", times: 1 });
    expect(news(await world.pass())[0]).toBe("failed move-ip x1");
    world.advance(300 * SECOND);
    await world.pass();
  });

  scenario(
    "an object that begins to wait for a person is told once, and again when it does so again",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { ips: [ip(1)] });
      expect(news(await world.pass())).toEqual(["blocked IPNotFound"]);
      world.advance(60 * SECOND);
      expect(news(await world.pass())).toEqual([]);
      world.cloud.address(ip(1));
      world.advance(600 * SECOND);
      expect(news(await world.pass())).toEqual(["applied assign-ip", "applied annotate-node"]);
      world.cloud.removeAddress(ip(1));
      expect(news(await world.pass())).toContain("blocked IPNotFound");
      world.advance(600 * SECOND);
      expect(news(await world.pass())).toEqual([]);
    },
  );

  scenario("what could not be stored is told once it is", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "403", times: 0 });
    expect(news(await world.pass())).toEqual([]);
    world.clearFaults();
    world.advance(600 * SECOND);
    expect(news(await world.pass())).toEqual(["blocked IPNotFound"]);
  });

  scenario("a run that goes on until nothing is left tells of all of its passes", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cloud", operation: "assign", kind: "500", times: 1 });
    expect(news(await world.pass({ settle: true }))).toEqual([
      "failed assign-ip x1",
      "applied assign-ip",
      "applied annotate-node",
    ]);
  });

  scenario(
    "a run that loses the Lease tells what it did before, and nothing that is not stored",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      world.before("annotateNode", () => world.stealLease());
      const end = await world.run({ lease: "wait" });
      if (end.kind !== "done") throw new Error(end.kind);
      expect(news(end.result)[0]).toBe("applied assign-ip");
      expect(news(end.result).filter((line) => line.startsWith("blocked"))).toEqual([]);
      world.advance(120 * SECOND);
      await world.pass();
    },
    { worlds: ["memory"] },
  );
}
