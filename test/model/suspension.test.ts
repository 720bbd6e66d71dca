import { expect, test } from "vitest";
import { holdsNow, parseSuspension, suspensionOf, suspensionText, whySuspended } from "../../src/model/suspension.ts";
import { aPool, NOW_MS } from "../report/world.ts";

const { meta } = aPool("web", []);
const SINCE = "2026-01-02T08:00:00Z";
const UNTIL = "2026-01-02T10:00:00Z";

test("what is written is read again", () => {
  const suspension = { by: "ana", why: "Wartung “4711”", sinceMs: Date.parse(SINCE), untilMs: Date.parse(UNTIL) };
  expect(parseSuspension(suspensionText(suspension))).toEqual(suspension);
  expect(parseSuspension(suspensionText({ by: "ana", why: "x" }))).toEqual({ by: "ana", why: "x" });
});

test.for([
  ["", "it is no JSON object"],
  ["true", "it is no JSON object"],
  ["null", "it is no JSON object"],
  ['"maintenance"', "it is no JSON object"],
  ["[{}]", "it is no JSON object"],
  ['{"by":"ana"', "it is no JSON object"],
  ['{"by":7}', '"by" must be text'],
  ['{"reason":["x"]}', '"reason" must be text'],
  ['{"until":"tomorrow"}', '"until" must be a time like 2026-01-02T10:00:00Z'],
  ['{"until":"2026-02-30T10:00:00Z"}', '"until" must be a time like 2026-01-02T10:00:00Z'],
  ['{"until":1767348000}', '"until" must be a time like 2026-01-02T10:00:00Z'],
  ['{"untl":"2026-01-02T10:00:00Z"}', 'it has no field "untl"'],
  ['{"a\\u001b[2J":1}', 'it has no field "a\\u{1b}[2J"'],
])("%s suspends without an end, and says: %s", ([text = "", problem]) => {
  const suspension = parseSuspension(text);
  expect(suspension.problem).toBe(problem);
  expect(suspension.untilMs).toBeUndefined();
  expect(holdsNow(suspension, Number.MAX_SAFE_INTEGER)).toBe(true);
});

test("fields that are left out are no problem, and what can be read counts beside what cannot", () => {
  expect(parseSuspension("{}")).toEqual({ by: "", why: "" });
  expect(parseSuspension(`{"by":null,"until":"${UNTIL}","extra":1}`)).toMatchObject({ untilMs: Date.parse(UNTIL) });
});

test("a long text is cut, and one that steers a terminal is made plain", () => {
  const { by, why } = parseSuspension(JSON.stringify({ by: "\u001b[31mana\nbob", reason: "x".repeat(250_000) }));
  expect(by).toBe("[31mana bob");
  expect(why).toBe("x".repeat(200));
});

test("the spec goes before the object, the object before the Lease; what is over counts for nothing", () => {
  const mine = { by: "ana", why: "mine", untilMs: NOW_MS + 1 };
  const all = { by: "bob", why: "all" };
  const of = (suspend: boolean, own = mine) => ({ meta: { ...meta, suspension: own }, spec: { suspend } });
  expect(suspensionOf(of(true), all, NOW_MS)?.source).toBe("spec");
  expect(suspensionOf(of(false), all, NOW_MS)).toEqual({ source: "object", ...mine });
  expect(suspensionOf(of(false), all, NOW_MS + 1)).toEqual({ source: "lease", ...all });
  expect(suspensionOf(of(false), { ...all, untilMs: NOW_MS }, NOW_MS + 1)).toBeUndefined();
});

test("says who and why", () => {
  expect(whySuspended({ source: "spec", by: "", why: "" })).toBe("spec.suspend is true");
  expect(whySuspended({ source: "object", by: "", why: "" })).toBe("by somebody (no reason given)");
  expect(whySuspended({ source: "lease", by: "ana", why: "x" })).toBe("with all objects by ana (x)");
});
