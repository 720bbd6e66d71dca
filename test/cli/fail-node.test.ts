import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { failNode } from "../setup/fail-node.ts";

const AT = new Date("2026-08-01T12:00:00.500Z");
const node = (name: string): string =>
  `metadata:\n  name: ${name} # a machine\nstatus:\n  conditions:\n    - type: Ready\n      status: "True"\n`;

describe("the demo's node failure", () => {
  test.for([
    ["documents", `${node("worker-1")}---\n${node("worker-2")}`],
    [
      "a list",
      `- ${node("worker-1").replaceAll("\n", "\n  ").trim()}\n- ${node("worker-2").replaceAll("\n", "\n  ").trim()}\n`,
    ],
  ] as const)("changes one node of %s and keeps the rest", ([, text]) => {
    const changed = failNode(text, "worker-1", AT);
    expect(changed).toContain("# a machine");
    const nodes = parseAllDocuments(changed).flatMap((document) => document.toJS());
    expect(nodes.map(({ status }) => status.conditions)).toEqual([
      [{ type: "Ready", status: "False", lastTransitionTime: "2026-08-01T12:00:00Z" }],
      [{ type: "Ready", status: "True" }],
    ]);
  });

  test("is refused for a node that is not there", () => {
    expect(() => failNode(node("worker-1"), "worker-9", AT)).toThrow("there is no node worker-9");
  });
});
