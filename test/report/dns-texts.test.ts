import { describe, expect, test } from "vitest";
import type { WriteDNS } from "../../src/model/action.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { Hold } from "../../src/model/plan.ts";
import { eventOf } from "../../src/report/events.ts";
import { impactOf } from "../../src/report/impact.ts";
import { actionLine, actionText, dnsChangeLines, whyAction } from "../../src/report/text/actions.ts";
import { holdText, whyHold } from "../../src/report/text/holds.ts";
import { outcomeLine, outcomeText } from "../../src/report/text/run.ts";
import { aDNSHold, aDNSPlan, aDNSWrite, NODES } from "./dns-plans.ts";
import { NOW_MS } from "./world.ts";

/** What changes, its lines, and when clients see it. */
const CHANGE_ROWS: readonly (readonly [string, Partial<WriteDNS>, readonly string[], string])[] = [
  [
    "an address, and the TTL",
    {},
    ["+ 203.0.113.12", "- 203.0.113.10", "= 203.0.113.11", "TTL 30 -> 60 s"],
    "Resolvers see it within 30 s.",
  ],
  [
    "the TTL alone",
    { reason: "TTLDiffers", after: { addresses: ["203.0.113.10", "203.0.113.11"], ttlSeconds: 300 } },
    ["= 203.0.113.10 and 203.0.113.11", "TTL 30 -> 300 s"],
    "Resolvers see it within 30 s.",
  ],
  [
    "several TTLs into one",
    {
      reason: "TTLDiffers",
      before: { addresses: ["203.0.113.11"] },
      after: { addresses: ["203.0.113.11"], ttlSeconds: 60 },
      dnsProvider: "digitalocean",
    },
    ["= 203.0.113.11", "TTL several -> 60 s"],
    "Resolvers see it once the longest TTL of the old records is over.",
  ],
  [
    "a set with several TTLs at a provider that can decide them",
    { before: { addresses: ["203.0.113.11"] } },
    ["+ 203.0.113.12", "= 203.0.113.11"],
    "Resolvers see it once the longest TTL of the old records is over.",
  ],
  [
    "a name that has no records yet",
    { before: { addresses: [] } },
    ["+ 203.0.113.11, 203.0.113.12", "TTL 60 s"],
    "Clients see it at once, unless a resolver remembers that there was none.",
  ],
  [
    "a set whose TTL the provider decides, whichever it is",
    { dnsProvider: "webhook", before: { addresses: ["203.0.113.11"] }, cachedSeconds: 300 },
    ["+ 203.0.113.12", "= 203.0.113.11"],
    "Resolvers see it within 300 s.",
  ],
  [
    "an automatic TTL into one of its own",
    {
      reason: "TTLDiffers",
      before: { addresses: ["203.0.113.11"], ttlSeconds: 1 },
      after: { addresses: ["203.0.113.11"], ttlSeconds: 60 },
    },
    ["= 203.0.113.11", "TTL automatic -> 60 s"],
    "Resolvers see it within 300 s.",
  ],
  [
    "an address that stands in two records",
    { before: { addresses: ["203.0.113.11"], ttlSeconds: 60 }, after: { addresses: ["203.0.113.11"], ttlSeconds: 60 } },
    ["one record is left of each address and TTL", "= 203.0.113.11"],
    "Resolvers see it within 60 s.",
  ],
  [
    "everything, away",
    { kind: "delete-dns", reason: "NameChanged", after: { addresses: [], ttlSeconds: 30 } },
    ["- 203.0.113.10, 203.0.113.11"],
    "Resolvers see it within 30 s.",
  ],
];

