import { expect, test } from "vitest";
import { nearestSelector } from "../../src/model/nearest.ts";

const WEB = { app: "web", tier: "front" };
const DB = { app: "db", tier: "back", "app.kubernetes.io/name": "postgres" };

test.for([
  ["app=wbe", "app=web", "letters of a value are mixed up"],
  ["app==we", "app=web", "a letter is missing"],
  ["ap=web", "app=web", "a letter of the key is missing"],
  ["app.kubernetes.io/nam=postgres", "app.kubernetes.io/name=postgres", "a letter of a long key is missing"],
  ["app=wbe,tier=front", "app=web,tier=front", "one of two parts is wrong"],
  ["app=wbe, tier=frnt", "app=web,tier=front", "both parts are wrong"],
  ["app=web", undefined, "it selects something"],
  ["app=wbe,tier=back", undefined, "nothing has both parts"],
  ["app=web,tier=back", undefined, "both parts are right, but of different things"],
  ["app=frontend", undefined, "nothing is near"],
  ["app=xy", undefined, "no letter is the same"],
  ["app in (wbe)", undefined, "it asks for more than equality"],
  ["app", undefined, "it asks for a key only"],
  ["app=", undefined, "the value is empty"],
  ["", undefined, "it is empty"],
  ["__proto__=web", undefined, "the key is one that every object has"],
] as const)("for '%s' the nearest selector is %s: %s", ([selector, wanted]) => {
  expect(nearestSelector(selector, [WEB, DB])).toBe(wanted);
  expect(nearestSelector(selector, [DB, WEB])).toBe(wanted);
  expect(nearestSelector(selector, [])).toBeUndefined();
});
