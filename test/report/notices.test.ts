import { readFileSync } from "node:fs";
import { CloudEvent, HTTP } from "cloudevents";
import { describe, expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { Notice } from "../../src/model/notice.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { Condition } from "../../src/model/resource.ts";
import type { PassResult } from "../../src/model/run.ts";
import { EXIT } from "../../src/report/exit-code.ts";
import {
  alertsOf,
  cloudEvent,
  eventTypes,
  failedRun,
  failedWith,
  noticesOf,
  slackMessage,
  type Teller,
  toldOf,
} from "../../src/report/notices.ts";
import { applied, aQuietRun, aRun, failed } from "./runs.ts";
import { schemaErrors } from "./schemas.ts";
import { afterFailure, NOW_MS } from "./world.ts";

const TELLER: Teller = {
  source: "https://k8s.example.com/production",
  name: "production",
  cluster: "https://kubernetes.example:6443",
  runID: "0f1e2d3c",
};
const refused = (action: Outcome["action"]): Outcome => failed(action);
const NEVER_FAILED = (): { readonly before: number; readonly after: number } => ({ before: 0, after: 0 });

const stalled: Condition = {
  type: "Stalled",
  status: "True",
  observedGeneration: 1,
  lastTransitionTime: "2026-08-01T12:00:00Z",
  reason: "InvalidSpec",
  message: 'unknown provider "Ferengi"\n<!channel>',
};

/** What is new after a pass over a world in which a node has failed. */
function told(
  outcomeOf: (action: Outcome["action"]) => Outcome,
  { failures = NEVER_FAILED, conditions = [] as readonly Condition[] } = {},
): readonly Notice[] {
  const { plan, outcomes, remaining } = aRun(afterFailure(), afterFailure(), outcomeOf);
  const ended = outcomes.map((outcome, at) => ({ ...outcome, endedAtMs: NOW_MS + at * 1000 }));
  const stored = ({ name }: { readonly name: string }): readonly Condition[] => (name === "broken" ? conditions : []);
  return noticesOf({ seen: afterFailure(), planned: plan, outcomes: ended, remaining, stored }, failures);
}

const runFailure = failedWith(
  new KubeError({ failure: "unavailable", operation: "list", subject: "", status: 0, message: "It is away." }),
  { exitCode: 75, failures: 4, atMs: NOW_MS },
);

const everything = (): readonly Notice[] => [
  ...told(applied),
  ...told(refused, { failures: () => ({ before: 1, after: 2 }), conditions: [stalled] }),
  runFailure,
];

describe("what is told of a pass", () => {
  test("is each change that was made, with what RunResult says of it", () => {
    const events = told(applied).map((notice) => cloudEvent(notice, TELLER));
    expect(events.map(({ type, subject, time }) => [type, subject, time])).toEqual([
      ["com.digitalocean.flipop.change.applied", "pool/ingress/web", "2026-08-01T12:00:00Z"],
      ["com.digitalocean.flipop.change.applied", "pool/ingress/web", "2026-08-01T12:00:01Z"],
      ["com.digitalocean.flipop.change.applied", "pool/ingress/web", "2026-08-01T12:00:02Z"],
    ]);
    expect(events[0]).toMatchObject({
      source: TELLER.source,
      data: {
        cluster: TELLER.cluster,
        runId: TELLER.runID,
        message:
          "pool/ingress/web: moved 203.0.113.10 from worker-1 to worker-3: worker-1 no longer matches (not ready), and worker-3 waits for an address.",
        outcome: { kind: "move-ip", subject: "203.0.113.10", outcome: "applied", attempts: 1, ms: 1234 },
      },
    });
  });

  test.for([
    [0, 1, true],
    [1, 2, true],
    [2, 3, false],
    [3, 4, true],
    [4, 7, false],
    [7, 8, true],
    [3, 9, true],
    [5, 1, true],
    [0, 0, true],
  ] as const)("is a failure behind %i earlier ones that makes it %i in a row: %s", ([before, after, isTold]) => {
    const events = told(refused, { failures: () => ({ before, after }) }).map((notice) => cloudEvent(notice, TELLER));
    expect(events.length > 0).toBe(isTold);
    const data = events.map((event) => (event["data"] as { readonly failures?: number }).failures);
    expect(data.every((count) => count === (after === 0 ? undefined : after))).toBe(true);
  });

  test("is what was accepted and is still under way: no later pass tells of it", () => {
    const [event] = told((action) => ({ action, outcome: "unconfirmed", ms: 1 })).map((one) => cloudEvent(one, TELLER));
    expect(event).toMatchObject({
      type: "com.digitalocean.flipop.change.accepted",
      data: {
        message:
          "pool/ingress/web: asked to move 203.0.113.10 from worker-1 to worker-3: Accepted, and not seen to be true yet. The next run looks again.",
        outcome: { outcome: "unconfirmed" },
      },
    });
    expect(schemaErrors(event?.["data"], "Notice")).toEqual([]);
  });

  test("is nothing of what was skipped", () => {
    expect(told((action) => ({ action, outcome: "skipped", reason: "Stale", detail: "", ms: 1 }))).toEqual([]);
  });

  test("is an object that waits for a person, once its status says so", () => {
    const nothing = (action: Outcome["action"]): Outcome => ({
      action,
      outcome: "skipped",
      reason: "Stale",
      detail: "",
      ms: 1,
    });
    expect(told(nothing)).toEqual([]);
    const [notice, ...more] = told(nothing, { conditions: [stalled] });
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ kind: "blocked", object: { name: "broken" }, reason: "InvalidSpec" });
  });
});

