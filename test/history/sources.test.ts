import { describe, expect, test } from "vitest";
import { eventsRequest } from "../../src/adapters/kube/events.ts";
import type { KeptObject } from "../../src/history/from-status.ts";
import type { PastEvent } from "../../src/model/change.ts";
import type { PoolStatus, RecordSetStatus } from "../../src/model/resource.ts";
import { timestamp } from "../../src/model/time.ts";
import { eventOf } from "../../src/report/events.ts";
import { aNode, anObservation, aPool, aRecordSet, NOW_MS, planOf } from "../report/world.ts";
import { historyFrom, logOf, storyOf } from "./told.ts";

const at = (seconds: number): string => timestamp(NOW_MS + seconds * 1000);

function aPoolWith(status: Partial<PoolStatus>): KeptObject {
  const { meta, status: empty } = aPool("web", []);
  return { ref: { kind: "pool", namespace: "ingress", name: "web" }, meta, status: { ...empty, ...status } };
}

function aSetWith(status: Partial<RecordSetStatus>): KeptObject {
  const { meta, status: empty } = aRecordSet("nodes");
  return { ref: { kind: "dns", namespace: "ingress", name: "nodes" }, meta, status: { ...empty, ...status } };
}

function condition(type: string, status: "True" | "False", reason: string, message: string) {
  return { type, status, observedGeneration: 1, lastTransitionTime: at(-60), reason, message } as const;
}

const EVENT: PastEvent = {
  object: { kind: "pool", namespace: "ingress", name: "web" },
  type: "Normal",
  reason: "HolderLost",
  action: "MoveIP",
  note: "Moved 203.0.113.10 from worker-1 to worker-5: worker-1 no longer matches.",
  firstMs: NOW_MS - 60_000,
  lastMs: NOW_MS - 60_000,
  count: 1,
  controller: "flipop.digitalocean.com/flipop",
  instance: "flipop-1",
};

