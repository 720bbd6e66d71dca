import { describe, expect, test } from "vitest";
import { ACTIONS } from "../../src/model/action-kinds.ts";
import { KubeError } from "../../src/model/errors.ts";
import { REASONS } from "../../src/model/reason.ts";
import { errorDocument, lockedDocument } from "../../src/report/json/document.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { runDocument } from "../../src/report/json/run.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { overviewOf } from "../../src/report/overview.ts";
import { afterRoutedFailure, ROUTED_FACTS } from "./routed-world.ts";
import { applied, aQuietRun, aRun, failed } from "./runs.ts";
import { readSchema, schemaErrors } from "./schemas.ts";
import { afterFailure, NOW_MS, planOf, reconciled } from "./world.ts";

/** A document as a reader of the JSON gets it. */
function read(document: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(document));
}

describe("documents", () => {
  test("a plan with actions, holds and an invalid object satisfies its schema", () => {
    expect(schemaErrors(read(planDocument(planOf(afterFailure()))), "Plan")).toEqual([]);
  });

  test("a plan with routed IPs and changes of firewalls satisfies its schema", () => {
    const document = read(planDocument(planOf(afterRoutedFailure())));
    expect(schemaErrors(document, "Plan")).toEqual([]);
    expect(document).toMatchObject({ pools: [], routedIPs: { length: 4 }, summary: { pools: 0, routedIPs: 4 } });
  });

  test.for([
    ["that found nothing to do", runDocument(aQuietRun(), 0)],
    ["that moved an address", runDocument(aRun(afterFailure(), reconciled(), applied), 3)],
    ["with firewalls", runDocument(aRun(afterRoutedFailure(), afterRoutedFailure(), applied), 3)],
    [
      "that failed",
      runDocument(
        aRun(afterFailure(), afterFailure(), (action) => failed(action)),
        3,
      ),
    ],
  ] as const)("the result of a run %s satisfies its schema", ([, document]) => {
    expect(schemaErrors(read(document), "RunResult")).toEqual([]);
  });

  test("the status of routed IPs with and without a run satisfies its schema", () => {
    const { routedIPs } = ROUTED_FACTS;
    const facts = {
      cluster: "https://k",
      nowMs: NOW_MS,
      pools: [],
      recordSets: [],
      routedIPs,
      leaseKey: "flipop/flipop",
    };
    const document = read(overviewDocument(overviewOf(facts, 1000)));
    expect(schemaErrors(document, "Status")).toEqual([]);
    expect(document).toMatchObject({ routedIPs: { length: 4 } });
  });

  test("the status of pools with and without a run satisfies its schema", () => {
    const facts = {
      cluster: "https://k",
      nowMs: NOW_MS,
      pools: afterFailure().pools,
      recordSets: [],
      routedIPs: [],
      leaseKey: "flipop/flipop",
    };
    expect(schemaErrors(read(overviewDocument(overviewOf(facts, 1000))), "Status")).toEqual([]);
  });

  test.for([
    ["a refusal of the cluster", errorDocument(forbidden(), 77)],
    ["a bug", errorDocument(new TypeError("x is not a function"), 1)],
    ["a lock held by someone else", lockedDocument("held", 5)],
  ] as const)("an error document about %s satisfies its schema", ([, document]) => {
    expect(schemaErrors(read(document), "Error")).toEqual([]);
  });

  test("a document with a field that no schema knows fails its schema", () => {
    const document = { ...read(planDocument(planOf(afterFailure()))), surprise: 1 };
    expect(schemaErrors(document, "Plan")).toEqual([" must NOT have additional properties"]);
  });

  test("a document without a field that its schema promises fails its schema", () => {
    const { planId: _, ...document } = read(planDocument(planOf(afterFailure())));
    expect(schemaErrors(document, "Plan")).toEqual([" must have required property 'planId'"]);
  });

  test("the schemas know exactly the kinds of actions and the reasons that there are", () => {
    const { $defs } = readSchema("plan.json");
    expect($defs["actionKind"]?.enum.toSorted()).toEqual(Object.keys(ACTIONS).toSorted());
    expect($defs["reason"]?.enum.toSorted()).toEqual(Object.keys(REASONS).toSorted());
    expect($defs["hold"]?.properties?.["kind"]?.enum.toSorted()).toEqual(
      [...Object.keys(ACTIONS), "reconcile"].toSorted(),
    );
    expect($defs["objectRef"]?.properties?.["kind"]?.enum).toEqual(["pool", "dns", "routedip"]);
  });

  test("the same world gives the same document, byte for byte", () => {
    const text = (): string => JSON.stringify(planDocument(planOf(afterFailure())));
    expect(text()).toBe(text());
  });
});

function forbidden(): KubeError {
  return new KubeError({ failure: "forbidden", operation: "list nodes", subject: "", status: 403, message: "no" });
}