describe("a run that failed", () => {
  const result: PassResult = aQuietRun();
  const facts = { exitCode: EXIT.notPermitted, lastResult: "0 done", atMs: NOW_MS };

  test("is told, unless the one before it ended so, too", () => {
    expect(failedRun(result, facts)).toMatchObject([{ kind: "run", exitCode: 77 }]);
    expect(failedRun(result, { ...facts, lastResult: "" })).toHaveLength(1);
    expect(failedRun(result, { ...facts, lastResult: "77 not permitted" })).toEqual([]);
  });

  test.for([EXIT.done, EXIT.partly, EXIT.refused, EXIT.hungUp, EXIT.interrupted, EXIT.terminated])(
    "is none that ended with %i",
    (exitCode) => {
      expect(failedRun(result, { ...facts, exitCode })).toEqual([]);
    },
  );
});

describe("a CloudEvent", () => {
  test("is valid by its own library and by the schema of its data, and says who, what and when", () => {
    const events = everything().map((notice) => JSON.parse(JSON.stringify(cloudEvent(notice, TELLER))));
    expect(new Set(events.map(({ type }) => type)).size).toBe(4);
    for (const event of events) {
      const headers = { "content-type": "application/cloudevents+json; charset=utf-8" };
      const read = HTTP.toEvent({ headers, body: JSON.stringify(event) });
      if (!(read instanceof CloudEvent)) throw new Error("one event was read as several");
      expect(read.validate()).toBe(true);
      expect(read).toMatchObject({ specversion: "1.0", id: event.id, source: event.source, type: event.type });
      expect(read.time).toBe(new Date(event.time).toISOString());
      expect(schemaErrors(read.data, "Notice")).toEqual([]);
      expect(Object.keys(event).every((name) => /^[a-z]+$/.test(name))).toBe(true);
    }
  });

  test("has the same id whenever it is made, and another one for anything else", () => {
    const ids = (teller: Teller): readonly unknown[] => everything().map((notice) => cloudEvent(notice, teller)["id"]);
    expect(ids({ ...TELLER, runID: "another" })).toEqual(ids(TELLER));
    expect(new Set(ids(TELLER)).size).toBe(everything().length);
    const others = ids({ ...TELLER, source: "https://k8s.example.com/staging" });
    expect(new Set([...ids(TELLER), ...others]).size).toBe(2 * everything().length);
  });

  test("of a run that fails again and again for one cause has one id an hour", () => {
    const id = (ms: number): unknown => cloudEvent({ ...runFailure, atMs: NOW_MS + ms }, TELLER)["id"];
    expect(id(59 * 60_000)).toBe(id(0));
    expect(id(60 * 60_000)).not.toBe(id(0));
  });
});