describe("what status keeps", () => {
  test.for<readonly [string, KeptObject, readonly string[]]>([
    [
      "that it is ready, without what it has now",
      aPoolWith({ conditions: [condition("Ready", "True", "Active", "3 addresses are active.")] }),
      ["pool/ingress/web ready - seen: is ready: "],
    ],
    [
      "that it is not ready, and waits for a person",
      aPoolWith({
        conditions: [
          condition("Ready", "False", "NoActiveIP", "No address is active."),
          condition("Stalled", "True", "QuotaExceeded", "2 of 5 addresses are missing."),
          condition("Granted", "False", "NotGranted", "It asks for 203.0.113.10."),
        ],
      }),
      [
        "pool/ingress/web ready - failed: is not ready: Now: No address is active.",
        "pool/ingress/web stall - waiting: waits for a person: Now: 2 of 5 addresses are missing.",
        "pool/ingress/web stall - waiting: asks for what it is not granted: Now: It asks for 203.0.113.10.",
      ],
    ],
    [
      "the last assignment, and since when a node does not match",
      aPoolWith({
        lastAssignmentTime: at(-30),
        assignments: 112,
        ips: { "203.0.113.10": { state: "active", nodeName: "worker-1", notMatchingSince: at(-90) } },
      }),
      [
        "pool/ingress/web assign-ip - applied: assigned an address, the 112th in all: ",
        "pool/ingress/web match 203.0.113.10 seen: worker-1 stopped matching: It has 203.0.113.10.",
      ],
    ],
    [
      "purchases, with and without an answer",
      aPoolWith({
        acquired: [
          { ip: "198.51.100.1", acquiredAt: at(-20) },
          { ip: "198.51.100.2", acquiredAt: at(-40), adopted: true },
        ],
        pendingAcquisitions: [{ startedAt: at(-10), region: "nyc3", knownIPs: [] }],
      }),
      [
        "pool/ingress/web acquire-ip - unconfirmed: asked to acquire a new address in region nyc3: The answer is not known yet.",
        "pool/ingress/web acquire-ip 198.51.100.1 applied: acquired 198.51.100.1: ",
        "pool/ingress/web acquire-ip 198.51.100.2 applied: took 198.51.100.2 for the answer of a purchase: ",
      ],
    ],
    [
      "what is tried again, told at the time of the look",
      aPoolWith({
        retries: [
          { subject: "ip/203.0.113.10", attempts: 3, nextAttemptTime: at(30), error: "DigitalOcean was busy." },
        ],
      }),
      [
        `pool/ingress/web retry 203.0.113.10 failed x3: still failing: 203.0.113.10, next attempt at ${at(30)}: DigitalOcean was busy.`,
      ],
    ],
    [
      "a fight over a name, records of others, and nodes in grace",
      aSetWith({
        unreadyNodes: [{ nodeName: "worker-2", since: at(-5) }],
        publishedDNS: {
          provider: "cloudflare",
          zone: "example.com",
          name: "nodes.example.com",
          addresses: ["192.0.2.1"],
          foreign: [{ address: "192.0.2.9", since: at(-300) }],
        },
        fight: {
          provider: "cloudflare",
          name: "nodes.example.com",
          addresses: ["192.0.2.1"],
          ttlSeconds: 60,
          seen: ["192.0.2.9"],
          since: at(-200),
          times: [at(-100), at(-50)],
          count: 4,
        },
      }),
      [
        "dns/ingress/nodes match worker-2 seen: worker-2 stopped matching: Its name shows it.",
        "dns/ingress/nodes record nodes.example.com seen x4: put nodes.example.com right: Somebody else had changed it: it showed 192.0.2.9 instead of 192.0.2.1.",
        "dns/ingress/nodes record nodes.example.com seen: nodes.example.com was seen to show 192.0.2.9: No object has it on record.",
      ],
    ],
    [
      "who suspended it",
      { ...aPoolWith({}), meta: { suspension: { by: "ana", why: "maintenance 4711", sinceMs: NOW_MS - 1000 } } },
      ["pool/ingress/web suspend - seen: suspended without an end: It was suspended by ana (maintenance 4711)."],
    ],
    ["times that cannot be read, which are passed over", aPoolWith({ lastAssignmentTime: "soon" }), []],
  ])("is told: %s", ([, object, expected]) => {
    const { changes } = historyFrom({ objects: [object] });
    expect(storyOf(changes)).toEqual(expected);
    for (const { sources } of changes) expect(sources).toEqual(["status"]);
  });

  test("what the provider accepted in a pass that did not see it done is told as asked for, with its reason", () => {
    const before = anObservation([aPool("web", ["203.0.113.10"])], [aNode(1)], { "203.0.113.10": undefined });
    const plan = planOf(before);
    const [action] = plan.actions;
    if (action === undefined) throw new Error("nothing planned");
    const event = eventOf({ action, outcome: "unconfirmed", ms: 1 }, plan.pools[0]);
    if (event === undefined) throw new Error("nothing told");
    const { changes } = historyFrom({ events: [{ ...EVENT, ...event }] });
    expect(storyOf(changes)).toEqual([
      "pool/ingress/web assign-ip 203.0.113.10 unconfirmed: asked to assign 203.0.113.10 to worker-1: worker-1 matches and waits for an address; this one is free.",
    ]);
  });

  test.for<readonly [string, KeptObject, Partial<PastEvent>]>([
    ["an assignment", aPoolWith({ lastAssignmentTime: at(-62) }), {}],
    [
      "that it waits for a person",
      aPoolWith({ conditions: [condition("Stalled", "True", "QuotaExceeded", "2 are missing.")] }),
      { type: "Warning", action: "Stall", reason: "QuotaExceeded", note: "2 are missing." },
    ],
    [
      "a purchase",
      aPoolWith({ acquired: [{ ip: "198.51.100.1", acquiredAt: at(-61) }] }),
      { action: "AcquireIP", note: "Acquired 198.51.100.1 for worker-1: pool/ingress/web has fewer." },
    ],
    [
      "a failure that is tried again",
      aPoolWith({
        retries: [
          { subject: "ip/203.0.113.10", attempts: 3, nextAttemptTime: at(30), error: "DigitalOcean was busy." },
        ],
      }),
      { type: "Warning", reason: "Failed", note: "Could not move 203.0.113.10 to worker-5: DigitalOcean was busy." },
    ],
  ])("is told once where an Event tells it, too: %s", ([, object, event]) => {
    const { changes } = historyFrom({ objects: [object], events: [{ ...EVENT, ...event }] });
    expect(changes).toHaveLength(1);
    expect(changes[0]?.sources).toEqual(["event"]);
  });

  test("and an Event of another time or object tell two things", () => {
    const assigned = aPoolWith({ lastAssignmentTime: at(-600) });
    expect(historyFrom({ objects: [assigned], events: [EVENT] }).changes).toHaveLength(2);
    const other = { ...EVENT, object: { ...EVENT.object, name: "other" } };
    expect(
      historyFrom({ objects: [aPoolWith({ lastAssignmentTime: at(-60) })], events: [other] }).changes,
    ).toHaveLength(2);
  });
});

