import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { ConfigError, KubeError, ProviderError } from "../../src/model/errors.ts";
import { nodePhrase } from "../../src/model/node-phrase.ts";
import type { Hold, PoolAssessment } from "../../src/model/plan.ts";
import { durationText } from "../../src/model/time.ts";
import { actionText, whyAction } from "../../src/report/text/actions.ts";
import { errorText } from "../../src/report/text/errors.ts";
import { renderHistory } from "../../src/report/text/history.ts";
import { holdText, whyHold } from "../../src/report/text/holds.ts";
import { countText, listText, PLAIN, renderTable, wrap } from "../../src/report/text/layout.ts";
import { groupVerdicts } from "../../src/report/text/plan-sections.ts";
import { agoText, clockText, rfc3339, sinceClockText, sinceText, untilText } from "../../src/report/text/times.ts";
import { afterFailure, NOW_MS, planOf } from "./world.ts";

const object = { kind: "pool", namespace: "ingress", name: "web" } as const;
const common = { id: "x", object, requires: [], follows: [], provider: "digitalocean" } as const;
const w1 = { machineID: "1", nodeName: "worker-1" };
const w2 = { machineID: "2", nodeName: "worker-2" };
const ip = "203.0.113.1";
const assign = { ...common, ip, mustNotCarry: [], isHolderJudged: true } as const;

/** An action, its text, and why. */
const ACTION_ROWS: readonly (readonly [Action, string, string])[] = [
  [
    { ...assign, kind: "assign-ip", reason: "NodeMatched", before: undefined, after: w2 },
    "assign 203.0.113.1 to worker-2",
    "worker-2 matches and waits for an address; this one is free.",
  ],
  [
    { ...assign, kind: "move-ip", reason: "HolderLost", before: w1, after: w2 },
    "move 203.0.113.1 from worker-1 to worker-2",
    "worker-1 no longer matches (not ready), and worker-2 waits for an address.",
  ],
  [
    { ...assign, kind: "move-ip", reason: "HolderGone", before: { machineID: "9" }, after: w2 },
    "move 203.0.113.1 from machine 9 to worker-2",
    "machine 9 is no longer a node of this cluster, and worker-2 waits for an address.",
  ],
  [
    { ...assign, kind: "move-ip", reason: "TakeOver", before: { machineID: "9" }, after: w2 },
    "move 203.0.113.1 from machine 9 to worker-2",
    "It is on machine 9, which never was a node of this cluster; spec.foreignHolder: TakeOver allows taking it.",
  ],
  [
    {
      ...common,
      kind: "unassign-ip",
      isHolderJudged: false,
      ip,
      reason: "DropletNeeded",
      before: w1,
      after: undefined,
    },
    "unassign 203.0.113.1 from worker-1",
    "The machine is needed for another address.",
  ],
  [
    { ...common, kind: "acquire-ip", ordinal: 1, reason: "BelowDesired", before: undefined, after: { node: w2 } },
    "acquire a new address for worker-2",
    "pool/ingress/web has fewer addresses than its desiredIPs (2).",
  ],
  [
    { ...common, kind: "acquire-ip", ordinal: 1, reason: "BelowDesired", before: undefined, after: { region: "ams3" } },
    "acquire a new address in region ams3",
    "pool/ingress/web has fewer addresses than its desiredIPs (2).",
  ],
  [
    { ...common, kind: "delete-ip", ip, reason: "ReclaimDelete", before: undefined, after: undefined },
    "delete 203.0.113.1 (given back to digitalocean for good)",
    "spec.reclaimPolicy is Delete: what flipop bought and wrote goes.",
  ],
  [
    {
      ...common,
      kind: "annotate-node",
      nodeName: "worker-2",
      reason: "AnnotationDrift",
      before: { address: "203.0.113.7", pool: undefined },
      after: { address: ip, pool: "ingress/web" },
    },
    "annotate node worker-2 with 203.0.113.1",
    "The annotation says 203.0.113.7; 203.0.113.1 is verified there.",
  ],
  [
    {
      ...common,
      kind: "annotate-node",
      nodeName: "worker-2",
      reason: "AnnotationDrift",
      before: { address: ip, pool: "ingress/web" },
      after: { address: ip, pool: "shop/beta" },
    },
    "annotate node worker-2 with 203.0.113.1",
    "The annotation names ingress/web; the address is of shop/beta.",
  ],
  [
    {
      ...common,
      kind: "clear-annotation",
      nodeName: "worker-1",
      reason: "HolderLost",
      before: { address: ip, pool: "ingress/web" },
      after: { address: undefined, pool: undefined },
    },
    "clear the annotation 203.0.113.1 of node worker-1",
    "worker-1 no longer matches (not ready).",
  ],
  [
    {
      ...common,
      kind: "clear-annotation",
      nodeName: "worker-7",
      reason: "PoolDeleted",
      before: { address: ip, pool: "ingress/web" },
      after: { address: undefined, pool: undefined },
    },
    "clear the annotation 203.0.113.1 of node worker-7",
    "The pool is deleted.",
  ],
  [
    { ...common, kind: "add-finalizer", reason: "ReclaimDelete", before: undefined, after: undefined },
    "add the finalizer flipop.digitalocean.com/cleanup",
    "spec.reclaimPolicy is Delete: what flipop bought and wrote goes.",
  ],
  [
    { ...common, kind: "remove-finalizer", reason: "NothingToReclaim", before: undefined, after: undefined },
    "remove the finalizer flipop.digitalocean.com/cleanup",
    "Nothing is left that reclaimPolicy Delete would clean.",
  ],
];

