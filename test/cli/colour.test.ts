import { expect, test } from "vitest";
import { isColourOn } from "../../src/cli/session.ts";

test.for([
  ["always", { NO_COLOR: "1" }, false, true],
  ["never", { FORCE_COLOR: "1" }, true, false],
  ["auto", { FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
  ["auto", { FORCE_COLOR: "0" }, true, false],
  ["auto", { NO_COLOR: "1" }, true, false],
  ["auto", { NO_COLOR: "" }, true, true],
  ["auto", { TERM: "dumb" }, true, false],
  ["auto", {}, true, true],
  ["auto", {}, false, false],
] as const)("--color %s with %j on a terminal: %s gives colour: %s", ([flag, env, isTTY, isOn]) => {
  expect(isColourOn(flag, env, isTTY)).toBe(isOn);
});