describe("a change of a name", () => {
  test.for(CHANGE_ROWS)(
    "tells of %s what is added, removed and kept, and when it is seen",
    ([, changes, lines, when]) => {
      const action = aDNSWrite(changes);
      expect([dnsChangeLines(action, 3), whyAction(action, undefined).endsWith(` ${when}`)]).toEqual([lines, true]);
    },
  );

  test("names at most so many of the addresses that stay, and all that come and go", () => {
    const many = Array.from({ length: 100 }, (_, at) => `192.0.2.${at + 1}`);
    const action = aDNSWrite({
      before: { addresses: many, ttlSeconds: 60 },
      after: { addresses: [...many, "203.0.113.1"], ttlSeconds: 60 },
    });
    expect(dnsChangeLines(action, 2)).toEqual(["+ 203.0.113.1", "= 192.0.2.1, 192.0.2.2 and 98 more"]);
  });

  test.for([
    ["update-dns", "update DNS www.example.com at cloudflare"],
    ["withdraw-dns", "withdraw from DNS www.example.com at cloudflare"],
    ["delete-dns", "delete from DNS www.example.com at cloudflare"],
  ] as const)("is called %s: %s, with every address where it stands alone", ([kind, text]) => {
    const action = aDNSWrite({ kind });
    expect(actionText(action)).toBe(text);
    expect(actionLine(action)).toBe(`${text} (+203.0.113.12 -203.0.113.10 =203.0.113.11, TTL 30 -> 60 s)`);
  });

  test.for([
    ["update-dns", "updated DNS www.example.com at cloudflare"],
    ["withdraw-dns", "withdrew from DNS www.example.com at cloudflare"],
    ["delete-dns", "deleted from DNS www.example.com at cloudflare"],
  ] as const)("once done, reads as such: %s", ([kind, text]) => {
    const outcome = { action: aDNSWrite({ kind }), outcome: "applied", ms: 1 } as const;
    expect(outcomeText(outcome)).toBe(text);
    expect(outcomeLine(outcome)).toBe(`${text} (+203.0.113.12 -203.0.113.10 =203.0.113.11, TTL 30 -> 60 s)`);
  });
});

test("the finalizer of a record set is there for its records", () => {
  const { id, object, requires, follows } = aDNSWrite({ object: NODES });
  const action = {
    kind: "add-finalizer",
    id,
    object,
    requires,
    follows,
    reason: "ReclaimDelete",
    before: undefined,
    after: undefined,
  } as const;
  expect(whyAction(action, undefined)).toBe(
    "spec.reclaimPolicy is Delete: the records that flipop wrote go before the object does.",
  );
});

describe("the Event of a change of a name", () => {
  test("names provider and addresses", () => {
    expect(eventOf({ action: aDNSWrite(), outcome: "applied", ms: 1 }, undefined)).toEqual({
      type: "Normal",
      reason: "RecordsDiffer",
      action: "UpdateDNS",
      note: "Updated DNS www.example.com at cloudflare (+203.0.113.12 -203.0.113.10 =203.0.113.11, TTL 30 -> 60 s): The records differ from the addresses that serve now. Resolvers see it within 30 s.",
    });
  });

  test("names the foreign records that are gone", () => {
    const action = aDNSWrite({ unrecorded: ["203.0.113.10"] });
    expect(eventOf({ action, outcome: "applied", ms: 1 }, undefined)?.note).toContain(
      "No object has 203.0.113.10 on record: flipop replaces it.",
    );
    expect(whyAction(action, undefined)).toContain("No object has 203.0.113.10 on record: flipop replaces it.");
  });

  test("names the foreign records that stay", () => {
    const action = aDNSWrite({ others: { addresses: ["203.0.113.11"], expected: "any" } });
    expect(eventOf({ action, outcome: "applied", ms: 1 }, undefined)?.note).toContain(
      "No object has 203.0.113.11 on record: flipop leaves it there.",
    );
    expect(whyAction(action, undefined)).toContain("No object has 203.0.113.11 on record: flipop leaves it there.");
  });

  test("says what was refused, and stays short however many addresses there are", () => {
    const many = Array.from({ length: 250 }, (_, at) => `192.0.2.${at + 1}`);
    const action = aDNSWrite({ before: { addresses: [], ttlSeconds: 60 }, after: { addresses: many, ttlSeconds: 60 } });
    const facts = { provider: "cloudflare", failure: "refused", operation: "write", subject: "", status: 400 } as const;
    const error = new ProviderError({ ...facts, message: "Could not change it: a CNAME is in the way." });
    const event = eventOf({ action, outcome: "failed", ms: 1, error }, undefined);
    expect(event).toMatchObject({ type: "Warning", reason: "Failed", action: "UpdateDNS" });
    expect(event?.note).toMatch(/^Could not update DNS www\.example\.com .*\+242 more.*: Could not change it: a CNAME/);
    expect(event?.note.length).toBeLessThan(1024);
  });
});