const web = planOf(afterFailure()).pools.find(({ object: { name } }) => name === "web") as PoolAssessment;

describe("the text of an action", () => {
  test.for(ACTION_ROWS)("names what it changes and why: %$", ([action, text, why]) => {
    expect([actionText(action), whyAction(action, web)]).toEqual([text, why]);
  });
});

describe("the text of a hold", () => {
  const hold: Hold = { kind: "assign-ip", object, subject: ip, reason: "CoolOff", detail: "", needsPerson: false };
  test.for([
    [
      { ...hold, notBeforeMs: NOW_MS + 20_000 },
      "203.0.113.1: not assigned",
      "assignmentCoolOffSeconds since the pool's last assignment are not over. Waits until 12:00:20 UTC (in 20s).",
    ],
    [
      { ...hold, reason: "Grace", detail: "stays on node worker-1", notBeforeMs: NOW_MS - 1 },
      "203.0.113.1: stays where it is",
      "The node became unready a moment ago and still counts as a match: stays on node worker-1. Due now.",
    ],
    [
      {
        ...hold,
        kind: "reconcile",
        subject: "ingress/web",
        reason: "RateLimited",
        detail: "digitalocean asked for no calls",
      },
      "nothing is changed",
      "DigitalOcean asked for no calls.",
    ],
    [
      { ...hold, kind: "reconcile", subject: "ingress/web", reason: "Unreadable", detail: "no answer" },
      "nothing is changed",
      "No answer.",
    ],
    [
      { ...hold, kind: "reconcile", subject: "ingress/web", reason: "Suspended", detail: "spec.suspend is true" },
      "nothing is changed",
      "The object is suspended: spec.suspend is true. To go on, set spec.suspend: false.",
    ],
    [
      { ...hold, kind: "acquire-ip", subject: "ingress/web", reason: "LostAcquisition", detail: "203.0.113.7" },
      "no address acquired",
      "The status was lost while an address was being acquired, and it cannot be told which address that is: 203.0.113.7. List it in spec.ips if it is the pool's; if none is, remove the annotation flipop.digitalocean.com/acquired from the pool to acquire another.",
    ],
  ] as const satisfies readonly (readonly [Hold, string, string])[])(
    "says what, why and until when: %$",
    ([held, what, why]) => {
      expect([holdText(held), whyHold(held, NOW_MS)]).toEqual([what, why]);
    },
  );
});

describe("the text of an error", () => {
  const refusal = new ProviderError({
    provider: "digitalocean",
    failure: "refused",
    operation: "assign",
    subject: ip,
    status: 422,
    message: "Could not assign it: refused.",
    requestID: "req-7",
  });
  test("is the sentence alone without -v, and the call's ids with it", () => {
    expect(errorText(refusal, 0)).toBe("Could not assign it: refused.");
    expect(errorText(refusal, 1)).toBe(
      "Could not assign it: refused.\n  (operation: assign, HTTP status: 422, request id: req-7)",
    );
  });

  test("has a stack with -vv, and always when it is a bug", () => {
    expect(errorText(new ConfigError("invalid", "Wrong."), 1)).toBe("Wrong.");
    expect(errorText(new ConfigError("invalid", "Wrong."), 2)).toMatch(/^Wrong\.\n {4}at /);
    expect(errorText(new RangeError("odd"), 0)).toMatch(/^This is a bug in flipop: odd\n {4}at [\s\S]*report it/);
  });

  test("leaves out a status that no answer gave", () => {
    const facts = {
      failure: "timeout",
      operation: "list nodes",
      subject: "",
      status: 0,
      message: "No answer.",
    } as const;
    expect(errorText(new KubeError(facts), 1)).toBe("No answer.\n  (operation: list nodes)");
  });

  test("tells of anything that was thrown", () => {
    expect(errorText("text", 0)).toContain("This is a bug in flipop: text");
  });
});

describe("verdicts on nodes", () => {
  const verdict = (nodeName: string, reason: "NodeNotReady" | "NodeLabelMismatch", detail = "") => ({
    nodeName,
    reason,
    detail,
  });
  test("are grouped by reason, the largest group first, with at most so many names", () => {
    const verdicts = [
      verdict("a", "NodeNotReady"),
      ...["b", "c", "d"].map((name) => verdict(name, "NodeLabelMismatch", "x=y")),
    ];
    expect(groupVerdicts(verdicts, 2)).toBe("3 nodeLabel mismatch (b, c and 1 more), 1 not ready (a)");
  });

  test("show their particulars one by one", () => {
    expect(nodePhrase(verdict("a", "NodeLabelMismatch", "x=y"))).toBe("nodeLabel mismatch: x=y");
  });
});

