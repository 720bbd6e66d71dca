import { describe, expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { narrowPlan } from "../../src/report/narrow-plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { steady } from "./runs.ts";
import { schemaErrors } from "./schemas.ts";
import { afterFailure, NOW_MS, planOf } from "./world.ts";

const layout = { palette: PLAIN, all: false, wide: false } as const;
const note = { by: "vm", why: "maintenance 4711", untilMs: NOW_MS + 7_200_000 };

/** The world after a failure, with pool ingress/web suspended. */
function suspended(change: (pool: Pool) => Pool, world = afterFailure()): Observation {
  return { ...world, pools: world.pools.map((pool) => (pool.meta.name === "web" ? change(pool) : pool)) };
}

const bySpec = (pool: Pool): Pool => ({ ...pool, spec: { ...pool.spec, suspend: true } });
const byNote = (pool: Pool): Pool => ({ ...pool, meta: { ...pool.meta, suspension: note } });

describe("a suspended object", () => {
  test("tells what it would do", () => {
    expect(renderPlan(planOf(suspended(byNote)), layout)).toContain(
      "  . nothing is changed\n" +
        "      The object is suspended: by vm (maintenance 4711). Waits until 14:00:00 UTC (in 2h). To go on earlier, run flipop resume pool/ingress/web.\n" +
        "      It would move 203.0.113.10 from worker-1 to worker-3.\n",
    );
  });

  test("tells it whatever suspends it, with annotations in -o wide, and as a document", () => {
    const world = afterFailure();
    const ofAll = { ...world, lease: { ...world.lease, suspension: note } };
    for (const one of [suspended(bySpec), ofAll]) {
      const plan = planOf(one);
      expect(plan.actions).toEqual([]);
      expect(renderPlan(plan, layout)).toContain("It would move 203.0.113.10 from worker-1 to worker-3.\n");
      expect(renderPlan(plan, { ...layout, wide: true })).toContain(
        "It would move 203.0.113.10 from worker-1 to worker-3, annotate node worker-3 with 203.0.113.10 and clear the annotation 203.0.113.10 of node worker-1.\n",
      );
      const document = JSON.parse(JSON.stringify(planDocument(plan)));
      expect(document.suspendedActions.map(({ kind }: { readonly kind: string }) => kind)).toEqual([
        "move-ip",
        "annotate-node",
        "clear-annotation",
      ]);
      expect(schemaErrors(document, "Plan")).toEqual([]);
    }
  });

  test("says that it would change nothing where that is so", () => {
    expect(renderPlan(planOf(suspended(bySpec, steady())), layout)).toContain("      It would change nothing now.\n");
  });

  test("tells of a node only what concerns it", () => {
    const focus = { nodes: ["worker-2"], ips: [], nodeAddresses: [] };
    expect(narrowPlan(planOf(suspended(bySpec)), focus).suspendedActions).toEqual([]);
  });

  test("is not spoken of where nothing is suspended", () => {
    expect(planOf(afterFailure())).not.toHaveProperty("suspendedActions");
  });
});