describe("what the Lease keeps", () => {
  const notes = (result: string, success: string): Readonly<Record<string, string>> => ({
    "flipop.digitalocean.com/last-run": at(-10),
    "flipop.digitalocean.com/last-success": success,
    "flipop.digitalocean.com/last-result": result,
  });

  test("is the last run, and the last one that went well where it is another one", () => {
    const tell = (annotations: Readonly<Record<string, string>>): readonly string[] =>
      storyOf(historyFrom({ lease: { annotations } }).changes);
    expect(tell(notes("0 done", at(-10)))).toEqual(["- run - applied: last run ended with exit code 0 (done): "]);
    expect(tell(notes("75 temporary failure", at(-600)))).toEqual([
      "- run - failed: last run ended with exit code 75 (temporary failure): ",
      "- run - applied: last run that went well: ",
    ]);
    expect(tell({})).toEqual([]);
    expect(tell({ "flipop.digitalocean.com/last-run": "\u001b[2J" })).toEqual([]);
  });

  test("is not told again where the logs end with the same run", () => {
    const line = { time: at(-9), level: "error", runID: "1", msg: "The cluster cannot be read.", exitCode: 75 };
    const facts = { lease: { annotations: notes("75 temporary failure", "") }, log: logOf([JSON.stringify(line)]) };
    expect(storyOf(historyFrom(facts).changes)).toEqual([
      "- run - failed: run ended with exit code 75: The cluster cannot be read.",
    ]);
  });
});

describe("an Event", () => {
  test("of somebody else is told as it stands, with who wrote it", () => {
    const events = [{ ...EVENT, controller: "go-operator", action: "", type: "Warning", note: "no luck: today" }];
    const { changes } = historyFrom({ events });
    expect(storyOf(changes)).toEqual(["pool/ingress/web other - failed: no luck: today: "]);
    expect(changes[0]?.by).toBe("go-operator");
  });

  test("of a later version of flipop with an action that this one does not know is told as it stands", () => {
    const events = [{ ...EVENT, action: "PolishIP", note: "Polished 203.0.113.10: it was dull." }];
    expect(storyOf(historyFrom({ events }).changes)).toEqual([
      "pool/ingress/web other - seen: Polished 203.0.113.10: it was dull.: ",
    ]);
  });

  test("cannot steer a terminal", () => {
    const events = [{ ...EVENT, note: "Moved \u001b[2J203.0.113.10 from a to b: \u202egnp.exe", instance: "x\ny" }];
    const [told] = historyFrom({ events }).changes;
    expect([told?.what, told?.why, told?.by]).toEqual(["moved  [2J203.0.113.10 from a to b", "gnp.exe", "x y"]);
  });

  test.for([
    [
      "of an old style",
      { deprecatedFirstTimestamp: at(-9), deprecatedLastTimestamp: at(-3), deprecatedCount: 4 },
      [-9, -3, 4],
    ],
    ["of a new style", { eventTime: at(-8), series: { count: 2, lastObservedTime: at(-2) } }, [-8, -2, 2]],
    ["that happened once", { eventTime: at(-7), series: null }, [-7, -7, 1]],
    ["without any time but its creation", { metadata: { creationTimestamp: at(-6) } }, [-6, -6, 1]],
    [
      "whose series makes no sense",
      { eventTime: at(-5), series: { count: -1, lastObservedTime: at(-50) } },
      [-5, -5, 1],
    ],
  ] as const)("%s is read with its times", ([, fields, [first, last, count]]) => {
    const regarding = { kind: "FloatingIPPool", namespace: "ingress", name: "web" };
    const read = eventsRequest(undefined).project({ regarding, ...fields });
    const seconds = (ms = 0): number => (ms - NOW_MS) / 1000;
    expect([seconds(read?.firstMs), seconds(read?.lastMs), read?.count]).toEqual([first, last, count]);
  });

  test.for([
    [{ regarding: { kind: "RoutedIPIssuer", namespace: "ingress", name: "public" }, eventTime: at(0) }],
    [{ regarding: { kind: "FloatingIPPool", namespace: "ingress" }, eventTime: at(0) }],
    [{ regarding: { kind: "FloatingIPPool", namespace: "ingress", name: "web" } }],
    [{ eventTime: at(0) }],
    ["text"],
    [null],
  ])("that is about nothing of flipop, or has no time, is none: %j", ([item]) => {
    expect(eventsRequest(undefined).project(item)).toBeUndefined();
  });
});