describe("small texts", () => {
  test.for([
    [0, "0s"],
    [59_999, "59s"],
    [150_000, "2m30s"],
    [3_600_000, "1h"],
    [11 * 3_600_000 + 60_000, "11h"],
    [90_000_000, "1d1h"],
  ] as const)("%i milliseconds read %s", ([ms, text]) => {
    expect(durationText(ms)).toBe(text);
  });

  test("a time on another day shows its date", () => {
    expect(clockText(NOW_MS + 86_400_000, NOW_MS)).toBe("2026-08-02 12:00:00 UTC");
    expect(untilText(NOW_MS + 500, NOW_MS)).toBe("until 12:00:00 UTC (in 1s)");
    expect(rfc3339(NOW_MS)).toBe("2026-08-01T12:00:00Z");
  });

  test("a time that no right clock has shown yet is said to be in the future", () => {
    const at = (ms: number): string => rfc3339(NOW_MS + ms);
    // The API server's clock is known to the second.
    expect([-61_000, 0, 2000, 3000, 600_000].map((ms) => agoText(at(ms), NOW_MS))).toEqual([
      "1m1s ago",
      "0s ago",
      "0s ago",
      "3s in the future",
      "10m in the future",
    ]);
    expect(sinceText(at(600_000), NOW_MS)).toBe("since 12:10:00 UTC (10m in the future)");
    expect(sinceClockText(NOW_MS + 600_000, NOW_MS)).toBe("since 12:10:00 UTC (10m in the future)");
    expect(sinceClockText(NOW_MS, NOW_MS)).toBe("since 12:00:00 UTC");
    expect(agoText("soon", NOW_MS)).toBe("soon");
  });

  test("a history says how many of its times are in the future", () => {
    const change = {
      kind: "run",
      subject: "",
      outcome: "seen",
      what: "ended",
      why: "",
      count: 1,
      sources: [],
      reason: "",
    } as const;
    const told = (...ahead: readonly number[]): string =>
      renderHistory(
        {
          cluster: "",
          nowMs: NOW_MS,
          sinceMs: NOW_MS,
          changes: ahead.map((ms) => ({ ...change, timeMs: NOW_MS + ms, firstMs: NOW_MS + ms })),
          older: 0,
          gaps: ["Nothing else is known."],
        },
        { wide: false, palette: PLAIN },
      );
    expect(told(600_000, 3000, 0)).toContain(
      "2 changes have a time in the future, up to 12:10:00 UTC (in 10m): a clock was wrong.\n",
    );
    expect(told(3000)).toContain("1 change has a time in the future, up to 12:00:03 UTC (in 3s): a clock was wrong.\n");
    expect(told(2000, 0)).not.toContain("future");
  });

  test("lists and counts read as people write them", () => {
    expect([
      listText([]),
      listText(["a"]),
      listText(["a", "b", "c"]),
      countText(1, "node"),
      countText(2, "node"),
    ]).toEqual(["", "a", "a, b and c", "1 node", "2 nodes"]);
  });

  test("words are wrapped behind the indent, and a word that is too long stays whole", () => {
    expect(wrap("one two incomprehensible", "  ", 9)).toEqual(["  one two", "  incomprehensible"]);
    expect(wrap("one two", "  ")).toEqual(["  one two"]);
  });

  test("a table is cut at the width of a terminal only, with its colours closed", () => {
    const bold = (text: string): string => `<${text}>`;
    const rows = [[{ text: "a" }, { text: "longer than that", paint: bold }]];
    expect(renderTable(["A", "B"], rows)).toBe("A   B\na   <longer than that>\n");
    expect(renderTable(["A", "B"], rows, { width: 10 })).toBe("A   B\na   <longe>…\n");
  });

  test("one long name takes a third of the width at most, without its middle, and costs the other columns nothing", () => {
    const name = `ingress/a-very-${"long-".repeat(25)}product`;
    const row = (text: string): { readonly text: string }[] =>
      [text, "True", "3/3", "Ready"].map((cell) => ({ text: cell }));
    expect(renderTable(["POOL", "READY", "ACTIVE", "REASON"], [row(name), row("ingress/b")], { width: 80 })).toBe(
      [
        "POOL                         READY   ACTIVE   REASON",
        "ingress/a-ver…long-product   True    3/3      Ready",
        "ingress/b                    True    3/3      Ready",
        "",
      ].join("\n"),
    );
    expect(renderTable(["POOL", "READY", "ACTIVE", "REASON"], [row(name)])).toContain(`${name}   True   `);
    expect(renderTable(["POOL", "READY", "ACTIVE", "REASON"], [row(name)], { width: 400 })).toContain(
      `${name}   True   `,
    );
  });
});