/** A hold, what is not done, and why. */
const HOLD_ROWS: readonly (readonly [Hold, string, string])[] = [
  [
    aDNSHold({ reason: "Conflict", detail: "owned by pool ingress/web", needsPerson: true }),
    "nodes.example.com: not written for this object",
    "It is owned by pool ingress/web. Remove it from one of the two objects.",
  ],
  [
    aDNSHold({ reason: "InvalidDNS", subject: "", detail: 'unknown provider "dyn"', needsPerson: true }),
    "DNS not changed",
    'The object\'s DNS settings cannot be used: unknown provider "dyn". Correct its dnsRecordSet.',
  ],
  [
    aDNSHold({
      reason: "ZoneNotFound",
      subject: "nodes",
      detail: "cloudflare shows no zone example.net to this token",
    }),
    "nodes: DNS not changed",
    "The account has no such zone: cloudflare shows no zone example.net to this token. Create the zone, correct dnsRecordSet.zone, or use a token that may see it.",
  ],
  [
    aDNSHold({ reason: "RateLimited", detail: "cloudflare asked for no calls", notBeforeMs: NOW_MS + 20_000 }),
    "nodes.example.com: DNS not changed",
    "Cloudflare asked for no calls. Waits until 12:00:20 UTC (in 20s).",
  ],
  [
    aDNSHold({ reason: "NothingToPublish" }),
    "nodes.example.com: left as it is",
    "No address serves now; the records stay as they are.",
  ],
  [
    aDNSHold({ reason: "Grace", subject: "worker-1", notBeforeMs: NOW_MS + 20_000 }),
    "worker-1: stays published",
    "The node became unready a moment ago and still counts as a match. Waits until 12:00:20 UTC (in 20s).",
  ],
  [
    aDNSHold({ reason: "InvalidAddress", subject: "worker-1", detail: '"x"', needsPerson: true }),
    "worker-1: not published",
    'What the node shows is no address that a client can reach: "x". Correct or remove the annotation, or let the node report another address.',
  ],
  [
    aDNSHold({ kind: "delete-dns", reason: "NewNameFirst", subject: "old.example.com" }),
    "old.example.com: old records not deleted yet",
    "The records of the old name go once those of the new one are in place.",
  ],
  [
    aDNSHold({ kind: "delete-dns", reason: "RecordsRetained", subject: "old.example.com" }),
    "old.example.com: old records stay",
    "spec.reclaimPolicy is Retain: the records of the old name stay. Remove them by hand, or set spec.reclaimPolicy: Delete.",
  ],
  [
    aDNSHold({ kind: "unassign-ip", reason: "StillPublished", subject: "203.0.113.10", detail: "www.example.com" }),
    "203.0.113.10: not unassigned",
    "The address could not be taken out of DNS first: www.example.com.",
  ],
];

describe("the text of a hold on DNS", () => {
  test.for(HOLD_ROWS)("says what, why and what to do: %$", ([hold, what, why]) => {
    expect([holdText(hold), whyHold(hold, NOW_MS)]).toEqual([what, why]);
  });
});

describe("the impact on a name", () => {
  const name = {
    object: aDNSWrite().object,
    provider: "cloudflare",
    fqdn: "www.example.com",
    ttlSeconds: 60,
    shown: ["203.0.113.10", "203.0.113.11"],
    serving: ["203.0.113.11"],
  };
  const impact = (action: WriteDNS): readonly string[] =>
    impactOf(aDNSPlan({ actions: [action], names: [name] })).map(({ message }) => message);
  const to = (addresses: readonly string[]): Pick<WriteDNS, "after"> => ({ after: { addresses, ttlSeconds: 60 } });

  test("is nothing when what leaves serves no more", () => {
    expect(impact(aDNSWrite({ impact: "recovery" }))).toEqual([]);
  });

  test("is told when an address leaves that serves: of the two only that one", () => {
    expect(impact(aDNSWrite({ ...to(["203.0.113.12"]), impact: "reduction" }))).toEqual([
      "203.0.113.11 still serves, and leaves www.example.com.",
    ]);
  });

  test("is told with what the name keeps", () => {
    const both = { ...name, serving: name.shown };
    const action = aDNSWrite({ ...to(["203.0.113.10"]), impact: "reduction" });
    const [found] = impactOf(aDNSPlan({ actions: [action], names: [both] }));
    expect(found).toMatchObject({
      class: "reduction",
      addresses: ["203.0.113.11"],
      message: "203.0.113.11 still serves, and leaves www.example.com. www.example.com keeps 1 of 2 addresses.",
    });
  });

  test("is told when the last address of a name goes that serves", () => {
    expect(impact(aDNSWrite({ kind: "delete-dns", ...to([]), impact: "reduction" }))).toEqual([
      "203.0.113.11 still serves, and leaves www.example.com. www.example.com would have no address left.",
    ]);
  });

  test("of a name that was not read names all that leaves it", () => {
    const action = aDNSWrite({ kind: "delete-dns", ...to([]), impact: "reduction" });
    expect(impactOf(aDNSPlan({ actions: [action] })).map(({ message }) => message)).toEqual([
      "2 addresses that still serve leave www.example.com: 203.0.113.10 and 203.0.113.11.",
    ]);
  });
});
