import { expect, test } from "vitest";
import { nodePhrase, verdictPhrase } from "../../src/model/node-phrase.ts";

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
