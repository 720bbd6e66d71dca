import { expect, test } from "vitest";
import { nodePhrase, readSkipped, skippedSentence, verdictPhrase } from "../../src/model/node-phrase.ts";
import { REASONS, type Reason } from "../../src/model/reason.ts";

test.for([
  ["TaintNotTolerated", "node.kubernetes.io/unschedulable:NoSchedule", "cordoned", "cordoned"],
  [
    "TaintNotTolerated",
    "dedicated=db:NoSchedule",
    "tainted dedicated=db",
    "taint not tolerated: dedicated=db:NoSchedule",
  ],
  ["TaintNotTolerated", "", "taint not tolerated", "taint not tolerated"],
  ["NodeNotReady", "", "not ready", "not ready"],
  ["NodeLabelMismatch", "role=edge", "nodeLabel mismatch", "nodeLabel mismatch: role=edge"],
] as const)("%s %s is '%s' in a list and '%s' behind a name", ([reason, detail, list, bracket]) => {
  expect([verdictPhrase({ reason, detail }), nodePhrase({ reason, detail })]).toEqual([list, bracket]);
});

const NODE_ERRORS = (Object.keys(REASONS) as readonly Reason[]).filter(
  (reason) => REASONS[reason].isNodeError === true,
);

test("there are reasons for which a node is named among errors", () => {
  expect(NODE_ERRORS.length).toBeGreaterThan(1);
});

test.for(NODE_ERRORS)("what status keeps of a node for %s is read again", (reason) => {
  for (const detail of ["", "203.0.113.99", "machine 101 (again)", ")("]) {
    const skipped = { nodeName: "worker-4.example.com", reason, detail };
    expect(readSkipped(skippedSentence(skipped))).toEqual({ ...skipped, message: nodePhrase(skipped) });
  }
});

test.for([
  ["worker-4: on fire", { nodeName: "worker-4", message: "on fire" }],
  ["Cannot patch nodes: no", undefined],
  ["", undefined],
  ["worker-4: ", undefined],
] as const)("of '%s' is read %o", ([sentence, read]) => {
  expect(readSkipped(sentence)).toEqual(read);
});