describe("too much at once", () => {
  test("loses what is least urgent, and says how much", () => {
    const many = [...Array.from({ length: 30 }, () => told(applied)).flat(), ...everything()];
    const some = toldOf(many);
    expect(some).toHaveLength(50);
    expect(some.at(-1)).toMatchObject({ kind: "left-out" });
    expect(some.filter((notice) => notice.kind === "run" || notice.kind === "blocked")).toHaveLength(2);
    const event = JSON.parse(JSON.stringify(cloudEvent(some.at(-1) ?? runFailure, TELLER)));
    expect(event.data.leftOut).toEqual({ applied: many.length - 49 });
    expect(schemaErrors(event.data, "Notice")).toEqual([]);
    expect(slackMessage(some, TELLER)["text"]).toContain("Left out, because it was too much at once: 49 applied.");
  });

  test("is not what fits", () => {
    expect(toldOf(everything())).toEqual(everything());
  });
});

test("a message for Slack is one for all, whose lines call nobody", () => {
  const { text } = slackMessage(everything(), TELLER) as { readonly text: string };
  const lines = text.split("\n");
  expect(lines).toHaveLength(1 + everything().length);
  expect(lines[0]).toBe("*flipop* production");
  expect(lines[1]).toMatch(/^`>` pool\/ingress\/web: moved 203\.0\.113\.10 from worker-1 to worker-3: /);
  expect(text).toContain(
    '`!` pool/ingress/broken waits for a person: InvalidSpec: unknown provider "Ferengi" &lt;!channel&gt;',
  );
  expect(text).toContain("`!` The run failed (4 times in a row), exit code 75: It is away.");
  expect(text).not.toContain("<");
});

test("alerts are what failed or waits for a person, each by its own labels, for a quarter of an hour", () => {
  const alerts = alertsOf(everything(), TELLER);
  expect(alerts.map(({ labels }) => labels)).toMatchInlineSnapshot(`
    [
      {
        "action": "move-ip",
        "alertname": "FlipopChangeFailed",
        "kind": "pool",
        "name": "web",
        "namespace": "ingress",
        "source": "https://k8s.example.com/production",
        "subject": "203.0.113.10",
      },
      {
        "action": "annotate-node",
        "alertname": "FlipopChangeFailed",
        "kind": "pool",
        "name": "web",
        "namespace": "ingress",
        "source": "https://k8s.example.com/production",
        "subject": "worker-3",
      },
      {
        "action": "clear-annotation",
        "alertname": "FlipopChangeFailed",
        "kind": "pool",
        "name": "web",
        "namespace": "ingress",
        "source": "https://k8s.example.com/production",
        "subject": "worker-1",
      },
      {
        "alertname": "FlipopObjectBlocked",
        "kind": "pool",
        "name": "broken",
        "namespace": "ingress",
        "reason": "InvalidSpec",
        "source": "https://k8s.example.com/production",
      },
      {
        "alertname": "FlipopRunFailed",
        "exit_code": "75",
        "source": "https://k8s.example.com/production",
      },
    ]
  `);
  expect(alerts[0]).toMatchObject({ startsAt: "2026-08-01T12:00:00Z", endsAt: "2026-08-01T12:15:00Z" });
  expect(alertsOf(told(applied), TELLER)).toEqual([]);
});

test("the manual tells of every type of event, and of no other", () => {
  const manual = readFileSync(new URL("../../cronjob/README.md", import.meta.url), "utf8");
  const named = new Set(
    [...manual.matchAll(/^\| `com\.digitalocean\.flipop\.([\w.-]+)` \|/gm)].map(([, type]) => type),
  );
  expect(named).toEqual(new Set(eventTypes()));
});
